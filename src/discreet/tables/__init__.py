"""From an engine's table to scores: people counted per public candidate or grid point.

DuckDB, Polars, pandas and PySpark give the same counts through one Narwhals expression; DuckDB reads files.
"""

from __future__ import annotations

from discreet.tables.counts import Rows, people_per_candidate, people_per_grid_point
from discreet.tables.files import TextFile
from discreet.tables.grid import Grid
from discreet.tables.table import Table, open_table

__all__ = [
    "Grid",
    "Rows",
    "Table",
    "TextFile",
    "open_table",
    "people_per_candidate",
    "people_per_grid_point",
]
