"""A random order of each person's own choices, by a keyed hash of person and choice."""

from __future__ import annotations

import hashlib
from typing import Any

from discreet._tables.engines import databases

KEY_BITS = 128
"""The size of a key. It is fresh for each release, and whoever computes the order again gets the same.

How good an engine's hash is decides how even the choice is, and nothing else: privacy does not rest on it,
nor on the key being secret (docs/proofs/question-sensitivities.md, "Drawn, not looked at").
"""


def with_order(frame: Any, engine: str, *, key: int | None, choice: str, size: int) -> Any:
    """The lazy frame with the column ``order``, a whole number from 0 up to below 2⁶³.

    ``choice`` is a column of whole numbers below ``size``. The order is a hash of key, user and choice,
    times ``size``, plus the choice: so no two choices of a person are level, and ``with_choice`` gets the
    choice back. In a database it is a text, the digits of both.
    """
    import narwhals as nw

    assert key is not None, "rows are keyed afresh for each release"
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
