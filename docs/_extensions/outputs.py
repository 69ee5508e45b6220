"""What the commands of a page print: recorded by ``make pages``, shown below each command on the site.

As a program, this runs the commands of every page in a folder of its own and writes ``outputs.json``. As an
extension, it adds to each ``console`` block what was recorded. An answer is random: a reader's may differ.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pygments.lexers.shell import BashSessionLexer
from pygments.token import Name, Token

DOCS = Path(__file__).parent.parent
RECORD = Path(__file__).with_name("outputs.json")
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```(?:python|toml)\n# (\w+\.(?:py|toml))\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MOST_LINES = 40
_SKIPPED = ("make ", "export ", "discreet reproduce", "discreet explore", "discreet desk", "psql")


def commands(text: str) -> list[str]:
    """The commands of a page, in order."""
    lines = "".join(BLOCK.findall(text)).splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def _printed(words: list[str], folder: str, environment: dict[str, str]) -> str:
    """What a terminal of 80 columns shows, without its colours and progress bars."""
    import pty  # not on Windows, where the site is built but not recorded

    screen, end = pty.openpty()
    with subprocess.Popen(  # noqa: S603
        words, cwd=folder, env=environment, stdout=end, stderr=subprocess.PIPE, text=True
    ) as running:
        os.close(end)
        shown = b""
        with suppress(OSError):  # the terminal has no other end any more
            while part := os.read(screen, 1 << 16):
                shown += part
        os.close(screen)
        warned = running.communicate()[1]
    return warned + _COLOURS.sub("", shown.decode()).replace("\r\n", "\n")


def _run(page: Path) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        scripts = str(Path(sys.executable).parent)
        place = {"HOME": folder, "XDG_DATA_HOME": f"{folder}/data", "COLUMNS": "80"}
        environment = {**os.environ, **place, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
        environment.pop("DISCREET_LEDGER", None)
        text = page.read_text(encoding="utf-8")
        for name, written in FILE.findall(text):
            Path(folder, name).write_text(written, encoding="utf-8")
        said: dict[str, str] = {}
        seen: Counter[str] = Counter()
        for line in commands(text):
            if line.startswith("export DISCREET_LEDGER="):  # a file stands in for the server
                environment["DISCREET_LEDGER"] = f"{folder}/team.db"
            if line.startswith(_SKIPPED):
                continue
            words = shlex.split(re.sub(r"\s+# exit \d$", "", line))
            lines = _printed(words, folder, environment).replace(folder, "~").rstrip().splitlines()
            kept = lines[:_MOST_LINES] + (["…"] if len(lines) > _MOST_LINES else [])
            said[_named(line, seen)] = "\n".join(kept)
        return said


def _named(line: str, seen: Counter[str]) -> str:
    """The command's name in the record: a second run of the same command may print something else."""
    seen[line] += 1
    return line if seen[line] == 1 else f"{line}  # run {seen[line]}"


def record() -> None:
    """Run the commands of all pages, and write down what they print."""
    pages = sorted(
        page for page in DOCS.rglob("*.md") if commands(page.read_text(encoding="utf-8"))
    )
    told = {str(page.relative_to(DOCS)): _run(page) for page in pages}
    RECORD.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _show(app: Any, name: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(name)).resolve()
    if page.suffix != ".md" or DOCS not in page.parents:
        return
    said = json.loads(RECORD.read_text(encoding="utf-8")).get(str(page.relative_to(DOCS)), {})
    if said:
        app.env.note_dependency(str(RECORD))
    seen: Counter[str] = Counter()

    def shown(block: re.Match[str]) -> str:
        lines = []
        for line in block[1].splitlines():
            lines.append(line)
            if line.startswith("$ ") and (output := said.get(_named(line[2:], seen))):
                lines += [output, ""]
        return "```console\n" + "\n".join(lines).rstrip() + "\n```"

    source[0] = BLOCK.sub(shown, source[0])


class Terminal(BashSessionLexer):
    """A terminal whose options are tokens of their own, so that no line of the site ends within one."""

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """Return the tokens of a session, those of options with a kind of their own."""
        for place, kind, word in super().get_tokens_unprocessed(text):
            option = kind is Token.Text and word.startswith("-")
            yield place, Name.Attribute if option else kind, word


def setup(app: Any) -> dict[str, bool]:
    """Complete the pages as they are read."""
    app.add_lexer("console", Terminal)
    app.connect("source-read", _show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    record()
