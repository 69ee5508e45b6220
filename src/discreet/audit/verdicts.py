"""What an audit reports: a verdict, the witness that refutes, and how it was sought."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from discreet.numbers.printing import jsonable

Number = int | float


def plain(values: Any) -> tuple[Number, ...]:
    """Scores as people write them: whole numbers without a decimal point."""
    return tuple(int(value) if float(value).is_integer() else float(value) for value in values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Two neighbouring score vectors and the answer whose probabilities show the loss.

    Attributes:
        scores: the first score vector.
        neighbour: the second, a neighbour of the first under ``relation``.
        relation: which neighbours: "general", "monotonic", "custom", or the rule of regularity broken.
        outcome: the position of the telling answer; for a sum over answers, the one that adds most.
        probability: that answer's probability under ``scores``.
        neighbour_probability: and under ``neighbour``.
        value: the loss of this pair, in the measure of the claim.
        certainty: what makes the value certain.
        probabilities: of all answers under ``scores``.
        neighbour_probabilities: of all answers under ``neighbour``.
        other: for a range, the answer at the other end.
        order: for zCDP, the order α (1 is the limit of Kullback and Leibler).
        event: for (ε, δ), the set of answers.

    Example:
        >>> from discreet import BoundedRange, PermuteAndFlip
        >>> from discreet.audit import audit
        >>> witness = audit(PermuteAndFlip(epsilon=1), BoundedRange(1), n=2).witness
        >>> len(witness.scores), witness.value > 1
        (2, True)
    """

    scores: tuple[Number, ...]
    neighbour: tuple[Number, ...]
    relation: str
    outcome: int
    probability: float
    neighbour_probability: float
    value: float
    certainty: str
    probabilities: tuple[float, ...] = ()
    neighbour_probabilities: tuple[float, ...] = ()
    other: int | None = None
    order: float | None = None
    event: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The witness as plain values."""
        names = [name for name in self.__slots__ if getattr(self, name) not in (None, ())]
        return {name: jsonable(getattr(self, name)) for name in names}

    def __str__(self) -> str:
        return (
            f"scores {_row(self.scores)} and {_row(self.neighbour)} ({self.relation}): answer "
            f"{self.outcome} has probability {self.probability:.6g} and {self.neighbour_probability:.6g}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One part of the search and how much it covered.

    Example:
        >>> Stage(name="lattice", relation="general", size=2, pairs=9, largest=0.5).pairs
        9
    """

    name: str
    relation: str
    size: int
    pairs: int
    largest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of an audit.

    Attributes:
        subject: what was audited.
        claim: what was claimed of it.
        status: "refuted" (with a witness), "not refuted" (nothing found in what was searched), or
            "proved" (nothing found, and a proof page covers the claim).
        measured: the largest loss found, in the measure of the claim.
        claimed: the loss that the claim allows.
        symbol: the letter of both.
        witness: the pair that refutes the claim, else None.
        worst: the pair with the largest loss found, whether it refutes or not.
        proof: the page that proves the claim, where status is "proved", and which theorem Coq has checked,
            or that it is proved on paper.
        stages: how it was sought.
        evaluations: how many score vectors were evaluated.
        seconds: how long it took.
        seed: what makes the search reproducible.
        covered: what was searched, where that is no search among candidates.

    Example:
        >>> from discreet import BoundedRange, PermuteAndFlip
        >>> from discreet.audit import audit
        >>> verdict = audit(PermuteAndFlip(epsilon=1), BoundedRange(1), n=2)
        >>> verdict.holds, verdict.status, round(verdict.measured, 3), verdict.claimed
        (False, 'refuted', 1.664, 1.0)
    """

    subject: str
    claim: str
    status: str
    measured: float
    claimed: float
    symbol: str
    witness: Witness | None = None
    worst: Witness | None = None
    proof: str | None = None
    stages: tuple[Stage, ...] = ()
    evaluations: int = 0
    seconds: float = 0.0
    seed: int = 0
    notes: tuple[str, ...] = field(default=())
    covered: str = ""

    @property
    def holds(self) -> bool:
        """False when the claim is refuted."""
        return self.status != "refuted"

    @property
    def pairs(self) -> int:
        """How many pairs of neighbours were compared."""
        return sum(stage.pairs for stage in self.stages)

    @property
    def coverage(self) -> str:
        """What was searched, in one sentence."""
        if self.covered:
            return self.covered
        sizes = sorted({stage.size for stage in self.stages})
        kinds = list(dict.fromkeys(stage.name for stage in self.stages))
        relations = list(dict.fromkeys(stage.relation for stage in self.stages))
        return (
            f"{self.pairs:,} pairs of neighbours ({' and '.join(relations)}) of {_some(sizes)} candidates, "
            f"{self.evaluations:,} score vectors evaluated: {', '.join(kinds)}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain values, ready for JSON."""
        return {
            "subject": self.subject,
            "claim": self.claim,
            "status": self.status,
            "holds": self.holds,
            "measured": jsonable(self.measured),
            "claimed": jsonable(self.claimed),
            "symbol": self.symbol,
            "witness": None if self.witness is None else self.witness.as_dict(),
            "worst": None if self.worst is None else self.worst.as_dict(),
            "proof": self.proof,
            "coverage": self.coverage,
            "stages": [
                {name: jsonable(getattr(stage, name)) for name in Stage.__slots__}
                for stage in self.stages
            ],
            "evaluations": self.evaluations,
            "pairs": self.pairs,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """The verdict as JSON."""
        return json.dumps(self.as_dict(), allow_nan=False)

    def __str__(self) -> str:
        from discreet.audit.cards import text_card

        return text_card(self)

    def _repr_html_(self) -> str:
        from discreet.audit.cards import html_card

        return html_card(self)


def _row(values: tuple[Number, ...]) -> str:
    shown = [f"{value:.6g}" for value in values]
    if len(shown) > 8:
        shown = [*shown[:4], "…", *shown[-2:]]
    return "(" + ", ".join(shown) + ")"


def _some(sizes: list[int]) -> str:
    words = [str(size) for size in sizes]
    return (
        words[0]
        if len(words) == 1
        else ", ".join(words[:-1]) + " and " + words[-1]
        if words
        else "no"
    )
