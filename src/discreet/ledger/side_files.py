"""The files that SQLite leaves beside a ledger after a crash, and whether they belong to it.

SQLite finds them by name alone. A journal left behind when the ledger was moved would undo later spends
when the ledger comes back. SQLite reads a write-ahead log up to the first flipped bit and ignores the rest.
Both cases are detected here, before SQLite opens the file (``docs/proofs/ledger.md``).
"""

from __future__ import annotations

import os
import sqlite3
import struct
import time
import zlib
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from discreet.errors import LedgerError

_WAL_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # the byte order of its checksums
_WAL_HEADER, _FRAME_HEADER = 32, 24
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_JOURNAL_HEADER = 28
_ONE_FILE = 4  # since this version of the schema, a ledger is one file
_TAG = slice(60, 64)  # where the first page of a SQLite file keeps user_version


def next_tag(tag: int, file: Path) -> int:
    """Return the tag for a ledger's next change, computed from the last tag, the folder and the file's name.

    The tag is stored in ``PRAGMA user_version``, so the journal of a change contains the tag from before the
    change. The journal belongs to a file that still has this tag, or the next tag that is computed from it
    for this file.

    Args:
        tag: the tag before the change.
        file: the ledger's file, without symbolic links.
    """
    return zlib.crc32(f"{tag} {os.stat(file.parent).st_ino} {file.name}".encode()) >> 1


def require_own(path: Path, *, wait: float) -> None:
    """Refuse a ledger if the log beside it is damaged, or if the log or the journal is not its own."""
    file = path.resolve()
    until = time.monotonic() + wait
    _require_whole_log(file, until)
    journal = file.with_name(file.name + "-journal")
    while (before := _tag_before(journal)) is not None:
        tag = _asked(file, "PRAGMA user_version")
        if tag in (before[0], next_tag(before[0], file)):
            return
        if _tag_before(journal) == before or time.monotonic() > until:  # no writer is at work
            raise LedgerError(
                f"the journal {journal} does not belong to the ledger {path}, and would undo what was spent "
                "since: move the journal away. Nothing was spent"
            )


def needs_log(file: Path) -> bool:
    """Return whether SQLite reads a ledger's file only together with a write-ahead log.

    The file's header says so, but only SQLite may read it (``Place.check_file``). So this asks SQLite to open
    the file without locks, which SQLite refuses for such a file. This takes no lock and creates no file.
    """
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&nolock=1", uri=True)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CANTOPEN
    return False


def _tag_before(journal: Path) -> tuple[int, bytes, int] | None:
    """Return the tag stored in a journal, and the journal's header and inode; None if it can undo nothing."""
    try:
        with journal.open("rb") as opened:
            header = opened.read(_JOURNAL_HEADER)
            identity = os.fstat(opened.fileno()).st_ino
            if header[:1] in (b"", b"\0"):
                return None  # SQLite ignores a journal that is empty or finished
            if len(header) < _JOURNAL_HEADER or not header.startswith(_JOURNAL_MAGIC):
                raise _damaged(journal)
            sector, page = struct.unpack(">II", header[20:])
            opened.seek(sector)
            record = opened.read(4 + page)
            # Our journals begin with the first page; those of earlier releases may have it anywhere.
            while len(record) == 4 + page and record[:4] != b"\0\0\0\1":
                opened.seek(4, os.SEEK_CUR)
                record = opened.read(4 + page)
    except FileNotFoundError:
        return None
    except OSError:
        raise _damaged(journal) from None
    if len(record) < 4 + max(page, _TAG.stop):
        return None  # the change has reached neither the first page nor the ledger's file
    return int.from_bytes(record[4:][_TAG], "big", signed=True), header, identity


def _asked(file: Path, question: str) -> int | None:
    """Run a query for one number on the ledger alone, ignoring files beside it; return None if it fails."""
    address = f"file:{quote(str(file))}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("PRAGMA writable_schema=ON")  # its last pages may not be written yet
            return int(connection.execute(question).fetchone()[0])
    except (sqlite3.Error, TypeError, ValueError):
        return None


def _require_whole_log(file: Path, until: float) -> None:
    """Refuse a write-ahead log that is damaged or not the ledger's; only earlier releases leave a log."""
    log = file.with_name(file.name + "-wal")
    content, before = _content(log), None
    if content and (_asked(file, "SELECT max(version) FROM discreet_schema") or 0) >= _ONE_FILE:
        raise LedgerError(
            f"the log {log} does not belong to the ledger {file}, which has none, and could undo what was "
            "spent: end any other program that has the ledger open, and move the log away. Nothing was spent"
        )
    while content and not _whole(content):
        if content == before or time.monotonic() > until:  # no writer is at work
            raise _damaged(log)
        time.sleep(0.05)
        content, before = _content(log), content


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError:
        raise _damaged(file) from None


def _damaged(file: Path) -> LedgerError:
    return LedgerError(
        f"{file} belongs to the ledger beside it and is damaged, so that spends would be forgotten: put both "
        "files back from the same copy, or move it away and compare the ledger with a head kept elsewhere. "
        "Nothing was spent"
    )


def _whole(log: bytes) -> bool:
    """Return whether every frame of a write-ahead log is intact."""
    header = log[:_WAL_HEADER]
    if len(header) < _WAL_HEADER:
        return False
    magic, _, page = struct.unpack(">3I", header[:12])
    if magic not in _WAL_MAGIC or not 512 <= page <= 65536:
        return False
    order, salts = _WAL_MAGIC[magic], header[16:24]
    checksum = _checksum(order, header[:24], (0, 0))
    if struct.pack(">II", *checksum) != header[24:]:
        return False
    ended = False  # after this log's last frame come frames of earlier logs, with other salts
    for start in range(_WAL_HEADER, len(log) - _FRAME_HEADER - page + 1, _FRAME_HEADER + page):
        frame = log[start : start + _FRAME_HEADER + page]
        same = [frame[8:12] == salts[:4], frame[12:16] == salts[4:]]
        if not all(same):
            ended = True
            if any(same):  # salts are random, so just one of the two cannot match by chance
                return False
            continue
        checksum = _checksum(order, frame[:8] + frame[_FRAME_HEADER:], checksum)
        if ended or struct.pack(">II", *checksum) != frame[16:24]:
            return False
    return True


def _checksum(order: str, content: bytes, start: tuple[int, int]) -> tuple[int, int]:
    first, second = start
    words = struct.iter_unpack(f"{order}II", content)
    for one, other in words:
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
