"""Fixtures for the tests of studies: a small clinic, a study of it in a file, and a ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from discreet import PureDP
from discreet.ledger import Ledger

HEAD = """
[study]
title = "Winter <2026>"
dataset = "clinic"
{head}
[table.visits]
source = "visits.parquet"
user = "patient"
people = 900
"""
DIAGNOSIS = """
[[question]]
name = "diagnosis"
ask = "mode"
column = "diagnosis"
candidates = "codes.txt"
error_at_most = 20
"""
AGE = """
[[question]]
name = "age"
ask = "median"
column = "age"
bounds = [0, 120]
epsilon = 0.25
"""
CLINICS = """
[[question]]
name = "ages by clinic"
ask = "quantiles"
column = "age"
at = [0.25, 0.75]
bounds = "0:120"
by = "clinic"
groups = ["north", "south"]
weight = 3
"""
TOP = """
[[question]]
name = "top"
ask = "top_k"
column = "diagnosis"
k = 2
candidates = ["flu", "cold", "gout"]
"""


@pytest.fixture(scope="session")
def visits() -> pl.DataFrame:
    rows = range(900)
    return pl.DataFrame(
        {
            "patient": rows,
            "diagnosis": [("flu", "flu", "cold", "gout")[row % 4] for row in rows],
            "clinic": [("north", "south")[row % 2] for row in rows],
            "age": [20 + row % 41 for row in rows],
        }
    )


@pytest.fixture
def written(tmp_path: Path, visits: pl.DataFrame) -> Callable[..., Path]:
    """A function that writes a study with the given questions and header entries."""
    visits.write_parquet(tmp_path / "visits.parquet")
    (tmp_path / "codes.txt").write_text("flu\ncold\ngout\n")

    def write(*questions: str, head: str = "") -> Path:
        file = tmp_path / "study.toml"
        file.write_text(HEAD.format(head=head) + "".join(questions))
        return file

    return write


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "budget.db") as opened:
        opened.create("clinic", PureDP(3))
        yield opened
