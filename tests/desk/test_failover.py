"""A desk with a ledger in PostgreSQL, when the server dies and its standby takes over."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from discreet.desk.admission import GONE, NOT_DONE, UNABLE, UNKNOWN
from discreet.desk.serving import DeskServer
from tests.tools.desks import MODE, Caller, Reply, clinic_at
from tests.tools.postgresql import Failover
from tests.tools.waiting import until

EPSILON_1 = {**MODE, "epsilon": 1}
WAITS_FOR_LOCK = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@contextmanager
def _before_the_commit(servers: Failover) -> Iterator[None]:
    """Make a payment wait for a lock, so the server dies before the commit."""
    tables = (
        "SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables WHERE schemaname = 'public'"
    )
    ((names,),) = servers.execute("primary", tables)
    engine = servers.engine("primary").execution_options(isolation_level="READ COMMITTED")
    connection = engine.connect()
    connection.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))
    yield
    until(lambda: servers.execute("primary", WAITS_FOR_LOCK), "a payment that waits")
    servers.kill_primary()
    connection.invalidate()
    connection.close()


@contextmanager
def _silent_standby(servers: Failover) -> Iterator[None]:
    """Make a payment's commit wait for the standby."""
    ((receiver,),) = servers.execute("standby", "SELECT pid FROM pg_stat_wal_receiver")
    os.kill(receiver, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(receiver, signal.SIGCONT)


def _await_commit(servers: Failover) -> None:
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    until(lambda: servers.execute("primary", waits), "a commit that waits for the standby")


@contextmanager
def _after_the_commit(servers: Failover) -> Iterator[None]:
    """Let the standby get the payment before the server can confirm the commit."""
    with _silent_standby(servers):
        yield
        _await_commit(servers)
        sent = "SELECT 1 FROM pg_stat_replication WHERE sent_lsn >= pg_current_wal_flush_lsn()"
        until(lambda: servers.execute("primary", sent), "the commit on its way to the standby")
        servers.kill_primary()


pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="stops a process of the server's user")


def test_a_commit_that_outlives_its_worker_is_waited_for(
    tmp_path: Path, failover: Failover
) -> None:
    """Otherwise the desk would report that nothing was paid, and the next try would be charged too."""
    with DeskServer(clinic_at(tmp_path, ledger=failover.address)).in_background() as server:
        call = Caller.of(server, "epidemiology")
        replies: list[Reply] = []
        asking = threading.Thread(target=lambda: replies.append(call("/api/ask", EPSILON_1)))
        with _silent_standby(failover):
            asking.start()
            _await_commit(failover)
            for worker in server.desk._workers:
                os.kill(worker._process.pid or 0, signal.SIGKILL)
            waits = partial(failover.execute, "primary", WAITS_FOR_LOCK)
            until(lambda: replies or waits(), "the desk to wait for it")
        asking.join()
        assert [reply.status for reply in replies] == [410]
        assert replies[0].content["error"].startswith(NOT_DONE)
        entries = server.desk.ledger.history("clinic/epidemiology")
        assert [entry.kind for entry in entries] == ["allot", "spend", "failed"]


@pytest.mark.parametrize("committed", [False, True])
def test_a_failover_loses_no_payment_and_takes_none_twice(
    tmp_path: Path, failover: Failover, committed: bool
) -> None:
    """The standby confirms every commit, as ``docs/desk.md`` requires."""
    with DeskServer(clinic_at(tmp_path, ledger=failover.address)).in_background() as server:
        call = Caller.of(server, "epidemiology")
        first = call("/api/ask", EPSILON_1, idempotency_key="before")
        assert first.status == 200
        replies: list[Reply] = []
        asking = threading.Thread(
            target=lambda: replies.append(call("/api/ask", EPSILON_1, idempotency_key="during"))
        )
        with (_after_the_commit if committed else _before_the_commit)(failover):
            asking.start()
        asking.join()
        # Without a ledger the desk cannot know whether it was paid, and says so.
        assert [(reply.status, reply.content) for reply in replies] == [(503, {"error": UNKNOWN})]
        assert call("/api/health").status == 503
        other = Caller.of(server, "planning")("/api/ask", EPSILON_1, idempotency_key="down")
        assert (other.status, other.content) == (503, {"error": UNABLE})
        failover.promote_standby()
        until(lambda: call("/api/health").status == 200, "the ledger on the standby")
        again = call("/api/ask", EPSILON_1, idempotency_key="during")
        if committed:
            assert again.status == 410
            assert again.content["error"].startswith(GONE)
        else:
            assert again.status == 200
        assert call("/api/ask", EPSILON_1, idempotency_key="before").content == first.content
        entries = server.desk.ledger.history("clinic/epidemiology")
        assert [entry.kind for entry in entries] == ["allot", "spend", "spend"]
        assert len(server.desk.ledger.history("clinic/planning")) == 1
        assert server.desk.ledger.verify("clinic").holds
