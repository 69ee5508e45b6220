"""Selection in the cluster: its distribution for small n, harmless retries, and clean logs."""

from __future__ import annotations

import base64
import math
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet import PermuteAndFlip, PureDP, Scores
from discreet._exact.sampling.keyed_noise import KeyedNoise, keyed_first
from discreet._tables import (
    Grid,
    Rows,
    open_table,
    people_per_candidate,
    people_per_grid_point,
    spark_selection,
)
from discreet._tables.spark_selection import ReportFirst, select_in_cluster
from discreet.errors import ParameterError
from discreet.guarantees.claims import KEYED
from discreet.questions import TableRelease, mode, top_k

KEY = bytes(range(64))
BEST = 987_654_321_987


@pytest.fixture(scope="module")
def scored(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two thousand candidates in a file; a frame of literals would show them in the plan."""
    folder = tmp_path_factory.mktemp("scored")
    for part in range(2):
        numbers = range(part * 1000, part * 1000 + 1000)
        columns = {
            "candidate": [f"candidate {i}" for i in numbers],
            "score": [BEST - i % 50 for i in numbers],
        }
        pl.DataFrame(columns).write_parquet(folder / f"{part}.parquet")
    return spark.read.parquet(str(folder))


@pytest.fixture(scope="module")
def by_value() -> Iterator[None]:
    """Send this file's definitions by value, because workers cannot import it."""
    from pyspark import cloudpickle

    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]  # PySpark's own copy
    yield
    cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]  # as above


class FailsOnce(ReportFirst):
    """A report whose first attempt at each partition does all its work, records the result, and dies."""

    folder = ""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        reports = list(ReportFirst.__call__(self, batches))
        name = f"{context.partitionId()}-{context.attemptNumber()}"
        Path(self.folder, name).write_text(str(reports[0].to_pydict()))
        if context.attemptNumber() == 0:
            raise RuntimeError("a machine was lost")
        yield from reports


def test_a_failed_task_gives_the_same_noise(
    scored: Any, by_value: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = select_in_cluster(scored, scale=Fraction(7), noise=KeyedNoise(KEY), count=3)
    failing = type("Failing", (FailsOnce,), {"folder": str(tmp_path)})
    monkeypatch.setattr(spark_selection, "ReportFirst", failing)
    assert (
        select_in_cluster(scored, scale=Fraction(7), noise=KeyedNoise(KEY), count=3) == undisturbed
    )
    attempts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    partitions = {name.split("-")[0] for name in attempts}
    assert len(partitions) >= 2
    for partition in partitions:
        assert attempts[f"{partition}-0"] == attempts[f"{partition}-1"]


def test_how_the_table_is_cut_does_not_matter(scored: Any) -> None:
    noise = KeyedNoise(KEY)
    answers = {
        tuple(select_in_cluster(scored.repartition(parts), scale=Fraction(7), noise=noise, count=4))
        for parts in (1, 5)
    }
    assert len(answers) == 1


def _of_trial(trial: int) -> KeyedNoise:
    import hashlib

    return KeyedNoise(hashlib.sha512(str(trial).encode()).digest())


class Many(ReportFirst):
    """Many releases in one job, each with its own key: one row per release and partition."""

    trials = 0

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        kept = list(batches)
        for trial in range(self.trials):
            for report in ReportFirst(_of_trial(trial), self.scale, self.count)(iter(kept)):
                numbers = pa.array([trial] * report.num_rows, pa.int64())
                yield report.append_column("trial", numbers)


def test_the_law_at_small_n(spark: Any, by_value: None) -> None:
    """Make 1,500 releases in 3 partitions; a shift of 8 % is found, and false alarms are under 1e-7."""
    trials, values = 1500, [6, 5, 5, 3, 0]
    frame = spark.createDataFrame(
        [(f"c{i}", q) for i, q in enumerate(values)], "candidate string, score long"
    )
    kind = frame.schema["candidate"].dataType
    identity = spark_selection._identity_of("candidate", kind).alias(spark_selection.IDENTITY)
    many = type("ManyReleases", (Many,), {"trials": trials})
    reports = (
        frame.repartition(3)
        .select("candidate", "score", identity)
        .mapInArrow(
            many(KeyedNoise(KEY), Fraction(2), 1),
            f"candidate string, score long, {spark_selection.IDENTITY} binary, trial long",
        )
        .collect()
    )
    found: dict[int, list[Any]] = {trial: [] for trial in range(trials)}
    for report in reports:
        found[report["trial"]].append(report)
    counts: Counter[str] = Counter()
    for trial, rows in found.items():
        identities = b"".join(bytes(row[spark_selection.IDENTITY]) for row in rows)
        (first,) = keyed_first(
            _of_trial(trial),
            np.frombuffer(identities, dtype=np.uint8).reshape(-1, 16),
            np.array([row["score"] for row in rows]),
            scale=Fraction(2),
            count=1,
        )
        counts[rows[first]["candidate"]] += 1
    law = PermuteAndFlip(scale=2).probabilities(Scores(values, sensitivity=1))
    for place, chance in enumerate(law.tolist()):
        spread = math.sqrt(chance * (1 - chance) / trials)
        assert abs(counts[f"c{place}"] / trials - chance) < 5.6 * spread + 2 / trials


def test_nothing_of_it_is_logged(scored: Any, event_logs: Path, spark: Any) -> None:
    answer = select_in_cluster(scored, scale=Fraction(7), noise=KeyedNoise(KEY), count=3)
    logs = "".join(
        path.read_text(errors="replace") for path in event_logs.rglob("*") if path.is_file()
    )
    assert "ReportFirst" in logs  # the log contains the plan of this job
    for secret in (
        str(BEST),
        KEY.hex(),
        base64.b64encode(KEY[:30]).decode(),
        repr(KEY[33:60]),
        *answer,
    ):
        assert secret not in logs
    assert "secret" in repr(ReportFirst(KeyedNoise(KEY), Fraction(1), 1))


def test_files_read_by_spark(spark: Any, tmp_path: Path) -> None:
    """Spark drops the same malformed rows as DuckDB, and accepts the same numbers."""
    (tmp_path / "t.csv").write_bytes(
        b'code,age\na,1\n"a, b",2\nb\na, 3 \na,x,y\n"b\nc",4\n,5\na,1e1\na,inf\n'
    )
    lines = b'{"code":"a","age":1}\nnot json\n{"code":["a"]}\n"a"\n\n{"code":"b","age":"2"}\n{"age":3}\n'
    (tmp_path / "t.jsonl").write_bytes(lines)
    pl.DataFrame({"code": ["a", None, "b"], "age": [1.0, 2.0, None]}).write_parquet(
        tmp_path / "t.parquet"
    )
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        found = []
        for engine in (None, "spark"):
            table = open_table(tmp_path / name, needed=["code", "age"], engine=engine)
            counts = people_per_candidate(
                table, Rows(), column="code", keys=["a", "b", "a, b", "b\nc"]
            )
            grid = Grid.between("0:20")
            ages = people_per_grid_point(table, Rows(), column="age", grid=grid, per_person="least")
            found.append((counts.tolist(), ages.tolist()))
        assert found[0] == found[1]
        assert sum(found[0][0][0]) > 1


def _chosen(frame: Any, count: int) -> list[Any]:
    return select_in_cluster(frame, scale=Fraction(1), noise=KeyedNoise.fresh(), count=count)


def test_whole_numbers_and_texts_of_any_kind(spark: Any) -> None:
    frame = spark.createDataFrame([(-5, 0), (7, 1000), (2**62, 500)], "candidate long, score long")
    assert _chosen(frame, 2) == [7, 2**62]
    frame = spark.createDataFrame(
        [("", 0), ("é'`\n", 1000), ("x" * 500, 3)], "candidate string, score long"
    )
    assert _chosen(frame, 1) == ["é'`\n"]


def _rests_on_keyed_noise(release: TableRelease, page: str) -> None:
    """The guarantee assumes keyed noise, so no theorem covers all of it."""
    proof = release.guarantee.proof
    assert proof is not None
    assert proof.pages == (page, "docs/proofs/distributed-selection.md")
    assert not proof.theorems
    assert proof.assumes == (KEYED, "the column person tells people apart")


def test_the_question(spark: Any) -> None:
    rows = [(i, f"code {min(i % 7, 2)}") for i in range(2100)]
    data = spark.createDataFrame(rows, "person long, code string")
    candidates = spark.range(5000).selectExpr("concat('code ', id + 1) AS code")
    release = mode(data, column="code", candidates=candidates, epsilon=2, user="person")
    assert release.answer == "code 2"  # "code 0" is not a candidate
    assert release.guarantee == PureDP(2)
    _rests_on_keyed_noise(release, "docs/proofs/question-sensitivities.md")
    with pytest.raises(ParameterError, match="permute-and-flip"):
        mode(
            data,
            column="code",
            candidates=candidates,
            epsilon=2,
            user="person",
            mechanism="exponential",
        )


def test_the_first_k_in_the_cluster(spark: Any) -> None:
    """With counts 1,500, 1,000 and 500 at scale 3, the answer is wrong with a probability under e^−150."""
    codes = ["code 3"] * 3 + ["code 1"] * 2 + ["code 2"]
    data = spark.createDataFrame(
        [(i, codes[i % 6]) for i in range(3000)], "person long, code string"
    )
    question: dict[str, Any] = {"column": "code", "k": 3, "epsilon": 1, "user": "person"}
    candidates = spark.range(5000).selectExpr("concat('code ', id + 1) AS code")
    release = top_k(data, candidates=candidates, **question)
    assert release.answer == ("code 3", "code 1", "code 2")
    assert release.guarantee == PureDP(1)
    _rests_on_keyed_noise(release, "docs/proofs/top-k.md")
    assert "one-shot" in release.mechanism
    assert any("one-shot" in rule and "cluster" in rule for rule in release.rules)
    forgotten = top_k(data, candidates=candidates, ordered=False, **question)
    assert forgotten.answer == ("code 1", "code 2", "code 3")
    for wrong, words in (
        ({"method": "joint"}, "one-shot"),
        ({"with_count": True}, "cannot be combined with"),
        ({"mechanism": "exponential"}, "peeling"),
        ({"k": 5001}, "5000"),
    ):
        with pytest.raises(ParameterError, match=words):
            top_k(data, candidates=candidates, **question | wrong)


@pytest.mark.parametrize(
    ("labels", "words"),
    [(["a", "a"], "more than once"), (["a", " "], "blank"), ([], "empty"), ([None], "blank")],
)
def test_candidate_tables_are_checked(spark: Any, labels: list[Any], words: str) -> None:
    data = spark.createDataFrame([(1, "a")], "person long, code string")
    candidates = spark.createDataFrame([(label,) for label in labels], "code string")
    with pytest.raises(ParameterError, match=words):
        mode(data, column="code", candidates=candidates, epsilon=1, user="person")


def test_the_report_of_a_partition() -> None:
    import pyarrow as pa

    identities = [i.to_bytes(16, "big") for i in range(300)]
    columns = {
        "candidate": pa.array([f"c{i}" for i in range(300)]),
        "score": pa.array(np.arange(300) % 7),
        spark_selection.IDENTITY: pa.array(identities, pa.binary()),
    }
    batch = pa.RecordBatch.from_pydict(columns)
    task = ReportFirst(KeyedNoise(KEY), Fraction(3), 5)
    assert list(task(iter([]))) == list(task(iter([batch.slice(0, 0)]))) == []
    (whole,) = task(iter([batch]))
    (cut,) = task(
        iter([batch.slice(100), batch.slice(0, 0), batch.slice(2, 98), batch.slice(0, 2)])
    )
    assert whole.num_rows == 5
    assert cut.equals(whole)
