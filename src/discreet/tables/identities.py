"""Values told apart as what they are: texts by their bytes, wide numbers in their own type, by index.

An engine may compare texts by a collation, and what it returns passes through types of ours that are not
the column's (float64 for a HUGEINT, NumPy texts without trailing NULs). A count that is then looked up by
its value goes to another candidate, or to none, and one person can do that to many others' counts. So the
public keys travel into the engine in the column's own type, and only their indices come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

_BITS = {f"{sign}Int{size}": size for sign in ("", "U") for size in (8, 16, 32, 64, 128)}
_INDEX = "discreet_index"


def as_text(text: str, *, engine: str) -> str | bytes:
    """A text as the column made by ``with_text`` holds it."""
    return text.encode() if engine in ("duckdb", "pyspark") else text


def with_text(native: Any, column: str, *, name: str, engine: str) -> Any:
    """The native frame with a further column ``name``: the texts of ``column``, free of any collation.

    DuckDB and Spark know collations, so there a text becomes its bytes; categories become their texts.
    In pandas whatever is no text, or is no Unicode (a lone surrogate), becomes null.
    """
    if engine == "duckdb":
        return native.project(f"*, encode(CAST({quoted(column)} AS VARCHAR)) AS {quoted(name)}")
    if engine == "polars":
        import polars as pl

        return native.with_columns(pl.col(column).cast(pl.String).alias(name))
    if engine == "pandas":
        return native.assign(**{name: _pandas_text(native[column])})
    from pyspark.sql import functions as f

    texts = f.col("`" + column.replace("`", "``") + "`").cast("string").cast("binary")
    return native.withColumn(name, texts)


def _pandas_text(series: Any) -> Any:
    import pandas as pd

    if isinstance(series.dtype, pd.StringDtype) and series.dtype.storage == "pyarrow":
        return series
    texts = [value if _is_unicode(value) else None for value in series.array]
    return pd.Series(texts, index=series.index, dtype=pd.StringDtype())


def _is_unicode(value: Any) -> bool:
    return isinstance(value, str) and (value.isascii() or is_encodable(value))


def is_encodable(text: str) -> bool:
    """Whether a text has a UTF-8 form: a lone surrogate has none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def indexed(frame: Any, name: str, keys: Sequence[Any], *, engine: str, other: bool = False) -> Any:
    """The rows whose column ``name`` holds one of the different keys, with the key's index in its place.

    With ``other`` all rows, and the number of keys in place of whatever is none of them.
    """
    import narwhals as nw

    dtype = frame.collect_schema()[name]
    held = [(as_key, place) for place, as_key in enumerate(keys) if fits(as_key, dtype)]
    if any(isinstance(key, str) for key, _ in held):
        held = [(as_text(key, engine=engine), place) for key, place in held]
    native = frame.to_native()
    if engine == "duckdb":
        rest = len(keys) if other else None
        return nw.from_native(_joined_in_duckdb(native, name, held, rest)).lazy()
    columns = {name: [key for key, _ in held], _INDEX: [place for _, place in held]}
    if engine == "polars":
        import polars as pl

        kind = native.lazy().collect_schema()[name]
        beside: Any = pl.DataFrame(columns, schema={name: kind, _INDEX: pl.Int64}).lazy()
    elif engine == "pandas":
        import pandas as pd

        beside = pd.DataFrame(
            {
                name: pd.Series(columns[name], dtype=native[name].dtype),
                _INDEX: pd.Series(columns[_INDEX], dtype="int64"),
            }
        )
    else:
        from pyspark.sql import functions as f
        from pyspark.sql.types import LongType, StructField, StructType

        shape = StructType([native.schema[name], StructField(_INDEX, LongType())])
        beside = f.broadcast(native.sparkSession.createDataFrame(held, shape))
    joined = frame.join(nw.from_native(beside).lazy(), on=name, how="left" if other else "inner")
    others = [column for column in frame.collect_schema().names() if column != name]
    index = nw.col(_INDEX).fill_null(len(keys)).cast(nw.Int64) if other else nw.col(_INDEX)
    return joined.select(*others, index.alias(name))


def _joined_in_duckdb(
    relation: Any, name: str, held: list[tuple[Any, int]], rest: int | None
) -> Any:
    # A relation's connection is its own: the list travels inside a query on that very relation.
    kind = str(relation.types[relation.columns.index(name)])
    places = ", ".join(str(place) for _, place in held)
    if kind == "BLOB":
        listed = ", ".join(f"'{key.hex()}'" for key, _ in held)
        key = f"unhex(unnest([{listed}]::VARCHAR[]))"
    else:
        listed = ", ".join(f"'{key}'" for key, _ in held)
        key = f"unnest([{listed}]::{kind}[])"
    # A name for each step: two views of one name, one made of the other, are a circle to DuckDB 1.5.
    rows = f"discreet_rows_{name}"
    join, index = ("JOIN", _INDEX) if rest is None else ("LEFT JOIN", f"coalesce({_INDEX}, {rest})")
    return relation.query(
        rows,
        f"SELECT {rows}.* REPLACE ({index} AS {quoted(name)}) FROM {rows} {join} "  # noqa: S608
        f"(SELECT {key} AS discreet_key, unnest([{places}]::BIGINT[]) AS {_INDEX}) "
        f"ON {quoted(name)} = discreet_key",
    )


def fits(key: Any, dtype: Any) -> bool:
    """Whether a column of this declared type can hold the key; nobody has the others."""
    import narwhals as nw

    if dtype.is_integer():
        bits, signed = _BITS[str(dtype)], not str(dtype).startswith("U")
        least, most = (-(1 << (bits - 1)), 1 << (bits - 1)) if signed else (0, 1 << bits)
        return bool(least <= key < most)
    if isinstance(dtype, nw.Decimal):
        steps = Fraction(key) * 10**dtype.scale  # exactly: a decimal's own quotient has 28 digits
        return bool(steps.denominator == 1 and abs(steps) < 10**dtype.precision)
    # Not the categories of an enumeration: whoever made the type may have taken them from the rows.
    return bool(dtype != nw.Float32 or float(np.float32(key)) == key)


def quoted(name: str) -> str:
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
