"""What objects look like in a notebook: small HTML, no script, no network, nothing that was not there.

A release shows only what was released. Scores are the data themselves: their display says so, because a
notebook keeps what it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee
    from discreet.release import Release
    from discreet.scores import Scores

_CELL = "padding:2px 10px;text-align:{};border-bottom:1px solid #8884"
_MOST_BARS = 12


def card(title: str, *parts: str, note: str = "") -> str:
    """A titled block; ``title`` and ``note`` are text, ``parts`` are HTML."""
    footer = (
        f'<div style="opacity:.75;font-size:90%;margin-top:6px">{escape(note)}</div>'
        if note
        else ""
    )
    return (
        '<div style="border-left:3px solid #888;padding:4px 12px;margin:4px 0">'
        f"<strong>{escape(title)}</strong>{''.join(parts)}{footer}</div>"
    )


def paragraph(text: str) -> str:
    """One escaped paragraph."""
    return f'<div style="margin-top:4px">{escape(text)}</div>'


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers to the right in at most four digits, everything escaped."""
    head = "".join(f'<th style="{_CELL.format("left")}">{escape(name)}</th>' for name in headers)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return (
        '<table style="border-collapse:collapse;margin-top:6px">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: Any) -> str:
    number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    text = f"{float(value):.4g}" if isinstance(value, float | Fraction) else str(value)
    return f'<td style="{_CELL.format("right" if number else "left")}">{escape(text)}</td>'


def release_html(release: Release) -> str:
    """The answer, its price, and who counted it; never a score."""
    counted = "nobody (no ledger)" if release.entry is None else str(release.entry)
    return card(
        f"{release.answer}",
        paragraph(release.guarantee.in_words()),
        table(
            ("", ""),
            (
                ("guarantee", repr(release.guarantee)),
                ("mechanism", release.mechanism),
                ("neighbours", release.neighbours),
                ("counted by", counted),
            ),
        ),
    )


def guarantee_html(guarantee: Guarantee) -> str:
    """The promise in words, and what it is worth in the other measures and for a household."""
    from discreet.guarantees import ZCDP, ApproxDP, PureDP

    rows = [(measure.__name__, repr(guarantee.to(measure))) for measure in (PureDP, ZCDP)]
    rows.append(("ApproxDP at δ = 10⁻⁶", repr(guarantee.to(ApproxDP, delta=Fraction(1, 10**6)))))
    rows.append(("a household of four", repr(guarantee.for_people(4))))
    return card(repr(guarantee), paragraph(guarantee.in_words()), table(("", ""), rows))


def scores_html(scores: Scores) -> str:
    """The largest scores as bars. **Not private**: these are the data."""
    values = scores.values
    order = np.argsort(values, kind="stable")[::-1][:_MOST_BARS].tolist()
    top, bottom = float(values[order[0]]), min(0.0, float(values[order[-1]]))
    span = (top - bottom) or 1.0
    bars = "".join(
        f'<tr><td style="{_CELL.format("left")}">{escape(str(scores.candidates[index])[:40])}</td>'
        f'<td style="{_CELL.format("right")}">{escape(str(values[index]))}</td>'
        '<td style="width:180px"><div style="background:#888;height:10px;width:'
        f'{100 * (float(values[index]) - bottom) / span:.0f}%"></div></td></tr>'
        for index in order
    )
    hidden = len(scores) - len(order)
    note = f"and {hidden} more. " if hidden else ""
    return card(
        repr(scores),
        f'<table style="border-collapse:collapse;margin-top:6px">{bars}</table>',
        note=f"{note}Not private: these are the data, and a notebook keeps what it shows.",
    )
