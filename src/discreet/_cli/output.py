"""How every command prints: nothing that a terminal would obey, and no answer lost on the way."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from discreet._displays import visible
from discreet.errors import DiscreetError, ParameterError

if TYPE_CHECKING:
    from rich.progress import Progress


def prepare_streams() -> None:
    """Let no character fail, and no reader that has enough: ``discreet claims | head``.

    What the terminal's encoding lacks is written as its escape. What nobody reads any more is dropped, and
    the command's exit status stays its own.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        if stream is not None and not isinstance(stream, _Piped):
            setattr(sys, name, _Piped(stream))


class _Piped:
    """A stream whose reader may leave before the end."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write, or drop what nobody reads."""
        with self._tolerant():
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, or drop what nobody reads."""
        with self._tolerant():
            self.stream.flush()

    @contextlib.contextmanager
    def _tolerant(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            _silence(self.stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def say(words: object, *, err: bool = False) -> None:
    """Print lines; whatever came from data or a ledger cannot steer the terminal."""
    click.echo(visible(words, keep="\n\t"), err=err)


def as_json(data: Any, *, indent: int | None = 2) -> str:
    """JSON in ASCII; infinity becomes text, and what is not a number is an error."""
    from discreet._exact.numbers.printing import jsonable

    # A delete character is ASCII, and JSON leaves it as it is.
    return json.dumps(jsonable(data), allow_nan=False, indent=indent).replace("\x7f", "\\u007f")


def say_json(data: Any) -> None:
    """JSON on stdout."""
    click.echo(as_json(data))


def say_either(words: object, data: Any, *, json: bool) -> None:
    """Words for people, or the same as JSON for programs."""
    if json:
        say_json(data)
    else:
        say(words)


def progress(*columns: Any) -> Progress:
    """Columns of Rich on stderr while something runs; only for a person who looks there."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


def screen_width() -> int | None:
    """How wide the terminal is that shows stdout; None for a pipe, a file or no stdout at all."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table on stdout; numbers to the right, in four digits. No line is broken inside a word or a number.

    Where it is wider than the terminal, each row is a block of lines ``name: value``; where stdout is not a
    terminal, it is as wide as it needs.
    """
    from rich.cells import cell_len

    cells = [[visible(_shown(value)) for value in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    screen = screen_width()
    if screen is not None and sum(widths) + len(_GAP) * (len(widths) - 1) > screen:
        click.echo("\n\n".join(_block(columns, row, screen) for row in cells))
        return
    numbers = [
        all(isinstance(row[place], int | float) for row in rows) for place in range(len(widths))
    ]

    def aligned(row: Sequence[str]) -> str:
        parts = []
        for cell, width, number in zip(row, widths, numbers, strict=True):
            space = " " * (width - cell_len(cell))
            parts.append(space + cell if number else cell + space)
        return _GAP.join(parts).rstrip()

    click.echo("\n".join([click.style(aligned(columns), bold=True), *map(aligned, cells)]))


_GAP = "  "


def _block(columns: Sequence[str], cells: Sequence[str], screen: int) -> str:
    """One row of a table as lines ``name: value``, broken between words where the screen ends."""
    from rich.cells import cell_len

    lines = []
    for name, cell in zip(columns, cells, strict=True):
        line, *words = f"{name}: {cell}".split(" ")
        for word in words:
            if cell_len(f"{line} {word}") > screen:
                lines.append(line)
                line = _GAP + word
            else:
                line = f"{line} {word}"
        lines.append(line)
    return "\n".join(lines)


def say_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    data: Any,
    *,
    json: bool,
    before: str = "",
    after: str = "",
) -> None:
    """A table for people, with words before and after it, or data as JSON for programs."""
    if json:
        say_json(data)
        return
    if before:
        say(before)
    print_table(columns, rows)
    if after:
        say(after)


def check_chart(path: str | None) -> None:
    """Refuse a chart's path before any work is done."""
    if path is not None:
        from discreet.analysis.charts.style import checked_path

        checked_path(path)


def draw(chart: Any, path: str) -> None:
    """Write a chart and say where, on stderr."""
    from discreet.analysis.charts import save_chart

    say(f"chart written to {save_chart(chart, path)}", err=True)


def wrapped(words: str) -> str:
    """Words broken between words where the screen ends; as they are when not on a screen."""
    screen = screen_width()
    return words if screen is None else click.wrap_text(words, width=screen)


def in_short(words: str, *, up: bool) -> str:
    """Words whose long figures are cut to four digits: a cost rounded up, what one may use rounded down.

    Example:
        >>> in_short("ρ = 0.175749908689, δ = 5e-7", up=False)
        'ρ = 0.1757, δ = 5e-7'
    """
    from fractions import Fraction

    from discreet._exact.numbers.printing import figure

    return re.sub(r"\d+\.\d{4,}(e-?\d+)?", lambda found: figure(Fraction(found[0]), up=up), words)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def opened_for_answer(path: str | None) -> TextIO | None:
    """The file for an answer, opened before anything is spent; None if none was named."""
    if path is None:
        return None
    try:
        return Path(path).open("w", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        problem = ParameterError(f"--out {path!r} cannot be written: {error.strerror}")
    raise problem


def deliver(answer: str, file: TextIO | None) -> None:
    """Write a paid answer to the file, if there is one, and print it; it is never lost.

    Where printing fails (a closed pipe, a full disk), the answer is kept in a file that only its owner
    can read, and the error says where.
    """
    kept = None
    if file is not None and _written(answer, file):
        kept = file.name
        file.close()
    stdout = getattr(sys.stdout, "stream", sys.stdout)
    if _written(answer, stdout):
        if file is not None and kept is None:
            raise DiscreetError(
                f"the answer could not be written to {file.name}: it was printed only"
            )
        return
    _silence(stdout)
    kept = kept or _kept(answer)
    if kept is None:
        say(answer, err=True)
        raise DiscreetError("the answer could not be printed where it belongs: it stands above")
    raise DiscreetError(f"the answer could not be printed: it is in {kept}")


def _written(answer: str, stream: TextIO | None) -> bool:
    if stream is None:  # the interpreter's word for a closed descriptor
        return False
    try:
        stream.write(answer + "\n")
        stream.flush()
    except (OSError, ValueError):  # a closed stream raises ValueError
        return False
    return True


def _kept(answer: str) -> str | None:
    for folder in (tempfile.gettempdir(), Path.home(), Path.cwd()):
        try:
            number, name = tempfile.mkstemp(prefix="discreet-answer-", suffix=".txt", dir=folder)
            with open(number, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(answer + "\n")
        except OSError:
            continue
        return name
    return None


def _silence(stream: TextIO | None) -> None:
    """The interpreter flushes a stream once more when it ends, and would complain again."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())  # type: ignore[union-attr]  # None is suppressed above
        os.close(null)
