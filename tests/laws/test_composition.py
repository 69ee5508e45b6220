"""Every bound compared with the truth, computed from products of real probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from discreet import (
    ZCDP,
    AboveThreshold,
    ApproxDP,
    BoundedRange,
    Exponential,
    NoisyMax,
    PermuteAndFlip,
    PureDP,
    Scores,
)
from discreet.accounting import Event, compose
from discreet.mechanisms.mechanism import Mechanism

ROUNDING = 1e-12
Pair = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


def joint(pairs: Sequence[Pair]) -> Pair:
    """Return the joint laws of all answers, for releases fixed in advance."""
    first, second = np.ones(1), np.ones(1)
    for p, q in pairs:
        first, second = np.outer(first, p).ravel(), np.outer(second, q).ravel()
    return first, second


def divergence(pair: Pair, epsilon: float) -> float:
    """Return the hockey-stick divergence, in the worse direction."""
    p, q = pair
    factor = math.exp(epsilon)
    return max(
        float(np.maximum(p - factor * q, 0).sum()), float(np.maximum(q - factor * p, 0).sum())
    )


def adaptive(first: Pair, choices: Sequence[Pair], epsilon: float) -> float:
    """Return the worst divergence if the second release is chosen after seeing the first answer."""
    worst = 0.0
    for plan in product(range(len(choices)), repeat=len(first[0])):
        p = np.concatenate(
            [a * choices[chosen][0] for a, chosen in zip(first[0], plan, strict=True)]
        )
        q = np.concatenate(
            [a * choices[chosen][1] for a, chosen in zip(first[1], plan, strict=True)]
        )
        worst = max(worst, divergence((p, q), epsilon))
    return worst


def randomised_response(epsilon: float) -> Pair:
    """Return the worst ε-DP pair."""
    high = 1 / (1 + math.exp(-epsilon))
    return np.array([high, 1 - high]), np.array([1 - high, high])


def two_points(epsilon: float, offset: float) -> Pair:
    """Return the worst pair of range ε with the upper loss ``offset``."""
    weight = (math.exp(-offset) - math.exp(-epsilon)) / -math.expm1(-epsilon)
    p = weight * math.exp(offset)
    return np.array([p, 1 - p]), np.array([weight, 1 - weight])


def test_choosing_the_next_question_by_the_last_answer_costs_more() -> None:
    """Two continuations cost δ = 0.2103 each at ε = 1.5, but 0.2668 if the answer chooses between them."""
    response = randomised_response(1.0)
    delta = divergence(joint([response, response]), 1.5)
    assert delta == pytest.approx(0.2103, abs=5e-5)
    leak = (np.array([delta, 0, 1 - delta]), np.array([0, delta, 1 - delta]))
    assert divergence(joint([response, leak]), 1.5) == pytest.approx(delta)
    padded = (np.append(response[0], 0), np.append(response[1], 0))
    chosen = adaptive(response, [padded, leak], 1.5)
    assert chosen == pytest.approx(0.2668, abs=5e-5)

    fixed = compose([PureDP(1), PureDP(1)], adaptive=False, delta=delta)
    assert fixed.approx.epsilon == pytest.approx(1.5, abs=1e-9)
    assert fixed.fixed_in_advance
    # As a filter, neither continuation may claim ε = 1.5 at that δ.
    assert compose([PureDP(1), PureDP(1)], delta=delta).approx.epsilon == 2
    assert compose([PureDP(1), ApproxDP(0, delta)], delta=delta).approx.epsilon == 1
    both = compose([PureDP(1), ApproxDP(1, delta)], delta=delta)
    assert adaptive(response, [padded, leak], both.approx.epsilon) <= delta + ROUNDING


MECHANISMS: list[Mechanism] = [
    PermuteAndFlip(epsilon=1),
    Exponential(epsilon=1),
    NoisyMax(epsilon="0.5", noise="laplace"),
    Exponential(epsilon="0.3"),
    PermuteAndFlip(epsilon="0.7"),
]
NEIGHBOURS = [
    ([0, 0, 0], [1, 0, 0]),
    ([1, 0, 0], [0, 1, 0]),
    ([2, 1, 0], [1, 2, 1]),
    ([0, 0, 1], [1, 1, 0]),
]


def _pairs(mechanism: Mechanism) -> list[Pair]:
    return [
        (
            np.asarray(mechanism.probabilities(Scores(a, sensitivity=1))),
            np.asarray(mechanism.probabilities(Scores(b, sensitivity=1))),
        )
        for a, b in NEIGHBOURS
    ]


@pytest.mark.parametrize(
    "chosen", [(0, 0), (0, 1), (1, 1), (2, 2, 1), (1, 3, 4), (0, 0, 0), (1, 1, 1), (3, 3, 2)]
)
def test_never_below_real_mechanisms(chosen: tuple[int, ...]) -> None:
    scores = Scores([0, 0, 0], sensitivity=1)
    events = [Event.of((MECHANISMS[i], scores)) for i in chosen]
    pairs = [_pairs(MECHANISMS[i]) for i in chosen]
    for delta in ("0.001", "0.02", "0.1"):
        results = {how: compose(events, how, delta=delta) for how in (True, "questions", False)}
        costs = [results[how].approx.epsilon for how in (False, "questions", True)]
        assert costs == sorted(costs)
        for combination in product(*pairs):
            assert divergence(joint(combination), costs[0]) <= float(delta) + ROUNDING


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_adaptive_questions_at_fixed_costs_are_covered(epsilon: float) -> None:
    """The second question depends on the first answer, so the optimum for fixed lists does not apply."""
    offsets = np.linspace(0.02, 0.98, 25) * epsilon
    for delta in (0.01, 0.1):
        cost = compose([BoundedRange(epsilon)] * 2, "questions", delta=delta).approx.epsilon
        for first in offsets[::3]:
            choices = [two_points(epsilon, float(t)) for t in offsets]
            assert adaptive(two_points(epsilon, float(first)), choices, cost) <= delta + ROUNDING


@pytest.mark.parametrize(("epsilon", "count"), [(0.5, 1), (0.5, 2), (1.0, 3), (2.0, 2), (0.2, 6)])
def test_bounded_range_is_optimal_at_its_worst_offset(epsilon: float, count: int) -> None:
    for delta in (0.001, 0.03):
        cost = compose(
            [Event(BoundedRange(epsilon), count=count)], False, delta=delta
        ).approx.epsilon
        reached = max(
            divergence(joint([two_points(epsilon, float(t))] * count), cost)
            for t in np.linspace(0, epsilon, 801)
        )
        assert reached <= delta + ROUNDING
        assert reached >= delta * 0.999 or cost == 0


def test_unequal_offsets_are_never_worse() -> None:
    generator = np.random.default_rng(3)
    for _ in range(200):
        epsilon, count = generator.uniform(0.2, 2), int(generator.integers(2, 5))
        offsets = generator.uniform(0, epsilon, count)
        other = randomised_response(generator.uniform(0.1, 1))
        target = generator.uniform(0, epsilon * count)
        unequal = joint([two_points(epsilon, float(t)) for t in offsets] + [other])
        equal = joint([two_points(epsilon, float(offsets.mean()))] * count + [other])
        p, q = unequal
        worse = float(np.maximum(p - math.exp(target) * q, 0).sum())
        p, q = equal
        assert worse <= float(np.maximum(p - math.exp(target) * q, 0).sum()) + ROUNDING


def test_mixed_ranges_at_their_worst_offsets() -> None:
    events: list[object] = [BoundedRange(1), BoundedRange("0.5"), PureDP("0.25")]
    fixed = compose(events, False, delta="0.02")
    free = compose(events, "questions", delta="0.02")
    grid = np.linspace(0, 1, 41)
    reached = max(
        divergence(
            joint(
                [
                    two_points(1.0, float(a)),
                    two_points(0.5, float(b / 2)),
                    randomised_response(0.25),
                ]
            ),
            fixed.approx.epsilon,
        )
        for a, b in product(grid, grid)
    )
    assert 0.95 * 0.02 < reached <= 0.02 + ROUNDING
    assert fixed.approx.epsilon < free.approx.epsilon


def test_randomised_response_is_composed_exactly() -> None:
    for costs in ([1], [1, 1, 1], [0.5, 0.25], [1, 0.3, 0.7, 0.1]):
        for delta in (0.001, 0.05):
            cost = compose([PureDP(c) for c in costs], False, delta=delta).approx.epsilon
            reached = divergence(joint([randomised_response(c) for c in costs]), cost)
            assert delta * (1 - 1e-9) <= reached <= delta + ROUNDING


@pytest.mark.parametrize("moves", list(product((-1, 0, 1), repeat=2)))
def test_a_watch_that_stays_open_while_something_else_is_asked(moves: tuple[int, int]) -> None:
    """The selection depends on the watch's first answer, and the watch's second value on the selection."""
    watch = AboveThreshold(epsilon=1, threshold=5, sensitivity=1)
    select = Exponential(epsilon=1)

    def law(step: int) -> list[float]:
        """Return the law of transcripts: first answer of the watch, selection, second answer of the watch."""
        found = []
        for crossed, chosen in product((True, False), (0, 1)):
            lead = 2 if crossed else -1
            scores = Scores([lead - step * moves[0], step * moves[1]], sensitivity=1)
            selected = select.probabilities(scores)[chosen]
            values = [5 + step * moves[0], (7 if chosen else 3) + step * moves[1]]
            first, second, none = watch.probabilities(values)
            found += [selected * part for part in ([first] if crossed else [second, none])]
        return found

    here, there = np.array(law(0)), np.array(law(1))
    assert here.sum() == pytest.approx(1)
    assert np.abs(np.log(here / there)).max() <= 2 + 1e-12
    rho = PureDP(1).to(ZCDP).rho + BoundedRange(1).to(ZCDP).rho
    for order in (1.01, 2.0, 5.0, 40.0):
        divergence = np.log((here**order * there ** (1 - order)).sum()) / (order - 1)
        assert divergence <= order * rho + 1e-9
