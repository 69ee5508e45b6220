"""Answers for many groups: chosen at once, and returned as a frame of the same kind as the data."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

from discreet._cli import app
from discreet.mechanisms import Mechanism
from discreet.questions import Mode, median, mode, quantiles, table, top_k

CLINICS = ["north", "south", "west"]
CODES = ["flu", "cold", "asthma"]
FAR = 10**4


def _columns(people: int = 300) -> dict[str, list[Any]]:
    """Return columns in which everyone in a clinic has the same diagnosis and age."""
    at = [person % 3 for person in range(people)]
    return {
        "patient": list(range(people)),
        "clinic": [CLINICS[place] for place in at],
        "diagnosis": [CODES[place] for place in at],
        "age": [20 + 30 * place for place in at],
    }


GROUPED: dict[str, Any] = {"user": "patient", "by": "clinic", "groups": CLINICS, "epsilon": FAR}


def _as(kind: str, folder: Path) -> Any:
    columns = _columns()
    if kind == "pandas":
        return pd.DataFrame(columns)
    frame = pl.DataFrame(columns)
    if kind == "polars":
        return frame
    if kind == "lazy":
        return frame.lazy()
    frame.write_parquet(folder / "visits.parquet")
    path = str(folder / "visits.parquet")
    return path if kind == "file" else duckdb.connect().sql(f"SELECT * FROM '{path}'")  # noqa: S608


def _rows(frame: Any) -> list[tuple[Any, ...]]:
    if isinstance(frame, pd.DataFrame):
        return list(frame.itertuples(index=False, name=None))
    return frame.rows() if isinstance(frame, pl.DataFrame) else frame.fetchall()


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "duckdb", "file"])
def test_the_frame_is_of_the_askers_kind(kind: str, tmp_path: Path) -> None:
    table = _as(kind, tmp_path)
    release = mode(table, "diagnosis", candidates=CODES, **GROUPED)
    frame = release.frame()
    expected = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy": pl.DataFrame}
    assert isinstance(frame, expected.get(kind, duckdb.DuckDBPyRelation))
    assert list(frame.columns) == ["clinic", "answer"]
    assert _rows(frame) == list(zip(CLINICS, CODES, strict=True))
    assert release.answer == dict(zip(CLINICS, CODES, strict=True))


def test_what_else_is_released_has_columns_of_its_own() -> None:
    table = pl.DataFrame(_columns())
    most = mode(table, "diagnosis", candidates=CODES, with_count=True, with_people=True, **GROUPED)
    assert most.frame().columns == ["clinic", "answer", "count", "people"]
    first = top_k(table, "diagnosis", k=2, candidates=CODES, with_count=True, **GROUPED).frame()
    assert first.columns == ["clinic", "rank", "answer", "count"]
    assert first["rank"].to_list() == [1, 2] * 3
    assert first.filter(pl.col("rank") == 1)["answer"].to_list() == CODES
    unordered = top_k(table, "diagnosis", k=2, candidates=CODES, ordered=False, **GROUPED).frame()
    assert unordered.columns == ["clinic", "answer"]
    levels = quantiles(table, "age", at=[0.25, 0.75], bounds="0:120", **GROUPED).frame()
    assert levels.columns == ["clinic", "level", "answer"]
    assert levels["level"].to_list() == ["0.25", "0.75"] * 3
    one = mode(table, "diagnosis", candidates=CODES, user="patient", epsilon=1)
    assert one.frame().columns == ["answer"]
    named = table.rename({"clinic": "answer"})
    terms = {**GROUPED, "by": "answer"}
    assert mode(named, "diagnosis", candidates=CODES, **terms).frame().columns == [
        "group",
        "answer",
    ]


@pytest.mark.parametrize("method", ["peeling", "one-shot", "joint"])
def test_the_first_of_every_group(method: str) -> None:
    table = pl.DataFrame(_columns())
    chosen = top_k(table, "diagnosis", k=1, candidates=CODES, method=method, **GROUPED).answer
    assert chosen == {clinic: (code,) for clinic, code in zip(CLINICS, CODES, strict=True)}


def test_thousands_of_groups_are_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    groups, codes = list(range(3000)), ["a", "b", "c", "d"]
    right = [codes[group % 4] for group in groups]
    visits = pl.DataFrame(
        {"patient": range(30_000), "group": groups * 10, "code": right * 10, "age": [40] * 30_000}
    )
    asked: dict[str, Any] = {"user": "patient", "by": "group", "groups": groups, "epsilon": 30}
    calls: list[int] = []
    choose_each = Mechanism._choose_each

    def counted(self: Mechanism, rows: Any, bits: Any) -> Any:
        calls.append(len(rows))
        return choose_each(self, rows, bits)

    def refused(*_: object) -> int:
        raise AssertionError("one group after another")

    monkeypatch.setattr(Mechanism, "_choose_each", counted)
    monkeypatch.setattr(Mechanism, "_choose", refused)
    # A wrong answer has probability below 4·e^−300 in each group.
    assert list(mode(visits, "code", candidates=codes, **asked).answer.values()) == right
    middle = median(visits, "age", bounds="0:80", **asked).answer
    assert set(middle.values()) == {40}
    several = top_k(visits, "code", k=2, candidates=codes, method="peeling", **asked).answer
    assert [first for first, _ in several.values()] == right
    assert calls == [3000] * 4
    # The second of each is one of three that nobody has. Each wins in a third of the groups; by Hoeffding's
    # inequality a deviation of 250 has a probability below 10⁻¹⁰.
    seconds = [codes.index(second) - codes.index(first) for first, second in several.values()]
    assert max(abs(np.bincount(np.array(seconds) % 4)[1:] - 1000)) < 250


def test_somebody_may_watch_the_groups_go_by() -> None:
    seen: list[tuple[str, int, int]] = []
    asked = {name: each for name, each in GROUPED.items() if name != "user"}
    visits = table(pl.DataFrame(_columns()), user="patient", ledger=None)
    visits.ask(Mode("diagnosis", candidates=CODES, **asked), watch=lambda *told: seen.append(told))
    assert seen == [("reading", 0, 1), *(("choosing", done, 3) for done in (1, 2, 3))]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_command_line_writes_a_frame(suffix: str, tmp_path: Path) -> None:
    table, out = _as("file", tmp_path), tmp_path / f"answers.{suffix}"
    arguments = [
        "mode", table, "--no-ledger", "--column", "diagnosis", "--user", "patient", "--by", "clinic",
        "--groups", ",".join(CLINICS), "--candidates", ",".join(CODES), "--epsilon", str(FAR),
        "--out", str(out),
    ]  # fmt: skip
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "north\tflu"
    if suffix == "csv":
        with open(out, newline="", encoding="utf-8") as file:
            rows = [tuple(row) for row in csv.reader(file)]
    else:
        rows = [("clinic", "answer"), *pl.read_parquet(out).rows()]
    assert rows == [("clinic", "answer"), *zip(CLINICS, CODES, strict=True)]


def test_an_answer_that_cannot_be_written_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("discreet._cli.ask.write_frame", full)
    arguments = [
        "mode", _as("file", tmp_path), "--no-ledger", "--column", "diagnosis", "--user", "patient",
        "--candidates", ",".join(CODES), "--epsilon", "1", "--out", str(tmp_path / "a.parquet"),
    ]  # fmt: skip
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code != 0
    assert result.stdout.split("\n")[0] in CODES
