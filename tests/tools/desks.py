"""A desk in front of an invented clinic, in its own folder, and requests to it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet import PureDP
from discreet.desk import connections, serving
from discreet.desk.admission import Desk
from discreet.desk.owner_file import OwnerFile, read_owner_file
from discreet.desk.serving import DeskServer
from discreet.desk.shapes import ASKED
from discreet.ledger import Ledger
from tests.tools.waiting import PATIENCE

SLOT = 600.0
"""Seconds for every question: more than a busy machine needs. ``Slots`` ends a slot when its work is done."""

OWNER_FILE = """
[ledger]
place = "{ledger}"
[desk]
listen = "127.0.0.1:0"
workers = {workers}
patience = 600
requests_per_minute = 5000
{desk}
[table.visits]
source = "visits.parquet"
user = "patient_id"
dataset = "clinic"
where = ["clinic"]
[table.visits.slot]
{slots}
[table.visits.column.diagnosis]
candidates = ["flu", "cold", "asthma"]
[table.visits.column.clinic]
candidates = "clinics.txt"
[table.visits.column.age]
bounds = [0, 120]
[table.visits.score.round_ages]
file = "scores.py"
function = "round_ages"
candidates = [10, 20, 30, 40]
sensitivity = 1
monotonic = true
[table.visits.vote.age]
file = "votes.py"
function = "trend"
candidates = ["old", "young"]
blocks = 4
seconds = 5
columns = ["age"]
rehearse_on = "public.parquet"
[analyst.epidemiology]
tables = ["visits"]
epsilon = {epsilon}
least_per_question = 0.01
most_per_question = 20
[analyst.planning]
tables = ["visits"]
epsilon = 2
"""
SCORES = """
import polars as pl

def round_ages(source, age):
    people = pl.scan_parquet(source).filter(pl.col("age") == age).select(pl.col("patient_id").n_unique())
    return people.collect().item()
"""
VOTES = """
def trend(rows):
    ages = rows["age"].to_pylist()
    if not ages:
        return None
    return "old" if sum(ages) / len(ages) > 20 else "young"
"""
STUDY = """
[study]
title = "Winter"
epsilon = 3
[table.visits]
source = "desk:visits"
[[question]]
name = "diagnosis"
ask = "mode"
column = "diagnosis"
{more}
[[question]]
name = "age"
ask = "median"
column = "age"
epsilon = 1
"""
MODE = {"kind": "mode", "table": "visits", "column": "diagnosis", "epsilon": 5}


def clinic_at(
    folder: Path,
    *,
    ledger: str = "budget.db",
    slot: float = SLOT,
    workers: int = 2,
    desk: str = "",
    epsilon: int = 40,
) -> OwnerFile:
    """Write an owner's file with its table, candidates and budget, and read it."""
    people = range(400)
    pl.DataFrame(
        {
            "patient_id": list(people),
            "diagnosis": ["flu" if i % 8 else "cold" for i in people],
            "clinic": ["north" if i % 3 else "south" for i in people],
            "age": [30 + i % 21 for i in people],
            "secret": [f"only{i}" for i in people],
        }
    ).write_parquet(folder / "visits.parquet")
    (folder / "clinics.txt").write_text("north\nsouth\n")
    (folder / "scores.py").write_text(SCORES)
    (folder / "votes.py").write_text(VOTES)
    pl.DataFrame({"age": [31, 45]}).write_parquet(folder / "public.parquet")
    file = folder / "clinic.toml"
    slots = "\n".join(f'{kind} = "{slot}s"' for kind in ASKED)
    file.write_text(
        OWNER_FILE.format(ledger=ledger, slots=slots, workers=workers, desk=desk, epsilon=epsilon)
    )
    owner = read_owner_file(file)
    with Ledger.open(owner.ledger.place) as opened:
        opened.create("clinic", PureDP(100))
    return owner


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a request."""

    status: int
    content: Any
    headers: Any


class Caller:
    """A client that sends requests to a running desk, with or without a token."""

    def __init__(self, server: DeskServer, token: str | None) -> None:
        self.url = server.url
        self.server = server
        self.token = token

    @classmethod
    def of(cls, server: DeskServer, analyst: str) -> Caller:
        """Return a client for an analyst, with a token that is valid for a day."""
        return cls(server, server.desk.store.new_token(analyst, days=1))

    def __call__(
        self, path: str, body: Any = None, *, method: str | None = None, **headers: str
    ) -> Reply:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token is not None:
            given.setdefault("authorization", f"Bearer {self.token}")
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=given, method=method)  # noqa: S310  # our own
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:  # noqa: S310  # our own
                return _read(reply)
        except urllib.error.HTTPError as error:
            return _read(error)


class Slots:
    """The slots of all desks of a test: each ends when its work is done, unless the test holds it open."""

    def __init__(self) -> None:
        self.left: list[float] = []
        """The seconds that were left of each slot when its work was done."""
        self._may_end = threading.Event()
        self._may_end.set()

    async def over(self, until: float) -> None:
        """Wait until a slot may end."""
        self.left.append(until - asyncio.get_running_loop().time())
        await asyncio.to_thread(self._may_end.wait)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep all slots open inside the ``with`` block."""
        self._may_end.clear()
        try:
            yield
        finally:
            self._may_end.set()


@contextmanager
def desk_process(
    file: Path, *, sources: Path | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run a desk in its own process, perhaps with other sources, and yield its address."""
    command = [sys.executable, "-m", "discreet", "desk", "serve", str(file), "--json"]
    given = None if sources is None else {**os.environ, "PYTHONPATH": str(sources)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=given
    ) as process:
        assert process.stdout is not None
        try:
            told = b""
            while not told.endswith(b"}\n"):
                line = process.stdout.readline()
                assert line, "the desk ended before it served"
                told += line
            yield process, str(json.loads(told)["url"])
        finally:
            process.kill()


def _read(reply: Any) -> Reply:
    content = reply.read()
    if reply.headers.get("content-type", "").startswith("application/json"):
        content = json.loads(content)
    return Reply(reply.status, content, reply.headers)


@pytest.fixture(scope="session", autouse=True)
def unhurried_connections() -> Iterator[None]:
    """Never close a test's connection because it is slow, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (connections, serving):
            patch.setattr(module, "ARRIVAL", PATIENCE)
        yield


@pytest.fixture(scope="session")
def desk_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    """A running desk that all tests of a process share, with a budget for all of them."""
    owner = clinic_at(tmp_path_factory.mktemp("desk"), epsilon=98)
    with DeskServer(owner).in_background() as running:
        yield running


@pytest.fixture(autouse=True)
def slots(monkeypatch: pytest.MonkeyPatch) -> Slots:
    """The slots of all desks of this process, which end when their work is done."""
    ended_early = Slots()
    monkeypatch.setattr(Desk, "_slot_over", lambda _, until: ended_early.over(until))
    return ended_early


@pytest.fixture
def call(desk_server: DeskServer) -> Caller:
    """A client for the analyst ``epidemiology``."""
    return Caller.of(desk_server, "epidemiology")


@pytest.fixture
def desk_in(tmp_path: Path) -> Callable[..., DeskServer]:
    """A function that makes a desk without starting it."""
    return lambda **settings: DeskServer(clinic_at(tmp_path, **settings))
