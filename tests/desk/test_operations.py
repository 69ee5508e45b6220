"""Operating a desk: metrics, the request log, and the health address."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.responses import Response

from discreet.desk import operations
from discreet.desk.owner_file import Metrics
from discreet.desk.serving import DeskServer
from discreet.desk.store import OWNER
from tests.tools.desks import MODE, Caller
from tests.tools.waiting import PATIENCE


def _get(url: str, token: str | None = None) -> tuple[int, str]:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    try:
        request = urllib.request.Request(url, headers=headers)  # noqa: S310  # our own
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:  # noqa: S310  # our own
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize("per_analyst", [False, True])
def test_figures_are_the_owners_and_name_analysts_only_if_told(
    per_analyst: bool, desk_in: Callable[..., DeskServer]
) -> None:
    asked = f'metrics = {{listen = "127.0.0.1:0", per_analyst = {json.dumps(per_analyst)}}}'
    with desk_in(desk=asked).in_background() as server:
        assert server.metrics is not None
        call = Caller.of(server, "epidemiology")
        assert call("/api/ask", MODE).status == 200
        assert call("/api/ask", {**MODE, "column": "secret"}).status == 400
        own = server.desk.store.new_token(OWNER, days=1)
        for token in (None, "wrong", call.token):
            assert _get(f"{server.metrics.url}/metrics", token)[0] == 401
        status, text = _get(f"{server.metrics.url}/metrics", own)
        assert status == 200
        labels = 'analyst="epidemiology",' if per_analyst else ""
        assert f'questions_total{{{labels}kind="mode",outcome="answered"}} 1.0' in text
        assert f'questions_total{{{labels}kind="mode",outcome="refused"}} 1.0' in text
        assert 'replies_total{status="400"} 1.0' in text
        assert "discreet_desk_waiting 0.0" in text
        assert "slots_missed_total 0.0" in text
        told = re.findall(r"^# HELP discreet_desk_(\w+) (.*)$", text, re.MULTILINE)
        depending = {name for name, words in told if "It depends on the data" in words}
        assert {name for name, _ in told} - depending == {"waiting", "working"}
        assert ("epidemiology" in text) == per_analyst
        assert "flu" not in text
        # The metrics token gives no access to the desk, and the desk's address serves no metrics.
        assert Caller(server, own)("/api/desk").status == 401
        assert call("/metrics").status == 404


def test_figures_stay_on_this_machine() -> None:
    with pytest.raises(ValueError, match="on this machine"):
        Metrics(listen="0.0.0.0:9464")


def test_every_request_is_a_line_without_answer_and_token(
    desk_in: Callable[..., DeskServer], tmp_path: Path
) -> None:
    with desk_in(desk='log = "requests.jsonl"').in_background() as server:
        call = Caller.of(server, "epidemiology")
        assert call("/api/ask", MODE).status == 200
        call("/api/desk?token=oops", authorization="Bearer stolen")
        call("/only-somebodys-words")
        call("/api/desk", host="evil.example")
        call("/api/ask", MODE, origin="https://evil.example")
        call("/api/desk", method="SOMEBODYSWORDS")
    lines = [json.loads(line) for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
    told = [(line["method"], line["path"], line["status"], line["analyst"]) for line in lines]
    assert told == [
        ("POST", "/api/ask", 200, "epidemiology"),
        ("GET", "/api/desk", 401, None),
        ("GET", "other", 404, None),
        ("GET", "/api/desk", 421, None),  # refused connections too
        ("POST", "/api/ask", 403, None),
        ("other", "/api/desk", 405, None),
    ]
    text = (tmp_path / "requests.jsonl").read_text()
    for secret in ("flu", "stolen", "oops", "words", "WORDS", "evil", str(call.token)):
        assert secret not in text
    assert (tmp_path / "requests.jsonl").stat().st_mode & 0o077 == 0


def test_a_desk_is_ready_while_its_ledger_and_its_store_answer(
    desk_in: Callable[..., DeskServer], tmp_path: Path
) -> None:
    with desk_in(desk='metrics = {listen = "127.0.0.1:0"}').in_background() as server:
        assert server.metrics is not None
        for url in (f"{server.url}/api/health", f"{server.metrics.url}/health"):
            assert _get(url) == (200, '{"ready":true}')
        (tmp_path / "budget.db").rename(tmp_path / "gone.db")
        for url in (f"{server.url}/api/health", f"{server.metrics.url}/health"):
            assert _get(url) == (503, '{"ready":false}')


def test_invented_rows_come_from_the_owners_file_alone(call: Caller) -> None:
    before = call("/api/desk").content["tables"]["visits"]["spent"]
    found = call("/api/invented", {"table": "visits", "rows": 500}).content
    assert found["invented"] is True
    columns = found["columns"]
    assert set(columns) == {"patient_id", "diagnosis", "clinic", "age"}
    assert {len(values) for values in columns.values()} == {500}
    assert set(columns["diagnosis"]) == {"flu", "cold", "asthma"}  # asthma is in no row
    assert all(0 <= int(age) <= 120 for age in columns["age"])
    wrong: list[object] = [
        {"table": "people", "rows": 5},
        {"table": "visits", "rows": 0},
        [],
        {"rows": 5},
    ]
    for each in wrong:
        assert call("/api/invented", each).status == 400
    assert call("/api/desk").content["tables"]["visits"]["spent"] == before


def test_a_rehearsal_at_the_desk_costs_nothing_and_says_what_it_is(call: Caller) -> None:
    before = call("/api/desk").content["tables"]["visits"]["spent"]
    reply = call("/api/rehearse", MODE)
    assert reply.status == 200, reply.content
    assert reply.content["invented"] is True
    assert reply.content["answer"] in ("flu", "cold", "asthma")
    assert call("/api/desk").content["tables"]["visits"]["spent"] == before


def test_a_function_of_the_owners_is_never_rehearsed(call: Caller) -> None:
    """It may open the table itself, so a rehearsal would answer from real rows without a payment."""
    scored = {"kind": "select_by", "table": "visits", "score": "round_ages", "epsilon": 20}
    assert call("/api/plan", scored).status == 200
    refused = call("/api/rehearse", scored)
    assert refused.status == 400
    assert "cannot be rehearsed" in refused.content["error"]


def test_strangers_do_not_fill_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_MOST_NETWORKS", 3)
    journal = operations.Journal(str(tmp_path / "log"))
    watched = operations.Watched(
        Response(status_code=421), paths=frozenset(), figures=None, journal=journal
    )

    def written(host: str, *, requests: int, analyst: str | None = None, now: float = 0) -> int:
        clock = SimpleNamespace(monotonic=lambda: now, strftime=time.strftime, gmtime=time.gmtime)
        monkeypatch.setattr(operations, "time", clock)
        before = len((tmp_path / "log").read_text().splitlines())
        scope = {"method": "GET", "path": "/", "client": (host, 1), "analyst": analyst}
        for _ in range(requests):
            watched._note(scope, 421)
        return len((tmp_path / "log").read_text().splitlines()) - before

    most = operations.MOST_LINES
    assert written("10.0.0.1", requests=most + 50) == most
    assert written("10.0.0.1", requests=most + 50, analyst="planning") == most + 50
    assert written("10.0.0.2", requests=1) == 1
    assert written("10.0.0.3", requests=1) == 1
    assert sum(written(f"10.0.1.{place}", requests=1) for place in range(most + 50)) == most
    assert written("10.0.0.1", requests=1, now=60) == 1
    journal.close()
