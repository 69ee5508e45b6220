"""Every command in the README and the documentation runs, as pasted."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```(?:python|toml)\n# (\w+\.(?:py|toml))\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit (\d)$")
SERVER = re.compile(r"^export DISCREET_LEDGER=postgresql://\S+$")


def _commands(page: Path) -> list[str]:
    lines = "".join(BLOCK.findall(page.read_text(encoding="utf-8"))).splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if _commands(page)], ids=lambda page: page.name
)
def test_commands_run_as_pasted(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """As pasted, but for the address of a database server: there the tests start their own."""
    scripts = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PATH": os.pathsep.join([scripts, os.environ["PATH"]]),
    }
    for name, program in FILE.findall(page.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(program, encoding="utf-8")
    for line in _commands(page):
        if SERVER.match(line):
            environment["DISCREET_LEDGER"] = request.getfixturevalue("postgres")
            continue
        wanted = EXIT.search(line)
        words = shlex.split(EXIT.sub("", line))
        done = subprocess.run(
            words,
            # `make` belongs to the checkout; everything else to a user's folder.
            cwd=ROOT if words[0] == "make" else tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == int(wanted[1] if wanted else 0), f"{line}\n{done.stderr[-2000:]}"


def test_make_shows_what_it_can_do() -> None:
    help_text = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for target in ("demo", "test", "docs", "bench", "bench-large"):
        assert f"make {target}" in help_text


def test_lemmas_of_the_sampler_have_numbers_of_their_own() -> None:
    """Code cites lemmas by number, on two pages that count on."""
    pages = [ROOT / "docs" / "proofs" / name for name in ("sampling.md", "many-rows.md")]
    numbers = [
        number
        for page in pages
        for number in re.findall(
            r"^\*\*((?:Lemma|Theorem) \w+)\*\*", page.read_text(), re.MULTILINE
        )
    ]
    assert len(numbers) > 20
    assert len(set(numbers)) == len(numbers)
