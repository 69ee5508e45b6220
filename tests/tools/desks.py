"""A desk in front of an invented clinic, in a folder of its own, and requests to it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet import PureDP
from discreet.desk.owner_file import OwnerFile, read_owner_file
from discreet.desk.serving import DeskServer
from discreet.ledger import Ledger

SLOT = 6.0
"""Seconds for every question: a busy machine is given time, so that none fails by chance."""

OWNER_FILE = """
[ledger]
place = "{ledger}"
[desk]
listen = "127.0.0.1:0"
workers = {workers}
requests_per_minute = 5000
{desk}
[table.visits]
source = "visits.parquet"
user = "patient_id"
dataset = "clinic"
where = ["clinic"]
[table.visits.slot]
mode = "{slot}s"
median = "{slot}s"
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
[analyst.epidemiology]
tables = ["visits"]
epsilon = 40
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
MODE = {"kind": "mode", "table": "visits", "column": "diagnosis", "epsilon": 5}


def clinic_at(
    folder: Path, *, ledger: str = "budget.db", slot: float = SLOT, workers: int = 2, desk: str = ""
) -> OwnerFile:
    """An owner's file with its table, candidates and budget."""
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
    file = folder / "clinic.toml"
    file.write_text(OWNER_FILE.format(ledger=ledger, slot=slot, workers=workers, desk=desk))
    owner = read_owner_file(file)
    with Ledger.open(owner.ledger.place) as opened:
        opened.create("clinic", PureDP(100))
    return owner


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    content: Any
    headers: Any


class Caller:
    """Requests to a running desk, with a token or without."""

    def __init__(self, server: DeskServer, token: str | None) -> None:
        self.url = server.url
        self.server = server
        self.token = token

    def __call__(
        self, path: str, body: Any = None, *, method: str | None = None, **headers: str
    ) -> Reply:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token is not None:
            given.setdefault("authorization", f"Bearer {self.token}")
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=given, method=method)  # noqa: S310  # our own
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310  # our own
                return _read(reply)
        except urllib.error.HTTPError as error:
            return _read(error)


def _read(reply: Any) -> Reply:
    content = reply.read()
    if reply.headers.get("content-type", "").startswith("application/json"):
        content = json.loads(content)
    return Reply(reply.status, content, reply.headers)


@pytest.fixture(scope="session")
def desk_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    """A desk that all tests of a process share."""
    with DeskServer(clinic_at(tmp_path_factory.mktemp("desk"))).in_background() as running:
        yield running


@pytest.fixture
def call(desk_server: DeskServer) -> Caller:
    """Requests of the analyst ``epidemiology``."""
    token = desk_server.desk.store.new_token("epidemiology", days=1)
    return Caller(desk_server, token)


@pytest.fixture
def desk_in(tmp_path: Path) -> Callable[..., DeskServer]:
    """Make a desk of one's own, not yet running."""
    return lambda **settings: DeskServer(clinic_at(tmp_path, **settings))
