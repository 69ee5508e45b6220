"""Compare a mechanism with the best possible one, by a linear program on a lattice of scores.

The permute-and-flip paper (Theorem 3 and its Appendix D) averages the expected error over all score
vectors whose gaps are whole multiples 0 … k of the range distance d. It looks for the symmetric mechanism
with the least average. The mechanism's probabilities are the variables of a linear program; vectors that are
permutations of each other share variables.

The paper's program requires privacy only towards the *worst neighbour* of each vector. This is enough for
monotonic mechanisms, but the program's solutions need not be monotonic or private. ``neighbours="all"``
requires privacy towards every neighbour on the lattice. ``docs/proofs/optimality.md`` derives both programs
and their duals, and states what they do and do not prove. Data-free: this module reads no scores. Solving
needs SciPy (``pip install ".[optimality]"``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet._exact.numbers.exact import positive, refuse, whole
from discreet._exact.numbers.searches import bisected
from discreet.errors import DiscreetError, ParameterError, ScoresError, missing_extra
from discreet.mechanisms.registry import Family, member
from discreet.scores import Scores

Levels = tuple[int, ...]
"""Gaps in steps of d, ascending, starting at 0. One tuple represents all its permutations."""

Place = tuple[Levels, int]
"""A class of vectors and the level of one of its candidates."""

_LARGEST = 200_000


@lru_cache(maxsize=8)
def classes(n: int, k: int) -> tuple[Levels, ...]:
    """Return one vector for each multiset of n gaps from 0 to k that contains a zero.

    Example:
        >>> classes(2, 3)
        ((0, 0), (0, 1), (0, 2), (0, 3))
    """
    if math.comb(whole("n", n) - 1 + whole("k", k), k) > _LARGEST:
        raise ParameterError(
            f"⟨n⟩{n} and ⟨k⟩{k} are not allowed: the lattice would have more than {_LARGEST} classes"
        )
    return tuple((0, *rest) for rest in combinations_with_replacement(range(k + 1), n - 1))


def orders(levels: Levels) -> int:
    """Return the number of vectors in the class: the distinct permutations of ``levels``.

    Example:
        >>> orders((0, 0, 2))
        3
    """
    count = math.factorial(len(levels))
    for repeated in Counter(levels).values():
        count //= math.factorial(repeated)
    return count


def worst_neighbour(levels: Levels, level: int, k: int) -> Place | None:
    """Return the neighbour in which a candidate at this level is most likely to be chosen (Proposition 2).

    There the candidate is one step higher. If it is already a best one, all others are one step lower
    instead, which is the same up to a shift. Returns None if that neighbour is not on the lattice.

    Example:
        >>> worst_neighbour((0, 2), 2, 3), worst_neighbour((0, 2), 0, 3), worst_neighbour((0, 3), 0, 3)
        (((0, 1), 1), ((0, 3), 0), None)
    """
    rest = list(levels)
    rest.remove(level)
    if level > 0:
        return tuple(sorted([*rest, level - 1])), level - 1
    if rest and max(rest) == k:
        return None
    return (0, *(other + 1 for other in rest)), 0


def all_neighbours(levels: Levels, level: int, k: int) -> Iterator[Place]:
    """Yield each class and level that a candidate at this level can have in a neighbour on the lattice.

    Up to a shift, a neighbour on the lattice has some of the candidates lowered by one step.

    Example:
        >>> sorted(set(all_neighbours((0, 1), 0, 3)))
        [((0, 0), 0), ((0, 1), 0), ((0, 2), 0)]
    """
    rest = list(levels)
    rest.remove(level)
    counts = sorted(Counter(rest).items())
    for lowered in product(*(range(count + 1) for _, count in counts)):
        others = [
            other + (place < moved)
            for (other, count), moved in zip(counts, lowered, strict=True)
            for place in range(count)
        ]
        for own in (level, level + 1):
            vector = [own, *others]
            best = min(vector)
            if max(vector) - best <= k:
                yield tuple(sorted(other - best for other in vector)), own - best


THRESHOLD = math.log((3 + math.sqrt(5)) / 2)
"""About 0.9624. The paper proves that permute-and-flip is optimal for ε at or above this (Theorem 3)."""

SHARP_THRESHOLD = math.log(2)
"""For ε ≥ ln 2 permute-and-flip is optimal on every lattice. For smaller ε and n ≥ 3 it is not a solution of
the paper's program if k is large (``docs/proofs/optimality.md``).
"""


@dataclass(frozen=True, slots=True)
class OptimalMechanism:
    """The symmetric mechanism with the least average error on a lattice of scores.

    Attributes:
        epsilon: its ε.
        n: the number of candidates.
        k: the largest gap, in steps of the range distance.
        neighbours: ``"worst"`` (the paper's program) or ``"all"`` (private on the lattice).
        error: the sum of its expected errors over the lattice, in steps.
        dual_error: the dual's lower bound on the error of any mechanism; equal to ``error`` up to rounding.
        chances: for each class of vectors and each level in it, the probability of one candidate at that
            level.
        dual: the dual prices that are not zero, by privacy constraint (a pair of ``Place``).

    Example:
        >>> best = optimal_mechanism(epsilon=1, n=2, k=3)
        >>> best.n, best.k, best.error - best.dual_error < 1e-9
        (2, 3, True)
    """

    epsilon: float
    n: int
    k: int
    neighbours: str
    error: float
    dual_error: float
    chances: dict[Place, float] = field(repr=False)
    dual: dict[tuple[Place, Place], float] = field(repr=False)

    def probabilities(self, scores: Scores) -> npt.NDArray[np.float64]:
        """Return the probability of each candidate, for scores on the lattice. **Not private**."""
        best = max(Fraction(value) for value in scores.values.tolist())
        steps = [
            (best - Fraction(value)) / scores.range_distance for value in scores.values.tolist()
        ]
        if len(steps) != self.n or any(step.denominator != 1 or step > self.k for step in steps):
            raise ScoresError(
                f"the optimal mechanism is known only for {self.n} scores whose gaps are whole multiples "
                f"of the range distance, at most {self.k}"
            )
        levels = tuple(sorted(map(int, steps)))
        return np.array([self.chances[levels, int(step)] for step in steps])


def optimality_ratio(
    mechanism: Family, *, epsilon: object, n: int, k: int, neighbours: str = "worst"
) -> float:
    """Return a mechanism's average error divided by the best possible one; at least 1 up to rounding.

    Args:
        mechanism: a class, a registered name, or a mechanism whose ε is ignored.
        epsilon: the ε of both mechanisms.
        n: the number of candidates.
        k: the largest gap, in steps of the range distance.
        neighbours: ``"worst"`` for the paper's program, ``"all"`` for mechanisms private on the lattice.

    Example:
        >>> from discreet import Exponential, PermuteAndFlip
        >>> round(optimality_ratio(PermuteAndFlip, epsilon=1, n=3, k=4), 6)
        1.0
        >>> round(optimality_ratio(PermuteAndFlip, epsilon="0.3", n=3, k=4), 4)
        1.0077
        >>> round(optimality_ratio(Exponential, epsilon=2, n=3, k=4), 2)
        1.75
    """
    best = optimal_mechanism(epsilon=epsilon, n=n, k=k, neighbours=neighbours)
    return lattice_error(mechanism, epsilon=epsilon, n=n, k=k) / best.error


def lattice_error(mechanism: Family, *, epsilon: object, n: int, k: int) -> float:
    """Return the sum of a mechanism's expected errors over the lattice, in steps of the range distance.

    Example:
        >>> from discreet import Exponential
        >>> round(lattice_error(Exponential, epsilon=1, n=2, k=1), 6)  # vectors (0,0), (0,-1), (-1,0)
        0.537883
    """
    chosen = member(mechanism, positive("epsilon", epsilon))
    total = 0.0
    for levels in classes(n, k):
        scores = Scores([-level for level in levels], range_distance=1)
        total += orders(levels) * float(chosen.probabilities(scores) @ np.array(levels))
    return total


def optimal_mechanism(
    *, epsilon: object, n: int, k: int, neighbours: str = "worst"
) -> OptimalMechanism:
    """Solve the linear program, and its dual, for the mechanism with the least average error on the lattice.

    Example:
        >>> best = optimal_mechanism(epsilon=1, n=3, k=4)
        >>> best.probabilities(Scores([0, -2, -2], range_distance=1)).round(4)
        array([0.8708, 0.0646, 0.0646])
    """
    if neighbours not in ("worst", "all"):
        raise refuse("neighbours", neighbours, '"worst" or "all"')
    if whole("n", n) == 1:
        raise refuse("n", n, "at least 2: a single candidate leaves nothing to choose")
    return _solve(positive("epsilon", epsilon), n, whole("k", k), neighbours)


@lru_cache(maxsize=32)
def _solve(epsilon: Fraction, n: int, k: int, neighbours: str) -> OptimalMechanism:
    linprog, sparse = _solver()
    vectors = classes(n, k)
    places = {place: column for column, place in enumerate(_places(n, k))}
    pairs = _constrained(n, k, neighbours)
    sums = sparse.lil_array((len(vectors), len(places)))
    cost = np.zeros(len(places))
    for row, levels in enumerate(vectors):
        for level, count in Counter(levels).items():
            sums[row, places[levels, level]] = count
            cost[places[levels, level]] = orders(levels) * count * level
    # One row per pair: e^−ε·x(neighbour) − x(here) ≤ 0.
    rows = np.repeat(np.arange(len(pairs)), 2)
    columns = np.array([places[place] for here, there in pairs for place in (there, here)])
    entries = np.tile([math.exp(-float(epsilon)), -1.0], len(pairs))
    privacy = sparse.csr_array((entries, (rows, columns)), shape=(len(pairs), len(places)))
    # Divide by the number of vectors to keep the solver's tolerances meaningful.
    unit = float(sum(map(orders, vectors)))
    solved = linprog(
        cost / unit,
        A_ub=privacy,
        b_ub=np.zeros(len(pairs)),
        A_eq=sums.tocsr(),
        b_eq=np.ones(len(vectors)),
        bounds=(0, 1),
        method="highs-ipm",  # several times faster here than the simplex method
    )
    if not solved.success:
        raise DiscreetError(f"the linear program was not solved: {solved.message}")
    prices = np.maximum(-solved.ineqlin.marginals, 0.0) * unit
    worth = solved.eqlin.marginals * unit
    # By weak duality with 0 ≤ x ≤ 1, no mechanism has a smaller sum. This holds however the solver rounds.
    reduced = cost - sums.T @ worth + privacy.T @ prices
    return OptimalMechanism(
        epsilon=float(epsilon),
        n=n,
        k=k,
        neighbours=neighbours,
        error=float(solved.fun) * unit,
        dual_error=float(worth.sum() + np.minimum(reduced, 0.0).sum()),
        chances={place: float(solved.x[column]) for place, column in places.items()},
        dual={pair: float(price) for pair, price in zip(pairs, prices, strict=True) if price > 0},
    )


def _places(n: int, k: int) -> list[Place]:
    return [(levels, level) for levels in classes(n, k) for level in dict.fromkeys(levels)]


def _constrained(n: int, k: int, neighbours: str) -> list[tuple[Place, Place]]:
    """Return the pairs (here, there) with the constraint x(here) ≥ e^−ε·x(there)."""
    if neighbours == "worst":
        found = [(place, worst_neighbour(*place, k)) for place in _places(n, k)]
        return [(here, there) for here, there in found if there is not None]
    pairs: dict[tuple[Place, Place], None] = {}
    for here in _places(n, k):
        for there in all_neighbours(*here, k):
            if there != here:
                pairs[here, there] = pairs[there, here] = None
    return list(pairs)


def _solver() -> tuple[Any, Any]:
    try:
        from scipy import sparse
        from scipy.optimize import linprog
    except ImportError as error:
        raise missing_extra("solving the linear program needs SciPy", extra="optimality") from error
    return linprog, sparse


def permute_and_flip_threshold(*, n: int, k: int) -> float:
    """Return the least ε at which permute-and-flip solves the paper's program; zero for n = 2 or k = 1.

    From this ε on, permute-and-flip is also optimal among private symmetric mechanisms on the lattice. For
    n ≥ 3 it is the root of Σ_{j=1..k} e^(−jε) = 1, which tends to ln 2 as k grows. This is sharper than
    Theorem 3 of the paper. The proof is in ``docs/proofs/optimality.md``.

    Example:
        >>> round(permute_and_flip_threshold(n=3, k=4), 4), round(permute_and_flip_threshold(n=9, k=60), 4)
        (0.6563, 0.6931)
    """
    if whole("n", n, least=2) == 2 or whole("k", k) == 1:
        return 0.0

    def reached(epsilon: float) -> bool:
        return math.fsum(math.exp(-j * epsilon) for j in range(1, k + 1)) <= 1

    return bisected(reached, 0.0, SHARP_THRESHOLD)[1]


def permute_and_flip_dual(epsilon: object, *, n: int, k: int) -> dict[Place, float]:
    """Return the dual solution that complementary slackness gives for permute-and-flip (Appendix D).

    If every price for a gap above zero is non-negative, permute-and-flip is optimal on the lattice.

    Example:
        >>> def least(epsilon):
        ...     dual = permute_and_flip_dual(epsilon, n=3, k=20)
        ...     return min(price for (levels, level), price in dual.items() if level > 0)
        >>> least("0.9625") >= 0, least("0.9624") >= 0
        (True, False)
    """
    return dual_prices(math.exp(-float(positive("epsilon", epsilon))), n=n, k=k)


def dual_prices(decay: Any, *, n: int, k: int, growth: Any = 1) -> dict[Place, Any]:
    """Return permute-and-flip's dual solution at e^−ε = ``decay``; it is exact if ``decay`` is rational.

    In the average error, a score vector with b best candidates has the weight ``growth`` to the power b.
    """
    prices: dict[Place, Any] = {}
    for levels in sorted(classes(n, k), key=lambda q: q.count(0)):
        zeros = levels.count(0)
        top = 0 * decay
        if zeros > 1:
            for steps in range(1, k + 1):
                top -= prices[tuple(sorted([*levels[1:], steps])), steps] * decay**steps / zeros
        prices[levels, 0] = top
        for level in set(levels) - {0}:
            prices[levels, level] = growth**zeros * level + zeros * top
    return prices
