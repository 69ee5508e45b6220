from __future__ import annotations

import multiprocessing
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import ParameterError
from discreet.explore import jobs as module
from discreet.explore.jobs import MOST_RUNNING, Jobs
from tests.tools import job_work
from tests.tools.waiting import PATIENCE, until


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of work functions; its folder is also on the path of started processes."""
    # A test may poll less often than a page.
    monkeypatch.setattr(module, "FORGOTTEN_AFTER", PATIENCE)
    monkeypatch.syspath_prepend(Path(job_work.__file__).parent)
    return import_module("job_work")


def _wait(jobs: Jobs, name: str, *, first: int | None = None) -> list[Any]:
    said: list[Any] = []

    def enough() -> bool:
        news, ended = jobs.messages(name, len(said))
        said.extend(news)
        return ended or (first is not None and len(said) >= first)

    until(enough, "what the job says")
    return said


def _alive(process: int) -> bool:
    multiprocessing.active_children()  # removes finished jobs
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_progress_then_the_result_from_another_process(work: Any) -> None:
    jobs = Jobs()
    said = _wait(jobs, jobs.start(work.count, 3))
    assert said[:3] == [("progress", 0, 0), ("progress", 1, 1 / 3), ("progress", 2, 2 / 3)]
    assert said[3][0] == "done"
    assert said[3][1] != os.getpid()
    jobs.close()


def test_cancelling_ends_the_process(work: Any) -> None:
    jobs = Jobs()
    name = jobs.start(work.sleep, 600)
    process = _wait(jobs, name, first=1)[0][1]
    assert _alive(process)
    jobs.cancel(name)
    until(lambda: not _alive(process), "the end of the process")
    with pytest.raises(ParameterError, match="not known"):
        jobs.messages(name, 0)
    jobs.cancel(name)


def test_a_crash_is_told(work: Any) -> None:
    jobs = Jobs()
    said = _wait(jobs, jobs.start(work.crash, None))
    assert said[-1][0] == "error"
    assert "stopped" in said[-1][1]


def test_not_too_many_at_once_and_all_end_with_the_server(work: Any) -> None:
    jobs = Jobs()
    names = [jobs.start(work.sleep, 600) for _ in range(MOST_RUNNING)]
    with pytest.raises(ParameterError, match="running already"):
        jobs.start(work.sleep, 600)
    processes = [_wait(jobs, name, first=1)[0][1] for name in names]
    jobs.close()
    until(lambda: not any(map(_alive, processes)), "the end of the processes")


def test_a_job_that_nobody_asks_about_is_ended(work: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = Jobs()
    name = jobs.start(work.sleep, 600)
    process = _wait(jobs, name, first=1)[0][1]
    monkeypatch.setattr(module, "FORGOTTEN_AFTER", -1.0)
    jobs.sweep()
    until(lambda: not _alive(process), "the end of the process")
