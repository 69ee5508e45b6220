"""``discreet reproduce``: the figures and numbers of the two experimental papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.papers.reproduce_init import Figure, Result, Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reproduce")(reproduce_command)


def reproduce_command(
    *,
    out: Annotated[Path, typer.Option(help="The folder for the report; made if need be.")] = Path(
        "report"
    ),
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder with the DPBench histograms (NAME.n4096.npy); without it, look-alikes, marked "
            "synthetic."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only these: fig3, pf-fig3a, err, mwem, as --list shows them. May be repeated."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points and repetitions: half a minute.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many figures at a time; by default one per core.")
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print a list, one object per figure.")
    ] = False,
    list_only: Annotated[
        bool, typer.Option("--list", help="List the figures without drawing.")
    ] = False,
) -> None:
    """Redraw every figure of the permute-and-flip and randomized-response papers, and say where they differ.

    Writes index.html (opens offline), report.md, numbers.csv, and each figure as SVG, PNG and CSV. Figures
    that an earlier run finished with the same data are not redone. Nothing here is private: the histograms
    are read without spending any budget.

    Exit status: 0 every figure is drawn (whether or not it agrees), 2 wrong input, 3 a figure or file failed.

    Example: discreet reproduce --data dpbench --out report --only fig3
    """
    from discreet.errors import ParameterError
    from discreet.papers.reproduce_init import Settings, chosen

    if data is not None and not data.is_dir():
        raise ParameterError(
            f"data={str(data)!r} is not allowed: data must be a folder that exists"
        )
    figures = chosen(only or ())
    if list_only:
        _list(figures, as_json=json)
        return
    settings = Settings(quick=quick, data=data)
    results = _run(figures, settings, out, workers)
    _finish(results, settings, out, as_json=json)


def _list(figures: Sequence[Figure], *, as_json: bool) -> None:
    if as_json:
        _print_json(
            [{"id": figure.id, "title": figure.title, "needs": figure.needs} for figure in figures]
        )
        return
    for figure in figures:
        typer.echo(f"{figure.id}\t{figure.title}")


def _run(
    figures: Sequence[Figure], settings: Settings, out: Path, workers: int | None
) -> list[Result]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from discreet.papers.reproduce_init import run

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    running: list[str] = []
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(figures))

        def report(identifier: str, result: Result | None) -> None:
            if result is None:
                running.append(identifier)
            else:
                if identifier in running:
                    running.remove(identifier)
                progress.advance(task)
            progress.update(task, description=", ".join(running))

        return run(figures, settings, out, workers=workers, report=report)


def _finish(results: Sequence[Result], settings: Settings, out: Path, *, as_json: bool) -> None:
    from discreet.papers.histograms import SOURCE
    from discreet.papers.report import summary, write_report
    from discreet.papers.reproduce_init import figures, finished

    # The page shows whatever the folder holds, also when only a few figures were asked for.
    page = {result.id: result for result in (*finished(settings, out), *results)}
    written = write_report([page[name] for name in figures() if name in page], settings, out)
    if as_json:
        _print_json([result.as_json() for result in results])
    else:
        _show(results)
        typer.echo(summary(results))
        typer.echo(f"Report: {written[0]}")
    if any(result.synthetic for result in results):
        typer.echo(f"Synthetic data were used. {SOURCE}", err=True)
    for result in results:
        for trouble in (*result.troubles, *([result.error] if result.error else [])):
            typer.echo(f"error: {result.id}: {trouble}", err=True)
    if any(result.failed for result in results):
        raise typer.Exit(3)


def _show(results: Sequence[Result]) -> None:
    """The paper's numbers beside ours, where there is something to compare."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    styles = {"agrees": "green", "close": "yellow", "differs": "bold red"}
    table = Table(show_lines=False)
    for heading in ("figure", "quantity", "paper", "ours", "verdict"):
        table.add_column(heading, no_wrap=heading in ("figure", "verdict"))
    for result in results:
        for row in result.comparisons:
            if row.verdict in styles:
                style = styles[row.verdict]
                words = [escape(part) for part in (result.id, row.quantity, row.paper, row.ours)]
                table.add_row(*words, f"[{style}]{row.verdict}[/]")
    if table.row_count:
        Console().print(table)


def _print_json(objects: list[dict[str, object]]) -> None:
    import json

    typer.echo(json.dumps(objects, ensure_ascii=False, allow_nan=False, indent=1))
