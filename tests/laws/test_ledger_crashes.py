"""If a process is killed at any point, its ledger shows at least what was released, and stays consistent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from discreet import PureDP
from discreet.ledger import Ledger
from tests.tools.forking import forked
from tests.tools.waiting import until

MOST_STEPS = 60
STEPS = ("before_cursor_execute", "after_cursor_execute", "begin", "commit", "checkin")
SPENDER = """
import os, sys
from discreet import PureDP
from discreet.ledger import Ledger

released = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
with Ledger.open(sys.argv[1]) as ledger:
    while True:
        ledger.spend("visits", PureDP("0.001"), purpose="loop")
        os.write(released, b".")
"""


def _killed_at(address: str, step: int, released: Path) -> bool:
    """Spend once in a child that is killed at its ``step``-th step; return whether it finished before."""

    def work() -> None:
        ledger = Ledger.open(address)
        steps = iter(range(MOST_STEPS))

        def count(*_: Any) -> None:
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        for name in STEPS:
            event.listen(ledger._store._engine, name, count)
        ledger.spend("visits", PureDP("0.001"), purpose="one step further")
        released.write_text("yes")

    ended = forked(work)
    assert ended.code in (0, -signal.SIGKILL), ended
    return ended.code == 0


def test_killed_at_every_step_of_a_spend(address: str, tmp_path: Path) -> None:
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1))
    counted_without_release = 0
    for step in range(MOST_STEPS):
        with Ledger.open(address) as ledger:
            before = ledger.show("visits").total.cost
        released = tmp_path / f"released-{step}"
        finished = _killed_at(address, step, released)
        with Ledger.open(address) as ledger:
            after = ledger.show("visits").total.cost
            assert ledger.verify("visits").holds
            ledger.spend("visits", PureDP("0.001"))
        assert after - before in (0, 10**9)
        assert not released.exists() or after - before == 10**9
        counted_without_release += after > before and not released.exists()
        if finished:
            break
    else:
        pytest.fail("the spend never finished")
    assert step > 8
    assert counted_without_release > 0, "some kill must fall between the commit and the release"


@pytest.mark.parametrize("spends", [3, 20])
def test_killed_while_spending_in_a_loop(address: str, tmp_path: Path, spends: int) -> None:
    released = tmp_path / "released"
    with Ledger.open(address) as ledger:
        ledger.create("visits", PureDP(1000))
    child = subprocess.Popen([sys.executable, "-c", SPENDER, address, str(released)])
    until(
        lambda: (
            child.poll() is not None or (released.exists() and released.stat().st_size >= spends)
        ),
        "the child's spends",
    )
    assert child.poll() is None
    child.kill()
    child.wait()
    with Ledger.open(address) as ledger:
        counted = ledger.show("visits").total.cost // 10**9
        assert released.stat().st_size <= counted <= released.stat().st_size + 1
        assert len(ledger.history("visits")) == counted + 1
        assert ledger.verify("visits").holds
