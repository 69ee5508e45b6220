"""The tables, their versions, and the migrations from each version to the next.

The statements of a version never change once released; a new version adds a migration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Integer, MetaData, Table, Text, inspect, text
from sqlalchemy.engine import Connection

from discreet.errors import LedgerError
from discreet.ledger.store import Store, damaged

CURRENT = 4
_READABLE = 2  # the tables have not changed since this version

_metadata = MetaData()


def _columns(kind: type[Text | BigInteger], *names: str) -> list[Column[Any]]:
    return [Column(name, kind) for name in names]


budgets = Table(
    "discreet_budgets",
    _metadata,
    Column("id", BigInteger, primary_key=True),
    *_columns(Text, "name", "parent", "parent_group", "accountant", "neighbours", "cap"),
    *_columns(BigInteger, "root_id", "limit_cost", "limit_delta", "common_cost", "common_delta"),
    Column("revoked", Boolean),
    *_columns(Text, "period", "head"),
    *_columns(BigInteger, "period_number", "entries", "last_time"),
)
groups = Table(
    "discreet_groups",
    _metadata,
    Column("budget_id", BigInteger, primary_key=True),
    Column("name", Text, primary_key=True),
    *_columns(BigInteger, "cost", "delta"),
)
entries = Table(
    "discreet_entries",
    _metadata,
    Column("root_id", BigInteger, primary_key=True),
    Column("sequence", BigInteger, primary_key=True),
    *_columns(Text, "body", "hash"),
)
versions = Table("discreet_schema", _metadata, Column("version", Integer, primary_key=True))


def _version_1(connection: Connection) -> None:
    sqlite = connection.dialect.name == "sqlite"
    identity = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    if sqlite:
        identity = "INTEGER PRIMARY KEY AUTOINCREMENT"
    for statement in (
        "CREATE TABLE discreet_schema (version INTEGER PRIMARY KEY)",
        f"""CREATE TABLE discreet_budgets (
            id {identity},
            name TEXT NOT NULL UNIQUE,
            root_id BIGINT,
            parent TEXT,
            accountant TEXT NOT NULL,
            neighbours TEXT NOT NULL,
            cap TEXT NOT NULL,
            limit_cost BIGINT NOT NULL CHECK (limit_cost >= 0),
            limit_delta BIGINT NOT NULL CHECK (limit_delta >= 0),
            common_cost BIGINT NOT NULL CHECK (common_cost BETWEEN 0 AND limit_cost),
            common_delta BIGINT NOT NULL CHECK (common_delta BETWEEN 0 AND limit_delta),
            revoked BOOLEAN NOT NULL,
            period TEXT,
            period_number BIGINT,
            entries BIGINT NOT NULL,
            head TEXT NOT NULL,
            last_time BIGINT NOT NULL
        )""",
        """CREATE TABLE discreet_entries (
            root_id BIGINT NOT NULL REFERENCES discreet_budgets (id),
            sequence BIGINT NOT NULL,
            body TEXT NOT NULL,
            hash TEXT NOT NULL,
            PRIMARY KEY (root_id, sequence)
        )""",
    ):
        connection.execute(text(statement))


def _version_2(connection: Connection) -> None:
    """Add a table of disjoint groups of people, and triggers that make the history append-only."""
    statements = [
        "ALTER TABLE discreet_budgets ADD COLUMN parent_group TEXT",
        """CREATE TABLE discreet_groups (
            budget_id BIGINT NOT NULL REFERENCES discreet_budgets (id),
            name TEXT NOT NULL,
            cost BIGINT NOT NULL CHECK (cost >= 0),
            delta BIGINT NOT NULL CHECK (delta >= 0),
            PRIMARY KEY (budget_id, name)
        )""",
    ]
    if connection.dialect.name == "sqlite":
        statements += [
            f"""CREATE TRIGGER discreet_no_{action.lower()} BEFORE {action} ON discreet_entries
            BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END"""
            for action in ("UPDATE", "DELETE")
        ]
    else:
        statements += [
            """CREATE FUNCTION discreet_refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'the history is append-only'; END $$""",
            """CREATE TRIGGER discreet_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON discreet_entries
            FOR EACH STATEMENT EXECUTE FUNCTION discreet_refuse()""",
        ]
    for statement in statements:
        connection.execute(text(statement))


def _version_3(_connection: Connection) -> None:
    """Change no table, but from now on every entry carries the digest of the state after it.

    Earlier releases of discreet neither write nor check the state, so they must not spend any more: they
    refuse a ledger of this version. The first change of a data set with older entries replays its
    history once, as a check.
    """


def _version_4(_connection: Connection) -> None:
    """Change no table, but from now on a SQLite ledger is one file.

    Earlier releases of discreet would create a write-ahead log again, and the spends in the log are lost if
    the file is moved without it. They refuse a ledger of this version.
    """


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    _version_1,
    _version_2,
    _version_3,
    _version_4,
)
"""Step i leads from version i to version i + 1; a new ledger runs all steps."""


def prepare(store: Store, *, create: bool) -> None:
    """Migrate the tables to the current version; refuse other databases and newer ledgers."""

    def look(connection: Connection) -> int:
        version = _version(connection, store)
        if version > 0 and store.place.is_sqlite:
            _require_whole(connection, store)
        return version

    version = store.read(look)
    if version == CURRENT or (store.only_readable and version >= _READABLE):
        return

    def migrate(connection: Connection) -> None:
        store.lock_whole(connection)
        version = _version(connection, store)
        if version == 0 and not create:
            raise LedgerError(
                f"there is no ledger at {store.place}: `discreet budget create` makes one"
            )
        for step in range(version, CURRENT):
            MIGRATIONS[step](connection)
            connection.execute(versions.insert().values(version=step + 1))

    store.write(migrate)


def _version(connection: Connection, store: Store) -> int:
    """Return the version of the tables; 0 for an empty database."""
    names = inspect(connection).get_table_names()
    if "discreet_schema" not in names:
        if names and store.place.is_sqlite:
            raise LedgerError(f"{store.place} is a database of another program, not a ledger")
        return 0
    listed = sorted(connection.execute(versions.select()).scalars())
    found = max(listed, default=0)
    if found > CURRENT:
        raise LedgerError(
            f"the ledger {store.place} was made by a newer discreet (schema {found}; "
            f"this one reads up to {CURRENT}): upgrade discreet"
        )
    if listed != list(range(1, found + 1)):
        raise damaged(store.place)
    return found


def _require_whole(connection: Connection, store: Store) -> None:
    """Refuse a file in which pages or rows are lost or damaged, as after a crash or a copy during a write."""
    checked = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalars().all()
    lost = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if checked != ["ok"] or lost is not None:
        raise damaged(store.place)
