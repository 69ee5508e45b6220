"""The clock of a SQLite ledger, and what to do when a clock goes back."""

from __future__ import annotations

import time

from discreet.errors import LedgerError
from discreet.ledger.entries import time_in_words

TOLERANCE = 60 * 1_000_000
"""Microseconds a clock may step back (small corrections happen) before spending is refused."""


def now() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1_000


def checked(moment: int, last: int) -> int:
    """The time to write: never before the last entry; an error if the clock has plainly gone back."""
    if moment < last - TOLERANCE:
        raise LedgerError(
            f"the clock has gone back: it says {time_in_words(moment)}, "
            f"the last entry {time_in_words(last)}; nothing was spent. "
            "Set the clock right, or accept it with accept_clock()"
        )
    return max(moment, last)
