"""``discreet study``: plan, sign and run many questions under one budget."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from discreet._cli import shared_options as shared
from discreet._cli.commands import Group, argument, command, option, stack
from discreet._cli.output import (
    check_chart,
    draw,
    progress,
    say,
    say_json,
    say_table,
)

if TYPE_CHECKING:
    from discreet.ledger import Ledger
    from discreet.study import Study
    from discreet.study.running import Watch

_FILE = argument("FILE", "The study's file, such as study.toml.", name="path")
_COUNTED = stack(
    option("--for NAME", "The analyst whose part of the budget pays.", name="part"),
    option(
        "--ledger ADDRESS",
        "A path, sqlite:///path or postgresql://...; default: $DISCREET_LEDGER, or your own.",
    ),
)


@command("plan")
@_FILE
@_COUNTED
@shared.CHART
@shared.JSON
def plan(path: str, *, part: str | None, ledger: str | None, chart: str | None, json: bool) -> None:
    """Show the cost and the accuracy of a study, question by question.

    Spends nothing. The last line is the hash to sign. It covers the questions with their ε and public lists.

    Example: discreet study plan study.toml
    """
    check_chart(chart)
    study = _read(path)
    with _opened(study, ledger) as opened:
        planned = study.plan(ledger=opened, part=part)
    say_table(
        planned.columns,
        planned.rows,
        planned.as_data(),
        json=json,
        before=f"{study.title}\n",
        after="\n".join(
            [
                "",
                planned.conclusion,
                *(f"warning: {doubt}" for doubt in planned.doubts),
                f"hash {planned.hash}",
            ]
        ),
    )
    if chart is not None:
        draw(planned.chart(), chart)


@command("run")
@_FILE
@_COUNTED
@option("--signed HASH", "The signed hash; a plan with a different hash is refused.")
@option("--out FOLDER", "Write plan, answers (JSON, CSV, Parquet) and report into this folder.")
@shared.JSON
def run(
    path: str,
    *,
    part: str | None,
    ledger: str | None,
    signed: str | None,
    out: str | None,
    json: bool,
) -> None:
    """Pay for a study and ask its questions. An interrupted run can be resumed and pays nothing twice.

    Every answer is stored in the ledger before it is shown.

    Example: discreet study run study.toml --signed "$(cat study.hash)" --out answers
    """
    study = _read(path)
    with _opened(study, ledger) as opened, _progress() as watch:
        answers = study.run(ledger=opened, part=part, signed=signed, watch=watch)
    if out is not None:
        for file in answers.write(out):
            say(f"written: {file}", err=True)
    if json:
        say_json(answers.as_data())
        return
    say(repr(answers), holding=repr(answers))
    say(f"{answers.conclusion}\nplan {answers.plan.hash}", err=True)


def _read(path: str) -> Study:
    from discreet.study import Study

    return Study.read(path)


@contextmanager
def _opened(study: Study, ledger: str | None) -> Iterator[Ledger | None]:
    if study.at_a_desk:
        yield None
        return
    from discreet.ledger import Ledger

    with Ledger.open(ledger, create=False) as opened:
        yield opened


@contextmanager
def _progress() -> Iterator[Watch]:
    if not sys.stderr.isatty():
        yield lambda _asking, _done, _all: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    with progress(*columns, TimeElapsedColumn()) as shown:
        task = shown.add_task("", total=None)
        yield lambda asking, done, number: shown.update(
            task, description=asking, completed=done, total=number
        )


study = Group("study", help="A whole study: planned, signed, run, written up.")
for _each in (plan, run):
    study.add_command(_each)
