"""The commands for the owner of a desk."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from discreet import PureDP
from discreet._cli import app
from discreet.desk.serving import allot_parts
from discreet.desk.store import ANSWERED, DeskStore
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from tests.tools.desks import clinic_at


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    app(["desk", *words], standalone_mode=False)
    return capsys.readouterr().out


def test_check_says_who_may_ask_what_and_what_stands_in_the_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clinic_at(tmp_path)
    file = tmp_path / "clinic.toml"
    told = _run(capsys, "check", str(file))
    assert "epidemiology" in told
    assert "No problems found." in told
    wrong = (
        file.read_text().replace("epsilon = 40", "epsilon = 400").replace('["clinic"]', '["year"]')
    )
    file.write_text(wrong.replace("column.age", "column.pay"))
    with pytest.raises(SystemExit) as ended:
        _run(capsys, "check", str(file), "--json")
    assert ended.value.code == 2
    problems = json.loads(capsys.readouterr().out)["problems"]
    assert [problem for problem in problems if "'pay'" in problem]
    assert [problem for problem in problems if "'year'" in problem]
    assert [problem for problem in problems if "need ε = 402" in problem]
    (tmp_path / "visits.parquet").unlink()
    with pytest.raises(SystemExit):
        _run(capsys, "check", str(file))
    assert "there is no file" in capsys.readouterr().out


def test_check_warns_of_slots_that_are_over_before_a_row_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clinic_at(tmp_path, slot=0.002)
    told = _run(capsys, "check", str(tmp_path / "clinic.toml"))
    assert re.search(
        r"warning: table\.visits\.slot: mode has 0\.002 s, and [\d.e+]+ s of it pass", told
    )
    assert told.endswith("No problems found.\n")
    (tmp_path / "long").mkdir()
    clinic_at(tmp_path / "long", slot=600.0)
    long = json.loads(_run(capsys, "check", str(tmp_path / "long" / "clinic.toml"), "--json"))
    assert long["warnings"] == []


def test_a_token_is_shown_once_and_can_be_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    owner = clinic_at(tmp_path)
    file = str(tmp_path / "clinic.toml")
    token = _run(capsys, "token", file, "planning").strip()
    assert re.fullmatch(r"discreet_[0-9a-f]{64}", token)
    with DeskStore(str(owner.desk.store)) as store:
        assert store.holder(token) == "planning"
    assert "not set aside yet" in _run(capsys, "status", file)
    told = json.loads(_run(capsys, "status", file, "--json"))
    until = {row["analyst"]: row["tokens until"] for row in told}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", until.pop("planning"))
    assert set(until.values()) <= {"none"}
    assert "1 token(s)" in _run(capsys, "revoke", file, "planning")
    with DeskStore(str(owner.desk.store)) as store:
        assert store.holder(token) is None
    with pytest.raises(ParameterError, match="not an analyst in this file"):
        _run(capsys, "token", file, "nobody")


def test_the_log_never_tells_an_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    owner = clinic_at(tmp_path)
    file = str(tmp_path / "clinic.toml")
    asked = {"kind": "mode", "table": "visits", "column": "d", "epsilon": 1, "where": None}
    with DeskStore(str(owner.desk.store)) as store:
        name = store.admit("planning", None, "digest", asked)
        store.record(name, ANSWERED, entry=7, answer={"answer": "the very answer"})
    for extra in ((), ("--json",)):
        told = _run(capsys, "log", file, *extra)
        assert "planning" in told
        assert "very answer" not in told
    assert "may ask again" in _run(capsys, "allow", file, "planning")


def test_a_month_is_reported_by_analyst(tmp_path: Path) -> None:
    owner = clinic_at(tmp_path)
    allot_parts(owner)
    with Ledger.open(owner.ledger.place) as ledger:
        ledger.spend("clinic/epidemiology", PureDP("0.5"), purpose="mode of diagnosis")
    file = str(tmp_path / "clinic.toml")
    month = datetime.datetime.now(datetime.UTC).strftime("%Y-%m")
    found = json.loads(CliRunner().invoke(app, ["desk", "report", file, "--json"]).stdout)
    row = next(each for each in found if each["analyst"] == "epidemiology")
    assert (row["month"], row["paid"], row["cost"], row["left"]) == (month, 1, "0.5", "ε = 39.5")
    assert row["renews"] == "never"
    csv = CliRunner().invoke(app, ["desk", "report", file, "--csv"]).stdout.splitlines()
    assert csv[0].startswith("month,analyst,budget,answered,failed,paid,cost,left,renews")
    assert len(csv) == 3
    empty = json.loads(
        CliRunner().invoke(app, ["desk", "report", file, "--month", "2020-01", "--json"]).stdout
    )
    assert {each["paid"] for each in empty} == {0}
    assert CliRunner().invoke(app, ["desk", "report", file, "--month", "x"]).exit_code != 0


def test_a_report_before_the_desk_was_served_says_so(tmp_path: Path) -> None:
    clinic_at(tmp_path)
    file = str(tmp_path / "clinic.toml")
    for extra in ((), ("--csv",)):
        said = CliRunner().invoke(app, ["desk", "report", file, *extra])
        assert said.stdout == ""
        assert "no analyst has a part of a budget until the desk is served" in said.stderr
    assert CliRunner().invoke(app, ["desk", "report", file, "--json"]).stdout == "[]\n"


def test_what_an_attacker_would_use_is_a_warning(tmp_path: Path) -> None:
    clinic_at(tmp_path, slot=0.5, desk="failures_allowed = 50")
    said = json.loads(
        CliRunner().invoke(app, ["desk", "check", str(tmp_path / "clinic.toml"), "--json"]).stdout
    )["warnings"]
    for words in ("failures_allowed = 50", "below a second"):
        assert any(words in each for each in said), words


def test_a_token_is_an_analysts_or_the_owners(tmp_path: Path) -> None:
    clinic_at(tmp_path)
    file = str(tmp_path / "clinic.toml")
    assert (
        CliRunner().invoke(app, ["desk", "token", file, "--metrics"]).stdout.startswith("discreet_")
    )
    for wrong in ([], ["epidemiology", "--metrics"]):
        assert CliRunner().invoke(app, ["desk", "token", file, *wrong]).exit_code != 0
