"""Exponential randomized response: what its algorithms sample, and the set T they build.

π is the chance of answering from the set T of near-best candidates (p in the paper).
"""

from __future__ import annotations

from fractions import Fraction

from discreet.papers.algorithms.exponential_randomized_response import (
    READINGS,
    chain,
    distribution_complete,
    distribution_naive,
    interval,
    lemma_1,
    naive,
    prose,
)
from discreet.papers.algorithms.permute_and_flip import (
    distribution_by_permutation,
    distribution_with_replacement,
    distribution_without_replacement,
)
from discreet.papers.algorithms.problem import Problem, rational
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, established, proved, refuted, unless
from discreet.papers.lattices import affine_families, lattice, where_laws_differ
from discreet.papers.permute_and_flip.privacy import softmax
from discreet.papers.scope import Scope

claim = claims_of("exponential-randomized-response")
_TRUTH = Fraction(3, 4)


@claim(
    "Algorithm 1",
    """Rejection sampling with coins exp(ε(q − q*)/(2Δ)) draws from the exponential mechanism; removing
    each candidate once tried turns it into permute-and-flip.""",
)
def _algorithm_1(scope: Scope) -> Finding:
    most = scope.size(full=6, quick=5)
    one, other = distribution_without_replacement, distribution_by_permutation
    return unless(
        where_laws_differ(distribution_with_replacement, softmax, affine_families(most))
        or where_laws_differ(one, other, affine_families(most)),
        f"coins ½ and ¼ in every combination, n ≤ {most}; for permute-and-flip that covers every ε",
        "both laws, followed step by step, equal the two mechanisms'",
    )


@claim(
    "Algorithm 2",
    """The naive mechanism answers with a best candidate with probability π and otherwise with the
    exponential mechanism.""",
)
def _algorithm_2(scope: Scope) -> Finding:
    # The loop's coins carry a factor 1 − π, which must cancel: one round ends with r with chance
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


@claim(
    "Lemma 1",
    """The complete mechanism chooses r with probability π/|T| + (1 − π)·EM_r if r is in T, and
    (1 − π)·EM_r otherwise.""",
)
def _lemma_1(scope: Scope) -> Finding:
    differ, same, vectors = [], True, 0
    for scores in lattice(4, scope.size(full=4, quick=2)):
        vectors += 1
        problem = Problem(scores, unit_coin=rational("1/2"))
        stated = lemma_1(problem, truth=_TRUTH)
        drawn = distribution_complete(problem, truth=_TRUTH)
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
            "chance of phase one": float(1 - (1 - _TRUTH / 2) ** 2),
        },
        differing=len(differ),
        vectors=vectors,
    )


@claim(
    "Algorithm 3",
    """The loop over sorted scores finds the set T of the text: the scores in an interval
    [q* − cΔ, q* + Δ] that one more Δ would not enlarge.""",
)
def _algorithm_3(scope: Scope) -> Finding:
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
