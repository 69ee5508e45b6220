"""The processes that read the data: what is loaded before their first question."""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import create_engine, make_url, text

from discreet.desk import admission
from discreet.desk.admission import DeskError, dry_jobs, fixed_parts
from discreet.desk.owner_file import OwnerFile, read_owner_file
from discreet.desk.serving import allot_parts, short_slots
from discreet.desk.workers import Job, Outcome, Worker
from discreet.ledger import Ledger
from tests.tools.desks import SLOT, clinic_at

LOADED = """
import json, pathlib, sys

here = pathlib.Path(__file__).parent

def note():
    number = len(list(here.glob("loaded.*")))
    (here / f"loaded.{number}").write_text(json.dumps(sorted(sys.modules)))

note()

def round_ages(source, age):
    note()
    return 1
"""
"""The owner's module: it records what is loaded when it is imported, and at each call."""
HANGING = """
import multiprocessing, threading

if multiprocessing.parent_process() is not None:  # not in the process that reads the owner's file
    threading.Event().wait()

def round_ages(source, age):
    return 1
"""
FAILING = """
raise RuntimeError("the owner's module cannot be loaded")
"""


def _in(kind: str, folder: Path, request: pytest.FixtureRequest) -> OwnerFile:
    """Put the clinic's table into a file or a database."""
    owner = clinic_at(folder)
    (folder / "scores.py").write_text(LOADED)
    if kind == "file":
        return owner
    address = f"sqlite:///{folder / 'visits.db'}"
    if kind == "postgresql":
        address = str(request.getfixturevalue("postgres"))
    url = make_url(address)
    engine = create_engine(url.set(drivername="postgresql+psycopg") if kind != "sqlite" else url)
    frame = pl.read_parquet(folder / "visits.parquet")
    with engine.begin() as connection:
        connection.execute(
            text("CREATE TABLE visits (patient_id bigint, diagnosis text, clinic text, age bigint)")
        )
        rows = frame.drop("secret").to_dicts()
        connection.execute(
            text("INSERT INTO visits VALUES (:patient_id, :diagnosis, :clinic, :age)"), rows
        )
    engine.dispose()
    file = folder / "clinic.toml"
    placed = f'source = "{address}"\ntable = "visits"'
    file.write_text(file.read_text().replace('source = "visits.parquet"', placed))
    return read_owner_file(file)


def _worked(first: list[Job], jobs: list[Job]) -> list[Outcome]:
    async def work() -> list[Outcome]:
        worker = await asyncio.to_thread(Worker, first)
        try:
            await worker.ready()
            return [await worker.run(job, until=None, paid=lambda _entry: None) for job in jobs]
        finally:
            worker.end()

    return asyncio.run(work())


@pytest.mark.parametrize("kind", ["file", "sqlite", "postgresql"])
def test_the_first_question_of_a_table_loads_nothing(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Otherwise imports would use up the question's slot: with PostgreSQL, one second was never enough."""
    owner = _in(kind, tmp_path, request)
    dry = {job.question.kind: job for job in dry_jobs(owner)["visits"]}
    assert {"mode", "median", "quantiles", "top_k", "first_above", "select_by"} <= dry.keys()
    paid = {name: replace(job, dry=False, till=str(tmp_path / "till")) for name, job in dry.items()}
    look = paid.pop("select_by")
    for here in tmp_path.glob("loaded.*"):  # in the process that read the owner's file
        here.unlink()
    outcomes = _worked([dry["mode"]], [look, *paid.values(), look])
    assert [outcome.reason for outcome in outcomes] == [None] * len(outcomes)
    before, *_, after = (
        set(json.loads(file.read_text())) for file in sorted(tmp_path.glob("loaded.*"), key=_number)
    )
    assert after - before == set()


def _number(file: Path) -> int:
    return int(file.suffix[1:])


def test_a_dry_job_pays_nothing(tmp_path: Path) -> None:
    owner = clinic_at(tmp_path)
    measured = asyncio.run(fixed_parts(owner))
    assert {kind for _, kind in measured} >= {"mode", "median", "quantiles", "top_k"}
    assert all(outcome.seconds for outcome in measured.values())
    assert short_slots(owner) == []
    with Ledger.open(owner.ledger.place) as ledger:
        assert [entry.kind for entry in ledger.history("clinic")] == ["create"]


@pytest.mark.parametrize("is_first", [False, True])
def test_a_dry_job_that_never_ends_is_stopped(
    is_first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker runs the first one before it is ready. The desk's owner is warned."""
    monkeypatch.setattr(admission, "_LONGEST_DRY_RUN", 1.0)
    clinic_at(tmp_path)
    (tmp_path / "scores.py").write_text(HANGING)
    file = tmp_path / "clinic.toml"
    written = file.read_text().replace(f'select_by = "{SLOT}s"', 'select_by = "1s"')
    if is_first:  # without columns there is no other kind
        start, end = (written.index(f"[table.visits.{part}") for part in ("column", "score"))
        vote, analyst = written.index("[table.visits.vote"), written.index("[analyst")
        written = written[:start] + written[end:vote] + written[analyst:]
        written = written.replace('where = ["clinic"]\n', "")
    file.write_text(written)
    owner = read_owner_file(file)
    assert (next(iter(dry_jobs(owner)["visits"])).question.kind == "select_by") == is_first
    measured = asyncio.run(fixed_parts(owner))
    assert [kind for (_, kind), one in measured.items() if one.seconds == math.inf] == ["select_by"]
    (said,) = [line for line in short_slots(owner) if "dry run" in line]
    assert said.startswith("table.visits: a dry run of select_by")
    assert "was stopped after 1 s" in said


def test_a_dry_job_that_fails_is_a_warning(tmp_path: Path) -> None:
    """Otherwise the check would be silent about a kind of question that analysts cannot ask."""
    owner = clinic_at(tmp_path)
    (tmp_path / "scores.py").write_text(FAILING)
    measured = asyncio.run(fixed_parts(owner))
    assert {kind for (_, kind), one in measured.items() if one.seconds is None} == {"select_by"}
    (said,) = short_slots(owner)
    assert said.startswith("table.visits: a dry run of select_by, which reads no row, failed, so")
    assert "RuntimeError" in said


def test_a_worker_that_never_gets_ready_stops_the_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "longest_dry_run", lambda *_: 0.01)
    owner = clinic_at(tmp_path)
    allot_parts(owner)
    desk = admission.Desk(owner)

    async def work() -> None:
        try:
            with pytest.raises(DeskError, match=r"a worker was not ready after 0\.0") as caught:
                await desk.open()
            assert caught.value.status == 503
        finally:
            await desk.close()

    asyncio.run(work())
    assert not any(worker.alive for worker in desk._workers)


def test_a_killed_worker_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that misses its slot ends its worker, which may have written rows to its folder."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    clinic = tmp_path / "clinic"
    clinic.mkdir()
    dry = dry_jobs(clinic_at(clinic))["visits"][0]

    async def work() -> list[Path]:
        worker = await asyncio.to_thread(Worker, [dry])
        await worker.ready()
        written = list(temporary.rglob("discreet-*"))
        await worker.run(dry, until=0, paid=lambda _entry: None)
        return written

    written = asyncio.run(work())
    assert len(written) >= 2  # the worker's folder, and the one of its engine
    assert list(temporary.glob("discreet-*")) == []
