"""A random order of each person's own choices, by a keyed hash of person and choice, in every engine.

The key is fresh for each release, and whoever computes the order again gets the same: a task may run twice.
How good an engine's hash is decides how even the choice is, and nothing else: privacy does not rest on it,
nor on the key being secret (docs/proofs/question-sensitivities.md, "Drawn, not looked at").
"""

from __future__ import annotations

import hashlib
from typing import Any

KEY_BITS = 128
"""The size of a key."""


def with_order(frame: Any, engine: str, *, key: int, choice: str, size: int) -> Any:
    """The lazy frame with the column ``order``, a whole number from 0 up to below 2⁶³.

    ``choice`` is a column of whole numbers below ``size``. The order is a hash of key, user and choice,
    times ``size``, plus the choice: so no two choices of a person are level, and ``order % size`` is the
    choice.
    """
    import narwhals as nw

    bits = 62 - size.bit_length()
    hashed = _HASHED[engine](frame.to_native(), key, choice, bits)
    order = nw.col("order").cast(nw.Int64) * size + nw.col(choice)
    return nw.from_native(hashed).lazy().with_columns(order.alias("order"))


def _duckdb(relation: Any, key: int, choice: str, bits: int) -> Any:
    digest = f"md5_number_lower(concat('{key:x}:', \"{choice}\", ':', \"user\"))"
    return relation.project(f'*, {digest} >> {64 - bits} AS "order"')


def _polars(frame: Any, key: int, choice: str, bits: int) -> Any:
    import polars as pl

    seed = key >> (KEY_BITS - 64)
    text = pl.format(f"{key:x}:{{}}:{{}}", choice, pl.col("user").hash(seed))
    return frame.with_columns((text.hash(seed) // (1 << (64 - bits))).alias("order"))


def _pandas(frame: Any, key: int, choice: str, bits: int) -> Any:
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


def _pyspark(frame: Any, key: int, choice: str, bits: int) -> Any:
    from pyspark.sql import functions as f

    digest = f.xxhash64(f.lit(f"{key:x}"), f.col("user"), f.col(choice))
    return frame.withColumn("order", f.shiftrightunsigned(digest, 64 - bits))


_HASHED = {"duckdb": _duckdb, "polars": _polars, "pandas": _pandas, "pyspark": _pyspark}
