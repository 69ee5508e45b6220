"""SQLite's files as a crash leaves them, built from a database's bytes before and after a change."""

from __future__ import annotations

import random
import struct
from itertools import zip_longest

PAGE = 4096
_MAGIC = bytes.fromhex("d9d505f920a163d7")
_NONCE = 12345


def pages(database: bytes) -> list[bytes]:
    """Cut a database into its pages."""
    return [database[start : start + PAGE] for start in range(0, len(database), PAGE)]


def journal(before: bytes, after: bytes) -> bytes:
    """Return the rollback journal that SQLite keeps on disk while it changes a file."""
    old, new = pages(before), pages(after)
    changed = [number for number, page in enumerate(old) if new[number : number + 1] != [page]]
    header = struct.pack(">8sIIIII", _MAGIC, len(changed), _NONCE, len(old), 512, PAGE)
    records = [
        struct.pack(">I", number + 1)
        + old[number]
        + struct.pack(">I", _NONCE + sum(old[number][PAGE - 200 : 0 : -200]))
        for number in changed
    ]
    return header.ljust(512, b"\0") + b"".join(records)


def torn(before: bytes, after: bytes, rng: random.Random) -> bytes:
    """Return a file in the middle of a change: some pages are written, others are not."""
    if rng.random() < 0.5:  # a killed program: SQLite writes pages in order
        written = rng.randrange(len(after) // PAGE + 1)
        chosen = [number < written for number in range(len(after) // PAGE)]
    else:  # a power failure, or a copy made during the change
        chosen = [rng.random() < 0.5 for _ in range(len(after) // PAGE)]
    both = zip_longest(pages(before), pages(after), chosen)
    mixed = [new if new_one and new is not None else old for old, new, new_one in both]
    while mixed and mixed[-1] is None:
        mixed.pop()
    return b"".join(page or bytes(PAGE) for page in mixed)


def flipped(content: bytes, rng: random.Random) -> bytes:
    """Return the content with one bit flipped."""
    changed = bytearray(content)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)
