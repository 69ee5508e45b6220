"""Count the people in a table for each public candidate or grid point.

A question is one SQL statement. DuckDB runs it on files and on data in memory; Spark, PostgreSQL and SQLite
run it where the data is. All of them give the same counts.
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
