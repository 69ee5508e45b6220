"""What the asking commands share: who counts, progress on stderr, and the release on stdout."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import typer

from discreet.cli.output import as_json, deliver, opened_for_answer, say
from discreet.displays import visible
from discreet.errors import ParameterError

_FILE = re.compile(r"[/\\]|\.(?:txt|csv|tsv|json|jsonl|parquet)$", re.IGNORECASE)


def answer(
    question: Callable[..., Any],
    *subjects: Any,
    json: bool,
    out: str | None,
    dataset: str | None,
    ledger: str | None,
    no_ledger: bool,
    **options: Any,
) -> None:
    """Ask, with the ledger that was named or with none, and deliver the release."""
    from discreet.questions import NeverMatchesWarning

    with counted(dataset, ledger, no_ledger) as counting:
        file = opened_for_answer(out)
        try:
            with _progress(), warnings.catch_warnings():
                warnings.simplefilter("always", NeverMatchesWarning)
                warnings.showwarning = _warn
                release = question(*subjects, **counting, **options)
        except KeyboardInterrupt as stopped:
            say(f"interrupted: {stopped}" if stopped.args else "interrupted", err=True)
            raise typer.Exit(130) from None
    deliver(as_json(release.as_data(), indent=None) if json else str(release), file)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning in one line on stderr."""
    say(f"warning: {visible(message)}", err=True)


@contextmanager
def counted(dataset: str | None, ledger: str | None, no_ledger: bool) -> Iterator[dict[str, Any]]:
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


def require_candidates(delta: str | None, *public: str | None) -> None:
    """Somebody said which answers are possible, or that a δ is paid for not saying so."""
    if delta is None and all(part is None for part in public):
        raise ParameterError(
            "--candidates must be given: a file that lists the possible answers. A list made from the "
            "data would show that somebody has that value; if there is no public list, give --delta, "
            "and the answer may be that nothing is safe to say"
        )


def listed(text: str | None, *, least: int = 1) -> Any:
    """A public list written with commas, or the file that is named; fewer than ``least`` name a file."""
    if text is None or _FILE.search(text) or Path(text).is_file():
        return text
    parts = [part.strip() for part in text.split(",")]
    return parts if len(parts) >= least else text


def table_file(path: str, delimiter: str | None, encoding: str | None) -> Any:
    """The path, with what its name does not tell."""
    if delimiter is None and encoding is None:
        return path
    from discreet.tables import TextFile

    return TextFile(path, delimiter=delimiter, encoding=encoding or "utf-8")


def mechanism_names(incomplete: str) -> list[str]:
    """The registered mechanisms, for a shell that completes."""
    from discreet.mechanisms import MECHANISMS

    return [name for name in MECHANISMS if name.startswith(incomplete)]


def _progress() -> Any:
    """A spinner with a clock while the engine works; only for a person who looks at stderr."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("asking the table"), TimeElapsedColumn()
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task("asking", total=None)
    return progress
