"""``discreet observatory``: audit the mechanisms of every installed library."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from discreet._cli.commands import command, option
from discreet._cli.output import progress, say
from discreet._displays import counted, visible
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.audit.adapters import Adapter

COLUMNS = ("library", "version", "mechanism", "claim", "verdict", "witness")


@command("observatory")
@option("--only LIBRARY", "Only this library, or one mechanism as library:name.", multiple=True)
@option("--markdown", "Print the table as Markdown.")
@option("--json", "Print the table as JSON, with everything that was found.")
def observatory(*, only: tuple[str, ...], markdown: bool, json: bool) -> None:
    """Audit the selection mechanisms of every installed library, and test some of their pipelines.

    "refuted" means that there is an exact counterexample: two neighbouring inputs and an answer. "suspect" is
    a statistical finding, shown with its error rate. Refuted claims come first. Libraries that are not
    installed are listed at the end. To run one audit again: discreet audit LIBRARY:MECHANISM --epsilon E

    Exit status: 0 whatever is found, 2 for wrong input.

    Example: discreet observatory --only wrong
    """
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    from discreet.audit.libraries import ADAPTERS

    wanted = [
        adapter
        for adapter in ADAPTERS.values()
        if not only or adapter.library in only or adapter.name in only
    ]
    libraries = dict.fromkeys(adapter.library for adapter in ADAPTERS.values())
    unknown = set(only) - {*ADAPTERS, *libraries}
    if unknown:
        raise ParameterError(
            f"--only {sorted(unknown)[0]} is not allowed: it must be a library ({', '.join(libraries)}) "
            f"or one mechanism ({', '.join(ADAPTERS)})"
        )
    rows, absent = list[dict[str, Any]](), list[str]()
    with progress(BarColumn(24), TextColumn("{task.description}"), TimeElapsedColumn()) as bar:
        task = bar.add_task("observatory", total=len(wanted))
        for adapter in wanted:
            bar.update(task, description=adapter.name)
            if adapter.version is None:
                absent.append(adapter.library)
            else:
                rows.append(line(adapter))
            bar.advance(task)
    if json:
        from json import dumps

        click.echo(dumps(rows, allow_nan=False))
    elif markdown:
        click.echo("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
        for row in rows:
            click.echo("| " + " | ".join(str(row[name]) for name in COLUMNS) + " |")
    else:
        _show(rows)
    if absent:
        click.echo(f"Not installed here: {', '.join(dict.fromkeys(absent))}.", err=True)


def line(adapter: Adapter) -> dict[str, Any]:
    """Audit a mechanism and return its row of the table; if the library raises, the error is the verdict."""
    told: dict[str, Any] = {
        "library": adapter.library,
        "version": adapter.version,
        "mechanism": adapter.mechanism,
    }
    from discreet._exact.numbers.printing import measured, rounded
    from discreet.audit import Recording, StatisticalVerdict

    try:
        verdict = adapter.audit()
    except Exception as error:
        failed = f"could not be run ({type(error).__name__})"
        return {**told, "claim": "", "verdict": failed, "witness": ""}
    about = f" ({adapter.about})" if adapter.about else ""
    if isinstance(verdict, Recording):
        found = " ".join(" ".join(one.in_a_sentence.split()) for one in verdict.findings)
        claim = f"{adapter.claim(Fraction(adapter.epsilon))!r}{about}"
        figures = found or f"nothing found on {verdict.pairs} pairs of tables"
        recorded = {"claim": claim, "verdict": verdict.status, "witness": figures}
        return {**told, **recorded, "details": verdict.as_dict()}
    words = verdict.status
    if isinstance(verdict, StatisticalVerdict):
        words += (
            ", by sampling" if verdict.holds else f" (false alarm at most {verdict.false_alarm:g})"
        )
    found = measured(rounded(verdict.measured, up=False, digits=5), digits=5)
    figures = f"{verdict.symbol} ≥ {found}" if not verdict.holds else f"largest found {found}"
    witness = f"; {verdict.witness}" if verdict.witness is not None else ""
    return {
        **told,
        "claim": f"{verdict.claim}{about}",
        "verdict": words,
        "witness": f"{figures}{witness}",
        "details": verdict.as_dict(),
    }


_COLOURS = {"refuted": "red", "suspect": "yellow", "could": "yellow"}


def by_verdict(row: dict[str, Any]) -> int:
    """Return the sort key that puts refuted claims first."""
    first = row["verdict"].split()[0]
    return list(_COLOURS).index(first) if first in _COLOURS else len(_COLOURS)


def _show(rows: list[dict[str, Any]]) -> None:
    refuted, suspect = (
        sum(row["verdict"].startswith(word) for row in rows) for word in ("refuted", "suspect")
    )
    held = len(rows) - refuted - suspect
    say(f"{counted(len(rows), 'claim')}: {refuted} refuted, {suspect} suspect, {held} neither.")
    for row in sorted(rows, key=by_verdict):
        verdict, _, detail = row["verdict"].partition(" (")
        name = " ".join(str(row[part]) for part in ("library", "version", "mechanism"))
        colour = _COLOURS.get(verdict.split()[0], "green")
        click.echo(f"\n{click.style(visible(verdict), fg=colour, bold=True)}  {visible(name)}")
        claim = f"  claims {row['claim']}" if row["claim"] else ""
        for words in (claim, f"  ({detail}" if detail else "", f"  {row['witness']}"):
            if words.strip():
                say(words)
