from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import ApproxDP, PermuteAndFlip, PureDP, Scores
from discreet.audit import audit, fidelity_test
from discreet.errors import ParameterError
from discreet.mechanisms import LargeGap
from discreet.testing import scripted

VALUES = st.lists(st.integers(min_value=-40, max_value=40), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1", "1e-6"), ("1", "0.05"), ("0.1", "0.01"), ("5", "0.2")]
)
def test_the_audit_reaches_the_claim_and_never_passes_it(epsilon: str, delta: str) -> None:
    mechanism = LargeGap(epsilon=epsilon, delta=delta)
    verdict = audit(mechanism, ApproxDP(epsilon, delta), n=(2, 3), effort="quick")
    assert verdict.status == "proved"
    assert verdict.measured == pytest.approx(float(delta), rel=1e-9)
    less = Fraction(delta) * Fraction(999, 1000)
    assert audit(mechanism, ApproxDP(epsilon, less), n=2, effort="quick").status == "refuted"
    assert audit(mechanism, PureDP(epsilon), n=2).measured == math.inf


def test_two_people() -> None:
    """For two people, the distance doubles at the same scale, and δ becomes δ(e^ε + 1)."""
    promised = ApproxDP(1, "0.01").for_people(2)
    mechanism = LargeGap(epsilon=1, delta="0.01")

    def two_steps(scores: tuple[float, ...]) -> list[tuple[float, ...]]:
        return [(scores[0] + a, scores[1] + b) for a in (-2.0, 0.0, 2.0) for b in (-2.0, 0.0, 2.0)]

    verdict = audit(mechanism, promised, n=2, neighbours=two_steps)
    assert verdict.status == "not refuted"
    assert verdict.measured == pytest.approx(promised.delta, rel=1e-6)


def test_two_candidates_have_the_least_error_that_is_possible() -> None:
    epsilon, delta = 0.5, 0.01
    mechanism = LargeGap(epsilon=epsilon, delta=delta)
    a = delta / math.expm1(epsilon)
    for steps in range(12):
        scores = Scores([steps, 0], sensitivity=1, monotonic=True)
        least = max(0.0, math.exp(-epsilon * steps) * (0.5 + a) - a)
        assert mechanism.probabilities(scores)[1] == pytest.approx(least, abs=1e-15)


@given(
    values=VALUES,
    epsilon=st.sampled_from(["0.1", "1", "4"]),
    delta=st.sampled_from(["1e-9", "0.1"]),
)
@settings(max_examples=60)
def test_never_worse_than_permute_and_flip(values: list[int], epsilon: str, delta: str) -> None:
    scores = Scores(values, sensitivity=1)
    ours = LargeGap(epsilon=epsilon, delta=delta).probabilities(scores)
    plain = PermuteAndFlip(epsilon=epsilon).probabilities(scores)
    others = np.array(values) < max(values)
    assert (ours[others] <= plain[others]).all()
    assert math.fsum(ours) == pytest.approx(1, abs=1e-13)


@given(
    values=VALUES,
    epsilon=st.sampled_from(["0.1", "1", "4"]),
    delta=st.sampled_from(["1e-9", "0.1"]),
)
@settings(max_examples=40)
def test_floats_agree_with_balls(values: list[int], epsilon: str, delta: str) -> None:
    scores = Scores(values, sensitivity=1)
    mechanism = LargeGap(epsilon=epsilon, delta=delta)
    balls = [float(ball) for ball in mechanism.ball_probabilities(scores)]
    assert mechanism.probabilities(scores) == pytest.approx(balls, rel=1e-9, abs=1e-15)
    assert np.exp(mechanism.log_probabilities(scores)) == pytest.approx(balls, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("delta", "epsilon", "values", "sensitivity"),
    [
        ("1e-400", "1", [6, 1, 0], 1),
        ("1e-320", "1", [736, 0], 1),  # a float of so small a δ has few digits
        ("1e-400", "1", [800, 1, 0], 1),  # the others' coins underflow too
        ("1e-330", "1", [747, 0], 1),
        ("1e-1500", "1", [3000, 0], 1),
        ("1e-400", "1", [950, 1, 0], 1),  # so far ahead that the answer is certain
        ("1e-400", "1e-400", [6, 1, 0], "1e-400"),
        ("1e-6", "1e-400", [6, 1, 0], "1e-400"),
        ("1e-400", "100", [8, 0, 0.125], 1),
    ],
)
def test_figures_that_underflow_do_not_change_the_law(
    delta: str, epsilon: str, values: list[float], sensitivity: Any
) -> None:
    scores = Scores(values, sensitivity=sensitivity, monotonic=True)
    mechanism = LargeGap(epsilon=epsilon, delta=delta)
    balls = mechanism.ball_probabilities(scores)
    floats = [float(ball) for ball in balls]
    assert mechanism.probabilities(scores) == pytest.approx(floats, rel=1e-9, abs=1e-300)
    logs = [-math.inf if ball == 0 else float(ball.log()) for ball in balls]
    assert mechanism.log_probabilities(scores) == pytest.approx(logs, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("values", [[6, 1, 0], [6, 1, 0, -1, 2], [0.25, 0.25, 0], [3, 9]])
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_the_sampler_is_faithful(values: list[Any], optimize: str) -> None:
    mechanism = LargeGap(epsilon=1, delta="0.05", optimize=optimize)
    scores, bits = Scores(values, sensitivity=1), scripted(f"{values} {optimize}")
    outcome = fidelity_test(
        lambda scores, size: mechanism.sample(scores, size, randomness=bits),
        scores,
        mechanism.probabilities(scores),
        size=40_000,
    )
    assert outcome.faithful
    assert fidelity_test(
        lambda scores, size: np.array([mechanism._choose(scores, bits) for _ in range(size)]),
        scores,
        mechanism.probabilities(scores),
        size=4000,
    ).faithful


def test_a_coin_on_the_edge_is_decided_in_balls() -> None:
    """The 64 bits nearest to the coin's chance do not decide; more bits decide in either direction."""
    mechanism = LargeGap(epsilon=1, delta="0.05")
    scores = Scores([6, 1, 0], sensitivity=1)
    gammas = [mechanism.gaps(scores).exact(place) for place in range(3)]
    with_precision = mechanism._coin_ball(gammas, Fraction(1))
    from flint import ctx

    with ctx.workprec(200):
        word = int(
            float((mechanism._coin_ball(gammas, Fraction(1)) * 2**64).floor().mid()) // 4096 * 4096
        )
    assert 0 < float(with_precision) < 1
    for first, more, turned in ((word - 2**20, 0, True), (word + 2**20, 0, False)):
        source = _Tape([first], [more] * 4)
        draws = mechanism._corrected(np.array([1]), scores, source)
        assert bool(draws[0] == 0) is turned


@pytest.mark.parametrize(
    ("delta", "epsilon", "best"),
    [("0.05", 1, 6), ("0.05", 600, 6), ("0.05", 1, 3000), (Fraction(1, 10**300), 1, 6)],
)
def test_floats_that_cannot_say_what_the_coin_is_say_nothing(
    delta: Any, epsilon: int, best: int
) -> None:
    mechanism = LargeGap(epsilon=epsilon, delta=delta)
    scores = Scores([best, 1, 0], sensitivity=1)
    gaps = mechanism.gaps(scores)
    least, most = mechanism._coin_bounds(gaps, 0, Fraction(epsilon))
    coin = mechanism._coin_ball([gaps.exact(place) for place in range(3)], Fraction(epsilon))
    assert not coin < least
    assert most == 1 or not coin > most  # certain if above one
    assert ((least, most) == (0, 1)) is not ((delta, epsilon, best) == ("0.05", 1, 6))


class _Tape:
    """Fixed bits: some words, then some integers."""

    scripted = True

    def __init__(self, words: list[int], integers: list[int]) -> None:
        self._words, self._integers = words, integers

    def words(self, count: int, *, width: int = 64) -> Any:
        return np.array([self._words.pop(0) for _ in range(count)], dtype=np.uint64)

    def integer(self, width: int) -> int:
        return self._integers.pop(0)


def test_the_release_says_what_it_costs() -> None:
    scores = Scores({"flu": 412, "cold": 98}, sensitivity=1, monotonic=True)
    release = LargeGap(epsilon=1, delta="1e-6").release(scores)
    assert release.answer == "flu"
    assert release.guarantee == ApproxDP(1, "1e-6")
    mechanism = LargeGap(scale=2, delta="1e-6")
    assert mechanism.guarantee(scores, ApproxDP, "1e-6") == ApproxDP("0.5", "1e-6")
    assert mechanism.guarantee(scores, ApproxDP, "1e-7").epsilon == math.inf
    assert mechanism.guarantee(scores) == PureDP(math.inf)
    assert mechanism.privacy_map(0) == 0


@pytest.mark.parametrize("delta", [0, 1, -1, 2, "x", None, math.nan])
def test_wrong_deltas_are_refused(delta: Any) -> None:
    with pytest.raises(ParameterError, match="delta"):
        LargeGap(epsilon=1, delta=delta)


def test_a_million_candidates() -> None:
    values = np.zeros(1_000_000)
    values[17] = 60.0
    scores = Scores(values, sensitivity=1)
    mechanism = LargeGap(epsilon=1, delta="1e-6")
    assert mechanism.probabilities(scores)[17] == 1.0
    assert mechanism.select_index(scores) == 17


@pytest.mark.parametrize("epsilon", [1, 3_999_999, 4_000_001, 10**7, 10**12])
@pytest.mark.parametrize("beyond", [2, 5])
def test_the_coin_is_right_beyond_the_cut_of_its_exponents(epsilon: int, beyond: int) -> None:
    mechanism = LargeGap(epsilon=epsilon, delta="0.001")
    coin = mechanism._coin_ball([Fraction(0), Fraction(epsilon + beyond)], Fraction(epsilon))
    least = 1 - math.exp(-epsilon)
    expected = 0.002 * (1 - math.exp(-epsilon - beyond)) * math.exp(beyond) / least
    assert float(coin.mid()) == pytest.approx(expected, rel=1e-12)
    assert coin.rad() < 1e-12
