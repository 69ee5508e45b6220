"""Selection problems as the papers state them, exact random choices, and families of problems.

The algorithms use one number for each score: the coin p_r = exp(−ε(q* − q_r)/(2Δ)). A :class:`Problem`
gives the coins in the exact form that a check needs:

* ``epsilon`` is a rational: coins are intervals (flint ``arb``) that contain the exact value, and can be
  flipped;
* ``unit_coin`` is a rational: the coin of a candidate one sensitivity behind the best. Scores on the grid of
  the sensitivity then have rational coins, and every distribution is exact;
* ``unit_coin`` is the polynomial x, which stands for exp(−ε/2): a check then covers *every* ε at once.

Finite families are chosen so that checking them implies something about all problems. Permute-and-flip's
probabilities are polynomials of degree one in each coin. If two such polynomials agree whenever each coin has
one of two values, they agree everywhere. So an identity checked on :func:`affine_family` holds for every real
score and every ε, for that number of candidates. *Lattices* are sets of score vectors in whole multiples of
Δ, with one vector for each class of vectors that differ only in order and a common shift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any, TypeAlias, TypeVar

from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling import Bits, biased_coins, uniform_below
from discreet._exact.sampling.coins import Uniform
from discreet.papers.findings import Witness

Number: TypeAlias = Any
"""A flint ``fmpq``, ``fmpq_poly`` or ``arb``; the distributions are written for all three."""

BALL_BITS = 256


def balls() -> Any:
    """Return a context manager that sets the precision of interval arithmetic; it can be nested."""
    return precision(BALL_BITS)


def rational(value: Fraction | int | str) -> Number:
    """Return an exact number as a flint rational.

    Example:
        >>> rational("1/2") + rational(Fraction(1, 3))
        5/6
    """
    from flint import fmpq

    exact = Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


@dataclass(frozen=True, slots=True)
class Problem:
    """Scores in units of the sensitivity, with ε given either exactly or by ``unit_coin``.

    ``unit_coin`` is the coin exp(−ε/2) of a candidate one unit behind the best.

    Example:
        >>> Problem((5, 4, 2), unit_coin=rational("1/2")).coins()
        [1, 1/2, 1/8]
    """

    scores: tuple[int | Fraction, ...]
    epsilon: Fraction | None = None
    unit_coin: Number = None

    def __post_init__(self) -> None:
        assert self.scores
        assert (self.epsilon is None) != (self.unit_coin is None), "one form of ε"

    @property
    def best(self) -> int | Fraction:
        """The best score q*."""
        return max(self.scores)

    def gap(self, candidate: int) -> Fraction:
        """Return γ_r: how far r is behind the best, in units of the noise scale 2Δ/ε."""
        assert self.epsilon is not None, "gaps need ε"
        return Fraction(self.best - self.scores[candidate]) * self.epsilon / 2

    def coins(self) -> list[Number]:
        """Return each candidate's coin p_r."""
        if self.epsilon is not None:
            with balls():
                return [ball_of(-self.gap(r)).exp() for r in range(len(self.scores))]
        steps = [Fraction(self.best - score) for score in self.scores]
        assert all(step.denominator == 1 for step in steps), "scores on the grid of the sensitivity"
        return [self.unit_coin ** int(step) for step in steps]

    def flip(self, candidate: int, bits: Bits, *, thinned: Fraction = Fraction(1)) -> bool:
        """Flip the candidate's coin; it is heads with probability exactly thinned · p_r."""
        gamma = self.gap(candidate)
        return Uniform(bits).is_below(lambda: ball_of(thinned) * ball_of(-gamma).exp())


def uniform_choice(members: Sequence[int], bits: Bits) -> int:
    """Draw one member uniformly."""
    return members[uniform_below(bits, len(members))]


def rational_coin(chance: Fraction, bits: Bits) -> bool:
    """Flip a coin that is heads with exactly this chance."""
    return bool(biased_coins(bits, chance, count=1)[0])


def integral_of_products(coins: Sequence[Number]) -> Number:
    """Return ∫₀¹ Π (1 − u·c) du over the given coins, by expanding and integrating term by term.

    Example:
        >>> integral_of_products([rational(1), rational("1/2")])
        5/12
    """
    powers: list[Number] = [rational(1)]
    for coin in coins:
        shifted = [rational(0), *[-coin * power for power in powers]]
        powers = [a + b for a, b in zip([*powers, rational(0)], shifted, strict=True)]
    total = rational(0)
    for degree, coefficient in enumerate(powers):
        total = total + coefficient * rational(Fraction(1, degree + 1))
    return total


Law: TypeAlias = Callable[[Problem], list[Number]]
"""A function from a problem to an algorithm's output distribution."""


def first_heads(
    coins: Sequence[Number], orders: Iterable[tuple[Sequence[int], Number]]
) -> list[Number]:
    """Return the distribution of the first candidate whose coin is heads, given orders with their chances."""
    result: list[Number] = [rational(0)] * len(coins)
    for order, chance in orders:
        all_tails = chance
        for candidate in order:
            result[candidate] = result[candidate] + all_tails * coins[candidate]
            all_tails = all_tails * (1 - coins[candidate])
    return result


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One numbered algorithm of a paper: a sampler and its exact distribution."""

    paper: str
    number: str
    draw: Callable[[Problem, Bits], int]
    distribution: Law


Score = TypeVar("Score", int, Fraction)


def affine_family(count: int) -> Iterator[Problem]:
    """Yield all problems with one best candidate in which every other coin is ½ or ¼.

    Example:
        >>> [problem.scores for problem in affine_family(2)]
        [(0, -1), (0, -2)]
    """
    half = rational("1/2")
    for others in product((-1, -2), repeat=count - 1):
        yield Problem((0, *others), unit_coin=half)


def lattice(count: int, depth: int) -> Iterator[tuple[int, ...]]:
    """Yield every vector of scores in descending order, with best score 0 and worst score at least −depth.

    Example:
        >>> list(lattice(2, 2))
        [(0, 0), (0, -1), (0, -2)]
    """
    for others in combinations_with_replacement(range(depth + 1), count - 1):
        yield (0, *(-behind for behind in others))


def lattices(most: int, depth: int) -> Iterator[tuple[int, ...]]:
    """Yield the vectors of the lattices with 2 to ``most`` candidates."""
    for count in range(2, most + 1):
        yield from lattice(count, depth)


def affine_families(most: int) -> Iterator[Problem]:
    """Yield the problems of the affine families with 1 to ``most`` candidates."""
    for count in range(1, most + 1):
        yield from affine_family(count)


def moved(scores: Sequence[Score], moves: Sequence[Score]) -> tuple[Score, ...]:
    """Add each move to its score.

    Example:
        >>> moved((0, -1), (1, 0))
        (1, -1)
    """
    return tuple(score + move for score, move in zip(scores, moves, strict=True))


def neighbours(scores: tuple[int, ...], *, monotonic: bool = False) -> Iterator[tuple[int, ...]]:
    """Yield every vector reached by moving each score by −1, 0 or 1; by 0 or 1 if monotonic.

    Monotonic neighbours are listed in one direction only; exchange the two vectors for the other direction.
    """
    for moves in product((0, 1) if monotonic else (-1, 0, 1), repeat=len(scores)):
        yield moved(scores, moves)


def vertices(count: int) -> Iterator[tuple[int, ...]]:
    """Yield the corners of the unit cube in ``count`` dimensions.

    A function of degree one in each coordinate has its minimum at a corner.
    """
    yield from product((0, 1), repeat=count)


def where_laws_differ(first: Law, second: Law, problems: Iterable[Problem]) -> Witness:
    """Return the first problem on which two algorithms have different distributions, or None."""
    found = (problem for problem in problems if first(problem) != second(problem))
    return next(({"scores": list(problem.scores)} for problem in found), None)
