"""Algorithms 1 to 3 of the exponential randomized response paper (Munilla Garrido and Matthes).

The paper describes the set T of near-best candidates in three different ways, and the naive mechanism uses a
fourth. Each is called a *reading* here. π (``truth``; p in the paper) is the chance of answering from T.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from discreet._exact.sampling import Bits
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, Scope, established, proved, refuted, unless
from discreet.papers.permute_and_flip.algorithms import (
    distribution_by_permutation,
    distribution_with_replacement,
    distribution_without_replacement,
    draw_with_replacement,
    softmax,
)
from discreet.papers.problems import (
    Algorithm,
    Number,
    Problem,
    affine_families,
    lattice,
    rational,
    rational_coin,
    uniform_choice,
    where_laws_differ,
)

PAPER = "exponential-randomized-response"
claim = claims_of(PAPER)

Reading: TypeAlias = Callable[[Problem], tuple[int, ...]]
"""A function that returns the candidates in T."""


def _walk(problem: Problem, linked: Callable[[Fraction], bool]) -> tuple[int, ...]:
    """Return the candidates from the best downwards, while ``linked`` accepts the step to the next score."""
    order = sorted(range(len(problem.scores)), key=lambda r: (-problem.scores[r], r))
    kept = 1
    while kept < len(order) and linked(
        Fraction(problem.scores[order[kept - 1]] - problem.scores[order[kept]])
    ):
        kept += 1
    return tuple(sorted(order[:kept]))


def naive(problem: Problem) -> tuple[int, ...]:
    """Return Algorithm 2's T: the best candidates."""
    return tuple(r for r, score in enumerate(problem.scores) if score == problem.best)


def chain(problem: Problem) -> tuple[int, ...]:
    """Return Algorithm 3's T as written: go down from the best while consecutive scores are at most Δ apart.

    Example:
        >>> chain(Problem((5, 4, 1), epsilon=Fraction(1)))
        (0, 1)
    """
    return _walk(problem, lambda step: step <= 1)


def prose(problem: Problem) -> tuple[int, ...]:
    """Return Section III-B's T, taken literally: go down while consecutive scores are *at least* Δ apart."""
    return _walk(problem, lambda step: step >= 1)


def interval(problem: Problem) -> tuple[int, ...]:
    """Return Lemma 1's T: scores from q* − cΔ up, for the least whole c ≥ 1 such that c + 1 adds no score.

    Example:
        >>> interval(Problem((5, 3, 1), epsilon=Fraction(1)))
        (0, 1)
    """

    def inside(multiple: int) -> tuple[int, ...]:
        least = problem.best - multiple
        return tuple(r for r, score in enumerate(problem.scores) if score >= least)

    multiple = 1
    while inside(multiple) != inside(multiple + 1):
        multiple += 1
    return inside(multiple)


READINGS: dict[str, Reading] = {"chain": chain, "interval": interval, "prose": prose}
"""The three readings of the complete mechanism's T."""


def mixture(problem: Problem, top: tuple[int, ...], truth: Number) -> list[Number]:
    """Mix two distributions: uniform on ``top`` with chance ``truth``, else the exponential mechanism."""
    share = truth * rational(Fraction(1, len(top)))
    return [
        (1 - truth) * chance + (share if candidate in top else 0)
        for candidate, chance in enumerate(distribution_with_replacement(problem))
    ]


def lemma_1(problem: Problem, *, truth: Fraction, reading: Reading = chain) -> list[Number]:
    """Return the probability mass function that Lemma 1 states.

    Example:
        >>> lemma_1(Problem((1, 0), unit_coin=rational("1/2")), truth=Fraction(1, 2))
        [7/12, 5/12]
    """
    return mixture(problem, reading(problem), rational(truth))


def _draw_thinned(problem: Problem, bits: Bits, truth: Fraction) -> int:
    """Draw by the last loop of Algorithms 2 and 3: rejection sampling with all coins multiplied by 1 − π."""
    everyone = range(len(problem.scores))
    while True:
        candidate = uniform_choice(everyone, bits)
        if problem.flip(candidate, bits, thinned=1 - truth):
            return candidate


def draw_naive(problem: Problem, bits: Bits, *, truth: Fraction) -> int:
    """Draw by Algorithm 2: return a best candidate with probability π, else use rejection sampling."""
    if rational_coin(truth, bits):
        return uniform_choice(naive(problem), bits)
    return _draw_thinned(problem, bits, truth)


def distribution_naive(problem: Problem, *, truth: Fraction) -> list[Number]:
    """Return Algorithm 2's distribution; the loop's factor 1 − π cancels, and ties are broken uniformly."""
    return mixture(problem, naive(problem), rational(truth))


def draw_complete(problem: Problem, bits: Bits, *, truth: Fraction) -> int:
    """Draw by Algorithm 3: try the members of T in random order, then use rejection sampling.

    Each member that is tried is returned with chance π/|T|.
    """
    top = list(chain(problem))
    size = len(top)
    while top:
        candidate = uniform_choice(top, bits)
        top.remove(candidate)
        if rational_coin(truth / size, bits):
            return candidate
    return _draw_thinned(problem, bits, truth)


def distribution_complete(problem: Problem, *, truth: Fraction) -> list[Number]:
    """Return Algorithm 3's distribution: phase one stops with probability 1 − (1 − π/|T|)^|T|, not π.

    Example:
        >>> distribution_complete(Problem((1, 0), unit_coin=rational("1/2")), truth=Fraction(1, 2))
        [19/32, 13/32]
    """
    top = chain(problem)
    stops = 1 - (1 - truth / len(top)) ** len(top)
    return mixture(problem, top, rational(stops))


STUDIED_TRUTH = Fraction(3, 4)
"""The coin used in most of the paper's figures."""

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


@claim("Algorithm 1")
def _algorithm_1(scope: Scope) -> Finding:
    """Rejection sampling with coins exp(ε(q − q*)/(2Δ)) draws from the exponential mechanism. If each
    candidate is removed once tried, it becomes permute-and-flip."""
    most = scope.size(full=6, quick=5)
    one, other = distribution_without_replacement, distribution_by_permutation
    return unless(
        where_laws_differ(distribution_with_replacement, softmax, affine_families(most))
        or where_laws_differ(one, other, affine_families(most)),
        f"coins ½ and ¼ in every combination, n ≤ {most}; for permute-and-flip that covers every ε",
        "both laws, followed step by step, equal the two mechanisms'",
    )


@claim("Algorithm 2")
def _algorithm_2(scope: Scope) -> Finding:
    """The naive mechanism answers with a best candidate with probability π and otherwise with the
    exponential mechanism."""
    # The loop's coins have a factor 1 − π, which must cancel: one round returns r with chance
    # (1 − π)p_r/n.
    broken, vectors = None, 0
    for scores in lattice(4, scope.size(full=4, quick=2)):
        for truth in map(Fraction, ("0", "1/4", "3/4")):
            vectors += 1
            problem = Problem(scores, unit_coin=rational("1/2"))
            ends = [rational((1 - truth) / 4) * coin for coin in problem.coins()]
            loop = [end / sum(ends, rational(0)) for end in ends]
            best = naive(problem)
            expected = [
                rational(1 - truth) * chance + (rational(truth / len(best)) if r in best else 0)
                for r, chance in enumerate(loop)
            ]
            if distribution_naive(problem, truth=truth) != expected:
                broken = {"scores": list(scores), "truth": str(truth)}
    return unless(
        broken,
        "n = 4 on the grid of Δ, π = 0, ¼, ¾, ties broken uniformly",
        f"the factor 1 − π cancels, exactly, in {vectors} cases (at π = 1 the loop would never end)",
    )


@claim("Lemma 1")
def _lemma_1(scope: Scope) -> Finding:
    """The complete mechanism chooses r with probability π/|T| + (1 − π)·EM_r if r is in T, and
    (1 − π)·EM_r otherwise."""
    differ, same, vectors = [], True, 0
    for scores in lattice(4, scope.size(full=4, quick=2)):
        vectors += 1
        problem = Problem(scores, unit_coin=rational("1/2"))
        stated = lemma_1(problem, truth=STUDIED_TRUTH)
        drawn = distribution_complete(problem, truth=STUDIED_TRUTH)
        established(sum(stated, rational(0)) == 1, "the stated probabilities sum to one")
        if (stated == drawn) != (len(chain(problem)) == 1 or len(set(scores)) == 1):
            same = False
        if stated != drawn:
            differ.append(scores)
    established(same, "they agree exactly when T has one member or all scores tie")
    if not differ:
        return proved("n = 4 on the grid of Δ", "Algorithm 3 samples it")
    return refuted(
        f"Algorithm 3 followed step by step, {vectors} score vectors of four candidates, π = ¾",
        "Algorithm 3 does not sample it: its first phase stops with probability 1 − (1 − π/m)^m, which is "
        f"0.609 for m = 2 where π is 0.75. The two agree exactly when |T| = 1 or all scores tie; "
        f"they differ on {len(differ)} vectors",
        witness={
            "scores": [5, 4, 1],
            "truth": 0.75,
            "chance of phase one": float(1 - (1 - STUDIED_TRUTH / 2) ** 2),
        },
        differing=len(differ),
        vectors=vectors,
    )


@claim("Algorithm 3")
def _algorithm_3(scope: Scope) -> Finding:
    """The loop over sorted scores finds the set T that the text defines: the scores in [q* − cΔ, q* + Δ],
    where c is such that one more Δ adds no score."""
    counts = {"chain = interval": 0, "chain = prose": 0}
    vectors = 0
    for scores in lattice(4, scope.size(full=6, quick=3)):
        vectors += 1
        problem = Problem(scores, epsilon=Fraction(1))
        counts["chain = interval"] += chain(problem) == interval(problem)
        counts["chain = prose"] += chain(problem) == prose(problem)
    problem = Problem((5, 3, 1), epsilon=Fraction(1))
    found = {name: list(reading(problem)) for name, reading in READINGS.items()}
    if counts["chain = interval"] == vectors:
        return proved(f"{vectors} score vectors", "the loop's set is the interval's")
    return refuted(
        f"{vectors} score vectors of four candidates on the grid of Δ",
        "the three descriptions of T differ: the algorithm's chain of steps of at most Δ, Lemma 1's interval "
        "with the least c, and Section III-B, which adds a score when it is at least Δ away. When the chain "
        "has one member the algorithm is the naive one, as said",
        witness={"scores": [5, 3, 1], **found},
        **counts,
    )
