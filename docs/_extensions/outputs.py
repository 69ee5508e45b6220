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
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent
RECORD = Path(__file__).with_name("outputs.json")
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MOST_LINES = 24
_SKIPPED = ("make ", "export ", "discreet reproduce", "discreet explore", "discreet desk", "psql")


def commands(text: str) -> list[str]:
    """The commands of a page, in order."""
    lines = "".join(BLOCK.findall(text)).splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def _run(page: Path) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        scripts = str(Path(sys.executable).parent)
        place = {"HOME": folder, "XDG_DATA_HOME": f"{folder}/data", "COLUMNS": "80"}
        environment = {**os.environ, **place, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
        environment.pop("DISCREET_LEDGER", None)
        text = page.read_text(encoding="utf-8")
        for name, program in re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", text, re.M | re.S):
            Path(folder, name).write_text(program, encoding="utf-8")
        said = {}
        for line in commands(text):
            if line.startswith(_SKIPPED):
                continue
            done = subprocess.run(  # noqa: S603
                shlex.split(re.sub(r"\s+# exit \d$", "", line)),
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            lines = done.stdout.replace(folder, "~").rstrip().splitlines()
            kept = lines[:_MOST_LINES] + (["…"] if len(lines) > _MOST_LINES else [])
            said[line] = "\n".join(kept)
        return said


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

    def shown(block: re.Match[str]) -> str:
        lines = []
        for line in block[1].splitlines():
            lines.append(line)
            output = said.get(line.removeprefix("$ "))
            if line.startswith("$ ") and output:
                lines += [output, ""]
        return "```console\n" + "\n".join(lines).rstrip() + "\n```"

    source[0] = BLOCK.sub(shown, source[0])


def setup(app: Any) -> dict[str, bool]:
    """Complete the pages as they are read."""
    app.connect("source-read", _show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    record()
