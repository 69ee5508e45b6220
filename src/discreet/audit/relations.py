"""Neighbour relations between score vectors.

Scores lie on a dyadic grid, so sums and differences in float64 are exact, and pairs that the search treats as
neighbours really are neighbours (``docs/proofs/neighbours.md`` has the definitions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Neighbours = Callable[[tuple[float, ...]], Iterable[Sequence[float]]]
"""A user's own neighbour relation: a function from a score vector to the neighbours to try."""

# A sensitivity with few bits allows a fine grid; all others are rounded down to 32 bits.
_SHORT, _LONG = 20, 32
_FINE, _COARSE = 20, 12
_FEW = 8


@dataclass(frozen=True, slots=True)
class ScoreGrid:
    """The grid of scores: all multiples of ``step``. ``delta`` is on the grid and at most the sensitivity."""

    sensitivity: Fraction
    delta: float
    step: float

    @classmethod
    def for_sensitivity(cls, sensitivity: Fraction) -> ScoreGrid:
        """Return the grid for a sensitivity; every number on it up to 2⁹·delta is an exact float64.

        Example:
            >>> ScoreGrid.for_sensitivity(Fraction(1)).delta
            1.0
            >>> Fraction(ScoreGrid.for_sensitivity(Fraction(1, 3)).delta) <= Fraction(1, 3)
            True
        """
        exponent = sensitivity.numerator.bit_length() - sensitivity.denominator.bit_length()
        for width, fineness in ((_SHORT, _FINE), (_LONG, _COARSE)):
            power = Fraction(2) ** (width - exponent)
            mantissa = int(sensitivity * power)
            if mantissa == sensitivity * power or width == _LONG:
                delta = Fraction(mantissa) / power
                return cls(sensitivity, float(delta), float(delta / 2**fineness))
        raise AssertionError("the loop returns at its last turn")

    def snap(self, value: float) -> float:
        """Return the nearest point of the grid."""
        return round(value / self.step) * self.step


@dataclass(frozen=True, slots=True)
class Relation:
    """A neighbour relation: each score moves by at most Δ; if ``monotonic``, all in the same direction."""

    monotonic: bool
    custom: Neighbours | None = None

    @property
    def name(self) -> str:
        """The relation in one word."""
        if self.custom is not None:
            return "custom"
        return "monotonic" if self.monotonic else "general"

    def lattice_moves(self, size: int, reach: int) -> Iterator[tuple[int, ...]]:
        """Yield moves of up to ``reach`` lattice steps per score, but never both a move and its reverse."""
        low = 0 if self.monotonic else -reach
        for move in product(range(low, reach + 1), repeat=size):
            first = next((part for part in move if part), 0)
            if first > 0:
                yield move

    def clip(self, scores: Floats, neighbours: Floats, delta: float) -> Floats:
        """Return, row by row, the neighbour of ``scores`` that is nearest to ``neighbours``.

        If monotonic, only neighbours with no lower score are considered.
        """
        low = scores if self.monotonic else scores - delta
        return np.clip(neighbours, low, scores + delta)

    def contains(
        self,
        scores: Sequence[float],
        neighbour: Sequence[float],
        bound: Fraction | Sequence[Fraction],
    ) -> bool:
        """Return whether two vectors are neighbours, in exact arithmetic.

        ``bound`` is the sensitivity: one number, or one per score. A custom relation is not checked.
        """
        if self.custom is not None:
            return True
        # In a crowd most scores are equal.
        if isinstance(bound, Fraction):
            alike = [(*pair, bound) for pair in set(zip(scores, neighbour, strict=True))]
        else:
            alike = list(zip(scores, neighbour, bound, strict=True))
        moves = [Fraction(there) - Fraction(here) for here, there, _ in alike]
        if any(abs(move) > most for move, (*_, most) in zip(moves, alike, strict=True)):
            return False
        return not self.monotonic or min(moves) >= 0 or max(moves) <= 0

    def structured(self, scores: Floats, delta: float) -> Floats:
        """Return neighbours in which a set of candidates moves relative to the rest, one per row.

        The set S is a single candidate or the top of the ranking. S moves up and the rest down, S down and
        the rest up, or S alone up or down; if monotonic, S alone or the rest alone moves up. Each move is as
        large as the relation allows. A custom relation supplies its own neighbours instead.
        """
        if self.custom is not None:
            found = [list(row) for row in self.custom(tuple(scores.tolist()))]
            return np.array(found, dtype=np.float64).reshape(len(found), len(scores))
        size = len(scores)
        ranking = np.argsort(-scores, kind="stable")
        # With many candidates, only the first two, the middle and the last two ranks are used.
        ranks = range(size) if size <= _FEW else sorted({0, 1, size // 2, size - 2, size - 1})
        sets = [ranking[: rank + 1] for rank in ranks if rank < size - 1]
        sets += [ranking[rank : rank + 1] for rank in ranks]
        inside = np.zeros((len(sets), size), dtype=bool)
        for place, members in enumerate(sets):
            inside[place, members] = True
        inside = np.unique(inside, axis=0)
        moved = [np.where(inside, up, down) for up, down in self.ways(delta)]
        rows: Floats = np.concatenate(moved) + scores
        return rows

    def ways(self, delta: float) -> list[tuple[float, float]]:
        """Return the largest allowed moves, as pairs (move of a set of candidates, move of the rest)."""
        if self.monotonic:
            return [(delta, 0.0), (0.0, delta)]
        return [(delta, -delta), (-delta, delta), (delta, 0.0), (-delta, 0.0)]
