"""Scores that somebody computed already, in a CSV file: one candidate and one score on each line.

The candidates and the sensitivity are stated by whoever made the file. Errors name the rule that the file
breaks and never a score.
"""

from __future__ import annotations

import csv
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from discreet.accounting import Event
from discreet.errors import ParameterError, ScoresError
from discreet.exact_numbers import positive
from discreet.guarantees import PureDP
from discreet.questions.answer import TableRelease
from discreet.questions.asking import Asker, Ledger, mechanism_at
from discreet.questions.neighbours import ADD_REMOVE, relation
from discreet.scores import Scores


def select_from_file(
    path: str | Path,
    *,
    epsilon: object,
    sensitivity: object = None,
    range_distance: object = None,
    monotonic: bool = False,
    candidate_column: str | None = None,
    score_column: str | None = None,
    neighbours: str = ADD_REMOVE,
    mechanism: object = None,
    optimize: str = "max",
    ledger: Ledger | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
) -> TableRelease:
    r"""The candidate with the largest score of a CSV file, chosen privately.

    With ``optimize="min"`` it is the smallest: mistakes, distances, costs. The columns are the first two,
    unless named. A score is a decimal number or a fraction such as ``1/3``, taken exactly.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "scores.csv"
        ...     _ = file.write_text("candidate,score\nflu,412\ncold,98\n")
        ...     select_from_file(file, sensitivity=1, monotonic=True, epsilon=1).answer
        'flu'
    """
    total = positive("epsilon", epsilon)
    named = relation(neighbours)
    asker = Asker(ledger, dataset)
    statement: dict[str, Any] = {
        "sensitivity": sensitivity,
        "range_distance": range_distance,
        "monotonic": monotonic,
    }
    form = Scores([0], **statement)
    chooser = mechanism_at(mechanism, total, optimize=optimize)
    places = _places(Path(path), candidate_column, score_column)

    def work() -> Any:
        labels, values = _read(Path(path), *places)
        return chooser.select(Scores(values, candidates=labels, **statement))

    event = Event(chooser.promise_at(form.range_distance), mechanism=chooser.name, neighbours=named)
    answer, entry = asker.spending(event, purpose or "selection from computed scores", work)
    return TableRelease(
        answer=answer,
        guarantee=PureDP(total),
        mechanism=chooser.name,
        neighbours=named,
        entry=entry,
    )


def _places(path: Path, candidate: str | None, score: str | None) -> tuple[int, int]:
    """Where the two columns are; reads the header only."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            header = next(csv.reader(file), [])
    except OSError:
        raise ParameterError(f"{str(path)!r}: no such file can be read") from None
    if len(header) < 2:
        raise ParameterError(
            f"{str(path)!r}: the first line must name the candidate and the score column"
        )
    for name in (candidate, score):
        if name is not None and name not in header:
            raise ParameterError(f"{str(path)!r}: there is no column {name!r}")
    first = 0 if candidate is None else header.index(candidate)
    second = (1 if first == 0 else 0) if score is None else header.index(score)
    return first, second


def _read(path: Path, candidate: int, score: int) -> tuple[list[str], list[Any]]:
    with open(path, encoding="utf-8-sig", errors="strict", newline="") as file:
        records = [record for record in csv.reader(file) if record][1:]
    if any(len(record) <= max(candidate, score) for record in records):
        raise ScoresError("every line must have a candidate and a score")
    labels = [record[candidate] for record in records]
    if any(not label.strip() for label in labels):
        raise ScoresError("candidates must not be blank")
    return labels, [_number(record[score]) for record in records]


def _number(text: str) -> Any:
    """An exact decimal, or a fraction; whole numbers stay machine integers."""
    from fractions import Fraction

    text = text.strip()
    try:
        if "/" in text:
            return Fraction(text)
        number = Decimal(text)
        return (
            int(number)
            if number == number.to_integral_value() and abs(number) < 1 << 62
            else number
        )
    except (InvalidOperation, ValueError, ZeroDivisionError, OverflowError):
        pass
    raise ScoresError("every score must be a finite number")
