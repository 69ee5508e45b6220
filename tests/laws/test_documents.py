"""Every command in the README and the documentation runs as pasted.

Commands from the README, and commands that end in an error, run as programs, as in a terminal. The others run
in this process, which saves time for imports.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from discreet._cli import app
from tests.tools.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```(?:python|toml)\n# (\w+\.(?:py|toml))\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXIT = re.compile(r"\s+# exit (\d)$")
STEADY = re.compile(r"^(?:  accuracy|  privacy|error): .*$", re.MULTILINE)
"""The lines of a command's output that are the same every time; its answer is drawn at random."""
RECORDED = json.loads((ROOT / "docs/_extensions/outputs.json").read_text(encoding="utf-8"))
SERVER = re.compile(r"^export DISCREET_LEDGER=postgresql://\S+$")


def _commands(page: Path) -> list[str]:
    lines = "".join(BLOCK.findall(page.read_text(encoding="utf-8"))).splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if _commands(page)], ids=lambda page: page.name
)
def test_commands_run_as_pasted(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the address of the database server differs, because the tests start their own."""
    scripts = str(Path(sys.executable).parent)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", os.pathsep.join([scripts, os.environ["PATH"]]))
    monkeypatch.setattr(sys, "path", [*sys.path])  # an audit adds the folder of the audited file
    monkeypatch.chdir(tmp_path)
    for name, program in FILE.findall(page.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(program, encoding="utf-8")
    for line in _commands(page):
        if SERVER.match(line):
            monkeypatch.setenv("DISCREET_LEDGER", request.getfixturevalue("postgres"))
            continue
        wanted = EXIT.search(line)
        words = shlex.split(EXIT.sub("", line))
        if words[0] == "discreet" and wanted is None and page.name != "README.md":
            ended = CliRunner().invoke(app, words[1:])
            status, said = ended.exit_code, ended.output
        else:
            done = subprocess.run(
                words,
                # `make` belongs to the checkout; everything else to a user's folder.
                cwd=ROOT if words[0] == "make" else tmp_path,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            status, said = done.returncode, done.stderr
        assert status == int(wanted[1] if wanted else 0), f"{line}\n{said[-2000:]}"
        recorded = RECORDED.get(page.relative_to(ROOT).as_posix().removeprefix("docs/"), {})
        shown = " ".join(recorded.get(line, said).split())
        missing = [each for each in STEADY.findall(said) if " ".join(each.split()) not in shown]
        assert not missing, f"{line}: the site shows other words; run `make pages`: {missing}"


def test_pages_can_be_read_in_any_order_with_the_same_ledger() -> None:
    """No two pages create the same budget, and a page pays from the budgets that it creates."""
    made: list[str] = []
    for page in PAGES:
        lines = [line for line in _commands(page) if line.startswith("discreet ")]
        own = [name for line in lines for name in re.findall(r"budget create (\S+)", line)]
        paying = {name for line in lines for name in re.findall(r"--dataset ([^\s/]+)", line)}
        assert paying <= {*own}, page
        made += own
    assert len(made) == len({*made}) > 5, sorted(made)


def test_make_shows_what_it_can_do() -> None:
    help_text = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for target in ("demo", "test", "docs", "bench", "bench-large"):
        assert f"make {target}" in help_text


def test_lemmas_of_the_sampler_have_numbers_of_their_own() -> None:
    """Code cites lemmas by number, on two pages with continuous numbering."""
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
