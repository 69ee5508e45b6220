"""What each engine does in its own way: told to be quiet, texts and keys, numbers in texts, a keyed order.

Values are told apart as what they are: texts by their bytes, wide numbers in their own type. An engine may
compare texts by a collation, and what it returns passes through types of ours that are not the column's
(float64 for a HUGEINT, NumPy texts without trailing NULs). A count that is then looked up by its value
goes to another candidate, or to none, and one person can do that to many others' counts. So the public
keys travel into the engine in the column's own type, and only their indices come back.
"""

from __future__ import annotations

import hashlib
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
        raise TableError(f"the engine failed while {doing}, before any row was read: {said}")
    raise TableError(
        f"the engine failed while {doing}; what it said is withheld, because it may quote the data"
    )


def databases() -> Any:
    """What databases do in their own way; imported when one is asked."""
    from discreet.tables import databases as module

    return module


def finite(number: Any, *, engine: str) -> Any:
    """Whether a float64 expression is a number, neither NaN nor infinite; false or null for a null."""
    if (
        engine == "ibis"
    ):  # not every database has a word for it, and NaN is beyond or beside all numbers
        return (number >= -_LARGEST) & (number <= _LARGEST)
    return number.is_finite()


_LARGEST = float(np.finfo(np.float64).max)
_BITS = {f"{sign}Int{size}": size for sign in ("", "U") for size in (8, 16, 32, 64, 128)}
_INDEX = "discreet_index"
_FEW = 64
VIEWS = "discreet_rows_"
"""How the names of views begin that stand inside a query."""


def as_text(text: str, *, engine: str) -> str | bytes:
    """A text as the column made by ``with_text`` holds it."""
    if engine == "ibis":
        return text.encode().hex().upper()
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

    dtype = frame.collect_schema()[name]
    fits = fitting(dtype)
    held = [(key, place) for place, key in enumerate(keys) if fits(key)]
    if any(isinstance(key, str) for key, _ in held):
        held = [(as_text(key, engine=engine), place) for key, place in held]
    native = frame.to_native()
    if engine == "ibis":
        from discreet.tables import database_keys

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
    # A relation's connection is its own: the list travels inside a query on that very relation.
    # A name for each step: two views of one name, one made of the other, are a circle to DuckDB 1.5.
    rows = f"{VIEWS}{name}"
    join, index = ("JOIN", _INDEX) if rest is None else ("LEFT JOIN", f"coalesce({_INDEX}, {rest})")
    return relation.query(
        rows,
        f"SELECT {rows}.* REPLACE ({index} AS {quoted(name)}) FROM {rows} {join} "  # noqa: S608
        f"(SELECT unnest({keys}) AS discreet_key, unnest({places}) AS {_INDEX}) "
        f"ON {quoted(name)} = discreet_key",
    )


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


def fitting(dtype: Any) -> Callable[[Any], bool]:
    """A test of keys: can a column of this declared type hold it? Nobody has the others."""
    import narwhals as nw

    if dtype.is_integer():
        bits, signed = _BITS[str(dtype)], not str(dtype).startswith("U")
        least, most = (-(1 << (bits - 1)), 1 << (bits - 1)) if signed else (0, 1 << bits)
        return lambda key: bool(least <= key < most)
    if isinstance(dtype, nw.Decimal):
        scale, largest = 10**dtype.scale, 10**dtype.precision

        def in_steps(key: Any) -> bool:
            steps = Fraction(key) * scale  # exactly: a decimal's own quotient has 28 digits
            return bool(steps.denominator == 1 and abs(steps) < largest)

        return in_steps
    if dtype == nw.Float32:
        return lambda key: float(np.float32(key)) == key
    # Not the categories of an enumeration: whoever made the type may have taken them from the rows.
    return lambda _: True


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


# ---- a random order of each person's own choices, by a keyed hash of person and choice ----

KEY_BITS = 128
"""The size of a key. It is fresh for each release, and whoever computes the order again gets the same.

How good an engine's hash is decides how even the choice is, and nothing else: privacy does not rest on it,
nor on the key being secret (docs/proofs/question-sensitivities.md, "Drawn, not looked at").
"""


def with_order(frame: Any, engine: str, *, key: int, choice: str, size: int) -> Any:
    """The lazy frame with the column ``order``, a whole number from 0 up to below 2⁶³.

    ``choice`` is a column of whole numbers below ``size``. The order is a hash of key, user and choice,
    times ``size``, plus the choice: so no two choices of a person are level, and ``with_choice`` gets the
    choice back. In a database it is a text, the digits of both.
    """
    import narwhals as nw

    if engine == "ibis":
        return nw.from_native(databases().hash_ordered(frame.to_native(), key, choice)).lazy()
    bits = 62 - size.bit_length()
    hashed = _HASHED[engine](frame.to_native(), key, choice, bits)
    order = nw.col("order").cast(nw.Int64) * size + nw.col(choice)
    return nw.from_native(hashed).lazy().with_columns(order.alias("order"))


def with_choice(frame: Any, engine: str, *, name: str, size: int) -> Any:
    """The lazy frame with a further column: the choice that ``order`` was made of."""
    import narwhals as nw

    if engine == "ibis":
        return nw.from_native(databases().choice_in(frame.to_native(), name=name)).lazy()
    return frame.with_columns((nw.col("order") % size).alias(name))


def _hashed_in_duckdb(relation: Any, key: int, choice: str, bits: int) -> Any:
    # Twice: the hash of several columns is a bitwise sum of their hashes, by which that one of three choices
    # that differs first from the other two comes first half of the time.
    digest = f'hash(hash(\'{key:x}\', "user", "{choice}"))'
    return relation.project(f'*, {digest} >> {64 - bits} AS "order"')


def _hashed_in_polars(frame: Any, key: int, choice: str, bits: int) -> Any:
    import polars as pl

    seed = key >> (KEY_BITS - 64)
    text = pl.format(f"{key:x}:{{}}:{{}}", choice, pl.col("user").hash(seed))
    return frame.with_columns((text.hash(seed) // (1 << (64 - bits))).alias("order"))


def _hashed_in_pandas(frame: Any, key: int, choice: str, bits: int) -> Any:
    secret = key.to_bytes(KEY_BITS // 8, "big")

    def hashed(user: Any, number: Any) -> int:
        # A lone surrogate must not raise either.
        text = f"{number}:{user}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, key=secret, digest_size=8).digest()
        return int.from_bytes(digest, "big") >> (64 - bits)

    import pandas as pd

    users = frame["user"]
    if users.dtype.kind == "M":  # a time or a date may lie beyond Python's own: its number does not
        arrow = getattr(users.dtype, "pyarrow_dtype", None)
        users = users.astype("int64" if arrow is None else f"int{arrow.bit_width}[pyarrow]")
    order = list(map(hashed, users, frame[choice]))
    return frame.assign(order=pd.Series(order, index=frame.index, dtype="int64"))


def _hashed_in_pyspark(frame: Any, key: int, choice: str, bits: int) -> Any:
    from pyspark.sql import functions as f

    digest = f.xxhash64(f.lit(f"{key:x}"), f.col("user"), f.col(choice))
    return frame.withColumn("order", f.shiftrightunsigned(digest, 64 - bits))


_HASHED = {
    "duckdb": _hashed_in_duckdb,
    "polars": _hashed_in_polars,
    "pandas": _hashed_in_pandas,
    "pyspark": _hashed_in_pyspark,
}


# ---- what comes back ----


def pairs(counted: Any, *beside: str, is_text: bool) -> list[tuple[Any, int]]:
    """Values (with what stands ``beside`` them) and their people as Python has them, the commonest first."""
    counted = counted.select("value", *beside, "people")
    native = counted.to_native()
    # Python's own values: NumPy has no exact place for a wide integer, a decimal or a NUL.
    if hasattr(native, "to_pyarrow_batches"):  # Ibis
        found = databases().listed(native, decoding="value" if is_text else None)
    else:
        found = native.fetchall() if hasattr(native, "fetchall") else counted.collect().rows()
    ordered = [
        ((_plain(value), *map(int, others)) if beside else _plain(value), int(people))
        for value, *others, people in found
    ]
    return sorted(ordered, key=lambda pair: (-pair[1], pair[0]))


def collected(frame: Any) -> dict[str, Any]:
    """A small result as NumPy columns."""
    native = frame.to_native()
    if hasattr(native, "to_pyarrow_batches"):  # Ibis
        return dict(databases().fetched(native))
    if hasattr(native, "fetchnumpy"):  # DuckDB, without going through Arrow
        return dict(native.fetchnumpy())
    result = frame.collect()
    return {name: result.get_column(name).to_numpy() for name in result.columns}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray):  # a text, see `with_text`
        return value.decode(errors="replace")
    return value.item() if isinstance(value, np.generic) else value
