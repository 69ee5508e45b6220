"""The budget commands: tables, JSON, exit statuses."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from discreet import PureDP
from discreet._cli import app, main, output
from discreet.errors import ParameterError
from discreet.ledger import Ledger


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("DISCREET_LEDGER", str(tmp_path / "ledger.db"))

    def call(*arguments: str) -> Any:
        result = CliRunner().invoke(app, ["budget", *arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return json.loads(result.output) if "--json" in arguments else result

    return call


def test_where_there_is_no_answer_it_is_said(run: Any) -> None:
    run("create", "visits", "--epsilon", "3")
    said = run("answers", "visits")
    assert said.stdout == ""
    assert "no answer is kept in visits: --keep-answer keeps one" in said.stderr
    assert run("answers", "visits", "--json") == []


def test_a_life(run: Any, tmp_path: Path) -> None:
    assert "ε = 3" in run("create", "visits", "--epsilon", "3").output
    run("allot", "visits/alice", "--epsilon", "1")
    run("allot", "visits/bob", "--share", "1/10")
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.fail(ledger.spend("visits/alice", PureDP("0.25"), purpose="mode of diagnosis"))
    shown = run("show", "visits", "--json")
    assert [budget["name"] for budget in shown] == ["visits", "visits/alice", "visits/bob"]
    assert shown[0]["left"] == {"cost": "1.7", "delta": "0"}
    assert "mode of diagnosis" in run("history", "visits").output
    assert [entry["kind"] for entry in run("history", "visits", "--json")][-2:] == [
        "spend",
        "failed",
    ]
    planned = run(
        "plan",
        "visits",
        "--epsilon",
        "0.1",
        "--mechanism",
        "permute-and-flip",
        "--count",
        "10",
        "--json",
    )
    assert (planned["fits"], planned["most"], planned["cost"]["cost"]) == (True, 17, "1")
    assert "They fit" in run("plan", "visits", "--epsilon", "0.1", "--count", "10").output
    head = run("head", "visits").output.strip()
    assert run("head", "visits", "--json")["sequence"] == 5
    assert run("revoke", "visits/alice", "--purpose", "left", "--json")[0]["revoked"] is True
    assert "agree" in run("verify", "visits", "--head", head).output
    assert run("verify", "--json")[0]["holds"] is True
    assert "visits" in run("list").output
    assert "#7" in run("accept-clock", "visits", "--purpose", "test").output


def test_other_caps(run: Any) -> None:
    assert run("create", "a", "--rho", "0.5", "--json")[0]["accountant"] == "rho"
    made = run("create", "b", "--epsilon", "3", "--delta", "1e-6", "--period", "year", "--json")[0]
    assert (made["accountant"], made["period"]) == ("rho-delta", "year")
    made = run("create", "c", "--epsilon", "3", "--group", "north", "--group", "south", "--json")[0]
    assert set(made["groups"]) == {"north", "south"}
    planned = run("plan", "a", "--epsilon", "1", "--mechanism", "exponential", "--json")
    assert float(planned["each"]["cost"]) < 0.125


def test_a_budget_of_nothing_is_refused(run: Any) -> None:
    for cap in ("--epsilon", "--rho"):
        with pytest.raises(
            ParameterError, match=rf"{cap} '0' is not allowed: it must be .* above 0"
        ):
            run("create", "visits", cap, "0")
    run("create", "visits", "--epsilon", "1")
    with pytest.raises(ParameterError, match="a budget of zero"):
        run("allot", "visits/alice", "--share", "1e-13")
    assert len(run("list", "--json")) == 1


def test_a_broken_history_has_exit_status_1(run: Any, tmp_path: Path) -> None:
    run("create", "visits", "--epsilon", "3")
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger._store.write(
            lambda c: c.execute(text("UPDATE discreet_budgets SET limit_cost = limit_cost * 2"))
        )
    result = run("verify", "visits")
    assert result.exit_code == 1
    assert "differ from the history" in result.output


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["show", "nothing"], 2),
        (["create", "visits"], 2),
        (["create", "visits", "--epsilon", "-1"], 2),
        (["create", "visits", "--epsilon", "0"], 2),
        (["create", "visits", "--epsilon", "1e-13"], 2),
        (["create", "visits", "--epsilon", "inf"], 2),
        (["create", "visits", "--rho", "0"], 2),
        (["create", "visits", "--epsilon", "1", "--neighbours", "anybody"], 2),
        (["plan", "visits", "--epsilon", "1", "--neighbours", "anybody"], 2),
        (["allot", "visits/alice"], 2),
        (["allot", "visits/alice", "--epsilon", "1", "--share", "1/4"], 2),
        (["create", "visits", "--epsilon", "1", "--rho", "1"], 2),
        (["plan", "visits", "--rho", "1", "--mechanism", "exponential"], 2),
        (["verify", "--head", "x:1:" + "0" * 64], 2),
        (["list", "--ledger", "absent.db"], 3),
        (["list", "--ledger", "postgresql://me:secret@127.0.0.1:1/none"], 3),
    ],
)
def test_exit_statuses(
    arguments: list[str],
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DISCREET_LEDGER", str(tmp_path / "ledger.db"))
    monkeypatch.chdir(tmp_path)
    with Ledger.open():
        pass
    monkeypatch.setattr(sys, "argv", ["discreet", "budget", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    printed = capsys.readouterr()
    assert left.value.code == status
    assert printed.err.startswith("error: ")
    assert "=" not in printed.err
    assert "secret" not in printed.err
    assert printed.out == ""
    assert not (tmp_path / "absent.db").exists()


def test_a_revoked_budget_says_so(run: Any) -> None:
    run("create", "visits", "--epsilon", "3")
    run("revoke", "visits")
    assert run("plan", "visits", "--epsilon", "1", "--json")["left"]["cost"] == "0"
    with pytest.raises(ParameterError, match="was revoked; a name cannot be used again"):
        run("create", "visits", "--epsilon", "3")


def test_an_epsilon_delta_budget_shows_epsilon_first(run: Any, tmp_path: Path) -> None:
    run("create", "visits", "--epsilon", "3", "--delta", "1e-6")
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert ledger.show("visits").left == "ε = 3 at δ = 1e-6 (ρ = 0.175749908689, δ = 5e-7)"
        assert ledger.show("visits").spent == "ε = 0 at δ = 1e-6 (ρ = 0, δ = 0)"
        ledger.spend("visits", PureDP("0.1"))
        assert ledger.show("visits").spent.startswith("ε = 0.")
        ledger.allot("visits/alice", share="1/10")
        assert ledger.show("visits/alice").left.startswith("ρ = 0.017")


def test_tables_fit_a_narrow_screen_and_break_no_word(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "screen_width", lambda **_: 80)
    purpose = "the most common diagnosis of the second quarter, for the yearly report"
    run("create", "visits", "--epsilon", "3", "--delta", "1e-6")
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.spend("visits", PureDP("0.1"), purpose=purpose)
    for command in ("history", "show"):
        printed = run(command, "visits").output
        assert max(map(len, printed.splitlines())) <= 80
        words = set(printed.split())
        if command == "history":
            assert words.issuperset(purpose.split())
        # People see four digits; --json has all of them.
        assert not re.search(r"0\.\d{7}", printed)
        assert re.search(r"0\.\d{12}", json.dumps(run(command, "visits", "--json")))
