"""What an audit reports: a verdict, the witness, and what was searched."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from typing import Any

from discreet._exact.numbers.printing import jsonable

_MOST_TOLD = 6
"""More candidates than this are shown block by block."""


def plain(values: Any) -> tuple[Any, ...]:
    """Return scores as people write them: whole numbers without a decimal point."""
    return tuple(
        int(value)
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53
        else value
        for value in values
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Two neighbouring inputs and the answer whose probabilities show the loss.

    Attributes:
        scores: the first score vector; or the first input of another kind, such as the rows of a table.
        neighbour: the second, a neighbour of the first under ``relation``.
        relation: which neighbours: "general", "monotonic", "custom", those of a table, or the rule of
            regularity broken.
        outcome: the place of the telling answer among ``answers``, which is its position if positions are
            answered; for a sum over answers, the one that adds most.
        probability: that answer's probability under ``scores``.
        neighbour_probability: and under ``neighbour``.
        value: the loss of this pair, in the measure of the claim.
        certainty: what makes the value certain.
        probabilities: of all answers under ``scores``.
        neighbour_probabilities: of all answers under ``neighbour``.
        other: for a range, the answer at the other end.
        order: for zCDP, the order α (1 is the limit of Kullback and Leibler).
        event: for (ε, δ), the set of answers.
        answers: what each of the probabilities is of; empty where answers are positions.
        multiplicities: in a crowd, how many candidates have each of the scores; a probability is then that
            of one of them.

    Example:
        >>> from discreet import BoundedRange, PermuteAndFlip
        >>> from discreet.audit import audit
        >>> witness = audit(PermuteAndFlip(epsilon=1), BoundedRange(1), n=2).witness
        >>> len(witness.scores), witness.value > 1
        (2, True)
    """

    scores: tuple[Any, ...]
    neighbour: tuple[Any, ...]
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
    answers: tuple[Any, ...] = ()
    multiplicities: tuple[int, ...] = ()

    def answer(self, place: int) -> str:
        """An answer in words."""
        if self.answers and place < len(self.answers):
            return repr(self.answers[place])
        if self.multiplicities:
            count = self.multiplicities[place]
            return f"{place}" if count == 1 else f"{place} (one of {count:,})"
        return str(place)

    def as_dict(self) -> dict[str, Any]:
        """The witness as plain values."""
        told = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: _told(value) for name, value in told.items() if value not in (None, ())}

    def __str__(self) -> str:
        one, two = (_row(part, self.multiplicities) for part in (self.scores, self.neighbour))
        numbers = all(isinstance(value, int | float) for value in self.scores + self.neighbour)
        what = "scores" if numbers else "rows"
        return (
            f"{what} {one} and {two} ({self.relation}): answer {self.answer(self.outcome)} has "
            f"probability {self.probability:.6g} and {self.neighbour_probability:.6g}"
        )


def in_blocks(witness: Witness) -> Witness:
    """Show a witness in a crowd block by block, if a few blocks suffice.

    Example:
        >>> crowd = Witness(scores=(0, *[1] * 20), neighbour=(1, *[0] * 20), relation="general", outcome=3,
        ...     probability=0.04, neighbour_probability=0.02, value=0.7, certainty="an example",
        ...     probabilities=(0.2, *[0.04] * 20), neighbour_probabilities=(0.6, *[0.02] * 20))
        >>> in_blocks(crowd).scores, in_blocks(crowd).multiplicities, in_blocks(crowd).outcome
        ((0, 1), (1, 20), 1)
    """
    size = len(witness.scores)
    columns = list(
        zip(
            witness.scores,
            witness.neighbour,
            witness.probabilities[:size],
            witness.neighbour_probabilities[:size],
            strict=True,
        )
    )
    counts = Counter(columns)
    if size <= _MOST_TOLD or len(counts) > _MOST_TOLD or len(witness.probabilities) > size:
        return witness
    places = {column: place for place, column in enumerate(counts)}
    block = [places[column] for column in columns]
    scores, neighbour, first, second = zip(*counts, strict=True)
    return replace(
        witness,
        scores=scores,
        neighbour=neighbour,
        probabilities=first,
        neighbour_probabilities=second,
        multiplicities=tuple(counts.values()),
        outcome=block[witness.outcome],
        other=None if witness.other is None else block[witness.other],
        event=tuple(sorted({block[place] for place in witness.event})),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One part of the search and how much it covered.

    Attributes:
        name: what was done.
        relation: which neighbours.
        size: how many candidates, or rows.
        pairs: how many pairs were compared.
        largest: the largest loss among them.
        magnitude: the largest score in absolute value; 0 if inputs are not scores.

    Example:
        >>> Stage(name="lattice", relation="general", size=2, pairs=9, largest=0.5).pairs
        9
    """

    name: str
    relation: str
    size: int
    pairs: int
    largest: float
    magnitude: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of an audit.

    Attributes:
        subject: what was audited.
        claim: what was claimed of it.
        status: "refuted" (with an exact witness), "suspect" (by draws, with a stated error rate), "not
            refuted" (nothing found in what was searched), or "proved" (nothing found, and a proof page
            covers the claim).
        measured: the largest loss found, in the measure of the claim.
        claimed: the loss that the claim allows.
        symbol: the letter of both.
        witness: the pair that refutes the claim or makes it suspect, else None.
        worst: the pair with the largest loss found, whether it refutes or not.
        proof: the page that proves the claim, where status is "proved", and which theorem Coq has checked,
            or that it is proved on paper.
        stages: what was searched.
        evaluations: how many inputs were evaluated.
        seconds: how long it took.
        notes: further remarks.
        counted: what the sizes of the stages count.
        covered: what was searched, if it was not a search among candidates.

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
    notes: tuple[str, ...] = field(default=())
    counted: str = "candidates"
    covered: str = ""

    @property
    def holds(self) -> bool:
        """False when the claim is refuted or suspect."""
        return self.status not in ("refuted", "suspect")

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
        largest = max((stage.magnitude for stage in self.stages), default=0.0)
        scores = f", scores up to {largest:.3g} in magnitude" if largest else ""
        return (
            f"{self.pairs:,} pairs of neighbours ({' and '.join(relations)}) of {_some(sizes)} "
            f"{self.counted}{scores}, {self.evaluations:,} inputs evaluated: {', '.join(kinds)}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain values, ready for JSON."""
        told = {name: _told(getattr(self, name)) for name in _TOLD}
        return told | {"seconds": round(self.seconds, 3)}

    def to_json(self) -> str:
        """The verdict as JSON."""
        return json.dumps(self.as_dict(), allow_nan=False)

    def __str__(self) -> str:
        from discreet.audit.cards import text_card

        return text_card(self)

    def _repr_html_(self) -> str:
        from discreet.audit.cards import html_card

        return html_card(self)


_TOLD = (
    *("subject", "claim", "status", "holds", "measured", "claimed", "symbol", "witness", "worst"),
    *("proof", "coverage", "stages", "evaluations", "pairs", "seconds", "notes"),
)
"""The parts of a verdict in its JSON, in this order."""


def _told(value: Any) -> Any:
    """Return plain values for JSON; answers of other types as their ``repr``."""
    if isinstance(value, tuple | list):
        return [_told(part) for part in value]
    if isinstance(value, Witness):
        return value.as_dict()
    if isinstance(value, Stage):
        return {name: jsonable(getattr(value, name)) for name in Stage.__slots__}
    if value is None or isinstance(value, bool | int | float | str):
        return jsonable(value)
    return repr(value)


def _row(values: tuple[Any, ...], multiplicities: tuple[int, ...]) -> str:
    shown = [f"{value:.6g}" if isinstance(value, float) else repr(value) for value in values]
    if multiplicities:
        shown = [
            one if count == 1 else f"{count:,} × {one}"
            for one, count in zip(shown, multiplicities, strict=True)
        ]
    if len(shown) > 8:
        shown = [*shown[:4], "…", *shown[-2:]]
    return "(" + ", ".join(shown) + ")"


def _some(sizes: list[int]) -> str:
    words = [f"{size:,}" for size in sizes]
    if len(words) > 5:
        return f"{words[0]} to {words[-1]}"
    if len(words) < 2:
        return words[0] if words else "no"
    return ", ".join(words[:-1]) + " and " + words[-1]
