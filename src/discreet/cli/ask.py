"""``discreet mode``, ``median``, ``quantiles`` and ``top`` ask a table; how every question is answered."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from discreet.cli import shared_options as shared
from discreet.cli.commands import Command, Decorator, argument, command, option, stack
from discreet.cli.output import as_json, deliver, opened_for_answer, progress, say
from discreet.displays import visible
from discreet.errors import DiscreetError, ParameterError

_FILE = re.compile(r"[/\\]|\.(?:txt|csv|tsv|json|jsonl|parquet)$", re.IGNORECASE)


def listed(text: str | None, *, least: int = 1) -> Any:
    """A public list written with commas, or the file that is named; fewer than ``least`` name a file."""
    if text is None or _FILE.search(text) or Path(text).is_file():
        return text
    parts = [part.strip() for part in text.split(",")]
    return parts if len(parts) >= least else text


WHAT = stack(
    argument(
        "DATA",
        "A CSV, Parquet or JSON lines file, a glob in quotes, a database's address, or desk:TABLE.",
    ),
    option("--table NAME", "With the address of a database: the table to ask."),
    option("--column COLUMN", "The column to ask about.", required=True),
    option("--epsilon NUMBER", "What the whole question costs.", required=True),
)
WHO = stack(
    option("--user COLUMN", "The column that tells people apart."),
    option("--one-row-per-user", "In place of --user: nobody has two rows."),
    option(
        "--counted COLUMN",
        "In place of --user, for a table that is counted already: how many people a row stands for.",
    ),
    shared.COUNTED,
    shared.NEIGHBOURS,
)
_CHOOSER = stack(WHO, shared.MECHANISM)
_CANDIDATES = option(
    "--candidates LIST",
    "The public candidates, with commas, or a file: one on each line, or a CSV column.",
    callback=lambda _context, _option, text: listed(text, least=2),
)
_UNKNOWN = stack(
    option(
        "--delta NUMBER",
        "Without --candidates or --groups: how likely the guarantee is to fail, at most.",
    ),
    option(
        "--considered COUNT", "Without --candidates: how many values compete at most.", default=100
    ),
)
_COUNTS = stack(
    option("--with-count", "Also a noisy count, for a part of epsilon."),
    option("--count-share NUMBER", "The part of epsilon that counts get.", default="0.25"),
)
_OTHER = option(
    "--other LABEL", "One more candidate, for every value that is not among --candidates."
)
FOUND = option(
    "--delta NUMBER", "With --by and no --groups: how likely the guarantee is to fail, at most."
)
_STEP = option("--step NUMBER", "How far apart grid points are: 5, 1d, 15min.", default="1")
READ_AS = option(
    "--read-as NAME",
    "What a text file's column spells, if not numbers: date, moment (date and time), time, span, decimal.",
)
_CANDIDATE_GRID = stack(
    option("--bounds LOWER:UPPER", "In place of --candidates: bounds of a grid, as for a median."),
    _STEP,
    READ_AS,
)


def growing(when: str = "") -> Decorator[Any]:
    """The growing grid, which needs no bounds."""
    return stack(
        option("--unit NUMBER", f"{when}How far apart grid points are near zero.", default="1"),
        option("--largest NUMBER", f"{when}The largest magnitude; 10^12 units by default."),
    )


_GRID = stack(
    option(
        "--bounds LOWER:UPPER",
        "Public bounds: 0:120, 2020-01-01:2024-12-31, 08:00/18:00. With bounds the answer is better.",
    ),
    _STEP,
    growing("Without --bounds. "),
    READ_AS,
)
_VALUES = stack(
    option(
        "--per-person NAME",
        "Which value counts for a person with several: least, largest, random or mean.",
        default="least",
    ),
    option(
        "--outside NAME",
        "Values outside the bounds: clamp (to the nearer bound) or drop.",
        default="clamp",
    ),
)
ROWS = stack(
    option("--where CONDITION", 'Only rows for which this holds, e.g. "age >= 18".'),
    option("--by COLUMN", "One answer for each group of this column: see --groups."),
    option(
        "--groups LIST",
        "With --by: the public groups, with commas, or a file; without it, with --delta, those of the data "
        "that have enough people to be named.",
        callback=lambda _context, _option, text: listed(text),
    ),
    option(
        "--groups-per-person NUMBER",
        "A person counts in at most this many groups, drawn from theirs; ε is shared. 'choose': a bound that "
        "is found privately.",
        default="1",
        callback=lambda _context, _option, text: int(text) if text.isdecimal() else text,
    ),
    option(
        "--groups-share NUMBER",
        "The part of epsilon for finding groups (0.5 by default) or choosing that bound (0.1).",
    ),
)
HOW = stack(
    option(
        "--with-people", "Also a noisy number of the people who counted, for a part of epsilon."
    ),
    option("--people-share NUMBER", "The part of epsilon that --with-people gets.", default="0.1"),
    option("--ask-password", "Ask for the database's password, where no file or variable has it."),
    option("--time-limit SECONDS", "How long a database may work; after that nothing is released."),
    option("--engine NAME", "Who reads the file: duckdb, polars, pandas or spark."),
    option("--delimiter SIGN", "What separates the fields of a CSV file, e.g. ';'."),
    option("--encoding NAME", "How a CSV file is encoded, e.g. cp1252."),
    shared.DELIVERED,
)


class Question(Command):
    """A command that asks a table in hand, or one of a desk: ``desk:visits``."""

    def run(self, ctx: click.Context) -> Any:
        """Ask here, or there."""
        if not ctx.params["data"].startswith("desk:"):
            return super().run(ctx)
        from discreet.cli.desk import ask_desk

        return ask_desk(ctx)


@command("mode", Question)
@WHAT
@_CANDIDATES
@_CANDIDATE_GRID
@_OTHER
@_CHOOSER
@_UNKNOWN
@ROWS
@_COUNTS
@option("--with-gap", "Also the noisy lead, at no cost.")
@HOW
def mode(**asked: Any) -> None:
    """The most common value of a column.

    Where no row matches, the answer is a random candidate: --with-people tells, for a part of epsilon,
    how many people counted.

    Example: discreet mode visits.parquet --dataset clinic --column diagnosis --user patient_id
    --candidates icd10.txt --epsilon 1
    """
    _require_candidates(asked)
    ask_table("mode", **asked)


@command("median", Question)
@WHAT
@_GRID
@_CHOOSER
@_VALUES
@ROWS
@FOUND
@HOW
def median(**asked: Any) -> None:
    """The median of a column, on a public grid: of numbers, decimals, dates, times or time spans.

    Where no row matches, the answer is a random grid point: --with-people tells, for a part of epsilon,
    how many people counted.

    Example: discreet median people.csv --dataset staff --column age --user person_id --bounds 0:120
    --epsilon 0.5
    """
    ask_table("median", **asked)


@command("quantiles", Question)
@WHAT
@option("--at LIST", "The levels, with commas: 0.1,0.5,0.9.", required=True)
@_GRID
@_CHOOSER
@_VALUES
@ROWS
@FOUND
@HOW
def quantiles(*, at: str, **asked: Any) -> None:
    """Several quantiles of a column at once, on a public grid: of numbers, dates, times or time spans.

    Where no row matches, the answers are random grid points: --with-people tells, for a part of epsilon,
    how many people counted.

    Example: discreet quantiles pay.parquet --dataset staff --column salary --user person_id
    --at 0.1,0.5,0.9 --bounds 0:500000 --step 1000 --epsilon 1
    """
    ask_table("quantiles", at=[level.strip() for level in at.split(",")], **asked)


@command("top", Question)
@WHAT
@option("-k --k COUNT", "How many.", required=True)
@_CANDIDATES
@_CANDIDATE_GRID
@_OTHER
@_CHOOSER
@option("--method NAME", "joint, one-shot or peeling; by default whichever is best for k.")
@option("--unordered", "Do not release the order.")
@_UNKNOWN
@ROWS
@_COUNTS
@HOW
def top(*, unordered: bool, **asked: Any) -> None:
    """The k most common values of a column.

    Where no row matches, the answers are random candidates: --with-people tells, for a part of epsilon,
    how many people counted.

    Example: discreet top visits.parquet --dataset clinic --column page --user patient_id -k 10
    --candidates pages.csv --epsilon 2
    """
    _require_candidates(asked)
    ask_table("top_k", ordered=not unordered, **asked)


def _require_candidates(asked: dict[str, Any]) -> None:
    """Somebody said which answers there are, or that a δ is paid for not saying so."""
    if all(asked[name] is None for name in ("delta", "candidates", "bounds")):
        raise ParameterError(
            "--candidates must be given, a file that lists the possible answers, or --bounds. A list made "
            "from the data would show that somebody has that value; if there is no public list, give "
            "--delta, and the answer may be that nothing is safe to say"
        )


def ask_table(
    name: str,
    *,
    data: Any,
    delimiter: str | None,
    encoding: str | None,
    ask_password: bool,
    read_as: str | None = None,
    **asked: Any,
) -> None:
    """Ask a question of ``discreet.questions``."""
    question = getattr(importlib.import_module("discreet.questions"), name)
    told = any((delimiter, encoding, read_as))  # what a file's name does not tell
    data = _opening(data, ask_password=ask_password, is_file=told)
    if told:
        from discreet.tables import TextFile

        spelled = {} if read_as is None else {asked["column"]: read_as}
        data = TextFile(data, delimiter=delimiter, encoding=encoding or "utf-8", read_as=spelled)
    answer(question, data, **asked)


def _opening(data: str, *, ask_password: bool, is_file: bool) -> str:
    """What names the table; a password among the arguments would stay in the shell's history."""
    from discreet.tables.files import is_address

    if not is_address(data):
        if ask_password:
            raise ParameterError("--ask-password goes with the address of a database")
        return data
    from discreet.tables.databases import with_password, without_password

    if is_file:
        raise ParameterError("--delimiter, --encoding and --read-as go with a text file")
    if ":" in data.partition("://")[2].rpartition("@")[0] or "password" in data:
        raise ParameterError(
            f"leave the password out of the address ({without_password(data)}): say --ask-password, or keep "
            "it in the environment (PGPASSWORD) or in the database's own file (~/.pgpass)"
        )
    if not ask_password:
        return data
    return with_password(data, click.prompt("Password", hide_input=True, err=True))


def answer(
    question: Callable[..., Any],
    *subjects: Any,
    json: bool,
    out: str | None,
    dataset: str | None,
    ledger: str | None,
    no_ledger: bool,
    keep_answer: bool,
    **options: Any,
) -> None:
    """Ask, with the ledger that was named or with none, and deliver the release."""
    from discreet.questions import NeverMatchesWarning
    from discreet.questions.frames import FILES, write_frame

    if keep_answer and no_ledger:
        raise ParameterError("--keep-answer keeps it in a ledger: leave --no-ledger out")
    as_frame = out is not None and Path(out).suffix.lower() in FILES
    with _counted(dataset, ledger, no_ledger) as counting:
        file = opened_for_answer(out)
        try:
            with _progress(), warnings.catch_warnings():
                warnings.simplefilter("always", NeverMatchesWarning)
                warnings.showwarning = lambda message, *_, **__: say(
                    f"warning: {visible(message)}", err=True
                )
                release = question(*subjects, **counting, **options)
        except KeyboardInterrupt as stopped:
            say(f"interrupted: {stopped}" if stopped.args else "interrupted", err=True)
            raise SystemExit(130) from None
        if keep_answer:
            counting["ledger"].keep(release.entry, release.as_data())
    if not as_frame or file is None:
        deliver(as_json(release.as_data(), indent=None) if json else str(release), file)
        return
    file.close()
    try:
        write_frame(release, file.name)
        lost = None
    except Exception:  # whatever it is, the answer is paid for and must be printed
        lost = DiscreetError(f"the answer could not be written to {file.name}: it was printed only")
    deliver(as_json(release.as_data(), indent=None) if json else str(release), None)
    if lost is not None:
        raise lost


@contextmanager
def _counted(dataset: str | None, ledger: str | None, no_ledger: bool) -> Iterator[dict[str, Any]]:
    """The ledger and the data set's name, as arguments of a question."""
    if no_ledger and (dataset is not None or ledger is not None):
        raise ParameterError(
            "--no-ledger says that nobody counts: leave --dataset and --ledger out"
        )
    if no_ledger:
        yield {}
        return
    if dataset is None:
        raise ParameterError("say who counts: --dataset NAME in the budget ledger, or --no-ledger")
    from discreet.ledger import Ledger

    with Ledger.open(ledger, create=False) as opened:
        yield {"ledger": opened, "dataset": dataset}


@contextmanager
def _progress() -> Iterator[None]:
    """A spinner with a clock while the engine works, and a bar over the groups once it has counted."""
    if not sys.stderr.isatty():  # and nothing of Rich is imported
        yield
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

    from discreet.questions.context import WATCH

    words = TextColumn("{task.description}")
    with progress(SpinnerColumn(), words, BarColumn(), TimeElapsedColumn()) as shown:
        task = shown.add_task("asking the table", total=None)

        def watched(groups: Iterable[Any], number: int) -> Iterator[Any]:
            shown.update(task, description="choosing in each group", total=number)
            for group in groups:
                yield group
                shown.advance(task)

        token = WATCH.set(watched)
        try:
            yield
        finally:
            WATCH.reset(token)
