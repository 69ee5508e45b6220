"""What a guarantee rests on: pages of ``docs/proofs``, and the theorems on them that Coq's kernel accepts.

It is the mathematics that is checked, not this code. The theorems are those of ``proofs/Statements.v``
(``docs/proofs/checked-by-coq.md``); where one step has none, the whole guarantee is proved on paper.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Proof:
    """The pages that prove a guarantee, and the theorems that Coq has checked, if that covers every step.

    Example:
        >>> print(Proof("docs/proofs/exponential.md", "exponential_bounded_range"))
        docs/proofs/exponential.md: exponential_bounded_range, checked by Coq
        >>> print(Proof("docs/proofs/concentrated.md"))
        docs/proofs/concentrated.md: proved on paper
    """

    pages: tuple[str, ...]
    theorems: tuple[str, ...]

    def __init__(self, page: str | tuple[str, ...], *theorems: str) -> None:
        object.__setattr__(self, "pages", (page,) if isinstance(page, str) else page)
        object.__setattr__(self, "theorems", theorems)

    @property
    def checked(self) -> bool:
        """Whether Coq has checked every step; if not, the proof is on paper."""
        return bool(self.theorems)

    def then(self, step: Proof) -> Proof:
        """This proof and what follows from it by one more step; on paper if either is.

        Example:
            >>> first = Proof("docs/proofs/exponential.md", "exponential_bounded_range")
            >>> first.then(Proof("docs/proofs/concentrated.md")).checked
            False
        """
        pages = tuple(dict.fromkeys(self.pages + step.pages))
        both = self.checked and step.checked
        return Proof(pages, *(dict.fromkeys(self.theorems + step.theorems) if both else ()))

    def __str__(self) -> str:
        how = f"{', '.join(self.theorems)}, checked by Coq" if self.checked else "proved on paper"
        return f"{', '.join(self.pages)}: {how}"


_CONVERSIONS = "docs/proofs/conversions.md"
_CONCENTRATED = Proof("docs/proofs/concentrated.md")  # the exact constants are proved on paper
_DOMINANCE = "docs/proofs/laplace-dominance.md"
_NEIGHBOURS = "docs/proofs/neighbours.md"
_COMPOSITION = "docs/proofs/composition.md"

STEPS: dict[tuple[str, str], Proof] = {
    ("PureDP", "BoundedRange"): Proof(_CONVERSIONS, "pure_to_bounded_range"),
    ("PureDP", "ZCDP"): _CONCENTRATED,
    ("PureDP", "ApproxDP"): Proof(_CONVERSIONS, "pure_to_approx"),
    ("BoundedRange", "PureDP"): Proof(_CONVERSIONS, "bounded_range_to_pure"),
    ("BoundedRange", "ZCDP"): _CONCENTRATED,
    ("BoundedRange", "ApproxDP"): Proof(_CONVERSIONS, "bounded_range_to_approx"),
    ("LaplaceDominated", "PureDP"): Proof(_DOMINANCE, "dominated_pure_dp"),
    ("LaplaceDominated", "BoundedRange"): Proof(
        (_DOMINANCE, _CONVERSIONS), "dominated_pure_dp", "pure_to_bounded_range"
    ),
    ("LaplaceDominated", "ZCDP"): _CONCENTRATED,
    ("LaplaceDominated", "ApproxDP"): Proof(_DOMINANCE, "dominated_to_approx"),
    ("FlippedCoins", "PureDP"): Proof(_DOMINANCE, "dominated_pure_dp"),
    ("FlippedCoins", "BoundedRange"): Proof(
        "docs/proofs/bounded-range-refuted.md", "permute_and_flip_bounded_range"
    ),
    ("FlippedCoins", "ZCDP"): _CONCENTRATED,
    ("FlippedCoins", "ApproxDP"): Proof(_DOMINANCE, "dominated_to_approx"),
    ("ZCDP", "ApproxDP"): Proof(_CONVERSIONS, "zcdp_to_approx"),
    ("ApproxDP", "PureDP"): Proof(_CONVERSIONS, "approx_to_approx"),
    ("ApproxDP", "BoundedRange"): Proof(_CONVERSIONS, "pure_to_bounded_range"),
    ("ApproxDP", "ZCDP"): _CONCENTRATED,
    ("ApproxDP", "ApproxDP"): Proof(_CONVERSIONS, "approx_to_approx"),
    ("PureDP", "people"): Proof(_NEIGHBOURS, "pure_for_people"),
    ("BoundedRange", "people"): Proof(_NEIGHBOURS, "bounded_range_for_people"),
    ("LaplaceDominated", "people"): Proof(_DOMINANCE, "dominated_for_people"),
    ("FlippedCoins", "people"): Proof(_DOMINANCE, "dominated_for_people"),
    ("ZCDP", "people"): Proof(_NEIGHBOURS),
    ("ApproxDP", "people"): Proof(_NEIGHBOURS, "approx_for_people"),
    ("PureDP", "sum"): Proof(_COMPOSITION, "adaptive_pure_composition"),
    ("ZCDP", "sum"): Proof(_COMPOSITION, "adaptive_zcdp_composition"),
    ("ApproxDP", "sum"): Proof(_COMPOSITION, "adaptive_approx_composition"),
}
"""What proves each step from a measure to another, to several people, or to a sum of releases."""


def step_from(proof: Proof | None, measure: str, to: str) -> Proof | None:
    """A proof and one more step of the table; None if nothing proves the start or the step."""
    step = STEPS.get((measure, to))
    return proof.then(step) if proof is not None and step is not None else None
