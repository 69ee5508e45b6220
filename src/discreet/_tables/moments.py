"""Dates, times and time spans as numbers that order them: days since 1970, or seconds.

A time of day is its seconds since midnight. A number is the float64 nearest to it for 285 years around 1970,
and further out it is exact to the second. What no number stands for (a null, an infinite time) becomes null
or NaN; nothing here raises for a row.
"""

from __future__ import annotations

import datetime
from typing import Any

from discreet._tables.engines import quoted

DATED = ("date", "moment", "time", "span")
"""The kinds of columns that are ordered by time."""

_NONE = -(2**63)
_EXACT = 2**53
"""So many ticks are exact in float64, and their quotient is rounded once, as in the other engines."""


def moment_in(text: str) -> datetime.datetime | None:
    """The date, or the date with a time, that a text spells, else None.

    An ISO week is none: Python's own reader takes it for its Monday.

    Example:
        >>> moment_in("2024-12-31"), moment_in("2024-W01"), moment_in("2024-12")
        (datetime.datetime(2024, 12, 31, 0, 0), None, None)
    """
    try:
        return None if "w" in text.lower() else datetime.datetime.fromisoformat(text)
    except ValueError:
        return None


def day_in(text: str) -> datetime.date | None:
    """The day that a text spells without a time, else None."""
    moment = moment_in(text)
    return moment.date() if moment is not None and len(text) <= len("2024-12-31") else None


def with_time(native: Any, column: str, *, name: str, engine: str) -> Any:
    """The native frame with a float64 column ``name``: the day, or the second, that ``column`` stands for."""
    return _ENGINES[engine](native, column, name)


def _duckdb(relation: Any, column: str, name: str) -> Any:
    kind, held = str(relation.types[relation.columns.index(column)]), quoted(column)
    if kind in ("INTERVAL", "TIME"):
        return relation.project(f"*, epoch({held})::DOUBLE AS {quoted(name)}")
    if kind == "TIME_NS":
        return relation.project(f"*, epoch_ns({held})::DOUBLE / 1e9 AS {quoted(name)}")
    day = " // 86400" if kind == "DATE" else ""
    return relation.project(
        f"*, CASE WHEN isfinite({held}) THEN epoch({held}){day} END::DOUBLE AS {quoted(name)}"
    )


def _polars(frame: Any, column: str, name: str) -> Any:
    import polars as pl

    held, kind = pl.col(column), frame.lazy().collect_schema()[column]
    if kind == pl.Date:
        return frame.with_columns(held.to_physical().cast(pl.Float64).alias(name))
    # In the unit of the column: a conversion to another one could overflow.
    parts = {"ms": 10**3, "us": 10**6, "ns": 10**9}[getattr(kind, "time_unit", "ns")]
    ticks = held.to_physical()
    whole, rest = ticks // parts, (ticks % parts).cast(pl.Float64)
    # Polars multiplies by the reciprocal of a constant, which rounds twice; of a column it does not.
    divisor = rest * 0.0 + float(parts)
    near = ticks.is_between(-_EXACT, _EXACT)
    number = pl.when(near).then(ticks.cast(pl.Float64) / divisor)
    return frame.with_columns(number.otherwise(whole.cast(pl.Float64) + rest / divisor).alias(name))


def _pandas(frame: Any, column: str, name: str) -> Any:
    import numpy as np

    held = frame[column]
    arrow = getattr(held.dtype, "pyarrow_dtype", None)
    if arrow is None:
        kind = held.dtype.kind
        unit = np.datetime_data(
            held.dtype.base if kind == "m" else held.dt.tz_localize(None).dtype
        )[0]
        ticks = held.astype("int64").to_numpy()  # a missing time is the least integer
    else:
        unit = getattr(arrow, "unit", "D")
        size = f"int{arrow.bit_width}[pyarrow]"
        ticks = held.astype(size).astype("int64[pyarrow]").to_numpy(dtype="int64", na_value=_NONE)
    parts = {"D": 1, "s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    near = (ticks >= -_EXACT) & (ticks <= _EXACT)
    numbers = np.where(near, ticks / parts, ticks // parts + (ticks % parts) / parts)
    return frame.assign(**{name: np.where(ticks == _NONE, np.nan, numbers)})


def _pyspark(frame: Any, column: str, name: str) -> Any:
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    kind, held = frame.schema[column].dataType, f.col("`" + column.replace("`", "``") + "`")
    if isinstance(kind, t.DateType):
        number = f.datediff(held, f.lit("1970-01-01").cast("date"))
    elif isinstance(kind, t.DayTimeIntervalType):
        micros = (f.extract(f.lit("SECOND"), held) * 10**6).cast("long")
        for unit, size in (("DAY", 86_400), ("HOUR", 3600), ("MINUTE", 60)):
            micros += f.extract(f.lit(unit), held).cast("long") * (size * 10**6)
        number = micros.cast("double") / 1e6
    elif kind.typeName() == "time":
        number = held.cast("decimal(14,6)")
    else:
        zero = f.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
        told = isinstance(kind, t.TimestampType)
        micros = f.unix_micros(held) if told else f.timestamp_diff("MICROSECOND", zero, held)
        number = micros.cast("double") / 1e6
    return frame.withColumn(name, number.cast("double"))


def _ibis(native: Any, column: str, name: str) -> Any:
    from discreet._tables.database_times import timed

    return timed(native, column, name=name)


_ENGINES = {
    "ibis": _ibis,
    "duckdb": _duckdb,
    "polars": _polars,
    "pandas": _pandas,
    "pyspark": _pyspark,
}
