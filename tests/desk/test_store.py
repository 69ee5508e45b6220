"""The desk's own file: data from older versions is preserved."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from discreet.desk.store import ANSWERED, DeskStore

OLD = """
CREATE TABLE tokens (
    hash BLOB PRIMARY KEY, analyst TEXT NOT NULL, made REAL NOT NULL, expires REAL NOT NULL, revoked REAL);
CREATE TABLE questions (
    id TEXT PRIMARY KEY, analyst TEXT NOT NULL, key TEXT, digest TEXT NOT NULL, asked TEXT NOT NULL,
    state TEXT NOT NULL, began REAL NOT NULL, ended REAL, entry INTEGER, answer TEXT,
    UNIQUE (analyst, key));
CREATE INDEX by_analyst ON questions (analyst, began);
CREATE TABLE forgiven (analyst TEXT NOT NULL, time REAL NOT NULL);
INSERT INTO questions VALUES
    ('a', 'ann', NULL, '', '{}', 'answered', 1, 2, 7, '{}'),
    ('b', 'ann', NULL, '', '{}', 'refused', 3, 4, NULL, NULL),
    ('c', 'bob', NULL, '', '{}', 'lost', 5, 6, 8, NULL),
    ('d', 'ann', NULL, '', '{}', 'failed', 7, 8, 9, NULL);
"""


def test_a_store_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    """Version 0.2.0 did not number an analyst's own questions, and stored no reasons."""
    path = tmp_path / "clinic.desk.db"
    with closing(sqlite3.connect(path)) as old:
        old.executescript(OLD)
    for _ in range(2):
        with DeskStore(path) as store:
            numbers = {each.id: each.number for each in store.asked()}
    assert numbers == {"a": 1, "b": None, "c": 1, "d": 2}
    with DeskStore(path) as store:
        name = store.admit("ann", None, "", {})
        assert store.one(name).number is None
        store.record(name, "paid", entry=12)
        store.record(name, ANSWERED, answer={})
        assert (store.one(name).number, store.one(name).entry) == (3, 12)


def test_nobody_else_may_read_the_files_of_a_desk(tmp_path: Path) -> None:
    """Anyone who can read a file can lock it and prevent a desk from starting."""
    serving = tmp_path / "clinic.desk.db-serving"
    serving.touch(mode=0o644)  # as discreet 0.2.0 left it
    serving.chmod(0o644)
    with DeskStore(tmp_path / "clinic.desk.db") as store:
        store.hold()
        for file in tmp_path.iterdir():
            assert file.stat().st_mode & 0o077 == 0, file.name
