"""Start a clean process for a function, rehearse the function in it, and let every block of rows vote."""

from __future__ import annotations

import importlib.util
import os
import pickle
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import FileIO
from typing import Any, Self

from discreet._isolated.captured import is_of_a_library
from discreet._isolated.server import FILES_SHARE, LOADING, SILENT, SIZE, TELLING, VOTE
from discreet.errors import ParameterError, TableError

_GIGABYTE = 1 << 30
_MOST_SAID = 1 << 18
_PATIENCE = 600
"""How many seconds the clean process may take to load the function, or to import what the function needs."""
_START = "import sys; sys.path[:] = {path!r}; from discreet._isolated import server; server.{call}"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1"
)
"""Settings that limit libraries to one thread: a process with threads cannot be copied safely, and blocks
already run in parallel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLimits:
    """Limits for the process of one block.

    Attributes:
        seconds: processor time, in seconds.
        gigabytes: memory, counted as address space.
        network: whether the process may use the network; False is enforced only if the kernel allows it.
    """

    seconds: int
    gigabytes: int
    network: bool = False

    @property
    def patience(self) -> float:
        """The wall-clock limit of a block in seconds: generous, so that no vote is lost on a busy machine."""
        return 60.0 + 20.0 * self.seconds

    @property
    def at_once(self) -> int:
        """The number of blocks to run at the same time, limited by the machine's processors and memory."""
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        most = int(self.gigabytes * _GIGABYTE * (1 + FILES_SHARE))
        return max(1, min(cores or 1, pages // most))


def require_fork() -> None:
    """Raise an error on a system that cannot copy a process."""
    if not hasattr(os, "fork"):
        raise ParameterError("votes of blocks need Linux, macOS or another system with fork")


def _started(call: str, *, passing: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
    """Start an interpreter that runs ``call`` in the server module with only the descriptors ``passing``."""
    path = [each or os.getcwd() for each in sys.path]
    return subprocess.Popen(  # noqa: S603 - this very interpreter, and code of ours
        [sys.executable, "-c", _START.format(path=path, call=call)],
        env=os.environ | ONE_THREAD,
        pass_fds=passing,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@cache
def is_enclosed() -> bool:
    """Return whether the kernel can isolate a block from the network, files and other processes."""
    if sys.platform != "linux":
        return False
    with tempfile.TemporaryDirectory() as folder:
        return _started(f"probe({folder!r})").wait() == 0


def _is_installed(module: str) -> bool:
    """Return whether a module's file is in an installed library, without importing it."""
    try:
        found = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        return False
    return found is not None and found.origin is not None and is_of_a_library(found.origin)


class _LineClosedError(OSError):
    """The clean process has ended."""


class BlockRunner:
    """A clean process that runs a packed function on blocks, each in its own process.

    ``rehearse`` shows errors, so it is for public rows only. ``votes`` returns the candidate that each block
    voted for, or None, and nothing else.
    """

    def __init__(self, function: bytes, *, candidates: Sequence[Any], limits: BlockLimits) -> None:
        self._limits = limits
        self._number = len(candidates)
        self._lock = threading.Lock()
        self._folder = tempfile.mkdtemp(prefix="discreet-")
        self._line, theirs = socket.socketpair()
        try:
            with theirs:
                descriptor = theirs.fileno()
                self._server = _started(f"serve({descriptor})", passing=(descriptor,))
            self._prepare(function, list(candidates))
        except BaseException:
            self.close()
            raise

    def _prepare(self, function: bytes, candidates: list[Any]) -> None:
        terms = {
            "function": function,
            "candidates": candidates,
            "folder": self._folder,
            "enclosed": is_enclosed(),
            "network": self._limits.network,
            "seconds": self._limits.seconds,
            "memory": self._limits.gigabytes * _GIGABYTE,
            "patience": self._limits.patience,
        }
        sent = pickle.dumps(terms)
        self._line.settimeout(_PATIENCE)
        try:
            self._line.sendall(SIZE.pack(len(sent)) + sent)
            (size,) = SIZE.unpack(self._line.recv(SIZE.size, socket.MSG_WAITALL))
            told = self._line.recv(size, socket.MSG_WAITALL).decode(errors="replace")
        except (OSError, ValueError, ArithmeticError):
            told = "that process ended"
        except Exception as error:  # struct.error if the process ended before it sent anything
            told = f"that process ended ({type(error).__name__})"
        if told:
            raise ParameterError(
                f"the function could not be made ready in a clean process; nothing was spent:\n{told}"
            )
        self._line.settimeout(None)

    def rehearse(self, rows: bytes, *, hint: str = "") -> int:
        """Return the function's vote on public rows; an error states what went wrong and then the hint."""
        answer = self._said(rows, TELLING)
        place, told = VOTE.unpack(answer[: VOTE.size])[0] if answer else -1, answer[VOTE.size :]
        if not 0 <= place < self._number:
            said = told.decode(errors="replace") or (
                f"it did not end within {self._limits.seconds} s of processor time and "
                f"{self._limits.gigabytes} GB of memory, or ended its process"
            )
            raise ParameterError(
                "the function cast no vote in the rehearsal, so nothing was spent. A block of real rows in "
                f"which this happens does not vote, and this is not reported:\n{said.rstrip()}{hint}"
            )
        if sys.platform == "linux" and hasattr(os, "pidfd_open"):
            self._load(told)
        return int(place)

    def _load(self, told: bytes) -> None:
        """Let the clean process import the library modules that the rehearsal imported.

        The author's own modules are left out: what they do on import must happen in each block.
        """
        names = re.findall(r"^[\w.]+$", told.decode(errors="replace"), re.MULTILINE)
        sent = "\n".join(name for name in names if _is_installed(name)).encode()
        self._line.settimeout(_PATIENCE)
        try:
            self._line.sendall(LOADING + SIZE.pack(len(sent)) + sent)
            ready = self._line.recv(SIZE.size, socket.MSG_WAITALL)
        except OSError:
            ready = b""
        if len(ready) != SIZE.size:
            raise ParameterError(
                "the process that runs the blocks ended while it imported what the function needs; "
                "nothing was spent"
            )
        self._line.settimeout(None)

    def votes(
        self,
        blocks: Sequence[Callable[[], bytes]],
        ended: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> list[int | None]:
        """Return each block's vote as a candidate's position, or None; each block's rows are requested once.

        ``ended`` is called with the number of blocks that have ended and the total. The times of these calls
        depend on the rows.
        """
        with ThreadPoolExecutor(self._limits.at_once) as pool:
            try:
                voting = [pool.submit(self._vote, block) for block in blocks]
                for done, _ in enumerate(as_completed(voting), 1):
                    ended(done, len(voting))
                return [each.result() for each in voting]
            except BaseException:
                self.close()
                pool.shutdown(cancel_futures=True)
                raise

    def _vote(self, block: Callable[[], bytes]) -> int | None:
        try:
            answer = self._said(block(), SILENT)
        except Exception:  # rows could not be sent, or no process started: no vote
            return None
        place = VOTE.unpack(answer)[0] if len(answer) == VOTE.size else -1
        # The function could write anything to its pipe, so the range is checked.
        return int(place) if 0 <= place < self._number else None

    def _said(self, rows: bytes, how: bytes) -> bytes:
        """Send the rows to a new process and return what it sends back; return nothing if time runs out."""
        given, gives = os.pipe()
        answer, answers = os.pipe()
        try:
            process = self._made(how, given, answers)
        except OSError:
            os.close(gives)
            os.close(answer)
            raise TableError("the process that runs the blocks has ended") from None
        finally:
            os.close(given)
            os.close(answers)
        with open(answer, "rb", buffering=0) as said, process:
            try:
                with open(gives, "wb", buffering=0) as rest:
                    left = memoryview(rows)
                    while left:
                        left = left[rest.write(left) :]
            except BrokenPipeError:
                pass  # it ended before it read all rows: no vote
            return _read(said, self._limits.patience)

    def _made(self, how: bytes, given: int, answers: int) -> _Process:
        with self._lock:
            socket.send_fds(self._line, [how], [given, answers])
            told, handles, _, _ = socket.recv_fds(self._line, SIZE.size, 1)
        if len(told) != SIZE.size:
            raise _LineClosedError
        return _Process(SIZE.unpack(told)[0], handles[0] if handles else None)

    def close(self) -> None:
        """End the clean process and everything it runs."""
        self._line.close()
        server = getattr(self, "_server", None)
        if server is not None:
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class _Process:
    """The process of a block; on exit it is killed, with everything it started."""

    number: int
    handle: int | None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.handle is not None:
            with suppress(OSError):
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)
            os.close(self.handle)
        if self.number and not is_enclosed():  # processes it started may still run
            with suppress(OSError):
                os.killpg(self.number, signal.SIGKILL)


def _read(said: FileIO, patience: float) -> bytes:
    """Read until the pipe is closed; return nothing if that takes more than ``patience`` seconds."""
    end, found = time.monotonic() + patience, b""
    while select.select([said], [], [], max(0, end - time.monotonic()))[0]:
        part = said.read(_MOST_SAID)
        found += part
        if not part or len(found) > _MOST_SAID:
            return found
    return b""
