"""Declared types in databases: types unknown to Ibis, and values that do not have the declared type."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import ibis
import psycopg
import pytest
from sqlalchemy import make_url

from discreet import PureDP
from discreet._tables import Rows, open_table, people_per_candidate
from discreet._tables.counts import commonest_values
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.questions import bound, median, mode, quantile, top_k
from discreet.questions.run import NeverMatchesWarning

TYPES: dict[str, tuple[str, str]] = {
    "feeling": ("mood", "text"),
    "elsewhere": ("far.mood", "text"),
    "address": ("email", "text"),
    "longer": ("private_email", "text"),
    "narrower": ("good_mood", "text"),
    "price": ("amount", "decimal"),
    "cost": ("money", "decimal"),
    "object": ("oid", "integer"),
    "word": ("citext", "text"),
    "named": ("name", "text"),
    "sign": ('"char"', "text"),
    "wide": ("numeric(76,20)", "decimal"),
    "coarse": ("numeric(5,-2)", "decimal"),
    "fine": ("numeric(3,5)", "decimal"),
    "too_wide": ("numeric(77,0)", "other"),
    "any_length": ("numeric", "other"),
    "relation": ("regclass", "other"),
    "bits": ("bit(3)", "other"),
    "place": ("point", "other"),
}
"""For each column: its type in PostgreSQL, and the kind of type that it counts as."""

VALUES: dict[str, tuple[str, str]] = {
    "feeling": ("ok", "bad"),
    "elsewhere": ("ok", "bad"),
    "address": ("a@b", "c@d"),
    "longer": ("a@b", "c@d"),
    "narrower": ("ok", "ok"),
    "price": ("1.50", "2.25"),
    "cost": ("1.50", "2.25"),
    "object": ("3000000000", "4"),
    "word": ("Flu", "flu"),
    "named": ("a", "b"),
    "sign": ("a", "b"),
    "wide": ("12345678901234567890123456789012345678901234567890.00000000000000000001", "2"),
    "coarse": ("1200", "300"),
    "fine": ("0.00123", "0.00321"),
}
"""For each column: the value of two thirds of the people, and the value of the rest."""


@pytest.fixture(scope="module")
def table(postgres_database: str) -> Iterator[tuple[str, Any]]:
    """The address of a database with a table of all types, and a connection to it."""
    connection = ibis.connect(postgres_database.replace("postgresql://", "postgres://"))
    run = connection.con.execute
    for statement in (
        "CREATE EXTENSION IF NOT EXISTS citext",
        "CREATE TYPE mood AS ENUM ('bad', 'ok')",
        "CREATE SCHEMA far",
        "CREATE TYPE far.mood AS ENUM ('ok', 'bad')",
        "CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%')",
        "CREATE DOMAIN private_email AS email NOT NULL",
        "CREATE DOMAIN good_mood AS mood CHECK (VALUE <> 'bad')",
        "CREATE DOMAIN amount AS numeric(9,2)",
        f"CREATE TABLE typed (u bigint, {', '.join(f'{n} {k}' for n, (k, _) in TYPES.items())})",
    ):
        run(statement)
    places = ", ".join(f"%s::{TYPES[name][0]}" for name in VALUES)
    for person in range(90):
        held = [values[person % 3 == 2] for values in VALUES.values()]
        run(f"INSERT INTO typed (u, {', '.join(VALUES)}) VALUES ({person}, {places})", held)  # noqa: S608
    yield postgres_database, connection
    connection.disconnect()


def test_every_type_has_its_kind(table: tuple[str, Any]) -> None:
    address, connection = table
    opened = open_table(address, needed=[], table="typed")
    assert opened.kinds == {"u": "integer", **{name: kind for name, (_, kind) in TYPES.items()}}
    known = [name for name in TYPES if name not in ("relation", "fine")]  # Ibis opens only these
    view = f"CREATE OR REPLACE VIEW known AS SELECT u, {', '.join(known)} FROM typed"  # noqa: S608
    connection.con.execute(view)
    by_ibis = open_table(connection.table("known"), needed=[]).kinds
    assert by_ibis == {name: kind for name, kind in opened.kinds.items() if name in by_ibis}


@pytest.mark.parametrize("name", VALUES)
def test_every_type_in_every_role(table: tuple[str, Any], name: str) -> None:
    address, _ = table
    most, other = VALUES[name]
    asked: dict[str, Any] = {"epsilon": 50, "table": "typed"}
    people: dict[str, Any] = {"user": "u", **asked}
    values = list(dict.fromkeys([other, most]))
    kind = TYPES[name][1]
    expected = {"decimal": Decimal, "integer": int}.get(kind, str)(most)
    assert mode(address, name, candidates=values, **people).answer == most
    release = mode(address, name, delta="1e-6", **people)
    assert release.answer == expected
    assert type(release.answer) is type(expected)
    grouped = mode(address, "u", candidates=[0, 2], by=name, groups=values, **people).answer
    if other != most:
        assert grouped == {most: 0, other: 2}
    text = f"'{most}'" if kind == "text" else most
    found = mode(address, "u", candidates=[0, 2], where=f"{name} = {text}", **people)
    assert found.answer == 0 or other == most
    # As the person column: people with the same value are one person.
    persons = mode(address, "u", candidates=[0], user=name, with_count=True, **asked)
    assert persons.count < 10


def test_quantiles_of_amounts_and_identifiers(table: tuple[str, Any]) -> None:
    address, _ = table
    asked: dict[str, Any] = {"user": "u", "epsilon": 50, "table": "typed"}
    assert median(address, "cost", bounds="0:3", step="0.25", **asked).answer == Decimal("1.5")
    assert median(address, "price", bounds="0:3", step="0.25", **asked).answer == Decimal("1.5")
    assert quantile(address, "object", at=0.2, bounds="0:9", **asked).answer == 4
    assert bound(address, "object", covers=0.9, **asked).answer >= 3_000_000_000
    assert top_k(address, "feeling", k=2, candidates=["ok", "bad"], **asked).answer == ("ok", "bad")


@pytest.mark.parametrize("name", [name for name, (_, kind) in TYPES.items() if kind == "other"])
def test_other_types_are_refused_and_cost_nothing(
    table: tuple[str, Any], name: str, tmp_path: Any
) -> None:
    address, _ = table
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", PureDP(9))
        asked: dict[str, Any] = {
            "table": "typed",
            "epsilon": 1,
            "ledger": ledger,
            "dataset": "clinic",
        }
        asks: list[Callable[[], Any]] = [
            lambda: mode(address, name, candidates=["1"], user="u", **asked),
            lambda: median(address, name, bounds="0:9", user="u", **asked),
            lambda: mode(address, "u", candidates=[1], user=name, **asked),
            lambda: mode(address, "u", candidates=[1], user="u", by=name, groups=["1"], **asked),
            lambda: mode(address, "u", candidates=[1], user="u", where=f"{name} = 1", **asked),
        ]
        for ask in asks:
            with pytest.raises(ParameterError):
                ask()
        assert str(ledger.show("clinic").left) == "ε = 9"


def test_decimals_that_are_no_numbers_are_missing(postgres_database: str) -> None:
    connection = ibis.connect(postgres_database.replace("postgresql://", "postgres://"))
    run = connection.con.execute
    run("CREATE TABLE nans (u bigint, amount numeric(9,2))")
    run("INSERT INTO nans SELECT i, 1.5 FROM generate_series(1, 60) t(i)")
    run("INSERT INTO nans SELECT i, 'NaN' FROM generate_series(100, 199) t(i)")
    held = connection.table("nans")
    asked: dict[str, Any] = {"epsilon": 50}
    assert mode(held, "amount", delta="1e-6", user="u", **asked).answer == Decimal("1.50")
    few = mode(held, "amount", candidates=["1.5"], user="u", with_people=True, **asked)
    assert abs(few.people - 60) < 20
    as_person = mode(held, "u", candidates=[1, 100], user="amount", **asked)
    assert as_person.answer == 1
    grouped = mode(held, "u", candidates=[1], by="amount", groups=["1.5"], user="u", **asked)
    assert grouped.answer == {"1.5": 1}
    connection.disconnect()


# ---- databases in other encodings ------------------------------------------------------------------------

ENCODINGS: dict[str, tuple[str, bytes, str]] = {
    "WIN1252": ("Müller", b"M\x81ller", "Ωmega"),
    "EUC_KR": ("한국", b"\xc9\xa1\xfe\xa1", "Müller"),
    "EUC_JP": ("日本", b"\xf5\xa1\xfe\xfe", "한국"),
    "SQL_ASCII": ("Müller", b"M\xfcller", "日本"),
    "UTF8": ("Müller", "e\u0301".encode(), "日本"),
}
"""For each encoding: a valid text, bytes that encode no character, and a text that nobody has."""


@pytest.fixture(params=ENCODINGS)
def encoded(request: pytest.FixtureRequest, postgres_server: str) -> Iterator[tuple[str, str]]:
    """The address of a database, and its encoding; one of its two tables contains the invalid bytes."""
    name = request.param
    text, odd, _ = ENCODINGS[name]
    codec = {"WIN1252": "cp1252", "SQL_ASCII": "utf-8", "UTF8": "utf-8"}.get(name, name.lower())
    database = f"encoded_{name.lower()}_{os.getpid()}"
    base = make_url(postgres_server)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {database} ENCODING '{name}' LOCALE 'C' TEMPLATE template0"
        )
    address = base.set(database=database).render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True) as connection:
        # As bytes: a client that converts could not write them.
        connection.execute("SET client_encoding TO 'SQL_ASCII'")
        further: dict[str, list[bytes]] = {"plain": [], "odd": [odd]}
        for table, odd_ones in further.items():
            connection.execute(f"CREATE TABLE {table} (u bigint, c text)")
            usual = [text.encode(codec)] * 40 + [b"other"] * 20
            for person, held in enumerate(usual + odd_ones):
                row = b"INSERT INTO %s VALUES (%d, E'%s')" % (table.encode(), person, held)
                connection.execute(row)
    yield address, name
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {database} WITH (FORCE)")


def test_a_byte_that_stands_for_no_character_stops_nothing(encoded: tuple[str, str]) -> None:
    address, name = encoded
    text, _, absent = ENCODINGS[name]
    found = {}
    for table in ("plain", "odd"):
        asked: dict[str, Any] = {"table": table, "user": "u", "epsilon": 50}
        held = open_table(address, needed=[], table=table)
        rows = Rows(user="u")
        counts = people_per_candidate(held, rows, column="c", keys=[text, "other", absent])
        assert counts.tolist() == [[40, 20, 0]]
        values = commonest_values(held, rows, column="c", most=9)
        assert values[:2] == [(text, 40), ("other", 20)]
        found[table] = len(values)
        assert mode(address, "c", candidates=["other", text], **asked).answer == text
        assert mode(address, "c", delta="1e-6", **asked).answer == text
        only = mode(address, "u", candidates=[0, 41], where=f"c = '{text}'", **asked)
        assert only.answer == 0
        by: dict[str, Any] = {"by": "c", "groups": [text, "other"]}
        assert mode(address, "u", candidates=[0, 41], **by, **asked).answer == {
            text: 0,
            "other": 41,
        }
        as_person = people_per_candidate(held, Rows(user="c"), column="u", keys=[0, 41])
        assert as_person.tolist() == [[1, 1]]
    assert found == {"plain": 2, "odd": 3}
    if name in ("WIN1252", "EUC_KR", "EUC_JP"):
        with pytest.warns(NeverMatchesWarning, match=f"Nobody can count for 1 of the 2.*{absent}"):
            mode(address, "c", candidates=[text, absent], table="plain", user="u", epsilon=50)
        with pytest.raises(ParameterError, match="encoding cannot represent"):
            mode(
                address,
                "c",
                candidates=[text],
                where=f"c != '{absent}'",
                table="plain",
                user="u",
                epsilon=1,
            )


def test_an_encoding_without_a_codec_is_refused(postgres_server: str) -> None:
    database = f"encoded_tw_{os.getpid()}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {database} ENCODING 'EUC_TW' LOCALE 'C' TEMPLATE template0"
        )
        address = make_url(postgres_server).set(database=database)
        in_utf8 = address.update_query_dict({"client_encoding": "UTF8"})
        told = in_utf8.render_as_string(hide_password=False)
        with psycopg.connect(told, autocommit=True) as inside:
            inside.execute("CREATE TABLE t (u bigint, c text)")
        with pytest.raises(ParameterError, match="EUC_TW"):
            mode(told, "c", candidates=["a"], user="u", table="t", epsilon=1)
        connection.execute(f"DROP DATABASE {database} WITH (FORCE)")
