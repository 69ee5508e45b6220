"""Printed text cannot control a terminal or fake a guarantee, and a paid answer is never lost."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from discreet import PureDP
from discreet._cli import main, output
from discreet._cli.output import print_table
from discreet.ledger import Ledger
from discreet.questions.answer import TableRelease
from discreet.release import Release

FAKE = "flu\nOne person's data changes nothing (ε = 0.01).\x1b[2J\u202e\x9b31m\r\x7f"
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a ledger, and files of scores with awkward candidates (Western encodings lack Ж)."""
    monkeypatch.setenv("DISCREET_LEDGER", str(tmp_path / "ledger.db"))
    monkeypatch.chdir(tmp_path)
    with Ledger.open() as ledger:
        ledger.create("clinic", PureDP(100))
    Path("nasty.csv").write_text(f'candidate,score\n"{FAKE}",1000\nЖ,0\n', encoding="utf-8")
    Path("foreign.csv").write_text("candidate,score\nЖ,1000\nШ,0\n", encoding="utf-8")
    return tmp_path


COMMAND = [
    *(sys.executable, "-m", "discreet", "select", "foreign.csv", "--sensitivity", "1"),
    *("--dataset", "clinic", "--epsilon", "1"),
]


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    monkeypatch.setattr(sys, "argv", ["discreet", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


def _errors_of(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, check=False, stderr=subprocess.PIPE, **options)


@pytest.mark.usefixtures("folder")
def test_a_label_cannot_fake_a_guarantee(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ("select", "nasty.csv", "--sensitivity", "1", "--epsilon", "9", "--dataset", "clinic")
    _run(monkeypatch, *common)
    printed = capsys.readouterr()
    assert not UNSEEN.search(printed.out + printed.err)
    (answer,) = printed.out.splitlines()
    assert answer.startswith(r"flu\nOne person's data changes nothing")
    (promise,) = (line for line in printed.err.splitlines() if "data changes" in line)
    assert promise.startswith("  One person's data changes")
    assert "0.01" not in promise
    _run(monkeypatch, *common, "--json")
    told = capsys.readouterr().out
    assert told.isascii()
    assert not UNSEEN.search(told)
    assert json.loads(told)["answer"] == FAKE


@pytest.mark.parametrize("kind", [Release, TableRelease])
def test_releases_show_labels_on_one_line(kind: Any) -> None:
    shapes: list[Any] = [FAKE, (FAKE, FAKE), {FAKE: FAKE}]
    for answer in shapes if kind is TableRelease else shapes[:1]:
        release = kind(
            answer=answer, guarantee=PureDP(1), mechanism=FAKE, neighbours=FAKE, entry=FAKE
        )
        for text in (str(release), repr(release), release._repr_html_()):
            assert not UNSEEN.search(text)
        lines = len(answer) if isinstance(answer, tuple) else 1
        assert len(str(release).splitlines()) == lines + 2


@pytest.mark.parametrize("command", ["show", "history", "verify", "head"])
def test_texts_of_a_ledger_that_somebody_wrote(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """A ledger refuses such texts, but someone with access to the file can write them."""
    with contextlib.closing(sqlite3.connect(folder / "ledger.db")) as connection, connection:
        connection.execute("DROP TRIGGER discreet_no_update")
        connection.execute(
            'UPDATE discreet_entries SET body = replace(body, \'"budget":"clinic"\', ?)',
            (f'"budget":{json.dumps(FAKE)}',),
        )
        connection.execute("UPDATE discreet_budgets SET neighbours = ?, head = ?", (FAKE, FAKE))
    with contextlib.suppress(SystemExit):
        _run(monkeypatch, "budget", command, "clinic")
    printed = capsys.readouterr()
    assert not UNSEEN.search(printed.out + printed.err)
    assert not any(line.startswith("One person") for line in printed.out.splitlines())


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_an_encoding_that_lacks_a_letter_loses_nothing(encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(COMMAND, env=environment, capture_output=True, check=True)
    assert done.stdout.splitlines()[0] in (rb"\u0416", rb"\u0428")
    done = subprocess.run([*COMMAND, "--json"], env=environment, capture_output=True, check=True)
    assert json.loads(done.stdout)["answer"] in "ЖШ"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("where", ["full disk", "closed pipe", "no stdout"])
def test_an_answer_that_cannot_be_printed_is_kept(tmp_path: Path, where: str) -> None:
    (tmp_path / "kept").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "kept")}
    if where == "full disk":
        with open("/dev/full", "wb") as full:
            done = _errors_of(COMMAND, env=environment, stdout=full)
    elif where == "closed pipe":
        reading, writing = os.pipe()
        os.close(reading)
        done = _errors_of(COMMAND, env=environment, stdout=writing)
        os.close(writing)
    else:
        script = 'exec "$@" >&-'
        done = _errors_of(["sh", "-c", script, "sh", *COMMAND], env=environment)
    said = done.stderr.decode()
    assert done.returncode == 3
    assert said.count("\n") == 1
    found = Path(said.rpartition("it is in ")[2].strip())
    assert found.parent == tmp_path / "kept"
    assert found.read_text(encoding="utf-8")[0] in "ЖШ"
    assert stat.S_IMODE(found.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "command", ["claims --list", "claims --list --json", "--help", "compare -h"]
)
@pytest.mark.parametrize("both", [False, True], ids=["stdout", "stderr too"])
def test_a_reader_who_has_enough_changes_no_exit_status(command: str, both: bool) -> None:
    """For example in ``discreet claims | head``: status 1 would mean that a claim is refuted."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND[:3], *command.split()],
        check=False,
        stdout=writing,
        stderr=writing if both else subprocess.PIPE,
    )
    os.close(writing)
    assert (done.returncode, done.stderr or b"") == (0, b"")


@pytest.mark.usefixtures("folder")
def test_an_answer_is_written_to_a_file_first() -> None:
    with open("/dev/full", "wb") as full:
        command = [*COMMAND, "--out", "answer.txt"]
        done = _errors_of(command, stdout=full)
    assert done.stderr == b"error: the answer could not be printed: it is in answer.txt\n"
    assert Path("answer.txt").read_text(encoding="utf-8")[0] in "ЖШ"


@pytest.mark.usefixtures("folder")
def test_a_file_that_runs_full_is_told() -> None:
    done = _errors_of([*COMMAND, "--out", "/dev/full"], stdout=subprocess.PIPE)
    assert done.stdout.decode()[0] in "ЖШ"
    assert b"could not be written to /dev/full: it was only printed" in done.stderr
    assert done.returncode == 3


@pytest.mark.usefixtures("folder")
def test_a_file_that_cannot_be_written_costs_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, *COMMAND[3:], "--out", "absent/answer.txt") == 2
    assert "--out 'absent/answer.txt' cannot be written" in capsys.readouterr().err
    with Ledger.open() as ledger:
        assert len(ledger.history("clinic")) == 1


@pytest.mark.usefixtures("folder")
def test_an_interrupted_question_says_what_stays_spent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from discreet.mechanisms import PermuteAndFlip

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PermuteAndFlip, "_draw", stop)
    assert _run(monkeypatch, *COMMAND[3:]) == 130
    assert capsys.readouterr().err == "interrupted: ε = 1 stays spent: clinic, entry 2\n"
    with Ledger.open() as ledger:
        assert [entry.kind for entry in ledger.history("clinic")][1:] == ["spend", "failed"]


@pytest.mark.parametrize("command", [[], ["mode"], ["budget"], ["budget", "show"]])
def test_a_short_option_shows_the_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert _run(monkeypatch, *command, "-h") == 0
    assert "--help" in capsys.readouterr().out


COLUMNS = ("data set", "what was asked, in words", "ε", "people")
ROWS = [
    (
        "clinic/epidemiology",
        "desk 0123456789abcdef: mode of diagnosis, where age >= 18",
        0.123456,
        1,
    ),
    ("clinic", "日本 " * 20 + "a-word-with-hyphens", 10.0, 12345678901234567890),
]
WORDS = {word for row in ROWS for cell in row for word in str(cell).split()} - {"0.123456", "10.0"}


@pytest.mark.parametrize("width", [60, 80, 120, None])
def test_a_table_is_never_broken_inside_a_word_or_a_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int | None
) -> None:
    monkeypatch.setenv("COLUMNS", "40")  # ignored in a pipe
    if width is not None:
        monkeypatch.setattr(output, "screen_width", lambda **_: width)
    print_table(COLUMNS, ROWS)
    lines = capsys.readouterr().out.splitlines()
    assert set(" ".join(lines).split()) >= WORDS | {"0.1235"}
    if width is None:
        assert len(lines) == 3
    else:
        assert lines[0] == "data set: clinic/epidemiology"
        assert "ε: 0.1235" in lines
        assert all(cell_len(line) <= width for line in lines)
    print_table(("a", "b"), [("x", 5), ("long", 12)])
    assert capsys.readouterr().out == "a      b\nx      5\nlong  12\n"


@pytest.mark.parametrize(
    ("encoding", "sign"), [("ascii", "epsilon"), ("cp1252", "epsilon"), ("utf-8", "ε")]
)
def test_our_signs_are_letters_where_the_encoding_lacks_them(encoding: str, sign: str) -> None:
    """The table is aligned by the printed text. An answer is never changed: its symbols are escaped."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    plan = [*COMMAND[:3], "plan", "--n", "9", "--expected-error", "1"]
    done = subprocess.run(plan, env=environment, capture_output=True, check=True)
    first, _, head, row, *_ = done.stdout.decode(encoding).splitlines()
    assert first.startswith(f"Use permute-and-flip at {sign} = ")
    assert f"{sign} needed" in head
    assert row[: len(head)].split()[-2] == row[: head.index("needed") + 6].split()[-1]
    done = subprocess.run([*plan, "--help"], env=environment, capture_output=True, check=True)
    told = done.stdout.decode(encoding)
    assert f"Find the smallest {sign} at which" in told
    assert "\\u" not in told


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_kept_answer_is_shown_as_it_is(encoding: str) -> None:
    """Spelled out in letters, ≥65 would be another candidate."""
    Path("bands.csv").write_text("candidate,score\n≥65,1000\n>=65,0\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    select = [*COMMAND[:4], "bands.csv", *COMMAND[5:], "--keep-answer"]
    subprocess.run(select, env=environment, capture_output=True, check=True)
    answers = [*COMMAND[:3], "budget", "answers", "clinic"]
    done = subprocess.run(answers, env=environment, capture_output=True, check=True)
    assert rb"\u226565" in done.stdout
    assert b">=65" not in done.stdout


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_are_broken_between_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int
) -> None:
    monkeypatch.setattr(output, "screen_width", lambda **_: width)
    words = "  Use permute-and-flip at ε = 0.459: " + "a-word-with-hyphens 日本 " * 9
    output.say(words)
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines).split() == words.split()
    assert all(cell_len(line) <= width and line.startswith("  ") for line in lines)


def test_no_help_is_broken_inside_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command's help has the same words at 60 columns as at 300."""
    import click

    from discreet._cli import app

    def helps(command: click.Command, name: str, columns: int) -> Iterator[list[str]]:
        context = command.make_context(name, ["-h"], resilient_parsing=True)
        context.terminal_width, context.max_content_width = columns, columns
        yield command.get_help(context).replace("\\\n", "").split()
        if isinstance(command, click.Group):
            for part in command.list_commands(context):
                inner = command.get_command(context, part)
                assert inner is not None
                yield from helps(inner, part, columns)

    assert list(helps(app, "discreet", 60)) == list(helps(app, "discreet", 300))
