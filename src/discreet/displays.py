"""The pieces of which objects show themselves in a notebook: small HTML, no script, no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from html import escape
from typing import Any

_CELL = "padding:2px 10px;text-align:{};border-bottom:1px solid #8884"


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


def bars(rows: Iterable[tuple[str, str, float]]) -> str:
    """Labelled bars: a label, a figure, and a length from 0 to 1."""
    body = "".join(
        f'<tr><td style="{_CELL.format("left")}">{escape(label[:40])}</td>'
        f'<td style="{_CELL.format("right")}">{escape(figure)}</td>'
        '<td style="width:180px"><div style="background:#888;height:10px;width:'
        f'{100 * length:.0f}%"></div></td></tr>'
        for label, figure, length in rows
    )
    return f'<table style="border-collapse:collapse;margin-top:6px">{body}</table>'
