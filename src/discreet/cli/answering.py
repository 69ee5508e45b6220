"""Ask a question: who counts, progress on stderr, and the release on stdout."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from discreet.cli.output import as_json, deliver, opened_for_answer, progress, say
from discreet.displays import visible
from discreet.errors import ParameterError


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

    with _counted(dataset, ledger, no_ledger) as counting:
        file = opened_for_answer(out)
        try:
            with _progress(), warnings.catch_warnings():
                warnings.simplefilter("always", NeverMatchesWarning)
                warnings.showwarning = _warn
                release = question(*subjects, **counting, **options)
        except KeyboardInterrupt as stopped:
            say(f"interrupted: {stopped}" if stopped.args else "interrupted", err=True)
            raise SystemExit(130) from None
    deliver(as_json(release.as_data(), indent=None) if json else str(release), file)


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning in one line on stderr."""
    say(f"warning: {visible(message)}", err=True)


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


def _progress() -> Any:
    """A spinner with a clock while the engine works."""
    if not sys.stderr.isatty():  # and nothing of Rich is imported
        return nullcontext()
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    shown = progress(SpinnerColumn(), TextColumn("asking the table"), TimeElapsedColumn())
    shown.add_task("asking", total=None)
    return shown
