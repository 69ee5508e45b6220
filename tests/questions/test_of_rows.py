"""Common parts of all questions about a column: the mechanism, and the rows and groups that count."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from discreet import Exponential, NoisyMax, PermuteAndFlip, PureDP
from discreet._exact import sampling
from discreet.errors import ParameterError
from discreet.questions import median, mode, quantiles, top_k

VISITS = pl.DataFrame(
    {"person": range(300), "code": ["a"] * 200 + ["b"] * 100, "age": [i % 90 for i in range(300)]}
)


class NeverPaid:
    """A ledger that fails if a question uses it."""

    def spend(self, dataset: str, event: Any, *, purpose: str) -> Any:
        raise AssertionError(f"{purpose} was paid for")

    def fail(self, entry: Any) -> Any:
        raise AssertionError("nothing was paid for")


OPTIONS: dict[str, Any] = {"column": "code", "candidates": ["a", "b", "c"], "user": "person"}


def test_every_mechanism_answers() -> None:
    for mechanism in (
        None,
        "exponential",
        "noisy-max-laplace",
        NoisyMax(epsilon=7, noise="gumbel"),
        Exponential,
    ):
        release = mode(VISITS, epsilon=2, mechanism=mechanism, **OPTIONS)
        assert release.answer == "a"
        assert release.guarantee == PureDP(2)
        assert release.mechanism in (
            "permute-and-flip",
            "exponential",
            "noisy-max-laplace",
            "noisy-max-gumbel",
        )


def test_a_steady_mechanism_is_used_throughout_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before the charge if other work of the question takes time that depends on scores."""
    steady = PermuteAndFlip(epsilon=1, steady=True)
    quick: list[str] = []
    monkeypatch.setattr(sampling, "uniform_head", lambda *_: quick.append("quick"))
    numeric: dict[str, Any] = {"column": "age", "bounds": "0:100", "user": "person", "epsilon": 2}
    coded: dict[str, Any] = {**OPTIONS, "epsilon": 2}
    assert mode(VISITS, mechanism=steady, **coded).answer in "abc"
    assert len(top_k(VISITS, mechanism=steady, k=2, **coded).answer) == 2
    assert 0 <= median(VISITS, mechanism=steady, **numeric).answer <= 100
    assert len(quantiles(VISITS, mechanism=steady, at=[0.5], **numeric).answer) == 1
    assert not quick
    unknown = {"column": "code", "user": "person", "epsilon": 2, "delta": "1e-6"}
    for ask, options in (
        (mode, {**coded, "with_gap": True}),
        (mode, {**coded, "with_count": True}),
        (mode, unknown),
        (top_k, {**coded, "k": 2, "method": "one-shot"}),
        (top_k, {**coded, "k": 2, "with_count": True}),
        (top_k, {**unknown, "k": 2}),
        (quantiles, {**numeric, "at": [0.1, 0.5]}),
    ):
        with pytest.raises(
            ParameterError, match=r"steady=True is not allowed|leave mechanism= out"
        ):
            ask(VISITS, mechanism=steady, ledger=NeverPaid(), dataset="visits", **options)
