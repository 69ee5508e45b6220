"""The question commands: what they print, JSON, exit statuses, and one line for an error."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from discreet import PureDP
from discreet._cli import app
from discreet._cli.ask import for_terminal, listed
from discreet.demo_data import clinic, write_clinic
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.questions.question import KINDS, Question, fields_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("clinic")
    write_clinic(target, people=3000)
    write_clinic(target, people=3000, form="parquet")
    with Ledger.open(target / "budget.db") as ledger:
        ledger.create("clinic", PureDP(100))
    return target


def _run(*arguments: object) -> Any:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_pipe_warns_that_perhaps_nobody_counted(folder: Path) -> None:
    """The bare answer has no room for a warning, so the warning goes to stderr."""
    asked = _run(
        "mode", folder / "visits.parquet", "--no-ledger", "--column", "diagnosis", "--user", "patient_id",
        "--candidates", "nosuch,neither", "--epsilon", 100, "--with-people",
    )  # fmt: skip
    assert "give or take" not in asked.stdout
    assert "perhaps no one counted, so the answer may be noise" in " ".join(asked.stderr.split())


def test_the_examples_of_the_documentation(folder: Path) -> None:
    counted = ("--dataset", "clinic", "--ledger", folder / "budget.db")
    mode = _run(
        "mode", folder / "visits.parquet", *counted, "--column", "diagnosis", "--user", "patient_id",
        "--candidates", folder / "icd10.txt", "--epsilon", 1,
    )  # fmt: skip
    # In a pipe, stdout has only the bare answer.
    assert mode.stdout.rstrip("\n") in ("J00", "I10", "E11", "M54", "J11", "J20")
    assert mode.stderr.startswith("most common diagnosis · ε 1 spent, 99 of 100 left\n")
    assert "factor of at most" in mode.stderr
    assert "clinic #2" not in mode.stderr
    median = _run(
        "median", folder / "people.csv", *counted, "--column", "age", "--user", "person_id",
        "--bounds", "0:120", "--epsilon", 0.5,
    )  # fmt: skip
    assert "about 'visits'; this one is about 'people'" in median.stderr
    assert 35 < int(median.stdout.split("\n")[0]) < 60
    quantiles = _run(
        "quantiles", folder / "pay.parquet", *counted, "--column", "salary", "--user", "person_id",
        "--at", "0.1,0.5,0.9", "--bounds", "0:500000", "--step", 1000, "--epsilon", 5, "--json",
    )  # fmt: skip
    low, middle, high = json.loads(quantiles.stdout)["answer"]
    assert 20_000 < low < middle < high < 150_000
    top = _run(
        "top", folder / "visits.parquet", *counted, "--column", "page", "--user", "patient_id", "-k", 3,
        "--candidates", folder / "pages.csv", "--epsilon", 2, "--json",
    )  # fmt: skip
    assert json.loads(top.stdout)["answer"] == [
        "appointments",
        "test results",
        "repeat prescription",
    ]
    binned = _run(
        "mode", folder / "people.csv", *counted, "--column", "age", "--user", "person_id",
        "--bounds", "0:120", "--step", 20, "--epsilon", 2, "--json",
    )  # fmt: skip
    assert json.loads(binned.stdout)["answer"] in (20, 40)
    select = _run(
        "select", folder / "scores.csv", *counted, "--sensitivity", 1, "--monotonic", "--epsilon", 1
    )
    assert select.exit_code == 0
    grouped = _run(
        "mode", folder / "visits.csv", *counted, "--column", "page", "--user", "patient_id", "--by", "clinic",
        "--groups", folder / "clinics.txt", "--candidates", folder / "pages.csv", "--epsilon", 2,
        "--with-count", "--where", "diagnosis is not null", "--json",
    )  # fmt: skip
    assert set(json.loads(grouped.stdout)["answer"]) == {"east", "harbour", "north", "south"}
    labelled = _run(
        "quantiles", folder / "people.csv", *counted, "--column", "age", "--user", "person_id",
        "--at", "0.1,0.9", "--bounds", "0:120", "--epsilon", 0.5, "--per-person", "mean", "--outside", "drop",
        "--with-people", "--explain",
    )  # fmt: skip
    lines = labelled.stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["0.1", "0.9"]
    assert all(2000 < int(line.split("\t")[4]) < 4000 for line in lines)  # 3000, ε = 0.05
    explained = labelled.stderr
    assert "- A person with several values counts with their mean, rounded to the grid" in explained
    assert "- Values outside 0:120 are left out" in explained
    assert re.search(r"ledger: clinic #\d", explained)


def test_the_first_week_above_a_threshold(folder: Path) -> None:
    """There are some forty patients a week, and the noise is below five."""
    counted = ("--dataset", "clinic", "--ledger", folder / "budget.db")
    asked = (
        "first", folder / "visits.parquet", *counted, "--column", "week", "--user", "patient_id",
        "--groups", "2024-W01:2024-W52", "--epsilon", 2,
    )  # fmt: skip
    found = _run(*asked, "--above", 15, "--explain")
    assert found.stdout == "2024-W01\n"
    assert "the first that reaches it is named" in " ".join(found.stderr.split())
    assert _run(*asked, "--above", 100_000).stdout == "none of them\n"
    several = _run(*asked, "--above", 15, "--crossings", 3, "--with-gap", "--json")
    data = json.loads(several.output)
    assert len(data["answer"]) == len(data["gap"]) == 3
    with pytest.raises(ParameterError, match="--above 'many' is not allowed"):
        _run(*asked, "--above", "many")
    told = _run("budget", "history", "clinic", *counted[2:], "--json").output
    assert "first above 15 of week" in told


def test_a_range_of_groups_is_a_range_in_every_command(folder: Path) -> None:
    """``median --by year --groups 1980:1987`` once asked about one group of that name."""
    years = pl.DataFrame({"year": [1980 + row % 4 for row in range(400)], "age": [40] * 400})
    years.write_csv(folder / "years.csv")
    told = ("--no-ledger", "--one-row-per-user", "--epsilon", 9, "--json")
    for asked in (
        ("median", "--column", "age", "--bounds", "0:100"),
        ("quantiles", "--column", "age", "--bounds", "0:100", "--at", "0.2,0.8"),
        ("mode", "--column", "age", "--candidates", "30,40"),
        ("top", "--column", "age", "--candidates", "30:45", "-k", 1),
        ("bound", "--column", "age"),
    ):
        command = (asked[0], folder / "years.csv", *asked[1:], *told, "--by", "year", "--groups")
        found = json.loads(_run(*command, "1980:1983").output)["answer"]
        assert list(found) == ["1980", "1981", "1982", "1983"]
        for wrong in ("1980:1981,1983", "1980:1981,1982:1983", "1983:1980", "1980:1980-12", "a:b"):
            with pytest.raises(ParameterError, match=r"1980:|1983:|a:b"):
                _run(*command, wrong)
    first = ("first", folder / "years.csv", "--column", "year", "--above", 50, *told, "--groups")
    assert json.loads(_run(*first, "1980:1983").output)["answer"] == "1980"
    with pytest.raises(ParameterError, match="'1980:1981' is a range: give it alone"):
        _run(*first, "1980:1981,1983")
    assert listed("08:30,10:15") == ["08:30", "10:15"]


def test_a_candidate_that_cannot_match_is_a_warning_on_stderr(folder: Path) -> None:
    pl.DataFrame({"v": [1, 2]}, schema={"v": pl.Int8}).write_parquet(folder / "small.parquet")
    (folder / "numbers.txt").write_text("1\n300\n", encoding="utf-8")
    result = _run(
        "mode", folder / "small.parquet", "--no-ledger", "--column", "v", "--one-row-per-user",
        "--candidates", folder / "numbers.txt", "--epsilon", 1, "--json",
    )  # fmt: skip
    assert result.stderr.startswith("warning: Nobody can count for 1 of the 2 candidates (300)")
    assert json.loads(result.stdout)["rules"][-1] in result.stderr


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (["--epsilon", "1"], 2, "--candidates must be given"),
        (["--epsilon", "inf", "--candidates", "{folder}/icd10.txt"], 2, "--epsilon 'inf'"),
        (["--epsilon", "1", "--candidates", "{folder}/none.txt"], 2, "no such file"),
        (
            ["--epsilon", "1", "--candidates", "{folder}/icd10.txt", "--dataset", "x"],
            2,
            "leave --dataset",
        ),
        (
            ["--epsilon", "1", "--candidates", "{folder}/icd10.txt", "--where", "1=1"],
            2,
            "--where '1=1'",
        ),
        (
            ["--epsilon", "1", "--candidates", "{folder}/icd10.txt", "--by", "clinic"],
            2,
            "--by needs --groups",
        ),
    ],
)
def test_errors_are_one_line(folder: Path, options: list[str], status: int, words: str) -> None:
    command = [
        sys.executable,
        "-c",
        "from discreet._cli import main; main()",
        "mode",
        str(folder / "visits.csv"),
    ]
    common = ["--no-ledger", "--column", "diagnosis", "--user", "patient_id"]
    told = [option.format(folder=folder) for option in options]
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [*command, *common, *told],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": source},
    )
    assert done.returncode == status
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


@pytest.mark.parametrize(
    ("command", "missing"),
    [("top", "'-k'"), ("quantiles", "'--at'"), ("first", "'--above'"), ("mode", "'--column'")],
)
@pytest.mark.parametrize("plan", [[], ["--plan"]])
def test_a_required_option_that_is_left_out_is_named(
    folder: Path, command: str, missing: str, plan: list[str]
) -> None:
    column = [] if command == "mode" else ["--column", "diagnosis"]
    words = [command, str(folder / "visits.csv"), *column, "--epsilon", "1", "--no-ledger", *plan]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert f"Missing option {missing}" in result.stderr


@pytest.mark.parametrize("kind", KINDS.values())
def test_an_option_that_sets_false_has_words_of_its_own(kind: type[Question]) -> None:
    for each in fields_of(kind):
        if each.default is True and each.metadata["option"]:
            assert each.metadata["off"]


def test_a_default_is_shown_as_a_decimal() -> None:
    shown = CliRunner().invoke(app, ["bound", "--help-all"]).output
    assert re.findall(r"\[default:\s+([\d(./)]+)\]", shown) == ["0.999", "0.95"]


def test_somebody_must_count(folder: Path) -> None:
    with pytest.raises(Exception, match="give --dataset NAME"):
        _run(
            "mode",
            folder / "visits.csv",
            "--column",
            "page",
            "--user",
            "patient_id",
            "--candidates",
            folder / "pages.csv",
            "--epsilon",
            1,
        )


def test_demo_data(tmp_path: Path) -> None:
    written = json.loads(_run("demo-data", tmp_path / "out", "--people", 50, "--json").output)
    assert all(Path(name).is_file() for name in written)
    again = _run("demo-data", tmp_path / "again", "--people", 50)
    assert (tmp_path / "again" / "visits.csv").read_text() == (
        tmp_path / "out" / "visits.csv"
    ).read_text()
    assert str(tmp_path / "again" / "people.csv") in again.output


def test_demo_data_replaces_nothing_unasked(tmp_path: Path) -> None:
    for form in ("csv", "parquet"):
        for _ in range(2):  # the same clinic again changes nothing
            _run("demo-data", tmp_path, "--people", 50, "--format", form)
    (tmp_path / "visits.csv").write_text("somebody's own\n", encoding="utf-8")
    (tmp_path / "pay.csv").unlink()
    with pytest.raises(ParameterError, match=r"visits\.csv: choose another folder, .* --force"):
        _run("demo-data", tmp_path, "--people", 50)
    assert (tmp_path / "visits.csv").read_text(encoding="utf-8") == "somebody's own\n"
    assert not (tmp_path / "pay.csv").exists()  # all or nothing
    _run("demo-data", tmp_path, "--people", 50, "--force")
    assert (tmp_path / "visits.csv").read_text(encoding="utf-8").startswith("visit_id,")
    assert (tmp_path / "pay.csv").exists()


def test_demo_data_needs_a_folder(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(ParameterError, match=r"FOLDER '.*taken' is not a folder"):
        _run("demo-data", tmp_path / "taken", "--people", 50)


def test_the_clinic_is_like_life() -> None:
    tables = clinic(3000)
    visits, people = tables["visits"], tables["people"]
    assert {None, "unknown"} < set(people["age"])
    assert None in visits["diagnosis"]
    patients = set(visits["patient_id"])
    assert len(patients) < len(visits["patient_id"])
    pairs = set(zip(visits["patient_id"], visits["clinic"], strict=True))
    assert len(pairs) > len(patients)  # some people are in two clinics
    assert tables == clinic(3000)
    assert tables != clinic(3000, seed=1)


def test_every_command_shows_an_example() -> None:
    for command in ("mode", "median", "quantiles", "top", "select", "demo-data"):
        assert "Example:" in _run(command, "--help").output


def test_candidates_with_commas_or_a_file(folder: Path) -> None:
    asked = ("mode", folder / "visits.parquet", "--no-ledger", "--column", "diagnosis", "--user")
    common = (*asked, "patient_id", "--epsilon", 1, "--candidates")
    assert _run(*common, "J00, I10").output.split("\n")[0] in ("J00", "I10")
    for missing in ("icd,10.txt", "absent", "codes/a,b"):
        with pytest.raises(ParameterError, match="no such file"):
            _run(*common, missing)


def test_a_purpose_is_written_down(folder: Path) -> None:
    with Ledger.open(folder / "budget.db") as ledger:
        ledger.create("purposes", PureDP(10))
        _run(
            "median", folder / "people.csv", "--dataset", "purposes", "--ledger", folder / "budget.db",
            "--column", "age", "--user", "person_id", "--bounds", "0:120", "--epsilon", 1,
            "--purpose", "the yearly report",
        )  # fmt: skip
        assert ledger.history("purposes")[-1].details["purpose"] == "the yearly report"


def test_mechanisms_complete() -> None:
    completion = ShellComplete(app, {}, "discreet", "_DISCREET_COMPLETE")
    for command in (["mode"], ["select"], ["compare"], ["budget", "plan"]):
        found = completion.get_completions([*command, "--mechanism"], "perm")
        assert [item.value for item in found] == ["permute-and-flip"]
    assert len(completion.get_completions(["audit"], "")) > 5


def test_a_file_as_spreadsheets_write_it(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes("person;Größe\n1;170\n2;180\n".encode("cp1252"))
    found = _run(
        "median", tmp_path / "people.csv", "--no-ledger", "--column", "Größe", "--user", "person",
        "--bounds", "0:250", "--epsilon", 1, "--delimiter", ";", "--encoding", "cp1252", "--json",
    )  # fmt: skip
    assert 0 <= json.loads(found.output)["answer"] <= 250


def test_without_bounds_lists_or_people(folder: Path, tmp_path: Path) -> None:
    """The bounds or groups are unknown, dates have their own step, or the table holds counts."""
    alone = ("--no-ledger", "--user", "person_id")
    pay = (folder / "pay.parquet", *alone, "--column", "salary")
    middle = int(_run("median", *pay, "--epsilon", 4).output.split("\n")[0])
    assert 25_000 < middle < 90_000
    covered = _run("bound", *pay, "--covers", 0.99, "--epsilon", 2, "--explain")
    assert middle < int(covered.stdout) < 500_000
    assert "magnitude" in covered.stderr
    assert "With bounds" not in covered.stderr
    visits = (folder / "visits.parquet", "--no-ledger", "--user", "patient_id")
    found = _run(
        "mode", *visits, "--column", "diagnosis", "--candidates", "J00,I10", "--other", "another",
        "--by", "clinic", "--delta", "1e-6", "--epsilon", 8, "--json",
    )  # fmt: skip
    assert set(json.loads(found.output)["answer"].values()) == {"another"}
    listed = ("--by", "clinic", "--groups", folder / "clinics.txt", "--groups-per-person", "choose")
    chosen = _run(
        "mode", *visits, "--column", "diagnosis", "--candidates", "J00,I10", *listed, "--epsilon", 8,
        "--explain",
    )  # fmt: skip
    assert "chosen privately" in chosen.stderr
    pl.DataFrame(
        {
            "began": pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 1, 31), eager=True),
            "people": [50] * 31,
        }
    ).write_parquet(tmp_path / "trips.parquet")
    days = _run(
        "quantiles", tmp_path / "trips.parquet", "--no-ledger", "--counted", "people", "--column", "began",
        "--at", "0.25,0.75", "--bounds", "2020-01-01:2024-12-31", "--step", "1d", "--epsilon", 8, "--json",
    )  # fmt: skip
    assert [day[:8] for day in json.loads(days.output)["answer"]] == ["2024-01-"] * 2
    planned = _run("plan", "--at", "0.5", "--n", 121, "--error-at-most", 10, "--json")
    assert [round(row["epsilon"], 3) for row in json.loads(planned.output)] == [0.779, 1.558]
    with pytest.raises(ParameterError, match="--error-at-most"):
        _run("plan", "--at", "0.5", "--n", 121)


def test_dates_and_times_of_a_text_file(tmp_path: Path) -> None:
    """All people have one value, so another answer has probability below 10⁴·e^(−9·100)."""
    file = tmp_path / "trips.csv"
    rows = "".join(f"{i},2024-03-05T09:30\n" for i in range(400))
    file.write_text(f"rider,at\n{rows}401,soon\n", encoding="utf-8")
    asked = (file, "--no-ledger", "--column", "at", "--user", "rider", "--epsilon", 9, "--json")
    days, hours = ("--bounds", "2024-01-01:2024-12-31", "--step", "1d"), ("--bounds", "08:00/18:00")
    read = ("--read-as", "time")
    for options, answer in (
        (("quantiles", *asked, "--at", "0.5", *days), ["2024-03-05"]),
        (("mode", *asked, *days), "2024-03-05"),
        (("top", *asked, "-k", 1, *days), ["2024-03-05"]),
        (("mode", *asked, *hours, "--step", "30min", *read), "09:30:00"),
        (("median", *asked, *read), "09:30:00"),
    ):
        result = _run(*options)
        assert json.loads(result.output)["answer"] == answer
        assert "other texts are left out" in result.output
    with pytest.raises(ParameterError, match="only be used with a text file"):
        _run("median", "postgresql://db/x", *asked[1:], "--table", "x", *read)


def test_the_types_of_other_columns_of_a_text_file(tmp_path: Path) -> None:
    """Another answer has probability below 2·e^(−9·100)."""
    file = tmp_path / "trips.csv"
    rows = (f"{i},2024-03-05,{'car' if i < 300 else 'bus'}\n" for i in range(300))
    later = (f"{i},2024-04-01,bus\n" for i in range(300, 900))
    file.write_text("".join(["rider,day,by\n", *rows, *later]), encoding="utf-8")
    (tmp_path / "by.txt").write_text("car\nbus\n")
    asked = ("mode", file, "--no-ledger", "--column", "by", "--user", "rider", "--epsilon", 9)
    where = ("--candidates", tmp_path / "by.txt", "--where", "day <= '2024-03'", "--json")
    assert json.loads(_run(*asked, *where, "--read-as", "day=date").output)["answer"] == "car"
    undeclared = _run(*asked, *where).output
    assert json.loads(undeclared)["answer"] == "car"
    assert "Texts of day that spell a date count for the month in which it lies" in undeclared


def test_a_plan_is_shown_and_nothing_is_paid_or_read(folder: Path) -> None:
    counted = ("--dataset", "clinic", "--ledger", folder / "budget.db")
    asked = ("--column", "diagnosis", "--user", "patient_id", "--candidates", folder / "icd10.txt")
    with Ledger.open(folder / "budget.db") as ledger:
        before = ledger.show("clinic")
    shown = _run("mode", folder / "visits.parquet", *counted, *asked, "--epsilon", 1, "--plan")
    assert shown.stdout.startswith("most common diagnosis · ε 1 to pay, ")
    assert "accuracy: " in shown.stdout
    assert "proof: docs/proofs/" in shown.stdout
    least = ("--error-at-most", 20, "--with-probability", 0.9, "--people", 5000, "--plan", "--json")
    data = json.loads(_run("mode", folder / "visits.parquet", *counted, *asked, *least).stdout)
    assert data["accuracy"]["worst"] <= 20
    assert data["accuracy"]["assumed"].startswith("5,000 people")
    assert data["question"]["kind"] == "mode"
    assert data["fits"] is True
    with Ledger.open(folder / "budget.db") as ledger:
        assert ledger.show("clinic") == before


def test_on_a_terminal_there_is_a_card(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The card shows the answer, the question in words and the remaining budget, in the screen's width."""
    monkeypatch.setattr("discreet._cli.ask.screen_width", lambda **_: 60)
    shown = _run(
        "mode", folder / "visits.parquet", "--dataset", "clinic", "--ledger", folder / "budget.db",
        "--column", "diagnosis", "--user", "patient_id", "--candidates", "J00,I10", "--epsilon", 1,
    )  # fmt: skip
    first = " ".join(shown.stdout.split())
    assert re.match(r"▶ (J00|I10) most common diagnosis · ε 1 spent, [\d.]+ of 100 left", first)
    assert all(len(line) <= 60 for line in shown.stdout.splitlines())
    assert "Rows" not in shown.stdout
    assert not shown.stderr


def test_a_card_in_letters_never_changes_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate named ε must not look like another candidate named epsilon."""
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert for_terminal("▶ flu · ε 1 spent", "flu") == "> flu * epsilon 1 spent"
    assert for_terminal("▶ ε · ε 1 spent", "ε") == "▶ ε · ε 1 spent"  # and each sign is escaped


@pytest.mark.parametrize("command", ["mode", "median", "quantiles", "top", "first", "bound"])
def test_the_usual_help_is_short_and_the_rest_is_a_step_away(command: str) -> None:
    def options(*arguments: str) -> set[str]:
        shown = CliRunner().invoke(app, [command, *arguments], env={"COLUMNS": "80"}).output
        assert all(len(line) <= 80 for line in shown.splitlines())
        sections = re.findall(r"^(\w+):$", shown, re.MULTILINE)
        assert sections[0] == "Arguments"
        assert set(sections[1:]) <= {"Data", "Question", "Groups", "Budget", "Output", "Options"}
        return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", shown, re.MULTILINE))

    usual, every = options("--help"), options("--help-all")
    assert len(usual) <= 24
    assert usual < every
    shares = {"--people-share", "--count-share", "--groups-share", "--considered", "--largest"}
    assert not shares & every


def test_a_question_as_json(folder: Path) -> None:
    """The question may come from ``--plan --json`` or ``to_dict``, in a file or on standard input."""
    visits = (folder / "visits.parquet", "--no-ledger", "--user", "patient_id")
    asked = ("--column", "diagnosis", "--candidates", "J00,I10", "--epsilon", 5)
    written = folder / "question.json"
    written.write_text(_run("mode", *visits, *asked, "--plan", "--json").stdout)
    assert _run("ask", visits[0], written, *visits[1:]).stdout.strip() in ("J00", "I10")
    question = {"kind": "mode", "column": "clinic", "candidates": ["north", "x"], "epsilon": "5"}
    command = ["ask", *visits[:1], "-", *visits[1:], "--plan", "--json"]
    planned = CliRunner().invoke(app, list(map(str, command)), input=json.dumps(question))
    assert json.loads(planned.stdout)["question"]["candidates"] == ["north", "x"]
    for text, words in (("{", "not JSON"), ("[]", "a mapping"), ('{"kind": "mood"}', "one of")):
        written.write_text(text)
        with pytest.raises(ParameterError, match=words):
            _run("ask", visits[0], written, *visits[1:])
    with pytest.raises(ParameterError, match="cannot be read"):
        _run("ask", visits[0], folder / "absent.json", *visits[1:])


PIPED = shlex.split("--column code --user person --candidates flu,cold --epsilon 5 --no-ledger")


@pytest.mark.parametrize("named", ["-", "/dev/stdin"])
def test_a_hyphen_is_csv_on_standard_input(named: str) -> None:
    rows = "person,code\n" + "".join(f"{i},{'flu' if i else 'cold'}\n" for i in range(200))
    asked = CliRunner().invoke(app, ["mode", named, *PIPED], input=rows)
    assert asked.stdout == "flu\n", asked.stderr
    scores = "candidate,score\nflu,200\ncold,1\n"
    chosen = ["--sensitivity", "1", "--epsilon", "5", "--no-ledger"]
    assert CliRunner().invoke(app, ["select", named, *chosen], input=scores).stdout == "flu\n"


def test_the_copy_of_standard_input_is_private_and_short_lived(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    seen = list[int]()

    def noting(data: str, **_: Any) -> Any:
        seen.append(Path(data).parent.stat().st_mode & 0o777)
        raise ParameterError("enough")

    monkeypatch.setattr("discreet._cli.ask.PrivateTable", noting)
    CliRunner().invoke(app, ["mode", "-", *PIPED], input="person,code\n1,flu\n")
    assert seen == [0o700]
    assert not list(tmp_path.iterdir())


def test_a_function_that_a_file_does_not_define_is_refused_before_it_is_run(tmp_path: Path) -> None:
    models, elsewhere = tmp_path / "models.py", tmp_path / "elsewhere.py"
    models.write_text("import os\nfrom os import path\nasked = os\ndef best(rows): raise OSError\n")
    elsewhere.write_text("from os.path import *\n")
    rows = tmp_path / "rows.csv"
    rows.write_text("person,value\n1,a\n")

    def planned(function: str) -> Any:
        return _run(
            "vote", rows, "--no-ledger", "--user", "person", "--function", function,
            "--candidates", "a,b", "--epsilon", 1, "--plan",
        )  # fmt: skip

    for wrong, said in (
        (f"{models}:bst", f"{models} defines no bst"),
        (f"{models}:rows", f"{models} defines no rows"),
        (f"{models}s:best", f"there is no file {models}s"),
        (str(models), "such as models.py:best"),
    ):
        with pytest.raises(ParameterError, match=re.escape(said)):
            planned(wrong)
    for name in ("best", "asked", "path"):
        assert planned(f"{models}:{name}").exit_code == 0
    assert planned(f"{elsewhere}:join").exit_code == 0
