"""The fixture: recognising samplers, sharing the error rate, and failure messages."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from discreet import AboveThreshold, PermuteAndFlip, PureDP
from discreet.audit import Schema
from discreet.audit.suite import Audited, only_samples


def uniform(scores: Any) -> Any:
    return np.full(len(scores), 1 / len(scores))


def argmax(scores: Any) -> int:
    return int(scores.argmax())


def argmaxes(scores: Any, size: int) -> Any:
    return np.full(size, int(scores.argmax()))


def unbounded(rows: Any) -> Any:
    return sum(row["age"] for row in rows) + np.random.default_rng().laplace(scale=120.0)


class Draws:
    def sample(self, scores: Any, size: int) -> Any:
        return argmaxes(scores, size)


@pytest.mark.parametrize(
    ("subject", "sampler"),
    [
        (uniform, False),
        (lambda scores: dict.fromkeys("ab", 0.5), False),
        (lambda scores: [0.25, 0.75], False),
        (PermuteAndFlip(epsilon=1), False),
        (PermuteAndFlip, False),
        (AboveThreshold(1, threshold=5, sensitivity=1), False),
        (argmax, True),
        (argmaxes, True),
        (Draws(), True),
        (lambda scores: "a label", True),
        (lambda scores: 0.3, True),
        (lambda scores: (3, 4), True),
    ],
)
def test_samplers_are_told_by_their_form(subject: Any, sampler: bool) -> None:
    assert only_samples(subject, {}) is sampler
    assert not only_samples(subject, {"inputs": "tables"}) or callable(
        getattr(subject, "sample", 0)
    )


@pytest.fixture
def told() -> list[Any]:
    return []


@pytest.fixture
def audits(told: list[Any]) -> Audited:
    return Audited(test="test_mine.py::test_it", false_alarm=1e-6, effort="quick", tell=told.extend)


def test_a_suspicion_is_reported_and_fails_only_if_asked(audits: Audited, told: list[Any]) -> None:
    options: Any = {"n": 2, "samples": 2000, "explore": 100}
    verdict = audits(argmax, PureDP(1), **options)
    assert verdict.status == "suspect"
    with pytest.raises(pytest.fail.Exception, match="does not seem to be"):
        audits(argmax, PureDP(1), suspects_fail=True, **options)
    records = [json.loads(value) for name, value in told if name == "audit"]
    # All sampling audits of a test together stay below its share.
    assert [record["false_alarm"] for record in records] == [5e-7, 2.5e-7]
    assert records[0]["seed"] != records[1]["seed"]
    assert records[0]["status"] == "suspect"


def test_sampling_is_repeatable_by_its_seed(audits: Audited, told: list[Any]) -> None:
    def noisy(scores: Any, size: int) -> Any:
        noise = np.random.default_rng().gumbel(size=(size, len(scores)))
        return np.argmax(scores.values + noise, axis=1)

    options: Any = {"n": 2, "samples": 1000, "explore": 100, "seed": 5, "false_alarm": 1e-9}
    options["monotonic"] = True
    first, second = (audits(noisy, PureDP(1), **options) for _ in range(2))
    assert first.worst == second.worst
    ours = [audits(PermuteAndFlip(epsilon=2), PureDP(1), sampled=True, **options) for _ in range(2)]
    assert ours[0].worst == ours[1].worst


def test_a_failure_names_claim_witness_and_three_lines(audits: Audited, told: list[Any]) -> None:
    with pytest.raises(pytest.fail.Exception) as failure:
        audits(PermuteAndFlip(epsilon=2), PureDP(1), n=2)
    said = str(failure.value)
    for part in ("claim      PureDP(1)", "largest ε found 2, claimed 1", "scores ("):
        assert part in said
    lines = [line.strip() for line in said.split("reproduce\n")[1].splitlines()]
    assert len(lines) == 3
    printed: list[Any] = []
    exec("\n".join(lines), {"print": printed.append})  # noqa: S102  # our own three lines
    assert printed[0].status == "refuted"


def test_a_pipeline_fails_with_its_rows(audits: Audited, told: list[Any]) -> None:
    with pytest.raises(pytest.fail.Exception, match="rows") as failure:
        audits.pipeline(unbounded, Schema(age=(0, 120)), PureDP(1))
    assert "recording(unbounded, Schema(age=(0, 120)), PureDP(1), effort='quick'" in str(
        failure.value
    )
    record = json.loads(dict(told)["audit"])
    assert record["status"] == "refuted"
    assert record["findings"]
    secret = [{"age": 4711.0}, {"age": 12.0}]
    with pytest.raises(pytest.fail.Exception) as hidden:
        audits.pipeline(unbounded, secret, PureDP(1))
    assert "4711" not in str(hidden.value) + str(told)
