"""Algorithms 1 to 3 of the exponential randomized response paper (Munilla Garrido and Matthes).

The set T of near-best candidates is described in three ways that differ, and naively in a fourth;
each is a *reading* here. π (``truth``) is the chance of answering from T.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from discreet.papers.algorithms.permute_and_flip import (
    distribution_with_replacement,
    draw_with_replacement,
)
from discreet.papers.algorithms.problem import (
    Algorithm,
    Number,
    Problem,
    rational,
    rational_coin,
    uniform_choice,
)
from discreet.sampling import Bits

PAPER = "exponential-randomized-response"

Reading: TypeAlias = Callable[[Problem], tuple[int, ...]]
"""Which candidates are in T."""


def _ranked(problem: Problem) -> list[int]:
    return sorted(range(len(problem.scores)), key=lambda r: (-problem.scores[r], r))


def _walk(problem: Problem, linked: Callable[[Fraction], bool]) -> tuple[int, ...]:
    """From the best down, as long as each step to the next score is linked."""
    order = _ranked(problem)
    kept = 1
    while kept < len(order) and linked(
        Fraction(problem.scores[order[kept - 1]] - problem.scores[order[kept]])
    ):
        kept += 1
    return tuple(sorted(order[:kept]))


def naive(problem: Problem) -> tuple[int, ...]:
    """Algorithm 2: the best candidates."""
    return tuple(r for r, score in enumerate(problem.scores) if score == problem.best)


def chain(problem: Problem) -> tuple[int, ...]:
    """Algorithm 3 as written: on down while consecutive scores are at most Δ apart.

    Example:
        >>> chain(Problem((5, 4, 1), epsilon=Fraction(1)))
        (0, 1)
    """
    return _walk(problem, lambda step: step <= problem.sensitivity)


def prose(problem: Problem) -> tuple[int, ...]:
    """Section III-B taken at its word: on down while consecutive scores are *at least* Δ apart."""
    return _walk(problem, lambda step: step >= problem.sensitivity)


def interval(problem: Problem) -> tuple[int, ...]:
    """Lemma 1: scores of at least q* − cΔ for the least whole c ≥ 1 such that c + 1 adds nobody.

    Example:
        >>> interval(Problem((5, 3, 1), epsilon=Fraction(1)))
        (0, 1)
    """

    def inside(multiple: int) -> tuple[int, ...]:
        least = problem.best - multiple * problem.sensitivity
        return tuple(r for r, score in enumerate(problem.scores) if score >= least)

    multiple = 1
    while inside(multiple) != inside(multiple + 1):
        multiple += 1
    return inside(multiple)


READINGS: dict[str, Reading] = {"chain": chain, "interval": interval, "prose": prose}
"""The three readings of the complete mechanism's T."""


def mixture(problem: Problem, top: tuple[int, ...], truth: Number) -> list[Number]:
    """A uniform member of ``top`` with probability ``truth``, else the exponential mechanism."""
    share = truth * rational(Fraction(1, len(top)))
    return [
        (1 - truth) * chance + (share if candidate in top else 0)
        for candidate, chance in enumerate(distribution_with_replacement(problem))
    ]


def lemma_1(problem: Problem, *, truth: Fraction, reading: Reading = chain) -> list[Number]:
    """The probability mass function that Lemma 1 states.

    Example:
        >>> lemma_1(Problem((1, 0), unit_coin=rational("1/2")), truth=Fraction(1, 2))
        [7/12, 5/12]
    """
    return mixture(problem, reading(problem), rational(truth))


def _draw_thinned(problem: Problem, bits: Bits, truth: Fraction) -> int:
    """Both algorithms' last loop: rejection with all coins multiplied by 1 − π."""
    everyone = range(len(problem.scores))
    while True:
        candidate = uniform_choice(everyone, bits)
        if problem.flip(candidate, bits, thinned=1 - truth):
            return candidate


def draw_naive(problem: Problem, bits: Bits, *, truth: Fraction) -> int:
    """Algorithm 2: with probability π a best candidate, else rejection sampling."""
    if rational_coin(truth, bits):
        return uniform_choice(naive(problem), bits)
    return _draw_thinned(problem, bits, truth)


def distribution_naive(problem: Problem, *, truth: Fraction) -> list[Number]:
    """Algorithm 2's law; the factor 1 − π cancels in the loop, ties are broken uniformly."""
    return mixture(problem, naive(problem), rational(truth))


def draw_complete(problem: Problem, bits: Bits, *, truth: Fraction) -> int:
    """Algorithm 3: visit T in random order, stop at each with chance π/m; else rejection sampling."""
    top = list(chain(problem))
    size = len(top)
    while top:
        candidate = uniform_choice(top, bits)
        top.remove(candidate)
        if rational_coin(truth / size, bits):
            return candidate
    return _draw_thinned(problem, bits, truth)


def distribution_complete(problem: Problem, *, truth: Fraction) -> list[Number]:
    """Algorithm 3's law: phase one stops with probability κ = 1 − (1 − π/m)^m, not π.

    Example:
        >>> distribution_complete(Problem((1, 0), unit_coin=rational("1/2")), truth=Fraction(1, 2))
        [19/32, 13/32]
    """
    top = chain(problem)
    stops = 1 - (1 - truth / len(top)) ** len(top)
    return mixture(problem, top, rational(stops))


STUDIED_TRUTH = Fraction(3, 4)
"""The coin of most of the paper's figures."""

ALGORITHMS = (
    Algorithm(PAPER, "Algorithm 1", draw_with_replacement, distribution_with_replacement),
    Algorithm(
        PAPER,
        "Algorithm 2",
        partial(draw_naive, truth=STUDIED_TRUTH),
        partial(distribution_naive, truth=STUDIED_TRUTH),
    ),
    Algorithm(
        PAPER,
        "Algorithm 3",
        partial(draw_complete, truth=STUDIED_TRUTH),
        partial(distribution_complete, truth=STUDIED_TRUTH),
    ),
)
