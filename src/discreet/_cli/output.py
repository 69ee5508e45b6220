"""Printing for all commands. No control sequence reaches the terminal, and no answer is lost."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from discreet._displays import transcribed, visible
from discreet.errors import DiscreetError, ParameterError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


def prepare_streams() -> None:
    """Make stdout and stderr safe for any encoding and for closed pipes: ``discreet claims | head``.

    Symbols that the terminal's encoding lacks are spelled out (ε: epsilon); other characters are escaped.
    If the reader of a pipe is gone, output is dropped and the exit status stays the same.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        if stream is not None and not isinstance(stream, _Piped):
            setattr(sys, name, _Piped(stream))


class _Piped:
    """A stream whose reader may stop early, and whose encoding may lack our symbols."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write text, or drop it if the reader is gone.

        Bytes are refused; otherwise Click would treat this stream as binary.
        """
        with self._tolerant():
            self.stream.write(transcribed(text, self.stream.encoding))
        return len(text)

    def flush(self) -> None:
        """Flush, or drop the output if the reader is gone."""
        with self._tolerant():
            self.stream.flush()

    @contextlib.contextmanager
    def _tolerant(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            _silence(self.stream)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # through it, Click would send UTF-8 to an ASCII terminal
            raise AttributeError(name)
        return getattr(self.stream, name)


def bare_stdout() -> None:
    """Restore the original stdout, for a protocol that writes bytes to it."""
    sys.stdout = getattr(sys.stdout, "stream", sys.stdout)


def say(words: object, *, holding: str = "", err: bool = False) -> None:
    """Print lines, wrapped between words. Control characters from data or a ledger are made harmless.

    ``holding`` is text that must stay exact, such as an answer: if spelling out symbols would change it, the
    symbols that the encoding lacks are escaped instead.
    """
    text = visible(words, keep="\n\t")
    screen, encoding = screen_width(err=err), _encoding(err=err)
    if transcribed(holding, encoding) != holding:
        text = text.encode(encoding or "utf-8", "backslashreplace").decode(encoding or "utf-8")
    if screen is not None:
        text = transcribed(text, encoding)
        lines = (broken(line.expandtabs(), screen) for line in text.split("\n"))
        text = "\n".join(lines)
    click.echo(text, err=err)


def as_json(data: Any, *, indent: int | None = 2) -> str:
    """Return JSON in ASCII; infinity becomes text, and NaN is an error."""
    try:
        text = json.dumps(data, allow_nan=False, indent=indent)
    except (TypeError, ValueError):  # data with NumPy numbers, an infinity or NaN
        from discreet._exact.numbers.printing import jsonable

        text = json.dumps(jsonable(data), allow_nan=False, indent=indent)
    # The delete character is ASCII, and JSON does not escape it.
    return text.replace("\x7f", "\\u007f")


def say_json(data: Any) -> None:
    """Print JSON on stdout."""
    click.echo(as_json(data))


def say_either(words: object, data: Any, *, json: bool) -> None:
    """Print text; with ``json``, print the same content as JSON instead."""
    if json:
        say_json(data)
    else:
        say(words)


def progress(*columns: Any) -> Progress:
    """Return a Rich progress bar on stderr; it is shown only on a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


def screen_width(*, err: bool = False) -> int | None:
    """Return the terminal width of stdout or stderr; None for a pipe, a file or no stream."""
    stream = sys.stderr if err else sys.stdout
    if stream is None or not stream.isatty():
        return None
    return shutil.get_terminal_size().columns


def _encoding(*, err: bool = False) -> str | None:
    return getattr(sys.stderr if err else sys.stdout, "encoding", None)


def console() -> Console:
    """Return a Rich console on stdout that spells out symbols the encoding lacks."""
    from rich.console import Console
    from rich.text import Text

    class Transcribing(Console):
        def render_str(self, text: str, **settings: Any) -> Text:
            return super().render_str(transcribed(text, _encoding()), **settings)

    return Transcribing(highlight=False)


def broken(line: str, screen: int, *, indent: str | None = None) -> str:
    """Break a line between words to fit the screen; by default keep its indentation."""
    if line.isascii() and len(line) <= screen:  # saves the import of Rich
        return line
    from rich.cells import cell_len

    if cell_len(line) <= screen:
        return line
    start = line[: len(line) - len(line.lstrip())]
    indent = start if indent is None else indent
    first, *words = line.lstrip().split(" ")
    lines = [start + first]
    for word in words:
        if cell_len(f"{lines[-1]} {word}") > screen:
            lines.append(indent + word)
        else:
            lines[-1] += f" {word}"
    return "\n".join(lines)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table with columns of numbers right-aligned and floats rounded to four significant digits.

    Words and numbers are never broken. If the table is wider than the terminal, each row becomes a block of
    lines ``name: value``. If stdout is not a terminal, the table is as wide as it needs to be.
    """
    from rich.cells import cell_len

    columns = [transcribed(name, _encoding()) for name in columns]
    cells = [[transcribed(visible(_shown(value)), _encoding()) for value in row] for row in rows]
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
    """Return one row of a table as lines ``name: value``."""
    lines = (f"{name}: {cell}" for name, cell in zip(columns, cells, strict=True))
    return "\n".join(broken(line, screen, indent=_GAP) for line in lines)


def say_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    data: Any,
    *,
    json: bool,
    before: str = "",
    after: str = "",
) -> None:
    """Print a table with text before and after it; with ``json``, print the data instead."""
    if json:
        say_json(data)
        return
    if before:
        say(before)
    print_table(columns, rows)
    if after:
        say(after)


def check_chart(path: str | None) -> None:
    """Check a chart's path before any work is done."""
    if path is not None:
        from discreet.analysis.charts.style import checked_path

        checked_path(path)


def draw(chart: Any, path: str) -> None:
    """Write a chart and print its path on stderr."""
    from discreet.analysis.charts import save_chart

    say(f"chart written to {save_chart(chart, path)}", err=True)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def opened_for_answer(path: str | None) -> TextIO | None:
    """Open the file for an answer before anything is spent; return None if there is no path."""
    if path is None:
        return None
    try:
        return Path(path).open("w", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        problem = ParameterError(f"--out {path!r} cannot be written: {error.strerror}")
    raise problem


def deliver(answer: str, file: TextIO | None, *, printed: str | None = None) -> None:
    """Write a paid answer to the file, if any, and print it; the answer is never lost.

    ``printed`` is the text to print, if it differs from the answer. If printing fails (a closed pipe, a full
    disk), the answer is stored in a file that only its owner can read, and the error names the file.
    """
    kept = None
    if file is not None and _written(answer, file):
        kept = file.name
        file.close()
    stdout = getattr(sys.stdout, "stream", sys.stdout)
    if _written(answer if printed is None else printed, stdout):
        if file is not None and kept is None:
            raise DiscreetError(
                f"the answer could not be written to {file.name}: it was only printed"
            )
        return
    _silence(stdout)
    kept = kept or _kept(answer)
    if kept is None:
        say(answer, err=True)
        raise DiscreetError("the answer could not be printed to stdout: it is shown above")
    raise DiscreetError(f"the answer could not be printed: it is in {kept}")


def _written(answer: str, stream: TextIO | None) -> bool:
    if stream is None:  # None means a closed descriptor
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
    """Redirect a stream to the null device; otherwise Python would flush it at exit and raise again."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())  # type: ignore[union-attr]  # None is suppressed above
        os.close(null)
