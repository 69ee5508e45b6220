"""The desk's own file: hashes of tokens, admitted questions, and released answers.

Released answers are public; nothing else about the data is ever written here. Every change is committed to
disk before the desk acts on it, so that a crash at any point loses no answer that was sent and admits no
question twice.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet._exact.numbers.exact import positive
from discreet._exact.sampling import SecureBits
from discreet.errors import DiscreetError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS tokens (
    hash BLOB PRIMARY KEY, analyst TEXT NOT NULL, made REAL NOT NULL, expires REAL NOT NULL, revoked REAL,
    person TEXT);
CREATE TABLE IF NOT EXISTS questions (
    id TEXT PRIMARY KEY, analyst TEXT NOT NULL, key TEXT, digest TEXT NOT NULL, asked TEXT NOT NULL,
    state TEXT NOT NULL, began REAL NOT NULL, ended REAL, entry INTEGER, answer TEXT,
    number INTEGER, reason TEXT, UNIQUE (analyst, key));
CREATE INDEX IF NOT EXISTS by_analyst ON questions (analyst, began);
CREATE TABLE IF NOT EXISTS forgiven (analyst TEXT NOT NULL, time REAL NOT NULL);
"""
_LATER = {
    ("questions", "number"): """
ALTER TABLE questions ADD COLUMN number INTEGER;
ALTER TABLE questions ADD COLUMN reason TEXT;
UPDATE questions SET number = (SELECT count(*) FROM questions AS earlier
    WHERE earlier.analyst = questions.analyst AND earlier.entry IS NOT NULL
    AND earlier.rowid <= questions.rowid) WHERE entry IS NOT NULL;
""",
    ("tokens", "person"): "ALTER TABLE tokens ADD COLUMN person TEXT",
}
"""Statements that add missing columns to a store of an earlier version."""
ADMITTED, PAID, ANSWERED, FAILED, REFUSED, LOST = (
    "admitted",
    "paid",
    "answered",
    "failed",
    "refused",
    "lost",
)
_DAY = 86_400
_LISTED = 1000
"""The largest number of questions in an analyst's list."""
TOKEN = "discreet_"  # noqa: S105  # how every token of a desk begins
SESSION = f"{TOKEN}session_"
OWNER = "@owner"
"""The holder of the token for metrics; no analyst has this name."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """An admitted question, and its outcome.

    Attributes:
        id: the question's name in the store, and in the purpose of its ledger entry.
        analyst: who asked.
        key: the key that the analyst sent with the question.
        digest: the hash of the request.
        asked: the request.
        state: admitted, paid, answered, failed, refused (nothing was spent) or lost (in a crash).
        began: when it began, in seconds since 1970.
        ended: when it ended, in seconds since 1970.
        entry: the number of the ledger entry, once the question is paid; not shown to analysts, because it
            also counts other people's questions.
        answer: the release as plain data, once the question is answered.
        number: the question's number among the analyst's own paid questions, starting at 1.
        reason: why the question was refused or failed, for the owner.
    """

    id: str
    analyst: str
    key: str | None
    digest: str
    asked: dict[str, Any]
    state: str
    began: float
    ended: float | None
    entry: int | None
    answer: dict[str, Any] | None
    number: int | None
    reason: str | None


_COLUMNS = ", ".join(AskedQuestion.__slots__)


def as_reply(question: AskedQuestion) -> dict[str, Any]:
    """Return a question and its outcome, as its own analyst sees it."""
    return {
        "id": question.id,
        "state": question.state,
        "asked": question.asked,
        "began": question.began,
        "entry": question.number,
        "release": question.answer,
    }


class DeskStore:
    """The desk's file of tokens and questions, open for reading and writing."""

    def __init__(self, path: str | Path) -> None:
        place = Path(path)
        self._lock = threading.Lock()
        try:
            place.touch(mode=0o600)  # stored answers are public, but who asked what is not
            self._connection = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000"):
                self._connection.execute(f"PRAGMA {pragma}")
            self._connection.executescript(_SCHEMA)
            with self._changing() as connection:
                for (table, column), statements in _LATER.items():
                    named = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
                    if (column,) not in named.fetchall():
                        for statement in statements.split(";"):
                            connection.execute(statement)
        except (OSError, sqlite3.Error):
            raise DiscreetError(f"the desk's store {str(path)!r} cannot be opened") from None
        self._path = place
        self.till = f"{place}-paying"
        self._held: sqlite3.Connection | None = None

    def hold(self) -> None:
        """Lock out every other desk until this store is closed or its process ends.

        A second desk would mistake the questions in progress here for questions that a crash left open.
        """
        file = Path(f"{self._path}-serving")
        try:
            file.touch(mode=0o600)
            file.chmod(0o600)  # also if 0.2.0 made it: any reader can hold the lock
            beside = sqlite3.connect(file, timeout=0, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error):
            raise DiscreetError(f"the desk's file {str(file)!r} cannot be opened") from None
        try:
            beside.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            beside.close()
            raise DiscreetError(
                f"another desk is using the store {str(self._path)!r}: stop it first"
            ) from None
        self._held = beside

    def close(self) -> None:
        """Close the store."""
        self._connection.close()
        if self._held is not None:
            self._held.close()

    def __enter__(self) -> DeskStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    # ---- tokens ----------------------------------------------------------------------------------

    def new_token(
        self, analyst: str, *, days: int = 0, seconds: float = 0, person: str | None = None
    ) -> str:
        """Return a new 256-bit token, valid for ``days`` plus ``seconds``; only its hash is stored.

        With ``person``, the token is the page's session for this person, as the sign-on provider knows them.
        """
        token = f"{TOKEN if person is None else SESSION}{SecureBits().integer(256):064x}"
        now = time.time()
        with self._changing() as connection:
            connection.execute(
                "INSERT INTO tokens VALUES (?, ?, ?, ?, NULL, ?)",
                (_hashed(token), analyst, now, now + days * _DAY + seconds, person),
            )
        return token

    def holder(self, token: str) -> str | None:
        """Return the holder of a valid token; None if it is not valid, or is a single sign-on session."""
        analyst, person = self.session(token)
        return analyst if person is None else None

    def session(self, token: str) -> tuple[str | None, str | None]:
        """Return the analyst of a valid token, and the person if it is a single sign-on session.

        Both are None if the token is not valid now.

        The lookup is by the token's hash, so its timing can only reveal something about hashes, and no token
        can be computed from a hash.
        """
        found = self._rows(
            "SELECT analyst, person FROM tokens WHERE hash = ? AND revoked IS NULL AND expires > ?",
            _hashed(token),
            time.time(),
        )
        return found[0] if found else (None, None)

    def revoke(self, analyst: str) -> int:
        """Revoke all valid tokens of an analyst, including sessions; return how many there were."""
        with self._changing() as connection:
            return connection.execute(
                "UPDATE tokens SET revoked = ? WHERE analyst = ? AND revoked IS NULL AND expires > ?",
                (time.time(), analyst, time.time()),
            ).rowcount

    def end_session(self, token: str) -> None:
        """End a session of the page; the analyst's own tokens stay valid."""
        if not token.startswith(SESSION):
            return
        with self._changing() as connection:
            connection.execute(
                "UPDATE tokens SET revoked = ? WHERE hash = ?", (time.time(), _hashed(token))
            )

    def tokens(self) -> list[tuple[str, float, float]]:
        """Return the holder, the start and the end of each valid token, sessions included."""
        return self._rows(
            "SELECT analyst, made, expires FROM tokens WHERE revoked IS NULL AND expires > ? ORDER BY made",
            time.time(),
        )

    # ---- questions -------------------------------------------------------------------------------

    def admit(self, analyst: str, key: str | None, digest: str, asked: dict[str, Any]) -> str:
        """Record that a question is about to be paid for; return the name that it gets in the store."""
        name = f"{SecureBits().integer(96):024x}"
        with self._changing() as connection:
            if key is not None:  # a refused question cost nothing, so its key is free again
                connection.execute(
                    "DELETE FROM questions WHERE analyst = ? AND key = ? AND state = ?",
                    (analyst, key, REFUSED),
                )
            row = (name, analyst, key, digest, json.dumps(asked), ADMITTED, time.time())
            named = ", ".join(AskedQuestion.__slots__[: len(row)])
            connection.execute(
                f"INSERT INTO questions ({named}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608  # our own names
                row,
            )
        return name

    def record(
        self,
        name: str,
        state: str,
        *,
        entry: int | None = None,
        answer: dict[str, Any] | None = None,
        reason: str | None = None,
    ) -> None:
        """Record a question's new state, and its answer if it has one; both are on disk when this returns."""
        ended = None if state == PAID else time.time()
        with self._changing() as connection:
            connection.execute(
                "UPDATE questions SET state = ?, ended = ?, entry = coalesce(?, entry), answer = ?, "
                "reason = ? WHERE id = ?",
                (state, ended, entry, None if answer is None else json.dumps(answer), reason, name),
            )
            connection.execute(
                "UPDATE questions SET number = 1 + (SELECT count(number) FROM questions AS own "
                "WHERE own.analyst = questions.analyst) "
                "WHERE id = ? AND entry IS NOT NULL AND number IS NULL",
                (name,),
            )

    def find(self, analyst: str, *, key: str) -> AskedQuestion | None:
        """Return the question that an analyst asked with this key, unless it was refused."""
        found = self._questions("analyst = ? AND key = ? AND state != ?", analyst, key, REFUSED)
        return found[0] if found else None

    def one(self, name: str) -> AskedQuestion:
        """Return the question with this name in the store."""
        return self._questions("id = ?", name)[0]

    def asked(self, analyst: str | None = None, *, most: int = _LISTED) -> list[AskedQuestion]:
        """Return the latest questions of one analyst or of all analysts, newest first."""
        if analyst is None:
            return self._questions("1", most=most)
        return self._questions("analyst = ?", analyst, most=most)

    def answered(self, analyst: str, asked: dict[str, Any]) -> AskedQuestion | None:
        """Return the latest answer that an analyst has to a request, however its ε is written."""
        for name, text in self._rows(
            "SELECT id, asked FROM questions WHERE analyst = ? AND state = ? ORDER BY began DESC LIMIT ?",
            analyst,
            ANSWERED,
            _LISTED,
        ):
            if _same_request(json.loads(text), asked):
                return self.one(name)
        return None

    def unfinished(self) -> list[AskedQuestion]:
        """Return the questions without an outcome; any found when a desk starts were left open by a crash."""
        return self._questions("state IN (?, ?)", ADMITTED, PAID)

    def _questions(self, condition: str, *values: Any, most: int = -1) -> list[AskedQuestion]:
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM questions WHERE {condition} ORDER BY began DESC LIMIT ?",  # noqa: S608  # our own words
            *values,
            most,
        )
        return [
            AskedQuestion(
                **dict(zip(AskedQuestion.__slots__, row, strict=True))
                | {"asked": json.loads(row[4]), "answer": json.loads(row[9] or "null")}
            )
            for row in rows
        ]

    # ---- failures --------------------------------------------------------------------------------

    def failures(self, analyst: str) -> int:
        """Return how many paid questions failed since the owner last unblocked the analyst."""
        found = self._rows(
            "SELECT count(*) FROM questions WHERE analyst = ? AND state = ? AND began > "
            "(SELECT coalesce(max(time), 0) FROM forgiven WHERE analyst = ?)",
            analyst,
            FAILED,
            analyst,
        )
        return int(found[0][0])

    def forgive(self, analyst: str) -> None:
        """Unblock an analyst: failures so far no longer count."""
        with self._changing() as connection:
            connection.execute("INSERT INTO forgiven VALUES (?, ?)", (analyst, time.time()))


def _same_request(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return {**one, "epsilon": None} == {**other, "epsilon": None} and (
        positive("epsilon", one["epsilon"]) == positive("epsilon", other["epsilon"])
    )


def _hashed(token: str) -> bytes:
    # 256 random bits need no salt and no slow hash.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
