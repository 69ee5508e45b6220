"""An audit of tuning: search private runs with few outcomes for the largest loss of the best of K.

For a run with a few outcomes, a formula gives the distribution of the best of K runs
(``docs/proofs/tuning.md``); losses are rounded down. Each pair of runs tried is ε-private by construction, so
its loss refutes every smaller claim.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from discreet._exact.numbers.balls import ball_of, precision, upper_end
from discreet._exact.numbers.exact import float_down, positive, refuse, whole
from discreet.guarantees import PureDP
from discreet.tuning.laws import NegativeBinomial, RunCount

_BITS = 160
_MASSES = (
    *(Fraction(1, 10**k) for k in (6, 4, 2)),
    *(Fraction(k, 20) for k in (1, 3, 5, 7, 9, 11, 13, 15, 17, 19)),
)
_ROUNDS = 25
_GAIN = 1e-4
_STRETCHES = tuple(Fraction(k, 100) for k in (50, 80, 95, 99, 100, 101, 105, 125, 200))

Masses = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class TuningVerdict:
    """The result of the audit.

    Attributes:
        holds: whether the search found no pair of runs that exceeds the claim.
        found: the largest loss found, rounded down.
        claimed: the claimed ε.
        run: the probabilities of one run's outcomes, ordered from worst to best quality.
        neighbour: the same on the neighbouring data; each probability is within a factor e^ε of that in
            ``run``.
        outcome: the index of the outcome with the loss ``found``; one past the last index stands for "none".

    Example:
        >>> from discreet.tuning import Fixed
        >>> audit_tuning(PureDP(3), epsilon=1, runs=Fixed(3), outcomes=2).holds
        True
    """

    holds: bool
    found: float
    claimed: float
    run: Masses
    neighbour: Masses
    outcome: int


def law_of_best(runs: RunCount, masses: Sequence[Any], *, target: int | None = None) -> list[Any]:
    """Return the probability that each outcome wins, from one run's probabilities, worst outcome first.

    The last entry is for "none". With ``target``, the index of an outcome, the first run with at least that
    outcome wins (geometric runs only).
    """
    if target is not None:
        assert isinstance(runs, NegativeBinomial)
        halting = ball_of(runs.halting)
        reached = sum(masses[target:], 0 * masses[0])
        weight = 1 / (halting + (1 - halting) * reached)
        found = [
            mass * weight if place >= target else 0 * mass for place, mass in enumerate(masses)
        ]
        return [*found, halting * (1 - reached) * weight]
    below = [0 * masses[0]]
    for mass in masses[:-1]:
        below.append(below[-1] + mass)
    ends = [*(runs.generating(part) for part in below), runs.generating(ball_of(1))]
    return [*(high - low for low, high in pairwise(ends)), ends[0]]


def audit_tuning(
    claim: PureDP, *, epsilon: object, runs: RunCount, outcomes: int = 3, target: bool = False
) -> TuningVerdict:
    """Search ε-private runs with two or three outcomes for one whose best of K exceeds the claim.

    Args:
        claim: the guarantee claimed for the whole search.
        epsilon: the cost of one run.
        runs: the distribution of the number of runs; use ``Fixed(k)`` also for a random number
            that is published.
        outcomes: 2 or 3.
        target: audit the first run to reach a target instead of the best run.

    Example:
        >>> from discreet.tuning import Fixed
        >>> verdict = audit_tuning(PureDP(1), epsilon=1, runs=Fixed(5))
        >>> verdict.holds, round(verdict.found, 2)
        (False, 5.0)
    """
    if not isinstance(claim, PureDP):
        raise refuse("claim", claim, "PureDP")
    ratio = positive("epsilon", epsilon)
    if whole("outcomes", outcomes, least=2) > 3:
        raise refuse("outcomes", outcomes, "2 or 3")

    def best_of(laws: Iterable[Masses]) -> _Found:
        found = [
            _largest(runs, masses, ratio, 1 if target else None)
            for masses in laws
            if sum(masses) < 1
        ]
        return max(found, key=lambda each: each.loss)

    best = best_of(product(_MASSES, repeat=outcomes - 1))
    for _ in range(_ROUNDS):
        better = best_of(
            tuple(mass * stretch for mass, stretch in zip(best.second[:-1], stretched, strict=True))
            for stretched in product(_STRETCHES, repeat=outcomes - 1)
        )
        if better.loss <= best.loss * (1 + _GAIN):
            break
        best = better
    return TuningVerdict(
        holds=best.loss <= claim.exact,
        found=float_down(Fraction(best.loss)),
        claimed=claim.epsilon,
        run=best.first,
        neighbour=best.second,
        outcome=best.outcome,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    loss: float
    first: Masses
    second: Masses
    outcome: int


def _largest(runs: RunCount, masses: Masses, epsilon: Fraction, target: int | None) -> _Found:
    """Return the largest best-of-K loss between a run and its ε-neighbours, in either order, rounded down."""
    second: Masses = (*masses, 1 - sum(masses, Fraction(0)))
    best = _Found(-math.inf, (), second, 0)
    with precision(_BITS):
        law = law_of_best(runs, [ball_of(mass) for mass in second], target=target)
        for first in _neighbours(second, epsilon):
            other = law_of_best(runs, [ball_of(mass) for mass in first], target=target)
            for outcome, (one, two) in enumerate(zip(other, law, strict=True)):
                for upper, lower in ((one, two), (two, one)):
                    if not (bool(upper > 0) and bool(lower > 0)):
                        continue
                    loss = -Fraction(upper_end(-(upper / lower).log()))
                    if loss > best.loss:
                        best = _Found(float_down(loss) if loss > 0 else 0.0, first, second, outcome)
    return best


def _neighbours(second: Masses, epsilon: Fraction) -> Iterator[Masses]:
    """Yield the extreme distributions within a factor e^ε: all outcomes but one are scaled by e^ε or e^−ε.

    The one outcome left gets the remaining probability. e^ε is rounded down, so each pair is certainly
    ε-private.
    """
    factor = -Fraction(upper_end(-ball_of(epsilon).exp()))
    rounded = Fraction(float_down(factor))
    for free in range(len(second)):
        fixed = second[:free] + second[free + 1 :]
        for ends in product((rounded, 1 / rounded), repeat=len(fixed)):
            masses = [mass * end for mass, end in zip(fixed, ends, strict=True)]
            left = 1 - sum(masses, Fraction(0))
            if second[free] / rounded <= left <= second[free] * rounded:
                yield (*masses[:free], left, *masses[free:])
