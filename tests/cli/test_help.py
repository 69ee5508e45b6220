"""The help of every command is complete and quick; the manual page says the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from discreet.cli import app, main
from discreet.cli.man_page import manual
from discreet.errors import DiscreetError, ParameterError


def _leaves(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    children = getattr(command, "commands", {})
    for name, child in children.items():
        yield from _leaves((*path, name), child)
    if not children:
        yield path, command


LEAVES = list(_leaves((), typer.main.get_command(app)))


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=[" ".join(path) for path, _ in LEAVES])
def test_every_command_explains_itself(path: tuple[str, ...], command: Any) -> None:
    assert f"Example: discreet {' '.join(path)}" in " ".join(command.help.split())
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"{path}: {parameter.name} has no help"


def test_the_manual_page_has_every_command() -> None:
    page = manual(app)
    for path, _ in LEAVES:
        assert f".SS discreet {' '.join(path)}".replace("-", r"\-") in page
    assert not any(line.startswith("'") for line in page.splitlines())


def test_help_does_not_wait_for_numpy() -> None:
    script = (
        "import sys\nfrom discreet.cli import app\n"
        "assert not {'numpy', 'sqlalchemy', 'altair', 'duckdb', 'narwhals'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("error", "status"),
    [(ParameterError("epsilon=0"), 2), (DiscreetError("locked"), 3), (KeyError("412"), 3)],
)
def test_errors_are_one_line_and_a_status(
    error: Exception, status: int, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("discreet.cli.app", fail)
    monkeypatch.delenv("DISCREET_DEBUG", raising=False)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == status
    shown = capsys.readouterr().err
    assert shown.startswith("error: ")
    assert len(shown.splitlines()) == 1
    assert "412" not in shown
