"""Finite families of problems, chosen so that checking them says something about all problems.

*Affine families.* Permute-and-flip's probabilities are polynomials of degree one in each coin. Two such
polynomials that agree when every coin takes two values agree everywhere; so an identity checked on
:func:`affine_family` holds for every real score and every ε, for that number of candidates.

*Lattices.* Scores in whole multiples of Δ, up to order and a common shift, with all their neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import TypeVar

from discreet.papers.algorithms.problem import Law, Problem, rational
from discreet.papers.findings import Witness

Score = TypeVar("Score", int, Fraction)


def affine_family(count: int) -> Iterator[Problem]:
    """One best candidate, and coins ½ or ¼ for each of the others.

    Example:
        >>> [problem.scores for problem in affine_family(2)]
        [(0, -1), (0, -2)]
    """
    half = rational("1/2")
    for others in product((-1, -2), repeat=count - 1):
        yield Problem((0, *others), unit_coin=half)


def lattice(count: int, depth: int) -> Iterator[tuple[int, ...]]:
    """Scores in descending order, the best 0, none below −depth.

    Example:
        >>> list(lattice(2, 2))
        [(0, 0), (0, -1), (0, -2)]
    """
    for others in combinations_with_replacement(range(depth + 1), count - 1):
        yield (0, *(-behind for behind in others))


def lattices(most: int, depth: int) -> Iterator[tuple[int, ...]]:
    """The lattices of two, three, … to ``most`` candidates."""
    for count in range(2, most + 1):
        yield from lattice(count, depth)


def affine_families(most: int) -> Iterator[Problem]:
    """The affine families of one, two, … to ``most`` candidates."""
    for count in range(1, most + 1):
        yield from affine_family(count)


def moved(scores: Sequence[Score], moves: Sequence[Score]) -> tuple[Score, ...]:
    """Each score moved by its move.

    Example:
        >>> moved((0, -1), (1, 0))
        (1, -1)
    """
    return tuple(score + move for score, move in zip(scores, moves, strict=True))


def neighbours(scores: tuple[int, ...], *, monotonic: bool = False) -> Iterator[tuple[int, ...]]:
    """Every vector reached by moving each score by −1, 0 or 1; by 0 or 1 if monotonic.

    Monotonic neighbours are listed in one direction only: exchange the two for the other.
    """
    for moves in product((0, 1) if monotonic else (-1, 0, 1), repeat=len(scores)):
        yield moved(scores, moves)


def vertices(count: int) -> Iterator[tuple[int, ...]]:
    """The corners of a cube: a function of degree one in each coin is least at one of them."""
    yield from product((0, 1), repeat=count)


def where_laws_differ(first: Law, second: Law, problems: Iterable[Problem]) -> Witness:
    """The first problem on which two algorithms draw differently, or None."""
    found = (problem for problem in problems if first(problem) != second(problem))
    return next(({"scores": list(problem.scores)} for problem in found), None)
