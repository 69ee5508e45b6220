"""A release: the answer, its cost, and the ledger entry, but never a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet._displays import card, paragraph, table, visible
from discreet.guarantees import Guarantee


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One private answer with its guarantee.

    A release holds no score, no count and no probability: it may be shown to anyone.

    Attributes:
        answer: the chosen candidate, or a tuple of them.
        guarantee: the guarantee, which is also the cost, for the relation in ``neighbours``.
        mechanism: the mechanism that chose the answer, in words.
        neighbours: the neighbour relation, in words.
        entry: the ledger's entry; None if no ledger counted this release.

    Example:
        >>> from discreet import PureDP
        >>> release = Release(answer="flu", guarantee=PureDP(1), mechanism="permute-and-flip",
        ...                   neighbours="one person more or less")
        >>> print(release)
        flu
        One person's data changes the probability of any answer by a factor of at most 2.719 (ε = 1).
        Chosen by permute-and-flip. Neighbours: one person more or less. No ledger counted this release.
    """

    answer: Any
    guarantee: Guarantee
    mechanism: str
    neighbours: str
    entry: Any = None

    def _repr_html_(self) -> str:
        counted = "no ledger" if self.entry is None else str(self.entry)
        rows = (
            ("guarantee", repr(self.guarantee)),
            ("mechanism", self.mechanism),
            ("neighbours", self.neighbours),
            ("counted by", counted),
            ("proof", str(self.guarantee.proof or "none that discreet knows")),
        )
        words = paragraph(self.guarantee.in_words())
        further = map(paragraph, self._further())
        return card(str(self.answer), words, table(("", ""), rows), *further)

    def _further(self) -> tuple[str, ...]:
        """Return further sentences to show with the answer."""
        return ()

    def __str__(self) -> str:
        counted = (
            "No ledger counted this release" if self.entry is None else f"Ledger: {self.entry}"
        )
        return f"{visible(self.answer)}\n{self.guarantee.in_words()}\n" + visible(
            f"Chosen by {self.mechanism}. Neighbours: {self.neighbours}. {counted}."
        )
