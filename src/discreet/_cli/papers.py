"""``discreet claims`` and ``discreet reproduce``: check the papers' claims and redraw their figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from discreet._cli.commands import command, option
from discreet._cli.output import console, print_table, progress, say, say_json
from discreet._cli.shared_options import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.progress import Progress

    from discreet.papers import CheckedClaim, Claim, DrawnFigure, Figure, Scope

_PATH = click.Path(path_type=Path)
_STYLES = {
    "proved by computation": "green",
    "consistent with a search": "yellow",
    "refuted": "bold red",
    "not checkable": "dim",
    "failed": "bold red",
}
_COMPARED = ("agrees", "close", "differs")


@command("claims")
@option(
    "--paper NAME",
    "Only this paper: permute-and-flip, permute-and-flip-supplement, noisy-max, opendp-proof, "
    "exponential-randomized-response, sparse-vector or discreet. May be repeated.",
    multiple=True,
)
@option(
    "--only NAME",
    "Only this claim, by its id or number, as --list shows it. May be repeated.",
    multiple=True,
)
@option("--data FOLDER", "A folder with the DPBench histograms (NAME.n4096.npy).", type=_PATH)
@option("--quick", "Use smaller ranges; takes a few seconds.")
@option("--json", "Print JSON, a list with one object per claim.", section=OUTPUT)
@option("--markdown FILE", "Write the report as Markdown.", type=_PATH, section=OUTPUT)
@option("--html FILE", "Write the report as one HTML file.", type=_PATH, section=OUTPUT)
@option("--list", "List the claims without checking.", name="list_only", section=OUTPUT)
def claims(
    *,
    paper: tuple[str, ...],
    only: tuple[str, ...],
    data: Path | None,
    quick: bool,
    json: bool,
    markdown: Path | None,
    html: Path | None,
    list_only: bool,
) -> None:
    """Check every numbered claim of the five papers; say which hold, on what range, and which do not.

    Exit status: 0 the report is complete (even if claims are refuted), 2 wrong input, 3 a check or a file
    failed.

    Example: discreet claims --paper noisy-max --html claims.html
    """
    from discreet.papers import FAILED, chosen_claims
    from discreet.papers.report import claims_html, claims_markdown
    from discreet.papers.runner import write_file

    scope = _scope(quick=quick, data=data)
    chosen = chosen_claims(papers=paper, only=only)
    if list_only:
        rows = [{"id": entry.id, "statement": entry.statement} for entry in chosen]
        _list(rows, as_json=json)
        return
    results = _checked(chosen, scope)
    if json:
        say_json([result.as_json() for result in results])
    else:
        _show_claims(results)
    for path, text in ((markdown, claims_markdown), (html, claims_html)):
        if path is not None:
            write_file(path, text(results).encode())
    if any(result.finding.verdict == FAILED for result in results):
        raise SystemExit(3)


@command("reproduce")
@option(
    "--out FOLDER",
    "The folder for the report; created if necessary.",
    type=_PATH,
    default="report",
    section=OUTPUT,
)
@option(
    "--data FOLDER",
    "A folder with the DPBench histograms (NAME.n4096.npy); without it, look-alikes, marked synthetic.",
    type=_PATH,
)
@option(
    "--only NAME",
    "Only these: fig3, pf-fig3a, err, mwem, as --list shows them. May be repeated.",
    multiple=True,
)
@option("--quick", "Use fewer points and repetitions; takes half a minute.")
@option(
    "--workers COUNT",
    "How many figures to draw at the same time; by default one per core.",
    type=click.IntRange(min=1),
)
@option("--json", "Print JSON, a list with one object per figure.", section=OUTPUT)
@option("--list", "List the figures without drawing.", name="list_only", section=OUTPUT)
def reproduce(
    *,
    out: Path,
    data: Path | None,
    only: tuple[str, ...],
    quick: bool,
    workers: int | None,
    json: bool,
    list_only: bool,
) -> None:
    """Redraw every figure of the permute-and-flip and randomized-response papers, and report differences.

    Writes index.html (opens offline), report.md, numbers.csv, and each figure as SVG, PNG and CSV. Figures
    that an earlier run finished with the same data are not redrawn. The results are not private, because the
    histograms are read without spending any budget.

    Exit status: 0 every figure is drawn (whether or not it agrees), 2 wrong input, 3 a figure or file failed.

    Example: discreet reproduce --data dpbench --out report --only fig3
    """
    from discreet.papers import chosen_figures

    scope = _scope(quick=quick, data=data)
    figures = chosen_figures(only)
    if list_only:
        rows = [{"id": each.id, "title": each.title, "needs": each.needs} for each in figures]
        _list(rows, as_json=json)
        return
    _finish(_drawn(figures, scope, out, workers), scope, out, as_json=json)


def _scope(*, quick: bool, data: Path | None) -> Scope:
    from discreet.errors import ParameterError
    from discreet.papers import Scope

    if data is not None and not data.is_dir():
        raise ParameterError(f"⟨data⟩{str(data)!r} is not allowed: it must be a folder that exists")
    return Scope(quick=quick, data=data)


def _list(rows: Sequence[Mapping[str, object]], *, as_json: bool) -> None:
    if as_json:
        say_json(rows)
        return
    for identifier, words, *_ in (row.values() for row in rows):
        say(f"{identifier}\t{words}")


def _bar() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    words = TextColumn("{task.description}")
    return progress(BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), words)


def _checked(claims: Sequence[Claim], scope: Scope) -> list[CheckedClaim]:
    from discreet.papers import check

    results: list[CheckedClaim] = []
    with _bar() as bar:
        task = bar.add_task("", total=len(claims))
        for entry in claims:
            bar.update(task, description=entry.id)
            results += check([entry], scope)
            bar.advance(task)
    return results


def _drawn(
    figures: Sequence[Figure], scope: Scope, out: Path, workers: int | None
) -> list[DrawnFigure]:
    from discreet.papers import draw

    running: list[str] = []
    with _bar() as bar:
        task = bar.add_task("", total=len(figures))

        def report(identifier: str, result: DrawnFigure | None) -> None:
            if result is None:
                running.append(identifier)
            else:
                if identifier in running:
                    running.remove(identifier)
                bar.advance(task)
            bar.update(task, description=", ".join(running))

        return draw(figures, scope, out, workers=workers, report=report)


def _finish(results: Sequence[DrawnFigure], scope: Scope, out: Path, *, as_json: bool) -> None:
    from discreet.papers import all_figures, finished
    from discreet.papers.histograms import SOURCE
    from discreet.papers.report import figures_summary, write_figures_report

    # The page shows everything in the folder, even if only a few figures were requested.
    page = {result.id: result for result in (*finished(scope, out), *results)}
    ordered = [page[name] for name in all_figures() if name in page]
    written = write_figures_report(ordered, scope, out)
    if as_json:
        say_json([result.as_json() for result in results])
    else:
        _show_figures(results)
        say(figures_summary(results))
        say(f"Report: {written[0]}")
    if any(result.synthetic for result in results):
        say(f"Synthetic data were used. {SOURCE}", err=True)
    for result in results:
        for trouble in (*result.troubles, *([result.error] if result.error else [])):
            say(f"error: {result.id}: {trouble}", err=True)
    if any(result.failed for result in results):
        raise SystemExit(3)


def _show_claims(results: Sequence[CheckedClaim]) -> None:
    """Print each claim's number, verdict and statement, and its evidence unless the claim was proved."""
    from rich.markup import escape
    from rich.padding import Padding

    from discreet.papers.report import by_paper, claims_summary

    screen = console()
    for paper, found in by_paper(results):
        screen.print(paper.title, style="bold")
        for result in found:
            verdict = result.finding.verdict
            told = f"[{_STYLES.get(verdict, '')}]{verdict}[/]"
            screen.print(f"  {escape(result.claim.number)}: {told}")
            words = [result.claim.statement]
            if verdict != "proved by computation":
                words.append(f"→ {result.finding.evidence}")
            for part in words:
                screen.print(Padding(escape(part), (0, 0, 0, 4)))
        screen.print()
    screen.print(claims_summary(results), style="bold")


def _show_figures(results: Sequence[DrawnFigure]) -> None:
    """Print the paper's numbers beside ours where both exist."""
    rows = [
        [result.id, row.quantity, row.paper, row.ours, row.verdict]
        for result in results
        for row in result.comparisons
        if row.verdict in _COMPARED
    ]
    if rows:
        print_table(("figure", "quantity", "paper", "ours", "verdict"), rows)
