"""An answer as a frame of the table's own kind, with a row for each value in each group."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.questions.answer import TableRelease

Columns = dict[str, list[Any]]
_OURS = ("rank", "level", "answer", "count", "gap", "people", "voted")
FILES = (".csv", ".parquet")
"""File types to which an answer can be written."""


def columns_of(release: TableRelease) -> Columns:
    """Return the answer in columns: group, rank or level, value, and everything released with the value."""
    by = None if release.by is None else "group" if release.by in _OURS else release.by
    answers = release.answer if isinstance(release.answer, Mapping) else {None: release.answer}
    several = release.labels is not None or release.ordered is not None
    found: Columns = {name: [] for name in ((by,) if by else ())}
    for group, answer in answers.items():
        things = answer if several and isinstance(answer, tuple) else (answer,)
        for place, thing in enumerate(things):
            row = {} if by is None else {by: group}
            if release.labels is not None:
                row["level"] = release.labels[place]
            elif release.ordered:
                row["rank"] = place + 1
            row["answer"] = thing
            for name in ("count", "gap", "people", "voted"):
                value = getattr(release, name)
                if value is not None:
                    one = value[group] if isinstance(value, Mapping) else value
                    row[name] = one[place] if isinstance(one, tuple) else one
            for name, value in row.items():
                found.setdefault(name, []).append(value)
    return {name: _of_one_type(values) for name, values in found.items()}


def frame_of(release: TableRelease) -> Any:
    """Return the answer as a frame of the table's kind; a DuckDB relation for a file."""
    columns = columns_of(release)
    if release.engine == "polars":
        import polars as pl

        return pl.DataFrame(columns)
    if release.engine == "pandas":
        import pandas as pd

        return pd.DataFrame(columns)
    if release.engine == "pyspark":
        from pyspark.sql import SparkSession

        session = SparkSession.builder.getOrCreate()
        return session.createDataFrame(list(zip(*columns.values(), strict=True)), list(columns))
    if release.engine == "ibis":
        import ibis
        import pyarrow as pa

        return ibis.memtable(pa.table(columns))
    return in_duckdb(columns)


def write_frame(release: TableRelease, path: str | Path) -> None:
    """Write the answer to a CSV or Parquet file, depending on the path's ending."""
    columns = columns_of(release)
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        in_duckdb(columns).write_parquet(str(path))
        return
    if suffix != ".csv":
        raise ParameterError(f"{str(path)!r}: an answer is written to {' or '.join(FILES)}")
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns.keys(), *zip(*columns.values(), strict=True)])


def in_duckdb(columns: Columns) -> Any:
    """Return the columns as a DuckDB relation."""
    import duckdb

    arrays = {}
    for name, values in columns.items():
        array = np.array(values)
        if array.dtype.kind not in "iufb":
            array = np.empty(len(values), dtype=object)
            array[:] = values
        arrays[name] = array
    return duckdb.connect().sql("SELECT * FROM arrays")


def _of_one_type(values: list[Any]) -> list[Any]:
    """Return the values if they share one type, otherwise their texts, because a column has one type."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 or kinds <= {int, float}:
        return values
    return [None if value is None else str(value) for value in values]
