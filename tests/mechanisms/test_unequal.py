"""Scores with one sensitivity per candidate: ratios and largest, their guarantees, and refusals."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import ZCDP, BoundedRange, Exponential, NoisyMax, PermuteAndFlip, PureDP, Scores
from discreet.accounting import Event
from discreet.analysis import disclosure_risk, expected_error
from discreet.audit import audit
from discreet.errors import ParameterError
from discreet.mechanisms import (
    ExponentialRandomizedResponse,
    LargeGap,
    Mechanism,
    unequal,
    ways_for,
)
from discreet.mechanisms.unequal import shortfall_of_ratios
from discreet.questions.accuracy import proved_bound
from discreet.testing import scripted

VALUES, STEPS = [10, 8, 0, 3], [1, 1, 9, 2]
PRIVATE = [
    PermuteAndFlip(epsilon=1),
    PermuteAndFlip(epsilon=1, steady=True),
    Exponential(epsilon=1),
    NoisyMax(epsilon=1, noise="laplace"),
    NoisyMax(epsilon=1, noise="exponential"),
]


@pytest.mark.parametrize("mechanism", PRIVATE, ids=repr)
def test_equal_sensitivities_have_the_same_law_as_one(mechanism: Mechanism) -> None:
    one, several = Scores(VALUES, sensitivity=2), Scores(VALUES, sensitivity=[2, 2, 2, 2])
    assert several.sensitivity == 2
    assert several.unequal is None
    assert (mechanism.probabilities(one) == mechanism.probabilities(several)).all()
    drawn = [mechanism.sample(each, 50, randomness=scripted("law")) for each in (one, several)]
    assert (drawn[0] == drawn[1]).all()
    assert mechanism.guarantee(several) == mechanism.guarantee(one)
    assert mechanism.guarantee(several).proof == mechanism.guarantee(one).proof


@pytest.mark.parametrize("optimize", ["max", "min"])
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_law_is_that_of_the_ratios(monotonic: bool, optimize: str) -> None:
    """A slow twin computes the ratios from every pair; their range distance is 2."""
    sign = 1 if optimize == "max" else -1
    heights = [
        sign * q - Fraction(7, 10) * 2 * 7 * step for q, step in zip(VALUES, STEPS, strict=True)
    ]
    unit: Callable[[int, int], int] = max if monotonic else lambda a, b: a + b
    slow = [
        min((heights[i] - heights[j]) / unit(STEPS[i], STEPS[j]) for j in range(4) if j != i)
        for i in range(4)
    ]
    scores = Scores(VALUES, sensitivity=STEPS, monotonic=monotonic, unequal="ratios")
    found = PermuteAndFlip(epsilon=1, optimize=optimize).probabilities(scores)
    expected = PermuteAndFlip(epsilon=1).probabilities(Scores(slow, range_distance=2))
    assert (found == expected).all()


@pytest.mark.parametrize("mechanism", [PRIVATE[0], *PRIVATE[2:]], ids=repr)
def test_what_is_drawn_has_the_stated_law(mechanism: Mechanism) -> None:
    """The bits are scripted; random bits would give one false alarm in 400,000 runs."""
    scores = Scores(VALUES, sensitivity=STEPS, unequal="ratios")
    chances = mechanism.probabilities(scores)
    drawn = np.bincount(mechanism.sample(scores, 2000, randomness=scripted("ratios")), minlength=4)
    assert (abs(drawn - 2000 * chances) <= 5 * np.sqrt(2000 * chances * (1 - chances)) + 1).all()
    assert mechanism.select(scores) in range(4)


def by(mechanism: Mechanism, way: str) -> Any:
    def law(scores: Any) -> Any:
        return mechanism.probabilities(
            Scores(
                scores.values,
                sensitivity=scores.sensitivity,
                monotonic=scores.monotonic,
                unequal=way,
            )
        )

    return law


@pytest.mark.parametrize(
    ("way", "steps", "monotonic"),
    [
        ("ratios", [1, 100], False),
        ("ratios", [1, 100], True),
        ("ratios", [0, 1, "5/3"], True),
        ("largest", [1, 5], False),
    ],
)
def test_the_audit_with_unequal_steps(way: str, steps: list[Any], monotonic: bool) -> None:
    chosen = by(Exponential(epsilon=1), way)
    verdict = audit(chosen, BoundedRange(1), sensitivity=steps, monotonic=monotonic, effort="quick")
    assert verdict.holds, str(verdict)
    assert verdict.measured > 0.99


def test_a_distance_that_is_too_small_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    where: dict[str, Any] = {"sensitivity": [1, 50], "monotonic": False, "effort": "quick"}
    assert audit(PermuteAndFlip(epsilon=1), PureDP(1), **where).status == "proved"
    assert audit(by(PermuteAndFlip(epsilon=1), "ratios"), PureDP(1), **where).holds
    monkeypatch.setattr(unequal, "RATIO_DISTANCE", Fraction(1))
    verdict = audit(by(PermuteAndFlip(epsilon=1), "ratios"), PureDP(1), **where)
    assert verdict.witness is not None
    moves = [
        abs(b - a) for a, b in zip(verdict.witness.scores, verdict.witness.neighbour, strict=True)
    ]
    assert moves[0] <= 1 < moves[1] <= 50


def test_what_is_promised() -> None:
    scores = Scores(VALUES, sensitivity=STEPS, unequal="ratios")
    mechanism = PermuteAndFlip(epsilon=1)
    assert mechanism.guarantee(scores) == PureDP(1)
    pages = mechanism.guarantee(scores, ZCDP).proof
    assert pages is not None
    assert "docs/proofs/unequal-sensitivities.md" in pages.pages
    assert mechanism.release(scores).guarantee == PureDP(1)
    assert Event.of((mechanism, scores)).guarantee.to(PureDP) == PureDP(1)
    # With a given scale, the cost depends on the distance: 2 for ratios, 9 + 2 for the largest.
    assert PermuteAndFlip(scale=4).guarantee(scores) == PureDP("0.5")
    largest = Scores(VALUES, sensitivity=STEPS, unequal="largest")
    assert PermuteAndFlip(scale=4).guarantee(largest) == PureDP("2.75")
    monotonic = Scores(VALUES, sensitivity=STEPS, unequal="largest", monotonic=True)
    assert PermuteAndFlip(scale=4).guarantee(monotonic) == PureDP("2.25")


def test_the_way_follows_from_the_sensitivities() -> None:
    few, many = [1] * 9 + [100], [60] * 9 + [100]
    assert Scores(range(10), sensitivity=few).unequal == "ratios"
    assert Scores(range(10), sensitivity=many).unequal == "largest"
    assert Scores(range(10), sensitivity=many, unequal="ratios").unequal == "ratios"
    ways = ways_for(list(map(Fraction, few)), epsilon=Fraction(1), monotonic=False)
    assert ways.recommended == "ratios"
    assert ways.ratios[0] < ways.largest < ways.ratios[1]
    assert ways.better_below == Fraction(101, 4)


def test_the_bound_holds_where_the_best_candidate_moves_little() -> None:
    """One answer in twenty may fall short by more than the figure shown; here none does."""
    steps = [Fraction(1)] * 9 + [Fraction(100)]
    bound = ways_for(steps, epsilon=Fraction(1), monotonic=False).ratios[0]
    values = [200, *[40 * i for i in range(4)], 0, 0, 0, 0, 190]
    for way, missed in (("ratios", 0.0), ("largest", 0.3)):
        scores = Scores(values, sensitivity=steps, unequal=way)
        chances = PermuteAndFlip(epsilon=1).probabilities(scores)
        short = sum(chance for q, chance in zip(values, chances, strict=True) if 200 - q > bound)
        assert short <= 0.05 if way == "ratios" else short > missed
        assert expected_error(PermuteAndFlip(epsilon=1), scores) >= 0


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("level", ["0.5", "0.95", "0.99", "0.9999"])
@pytest.mark.parametrize(
    "steps", [["1/2", *[1] * 9], [*["1/2"] * 9, 1, 1], [0, 1, 1], [*["9/10"] * 9, *[1] * 30]]
)
def test_the_bound_of_ratios_holds_at_every_level(
    steps: list[Any], level: str, monotonic: bool
) -> None:
    """One or two candidates lead by just more than the bound, so every other answer exceeds it.

    At the level 0.9999, a bound of (shift + noise)·maxΔ is exceeded three times too often by the first steps.
    """
    form = Scores([0] * len(steps), sensitivity=steps, unequal="ratios", monotonic=monotonic)
    assert isinstance(form.sensitivity, tuple)
    for mechanism in (PermuteAndFlip(epsilon=2), Exponential(epsilon=2)):
        noise = proved_bound(mechanism, Fraction(1), len(steps), Fraction(level))
        assert noise is not None
        below = -math.floor(shortfall_of_ratios(form, mechanism.epsilon, noise)) - 1
        for leaders in ([0], [-1], [-1, -2], [0, -1]):
            values = np.full(len(steps), below)
            values[leaders] = 0
            scores = Scores(
                values, sensitivity=form.sensitivity, unequal="ratios", monotonic=monotonic
            )
            assert mechanism.probabilities(scores)[values < 0].sum() <= 1 - float(level)


def test_scores_with_several_sensitivities_are_kept_and_shown() -> None:
    scores = Scores([0.25, 1.0], sensitivity=np.array([0.5, 2.0]))
    assert repr(scores) == "Scores(2 candidates, float64, sensitivity=1/2 to 2, monotonic=False)"
    again = pickle.loads(pickle.dumps(scores))  # noqa: S301 - our own
    assert (again.sensitivity, again.unequal) == (scores.sensitivity, scores.unequal)
    assert scores.on_grid("0.5").sensitivity == scores.sensitivity
    with pytest.raises(ParameterError, match="multiple"):
        scores.on_grid(1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 2, 3], "one number for each candidate"),
        ([], "one number for each candidate"),
        ([1, 0, 0, 1], "zero for one candidate only"),
        ([0, 0, 0, 0], "zero for one candidate only"),
        ([1, -1, 2, 2], "0 or above"),
        ([1, float("nan"), 2, 2], "0 or above"),
        ([1, float("inf"), 2, 2], "0 or above"),
        ([1, "x", 2, 2], "0 or above"),
        ([1, None, 2, 2], "0 or above"),
        ([1, True, 2, 2], "0 or above"),
    ],
)
def test_wrong_sensitivities_are_refused(given: list[Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Scores(VALUES, sensitivity=given)


@pytest.mark.parametrize(
    "ask",
    [
        lambda scores: LargeGap(epsilon=1, delta="1e-6").select(scores),
        lambda scores: LargeGap(epsilon=1, delta="1e-6").probabilities(scores),
        lambda scores: LargeGap(epsilon=1, delta="1e-6").guarantee(scores),
        lambda scores: ExponentialRandomizedResponse(epsilon=1).probabilities(scores),
        lambda scores: ExponentialRandomizedResponse(epsilon=1).ball_probabilities(scores),
        lambda scores: disclosure_risk(PermuteAndFlip(epsilon=1), [scores, scores]),
        lambda scores: scores.range_distance,
        lambda scores: PermuteAndFlip(epsilon=1, steady=True).select(scores),
        lambda scores: PermuteAndFlip(epsilon=1).select_each(
            [VALUES], sensitivity=scores.sensitivity
        ),
        lambda scores: audit(PermuteAndFlip, PureDP(1), sensitivity=[2, 2]),
        lambda scores: audit(PermuteAndFlip, PureDP(1), sensitivity=[1, 2], n=3),
    ],
)
def test_what_needs_one_sensitivity_says_so(ask: Callable[[Scores], Any]) -> None:
    with pytest.raises(ParameterError):
        ask(Scores(VALUES, sensitivity=STEPS, unequal="ratios"))
