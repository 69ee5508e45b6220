from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import ZCDP, PermuteAndFlip, PureDP, Scores
from discreet.audit import audit
from discreet.errors import ParameterError, ScoresError
from discreet.lazy import LazyPermuteAndFlip, _random_order
from discreet.papers.ours.lazy_variants import StartOver, answer_and_visits
from discreet.testing import scripted


def lazy(epsilon: object = 1, **changes: Any) -> LazyPermuteAndFlip:
    return LazyPermuteAndFlip(epsilon, **{"bound": 0, "sensitivity": 1, **changes})


def test_the_distribution_is_permute_and_flip_with_a_stand_in() -> None:
    scores = Scores([-1, -3, -3], sensitivity=1)
    expected = PermuteAndFlip(epsilon=1).probabilities(Scores([-1, -3, -3, 0], sensitivity=1))
    assert lazy().probabilities(scores) == pytest.approx(expected, rel=1e-12)
    mirrored = lazy(optimize="min").probabilities(Scores([1, 3, 3], sensitivity=1))
    assert mirrored == pytest.approx(expected, rel=1e-12)


def test_draws_follow_the_distribution() -> None:
    # 20,000 scripted draws, so the test cannot fail by chance.
    mechanism, values, bits = lazy(), {"a": 0, "b": -1, "c": -4}, scripted("lazy")
    draws = Counter(mechanism._choose(list(values), values.__getitem__, bits) for _ in range(6_000))
    expected = mechanism.probabilities(Scores(values, sensitivity=1))
    observed = np.array([draws[label] for label in ("a", "b", "c", None)])
    chi_square = ((observed - 6_000 * expected) ** 2 / (6_000 * expected)).sum()
    assert chi_square < 30  # three degrees of freedom: one in a million


def test_evaluations_are_as_many_as_foretold() -> None:
    mechanism, values, bits = lazy(), [-1, -2, 0, -5, -5, -3], scripted("visits")
    calls: list[int] = []

    def score(candidate: int) -> int:
        calls.append(candidate)
        return values[candidate]

    rounds = 2_000
    for _ in range(rounds):
        before = len(calls)
        mechanism._choose(range(6), score, bits)
        assert len(set(calls[before:])) == len(calls) - before
    foretold = mechanism.expected_evaluations(Scores(values, sensitivity=1))
    assert len(calls) / rounds == pytest.approx(foretold, abs=0.1)
    joint = answer_and_visits(1, Scores(values, sensitivity=1), bound=0)
    assert sum(chance * visits for (_, visits), chance in joint.items()) == pytest.approx(
        foretold, rel=1e-9
    )
    assert sum(joint.values()) == pytest.approx(1)


def test_a_bound_that_nobody_attains_still_ends() -> None:
    mechanism = lazy()
    scores = Scores([-(10**9)] * 5, sensitivity=1)
    assert mechanism.select(range(5), lambda _: -(10**9)) is None
    assert mechanism.probabilities(scores)[-1] == pytest.approx(1)
    assert mechanism.expected_evaluations(scores) == pytest.approx(5 / 2)


def test_scores_beyond_the_bound_count_as_the_bound() -> None:
    above, at = Scores([3, -1], sensitivity=1), Scores([0, -1], sensitivity=1)
    assert lazy().probabilities(above) == pytest.approx(lazy().probabilities(at))
    answers = {lazy().select(["x"], lambda _: 10**6) for _ in range(40)}
    assert answers <= {"x", None}


def _neighbours(values: tuple[int, ...], monotonic: bool) -> list[tuple[int, ...]]:
    moves = (0, 1) if monotonic else (-1, 0, 1)
    return [
        tuple(np.add(values, step).tolist())
        for step in itertools.product(moves, repeat=len(values))
    ]


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("epsilon", ["0.2", "1", "3"])
def test_exact_audit(epsilon: str, monotonic: bool) -> None:
    # Every pair of neighbours on a small grid, including the bound and scores above it.
    mechanism = lazy(epsilon, monotonic=monotonic)
    worst = 0.0
    for values in itertools.product((-7, -2, -1, 0, 1), repeat=2):
        here = mechanism.probabilities(Scores(values, sensitivity=1))
        for other in _neighbours(values, monotonic):
            there = mechanism.probabilities(Scores(other, sensitivity=1))
            worst = max(worst, float(np.abs(np.log(here / there)).max()))
    assert worst <= float(epsilon) + 1e-12
    assert worst >= 0.6 * float(epsilon)


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_starting_over_is_not_private(epsilon: float, monotonic: bool) -> None:
    # Refuted by a pair of neighbours: the second candidate is nearly hopeless, and the best drops below the
    # bound.
    step = (-1, 0) if monotonic else (-1, 1)
    low = -round(60 / epsilon)
    near, far = (
        Scores(q, sensitivity=1, monotonic=monotonic) for q in ((0, low), (step[0], low + step[1]))
    )
    tempting = StartOver(epsilon=epsilon, bound=0)
    log_ratio = math.log(tempting.probabilities(far)[1] / tempting.probabilities(near)[1])
    moved = epsilon if monotonic else epsilon / 2
    assert log_ratio == pytest.approx(epsilon + math.log(2 - math.exp(-moved)), rel=1e-9)
    assert log_ratio > epsilon * 1.05


@pytest.mark.parametrize("monotonic", [False, True])
def test_the_auditor_finds_that_starting_over_is_not_private(monotonic: bool) -> None:
    """The auditor must search below the public bound, where a neighbour's score reaches the bound."""
    found = audit(
        StartOver(epsilon=1, bound=0), PureDP(1), monotonic=monotonic, n=2, effort="quick"
    )
    assert found.status == "refuted"
    assert found.measured > 1.3


def test_starting_over_lies_between_the_two_mechanisms() -> None:
    scores = Scores([0, -2, -3], sensitivity=1)
    reached = StartOver(epsilon=1, bound=0).probabilities(scores)
    assert reached == pytest.approx(PermuteAndFlip(epsilon=1).probabilities(scores), rel=1e-12)
    from discreet import Exponential

    distant = StartOver(epsilon=1, bound=200).probabilities(scores)
    assert distant == pytest.approx(Exponential(epsilon=1).probabilities(scores), rel=1e-9)


def test_the_number_of_evaluations_is_not_private() -> None:
    reached, missed = (answer_and_visits(1, Scores([q], sensitivity=1), bound=0) for q in (0, -1))
    assert reached[None, 1] == 0
    assert missed[None, 1] == pytest.approx((1 - math.exp(-0.5)) / 2)
    with pytest.raises(ParameterError, match="12"):
        answer_and_visits(1, Scores(range(13), sensitivity=1), bound=20)


def test_a_release_shows_the_answer_and_its_price_only() -> None:
    release = lazy(2).release(["x", "y"], lambda _: 0, neighbours="one person more or less")
    assert release.guarantee == PureDP(2)
    assert release.mechanism == "lazy-permute-and-flip"
    assert release.answer in ("x", "y", None)
    assert lazy(2).guarantee(ZCDP) == PermuteAndFlip(epsilon=2).guarantee(
        Scores([1], sensitivity=1), ZCDP
    )


def test_random_order_is_a_permutation_and_lazy() -> None:
    bits = scripted(3)
    assert sorted(_random_order(50, bits)) == list(range(50))
    huge = _random_order(10**15, bits)
    assert len({next(huge) for _ in range(100)}) == 100
    firsts = Counter(tuple(_random_order(3, bits)) for _ in range(6_000))
    assert len(firsts) == 6
    assert all(abs(count - 1_000) < 150 for count in firsts.values())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "high", True, 1j])
def test_bad_scores_are_named_by_the_rule(value: Any) -> None:
    # With a thousand candidates the stand-in comes first once in a thousand; the bits are scripted.
    with pytest.raises(ScoresError) as raised:
        lazy()._choose(range(1000), lambda _: value, scripted(1))
    assert repr(value) not in str(raised.value)


def test_an_exception_of_the_score_function_is_not_quoted() -> None:
    def leaky(candidate: int) -> int:
        raise ValueError("patient 4711 has no diagnosis")

    with pytest.raises(ScoresError, match="raised ValueError") as raised:
        lazy()._choose(range(1000), leaky, scripted(1))
    assert "4711" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    "bad",
    [
        {"bound": float("nan")},
        {"bound": "high"},
        {"bound": None},
        {"sensitivity": 0},
        {"monotonic": 1},
        {"optimize": "best"},
        {"epsilon": 0},
    ],
)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(bad))):
        lazy(**bad)


@pytest.mark.parametrize("candidates", ["abc", [], ["a", "a"], ["a", None], [["a"]], {"a", "b"}])
def test_bad_candidates_are_refused(candidates: Any) -> None:
    with pytest.raises(ParameterError, match="candidates"):
        lazy().select(candidates, lambda _: 0)


def test_exact_numbers() -> None:
    mechanism = lazy(Fraction(1, 3), bound=Fraction(1, 7), sensitivity="0.5")
    assert mechanism.epsilon == Fraction(1, 3)
    assert "1/7" in repr(mechanism)
    assert lazy(bound=0.1).probabilities(Scores([0.1], sensitivity=1)).tolist() == [0.5, 0.5]
