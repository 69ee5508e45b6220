"""At a desk, blocks vote only by the owner's functions; their errors are not shown to analysts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.desk.admission import dry_jobs
from discreet.desk.owner_file import OwnerFile
from discreet.desk.shapes import permitted, question_from
from discreet.desk.workers import Job, Outcome, Worker
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from tests.tools.desks import VOTES, clinic_at

ASKING = {"kind": "vote", "table": "visits", "function": "age", "epsilon": 10}


def owner_at(folder: Path, *, votes: str = VOTES) -> OwnerFile:
    owner = clinic_at(folder)
    (folder / "votes.py").write_text(votes)
    return owner


def worked(job: Job) -> Outcome:
    async def work() -> Outcome:
        worker = await asyncio.to_thread(Worker, [])
        try:
            await worker.ready()
            return await worker.run(job, until=None, paid=lambda _entry: None)
        finally:
            worker.end()

    return asyncio.run(work())


def job_of(owner: OwnerFile, folder: Path) -> Job:
    (dry,) = [job for job in dry_jobs(owner)["visits"] if job.question.kind == "vote"]
    return replace(
        dry, dry=False, till=str(folder / "till"), question=dry.question.changed(epsilon=10)
    )


def test_an_analyst_asks_a_registered_function(tmp_path: Path) -> None:
    owner = owner_at(tmp_path)
    outcome = worked(job_of(owner, tmp_path))
    assert outcome.reason is None
    assert outcome.answer is not None
    assert outcome.answer["answer"] == "old"
    with Ledger.open(owner.ledger.place) as ledger:
        assert [entry.kind for entry in ledger.history("clinic")] == ["create", "spend"]


@pytest.mark.parametrize(
    "votes",
    [
        "def trend(rows): raise ValueError('in the file')",
        "def trend(rows): raise ValueError('in the file, as ⟨epsilon⟩ is')",
        "raise ValueError('in the file, as ⟨epsilon⟩ is')",
    ],
)
def test_an_error_of_the_owners_function_costs_nothing_and_is_not_told(
    votes: str, tmp_path: Path
) -> None:
    owner = owner_at(tmp_path, votes=votes)
    outcome = worked(job_of(owner, tmp_path))
    assert outcome.refused
    assert outcome.told is None
    assert "in the file" in str(outcome.reason)
    with Ledger.open(owner.ledger.place) as ledger:
        assert [entry.kind for entry in ledger.history("clinic")] == ["create"]


def test_an_error_in_the_file_of_a_score_is_not_told(tmp_path: Path) -> None:
    owner = owner_at(tmp_path)
    (dry,) = [job for job in dry_jobs(owner)["visits"] if job.question.kind == "select_by"]
    raising = "from discreet.errors import ParameterError\nraise ParameterError('as ⟨epsilon⟩ is')"
    (tmp_path / "scores.py").write_text(raising)
    outcome = worked(replace(dry, dry=False, till=str(tmp_path / "till")))
    assert (outcome.refused, outcome.told) == (True, None)
    assert "as epsilon= is" in str(outcome.reason)


def test_a_function_that_ends_everything_gives_no_vote(tmp_path: Path) -> None:
    wild = "import os\nasked = 0\ndef trend(rows):\n    if len(rows) != 2: os._exit(1)\n    return 'old'"
    outcome = worked(job_of(owner_at(tmp_path, votes=wild), tmp_path))
    assert outcome.answer is not None
    assert outcome.answer["answer"] in ("old", "young")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"function": "os:system"}, "one of the functions registered here: age"),
        ({"candidates": ["x"]}, "candidates: not an option of this question"),
        ({"blocks": 2}, "blocks: not an option of this question"),
        ({"network": True}, "network: not an option"),
        ({"rehearse_on": "/etc/passwd"}, "rehearse_on: not an option"),
    ],
)
def test_nothing_but_a_registered_name_is_taken(
    asked: dict[str, Any], words: str, tmp_path: Path
) -> None:
    owner = owner_at(tmp_path)
    with pytest.raises(ParameterError, match=words):
        permitted(owner, "epidemiology", question_from(ASKING | asked))


def test_the_owners_facts_complete_the_question(tmp_path: Path) -> None:
    owner = owner_at(tmp_path)
    request = question_from(ASKING)
    assert request.about == "age"
    _, question = permitted(owner, "epidemiology", request)
    facts: Any = question
    assert (facts.blocks, facts.seconds, facts.candidates) == (4, 5, ("old", "young"))
    assert facts.function.file == str(tmp_path / "votes.py")
    assert facts.rehearse_on == str(tmp_path / "public.parquet")
