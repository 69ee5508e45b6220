"""Permute-and-flip in the cluster, for candidates too many for one machine: two passes, exact.

The first pass finds the best score. In the second every partition flips its candidates' coins and reports
how many fell heads and the one that stands first in a keyed random order; the first of those is the
answer, a uniformly random head (docs/proofs/distributed-selection.md). Coins and order are keyed functions
of the candidate, so that a task that is tried again, or run twice at once, reports the same.

The best score and the key travel inside the pickled function only: never as a literal of a query, which
the plan, the Spark UI and the event log would show. Every partition reports exactly one row, heads or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import ParameterError, TableError, missing_extra
from discreet.sampling.keyed_coins import (
    Identities,
    KeyedCoins,
    first_in_order,
    keyed_heads,
    require_scale,
)
from discreet.tables.counts import Rows, counted_values
from discreet.tables.table import Table

IDENTITY = "discreet_identity"


@dataclass(frozen=True, slots=True)
class ReportHeads:
    """What a task does with the batches of its partition; pickled with the key, and printed without it."""

    coins: KeyedCoins
    best: int
    scale: Fraction

    def __repr__(self) -> str:
        return "ReportHeads(secret)"

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """One row for the partition: how many heads, the first in order, and its place."""
        import pyarrow as pa

        heads, place, candidate, kind = 0, None, None, pa.null()
        for batch in batches:
            kind = batch.schema.field("candidate").type
            found, first, where = self._batch(batch)
            heads += found
            if where is not None and (place is None or where < place):
                place, candidate = where, batch.column("candidate")[first]
        report = {
            "heads": pa.array([heads], pa.int64()),
            "place": pa.array([place], pa.binary()),
            "candidate": pa.array([None if candidate is None else candidate.as_py()], kind),
        }
        yield pa.RecordBatch.from_pydict(report)

    def _batch(self, batch: Any) -> tuple[int, int, bytes | None]:
        identities = _identities(batch.column(IDENTITY))
        scores = batch.column("score").to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
        short = (np.int64(self.best) - scores).view(np.uint64)
        words = self.coins.words(identities)
        heads = keyed_heads(self.coins, identities, words, short=short, scale=self.scale)
        if not len(heads):
            return 0, 0, None
        first, place = first_in_order(self.coins, identities, words, heads)
        return len(heads), first, place


def _identities(column: Any) -> Identities:
    """The identities of a batch: 16 bytes of each binary value, without a Python loop."""
    values = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    offsets = np.frombuffer(values.buffers()[1], dtype=np.int32)[values.offset :][: len(values) + 1]
    data = np.frombuffer(values.buffers()[2], dtype=np.uint8)
    return data[offsets[0] : offsets[-1]].reshape(-1, 16)


def select_in_cluster(scored: Any, *, scale: Fraction, coins: KeyedCoins) -> Any:
    """A candidate of the frame (``candidate``, whole-number ``score``) by permute-and-flip."""
    require_scale(scale)
    from pyspark import StorageLevel
    from pyspark.sql import functions as f
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    kind = scored.schema["candidate"].dataType
    kept = scored.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        best = kept.agg(f.max("score").alias("best")).collect()[0]["best"]
        if best is None:
            raise ParameterError("candidates is empty: there must be at least one")
        shape = StructType(
            [
                StructField("heads", LongType()),
                StructField("place", BinaryType()),
                StructField("candidate", kind),
            ]
        )
        named = kept.select("candidate", "score", _identity_of("candidate", kind).alias(IDENTITY))
        reports = named.mapInArrow(ReportHeads(coins, int(best), scale), shape).collect()
    finally:
        kept.unpersist()
    placed = [
        (bytes(report["place"]), report["candidate"]) for report in reports if report["heads"]
    ]
    if not placed:
        # The best candidate's coin is certain: only a table that changed between the passes gets here.
        raise TableError("the table changed while it was being read; nothing is released")
    return min(placed)[1]


def _identity_of(column: str, kind: Any) -> Any:
    """16 bytes that tell candidates apart: a whole number itself, or half of a text's SHA-256."""
    from pyspark.sql import functions as f

    if kind.typeName() == "string":
        return f.unhex(f.substring(f.sha2(f.col(column).cast("binary"), 256), 1, 32))
    # Hexadecimal digits of the number, padded: two numbers never share them.
    return f.unhex(f.lpad(f.hex(f.col(column).cast("long")), 32, "0"))


def scored_in_cluster(table: Table, rows: Rows, *, column: str, candidates: Any) -> Any:
    """The public candidates with the number of people who have each, as a frame in the cluster."""
    from pyspark.sql import functions as f

    counted = counted_values(table, rows, column=column).to_native()
    candidate = candidates["candidate"]
    if counted.schema["value"].dataType.typeName() == "binary":  # a text, see `with_text`
        candidate = candidate.cast("binary")
    joined = candidates.join(counted, candidate == counted["value"], "left")
    return joined.select(
        "candidate", f.coalesce(f.col("people"), f.lit(0)).cast("long").alias("score")
    )


def public_frame(given: Any, *, column: str, kind: str) -> Any:
    """A public table of candidates as a frame with the column ``candidate``; checked in the cluster."""
    from pyspark.sql import functions as f

    names = given.columns
    if column not in names and len(names) != 1:
        raise ParameterError(f"candidates must have a column named {column!r}, or one column only")
    frame = given.select(f.col(f"`{column if column in names else names[0]}`").alias("candidate"))
    declared = frame.schema["candidate"].dataType.typeName()
    allowed = {"text": ("string",), "integer": ("byte", "short", "integer", "long")}.get(kind, ())
    if declared not in allowed:
        raise ParameterError(
            f"candidates declared {declared} cannot be values of a column declared {kind}: in the cluster "
            "both must be texts, or both whole numbers"
        )
    text = f.col("candidate").cast("string")
    blank = f.max(f.when(f.col("candidate").isNull() | (f.trim(text) == ""), 1).otherwise(0))
    repeated = frame.groupBy("candidate").agg(f.count("*").alias("times"))
    worst = repeated.agg(f.max("times").alias("times"), blank.alias("blank")).collect()[0]
    if worst["times"] is None:
        raise ParameterError("candidates is empty: there must be at least one")
    if worst["blank"]:
        raise ParameterError("candidates has a blank one")
    if worst["times"] > 1:
        raise ParameterError("candidates has one more than once")
    return frame


def require_libraries() -> None:
    """An error unless what a task needs is installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise missing_extra("a selection in the cluster needs PyArrow", extra="spark") from None
