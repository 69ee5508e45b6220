"""Score vectors whose gaps are whole steps of the range distance, up to the order of the candidates."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations_with_replacement, product

from discreet.errors import ParameterError
from discreet.numbers.exact import whole

Levels = tuple[int, ...]
"""Gaps in steps of d, ascending; the first is 0. One such vector stands for its whole class."""

Place = tuple[Levels, int]
"""A class of vectors and the level of one of its candidates."""

_LARGEST = 200_000


@lru_cache(maxsize=8)
def classes(n: int, k: int) -> tuple[Levels, ...]:
    """One vector for each multiset of n gaps from 0 to k that contains a zero.

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
    """How many vectors are in the class.

    Example:
        >>> orders((0, 0, 2))
        3
    """
    count = math.factorial(len(levels))
    for repeated in Counter(levels).values():
        count //= math.factorial(repeated)
    return count


def worst_neighbour(levels: Levels, level: int, k: int) -> Place | None:
    """Where a candidate of this level is likeliest among neighbours, by Proposition 2 of the paper.

    Raise the candidate by one step; if it is a best one already, lower all others instead, which is the
    same up to a shift. None if that leaves the lattice.

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
    """Every place on the lattice that a candidate of this level can have in a neighbouring vector.

    Neighbours on the lattice differ, up to a shift, by lowering some of the candidates one step.

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
