"""A verdict as a card: plain text for a terminal, HTML for a notebook."""

from __future__ import annotations

import numpy as np

from discreet._displays import card, paragraph, table
from discreet._exact.numbers.printing import measured
from discreet.audit.verdicts import Verdict, Witness

_WIDTH = 16
_MOST_BARS = 8
_COLOURS = {
    "refuted": "#b3261e",
    "suspect": "#a3410b",
    "not refuted": "#6b5b00",
    "proved": "#1b6e3c",
}


def headline(verdict: Verdict) -> str:
    """Return the verdict in one sentence.

    Example:
        >>> from discreet import PermuteAndFlip, PureDP
        >>> from discreet.audit import audit
        >>> headline(audit(PermuteAndFlip(epsilon=1), PureDP(1), n=2))
        'PermuteAndFlip(epsilon=1) is PureDP(1): proved'
    """
    verb = {"refuted": "is not", "suspect": "does not seem to be", "proved": "is"}
    said = verb.get(verdict.status, "may be")
    return f"{verdict.subject} {said} {verdict.claim}: {verdict.status}"


def figures(verdict: Verdict) -> str:
    """Return the measured and the claimed loss as text."""
    found, claimed = (measured(value, digits=6) for value in (verdict.measured, verdict.claimed))
    return f"largest {verdict.symbol} found {found}, claimed {claimed}"


def explanation(verdict: Verdict) -> str:
    """Return a sentence that explains the verdict's status."""
    if verdict.status == "refuted" and verdict.witness is not None:
        return f"The witness rests on {verdict.witness.certainty}."
    if verdict.status == "suspect" and verdict.witness is not None:
        return f"The suspicion rests on {verdict.witness.certainty}; {verdict.notes[0]}."
    if verdict.status == "proved":
        return f"Proof: {verdict.proof}; the search found nothing against it."
    return "Nothing in what was searched breaks the claim. That is not a proof."


def bars(witness: Witness) -> list[tuple[str, str, str]]:
    """Return, for each answer shown, its label and its two probabilities as small bars."""
    shown = list(range(len(witness.probabilities)))
    if len(shown) > _MOST_BARS:
        largest = np.maximum(witness.probabilities, witness.neighbour_probabilities)
        ranking = np.argsort(-largest, kind="stable").tolist()
        shown = sorted({*ranking[: _MOST_BARS - 1], witness.outcome})
    return [
        (
            f"answer {witness.answer(place)}" + (" ◀" if place == witness.outcome else ""),
            _bar(witness.probabilities[place]),
            _bar(witness.neighbour_probabilities[place]),
        )
        for place in shown
    ]


def _bar(probability: float) -> str:
    eighths = round(probability * _WIDTH * 8)
    full, part = divmod(eighths, 8)
    return f"{'█' * full}{' ▏▎▍▌▋▊▉'[part] if part else ''}".ljust(_WIDTH) + f" {probability:.4g}"


def text_card(verdict: Verdict) -> str:
    """Return the whole verdict as plain text."""
    lines = [headline(verdict), f"  {figures(verdict)}"]
    pair = verdict.worst
    if pair is not None:
        lines.append(f"  {'witness' if verdict.witness else 'worst pair'}: {pair}")
        for label, first, second in bars(pair):
            lines += [f"    {label:<12} {first}", f"    {'':<12} {second}"]
    lines += [
        f"  {explanation(verdict)}",
        f"  Searched: {verdict.coverage}; {verdict.seconds:.1f} s.",
    ]
    return "\n".join(lines)


def html_card(verdict: Verdict) -> str:
    """Return the whole verdict as self-contained HTML."""
    parts = [paragraph(figures(verdict))]
    pair = verdict.worst
    if pair is not None:
        parts += [paragraph(str(pair)), table(("", "scores", "neighbour"), bars(pair))]
    return card(
        headline(verdict),
        *parts,
        paragraph(explanation(verdict)),
        note=f"{verdict.coverage}; {verdict.seconds:.1f} s",
        colour=_COLOURS[verdict.status],
    )
