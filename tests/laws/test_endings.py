"""A script that asks about a table ends without messages, for every kind of table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.waiting import PATIENCE

ASKING = """
import discreet
{making}
visits = discreet.table(data, user="patient", ledger=None, **{options})
answer = visits.mode("code", candidates=["flu", "cold"], epsilon=9)
by_clinic = visits.mode("code", candidates=["flu", "cold"], by="clinic", groups=["north"], epsilon=9)
print(answer.answer, by_clinic.frame() is not None)
"""

COLUMNS = (
    'columns = {"patient": list(range(300)), "code": ["flu"] * 300, "clinic": ["north"] * 300}\n'
)
TUPLES = COLUMNS + "rows = list(zip(*columns.values()))\n"
SQL = "CREATE TABLE visits (patient INTEGER, code VARCHAR(9), clinic VARCHAR(9))"
FILLED = f"""
connection.execute("{SQL}")
connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
connection.commit()
connection.close()
"""  # noqa: S608 - all of it stands here
SQLITE = f"{TUPLES}import sqlite3\nconnection = sqlite3.connect('visits.db'){FILLED}"
CSV = f"""{TUPLES}
with open("visits.csv", "w") as file:
    print("patient,code,clinic", *("%d,%s,%s" % row for row in rows), sep="\\n", file=file)
data = "visits.csv"
"""
MAKING = {
    # Import no other library unless needed: some libraries hide the messages of others.
    "csv": CSV,
    "jsonl": f"""{TUPLES}
import json
with open("visits.jsonl", "w") as file:
    for row in rows:
        print(json.dumps(dict(zip(columns, row))), file=file)
data = "visits.jsonl"
""",
    "parquet": """
import duckdb
made = duckdb.sql("SELECT range AS patient, 'flu' AS code, 'north' AS clinic FROM range(300)")
made.write_parquet("visits.parquet")
data = "visits.parquet"
""",
    "duckdb": """
import duckdb
data = duckdb.connect().sql("SELECT range AS patient, 'flu' AS code, 'north' AS clinic FROM range(300)")
""",
    "arrow": f"{COLUMNS}import pyarrow\ndata = pyarrow.table(columns)",
    "polars": f"{COLUMNS}import polars\ndata = polars.DataFrame(columns)",
    "lazy": f"{COLUMNS}import polars\ndata = polars.LazyFrame(columns)",
    "pandas": f"{COLUMNS}import pandas\ndata = pandas.DataFrame(columns)",
    "ibis": f"{SQLITE}import ibis\ndata = ibis.sqlite.connect('visits.db').table('visits')",
    "sqlite address": f"{SQLITE}data = 'sqlite:///visits.db'",
    "SQLAlchemy": f"{SQLITE}import sqlalchemy\ndata = sqlalchemy.create_engine('sqlite:///visits.db')",
    "duckdb address": f"{TUPLES}import duckdb\nconnection = duckdb.connect('visits.duckdb'){FILLED}"
    "data = 'duckdb:///visits.duckdb'",
}
"""Code that makes each kind of table, except a Spark session, whose virtual machine writes to stderr."""

OF_ONE_COLUMN = {
    "list": "mode(['flu'] * 300, column='value', candidates=['flu'], epsilon=9, one_row_per_user=True)",
    "array": "median(numpy.arange(99), column='value', bounds=(0, 9), epsilon=9, one_row_per_user=True)",
}


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("kind", MAKING)
def test_a_script_ends_in_silence(kind: str, tmp_path: Path) -> None:
    named = kind.endswith("address") or kind == "SQLAlchemy"
    script = ASKING.format(making=MAKING[kind], options={"table": "visits"} if named else {})
    done = _run(tmp_path, "-c", script)
    assert (done.stderr, done.stdout, done.returncode) == ("", "flu True\n", 0)


@pytest.mark.parametrize("kind", OF_ONE_COLUMN)
def test_a_script_on_one_column_ends_in_silence(kind: str, tmp_path: Path) -> None:
    questions = "from discreet.questions import median, mode; import numpy"
    done = _run(tmp_path, "-c", f"{questions}; release = {OF_ONE_COLUMN[kind]}")
    assert (done.stderr, done.stdout, done.returncode) == ("", "", 0)


def test_a_script_on_a_server_ends_in_silence(tmp_path: Path, postgres_database: str) -> None:
    making = f"""{TUPLES}
import psycopg
with psycopg.connect({postgres_database!r}) as connection:
    connection.execute("{SQL}")
    connection.cursor().executemany("INSERT INTO visits VALUES (%s, %s, %s)", rows)
data = {postgres_database!r}
"""  # noqa: S608 - as above
    done = _run(tmp_path, "-c", ASKING.format(making=making, options={"table": "visits"}))
    assert (done.stderr, done.stdout, done.returncode) == ("", "flu True\n", 0)


def test_the_command_line_ends_in_silence(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(
        "patient,code\n" + "".join(f"{i},flu\n" for i in range(300))
    )
    question = "mode visits.csv --column code --candidates flu,cold --epsilon 9 --user patient"
    done = _run(tmp_path, "-m", "discreet", *question.split(), "--no-ledger", "--json")
    assert (json.loads(done.stdout)["answer"], done.stderr) == ("flu", "")


def test_a_forked_process_ends(tmp_path: Path) -> None:
    """DuckDB waits for its threads at exit, but a forked process does not have them."""
    script = f"""{CSV}
import os, sys
from discreet.questions import mode
terms = dict(column="code", candidates=["flu"], epsilon=9, user="patient")
assert mode(data, **terms).answer == "flu"
child = os.fork()
assert mode(data, **terms).answer == "flu"
if child == 0:
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = _run(tmp_path, "-W", "ignore", "-c", script)
    assert (done.stdout, done.returncode) == ("7\n", 0)
