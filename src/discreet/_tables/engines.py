"""What each engine does in its own way: told to be quiet, texts and keys, numbers in texts, a keyed order.

Values are told apart as what they are: texts by their bytes, wide numbers in their own type. An engine may
compare texts by a collation, and what it returns passes through types of ours that are not the column's
(float64 for a HUGEINT, NumPy texts without trailing NULs). A count that is then looked up by its value
goes to another candidate, or to none, and one person can do that to many others' counts. So the public
keys travel into the engine in the column's own type, and only their indices come back.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from discreet.errors import DiscreetError, TableError

T = TypeVar("T")


def quietly(work: Callable[[], T], *, doing: str, telling: bool = False) -> T:
    """The result of ``work``; any exception of an engine becomes a ``TableError`` that says nothing of it.

    With ``telling`` it says what the engine said: only for work that reads no row.

    The new error is raised after the handler has ended, so that neither a cause nor a context is
    attached: a traceback printer would follow both. Warnings are silenced for the same reason.

    Example:
        >>> quietly(lambda: 1 + 1, doing="adding")
        2
        >>> quietly(lambda: 1 / 0, doing="adding")
        Traceback (most recent call last):
        discreet.errors.TableError: the engine failed while adding; what it said is withheld, ...
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except (DiscreetError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # Not only Exception: a panic in Polars is none, and quotes what it tripped over.
        # Kept only where it may be told: a debugger shows the names of a frame.
        said = f"{type(error).__name__}: {error}" if telling else None
    if said is not None:
        raise TableError(
            f"the engine failed while {doing}, before any row was read or anything was spent: {said}"
        )
    raise TableError(
        f"the engine failed while {doing}; what it said is withheld, because it may quote the data"
    )


def databases() -> Any:
    """What databases do in their own way; imported when one is asked."""
    from discreet._tables import databases as module

    return module


def finite(number: Any, *, engine: str) -> Any:
    """Whether a float64 expression is a number, neither NaN nor infinite; false or null for a null."""
    if (
        engine == "ibis"
    ):  # not every database has a word for it, and NaN is beyond or beside all numbers
        return (number >= -_LARGEST) & (number <= _LARGEST)
    return number.is_finite()


_LARGEST = float(np.finfo(np.float64).max)
Fits = Callable[[Any], bool]
_BITS = {f"{sign}Int{size}": size for sign in ("", "U") for size in (8, 16, 32, 64, 128)}
_INDEX = "discreet_index"
_FEW = 64


def encoding_of(native: Any, *, engine: str) -> str:
    """How texts are encoded where a table is."""
    if engine != "ibis":
        return "utf-8"
    from discreet._tables.database_types import encoding_of

    return encoding_of(native)[1]


def as_text(text: str, *, engine: str, encoding: str = "utf-8") -> str | bytes | None:
    """A text as the column made by ``with_text`` holds it; None for one that has no bytes there."""
    if engine == "ibis":
        try:
            return text.encode(encoding).hex().upper()
        except UnicodeEncodeError:
            return None
    return text.encode() if engine in ("duckdb", "pyspark") else text


def with_text(native: Any, column: str, *, name: str, engine: str) -> Any:
    """The native frame with a further column ``name``: the texts of ``column``, free of any collation.

    DuckDB and Spark know collations, so there a text becomes its bytes; categories become their texts.
    In pandas whatever is no text, or is no Unicode (a lone surrogate), becomes null. In a database it becomes
    the digits of its bytes.
    """
    if engine == "ibis":
        return databases().hexed(native, column, name=name)
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
    texts = [
        value if isinstance(value, str) and (value.isascii() or is_encodable(value)) else None
        for value in series.array
    ]
    return pd.Series(texts, index=series.index, dtype=pd.StringDtype())


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

    native = frame.to_native()
    fits = fitting(native[name].type() if engine == "ibis" else frame.collect_schema()[name])
    held = [(key, place) for place, key in enumerate(keys) if fits(key)]
    if any(isinstance(key, str) for key, _ in held):
        codec = encoding_of(native, engine=engine)
        texts = ((as_text(key, engine=engine, encoding=codec), place) for key, place in held)
        held = [(text, place) for text, place in texts if text is not None]
    if engine == "ibis":
        from discreet._tables import database_keys

        rest = len(keys) if other else None
        return nw.from_native(database_keys.joined(native, name, held, rest=rest)).lazy()
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
    keys, places = _keys_in_duckdb(relation, name, held)
    if len(held) <= _FEW:
        place = f"{places}[list_position({keys}, {quoted(name)})]"
        index = place if rest is None else f"coalesce({place}, {rest})"
        found = relation.project(f"* REPLACE ({index} AS {quoted(name)})")
        return found.filter(f"{quoted(name)} IS NOT NULL")
    # A relation's connection is not told, and any name may be one of its user's tables: so the list is made
    # of that very relation, and has no name outside the join.
    one_row = relation.filter("false").aggregate("count(*) AS discreet_rows")
    listed = one_row.project(f"unnest({keys}) AS discreet_key, unnest({places}) AS {_INDEX}")
    index = _INDEX if rest is None else f"coalesce({_INDEX}, {rest})"
    both = relation.set_alias("discreet_rows").join(
        listed.set_alias("discreet_keys"),
        f"discreet_rows.{quoted(name)} = discreet_keys.discreet_key",
        how="inner" if rest is None else "left",
    )
    others = [quoted(each) for each in relation.columns if each != name]
    return both.project(", ".join([*others, f"{index} AS {quoted(name)}"]))


def _keys_in_duckdb(relation: Any, name: str, held: list[tuple[Any, int]]) -> tuple[str, str]:
    """The keys, in the column's own type, and their places, as lists."""
    kind = str(relation.types[relation.columns.index(name)])
    if kind == "BLOB":
        digits = _list_in_duckdb([key.hex() for key, _ in held])
        keys = f"list_transform({digits}, lambda digits: unhex(digits))"
    else:
        keys = _list_in_duckdb([str(key) for key, _ in held]) + f"::{kind}[]"
    return keys, "(" + _list_in_duckdb([str(place) for _, place in held]) + "::BIGINT[])"


def _list_in_duckdb(words: list[str]) -> str:
    """Words without commas as one literal: a hundred thousand literals would be bound anew at each step."""
    return f"string_split('{','.join(words)}', ',')" if words else "[]::VARCHAR[]"


def fitting(dtype: Any) -> Fits:
    """A test of keys: can a column of this type, of Narwhals or of Ibis, hold it?"""
    import narwhals as nw

    if not isinstance(dtype, nw.dtypes.DType):
        return _fitting_in_database(dtype)
    if dtype.is_integer():
        return _whole(_BITS[str(dtype)], signed=not str(dtype).startswith("U"))
    if isinstance(dtype, nw.Decimal):
        return _decimal(dtype.precision, dtype.scale)
    # Not the categories of an enumeration: whoever made the type may have taken them from the rows.
    return _single if dtype == nw.Float32 else _any


def _fitting_in_database(dtype: Any) -> Fits:
    """Narwhals has no decimals of more than 38 digits, which databases have."""
    if dtype.is_integer():
        return _whole(8 * dtype.nbytes, signed=dtype.is_signed_integer())
    if dtype.is_decimal():
        return _decimal(dtype.precision, dtype.scale)
    return _single if dtype.is_float32() else _any


def _whole(bits: int, *, signed: bool) -> Fits:
    least, most = (-(1 << (bits - 1)), 1 << (bits - 1)) if signed else (0, 1 << bits)
    return lambda key: bool(least <= key < most)


def _decimal(precision: int, scale: int) -> Fits:
    steps, largest = 10**scale, 10**precision

    def fits(key: Any) -> bool:
        number = Fraction(key) * steps  # exactly: a decimal's own quotient has 28 digits
        return bool(number.denominator == 1 and abs(number) < largest)

    return fits


def _single(key: Any) -> bool:
    return bool(float(np.float32(key)) == key)


def _any(_key: Any) -> bool:
    return True


def quoted(name: str) -> str:
    """An SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


# ---- numbers written as text: one rule in every engine, and no text that raises ----

NUMBER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?\z"
"""A number, after spaces and tabs around it are removed; it means the nearest float64. Others are dropped.

The end is not written $, which in Spark stands before a last line break as well.
"""


def with_numbers(native: Any, column: str, *, name: str, engine: str) -> Any:
    """The native frame with a float64 column ``name``: the numbers that ``column`` spells, else null.

    Only the engines that read text files spell numbers as text. In pandas ``column`` is numeric: its own
    conversion of a wide integer raises, this one rounds to the nearest, as the other engines do.
    """
    if engine == "ibis":
        return databases().numbered(native, column, name=name)
    if engine == "pandas":
        numbers = native[column].to_numpy(dtype="float64", na_value=float("nan"))
        return native.assign(**{name: numbers})
    if engine == "duckdb":
        trimmed = f"trim({quoted(column)}, ' \t')"
        return native.project(
            f"*, CASE WHEN regexp_matches({trimmed}, '{NUMBER}') "
            f"THEN TRY_CAST({trimmed} AS DOUBLE) END AS {quoted(name)}"
        )
    from pyspark.sql import functions as f

    escaped = column.replace("`", "``")
    trimmed = f"trim(BOTH ' \t' FROM `{escaped}`)"
    number = f"CASE WHEN {trimmed} RLIKE r'{NUMBER}' THEN try_cast({trimmed} AS DOUBLE) END"
    return native.withColumn(name, f.expr(number))


# ---- what comes back ----


def pairs(rows: Sequence[tuple[Any, ...]], plain: Callable[[Any], Any]) -> list[tuple[Any, int]]:
    """Values (with what stands beside them) and their people as Python has them, the commonest first."""
    ordered = [
        ((plain(value), *map(int, beside)) if beside else plain(value), int(people))
        for value, *beside, people in rows
    ]
    return sorted(ordered, key=lambda pair: (-pair[1], pair[0]))
