"""Databases: one read-only query, within the time limit, on one snapshot; and no secret is shown."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.operations as ops
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
import sqlalchemy
from click.testing import CliRunner

import discreet
from discreet import PureDP
from discreet._cli import app
from discreet._tables import Rows, open_table, people_per_candidate
from discreet._tables.databases import _trouble, is_address, without_password
from discreet.errors import DiscreetError, ParameterError, TableError
from discreet.ledger import Ledger
from discreet.questions import median, mode
from tests.tools.engines import DATABASES, made

COLUMNS: dict[str, list[Any]] = {
    "patient": list(range(300)),
    "code": ["flu"] * 200 + ["cold"] * 100,
    "age": [40.0] * 300,
}
ASKED: dict[str, Any] = {"candidates": ["flu", "cold"], "user": "patient", "epsilon": 5}
PASSWORD = "correct horse battery"  # noqa: S105 - nobody's


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE visits (patient bigint, code text, age real)")
        connection.executemany(
            "INSERT INTO visits VALUES (?, ?, ?)", list(zip(*COLUMNS.values(), strict=True))
        )
    connection.close()
    return path


@pytest.fixture
def visits(postgres_database: str) -> tuple[str, str]:
    """The address of a PostgreSQL database and the name of a table in it."""
    held = made("ibis_postgres", COLUMNS, Path(), None, postgres_database)
    return postgres_database, held.get_name()


# ---- every way to name a table -------------------------------------------------------------------


def test_an_address_and_a_table(visits: tuple[str, str], file: Path) -> None:
    for address, table in (visits, (f"sqlite:///{file}", "visits")):
        release = mode(address, "code", table=table, **ASKED)
        assert (release.answer, release.engine) == ("flu", "duckdb")
        engine = sqlalchemy.create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
        assert mode(engine, "code", table=table, **ASKED).answer == "flu"
        engine.dispose()
        held = discreet.table(address, table=table, user="patient", ledger=None)
        assert held.mode("code", candidates=["flu", "cold"], epsilon=5).answer == "flu"
        assert f"{table} at " in repr(held)
    with pytest.raises(ParameterError, match="table"):
        mode(f"sqlite:///{file}", "code", **ASKED)
    with pytest.raises(ParameterError, match="needs the address"):
        mode("visits.csv", "code", table="visits", **ASKED)


def test_three_slashes_begin_a_relative_path(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses of ledgers work the same way. A missing file is not created."""
    monkeypatch.chdir(file.parent)
    assert mode(f"sqlite:///{file.name}", "code", table="visits", **ASKED).answer == "flu"
    for scheme in ("sqlite", "duckdb"):
        with pytest.raises(ParameterError, match="no database file"):
            mode(f"{scheme}:///nowhere.db", "code", table="visits", **ASKED)
    assert not Path("nowhere.db").exists()


def test_a_schema_of_its_own(visits: tuple[str, str]) -> None:
    address, table = visits
    assert mode(address, "code", table=f"public.{table}", **ASKED).answer == "flu"


def test_whatever_a_person_holds(tmp_path: Path) -> None:
    arrow = pa.table(COLUMNS)
    ds.write_dataset(arrow, tmp_path / "parts", format="parquet")
    for data in (arrow, ds.dataset(tmp_path / "parts", format="parquet")):
        assert mode(data, "code", **ASKED).answer == "flu"
    alone: dict[str, Any] = {"one_row_per_user": True, "epsilon": 5}
    texts = COLUMNS["code"]
    for texts_held in (texts, np.array(texts), [*texts, None, 3]):
        assert mode(texts_held, candidates=["flu", "cold"], **alone).answer == "flu"
    for numbers in (np.array(COLUMNS["age"]), np.array([40] * 300, dtype=np.int16)):
        assert 35 < median(numbers, bounds="0:120", **alone).answer < 45
    ages = median(COLUMNS["age"], bounds="0:120", read_as="integer", **alone)
    assert 35 < ages.answer < 45
    assert mode(np.array([True] * 50), candidates=["true", "false"], **alone).answer == "true"
    for wrong in (np.zeros((2, 2)), arrow.column("code")):
        with pytest.raises(ParameterError):
            mode(wrong, candidates=["a"], **alone)
    with pytest.raises(ParameterError, match="not allowed"):
        mode(object(), "code", **ASKED)


@pytest.mark.parametrize("kind", DATABASES)
def test_the_questions_in_a_database(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = request.getfixturevalue("postgres_database") if kind == "ibis_postgres" else None
    table = made(kind, {**COLUMNS, "clinic": ["north", "south"] * 150}, tmp_path, None, server)
    release = mode(
        table, "code", by="clinic", groups=["north", "south"], with_people=True, with_count=True, **ASKED
    )  # fmt: skip
    assert release.answer == {"north": "flu", "south": "flu"}
    frame = release.frame()
    assert isinstance(frame, ibis.expr.types.Table)
    assert frame.columns == ("clinic", "answer", "count", "people")
    middle = median(
        table, "age", bounds="0:120", user="patient", epsilon=5, where="code = 'flu'", per_person="random"
    )  # fmt: skip
    assert 35 < middle.answer < 45
    unknown = mode(table, "code", user="patient", epsilon=5, delta="1e-6")
    assert unknown.answer == "flu"


# ---- one state of the data, only read, in time ----------------------------------------------------


@pytest.mark.parametrize("kind", DATABASES)
def test_nothing_can_be_written_inside(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = request.getfixturevalue("postgres_database") if kind == "ibis_postgres" else None
    table = made(kind, COLUMNS, tmp_path, None, server)
    connection, name = table._find_backend().con, table.get_name()
    with (
        pytest.raises(Exception, match=r"(?i)read.?only"),
        open_table(table, needed=[]).engine.reading(None),
    ):
        connection.execute(f"DELETE FROM {name}")  # noqa: S608
    # Afterwards all settings are restored.
    assert connection.execute(f"SELECT count(*) FROM {name}").fetchone() == (300,)  # noqa: S608
    connection.execute(f"DELETE FROM {name} WHERE patient = 7")  # noqa: S608
    assert connection.execute(f"SELECT count(*) FROM {name}").fetchone() == (299,)  # noqa: S608


def test_one_state_of_the_data(visits: tuple[str, str]) -> None:
    address, name = visits
    table = open_table(address, needed=[], table=name)
    other = psycopg.connect(address, autocommit=True)
    rows = Rows(user="patient")

    def people() -> list[int]:
        found: list[int] = people_per_candidate(table, rows, column="code", keys=["flu"])[
            0
        ].tolist()
        return found

    with other, table.engine.reading(None):
        assert people() == [200]
        other.execute(f"INSERT INTO {name} VALUES (900, 'flu', 1)")  # noqa: S608
        assert people() == [200]
    assert people() == [201]


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Ibis leaves its cursor
@pytest.mark.parametrize("kind", DATABASES)
def test_a_time_limit_is_kept_and_stays_paid(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    server = request.getfixturevalue("postgres_database") if kind == "ibis_postgres" else None
    table = made(kind, COLUMNS, tmp_path, None, server)
    backend, name = table._find_backend(), table.get_name()
    numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 400000000)"
    slow = {
        "ibis_postgres": "WHERE pg_sleep(0.05) IS NOT NULL",
        "ibis_sqlite": f"WHERE ({numbers} SELECT count(*) FROM c) > 0",  # noqa: S608
        "ibis_duckdb": ", range(100000) a, range(1000000) b WHERE a.range * b.range > 0",
    }[kind]
    backend.con.execute(f"CREATE VIEW slow_{name} AS SELECT {name}.* FROM {name} {slow}")  # noqa: S608
    view = backend.table(f"slow_{name}")
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", PureDP(100))
        with pytest.raises(TableError, match="withheld") as caught:
            mode(view, "code", time_limit="0.3", ledger=ledger, dataset="clinic", **ASKED)
        assert "stays spent" in str(caught.value)
        assert ledger.show("clinic").left == "ε = 95"
        release = mode(table, "code", time_limit=60, ledger=ledger, dataset="clinic", **ASKED)
    assert release.answer == "flu"


def test_a_time_limit_needs_somebody_who_keeps_it() -> None:
    for limit in (0, -1, "soon", float("nan")):
        with pytest.raises(ParameterError, match="time_limit"):
            mode(
                COLUMNS["code"],
                candidates=["flu"],
                one_row_per_user=True,
                epsilon=1,
                time_limit=limit,
            )
    with pytest.raises(ParameterError, match="time_limit"):
        mode(COLUMNS["code"], candidates=["flu"], one_row_per_user=True, epsilon=1, time_limit=1)


# ---- what is not shown ------------------------------------------------------------------------------


def test_an_address_is_shown_without_its_password() -> None:
    for address, shown in (
        ("postgresql://reader@db/hospital", "postgresql://reader@db/hospital"),
        (
            f"postgresql://reader:{PASSWORD}@db:5432/hospital",
            "postgresql://reader@db:5432/hospital",
        ),
        (f"postgres://reader:a@b:{PASSWORD}@db/x?password={PASSWORD}", "postgres://reader@db/x"),
        ("sqlite:///clinic.db", "sqlite:///clinic.db"),
        ("postgresql://reader:sec/ret@db/x", "postgresql://reader@db/x"),
        ("postgresql://reader:sec#ret@db/x", "postgresql://reader@db/x"),
        ("postgresql://reader@[::1]:5432,b:1/x", "postgresql://reader@[::1]:5432,b:1/x"),
        # It is unclear where the password ends.
        ("postgresql://reader:sec?ret@db/x", "postgresql://..."),
        ("postgresql://reader:sec@r?et@db/x", "postgresql://..."),
        ("postgresql://db/x?password=sec@ret", "postgresql://..."),
        ("postgresql://reader:secret", "postgresql://..."),
        ("postgresql://reader:sec?ret", "postgresql://..."),
    ):
        assert is_address(address)
        assert without_password(address) == shown
    assert not any(
        is_address(other) for other in ("visits.csv", "C:\\visits.csv", 7, "s3://x/y.csv")
    )


@pytest.mark.parametrize(
    "address",
    [
        "mysql://reader:sec?ret@db/x",
        "mysql://reader:secret@db/x",
        "POSTGRESQL://reader:secret@db/x",
        "postgresql:reader:secret@db/x",
        "https://db/visits.csv?password=secret",
    ],
)
def test_an_unknown_kind_of_address_is_shown_without_its_password(address: str) -> None:
    with pytest.raises(ParameterError) as caught:
        discreet.table(address, user="patient", ledger=None)
    assert "no file matches" in str(caught.value)
    assert not any(part in str(caught.value) for part in ("sec", "ret"))


def test_a_password_appears_nowhere(visits: tuple[str, str], tmp_path: Path) -> None:
    address, table = visits
    secret = address.replace("discreet@", f"discreet:{PASSWORD.replace(' ', '%20')}@")
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", PureDP(100))
        release = mode(secret, "code", table=table, ledger=ledger, dataset="clinic", **ASKED)
        history = str(list(ledger.history("clinic"))) + str(release) + str(release.as_data())
    held = discreet.table(secret, table=table, user="patient", ledger=None)
    history += repr(held) + held._repr_html_()
    with pytest.raises(DiscreetError) as caught:
        mode(secret, "code", table="no_such_table", **ASKED)
    assert caught.value.__cause__ is caught.value.__context__ is None
    gone = secret.replace("@", "@/nowhere?host=/nowhere&x=", 1)
    with pytest.raises(DiscreetError) as lost:
        mode(gone, "code", table=table, **ASKED)
    for said in (history, str(caught.value), str(lost.value)):
        assert not any(word in said for word in (PASSWORD, "correct%20horse", "battery"))


def test_the_command_line_takes_no_password_as_an_argument(file: Path) -> None:
    def run(address: str, *more: str, **given: Any) -> Any:
        arguments = [
            "mode", address, "--table", "visits", "--column", "code", "--user", "patient", "--candidates",
            "flu,cold", "--epsilon", "5", "--no-ledger", *more,
        ]  # fmt: skip
        return CliRunner().invoke(app, arguments, **given)

    done = run(f"sqlite:///{file}")
    assert (done.exit_code, done.output.split("\n")[0]) == (0, "flu")
    for address in (
        f"postgresql://reader:{PASSWORD}@db/x",
        f"postgresql://db/x?password={PASSWORD}",
    ):
        refused = run(address)
        assert "--ask-password" in str(refused.exception)
        assert PASSWORD not in str(refused.exception) + refused.output
    asked = run("postgresql://reader@127.0.0.1:1/x", "--ask-password", input=f"{PASSWORD}\n")
    assert "could not be opened at postgresql://reader@127.0.0.1:1/x: no server answers" in str(
        asked.exception
    )
    assert PASSWORD not in str(asked.exception) + asked.output
    assert "needs the address" in str(run("visits.csv", "--ask-password").exception)


def test_why_a_table_cannot_be_opened_is_told_apart(visits: tuple[str, str], file: Path) -> None:
    """Each cause has its own sentence, with the address as written, before anything is read or spent."""
    address, table = visits
    server = sqlalchemy.make_url(address)
    troubles = {
        (address, "no_such_table"): "no such table",
        (f"sqlite:///{file}", "no_such_table"): "no such table",
        (server.set(database="no_such_database").render_as_string(), table): "no such database",
        (
            server.set(username="no_such_user").render_as_string(),
            table,
        ): "user's name or the password",
        ("postgresql://reader@127.0.0.1:1/clinic", table): "no server answers",
        ("postgresql://reader@nowhere.invalid/clinic", table): "no server answers",
    }
    for (place, name), why in troubles.items():
        with pytest.raises(ParameterError) as caught:
            mode(place, "code", table=name, **ASKED)
        said = str(caught.value)
        assert said.startswith(f"table={name!r} could not be opened at {without_password(place)}: ")
        assert why in said
        assert caught.value.__cause__ is caught.value.__context__ is None
    with pytest.raises(ParameterError, match=f"no database file at sqlite:///{file}x"):
        mode(f"sqlite:///{file}x", "code", table="visits", **ASKED)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ('FATAL:  password authentication failed for user "reader"', "password is wrong"),
        ("connection failed: fe_sendauth: no password supplied", "password is wrong"),
        ('FATAL:  database "clinic" does not exist', "no such database"),
        ("connection timeout expired", "no server answers"),
        ("IO Error: Could not set lock on file: Conflicting lock is held", "another process"),
        ("correct horse battery", "is the address right"),
    ],
)
def test_what_drivers_say_is_put_in_our_words(said: str, why: str) -> None:
    words = _trouble(RuntimeError(said))
    assert why in words
    assert "clinic" not in words


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # Ibis leaves its cursor
def test_an_error_of_the_server_says_nothing(visits: tuple[str, str]) -> None:
    address, name = visits
    connection = ibis.connect(address.replace("postgresql://", "postgres://"))
    connection.con.execute(
        f"CREATE VIEW broken_{name} AS SELECT patient, code, (1 / (CASE WHEN code = 'flu' THEN 0 ELSE 1 END))"  # noqa: S608
        f"::double precision AS age FROM {name}"
    )
    with pytest.raises(TableError, match="withheld") as caught:
        median(connection.table(f"broken_{name}"), "age", bounds="0:9", user="patient", epsilon=1)
    assert "division" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
    connection.disconnect()


# ---- what an Ibis table may be ---------------------------------------------------------------------------


class _Elsewhere:
    """A connection to an unavailable database; only its name is known."""

    def __init__(self, name: str) -> None:
        self.name = name


def test_databases_whose_rules_are_not_known_are_refused() -> None:
    for name in ("druid", "bigquery", "snowflake", "trino", "mysql"):
        held = ops.DatabaseTable(
            name="visits",
            schema=ibis.schema({"code": "string"}),
            source=_Elsewhere(name),
            namespace=ops.Namespace(),
        ).to_expr()
        with pytest.raises(ParameterError, match=name):
            open_table(held, needed=[])


def test_numbers_of_any_length_are_refused(postgres_database: str) -> None:
    connection = ibis.connect(postgres_database.replace("postgresql://", "postgres://"))
    connection.con.execute("CREATE TABLE wide (patient bigint, amount numeric, place point)")
    table = connection.table("wide")
    assert open_table(table, needed=[]).kinds["amount"] == "other"
    with pytest.raises(ParameterError, match="amount"):
        median(table, "amount", bounds="0:9", user="patient", epsilon=1)
    connection.disconnect()


def test_people_told_apart_by_uuid_beside_columns_of_other_types(postgres_database: str) -> None:
    connection = ibis.connect(postgres_database.replace("postgresql://", "postgres://"))
    connection.con.execute(
        "CREATE TABLE odd (id uuid, code text, place point, notes jsonb, tags text[], took interval)"
    )
    connection.con.execute(
        "INSERT INTO odd SELECT gen_random_uuid(), 'flu', NULL, '{}', '{}', NULL FROM generate_series(1, 90)"
    )
    table = connection.table("odd")
    kinds = open_table(table, needed=[]).kinds
    assert (kinds["id"], kinds["code"]) == ("text", "text")
    assert {kinds[name] for name in ("place", "notes", "tags")} == {"other"}
    assert mode(table, "code", candidates=["flu", "cold"], user="id", epsilon=1).answer == "flu"
    connection.disconnect()


def test_sqlite_columns_without_a_type_are_refused(file: Path) -> None:
    connection = ibis.sqlite.connect(file)
    connection.con.execute(
        "CREATE VIEW guessed AS SELECT patient, code || '' AS code, age FROM visits"
    )
    table = connection.table("guessed")
    assert open_table(table, needed=[]).kinds == {
        "patient": "integer",
        "code": "other",
        "age": "float",
    }
    words = r"declared without a type, which no question can use \(a view with CAST"
    with pytest.raises(ParameterError, match=words):
        mode(table, "code", **ASKED)
    connection.disconnect()
