"""The help of every command is complete and quick, its examples can be copied, and errors are one line."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import click
import pytest
from click.testing import CliRunner

from discreet._cli import app, main
from discreet._cli.commands import Argument, command, option
from discreet.errors import DiscreetError, ParameterError


def _leaves(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "list_commands"):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from _leaves((*path, name), command.get_command(context, name))


LEAVES = list(_leaves((), app))


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=[" ".join(path) for path, _ in LEAVES])
def test_every_command_explains_itself(path: tuple[str, ...], command: Any) -> None:
    assert f"Example: discreet {' '.join(path)}" in " ".join(command.help.split())
    for parameter in command.params:
        words = parameter.words if isinstance(parameter, Argument) else parameter.help
        assert words, f"{path}: {parameter.name} has no help"


def test_help_waits_for_no_command_and_no_heavy_library() -> None:
    script = (
        "import sys\nfrom discreet._cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "assert not {'numpy', 'sqlalchemy', 'altair', 'duckdb', 'narwhals'} & set(sys.modules)\n"
        "assert not {'discreet._cli.ask', 'discreet._cli.budget'} & set(sys.modules)\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script, "--help"], check=True, capture_output=True, text=True
    ).stdout
    assert all(path[0] in shown for path, _ in LEAVES)


def test_a_misspelt_command_is_guessed() -> None:
    found = CliRunner().invoke(app, ["qantiles"])
    assert found.exit_code == 2
    assert "quantiles" in found.output


@pytest.mark.parametrize(
    ("error", "status"),
    [(ParameterError("epsilon=0"), 2), (DiscreetError("locked"), 3), (KeyError("412"), 3)],
)
def test_errors_are_one_line_and_a_status(
    error: Exception, status: int, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def fail(**_: str) -> None:
        raise error

    monkeypatch.setattr("discreet._cli.app", fail)
    monkeypatch.delenv("DISCREET_DEBUG", raising=False)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == status
    shown = capsys.readouterr().err
    assert shown.startswith("error: ")
    assert len(shown.splitlines()) == 1
    assert "412" not in shown


def _has_default(part: Any) -> bool:
    """Return whether the usual help states a default: a value, or words for a field's default."""
    if getattr(part, "advanced", False) or part.name == "help":
        return False
    told = isinstance(getattr(part, "show_default", None), str)
    return told or part.to_info_dict()["default"] not in (None, False, "", ())


@pytest.mark.parametrize("path", [()] + [path for path, _ in LEAVES] + [("budget",)], ids=" ".join)
def test_help_fits_a_narrow_screen_and_is_whole(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "80"}).output
    assert shown.startswith("Usage: discreet" if not path else "Usage: ")
    assert all(len(line) <= 80 for line in shown.splitlines())
    # No Python types, no braces, no truncated summary.
    assert not re.search(r"<\w+|list\[|\{|\w\.\.\.$", shown, re.MULTILINE)
    assert ("[default:" in shown) == any(
        _has_default(part)
        for command in [command for leaf, command in LEAVES if leaf == path]
        for part in command.params
    )


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=[" ".join(path) for path, _ in LEAVES])
def test_examples_can_be_copied(path: tuple[str, ...], command: Any) -> None:
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "60"}).output
    examples = re.findall(r"  Example: ((?:.*\\\n)*.*)\n", shown)
    assert examples
    for example in examples:
        words = shlex.split(re.sub(r"\\\n *", "", example))
        assert words[: len(path) + 1] == ["discreet", *path]
        given = [word for word in words if word.startswith("-")]
        known = {name for part in command.params for name in [*part.opts, *part.secondary_opts]}
        assert set(given) <= known


def _completed(line: str, **environment: str) -> list[str]:
    words = line.split(" ")
    told = {
        "_DISCREET_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        **environment,
    }
    script = "import sys; sys.argv = ['discreet']; from discreet._cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **told},
        check=True,
        capture_output=True,
        text=True,
    )
    return [line.removeprefix("plain,") for line in done.stdout.split()]


def test_commands_and_options_are_completed() -> None:
    assert _completed("discreet qu") == ["quantiles"]
    assert _completed("discreet budget cr") == ["create"]
    assert _completed("discreet top --unor") == ["--unordered"]
    assert len(_completed("discreet ")) == len({path[0] for path, _ in LEAVES})


def test_bash_takes_the_completion() -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    shown = CliRunner().invoke(app, ["--show-completion", "bash"], prog_name="discreet")
    assert shown.exit_code == 0
    script = f"{shown.output}\ncomplete -p discreet"
    done = subprocess.run([bash, "-c", script], check=True, capture_output=True, text=True)
    assert "_discreet_completion" in done.stdout


def test_an_error_names_the_options_of_the_command() -> None:
    @command("fail")
    @option("--tolerated NUMBER", "A number.", name="risk")
    @option("-k --k COUNT", "How many.")
    def fail(**_: str) -> None:
        raise ParameterError("⟨risk⟩3 goes with ⟨k⟩, not with ⟨gap⟩")

    found = CliRunner().invoke(fail, []).exception
    assert str(found) == "--tolerated 3 goes with -k, not with gap="
