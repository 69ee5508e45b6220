"""The analyst's side: the same names and answers as a local table."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from discreet import PureDP, Study
from discreet._cli import app
from discreet.desk import client, connect
from discreet.desk.client import DeskQuestionError, DeskRefusalError, DeskUnreachableError
from discreet.errors import ParameterError
from discreet.questions import Median, TableRelease
from discreet.questions.read_back import release_from
from discreet.study import StudyError
from tests.tools.desks import MODE, STUDY, Caller

ANYTHING = "x"


def test_a_table_of_a_desk_is_asked_like_one_in_hand(
    call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_DESK", call.url)
    monkeypatch.setenv("DISCREET_DESK_TOKEN", str(call.token))
    desk = connect()
    assert desk.tables == ("visits",)
    visits = desk.table("visits")
    assert set(visits.columns) == {"diagnosis", "clinic", "age"}
    assert "Table of a desk: visits" in repr(visits)
    assert "patient_id" in visits._repr_html_()
    plan = visits.plan(Median("age", epsilon="0.5", where="clinic = 'north'"))
    assert plan["fits"]
    assert "19 times out of 20" in plan["accuracy"]["words"]
    with pytest.raises(ParameterError, match="bounds= is decided by the owner"):
        visits.plan(Median("age", epsilon="0.5", bounds="0:1"))
    release = visits.median("age", epsilon=5)
    assert isinstance(release, TableRelease)
    assert 33 <= release.answer <= 47
    assert release.guarantee == PureDP(5)
    assert release.guarantee.proof is not None
    assert release.entry.startswith("clinic/epidemiology, question ")
    newest = desk.answers()[0]
    assert release_from(newest["release"]) == release
    assert token_of(repr(desk)) is None
    best = visits.select_by(score="round_ages", epsilon=5)
    assert best.answer in (30, 40)
    assert best.guarantee == PureDP(5)
    with pytest.raises(DeskQuestionError, match="one of the scores registered here: round_ages"):
        visits.select_by(score="another", epsilon=1)
    with pytest.raises(DeskQuestionError, match=r"from 0\.01 to 20"):
        visits.mode("diagnosis", epsilon=21)
    with pytest.raises(ParameterError, match="one of visits"):
        desk.table("people")


def token_of(text: str) -> str | None:
    """Return the token that a text contains."""
    return text if "discreet_" in text else None


def test_the_command_line_asks_a_desk(
    call: Caller, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISCREET_DESK", call.url)
    monkeypatch.setenv("DISCREET_DESK_TOKEN", str(call.token))
    asked = ["mode", "desk:visits", "--column", "diagnosis", "--epsilon", "5"]
    app(asked, standalone_mode=False)
    assert capsys.readouterr().out.startswith("flu\n")
    first = ["first", "desk:visits", "--column", "diagnosis", "--epsilon", "5", "--above", "200"]
    app(first, standalone_mode=False)
    assert capsys.readouterr().out.startswith("flu\n")
    with pytest.raises(ParameterError, match="a desk does not answer bound"):
        app(["bound", "desk:visits", "--column", "age", "--epsilon", "5"], standalone_mode=False)
    with pytest.raises(ParameterError, match=r"--candidates is decided by the owner of a desk"):
        app([*asked, "--candidates", "flu,cold"], standalone_mode=False)


def test_addresses_and_tokens_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_DESK", raising=False)
    with pytest.raises(
        ParameterError, match=r"^set \$DISCREET_DESK to .* and \$DISCREET_DESK_TOKEN to"
    ):
        connect()
    with pytest.raises(ParameterError, match="https, unless"):
        connect("http://desk.example.org", token=ANYTHING)
    with pytest.raises(ParameterError, match="an address such as"):
        connect("file:///etc/passwd", token=ANYTHING)
    with pytest.raises(DeskUnreachableError, match="no desk answers"):
        connect("http://127.0.0.1:1", token=ANYTHING)


def test_what_cannot_be_sent_is_named(call: Caller) -> None:
    """The error about a line break in a key or a token does not say that the desk is unreachable."""
    desk = connect(call.url, token=str(call.token))
    for key in ("a\nb", "", "a b", "x" * 201, "é"):
        with pytest.raises(ParameterError, match=r"the key .* 1 to 200 printable ASCII characters"):
            desk.call("/api/ask", {}, key=key)
    for token in ("a\nb", "é"):
        with pytest.raises(ParameterError, match="token= is not a token from a desk"):
            connect(call.url, token=token)
    with pytest.raises(DeskUnreachableError, match="no desk answers"):
        connect(f"{call.url}x", token=ANYTHING)


def test_a_token_goes_to_the_desk_and_nowhere_else(
    call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token is not sent to a proxy if the desk is on this machine, and not after a redirect."""
    asked: list[str | None] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers["authorization"])
            self.send_response(302)
            self.send_header("location", f"{call.url}/api/desk")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}"
            monkeypatch.setenv("http_proxy", url)
            assert connect(call.url, token=str(call.token)).tables == ("visits",)
            assert asked == []
            with pytest.raises(DeskRefusalError, match="status 302") as refused:
                connect(url, token=ANYTHING)
            assert not isinstance(refused.value, ParameterError)
        finally:
            server.shutdown()
            thread.join()
    assert asked == [f"Bearer {ANYTHING}"]


def test_a_lost_reply_is_asked_for_again_and_an_error_has_the_key(
    call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first try may still wait for a worker: the desk then says that one question is enough."""
    desk = connect(call.url, token=str(call.token))
    monkeypatch.setattr(client, "time", SimpleNamespace(sleep=lambda _seconds: None))
    sent: list[str | None] = []
    lost = DeskUnreachableError("lost")
    waiting, unknown = DeskRefusalError("one question at a time"), DeskRefusalError("cannot tell")
    waiting.status = 429
    outcomes: list[Exception] = [lost, waiting]
    ask = desk.call

    def failing(path: str, body: Any = None, *, key: str | None = None) -> Any:
        sent.append(key)
        if outcomes:
            raise outcomes.pop(0)
        return ask(path, body, key=key)

    monkeypatch.setattr(desk, "call", failing)
    asked = {**MODE, "epsilon": 1}
    assert desk.ask(asked).answer == "flu"
    assert len(sent) == 3
    assert len(set(sent)) == 1
    outcomes.append(unknown)
    with pytest.raises(DeskRefusalError, match="cannot tell") as refused:
        desk.ask(asked)
    assert f"key={sent[-1]!r}" in refused.value.__notes__[0]


def test_releases_survive_the_way() -> None:
    release = TableRelease(
        answer={"north": ("flu", "cold"), "south": ("cold", "flu")},
        guarantee=PureDP("0.1"),
        mechanism="permute-and-flip",
        neighbours="add-remove",
        entry="clinic #2",
        count={"north": (3, 4), "south": (5, 6)},
        count_within=7,
        ordered=True,
        rules=("a rule",),
    )
    assert release_from(release.as_data()) == release


# ---- studies ---------------------------------------------------------------------------------------


@pytest.fixture
def reached(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_DESK", call.url)
    monkeypatch.setenv("DISCREET_DESK_TOKEN", str(call.token))


def test_a_study_is_planned_run_and_run_again(reached: None, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY.format(more=""))
    study = Study.read(file)
    before = connect().table("visits").left
    plan = study.plan()
    assert [float(line.cost) for line in plan.lines] == [2, 1]
    assert plan.fits
    assert plan.lines[0].judgement == "useful"
    assert connect().table("visits").left == before
    first = study.run(signed=plan.hash)
    paid = connect().table("visits").left
    assert paid != before
    again = study.run(signed=plan.hash)
    assert [each.kept for each in again.answered] == [each.kept for each in first.answered]
    assert connect().table("visits").left == paid


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('candidates = "codes.txt"', "candidates.* decided by the owner"),
        ("error_at_most = 5", "a desk needs epsilon"),
    ],
)
def test_what_the_owner_decides_is_refused_in_a_study(
    reached: None, tmp_path: Path, more: str, words: str
) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY.format(more=more))
    with pytest.raises(StudyError, match=words):
        Study.read(file).plan()


def test_a_desk_and_a_table_in_hand_are_two_studies(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    mixed = STUDY.format(more='table = "visits"').replace(
        'column = "age"', 'column = "age"\ntable = "own"'
    )
    own = '[table.own]\nsource = "a.csv"\nuser = "a"\n[[question]]'
    file.write_text(mixed.replace("[[question]]", own, 1))
    with pytest.raises(StudyError, match="make two studies"):
        Study.read(file)


def test_a_question_as_json_is_planned_and_asked_of_a_desk(
    reached: None, call: Caller, tmp_path: Path
) -> None:
    file = tmp_path / "question.json"
    file.write_text(json.dumps({"kind": "median", "column": "age", "epsilon": 1}))
    before = call("/api/desk").content["tables"]["visits"]["left"]

    def ask(*options: str) -> Result:
        return CliRunner().invoke(app, ["ask", "desk:visits", str(file), *options])

    assert json.loads(ask("--plan").stdout)["fits"]
    refused = ask("--user", "patient_id")
    assert "decided by the owner of a desk" in str(refused.exception)
    assert call("/api/desk").content["tables"]["visits"]["left"] == before
    assert 20 < int(ask().stdout) < 60
    assert call("/api/desk").content["tables"]["visits"]["left"] != before
