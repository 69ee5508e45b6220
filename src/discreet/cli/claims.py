"""``discreet claims``: every numbered claim of the papers, checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.papers import Claim, Result, Settings

_STYLES = {
    "proved by computation": "green",
    "consistent with a search": "yellow",
    "refuted": "bold red",
    "not checkable": "dim",
    "failed": "bold red",
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("claims")(claims_command)


def claims_command(
    *,
    paper: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this paper: permute-and-flip, permute-and-flip-supplement, noisy-max, opendp-proof, "
            "exponential-randomized-response or discreet. May be repeated."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this claim, by its id or number, as --list shows it. May be repeated."
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="A folder with the DPBench histograms (NAME.n4096.npy).")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller ranges, a few seconds.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print a list, one object per claim.")
    ] = False,
    markdown: Annotated[Path | None, typer.Option(help="Write the report as Markdown.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as one HTML file.")] = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="List the claims without checking.")
    ] = False,
) -> None:
    """Check every numbered claim of the five papers, and say which hold, on what range, and which do not.

    Exit status: 0 the report is complete (refuted claims and all), 2 wrong input, 3 a check or a file
    failed.

    Example: discreet claims --paper noisy-max --html claims.html
    """
    from discreet.errors import ParameterError
    from discreet.papers import FAILED, Settings, chosen

    if data is not None and not data.is_dir():
        raise ParameterError(
            f"data={str(data)!r} is not allowed: data must be a folder that exists"
        )
    claims = chosen(papers=paper or (), only=only or ())
    if list_only:
        _list(claims, as_json=json)
        return
    results = _run(claims, Settings(quick=quick, data=data))
    if json:
        _print_json([result.as_json() for result in results])
    else:
        _show(results)
    _write(results, markdown=markdown, html=html)
    if any(result.finding.verdict == FAILED for result in results):
        raise typer.Exit(3)


def _print_json(objects: list[dict[str, object]]) -> None:
    import json

    typer.echo(json.dumps(objects, ensure_ascii=False, allow_nan=False, indent=1))


def _list(claims: Sequence[Claim], *, as_json: bool) -> None:
    if as_json:
        _print_json([{"id": entry.id, "statement": entry.statement} for entry in claims])
        return
    for entry in claims:
        typer.echo(f"{entry.id}\t{entry.statement}")


def _run(claims: Sequence[Claim], settings: Settings) -> list[Result]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from discreet.papers import run

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    results = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(claims))
        for entry in claims:
            progress.update(task, description=entry.id)
            results += list(run([entry], settings))
            progress.advance(task)
    return results


def _show(results: Sequence[Result]) -> None:
    from rich.console import Console
    from rich.table import Table

    from discreet.papers import PAPERS
    from discreet.papers.claims_report import summary

    console = Console()
    for paper in PAPERS.values():
        found = [result for result in results if result.claim.paper == paper.key]
        if not found:
            continue
        table = Table(title=paper.title, title_justify="left", show_lines=False, expand=False)
        table.add_column("claim", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        table.add_column("statement and evidence", ratio=1)
        for result in found:
            verdict = result.finding.verdict
            style = _STYLES.get(verdict, "")
            words = result.claim.statement
            if verdict != "proved by computation":
                words += f"\n→ {result.finding.evidence}"
            table.add_row(result.claim.number, f"[{style}]{verdict}[/]", _plain(words))
        console.print(table)
    console.print(summary(results), style="bold", highlight=False)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _write(results: Sequence[Result], *, markdown: Path | None, html: Path | None) -> None:
    from discreet.errors import DiscreetError
    from discreet.papers import claims_report as report

    for path, make in ((markdown, report.markdown), (html, report.html)):
        if path is None:
            continue
        try:
            path.write_text(make(results), encoding="utf-8")
        except OSError as error:
            raise DiscreetError(f"{path} could not be written: {error.strerror}") from None
