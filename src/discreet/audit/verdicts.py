"""The result of an audit: the verdict, the witness, and the stages searched."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from typing import Any

from discreet._exact.numbers.printing import jsonable

_MOST_TOLD = 6
"""A witness with more candidates than this is shown in blocks."""


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
        neighbour: the second input, a neighbour of the first under ``relation``.
        relation: the neighbour relation: "general", "monotonic", "custom", that of a table, or the rule of
            regularity that was broken.
        outcome: the index in ``answers`` of the answer that shows the loss, or its position if answers are
            positions; for a loss that sums over answers, the answer that contributes most.
        probability: that answer's probability under ``scores``.
        neighbour_probability: that answer's probability under ``neighbour``.
        value: the loss of this pair, in the measure of the claim.
        certainty: the reason why the value is certain.
        probabilities: the probabilities of all answers under ``scores``.
        neighbour_probabilities: the probabilities of all answers under ``neighbour``.
        other: for bounded range, the second of the two answers.
        order: for zCDP, the order α (1 stands for the limit, the Kullback–Leibler divergence).
        event: for (ε, δ), the set of answers.
        answers: the answers to which the probabilities belong; empty if answers are positions.
        multiplicities: the number of candidates that each score stands for, if identical candidates are
            grouped; each probability is then that of a single candidate. Empty if each score stands for one.

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
        """Return the answer at a position as text."""
        if self.answers and place < len(self.answers):
            return repr(self.answers[place])
        if self.multiplicities:
            count = self.multiplicities[place]
            return f"{place}" if count == 1 else f"{place} (one of {count:,})"
        return str(place)

    def as_dict(self) -> dict[str, Any]:
        """Return the witness as plain values, without empty fields."""
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
    """Group identical candidates of a large witness into blocks, if a few blocks are enough.

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
    """One part of the search: what was compared, and the largest loss found.

    Attributes:
        name: the name of the stage.
        relation: the neighbour relation.
        size: the number of candidates or rows.
        pairs: the number of pairs compared.
        largest: the largest loss among these pairs.
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
        subject: the name of the audited mechanism.
        claim: the claimed guarantee.
        status: "refuted" (with an exact witness), "suspect" (by sampling, with a stated error rate), "not
            refuted" (nothing found in the inputs searched), or "proved" (nothing found, and a proof page
            covers the claim).
        measured: the largest loss found, in the measure of the claim.
        claimed: the loss that the claim allows.
        symbol: the letter of the measure, such as ε.
        witness: the pair that refutes the claim or makes it suspect, else None.
        worst: the pair with the largest loss found, whether or not it refutes the claim.
        proof: if the status is "proved", the page that proves the claim, and either the theorem that Coq
            has checked or a note that the proof is on paper.
        stages: the stages of the search.
        evaluations: the number of inputs evaluated.
        seconds: the running time.
        notes: further remarks.
        counted: the unit of the stages' sizes, such as candidates.
        covered: a description of the search, if the inputs were not score vectors.

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
        """Whether the claim is neither refuted nor suspect."""
        return self.status not in ("refuted", "suspect")

    @property
    def pairs(self) -> int:
        """The number of pairs of neighbours compared."""
        return sum(stage.pairs for stage in self.stages)

    @property
    def coverage(self) -> str:
        """A one-sentence description of the search."""
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
        """Return the verdict as plain values, ready for JSON."""
        told = {name: _told(getattr(self, name)) for name in _TOLD}
        return told | {"seconds": round(self.seconds, 3)}

    def to_json(self) -> str:
        """Return the verdict as JSON."""
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
"""The fields in a verdict's JSON, in this order."""


def _told(value: Any) -> Any:
    """Convert a value to plain data for JSON; any other type becomes its ``repr``."""
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
