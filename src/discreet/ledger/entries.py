"""The history: entries chained by hashes, append-only. It contains no data except released answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from discreet._displays import visible
from discreet.errors import LedgerError, ParameterError

GENESIS = "0" * 64
"""The value of ``previous`` in a data set's first entry."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a data set's history. A copy kept elsewhere exposes any change to the entries up to it.

    Example:
        >>> Head.parse("visits:2:" + "ab" * 32).sequence
        2
    """

    dataset: str
    sequence: int
    hash: str

    def __str__(self) -> str:
        return visible(f"{self.dataset}:{self.sequence}:{self.hash}")

    @staticmethod
    def parse(text: str) -> Head:
        """Parse a head from the text that ``str(head)`` returns."""
        dataset, _, rest = text.strip().rpartition(":")
        dataset, _, sequence = dataset.rpartition(":")
        if not dataset or not sequence.isdecimal() or len(rest) != 64:
            raise ParameterError(
                "a head is written dataset:number:hash, as `discreet budget head` prints it"
            )
        return Head(dataset, int(sequence), rest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the history.

    Attributes:
        sequence: its number in the data set's history, from 1.
        dataset: the data set.
        budget: the budget it belongs to: the data set, or a part of it such as ``visits/alice``.
        kind: ``create``, ``spend``, ``failed``, ``answer``, ``allot``, ``revoke``, ``renew`` or ``clock``.
        time: when it was written, in UTC; only a ``clock`` entry may be earlier than the previous entry.
        version: the version of discreet that wrote it.
        details: the fields of this kind of entry: purpose, mechanism, parameters, guarantee, count, cost, ...
        previous: the hash of the previous entry.
        state: the digest of the state after this entry; None in entries of discreet 0.1.0.
        hash: the hash of this entry.

    Example:
        >>> import tempfile
        >>> from discreet import PureDP
        >>> from discreet.ledger import Ledger
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     budget = ledger.create("visits", PureDP(1))
        ...     entry = ledger.spend("visits", PureDP("0.3"), purpose="mode of diagnosis")
        >>> entry.sequence, entry.kind, entry.details["purpose"]
        (2, 'spend', 'mode of diagnosis')
    """

    sequence: int
    dataset: str
    budget: str
    kind: str
    time: str
    version: str
    details: Mapping[str, Any]
    previous: str
    hash: str
    state: str | None = None

    def __str__(self) -> str:
        return visible(f"{self.budget} #{self.sequence}")

    @property
    def head(self) -> Head:
        """Return the head of the history just after this entry."""
        return Head(self.dataset, self.sequence, self.hash)

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON, with the details among the other fields."""
        told: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            told |= value if each.name == "details" else {each.name: value}
        return told


def write(entry: Entry) -> str:
    """Return an entry as the JSON text that is stored and hashed: all fields but the hash."""
    told = {each.name: getattr(entry, each.name) for each in fields(entry) if each.name != "hash"}
    return json.dumps(told, sort_keys=True, separators=(",", ":"))


def read(body: str) -> Entry | None:
    """Read an entry from a stored text; None if the text is not an entry."""
    try:
        return Entry(**json.loads(body), hash=digest(body))
    except (AttributeError, RecursionError, TypeError, ValueError):
        return None


def digest(body: str) -> str:
    """Return the SHA-256 of an entry's stored text, which contains the hash of the previous entry."""
    return hashlib.sha256(body.encode("ascii")).hexdigest()


def time_in_words(microseconds: int) -> str:
    """Format microseconds since 1970 as an ISO 8601 time in UTC.

    Example:
        >>> time_in_words(1_000_000)
        '1970-01-01T00:00:01.000000Z'
    """
    return (_EPOCH + timedelta(microseconds=microseconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def moment_of(time: str) -> int:
    """Return the microseconds since 1970 of a time formatted by ``time_in_words``.

    Example:
        >>> moment_of("1970-01-01T00:00:01.000000Z")
        1000000
    """
    return (datetime.fromisoformat(time) - _EPOCH) // timedelta(microseconds=1)


TOLERANCE = 60 * 1_000_000
"""Microseconds that a clock may step back (small corrections happen) before spending is refused."""


def checked_time(moment: int, last: int) -> int:
    """Return a new entry's time, at least the last entry's; refuse a clock over a minute behind that one."""
    if moment < last - TOLERANCE:
        raise LedgerError(
            f"the clock has gone back: it says {time_in_words(moment)}, "
            f"the last entry {time_in_words(last)}; nothing was spent. "
            "Correct the clock, or accept it with accept_clock()"
        )
    return max(moment, last)
