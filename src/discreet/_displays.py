"""Objects as text without control characters, and as small HTML without scripts or network access."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

# Control characters, line separators, marks that change the writing direction, lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_CELL = "padding:2px 10px;text-align:{};border-bottom:1px solid #8884"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, in the singular or plural.

    Example:
        >>> counted(1, "entry", "entries"), counted(0, "release"), counted(1200, "person", "people")
        ('1 entry', '0 releases', '1,200 people')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def visible(value: object, *, keep: str = "") -> str:
    r"""Return a text in which every control character is written as its escape.

    Example:
        >>> print(visible("flu\nguaranteed \x1b[1m"))
        flu\nguaranteed \x1b[1m
    """

    def escaped(found: re.Match[str]) -> str:
        character = found.group()
        return character if character in keep else character.encode("unicode_escape").decode()

    return _UNSEEN.sub(escaped, str(value))


# fmt: off
_LETTERS = {
    "ε": "epsilon", "δ": "delta", "ρ": "rho", "Δ": "Delta", "α": "alpha", "γ": "gamma",
    "≥": ">=", "≤": "<=", "≠": "!=", "≈": "about", "×": "x", "÷": "/", "−": "-", "–": "-",
    "·": "*", "→": "->", "…": "...", "∞": "infinity", "√": "sqrt", "′": "'", "±": "+/-",
    "“": '"', "”": '"', "▶": ">", "◀": "<", "✓": "yes", "✗": "no", "½": "1/2", "¾": "3/4",
    **dict.fromkeys("█▉▊▋▌", "#"), **dict.fromkeys("▍▎▏", "|"), **dict.fromkeys("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "*"),
}
# fmt: on
_RAISED = {**dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)), "⁻": "-"}
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))


def transcribed(text: str, encoding: str | None) -> str:
    """Spell out the symbols that an encoding lacks.

    Example:
        >>> transcribed("4ε ≤ 10⁻¹²", "ascii"), transcribed("4ε ≤ 10⁻¹²", "utf-8")
        ('4 epsilon <= 10^-12', '4ε ≤ 10⁻¹²')
        >>> transcribed("1½ is 3×½", "ascii")
        '1 1/2 is 3x1/2'
    """
    if text.isascii() or (encoding or "utf-8").lower().replace("-", "") == "utf8":
        return text

    def letters(found: re.Match[str]) -> str:
        run = found.group()
        try:
            run.encode(encoding or "utf-8")
        except UnicodeEncodeError:
            if run[0] in _RAISED:
                return "^" + "".join(_RAISED[sign] for sign in run)
            word = {**_LETTERS, **_LOWERED}[run]
            after_number = text[found.start() - 1 : found.start()].isdecimal()
            apart = word[0].isdecimal() or (word.isalpha() and len(word) > 1)
            return f" {word}" if after_number and apart else word
        return run

    return _SIGNS.sub(letters, text)


_SIGNS = re.compile(f"[{''.join(_RAISED)}]+|[{''.join({**_LETTERS, **_LOWERED})}]")


def escape(text: str) -> str:
    """Escape text for HTML, including invisible characters that could hide or reverse parts of it."""
    from html import escape as html_escape

    return html_escape(visible(text))


def markdown(text: object) -> str:
    r"""Escape text so that Markdown shows it literally.

    Example:
        >>> print(markdown("a_b <i>"))
        a\_b &lt;i&gt;
    """
    from html import escape as html_escape

    shown = html_escape(visible(text), quote=False)
    return "".join(f"\\{sign}" if sign in "\\`*_[]#|~" else sign for sign in shown)


_PAGE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem;
       color: #1f2328; background: #fff; }
h2 { margin-top: 2rem; font-size: 1.15rem; } code { overflow-wrap: anywhere; } small { color: #59636e; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { text-align: left; vertical-align: top; padding: 2px 10px 2px 0; border-bottom: 1px solid #8884; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; }
                                      small { color: #9198a1; } }
@media print { body { margin: 0; max-width: none; color: #000; background: #fff; }
               section { break-inside: avoid; } details > * { display: block; } }
"""


def page(title: str, *parts: str) -> str:
    """Return a self-contained page that can be printed; ``title`` is text, ``parts`` are HTML."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_PAGE}</style>'
        f"<h1>{escape(title)}</h1>{''.join(parts)}</html>\n"
    )


def card(title: str, *parts: str, note: str = "", colour: str = "#888") -> str:
    """Return a titled HTML block; ``title`` and ``note`` are text, ``parts`` are HTML."""
    style = "opacity:.75;font-size:90%;margin-top:6px"
    footer = f'<div style="{style}">{escape(note)}</div>' if note else ""
    return (
        f'<div style="border-left:3px solid {colour};padding:4px 12px;margin:4px 0">'
        f"<strong>{escape(title)}</strong>{''.join(parts)}{footer}</div>"
    )


def paragraph(text: str) -> str:
    """Return the text as one HTML paragraph, escaped."""
    return f'<div style="margin-top:4px">{escape(text)}</div>'


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return an HTML table: escaped text, right-aligned numbers, floats with four significant digits."""
    head = "".join(
        f'<th scope="col" style="{_CELL.format("left")}">{escape(name)}</th>' for name in headers
    )
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return (
        '<table style="border-collapse:collapse;margin-top:6px">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: Any) -> str:
    number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    text = f"{float(value):.4g}" if isinstance(value, float | Fraction) else str(value)
    return f'<td style="{_CELL.format("right" if number else "left")}">{escape(text)}</td>'
