"""Selection in the cluster, for more candidates than fit on one machine: one exact pass.

Every candidate's score gets exponential noise. The noise is a keyed function of the candidate, so that a task
that is retried, or run twice at once, reports the same result. Every partition reports its first k candidates
by noisy score, and the first k of those are the answer: permute-and-flip for k = 1, one-shot top-k for more
(docs/proofs/distributed-selection.md).

The key and the scale are sent only inside the pickled function: never as a literal of a query, which the
plan, the Spark UI and the event log would show.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.numbers.exact import refuse
from discreet._exact.sampling.keyed_noise import (
    Identities,
    KeyedNoise,
    keyed_first,
    keyed_shortlist,
)
from discreet._tables.counts import Rows, counted_values
from discreet._tables.in_spark import Spark
from discreet._tables.table import Table
from discreet.errors import ParameterError, TableError, missing_extra

IDENTITY = "discreet_identity"


@dataclass(frozen=True, slots=True)
class ReportFirst:
    """A task that reports a partition's first candidates. Its pickle contains the key; its repr does not."""

    noise: KeyedNoise
    scale: Fraction
    count: int

    def __repr__(self) -> str:
        return "ReportFirst(secret)"

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the first ``count`` rows of the partition by noisy score, in order."""
        import pyarrow as pa

        kept: Any = None
        for batch in batches:
            if not batch.num_rows:
                continue
            rows = pa.Table.from_batches([batch])
            rows = rows if kept is None else pa.concat_tables([kept, rows])
            kept = rows.take(keyed_shortlist(self.noise, *_scored(rows), **self._asked))
        if kept is not None:
            first = keyed_first(self.noise, *_scored(kept), **self._asked)
            yield from kept.take(first).combine_chunks().to_batches()

    @property
    def _asked(self) -> dict[str, Any]:
        return {"scale": self.scale, "count": self.count}


def _scored(rows: Any) -> tuple[Identities, Any]:
    """Return the identities and the scores of these rows."""
    scores = rows.column("score").to_numpy().astype(np.int64, copy=False)
    return _identities(rows.column(IDENTITY)), scores


def _identities(column: Any) -> Identities:
    """Return a binary column of 16-byte identities as an array, without a Python loop."""
    values = column.combine_chunks()
    offsets = np.frombuffer(values.buffers()[1], dtype=np.int32)[values.offset :][: len(values) + 1]
    data = np.frombuffer(values.buffers()[2], dtype=np.uint8)
    return data[offsets[0] : offsets[-1]].reshape(-1, 16)


def select_in_cluster(scored: Any, *, scale: Fraction, noise: KeyedNoise, count: int) -> list[Any]:
    """Return the first ``count`` candidates of a frame (``candidate``, ``score``) by noisy score."""
    from pyspark.sql.types import BinaryType, LongType, StructField, StructType

    kind = scored.schema["candidate"].dataType
    shape = StructType(
        [
            StructField("candidate", kind),
            StructField("score", LongType()),
            StructField(IDENTITY, BinaryType()),
        ]
    )
    named = scored.select("candidate", "score", _identity_of("candidate", kind).alias(IDENTITY))
    reports = named.mapInArrow(ReportFirst(noise, scale, count), shape).collect()
    identities = np.frombuffer(b"".join(bytes(row[IDENTITY]) for row in reports), dtype=np.uint8)
    scores = np.array([row["score"] for row in reports], dtype=np.int64)
    first = keyed_first(noise, identities.reshape(-1, 16), scores, scale=scale, count=count)
    if len(first) < count:
        # The candidates were counted before: this happens only if the table has changed since.
        raise TableError("the table changed while it was being read; nothing is released")
    return [reports[index]["candidate"] for index in first]


def _identity_of(column: str, kind: Any) -> Any:
    """Return 16 bytes that identify a candidate: a whole number itself, or half of a text's SHA-256."""
    from pyspark.sql import functions as f

    if kind.typeName() == "string":
        return f.unhex(f.substring(f.sha2(f.col(column).cast("binary"), 256), 1, 32))
    # Hexadecimal digits of the number, padded: two numbers never share them.
    return f.unhex(f.lpad(f.hex(f.col(column).cast("long")), 32, "0"))


def scored_in_cluster(table: Table, rows: Rows, *, column: str, candidates: Any) -> Any:
    """Return the public candidates with the number of people who have each, as a frame in the cluster."""
    from pyspark.sql import functions as f

    assert isinstance(table.engine, Spark)
    counted = table.engine.frame(counted_values(table, rows, column=column).statement)
    candidate = candidates["candidate"]
    if counted.schema["value"].dataType.typeName() == "binary":  # a text, see `Engine.text`
        candidate = candidate.cast("binary")
    joined = candidates.join(counted, candidate == counted["value"], "left")
    return joined.select(
        "candidate", f.coalesce(f.col("people"), f.lit(0)).cast("long").alias("score")
    )


def public_frame(given: Any, *, column: str, kind: str, k: int) -> Any:
    """Check that a public table lists ``k`` or more candidates, none twice; return this one column."""
    from pyspark.sql import functions as f

    names = given.columns
    if column not in names and len(names) != 1:
        raise ParameterError(f"candidates must have a column named {column!r}, or one column only")
    frame = given.select(f.col(f"`{column if column in names else names[0]}`").alias("candidate"))
    declared = frame.schema["candidate"].dataType.typeName()
    allowed = {"text": ("string",), "integer": ("byte", "short", "integer", "long")}.get(kind, ())
    if declared not in allowed:
        raise ParameterError(
            f"candidates declared {declared} cannot be values of the column {column!r}: in the cluster both "
            "must be texts, or both whole numbers"
        )
    text = f.col("candidate").cast("string")
    blank = f.max(f.when(f.col("candidate").isNull() | (f.trim(text) == ""), 1).otherwise(0))
    times = f.count("*").alias("times")
    # Group by a hash, which is shorter than a text; by the candidates only if two hashes are equal.
    worst = (
        frame.groupBy(f.xxhash64("candidate"))
        .agg(times, blank.alias("blank"))
        .agg(
            f.max("times").alias("times"),
            f.max("blank").alias("blank"),
            f.sum("times").alias("number"),
        )
        .collect()[0]
    )
    if worst["times"] is None:
        raise ParameterError("candidates is empty: there must be at least one")
    if worst["blank"]:
        raise ParameterError("candidates contains a blank one")
    if (
        worst["times"] > 1
        and frame.groupBy("candidate").agg(times).agg(f.max("times")).first()[0] > 1
    ):
        raise ParameterError("candidates contains one of them more than once")
    if worst["number"] < k:
        raise refuse("k", k, f"at most the number of candidates, {worst['number']}")
    return frame


def require_libraries() -> None:
    """Raise an error unless PyArrow, which the tasks need, is installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise missing_extra("a selection in the cluster needs PyArrow", extra="spark") from None
