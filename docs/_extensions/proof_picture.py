"""Draw which theorem of ``proofs/`` rests on which, and list what names which: part of ``make pages``.

Names are resolved as Coq resolves them (own file, imported files, or ``File.name``), so Coq is
not needed; the result is that of the ``.glob`` files which ``coqc`` writes.
"""

from __future__ import annotations

import re
import runpy
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "proofs"
PAGE = ROOT / "docs" / "proofs" / "checked-by-coq.md"
PICTURE = ROOT / "docs" / "_static" / "figures" / "proofs.svg"
WIDE, HIGH, ACROSS, DOWN = 258, 32, 318, 40
CHECK = runpy.run_path(str(PROOFS / "check.py"))
DEFAULTS = runpy.run_path(str(Path(__file__).with_name("default_answers.py")))
Name = tuple[str, str]
Arrows = set[tuple[str, str]]


def statements() -> dict[str, str]:
    """Each theorem of ``Statements.v`` and the page of the comment above it."""
    found, page = {}, ""
    for line in (PROOFS / "Statements.v").read_text(encoding="utf-8").splitlines():
        if named := re.match(r"\(\*\* (docs/proofs/[\w-]+\.md)", line):
            page = named[1]
        elif stated := re.match(r"Theorem (\w+)", line):
            found[stated[1]] = page
    return found


def _without_comments(text: str) -> str:
    """The text with every comment, nested ones too, taken out."""
    kept, depth = [], 0
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)":
            depth -= 1
        elif depth == 0:
            kept.append(part)
    return "".join(kept)


def uses() -> tuple[dict[Name, set[Name]], set[Name]]:
    """What each proof mentions of ours, as (file, name); and which of them are mere lemmas."""
    proofs: dict[str, dict[str, str]] = {}
    mentions: dict[Name, set[Name]] = {}
    lemmas: set[Name] = set()
    for source in CHECK["sources"]():
        file = source.removesuffix(".v")
        text = _without_comments((PROOFS / source).read_text(encoding="utf-8"))
        lines = re.findall(r"From Discreet Require (?:Import|Export) ([\w\s]+)\.", text)
        imported = {word for line in lines for word in line.split()}
        # In the order of _CoqProject, which is that of the imports: a later name hides an earlier.
        visible = {
            name: (other, name) for other in proofs if other in imported for name in proofs[other]
        }
        proofs[file] = {}
        for found in re.finditer(
            r"^ *(Theorem|Lemma|Corollary)\s+([\w']+).*?\bProof\.(.*?)\bQed\.", text, re.M | re.S
        ):
            kind, name, proof = found.groups()
            words = re.findall(r"(?:\b([A-Z]\w*)\.)?\b([a-zA-Z_][\w']*)", proof)
            mentions[file, name] = {
                (other, word) for other, word in words if word in proofs.get(other, ())
            } | {visible[word] for other, word in words if not other and word in visible}
            proofs[file][name] = proof
            visible[name] = file, name
            if kind == "Lemma":
                lemmas.add((file, name))
    return mentions, lemmas


def arrows() -> Arrows:
    """(first, second): the proof of the second uses, perhaps through others, what proves the first.

    What proves a statement are the theorems that its line in ``Statements.v`` names and that no
    statement above it names; lemmas count only where it names nothing else.
    """
    mentions, lemmas = uses()

    @cache
    def below(name: Name) -> frozenset[Name]:
        return frozenset({name}).union(*map(below, mentions[name]))

    seen: set[Name] = set()
    rests: Arrows = set()
    names = statements()
    for first in names:
        named = mentions["Statements", first]
        own = (named - lemmas or named) - seen
        seen |= own
        rests |= {
            (first, other)
            for other in names
            if other != first and own & below(("Statements", other))
        }
    through = {(a, d) for a, b in rests for c, d in rests if b == c}
    return rests - through


def connected(links: Arrows) -> list[list[str]]:
    """The theorems that arrows hold together, largest group first."""
    groups: list[list[str]] = []
    for name in statements():
        near = {other for link in links if name in link for other in link}
        touched = [group for group in groups if near & set(group)]
        if near:
            groups = [group for group in groups if group not in touched]
            groups.append([*chain(*touched), name])
    return sorted(groups, key=len, reverse=True)


def places(links: Arrows) -> tuple[dict[str, tuple[float, float]], list[list[str]], float]:
    """Where each theorem with an arrow stands, what each arrow passes, and the height of all."""

    @cache
    def depth(name: str) -> int:
        return 1 + max((depth(a) for a, b in links if b == name), default=-1)

    @cache
    def column(name: str) -> int:
        return min((column(b) - 1 for a, b in links if a == name), default=depth(name))

    def middle(name: str, steps: Arrows) -> float:
        near = [place[o][1] for step in steps if name in step for o in step if o in place]
        return sum(near) / len(near) if near else 0.0

    place: dict[str, tuple[float, float]] = {}
    passes: list[list[str]] = []
    top = 0.0
    for group in connected(links):
        columns: dict[int, list[str]] = {}
        for name in group:
            columns.setdefault(column(name), []).append(name)
        steps: Arrows = set()
        for first, second in sorted(links):
            if first in group:
                # An arrow over several columns keeps a free row in each, so as to cross no box.
                free = range(column(first) + 1, column(second))
                way = [first, *(f"{first} {second} {level}" for level in free), second]
                passes.append(way)
                steps |= set(pairwise(way))
                for level, name in zip(free, way[1:-1], strict=True):
                    columns[level].append(name)
        rows = max(map(len, columns.values()))
        for level in [*sorted(columns), *sorted(columns, reverse=True), *sorted(columns)]:
            # Each beside the middle of its neighbours, so that few lines cross.
            start = top + (rows - len(columns[level])) * DOWN / 2
            heights = {name: middle(name, steps) for name in columns[level]}
            for row, name in enumerate(sorted(columns[level], key=heights.__getitem__)):
                place[name] = level * ACROSS, start + row * DOWN
        top += rows * DOWN + 14
    return place, passes, top


def picture() -> str:
    """The picture as SVG: foundations on the left, below them the theorems without arrows."""
    links, pages = arrows(), statements()
    place, passes, height = places(links)
    alone = [name for name in pages if name not in place]
    columns = 1 + int(max(x for x, _ in place.values()) / ACROSS)
    deep = -(-len(alone) // columns)
    text = [
        f'<text x="0" y="{height + 22:g}" fill="#222" font-weight="bold">Theorems without arrows</text>'
    ]
    for place_alone, name in enumerate(alone):
        column, row = divmod(place_alone, deep)
        text.append(
            f'<text x="{column * ACROSS:g}" y="{height + 44 + row * 18:g}" fill="#222">{name}</text>'
        )
    for name in sorted(pages.keys() & place.keys()):
        x, y = place[name]
        text.append(
            f'<rect x="{x:g}" y="{y:g}" width="{WIDE}" height="{HIGH}" rx="5" fill="#eaf1fb" stroke="#456"/>'
            f'<text x="{x + 8:g}" y="{y + 14:g}" fill="#222">{name}</text>'
            f'<text x="{x + 8:g}" y="{y + 26:g}" fill="#555" font-size="9.5">{Path(pages[name]).stem}</text>'
        )
    lines = []
    for way in passes:
        x, y = place[way[0]]
        half = HIGH / 2
        curve = f"M{x + WIDE:g} {y + half:g}"
        for (x, y), (u, v) in pairwise(place[name] for name in way):
            curve += f"H{x + WIDE:g}C{x + WIDE + 36:g} {y + half:g} "
            curve += f"{u - 36:g} {v + half:g} {u:g} {v + half:g}"
        lines.append(f'<path d="{curve}" fill="none" stroke="#888" marker-end="url(#tip)"/>')
    width, height = columns * ACROSS - ACROSS + WIDE + 10, height + deep * 18 + 44
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-5 -5 {width} {height:g}" role="img" '
            'aria-label="Which theorem rests on which" font-family="sans-serif" font-size="12">',
            f'<rect x="-5" y="-5" width="{width}" height="{height:g}" fill="#ffffff"/>',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0L8 4L0 8z" fill="#666"/></marker></defs>',
            *lines,
            *text,
            "</svg>",
            "",
        ]
    )


def page() -> str:
    """The page about Coq, with the tables of default answers and of what the code claims as they are."""
    from discreet.guarantees.claims import CLAIMS

    rows = ["| subject | claim | page | theorem |", "|---|---|---|---|"]
    for (subject, claim), proof in CLAIMS.items():
        pages = ", ".join(f"[{Path(name).stem}]({Path(name).name})" for name in proof.pages)
        theorems = ", ".join(f"`{name}`" for name in proof.theorems) or "on paper"
        rows.append(f"| {subject} | {claim} | {pages} | {theorems} |")
    made = {"claims": "\n".join(rows), "defaults": DEFAULTS["table_of_defaults"]()}
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in made.items():
        before, start, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- end of {name} -->")
        text = before + start + "\n" + lines + "\n\n" + end + after
    return text


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
