"""The clean process: it holds the function but no rows, and creates a new process for each block.

It is a new interpreter, started before any row is read, and imports what the function needs. The rows of a
block go through their own pipe straight into the process created for that block, and its vote leaves
through another. The server never holds either, so each block's process is a copy of a process that knows
nothing about other blocks.

If the kernel allows it, a block's process is isolated from the machine. It has no network (unless the limits
allow it), sees only its own processes, which end with it, and can write only to an empty folder in memory.

Only the standard library is used here, so that starting a block is cheap.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import io
import os
import pickle
import platform
import resource
import select
import signal
import socket
import struct
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Any

VOTE = struct.Struct("<i")
SIZE = struct.Struct("<Q")
TELLING, SILENT, LOADING = b"t", b"s", b"l"
FILES_SHARE = 0.25
"""The extra memory that a block may fill with files, as a share of its memory limit."""
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - each block has one of its own there
_NONE = -1
_LONGEST_TOLD = 20_000
_LONGEST_NAMES = 1 << 17
_NOT_TO_COPY = 3
_HARMLESS = {"jemalloc_bg_thd", "polars-ooc-clea"}
"""Threads that Arrow and Polars start on import; they only clean up, and copies work without them."""
_NEW_USER, _NEW_MOUNTS, _NEW_NETWORK, _NEW_PROCESSES, _NEW_IPC = (
    0x10000000,
    0x00020000,
    0x40000000,
    0x20000000,
    0x08000000,
)
_RECURSIVE, _PRIVATE = 0x4000, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _BENEATH, _WRITE_FILE = 444, 445, 446, 1, 1 << 1
_DIES_WITH_PARENT, _NO_NEW_PRIVILEGES, _CAPABILITIES = 1, 38, 0x20080522
_KEYS, _NEW_SESSION = 250 if platform.machine() == "x86_64" else 219, 1
_TERMINALS = "/dev/pts"


# ---- isolation from the machine ----------------------------------------------------------------------------


class _NotAllowedError(OSError):
    """The kernel does not allow a block to be isolated this way."""


def _called(result: int) -> None:
    if result != 0:
        raise _NotAllowedError(ctypes.get_errno(), "the kernel does not allow it")


def _kernel() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _own_users(further: int = 0) -> None:
    """Enter a new user namespace, where this process has all rights, and the namespaces named in ``further``.

    This process has no rights outside, and can neither inspect nor signal processes of other namespaces.
    """
    user, group = os.getuid(), os.getgid()
    _called(_kernel().unshare(_NEW_USER | further))
    for name, words in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(words)


def _enclose(folder: str, *, network: bool, memory: int) -> str:
    """Give up write access to files and, without ``network``, the network; raise ``OSError`` if refused.

    Return the empty folder in memory that remains writable.
    """
    kernel = _kernel()
    _called(kernel.unshare(_NEW_MOUNTS))
    _called(kernel.mount(None, b"/", None, ctypes.c_ulong(_RECURSIVE | _PRIVATE), None))
    # A process name is text that another block could read, so a block sees only its own processes, or none.
    # /proc is mounted with the server's rights: the block's process namespace belongs to the server's user
    # namespace.
    has_view = kernel.mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(0), b"subset=pid") == 0
    _own_users(_NEW_MOUNTS | _NEW_IPC | (0 if network else _NEW_NETWORK))
    attributes = struct.pack("<QQQQ", _READ_ONLY, 0, 0, 0)
    size = ctypes.c_size_t(len(attributes))
    _called(kernel.syscall(_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, size))
    # Use the usual place for shared memory, so that a block's own processes can share locks and arrays.
    folder = _SHARED_MEMORY if os.path.isdir(_SHARED_MEMORY) else folder
    room = f"size={int(memory * FILES_SHARE)}".encode()
    _called(kernel.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", ctypes.c_ulong(0), room))
    # Even a terminal opened only for reading has a size, which one block could set and another read.
    hidden = [_TERMINALS] if os.path.isdir(_TERMINALS) else []
    for place in (*hidden, *(() if has_view else ("/proc",))):
        nothing = ctypes.c_ulong(_READ_ONLY)
        _called(kernel.mount(b"tmpfs", os.fsencode(place), b"tmpfs", nothing, b"size=0"))
    # Blocks would share the kernel's session keyring. If this call fails because the kernel has no keyrings
    # or forbids them, nothing is shared.
    kernel.syscall(_KEYS, _NEW_SESSION, None)
    # Drop all privileges, also for programs started later, so that none of this can be undone.
    _called(kernel.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _write_only_to(kernel, folder, os.devnull)
    _called(kernel.capset(struct.pack("<Ii", _CAPABILITIES, 0), bytes(24)))
    return folder


def _write_only_to(kernel: ctypes.CDLL, *places: str) -> None:
    """Allow writing only to ``places``.

    Read-only mounts leave pipes and terminals writable, so this uses Landlock.
    """
    size = ctypes.c_size_t(8)
    rules = kernel.syscall(_CREATE_RULESET, struct.pack("<Q", _WRITE_FILE), size, 0)
    if rules < 0:
        raise _NotAllowedError(ctypes.get_errno(), "the kernel does not allow it")
    for place in places:
        there = os.open(place, os.O_PATH)
        rule = struct.pack("<Qi", _WRITE_FILE, there)
        _called(kernel.syscall(_ADD_RULE, rules, _BENEATH, rule, 0))
        os.close(there)
    _called(kernel.syscall(_RESTRICT_SELF, rules, 0))
    os.close(rules)


def _own_processes() -> None:
    """Enter a new process namespace and continue as its first process; when it ends, all others in it end."""
    _called(_kernel().unshare(_NEW_PROCESSES))
    first = os.fork()
    if first != 0:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) != 0)
    _dies_with_parent()


def _copied(enclosed: bool) -> int:
    """Return ``os.fork()``; if ``enclosed``, the copy is the first and only process of a new namespace."""
    if not enclosed:
        return os.fork()
    kernel = _kernel()
    with open("/proc/thread-self/ns/pid", "rb") as here:
        _called(kernel.unshare(_NEW_PROCESSES))
        block = -1
        try:
            block = os.fork()
        finally:
            if block != 0:  # even if the fork failed: the next block needs its own namespace
                _called(kernel.setns(here.fileno(), _NEW_PROCESSES))
    return block


def _dies_with_parent() -> None:
    """End this process when its parent ends, if the kernel supports that."""
    if sys.platform == "linux":
        _kernel().prctl(_DIES_WITH_PARENT, signal.SIGKILL)


# ---- one block ---------------------------------------------------------------------------------------------


def _rows(given: bytes) -> Any:
    """Read the rows of a block from bytes; the first byte names their format."""
    how, rows = given[:1], given[1:]
    if how == b"p":
        return pickle.loads(rows)  # noqa: S301 - from the process that started this one
    if how in (b"f", b"l"):
        import polars as pl

        frame = pl.read_ipc_stream(io.BytesIO(rows))
        return frame if how == b"f" else frame.lazy()
    import pyarrow as pa

    return pa.ipc.open_stream(rows).read_all()


def _read_all(descriptor: int) -> bytes:
    with open(descriptor, "rb", buffering=0) as file:
        return file.readall()


def _place(answer: Any, candidates: list[Any]) -> int:
    return _NONE if answer is None else candidates.index(answer)


def _vote(
    function: Callable[[Any], Any], candidates: list[Any], given: int, said: int, *, telling: bool
) -> None:
    """Call the function on the rows of this block; report only which candidate it returned.

    A rehearsal also reports what went wrong, or which modules were imported.
    """
    told = b""
    place = _NONE
    known = set(sys.modules)
    try:
        answer = function(_rows(_read_all(given)))
        try:
            place = _place(answer, candidates)
        except ValueError:
            told = f"it returned {answer!r:.200}, which is not a candidate".encode()
        else:
            told = b"it returned None, so the block does not vote" if place == _NONE else b""
    except BaseException as error:  # any error ends here; only a rehearsal reports it
        if telling:
            error.__traceback__ = (
                error.__traceback__ and error.__traceback__.tb_next
            )  # leave out this frame
            told = "".join(traceback.format_exception(error, limit=-8)).encode(errors="replace")
    told = told[-_LONGEST_TOLD:]
    if telling and place != _NONE:
        told = "\n".join(each for each in sys.modules if each not in known).encode(errors="replace")
    os.write(said, VOTE.pack(place) + (told[:_LONGEST_NAMES] if telling else b""))


def _limit(seconds: int, memory: int) -> None:
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
    ):
        _, largest = resource.getrlimit(kind)
        least = most if largest == resource.RLIM_INFINITY else min(most, largest)
        with contextlib.suppress(ValueError, OSError):  # macOS cannot limit address space
            resource.setrlimit(kind, (least, least))


def _only(*kept: int) -> None:
    """Close all descriptors except ``kept``, and connect the standard streams to the null device."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    lowest = 3
    for each in sorted(kept):
        os.closerange(lowest, each)
        lowest = each + 1
    os.closerange(lowest, max(lowest, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 16)))


def _fresh_generator() -> None:
    """Reseed NumPy's global generator after a fork; Python reseeds its own."""
    generators = sys.modules.get("numpy.random")
    if generators is not None:
        generators.seed()


def _run(terms: dict[str, Any], given: int, answer: int, *, telling: bool) -> None:
    """Run a block's process from start to end."""
    folder = terms["folder"]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _dies_with_parent()
    os.setsid()
    _only(given, answer)
    if terms["enclosed"]:
        folder = _enclose(folder, network=terms["network"], memory=terms["memory"])
    else:
        folder = tempfile.mkdtemp(dir=folder)
    os.chdir(folder)
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    _limit(terms["seconds"], terms["memory"])
    _fresh_generator()
    _vote(terms["function"], terms["candidates"], given, answer, telling=telling)


# ---- the server --------------------------------------------------------------------------------------------


def _received(line: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = line.recv(size - len(found))
        if not part:
            os._exit(0)
        found += part
    return found


def serve(descriptor: int) -> None:
    """Receive the function and its terms, then create a process for each pair of pipes that arrives."""
    line = socket.socket(fileno=descriptor)
    (size,) = SIZE.unpack(_received(line, SIZE.size))
    try:
        terms = pickle.loads(_received(line, size))  # noqa: S301 - from the process that started this one
        if terms["enclosed"]:
            _own_users()
            _own_processes()
        terms["function"] = pickle.loads(terms["function"])  # noqa: S301 - as above
        told = (
            b"a module that it uses makes memory that all blocks would share"
            if _shares_memory()
            else b""
        )
    except BaseException:
        told = traceback.format_exc(limit=-8).encode(errors="replace")[-_LONGEST_TOLD:]
    line.sendall(SIZE.pack(len(told)) + told)
    _settle()
    while True:
        message, pipes, _, _ = socket.recv_fds(line, 1, 2)
        if not message:
            os._exit(0)
        if message == LOADING:
            (size,) = SIZE.unpack(_received(line, SIZE.size))
            _load(line, _received(line, size).decode().split())
            line.sendall(SIZE.pack(0))
            continue
        given, answer = pipes
        try:
            block = _copied(terms["enclosed"])
        except OSError:  # no process could be created: no vote
            block = 0
        else:
            if block == 0:
                try:
                    _run(terms, given, answer, telling=message == TELLING)
                finally:
                    os._exit(0)
        os.close(given)
        os.close(answer)
        _tell(line, block)


def _settle() -> None:
    """Prepare this process to be copied."""
    gc.collect()
    gc.freeze()  # so that garbage collection in copies touches no shared page
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def _load(line: socket.socket, names: list[str]) -> None:
    """Import the libraries that the rehearsal imported, if that is safe, so that no block has to.

    A process with threads cannot be copied safely, shared memory would connect the blocks, and an import
    cannot be undone. So a copy of this process does the import and serves from then on. This process waits,
    and serves again only if the copy turns out to be unsafe. If the client leaves, both end.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    copy = os.fork()
    if copy:
        handle = os.pidfd_open(copy)
        waiting = select.poll()
        waiting.register(handle, select.POLLIN)
        waiting.register(line, select.POLLRDHUP)
        if all(descriptor != handle for descriptor, _ in waiting.poll()):
            os.kill(copy, signal.SIGKILL)
        os.close(handle)
        if os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) != _NOT_TO_COPY:
            os._exit(0)
    else:
        _dies_with_parent()
        for name in names:
            with contextlib.suppress(BaseException):  # then each block imports it itself
                importlib.import_module(name)
        if _threads() or _shares_memory():
            os._exit(_NOT_TO_COPY)
    _settle()


def _shares_memory() -> bool:
    """Return whether copies of this process could write to each other's memory."""
    try:
        with open("/proc/self/maps") as file:
            return any(line.split(maxsplit=2)[1].startswith("rw-s") for line in file)
    except OSError:  # no /proc: blocks are not isolated on this system either
        return False


def _threads() -> set[str]:
    """Return the names of other threads that may hold a lock when a copy is made."""
    names = []
    for place in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{place}/comm") as file:
            names.append(file.read().strip())
    with open("/proc/self/comm") as file:
        names.remove(file.read().strip())
    return set(names) - _HARMLESS


def _tell(line: socket.socket, block: int) -> None:
    """Hand a block's process to the client, which may have to end it; keep no handle here."""
    handles = []
    if block and hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):  # it has ended already
            handles.append(os.pidfd_open(block))
    socket.send_fds(line, [SIZE.pack(block)], handles)
    for each in handles:
        os.close(each)


def probe(folder: str) -> None:
    """Exit with 0 if the kernel lets a process be isolated."""
    try:
        _own_users()
        _own_processes()
        block = _copied(enclosed=True)
        if block == 0:
            _enclose(folder, network=False, memory=1 << 20)
            os._exit(0)
        os._exit(os.waitpid(block, 0)[1] != 0)
    except BaseException:
        os._exit(1)
