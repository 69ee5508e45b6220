"""The engine DuckDB, which counts people in files and in tables in memory."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from multiprocessing.util import Finalize
from types import FrameType
from typing import Any

from discreet._tables.engines import Columns, Engine, Places, quoted
from discreet._tables.query import Query

_ZONE = re.compile(r"(?:time_zone='|tz=|64\[\w+, )([^'\],)]+)")
_FEW = 64
_MOST_KNOWN = 256
_LONGEST_KNOWN = 1 << 16
_known: dict[tuple[str, tuple[tuple[str, str], ...]], None] = {}
"""Statements that have been tried, with their types; a trial takes a while, so none is repeated."""

_NO_BAR = "SET enable_progress_bar = false"
_QUIET: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # reading a file never uses the network
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "false",  # no order is needed, and without it memory stays bounded
    # The only joins are with lists of keys, which are written as the smaller side. DuckDB does not know
    # the length of a stream, and would build its hash table from the rows.
    "disabled_optimizers": "join_order,build_side_probe_side",
}
_databases: dict[int, Any] = {}
"""One DuckDB for each process (by its ID), because starting takes longer than many questions.

A forked process lacks its parent's threads; with its parent's DuckDB it would wait for them forever, even at
exit.
"""


def spill_folder() -> str:
    """Return this process's private folder for rows that do not fit in memory; it is deleted at exit."""
    return _spill_folder(os.getpid())


@cache
def _spill_folder(_process: int) -> str:
    folder = tempfile.mkdtemp(prefix="discreet-")
    # Unlike an atexit function, a finalizer also runs in a multiprocessing process, and never in a fork of
    # this process.
    Finalize(None, shutil.rmtree, (folder,), {"ignore_errors": True}, exitpriority=0)
    return folder


@atexit.register
def _let_go_of_duckdb() -> None:
    _databases.pop(os.getpid(), None)


def _started() -> Any:
    import duckdb

    settings = {**_QUIET, "temp_directory": spill_folder()}
    _databases[os.getpid()] = duckdb.connect(config=settings)
    return _databases[os.getpid()]


def connected() -> Any:
    """Return a DuckDB connection that uses no network and spills only into the private folder."""
    try:
        connection = _databases[os.getpid()].cursor()
    except Exception:  # not started, or ended by an error of its own
        connection = _started().cursor()
    try:
        connection.execute(_NO_BAR)
    except Exception:
        # In a notebook without ipywidgets the progress bar is off, and DuckDB even refuses to switch it off.
        try:
            connection.execute("SELECT 1")
        except Exception:
            connection = _started().cursor()
            with contextlib.suppress(Exception):
                connection.execute(_NO_BAR)
    return connection


class DuckDB(Engine):
    """A table in DuckDB: a relation, a query, or data that is handed over when its rows are needed.

    Args:
        relation: a relation with the declared columns. Statements name it ``discreet_rows``, which hides
            tables of that name.
        connection: the connection that runs statements, if ``relation`` does not.
        query: for a file or a database: the query that stands for the table, run by ``connection``.
        load: a function that returns a connection with the rows of some columns, if ``relation`` has none.
        known_as: the types of all columns as the table's owner knows them; columns that are not in
            ``relation`` have a type that DuckDB does not know.
        kinds: the kinds of columns whose type in ``relation`` does not show their kind.
        ticks: the columns of moments and spans that ``relation`` holds as whole numbers, each with the number
            of ticks in a second.
        in_database: whether the connection is to a database, which is read in a transaction.
    """

    name = "duckdb"

    def __init__(
        self,
        relation: Any,
        *,
        connection: Any = None,
        query: str | None = None,
        load: Callable[[Iterable[str]], Any] | None = None,
        known_as: Mapping[str, str] | None = None,
        kinds: Mapping[str, str] | None = None,
        ticks: Mapping[str, int] | None = None,
        in_database: bool = False,
    ) -> None:
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        super().__init__("discreet_rows" if query is None else f"({query}) AS discreet_rows", types)
        self._relation, self._connection, self._load = relation, connection, load
        self._running = threading.Lock()  # a connection keeps only the last result
        self._ticks, self.keeps_time = ticks or {}, in_database
        if known_as is not None:
            told = self.kinds | dict(kinds or {})
            self.known_as, self.kinds = (
                known_as,
                {name: told.get(name, "other") for name in known_as},
            )
        zones = ((name, _ZONE.search(self.known_as[name])) for name in self._ticks)
        self.zones = {name: zone[1] for name, zone in zones if zone is not None}

    # ---- how SQL is written

    def text(self, name: str) -> str:
        """Return the SQL of a text's bytes; an ENUM (a category) is converted to text first."""
        return f"encode(CAST({self.column(name)} AS VARCHAR))"

    def finite(self, number: str) -> str:
        """Return SQL with ``isfinite``.

        A comparison could let NaN pass if a Parquet file states the maximum of the column.
        """
        return f"isfinite({number})"

    def trimmed(self, text: str) -> str:
        """Return SQL that calls ``trim``, which is slow, only for a text with spaces or tabs to remove."""
        around = " OR ".join(f"{text} LIKE '{sign}'" for sign in (" %", "% ", "\t%", "%\t"))
        return f"CASE WHEN {around} THEN trim({text}, ' \t') ELSE {text} END"

    def matches(self, text: str, pattern: str) -> str:
        """Return the SQL condition that a text matches an RE2 regular expression."""
        return f"regexp_matches({text}, '{pattern}')"

    spelling = ("'", "date_diff('day', DATE '1970-01-01', {})")
    week = "strftime({}, '%G-W%V')"

    def position(self, name: str) -> str:
        """Return SQL for ``position`` that never fails, unlike DuckDB's own conversions of distant times."""
        held, declared = self.quoted(name), self.types[name]
        if name in self._ticks:
            return self._seconds(held, self._ticks[name])
        if declared == "TIME_NS":
            return f"epoch_ns({held}) / 1e9"
        if declared in ("INTERVAL", "TIME"):
            return f"CAST(epoch({held}) AS DOUBLE)"
        if declared == "DATE":
            return f"CASE WHEN isfinite({held}) THEN epoch({held}) // 86400 END::DOUBLE"
        with_zone = declared.startswith(("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ"))
        moment = f"TRY_CAST({held} AS {'TIMESTAMPTZ' if with_zone else 'TIMESTAMP'})"
        return f"CASE WHEN isfinite({moment}) THEN epoch({moment}) END::DOUBLE"

    def shown_position(self, name: str) -> str:
        """Return SQL for ``position`` in the local time of the column's zone, if it declares one.

        With a zone, the result is null outside the years 1 to 9999.
        """
        zone, seconds = self.zones.get(name), self.position(name)
        if zone is None:
            return seconds
        near = f"CASE WHEN {seconds} BETWEEN -62135596800 AND 253402300799 THEN {seconds} END"
        return f"epoch(timezone('{zone}', to_timestamp({near})))"

    def _seconds(self, ticks: str, parts: int) -> str:
        """Return SQL that turns ticks into seconds: the nearest float64, or a close one beyond 285 years."""
        if parts == 1:
            return f"CAST({ticks} AS DOUBLE)"
        near = f"{ticks} BETWEEN {-(2**53)} AND {2**53}"
        far = f"CAST({ticks} // {parts} AS DOUBLE) + CAST({ticks} % {parts} AS DOUBLE) / {parts}e0"
        return f"CASE WHEN {near} THEN CAST({ticks} AS DOUBLE) / {parts}e0 ELSE {far} END"

    def hashed(self, *parts: str, bits: int) -> str:
        """Return SQL for DuckDB's hash of these expressions, applied twice.

        DuckDB hashes several columns by combining their hashes bit by bit (XOR). Applied once, the hash would
        not draw evenly: take three choices and the first bit in which their hashes differ; the choice that
        differs from the other two in this bit would come first in half of all cases, not in a third.
        """
        return f"(hash(hash({', '.join(parts)})) >> {64 - bits})"

    def key_list(self, held: Places) -> str:
        """Return a SELECT of keys and positions: two literals, because DuckDB binds each separately."""
        words, places = self._lists(held)
        return f"SELECT unnest({words}) AS word, unnest({places}) AS place"

    def _lists(self, held: Places) -> tuple[str, str]:
        words, places = (",".join(str(pair[part]) for pair in held) for part in (0, 1))
        if not held:
            return "([]::VARCHAR[])", "([]::BIGINT[])"
        return f"string_split('{words}', ',')", f"(string_split('{places}', ',')::BIGINT[])"

    def indexed(
        self, query: Query, name: str, held: Places, *, like: tuple[str, str], rest: int | None
    ) -> Query:
        """Find each row's key by searching the list of keys if it is short, which is faster than a join."""
        if len(held) > _FEW:
            return super().indexed(query, name, held, like=like, rest=rest)
        words, places = self._lists(held)
        keys = f"list_transform({words}, lambda word: {self.of_word('word', *like)})"
        place = f"{places}[list_position({keys}, {name})]"
        if rest is not None:
            return query.set({name: f"COALESCE({place}, {rest})"})
        return query.set({name: place}).where(f"{name} IS NOT NULL")

    # ---- how a statement is run

    def loaded(self, columns: Iterable[str]) -> DuckDB:
        """Return the engine with the rows of these columns; load them now unless they are already loaded."""
        if self._load is None:
            return self
        loaded = copy(self)
        loaded._connection, loaded._load = self._load(columns), None
        return loaded

    def _run(self, statement: str) -> Any:
        if self._connection is not None:
            return self._connection.execute(statement)
        return self._relation.query("discreet_rows", statement)

    def try_out(self, statement: str) -> None:
        """Run the statement on no rows, unless it has been tried before."""
        known = statement, tuple(self.types.items())
        if self._connection is None or len(statement) > _LONGEST_KNOWN or known not in _known:
            with self._running, _stopping(self._connection):
                self._run(f"SELECT * FROM ({statement}) WHERE false").fetchall()  # noqa: S608 - written by us
        if self._connection is not None and len(statement) <= _LONGEST_KNOWN:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[known] = None

    def columns(self, statement: str, _names: Sequence[str]) -> Columns:
        """Run a statement and return its result as NumPy columns, without going through Arrow."""
        with self._running, _stopping(self._connection):
            return dict(self._run(statement).fetchnumpy())

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement and return its result as rows of Python values."""
        with self._running, _stopping(self._connection):
            return list(self._run(statement).fetchall())

    @contextlib.contextmanager
    def reading(self, seconds: float | None) -> Iterator[None]:
        """Read in a read-only transaction with a time limit if this is a database."""
        if not self.keeps_time:
            yield
            return
        self._connection.execute("BEGIN TRANSACTION READ ONLY")
        timer = None if seconds is None else threading.Timer(seconds, self._connection.interrupt)
        if timer is not None:
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
            self._connection.execute("ROLLBACK")


@contextlib.contextmanager
def _stopping(connection: Any) -> Iterator[None]:
    """Let an interrupt (Ctrl+C) stop the connection's statement first, and then have its usual effect.

    DuckDB notices interrupts by itself, but then it may wait forever for a worker that was not notified. A
    caller's relation does not reveal its connection; for such a relation DuckDB has to handle interrupts.
    """
    before, heard = signal.getsignal(signal.SIGINT), list[tuple[int, FrameType | None]]()
    main = threading.current_thread() is threading.main_thread()
    if connection is None or not main or not callable(before):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        heard.append((number, frame))
        connection.interrupt()

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            before(*heard[0])


LARGEST = 9_200_000_000_000_000_000
"""The largest time, in microseconds; DuckDB's own range ends a little further out."""


def of_query(connection: Any, query: str, *, in_database: bool) -> DuckDB:
    """Open the result of a query on a connection as a table."""
    relation = connection.sql(query)
    return DuckDB(relation, connection=connection, query=query, in_database=in_database)


def holding(rows: Any, chosen: str = "*") -> Any:
    """Return a connection in which ``discreet_rows`` is a view of these rows, with the columns ``chosen``.

    A statement takes less than half as long here as on a relation, where DuckDB binds it several times.
    """
    connection = connected()
    if chosen == "*":
        connection.register("discreet_rows", rows)
        return connection
    connection.register("discreet_given", rows)
    connection.execute(
        f"CREATE TEMP VIEW discreet_rows AS SELECT {chosen} FROM discreet_given"  # noqa: S608 - written by us
    )
    return connection


def of_rows(twin: Any, load: Callable[[Iterable[str]], Any], **facts: Any) -> DuckDB:
    """Return a table with the columns of ``twin``, which has no rows; ``load`` loads columns with rows."""
    return DuckDB(twin.sql("FROM discreet_rows"), connection=twin, load=load, **facts)


def empty(types: Mapping[str, str]) -> Any:
    """Return a connection with an empty table of these columns, or of one unused column if there are none."""
    columns = types or {"discreet_nothing": "INTEGER"}
    parts = (f"NULL::{declared} AS {quoted(name)}" for name, declared in columns.items())
    connection = connected()
    connection.execute(f"CREATE TEMP VIEW discreet_rows AS SELECT {', '.join(parts)} WHERE false")
    return connection


def of_known(held: Any) -> Any:
    """Return a connection that holds this Arrow data; None if DuckDB does not know one of its types."""
    try:
        return holding(held)
    except Exception:
        return None
