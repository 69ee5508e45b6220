"""A ledger file that is moved, copied, torn or damaged has every acknowledged charge, or is refused.

States are drawn with a fixed seed, so the same ones are tried each time.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from discreet import PureDP
from discreet.errors import DiscreetError, LedgerError
from discreet.ledger import Ledger, schema, store
from tests.tools.sqlite_files import flipped, journal, torn

NAMES = ("visits", "visits/alice", "sales")
Spent = dict[str, int]


@dataclass(frozen=True)
class Moment:
    """The file, its log if it has one, and the charges acknowledged so far."""

    file: bytes
    spent: Spent
    log: bytes = b""


def _spend_all(ledger: Ledger, look: Callable[[], Moment]) -> list[Moment]:
    """Make some 70 changes, large enough to split the tables' pages; return the file after each."""
    moments = []
    ledger.create("visits", PureDP(100), groups=["north", "south"])
    ledger.allot("visits/alice", PureDP(9))
    ledger.create("sales", PureDP(100))
    for number in range(60):
        name = NAMES[number % 3]
        ledger.spend(name, PureDP("0.1"), purpose="x" * (number * 37 % 600))
        moments.append(look())
        if number % 7 == 0:
            ledger.create(f"other {number}", PureDP(1), groups=[f"group {i}" for i in range(9)])
            moments.append(look())
    return moments


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in memory if possible: thousands of synchronisations take minutes on a disk."""
    memory = Path("/dev/shm")  # noqa: S108  # a folder of our own in it
    where = memory if memory.is_dir() else tmp_path_factory.getbasetemp()
    with tempfile.TemporaryDirectory(dir=where, prefix="discreet-ledger-") as made:
        yield Path(made)


@pytest.fixture(scope="module")
def path(folder: Path) -> Path:
    (folder / "one file").mkdir()
    return folder / "one file" / "budget.db"


@pytest.fixture(scope="module")
def moments(path: Path) -> list[Moment]:
    """The file after each of several changes, made under one name."""
    with Ledger.open(path) as ledger:

        def look() -> Moment:
            # Read through SQLite: closing the file ourselves would release its locks.
            with closing(sqlite3.connect(path)) as connection:
                file = connection.serialize()
            return Moment(file, {name: ledger.show(name).total.cost for name in NAMES})

        return _spend_all(ledger, look)


def _outcome(path: Path, acknowledged: Spent, *, verify: bool = False) -> str:
    """Open the file; check that it is refused, or has everything acknowledged and can be spent from."""
    try:
        with Ledger.open(path, create=False, wait=2) as ledger:
            for name, cost in acknowledged.items():
                assert ledger.show(name).total.cost >= cost, "an acknowledged spend is lost"
            for name in ("visits", "sales"):
                ledger.spend(name, PureDP("0.1"))
                assert ledger.show(name).total.cost >= acknowledged[name] + 10**11
                assert not verify or ledger.verify(name).holds
                ledger.history(name)
            ledger.create("one more", PureDP(1))
    except DiscreetError as error:
        return _refused(error)
    return "opened"


def _refused(error: DiscreetError) -> str:
    assert "nothing was spent" in str(error).lower()
    return "refused"


def _placed(path: Path, file: bytes, *, beside: bytes = b"", suffix: str = "-journal") -> None:
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()
    path.write_bytes(file)
    if beside:
        path.with_name(path.name + suffix).write_bytes(beside)


def _tried(seeds: int, one: Callable[[random.Random], str]) -> Counter[str]:
    return Counter(one(random.Random(f"ledger {seed}")) for seed in range(seeds))  # noqa: S311  # states to try


def test_a_file_alone_is_whole_after_each_spend(
    moments: list[Moment], folder: Path, path: Path
) -> None:
    assert not list(path.parent.glob("budget.db-*"))
    for number, moment in enumerate(moments[::2]):
        moved = folder / f"moved {number}.db"
        moved.write_bytes(moment.file)
        assert _outcome(moved, moment.spent, verify=True) == "opened"


def test_after_a_crash_its_own_journal_repairs_the_file(moments: list[Moment], path: Path) -> None:
    def one(rng: random.Random) -> str:
        number = rng.randrange(1, len(moments))
        before, after = moments[number - 1], moments[number]
        _placed(path, torn(before.file, after.file, rng), beside=journal(before.file, after.file))
        return _outcome(path, before.spent, verify=True)

    assert _tried(40, one) == {"opened": 40}


def test_torn_without_its_journal_a_file_is_whole_or_refused(
    moments: list[Moment], path: Path
) -> None:
    """After a crash or a copy during charges, its pages are from different moments."""

    def one(rng: random.Random) -> str:
        number = rng.randrange(len(moments) - 3)
        mixed = moments[number].file
        for later in moments[number + 1 : number + rng.randrange(2, 4)]:
            mixed = torn(mixed, later.file, rng)
        _placed(path, mixed)
        return _outcome(path, moments[number].spent)

    outcomes = _tried(150, one)
    assert min(outcomes["opened"], outcomes["refused"]) > 20, outcomes


def test_a_journal_that_stayed_behind_never_undoes_a_later_spend(
    moments: list[Moment], path: Path, folder: Path
) -> None:
    """The process is killed; the file is moved without its journal, spent from elsewhere, and moved back."""
    elsewhere = folder / "elsewhere.db"

    def one(rng: random.Random) -> str:
        number = rng.randrange(1, len(moments))
        before, after = moments[number - 1], moments[number]
        either = (before.file, after.file, torn(before.file, after.file, rng))
        _placed(elsewhere, rng.choice(either))
        spent = dict(before.spent)
        try:
            with Ledger.open(elsewhere) as ledger:
                assert all(ledger.show(name) for name in NAMES)
                for _ in range(rng.randrange(1, 3)):
                    ledger.spend("sales", PureDP("0.1"))
                    spent["sales"] += 10**11
        except LedgerError:
            return "torn"
        _placed(path, elsewhere.read_bytes(), beside=journal(before.file, after.file))
        outcome = _outcome(path, spent)
        if outcome == "refused":  # as the message says
            path.with_name("budget.db-journal").unlink()
            assert _outcome(path, spent, verify=True) == "opened"
        return outcome

    outcomes = _tried(50, one)
    assert outcomes["opened"] == 0, "a journal of another file was followed"
    assert outcomes["refused"] > 20, outcomes


@pytest.mark.parametrize("which", ["file", "journal", "both"])
def test_flipped_bits(moments: list[Moment], path: Path, which: str) -> None:
    """The file never shows less than was acknowledged, and never raises a bare Python error."""

    def one(rng: random.Random) -> str:
        number = rng.randrange(1, len(moments))
        before, after = moments[number - 1], moments[number]
        if which == "file":
            _placed(path, flipped(before.file, rng))
        else:
            left = journal(before.file, after.file)
            file = torn(before.file, after.file, rng)
            file = flipped(file, rng) if which == "both" else file
            _placed(path, file, beside=flipped(left, rng))
        return _outcome(path, before.spent)

    outcomes = _tried(200 if which == "file" else 60, one)
    assert outcomes["refused"] > 10, outcomes
    assert outcomes["opened"] > (10 if which == "file" else 0), outcomes


@pytest.fixture(scope="module")
def logged(folder: Path) -> tuple[Path, list[Moment]]:
    """A version 3 ledger with a write-ahead log, as discreet 0.2.0 wrote it, never closed."""
    (folder / "logged").mkdir()
    path = folder / "logged" / "budget.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "CURRENT", 3)
        patch.setattr(store, "_begin_writing", lambda c, *_: c.execute("BEGIN IMMEDIATE"))
        with Ledger.open(path) as ledger:
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA journal_mode=wal")
                ledger._store.close()

            def look() -> Moment:
                spent = {name: ledger.show(name).total.cost for name in NAMES}
                log = path.with_name("budget.db-wal").read_bytes()
                return Moment(path.read_bytes(), spent, log)

            moments = _spend_all(ledger, look)
    return path, moments


def test_a_ledger_in_a_log_is_taken_over_with_everything_in_it(
    logged: tuple[Path, list[Moment]],
) -> None:
    path, moments = logged
    assert moments[-1].log
    for moment in moments[::6]:
        _placed(path, moment.file, beside=moment.log, suffix="-wal")
        assert _outcome(path, moment.spent, verify=True) == "opened"
        assert [each.name for each in path.parent.iterdir()] == ["budget.db"]
        assert path.read_bytes()[18:20] == b"\1\1", "it is not in a log any more"


def test_a_log_with_a_flipped_bit_is_refused(logged: tuple[Path, list[Moment]]) -> None:
    path, moments = logged

    def one(rng: random.Random) -> str:
        moment = rng.choice(moments)
        _placed(path, moment.file, beside=flipped(moment.log, rng), suffix="-wal")
        return _outcome(path, moment.spent)

    assert _tried(80, one) == {"refused": 80}


def test_a_log_beside_a_ledger_that_keeps_none_is_refused(
    logged: tuple[Path, list[Moment]],
) -> None:
    """The file is moved without its log, spent from, and moved back beside the log."""
    path, moments = logged
    moment = moments[9]
    _placed(path, moment.file, beside=moment.log, suffix="-wal")
    with Ledger.open(path) as ledger:
        ledger.spend("sales", PureDP("0.1"))
    path.with_name("budget.db-wal").write_bytes(moment.log)
    with pytest.raises(LedgerError, match=r"budget.db-wal does not belong .* Nothing was spent"):
        Ledger.open(path)
    path.with_name("budget.db-wal").unlink()
    spent = {**moment.spent, "sales": moment.spent["sales"] + 10**11}
    assert _outcome(path, spent, verify=True) == "opened"


def test_killed_moved_and_copied_at_random(tmp_path: Path) -> None:
    """Real processes are killed while they spend; then the file is moved with or without its journal."""
    rng = random.Random("kills")  # noqa: S311  # moments to kill at
    names = [tmp_path / f"{letter}.db" for letter in "abc"]
    path, acknowledged = names[0], 0
    with Ledger.open(path) as ledger:
        ledger.create("visits", PureDP(1000))
    left_open = 0
    for _ in range(25):
        acknowledged += _killed_while_spending(path, rng)
        beside = path.with_name(path.name + "-journal")
        left_open += beside.exists()
        target = rng.choice(names)
        if target != path:
            carry = shutil.copy if rng.random() < 0.3 else shutil.move
            if beside.exists() and rng.random() < 0.7:
                carry(beside, target.with_name(target.name + "-journal"))
            carry(path, target)
            path = target
        try:
            with Ledger.open(path, create=False) as ledger:
                assert ledger.show("visits").total.cost >= acknowledged * 10**9
                assert ledger.verify("visits").holds
        except LedgerError as error:
            _refused(error)
            if "does not belong" not in str(error):  # torn, and without its journal
                return
            path.with_name(path.name + "-journal").unlink()
            with Ledger.open(path, create=False) as ledger:
                assert ledger.show("visits").total.cost >= acknowledged * 10**9
    assert left_open > 0, "no kill fell into a commit"


def _killed_while_spending(path: Path, rng: random.Random) -> int:
    """Return how many charges a child acknowledged before it was killed."""
    heard, said = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            with Ledger.open(path, create=False) as ledger:
                while True:
                    ledger.spend("visits", PureDP("0.001"), purpose="y" * 300)
                    os.write(said, b".")
        finally:
            os._exit(1)
    os.close(said)
    with os.fdopen(heard, "rb", buffering=0) as listening:
        seen = len(listening.read(rng.randrange(1, 4)) or b"")
        if rng.random() < 0.8:  # somewhere in a commit
            deadline = rng.randrange(20_000)
            for _ in range(deadline):
                pass
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return seen + len(listening.read())
