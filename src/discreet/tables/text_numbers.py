"""Numbers written as text: one rule, the same in every engine, and no text that raises.

A number is an optional sign, digits with an optional point, and an optional exponent; spaces around it do
not count. It means the nearest float64. Anything else is no number and is dropped.
"""

from __future__ import annotations

from typing import Any

from discreet.tables.identities import quoted

NUMBER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"
"""What counts as a number, after spaces and tabs around it are removed."""


def with_numbers(native: Any, column: str, *, name: str, engine: str) -> Any:
    """The native frame with a float64 column ``name``: the numbers that ``column`` spells, else null.

    Only the engines that read text files spell numbers as text. In pandas ``column`` is numeric: its own
    conversion of a wide integer raises, this one rounds to the nearest, as the other engines do.
    """
    if engine == "pandas":
        numbers = native[column].to_numpy(dtype="float64", na_value=float("nan"))
        return native.assign(**{name: numbers})
    return _pyspark(native, column, name) if engine == "pyspark" else _duckdb(native, column, name)


def _duckdb(relation: Any, column: str, name: str) -> Any:
    trimmed = f"trim({quoted(column)}, ' \t')"
    return relation.project(
        f"*, CASE WHEN regexp_matches({trimmed}, '{NUMBER}') "
        f"THEN TRY_CAST({trimmed} AS DOUBLE) END AS {quoted(name)}"
    )


def _pyspark(frame: Any, column: str, name: str) -> Any:
    from pyspark.sql import functions as f

    escaped = column.replace("`", "``")
    trimmed = f"trim(BOTH ' \t' FROM `{escaped}`)"
    return frame.withColumn(
        name,
        f.expr(f"CASE WHEN {trimmed} RLIKE r'{NUMBER}' THEN try_cast({trimmed} AS DOUBLE) END"),
    )
