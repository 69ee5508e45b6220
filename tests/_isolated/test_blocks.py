"""Functions that cheat, each in its own process: they cannot affect any other block."""

from __future__ import annotations

import ctypes
import importlib
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from discreet._isolated import (
    BlockLimits,
    BlockRunner,
    blocks,
    captured,
    is_enclosed,
    packed,
    server,
)
from discreet.errors import ParameterError
from tests.tools.waiting import until

LIMITS = BlockLimits(seconds=1, gigabytes=4)
ROWS = [[1, 2, 3], [13], [4, 5], [], [6]]
"""The rows of five blocks; functions misbehave in the block with row 13."""


def piece(rows: object) -> Callable[[], bytes]:
    return lambda: b"p" + pickle.dumps(rows)


def votes_of(function: Any, *, limits: BlockLimits = LIMITS, rows: Any = ROWS) -> list[int | None]:
    with BlockRunner(packed(function), candidates=["yes", "no"], limits=limits) as running:
        return running.votes([piece(each) for each in rows])


def honest(rows: list[int]) -> str:
    return "yes" if len(rows) > 1 else "no"


WITHOUT = [0, None, 0, 1, 1]
"""The votes of all other blocks while the block with row 13 misbehaves."""


def test_a_function_votes_in_every_block_the_empty_one_too() -> None:
    assert votes_of(honest) == [0, 1, 0, 1, 1]


def raising(rows: list[int]) -> str:
    if 13 in rows:
        raise ValueError(f"a secret: {rows}")
    return honest(rows)


def returning(rows: list[int]) -> Any:
    return "maybe" if 13 in rows else honest(rows)


def returning_nothing(rows: list[int]) -> Any:
    return None if 13 in rows else honest(rows)


def looping(rows: list[int]) -> str:
    while 13 in rows:
        pass
    return honest(rows)


def hoarding(rows: list[int]) -> str:
    if 13 in rows:
        bytearray(5 << 30)
    return honest(rows)


def killing_itself(rows: list[int]) -> str:
    import signal

    if 13 in rows:
        os.kill(os.getpid(), signal.SIGKILL)
        os.abort()
    return honest(rows)


def leaving(rows: list[int]) -> str:
    if 13 in rows:
        os._exit(0)
    return honest(rows)


def crashing(rows: list[int]) -> str:
    import ctypes

    if 13 in rows:
        ctypes.string_at(0)
    return honest(rows)


def stuffing(rows: list[int]) -> str:
    """Write other votes into every open pipe."""
    if 13 in rows:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"\x00\x00\x00\x00" * 4)
            except OSError:
                continue
    return honest(rows)


def claiming(rows: list[int]) -> str:
    """Write a vote for an invalid candidate, and exit."""
    if 13 in rows:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"\xe7\x03\x00\x00")
            except OSError:
                continue
        os._exit(0)
    return honest(rows)


@pytest.mark.parametrize(
    "function",
    [
        claiming,
        raising,
        returning,
        returning_nothing,
        looping,
        hoarding,
        killing_itself,
        leaving,
        crashing,
        stuffing,
    ],
)
def test_a_block_that_misbehaves_does_not_vote_and_changes_nothing_else(
    function: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    assert votes_of(function) == WITHOUT
    assert capfd.readouterr() == ("", "")


def printing(rows: list[int]) -> str:
    import sys

    print("a secret:", rows)
    print("a secret:", rows, file=sys.stderr)
    os.write(1, b"a secret")
    return honest(rows)


def test_nothing_that_a_function_prints_is_seen(capfd: pytest.CaptureFixture[str]) -> None:
    assert votes_of(printing) == [0, 1, 0, 1, 1]
    assert capfd.readouterr() == ("", "")


SEEN: list[int] = []


def remembering(rows: list[int], seen: list[int] = []) -> str:  # noqa: B006 - it is the point
    seen.extend(rows)
    os.environ["SEEN"] = os.environ.get("SEEN", "") + "x"
    once = len(seen) == len(rows) and os.environ["SEEN"] == "x"
    return "yes" if once else "no"


def test_no_block_remembers_another() -> None:
    assert votes_of(remembering) == [0] * 5


def sleeping(rows: list[int]) -> str:
    if 13 in rows:
        time.sleep(3600)
    return honest(rows)


def test_a_block_that_sleeps_ends_at_the_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BlockLimits, "patience", property(lambda _self: 1.0))
    assert votes_of(sleeping, rows=[[13]]) == [None]


def napping(rows: list[int]) -> str:
    if 13 in rows:
        time.sleep(1.5)
    return honest(rows)


def test_a_block_that_sleeps_costs_nobody_a_vote() -> None:
    """The block sleeps longer than the limit of processor time, but sleeping uses none."""
    assert votes_of(napping) == [0, 1, 0, 1, 1]


needs_walls = pytest.mark.skipif(not is_enclosed(), reason="this kernel allows no namespaces")


SHARED = ("/tmp", "/dev/shm", os.path.expanduser("~"))  # noqa: S108 - where a note could be left


def writing(rows: list[int]) -> str:
    """Leave a note wherever possible; the next block looks for it."""
    import tempfile

    folders = (".", tempfile.gettempdir(), *SHARED)
    notes = [os.path.join(folder, "discreet-note") for folder in folders]
    found = any(map(os.path.exists, notes))
    for note in notes:
        try:
            with open(note, "w") as file:
                file.write(repr(rows))
        except OSError:
            continue
    return "yes" if found else "no"


@needs_walls
def test_files_carry_nothing_from_one_block_to_another() -> None:
    assert votes_of(writing, limits=BlockLimits(seconds=2, gigabytes=1)) == [1] * 5
    for folder in SHARED:
        assert not (Path(folder) / "discreet-note").exists()


def test_a_block_writes_in_a_fresh_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder(_rows: list[int]) -> str:
        import tempfile

        empty = not os.listdir(".")
        Path("note").write_text("x")
        return "yes" if empty and tempfile.gettempdir() == os.getcwd() else "no"

    # Other programs, such as another worker of these tests, keep folders in the common one.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert votes_of(folder) == [0] * 5
    assert not list(tmp_path.iterdir())


@needs_walls
def test_there_is_no_network_unless_it_is_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def calling(_rows: list[int]) -> str:
            import socket

            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
            except OSError:
                return "no"
            return "yes"

        assert votes_of(calling, rows=[[]]) == [1]
        assert votes_of(
            calling, rows=[[]], limits=BlockLimits(seconds=2, gigabytes=1, network=True)
        ) == [0]


def killing_others(rows: list[int]) -> str:
    import signal

    if 13 in rows:
        for process in (os.getppid(), -1):
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                continue
    return honest(rows)


def looking_around(_rows: list[int]) -> str:
    """Try to read another process's memory, or to undo the isolation."""
    import ctypes

    kernel = ctypes.CDLL(None, use_errno=True)
    opened = 0
    for process in os.listdir("/proc"):
        if process.isdigit() and process != "1":
            try:
                with open(f"/proc/{process}/mem", "rb"):
                    opened += os.readlink("/proc/self") != process
            except OSError:
                continue
    remounted = kernel.mount(None, b"/", None, ctypes.c_ulong(32), None) == 0
    import resource

    try:
        resource.setrlimit(resource.RLIMIT_CPU, (1 << 20, 1 << 20))
        raised = True
    except (OSError, ValueError):
        raised = False
    return "yes" if opened or remounted or raised else "no"


@needs_walls
def test_no_block_reaches_another_process() -> None:
    assert votes_of(killing_others)[2:] == [0, 1, 1]
    assert votes_of(looking_around) == [1] * 5


def forking(rows: list[int]) -> str:
    """Leave processes running, in separate sessions."""
    if 13 in rows:
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                while True:
                    time.sleep(0.05)
    return honest(rows)


@needs_walls
def test_what_a_block_leaves_running_ends_with_it() -> None:
    with BlockRunner(packed(forking), candidates=["yes", "no"], limits=LIMITS) as running:
        assert running.votes([piece(each) for each in ROWS]) == [0, 1, 0, 1, 1]
        server = running._server.pid
        until(lambda: _below(server) <= 1, "all but the server's one process to end")


def _below(process: int) -> int:
    """Return how many descendants of a process still run."""
    found = 0
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[1]) == process:
            found += 1 + _below(int(each.parent.name))
    return found


def test_more_blocks_than_the_machine_has_room_for_wait() -> None:
    assert 1 <= BlockLimits(seconds=1, gigabytes=1).at_once <= (os.cpu_count() or 1)
    assert BlockLimits(seconds=1, gigabytes=10**6).at_once == 1


def test_rows_are_larger_than_a_pipe() -> None:
    assert (
        votes_of(lambda rows: "yes" if len(rows[0]) == 10**6 else "no", rows=[["x" * 10**6]] * 3)
        == [0] * 3
    )


def test_rows_that_cannot_be_sent_are_no_vote_of_their_own_block_alone() -> None:
    def refusing() -> bytes:
        raise ValueError("a secret")

    with BlockRunner(packed(honest), candidates=["yes", "no"], limits=LIMITS) as running:
        assert running.votes([piece([1, 2]), refusing, piece([])]) == [0, None, 1]


# ---- before the payment ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda rows: rows.no_such_name, "no_such_name"),
        (lambda _rows: None, "returned None"),
        (lambda _rows: "purple", "'purple', which is not a candidate"),
        (lambda _rows: os._exit(0), "ended its process"),
    ],
)
def test_a_rehearsal_shows_what_is_wrong(function: Any, words: str) -> None:
    with (
        BlockRunner(packed(function), candidates=["yes", "no"], limits=LIMITS) as running,
        pytest.raises(ParameterError, match=words),
    ):
        running.rehearse(piece([1])())


def test_a_function_that_cannot_be_made_is_told_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_here.py").write_text("import os\nif os.environ.get('SERVED'): 1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    import broken_here  # type: ignore[import-not-found]

    monkeypatch.setenv("SERVED", "yes")
    with pytest.raises(ParameterError, match="ZeroDivisionError"):
        BlockRunner(packed(lambda _rows: broken_here), candidates=["yes"], limits=LIMITS)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of modules that blocks can read; ``tmp_path`` may be in shared memory, out of their sight."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        monkeypatch.syspath_prepend(made)
        yield Path(made)


def with_module(folder: Path, text: str) -> Callable[[Any], str]:
    """Return a function that imports a module with this text, and votes yes if it was already imported."""
    (folder / "imported_inside.py").write_text(text)

    def importing(_rows: list[int]) -> str:
        import sys

        known = "imported_inside" in sys.modules
        import imported_inside  # type: ignore[import-not-found]

        return "yes" if known and imported_inside else "no"

    return importing


@pytest.fixture
def library(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same folder as ``folder``, treated as part of an installed library."""
    monkeypatch.setattr(captured, "_INSTALLED", (*captured._INSTALLED, folder))
    captured.is_of_a_library.cache_clear()
    yield folder
    captured.is_of_a_library.cache_clear()


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")


@linux_only
def test_what_the_rehearsal_imports_no_block_imports_again(
    library: Path,
) -> None:
    function = with_module(library, "seen = []")
    with BlockRunner(packed(function), candidates=["yes", "no"], limits=LIMITS) as running:
        assert running.votes([piece([])]) == [1]
        assert running.rehearse(piece([])()) == 1
        assert running.votes([piece([])] * 3) == [0] * 3


@linux_only
def test_a_module_that_starts_a_thread_is_imported_by_each_block(
    library: Path,
) -> None:
    """A process with threads cannot be copied safely."""
    text = "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()"
    function = with_module(library, text)
    with BlockRunner(packed(function), candidates=["yes", "no"], limits=LIMITS) as running:
        assert running.rehearse(piece([])()) == 1
        assert running.votes([piece([])] * 3) == [1] * 3


@linux_only
def test_a_module_of_ones_own_is_imported_by_each_block(folder: Path) -> None:
    """A user's module must not be imported in the process that blocks are forked from."""
    function = with_module(folder, "seen = []")
    with BlockRunner(packed(function), candidates=["yes", "no"], limits=LIMITS) as running:
        assert running.rehearse(piece([])()) == 1
        assert running.votes([piece([])] * 3) == [1] * 3


SHARING = "import mmap\nshared = mmap.mmap(-1, 8)"


def counting(_rows: list[int]) -> str:
    import imported_inside

    imported_inside.shared[0] += 1
    return "yes" if imported_inside.shared[0] == 1 else "no"


@linux_only
def test_memory_that_an_import_shares_joins_no_blocks(library: Path) -> None:
    (library / "imported_inside.py").write_text(SHARING)
    with BlockRunner(packed(counting), candidates=["yes", "no"], limits=LIMITS) as running:
        assert running.rehearse(piece([])()) == 0
        assert running.votes([piece([])] * 3) == [0] * 3


@linux_only
def test_a_function_whose_modules_share_memory_is_refused(folder: Path) -> None:
    (folder / "imported_before.py").write_text(SHARING)
    module = importlib.import_module("imported_before")
    with pytest.raises(ParameterError, match="all blocks would share"):
        votes_of(lambda _rows: "yes" if module.shared else "no")


def leaving_a_key(_rows: list[int]) -> str:
    """Vote yes, unless an earlier block left a key in the kernel's session."""
    import ctypes
    import platform

    keys, add = (250, 248) if platform.machine() == "x86_64" else (219, 217)
    kernel, session, search = ctypes.CDLL(None), ctypes.c_int(-3), 10
    found = kernel.syscall(keys, search, session, b"user", b"left", 0) >= 0
    kernel.syscall(add, b"user", b"left", b"x", 1, session)
    return "no" if found else "yes"


def resizing(name: str) -> Callable[[Any], str]:
    def function(_rows: list[int]) -> str:
        import fcntl
        import os
        import struct
        import termios

        try:
            terminal = os.open(name, os.O_RDONLY | os.O_NOCTTY)
        except OSError:
            return "yes"
        rows, *rest = struct.unpack("HHHH", fcntl.ioctl(terminal, termios.TIOCGWINSZ, bytes(8)))
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows + 1, *rest))
        return "no" if rows else "yes"

    return function


@needs_walls
def test_neither_keys_nor_terminals_join_blocks() -> None:
    """The caller has a kernel keyring session, as services do, and a terminal."""
    ctypes.CDLL(None).syscall(server._KEYS, server._NEW_SESSION, None)
    ours, theirs = os.openpty()
    for function in (leaving_a_key, resizing(os.ttyname(theirs))):
        assert votes_of(function, rows=[[]] * 4) == [0] * 4
    os.close(ours)
    os.close(theirs)


@linux_only
def test_an_import_ends_when_the_asker_leaves(library: Path) -> None:
    text = "import os, time\nif os.environ.get('TMPDIR') != os.getcwd():\n"
    text += "    open(__file__ + '.begun', 'w').close()\n    time.sleep(10**6)"
    function = with_module(library, text)
    running = BlockRunner(packed(function), candidates=["yes", "no"], limits=LIMITS)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(running.rehearse, piece([])())
        until((library / "imported_inside.py.begun").exists, "the import")
        running._line.shutdown(socket.SHUT_RDWR)  # as when the asker ends
        assert running._server.wait() == 0
        with pytest.raises(ParameterError, match="nothing was spent"):
            asked.result()
    running.close()


@linux_only
def test_an_import_that_ends_the_clean_process_is_told_before_anything_is_read(
    library: Path,
) -> None:
    text = "import os\nif os.environ.get('TMPDIR') != os.getcwd(): os._exit(0)"
    function = with_module(library, text)
    with (
        BlockRunner(packed(function), candidates=["yes", "no"], limits=LIMITS) as running,
        pytest.raises(ParameterError, match="ended while it imported"),
    ):
        running.rehearse(piece([])())


def test_the_server_ends_with_the_asker() -> None:
    with BlockRunner(packed(honest), candidates=["yes", "no"], limits=LIMITS) as running:
        server = running._server
    assert server.poll() is not None
    assert threading.active_count() < 20


def test_a_server_that_is_gone_gives_no_votes_and_raises_nothing() -> None:
    running = BlockRunner(packed(honest), candidates=["yes", "no"], limits=LIMITS)
    running._server.kill()
    running._server.wait()
    assert running.votes([piece([1])] * 3) == [None] * 3
    running.close()


def test_without_walls_blocks_still_have_processes_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "is_enclosed", lambda: False)
    assert votes_of(raising) == WITHOUT
    assert votes_of(remembering) == [0] * 5
    assert votes_of(killing_itself) == WITHOUT


@needs_walls
def test_a_block_writes_into_no_pipe_of_the_machine(tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    def telling(rows: list[int]) -> str:
        there = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        os.write(there, b"a secret")
        return "yes"

    try:
        assert votes_of(telling) == [None] * 5
        assert os.read(reading, 100) == b""
    finally:
        os.close(reading)


@needs_walls
def test_a_block_reads_no_names_of_other_processes() -> None:
    def looking(rows: list[int]) -> str:
        own = {"self", "thread-self", str(os.getpid())}
        return "yes" if set(os.listdir("/proc")) <= own else "no"

    assert votes_of(looking) == [0] * 5


NO_VIEW = """
import os, sys
from discreet._isolated import server

class Kernel:
    real = server._kernel()
    def __getattr__(self, name):
        return getattr(self.real, name)
    def mount(self, *given):
        return -1 if given[0] == b"proc" else self.real.mount(*given)

server._own_users()
server._own_processes()
server._kernel = Kernel
server._enclose(sys.argv[1], network=False, memory=1 << 24)
print(os.listdir("/proc"))
"""


@needs_walls
def test_where_a_view_of_processes_cannot_be_mounted_there_is_none(tmp_path: Path) -> None:
    """Some containers forbid mounting; the block is isolated anyway."""
    command = [sys.executable, "-c", NO_VIEW, str(tmp_path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert shown.stdout == "[]\n", shown.stderr


@needs_walls
def test_the_processes_that_a_block_makes_share_memory_of_its_own() -> None:
    """joblib and multiprocessing create locks for ``n_jobs=2``; nothing remains for another block."""

    def together(rows: list[int]) -> str:
        import multiprocessing

        empty = not os.listdir("/dev/shm")  # noqa: S108 - it is the point
        with multiprocessing.get_context("fork").Pool(2) as pool:
            halves = pool.map(abs, [-1, 2])
        Path("/dev/shm/note").write_text("x")  # noqa: S108 - as above
        return "yes" if empty and halves == [1, 2] else "no"

    assert votes_of(together) == [0] * 5


def test_a_copy_that_could_not_be_made_costs_no_later_block_its_vote(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next block must not get the process namespace prepared for the failed one."""
    calls: list[int] = []

    class Kernel:
        def unshare(self, flags: int) -> int:
            calls.append(flags)
            return 0

        def setns(self, _file: int, flags: int) -> int:
            calls.append(-flags)
            return 0

    def failing() -> int:
        raise BlockingIOError

    monkeypatch.setattr(server, "_kernel", Kernel)
    monkeypatch.setattr(os, "fork", failing)
    with pytest.raises(BlockingIOError):
        server._copied(True)
    assert calls[0] == -calls[1]
