"""Draw which file of ``proofs/`` rests on which, from the files themselves: part of ``make pages``."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "_static" / "figures" / "proofs.svg"
WIDE, HIGH, ACROSS, DOWN = 132, 26, 146, 62


def requirements() -> dict[str, set[str]]:
    """Each file and the files that it requires."""
    project = (ROOT / "proofs" / "_CoqProject").read_text(encoding="utf-8")
    listed = [name for name in re.findall(r"^(\w+)\.v$", project, re.M) if name != "Statements"]
    found = {}
    for name in listed:
        text = (ROOT / "proofs" / f"{name}.v").read_text(encoding="utf-8")
        lines = re.findall(r"From Discreet Require (?:Import |Export )?([\w\s]+)\.", text)
        found[name] = {word for line in lines for word in line.split()} & set(listed)
    return found


def picture() -> str:
    """The picture as SVG, foundations on top; Statements, which uses all, is left out."""
    needs = requirements()

    @cache
    def below(name: str) -> frozenset[str]:
        return frozenset().union(*({need} | below(need) for need in needs[name]), frozenset())

    @cache
    def depth(name: str) -> int:
        return 1 + max((depth(need) for need in needs[name]), default=-1)

    direct = {
        (need, name)
        for name in needs
        for need in needs[name]
        if not any(need in below(other) for other in needs[name] - {need})
    }
    rows: dict[int, list[str]] = {}
    for name in needs:
        rows.setdefault(depth(name), []).append(name)
    place: dict[str, tuple[float, float]] = {}
    most = max(map(len, rows.values()))
    for level in sorted(rows):
        # Each under the middle of what it rests on, so that few lines cross.
        def middle(name: str) -> float:
            above = [place[need][0] for need, of in direct if of == name and need in place]
            return sum(above) / len(above) if above else 0.0

        names = sorted(rows[level], key=middle)
        start = (most - len(names)) * ACROSS / 2
        for column, name in enumerate(names):
            place[name] = start + column * ACROSS, level * DOWN
    width, height = most * ACROSS + 10, (max(rows) + 1) * DOWN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-5 -5 {width} {height}" role="img" '
        'aria-label="Which file of proofs rests on which" font-family="sans-serif" font-size="12">',
        f'<rect x="-5" y="-5" width="{width}" height="{height}" fill="#ffffff"/>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#666"/></marker></defs>',
    ]
    for need, name in sorted(direct):
        (x, y), (u, v) = place[need], place[name]
        lines.append(
            f'<path d="M{x + WIDE / 2:g} {y + HIGH:g}C{x + WIDE / 2:g} {y + HIGH + 24:g} '
            f'{u + WIDE / 2:g} {v - 24:g} {u + WIDE / 2:g} {v:g}" fill="none" stroke="#999" '
            'marker-end="url(#tip)"/>'
        )
    for name, (x, y) in place.items():
        fill = "#fff3c4" if name in ("Machine", "Constants") else "#eaf1fb"
        lines.append(
            f'<rect x="{x:g}" y="{y:g}" width="{WIDE}" height="{HIGH}" rx="5" fill="{fill}" stroke="#456"/>'
            f'<text x="{x + WIDE / 2:g}" y="{y + 17:g}" text-anchor="middle" fill="#222">{name}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
