"""What the study commands share: who said that data may be looked at, which mechanisms, how results print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.asking import mechanism_names
from discreet.displays import visible
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.mechanisms import Mechanism as AnyMechanism
    from discreet.scores import Scores

File = Annotated[str, typer.Argument(help="Scores: a CSV, TSV, JSON or Parquet file.")]
MaybeFile = Annotated[
    str | None,
    typer.Argument(help="Scores: a CSV, TSV, JSON or Parquet file; or leave it out and say --n."),
]
Sensitivity = Annotated[
    str | None, typer.Option(help="The most one person changes a score; 1 unless told.")
]
RangeDistance = Annotated[
    str | None, typer.Option(help="In place of --sensitivity: the most two scores move apart.")
]
Monotonic = Annotated[
    bool, typer.Option("--monotonic", help="One person moves all scores one way.")
]
CandidateColumn = Annotated[
    str | None, typer.Option(help="By default 'candidate', or the first column.")
]
ScoreColumn = Annotated[str | None, typer.Option(help="By default 'score', or the second column.")]
Optimize = Annotated[str, typer.Option(help="max, or min where small scores are good.")]
Mechanisms = Annotated[
    list[str] | None,
    typer.Option(
        "--mechanism",
        help="Only this one, e.g. exponential; may be repeated.",
        autocompletion=mechanism_names,
    ),
]
NotPrivate = Annotated[
    bool, typer.Option("--not-private", help="Say that you know: the output is not private.")
]
Public = Annotated[bool, typer.Option("--public", help="Say that the data is public.")]
Chart = Annotated[
    str | None, typer.Option(help="Draw to this file: .png, .svg or .html (offline).")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Candidates = Annotated[
    int | None, typer.Option("--n", help="In place of a file: how many candidates.")
]
Gap = Annotated[str | None, typer.Option(help="With --n: how far ahead the best is hoped to be.")]


def require_leave(not_private: bool, public: bool) -> None:
    """Nobody looks at scores by accident: one of the two flags must be given."""
    if not (not_private or public):
        raise ParameterError(
            "this reads the scores and spends no budget, so what it prints is not private: say "
            "--not-private, or --public if the data is public anyway"
        )


def scores_of(
    file: str,
    *,
    sensitivity: str | None,
    range_distance: str | None,
    monotonic: bool,
    candidate_column: str | None,
    score_column: str | None,
    not_private: bool,
    public: bool,
) -> Scores:
    """The scores in a file, once somebody said that they may be looked at."""
    from discreet.score_files import scores_from_file

    require_leave(not_private, public)
    if sensitivity is None and range_distance is None:
        sensitivity = "1"
    return scores_from_file(
        file,
        sensitivity=sensitivity,
        range_distance=range_distance,
        monotonic=monotonic,
        candidate_column=candidate_column,
        score_column=score_column,
    )


def families_of(names: Sequence[str] | None, optimize: str) -> list[AnyMechanism]:
    """The mechanisms named, or the usual ones, looking for the largest or the smallest score."""
    from discreet.analysis.family import CONTENDERS
    from discreet.mechanisms import mechanism_named

    chosen = names or [mechanism.name for mechanism in CONTENDERS]
    return [mechanism_named(name, epsilon=1, optimize=optimize) for name in chosen]


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table on stdout; numbers to the right, in four digits; as wide as it needs when not on a screen."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        number = all(isinstance(row[place], int | float) for row in rows)
        table.add_column(name, justify="right" if number else "left", no_wrap=not number)
    for row in rows:
        table.add_row(*(visible(_shown(value)) for value in row))
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=max(120, console.width))
    console.print(table)


def rounded(value: float, *, up: bool, digits: int = 4) -> float:
    """A figure in a few digits, rounded so that what is promised stays true.

    Example:
        >>> rounded(0.45872, up=True), rounded(0.45872, up=False), rounded(0.5, up=True)
        (0.4588, 0.4587, 0.5)
    """
    if not math.isfinite(value):
        return value
    from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

    # What the float means is its shortest decimal, as everywhere.
    meant = Decimal(repr(float(value)))
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return float(Context(prec=digits, rounding=rounding).plus(meant))


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def draw(chart: Any, path: str) -> None:
    """Write a chart and say where, on stderr."""
    from discreet.analysis.charts import save_chart

    typer.echo(f"chart written to {save_chart(chart, path)}", err=True)


def check_chart(path: str | None) -> None:
    """Refuse a chart's path before any work is done."""
    if path is not None:
        from discreet.analysis.charts.saving import checked_path

        checked_path(path)
