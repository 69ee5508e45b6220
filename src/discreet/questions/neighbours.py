"""The neighbour relations, and how far one person moves each score under each of them.

The figures are those proved in ``docs/proofs/question-sensitivities.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.numbers.exact import refuse

ADD_REMOVE = "add-remove"
REPLACE = "replace"

IN_WORDS = {
    ADD_REMOVE: "one person's rows are added or removed",
    REPLACE: "one person's rows are replaced by another person's",
}
"""What two neighbouring data sets are."""


def relation(name: object) -> str:
    """A known relation."""
    if name not in (ADD_REMOVE, REPLACE):
        raise refuse("neighbours", name, f'"{ADD_REMOVE}" or "{REPLACE}"')
    return str(name)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Δ and whether one person moves all scores the same way.

    Example:
        >>> count_sensitivity("add-remove")
        Sensitivity(delta=1, monotonic=True)
        >>> quantile_sensitivity(Fraction(9, 10), "add-remove")
        Sensitivity(delta=9, monotonic=False)
    """

    delta: int
    monotonic: bool

    @property
    def range_distance(self) -> int:
        """d: Δ for monotonic scores, else 2Δ."""
        return self.delta if self.monotonic else 2 * self.delta


def count_sensitivity(neighbours: str) -> Sensitivity:
    """People per candidate: one person more or less moves all counts by 0 or 1, in one direction."""
    return Sensitivity(1, neighbours == ADD_REMOVE)


def quantile_sensitivity(level: Fraction, neighbours: str) -> Sensitivity:
    """The quantile score in units of 1/b, for a level a/b in lowest terms."""
    if neighbours == REPLACE:
        return Sensitivity(level.denominator, False)
    return Sensitivity(max(level.numerator, level.denominator - level.numerator), False)
