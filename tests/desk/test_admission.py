"""Admission before payment, payment before reading, one message for failures, no loss in a crash."""

from __future__ import annotations

import fcntl
import http.client
import json
import multiprocessing
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from sqlalchemy import create_engine, make_url, text

from discreet import PureDP
from discreet.desk import workers
from discreet.desk.admission import NOT_BEGUN, NOT_DONE, UNABLE, Desk, DeskError
from discreet.desk.owner_file import OwnerFile, read_owner_file
from discreet.desk.serving import DeskServer, allot_parts
from discreet.desk.store import ANSWERED, LOST, REFUSED, DeskStore
from discreet.desk.workers import Job
from discreet.errors import DiscreetError
from discreet.ledger import Ledger
from discreet.questions import Mode
from tests.tools.desks import MODE, Caller, Slots, clinic_at, desk_process
from tests.tools.waiting import PATIENCE, until

KILLS = int(os.environ.get("DISCREET_KILLS", "5"))
"""How often the desk is killed while a question is under way; 200 times in ``make bench-large``."""


SCORE = {"kind": "select_by", "table": "visits", "score": "round_ages", "epsilon": 1}
MEDIAN = {"kind": "median", "table": "visits", "column": "age", "epsilon": 1}
MEDIAN["where"] = "clinic = 'north'"


def test_what_is_not_paid_when_its_slot_ends_is_never_paid(
    desk_in: Callable[..., DeskServer],
) -> None:
    with desk_in(slot=0.1).in_background() as server:
        call = Caller.of(server, "epidemiology")
        # This worker never reaches its table; the end of the slot stops it.
        for worker in server.desk._workers:
            os.kill(worker._process.pid or 0, signal.SIGSTOP)
        reply = call("/api/ask", MODE)
        assert (reply.status, reply.content) == (503, {"error": NOT_BEGUN})
        assert call("/api/answers").content[0]["state"] == REFUSED
        history = server.desk.ledger.history("clinic/epidemiology")
        assert [entry.kind for entry in history] == ["allot"]


def test_a_worker_that_dies_after_the_spend_is_one_text_at_the_end_of_the_slot(
    tmp_path: Path,
    desk_in: Callable[..., DeskServer],
    slots: Slots,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = desk_in(desk="failures_allowed = 2")
    # It never answers by itself, so it dies before it answers.
    (tmp_path / "scores.py").write_text("import time\ndef round_ages(*_): time.sleep(10**6)")
    with made.in_background() as server:
        call = Caller.of(server, "epidemiology")
        record = server.desk.store.record

        def kill_when_paid(name: str, state: str, **what: object) -> None:
            record(name, state, **what)  # type: ignore[arg-type]
            if state == "paid":
                for worker in server.desk._workers:
                    os.kill(worker._process.pid or 0, signal.SIGKILL)
                    worker._process.join()  # so that the next question is not given to it

        monkeypatch.setattr(server.desk.store, "record", kill_when_paid)
        for count, key in enumerate(("a", "b"), 1):
            reply = call("/api/ask", SCORE, idempotency_key=key)
            assert reply.status == 410
            assert reply.content["error"].startswith(NOT_DONE)
            assert len(slots.left) == count  # it was sent at the end of its slot
            again = call("/api/ask", SCORE, idempotency_key=key)
            assert (again.status, again.content) == (410, reply.content)
        monkeypatch.setattr(server.desk.store, "record", record)
        kinds = [entry.kind for entry in server.desk.ledger.history("clinic/epidemiology")]
        assert kinds == ["allot", "spend", "failed", "spend", "failed"]
        stopped = call("/api/ask", MODE)
        assert stopped.status == 403
        assert "the owner of the desk must act" in stopped.content["error"]
        server.desk.store.forgive("epidemiology")
        assert call("/api/ask", MODE).status == 200


def test_another_analyst_sees_no_failure_and_nothing_early(
    tmp_path: Path, desk_in: Callable[..., DeskServer], slots: Slots
) -> None:
    server = desk_in()
    (tmp_path / "scores.py").write_text("def round_ages(source, age): raise ValueError('secret')")
    with server.in_background():
        failing, other = (Caller.of(server, name) for name in ("epidemiology", "planning"))
        ledger = server.desk.ledger

        def seen() -> list[object]:
            return [other(path).content for path in ("/api/desk", "/api/answers")]

        before, replies = seen(), []
        asking = threading.Thread(target=lambda: replies.append(failing("/api/ask", SCORE)))
        with slots.held():
            asking.start()
            until(lambda: slots.left, "the failure")
            assert [entry.kind for entry in ledger.history("clinic")][-1] == "spend"
            assert seen() == before
        asking.join()
        assert replies[0].status == 410
        assert replies[0].content["error"] == f"{NOT_DONE}: your question 1"
        kinds = [entry.kind for entry in ledger.history("clinic/epidemiology")]
        assert kinds == ["allot", "spend", "failed"]
        assert seen() == before
        # The numbers of an analyst's questions do not count other analysts' questions either.
        reply = other("/api/ask", {**MODE, "epsilon": 1}).content
        assert reply["entry"] == 1
        assert reply["release"]["entry"] == "clinic/planning, question 1"
        assert failing("/api/ask", MODE).content["entry"] == 2
        (log,) = server.desk.store.asked("planning")
        assert log.entry == ledger.history("clinic/planning")[-1].sequence
        (*_, failed) = server.desk.store.asked("epidemiology")
        assert (failed.reason or "").startswith("TableError: ")
        assert "secret" not in (failed.reason or "")


def _gone(file: Path) -> None:
    file.rename(file.with_name("gone"))


def _column_lost(file: Path) -> None:
    pl.read_parquet(file).drop("clinic", "diagnosis").write_parquet(file)


def _score_broken(file: Path) -> None:
    file.write_text("raise RuntimeError('/srv/private')")


@pytest.mark.parametrize(
    "case",
    [
        ("visits.parquet", _gone, MODE, "visits.parquet"),
        ("visits.parquet", _column_lost, MODE, "secret"),
        ("visits.parquet", _column_lost, MEDIAN, "secret"),
        ("scores.py", _score_broken, SCORE, "RuntimeError"),
        ("scores.py", _gone, SCORE, "FileNotFoundError"),
        ("budget.db", _gone, MODE, "budget.db"),
    ],
)
def test_what_the_owner_must_repair_is_one_sentence_to_analysts(
    tmp_path: Path,
    desk_in: Callable[..., DeskServer],
    caplog: pytest.LogCaptureFixture,
    case: tuple[str, Callable[[Path], None], dict[str, object], str],
) -> None:
    """Analysts see no path, address or column of the owner; the owner's log has them."""
    file, done, question, reason = case
    with desk_in().in_background() as server:
        call = Caller.of(server, "epidemiology")
        done(tmp_path / file)
        reply = call("/api/ask", question)
        assert (reply.status, reply.content) == (503, {"error": UNABLE})
        for path in ("/api/plan", "/api/suggest", "/api/rehearse"):
            looked = call(path, question)
            assert looked.status in (200, 400, 503)
            assert not any(
                each in str(looked.content) for each in (str(tmp_path), "secret", reason)
            )
        (asked,) = server.desk.store.asked("epidemiology")
        assert (asked.state, asked.number) == (REFUSED, None)
        assert reason in (asked.reason or "")
        assert reason in caplog.text
        told = json.dumps([call(path).content for path in ("/api/desk", "/api/answers")])
        assert str(tmp_path) not in told
        assert reason not in told


@pytest.mark.parametrize("closed", [False, True])
def test_a_database_that_fails_is_one_sentence_to_analysts(
    tmp_path: Path, postgres: str, caplog: pytest.LogCaptureFixture, closed: bool
) -> None:
    address = make_url(postgres).set(drivername="postgresql+psycopg")
    with _desk_of_database(tmp_path, postgres).in_background() as server:
        call = Caller.of(server, "epidemiology")
        assert call("/api/ask", MODE).status == 200
        owner = create_engine(address.set(database="postgres"), isolation_level="AUTOCOMMIT")
        inside = create_engine(address, isolation_level="AUTOCOMMIT")
        with inside.connect() as connection:
            connection.execute(text("DROP TABLE clinic_visits"))
        inside.dispose()
        if closed:
            with owner.connect() as connection:
                connection.execute(
                    text(f"ALTER DATABASE {address.database} ALLOW_CONNECTIONS false")
                )
                connection.execute(
                    text(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"
                    ),
                    {"name": address.database},
                )
        owner.dispose()
        reply = call("/api/ask", MODE)
        assert (reply.status, reply.content) == (503, {"error": UNABLE})
        assert str(server.desk.store.asked("epidemiology")[0].reason) in caplog.text


def _desk_of_database(folder: Path, address: str) -> DeskServer:
    """A desk with a table in a database."""
    clinic_at(folder)
    engine = create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
    pl.read_parquet(folder / "visits.parquet").write_database("clinic_visits", engine)
    engine.dispose()
    file = folder / "clinic.toml"
    source = f'source = "{address}"\ntable = "clinic_visits"'
    file.write_text(file.read_text().replace('source = "visits.parquet"', source))
    return DeskServer(read_owner_file(file))


def test_what_is_wrong_with_the_question_is_told(desk_in: Callable[..., DeskServer]) -> None:
    with desk_in().in_background() as server:
        call = Caller.of(server, "planning")
        wrong = call("/api/ask", {**MODE, "epsilon": 1, "where": "clinic > 3"})
        assert wrong.status == 400
        assert "where" in wrong.content["error"]
        assert call("/api/ask", {**MODE, "epsilon": 2}).status == 200
        spent = call("/api/ask", {**MODE, "epsilon": 1})
        assert spent.status == 400
        assert "does not fit" in spent.content["error"]


def test_a_full_desk_refuses_unpaid(desk_in: Callable[..., DeskServer]) -> None:
    with desk_in(desk="queue = 0").in_background() as server:
        for _ in range(2):  # both workers are busy
            server.desk._idle.get_nowait()
        reply = Caller.of(server, "epidemiology")("/api/ask", MODE)
        assert reply.status == 503
        assert reply.content["error"] == "the desk is full; nothing was spent"
        assert int(reply.headers["retry-after"]) >= 1
        history = server.desk.ledger.history("clinic/epidemiology")
        assert [entry.kind for entry in history] == ["allot"]


def _asked(call: Caller, *, key: str) -> http.client.HTTPConnection:
    """Send a question and return its connection, which the caller may close before the reply."""
    line = http.client.HTTPConnection(*call.server.owner.desk.address, timeout=PATIENCE)
    headers = {"authorization": f"Bearer {call.token}", "idempotency-key": key}
    line.request("POST", "/api/ask", json.dumps(MODE), headers)
    return line


def test_who_hangs_up_finds_the_answer_later(
    desk_in: Callable[..., DeskServer], slots: Slots
) -> None:
    with desk_in().in_background() as server:
        call = Caller.of(server, "epidemiology")
        with slots.held():
            line = _asked(call, key="gone")
            until(lambda: slots.left, "the worker's answer")
            line.close()
        until(lambda: not server.desk.store.unfinished(), "the end of the question")
        found = call("/api/ask", MODE, idempotency_key="gone")
        assert found.status == 200
        assert found.content["release"]["answer"] == "flu"


def test_who_hangs_up_while_the_question_is_being_paid_pays_once_and_finds_the_answer(
    desk_in: Callable[..., DeskServer],
) -> None:
    with desk_in().in_background() as server:
        call = Caller.of(server, "epidemiology")
        ledger = sqlite3.connect(server.owner.ledger.place, isolation_level=None)
        ledger.execute("BEGIN IMMEDIATE")  # the payment takes this long
        line = _asked(call, key="gone")
        until(lambda: _is_held(server.desk.store.till), "a worker that pays")
        line.close()
        ledger.execute("ROLLBACK")
        ledger.close()
        until(lambda: not server.desk.store.unfinished(), "the end of the question")
        (kept,) = server.desk.store.asked("epidemiology")
        found = call("/api/ask", MODE, idempotency_key="gone")
        assert (found.status, found.content["release"]) == (200, kept.answer)
        entries = server.desk.ledger.history("clinic/epidemiology")
        assert [entry.kind for entry in entries] == ["allot", "spend"]


def test_a_real_postgresql_counts_for_the_desk(tmp_path: Path, postgres: str) -> None:
    with DeskServer(clinic_at(tmp_path, ledger=postgres)).in_background() as server:
        analysts = [Caller.of(server, name) for name in ("epidemiology", "planning")]
        replies: list[int] = []

        def ask(call: Caller) -> None:
            replies.append(call("/api/ask", {**MODE, "epsilon": 1}).status)

        threads = [threading.Thread(target=ask, args=(call,)) for call in analysts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert replies == [200, 200]
        assert server.desk.ledger.verify("clinic").holds


def test_a_table_in_a_database_is_counted_there(tmp_path: Path, postgres_database: str) -> None:
    with _desk_of_database(tmp_path, postgres_database).in_background() as server:
        reply = Caller.of(server, "epidemiology")("/api/ask", MODE)
        assert reply.status == 200
        assert reply.content["release"]["answer"] == "flu"


def test_one_desk_serves_from_a_store_at_a_time(
    tmp_path: Path, desk_in: Callable[..., DeskServer]
) -> None:
    """A second desk would record the first one's questions as lost. The owner's commands still work."""
    with desk_in().in_background() as server:
        with pytest.raises(DiscreetError, match="another desk is using the store"):
            DeskServer(read_owner_file(tmp_path / "clinic.toml"))
        with DeskStore(str(server.owner.desk.store)) as store:
            assert store.unfinished() == []


def test_what_a_crash_left_open_is_settled_without_its_table(tmp_path: Path) -> None:
    """The owner may rename the table before starting the desk again."""
    owner = clinic_at(tmp_path)
    allot_parts(owner)
    desk = Desk(owner)
    paid, unpaid = (
        desk.store.admit("epidemiology", None, "", {"table": "of old"}) for _ in range(2)
    )
    # An analyst sees the names of their questions, and can write one into a condition.
    purpose = f"desk {paid}: mode of code, where clinic != 'desk {unpaid}:'"
    entry = desk.ledger.spend("clinic/epidemiology", PureDP(1), purpose=purpose)
    desk._settle()
    assert (desk.store.one(paid).state, desk.store.one(paid).entry) == (LOST, entry.sequence)
    assert desk.store.one(unpaid).state == REFUSED
    desk.ledger.close()
    desk.store.close()


def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    desk = Desk(clinic_at(tmp_path))
    for _ in range(desk.owner.desk.requests_per_minute):
        desk.require_calm("somebody")
    desk.require_calm("somebody else")
    with pytest.raises(DeskError) as refused:
        desk.require_calm("somebody")
    assert refused.value.status == 429
    assert 1 < (refused.value.retry_after or 0) <= 60
    desk.ledger.close()
    desk.store.close()


def test_killed_at_any_point_it_loses_no_answer_and_answers_nothing_unpaid(tmp_path: Path) -> None:
    """Sent answers are in the store, paid questions in the ledger, and each key is charged once."""
    owner = clinic_at(tmp_path, slot=0.3, workers=1)
    file = tmp_path / "clinic.toml"
    told: dict[str, dict[str, object]] = {}
    for kill in range(KILLS):
        with desk_process(file) as (process, url):
            with DeskStore(str(owner.desk.store)) as store:
                token = store.new_token("epidemiology", days=1)
            killer = threading.Timer(0.05 + 0.04 * (7 * kill % 20), process.kill)
            _ask_until_gone(url, token, kill, told, killer)
    with DeskServer(read_owner_file(file)).in_background() as server:
        asked_questions = server.desk.store.asked("epidemiology")
        spends = [
            entry
            for entry in server.desk.ledger.history("clinic/epidemiology")
            if entry.kind == "spend"
        ]
        by_key = {question.key: question for question in asked_questions}
        for key, content in told.items():
            assert by_key[key].state == ANSWERED
            assert by_key[key].answer == content
        for question in asked_questions:
            paid = [entry for entry in spends if question.id in str(entry.details["purpose"])]
            assert len(paid) == (0 if question.state == REFUSED else 1)
            assert question.state in (ANSWERED, LOST, REFUSED, "failed")
    with Ledger.open(owner.ledger.place) as ledger:
        assert ledger.verify("clinic").holds


def test_a_worker_that_pays_while_its_desk_is_killed_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the next desk would say that nothing was spent, and the worker would then pay."""
    owner = clinic_at(tmp_path)
    allot_parts(owner)
    desk = Desk(owner)  # the next desk; the question belongs to the killed one
    question = desk.store.admit("epidemiology", None, "", {"table": "visits"})
    paying, may_pay, met = threading.Event(), threading.Event(), threading.Event()

    def pay(*what: Any, **more: Any) -> Any:
        paying.set()
        assert may_pay.wait(PATIENCE)
        return desk.ledger.spend(*what, **more)

    def wait(seconds: float) -> None:  # the desk waits for the worker's lock
        met.set()
        time.sleep(seconds)

    monkeypatch.setattr(workers, "_ledger", lambda _address: SimpleNamespace(spend=pay))
    monkeypatch.setattr(workers, "time", SimpleNamespace(monotonic=time.monotonic, sleep=wait))
    _, line = multiprocessing.Pipe()
    worker = workers._Counting(_job(owner, till=desk.store.till), line)
    purpose = f"desk {question}: mode"
    spending = threading.Thread(
        target=lambda: worker.spend("clinic/epidemiology", PureDP(1), purpose=purpose)
    )
    settling = threading.Thread(target=desk._settle)
    spending.start()
    assert paying.wait(PATIENCE)
    settling.start()
    until(lambda: met.is_set() or not settling.is_alive(), "the desk to meet the lock")
    assert settling.is_alive()
    may_pay.set()
    for each in (spending, settling):
        each.join()
    settled = desk.store.one(question)
    entry = desk.ledger.history("clinic/epidemiology")[-1]
    assert (settled.state, settled.entry, entry.kind) == (LOST, entry.sequence, "spend")
    desk.ledger.close()
    desk.store.close()


def _job(owner: OwnerFile, *, till: str) -> Job:
    """Return a question from ``epidemiology`` as a worker gets it."""
    return Job(
        ledger=owner.ledger.place,
        till=till,
        source=owner.table["visits"].source,
        dataset="clinic/epidemiology",
        question=Mode("diagnosis", candidates=["flu", "cold"], epsilon=1),
        terms={"user": "patient_id"},
    )


def _is_held(till: str) -> bool:
    with open(till, "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_worker_whose_desk_has_ended_does_not_pay(tmp_path: Path) -> None:
    owner = clinic_at(tmp_path)
    allot_parts(owner)
    ours, theirs = multiprocessing.Pipe()
    job = _job(owner, till=str(tmp_path / "till"))
    ours.close()
    with pytest.raises(OSError, match="Broken pipe"):
        workers._run(job, theirs)
    theirs.close()
    with Ledger.open(owner.ledger.place) as ledger:
        assert all(entry.kind != "spend" for entry in ledger.history("clinic/epidemiology"))


def _ask_until_gone(
    url: str, token: str, kill: int, told: dict[str, dict[str, object]], killer: threading.Timer
) -> None:
    """Ask one question after another until the desk is killed; keep the replies."""
    host = url.removeprefix("http://")
    started = False
    for number in range(100):
        key = f"{kill}-{number}"
        line = http.client.HTTPConnection(host, timeout=PATIENCE)
        headers = {"authorization": f"Bearer {token}", "idempotency-key": key}
        try:
            line.request("POST", "/api/ask", json.dumps({**MODE, "epsilon": "0.01"}), headers)
            if not started:
                started = True
                killer.start()
            reply = line.getresponse()
            content = json.load(reply)
            if reply.status == 200:
                told[key] = content["release"]
        except (OSError, http.client.HTTPException, ValueError):
            if started and killer.finished.is_set():
                return
            time.sleep(0.05)
        finally:
            line.close()


def test_nobody_else_can_hold_the_lock_and_no_wait_is_endless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    till = str(tmp_path / "till")
    monkeypatch.setattr(workers, "_PATIENCE", 0.1)
    with workers.locked(till, shared=True), workers.locked(till, shared=True):
        assert Path(till).stat().st_mode & 0o077 == 0
        with pytest.raises(DiscreetError, match="lock") as late, workers.locked(till):
            pass
        assert till in str(late.value)  # shown to the owner, never to an analyst
    with workers.locked(till):
        pass
