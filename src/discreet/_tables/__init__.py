"""From an engine's table to scores: people counted per public candidate or grid point.

DuckDB, Polars, pandas and PySpark give the same counts through one Narwhals expression; DuckDB reads files.
"""

from __future__ import annotations

from discreet._tables.counts import Rows, people_per_candidate, people_per_grid_point
from discreet._tables.files import TextFile
from discreet._tables.grid import Grid
from discreet._tables.table import Table, open_table

__all__ = [
    "Grid",
    "Rows",
    "Table",
    "TextFile",
    "open_table",
    "people_per_candidate",
    "people_per_grid_point",
]
