"""The owner's file: valid entries, and errors that name a wrong entry and say what is allowed."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from discreet import PureDP
from discreet.desk.description import _column
from discreet.desk.owner_file import Column, SharedTable, read_owner_file
from discreet.desk.serving import allot_parts, problems
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from tests.tools.desks import clinic_at


def test_paths_start_at_the_file_and_numbers_are_as_written(tmp_path: Path) -> None:
    owner = clinic_at(tmp_path)
    assert owner.table["visits"].source == str(tmp_path / "visits.parquet")
    assert owner.desk.store == str(tmp_path / "clinic.desk.db")
    assert owner.table["visits"].column["clinic"].listed() == ["north", "south"]
    assert owner.analyst["epidemiology"].least == Fraction(1, 100)
    assert owner.analyst["planning"].least == Fraction(2, 100)
    assert owner.parts() == {"clinic/epidemiology": 40, "clinic/planning": 2}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[ledger]", "[ledgers]", "ledgers is not a known entry here"),
        ('user = "patient_id"', "", "either user names the column"),
        ('user = "patient_id"', 'user = "p"\none_row_per_user = true', "either user names"),
        ("bounds = [0, 120]", "bounds = [0]", "bounds"),
        ("bounds = [0, 120]", "", "it must have candidates or bounds"),
        ('mode = "600.0s"', 'mode = "6 hours"', 'a duration such as "2s"'),
        ('mode = "600.0s"', 'mood = "6s"', "mood"),
        ("epsilon = 2", "epsilon = nan", "analyst.planning.epsilon = Decimal('NaN')"),
        ("epsilon = 2", "epsilon = -2", "a finite number above 0"),
        ("epsilon = 2", 'epsilon = "much"', "a finite number above 0"),
        ("epsilon = 2", "epsilon = 2\nmost_per_question = 3", "least_per_question ≤ most"),
        ('tables = ["visits"]', 'tables = ["people"]', "which is not a table of this file"),
        ("[analyst.planning]", '[analyst."../x"]', "pattern"),
        ("127.0.0.1:0", "0.0.0.0:8443", "would cross the network unencrypted"),
        ("127.0.0.1:0", "127.0.0.1", "an address and a port"),
        ('listen = "127.0.0.1:0"', 'listen = "0.0.0.0:1"\nbehind_proxy = true', "hosts must list"),
        ("workers = 2", "workers = 0", "desk.workers = 0"),
        ("[table.visits]", "[table.visits", "is not valid TOML"),
        ('"clinics.txt"', '"nowhere.txt"', "no such file"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    clinic_at(tmp_path)
    file = tmp_path / "clinic.toml"
    content = file.read_text()
    assert old in content
    file.write_text(content.replace(old, new))
    with pytest.raises(ParameterError) as refused:
        read_owner_file(file)
    assert said in str(refused.value)


def test_candidates_may_be_a_range(tmp_path: Path) -> None:
    clinic_at(tmp_path)
    file = tmp_path / "clinic.toml"
    file.write_text(file.read_text().replace('"clinics.txt"', '"2024-W01:2024-W03"'))
    columns = read_owner_file(file).table["visits"].column
    assert ["2024-W01", "2024-W02", "2024-W03"] in [column.listed() for column in columns.values()]


def test_other_addresses_need_tls_or_a_proxy_and_their_names(tmp_path: Path) -> None:
    clinic_at(tmp_path)
    file = tmp_path / "clinic.toml"
    listening = 'listen = "0.0.0.0:8443"\nhosts = ["desk.example.org"]\n'
    file.write_text(
        file.read_text().replace('listen = "127.0.0.1:0"', listening + "behind_proxy = true")
    )
    assert read_owner_file(file).desk.secure


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="there is no such file, or it is not UTF-8 text"):
        read_owner_file(tmp_path / "absent.toml")


def test_the_documentations_file_is_valid(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "desk.md"
    file = tmp_path / "clinic.toml"
    file.write_text(page.read_text("utf-8").partition("```toml\n")[2].partition("```")[0], "utf-8")
    (tmp_path / "icd10.txt").write_text("J00\nJ11\n")
    owner = read_owner_file(file)
    assert owner.table["visits"].seconds("quantiles") == 5
    entries = set(type(owner.desk).model_fields)
    documented = page.read_text("utf-8").partition("| entry of")[2].partition("\n\n")[0]
    assert entries == {name for name in entries if f"`{name}`" in documented}


def test_every_sentence_of_the_threat_model_names_a_test_that_there_is() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "desk-threats.md").read_text("utf-8")
    rows = re.findall(r"^\| ([A-Z].*?) \|(.*)\|$", page, re.MULTILINE)
    there = "".join(
        path.read_text("utf-8")
        for path in [*(root / "tests" / "desk").glob("test_*.py"), root / "tests/_cli/test_desk.py"]
    )
    assert len(rows) > 40
    for holds, tests in rows:
        named = re.findall(r"`(test_\w+)`", tests)
        assert named, holds
        assert [name for name in named if f"def {name}(" not in there] == [], holds


def test_bounds_that_every_question_would_be_refused_for_are_found(tmp_path: Path) -> None:
    clinic_at(tmp_path)
    file = tmp_path / "clinic.toml"
    right = file.read_text(encoding="utf-8")
    for wrong in ("[120, 0]", "[0, 120]\nstep = 7", "[2024-01-01, 2024-12-31]"):
        file.write_text(right.replace("[0, 120]", wrong), encoding="utf-8")
        (found,) = problems(read_owner_file(file))
        assert found.startswith("table.visits: column.age: ")


def test_a_budget_for_another_relation_is_found(tmp_path: Path) -> None:
    """Otherwise every question would be refused, or cost twice its plan."""
    clinic_at(tmp_path)
    file = tmp_path / "clinic.toml"
    other = '"clinic"\nneighbours = "replace"\nwhere'
    file.write_text(file.read_text(encoding="utf-8").replace('"clinic"\nwhere', other))
    assert problems(read_owner_file(file)) == [
        "table.visits: neighbours = 'replace', and the budget 'clinic' is for 'add-remove'"
    ]


def test_a_part_of_a_budget_can_be_divided_again(tmp_path: Path) -> None:
    """The desk finds its parts again when it starts a second time."""
    owner = clinic_at(tmp_path)
    with Ledger.open(owner.ledger.place) as ledger:
        ledger.allot("clinic/north", PureDP(45))
    file = tmp_path / "clinic.toml"
    nested = file.read_text(encoding="utf-8").replace('"clinic"\nwhere', '"clinic/north"\nwhere')
    file.write_text(nested, encoding="utf-8")
    owner = read_owner_file(file)
    assert problems(owner) == []
    assert allot_parts(owner) == ["clinic/north/epidemiology", "clinic/north/planning"]
    assert problems(owner) == []
    assert allot_parts(owner) == []


def test_what_a_grid_of_dates_offers() -> None:
    table = SharedTable(source="x", one_row_per_user=True, dataset="x")
    ends: list[Any] = [date(2024, 1, 1), date(2024, 1, 31)]
    offered = set(_column(table, Column(bounds=ends))["questions"])
    assert offered == {"mode", "median", "quantile", "quantiles"}


def test_a_table_of_which_a_policy_shows_no_row_is_found(tmp_path: Path, postgres: str) -> None:
    """PostgreSQL then shows no rows without a warning, and every answer would be pure noise."""
    clinic_at(tmp_path)
    file = tmp_path / "clinic.toml"
    role = f"reader_{postgres.partition('?')[0].rpartition('/')[2]}"  # roles belong to the whole server
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(
            "CREATE TABLE visits (patient_id bigint, diagnosis text, clinic text, age integer)"
        )
        connection.execute(f"GRANT SELECT ON visits TO {role}")
        as_reader = postgres.replace("discreet@", f"{role}@")
        file.write_text(
            file.read_text("utf-8").replace(
                'source = "visits.parquet"', f'source = "{as_reader}"\ntable = "visits"'
            )
        )

        def found() -> list[str]:
            return problems(read_owner_file(file))

        try:
            assert found() == []
            connection.execute("ALTER TABLE visits ENABLE ROW LEVEL SECURITY")
            (problem,) = found()
            assert "row-level security is on and no policy" in problem
            connection.execute("CREATE POLICY writing ON visits FOR INSERT WITH CHECK (true)")
            connection.execute("CREATE POLICY others ON visits FOR SELECT TO discreet USING (true)")
            assert len(found()) == 1
            connection.execute("CREATE POLICY all_of_it ON visits FOR SELECT USING (true)")
            assert found() == []
        finally:
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")
