"""Public lists as they are written: a range is a range everywhere, and a period is not a day."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet import PureDP
from discreet._tables import TextFile
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.questions import first_above, median, mode, quantiles, top_k
from discreet.questions.candidates import public_candidates

YEARS = pl.DataFrame(
    {"who": range(400), "year": [1980 + who % 4 for who in range(400)], "code": ["a"] * 400}
)
WEEKS = [datetime.date(2024, 1, 3) + datetime.timedelta(days=who % 3) for who in range(400)]
DATED = YEARS.with_columns(pl.Series("day", WEEKS), age=40)

GROUPED: list[Callable[..., Any]] = [
    partial(mode, column="code", candidates=["a", "b"]),
    partial(top_k, column="code", candidates=["a", "b"], k=1),
    partial(median, column="who", bounds="0:400"),
    partial(quantiles, column="who", at=[0.3, 0.6], bounds="0:400"),
]


@pytest.mark.parametrize("ask", GROUPED)
@pytest.mark.parametrize("kind", [pl.Int64, pl.String, pl.Float64])
def test_a_range_of_groups_is_a_range_in_every_question(ask: Callable[..., Any], kind: Any) -> None:
    data = YEARS.with_columns(pl.col("year").cast(pl.Int64).cast(kind))
    asked: dict[str, Any] = {"user": "who", "by": "year", "epsilon": 20}
    found = ask(data, groups="1980:1982", **asked).answer
    assert [float(year) for year in found] == [1980, 1981, 1982]
    with pytest.raises(ParameterError, match="'1980:1982' itself, which is a range"):
        ask(data, groups=["1980:1982"], **asked)
    for text in ("1982:1980", "1980:1980-12"):
        with pytest.raises(ParameterError, match=f"'{text}' is not allowed: it must be two days"):
            ask(data, groups=text, **asked)


def test_a_range_of_candidates() -> None:
    asked: dict[str, Any] = {"user": "who", "epsilon": 5}
    since = YEARS.filter(pl.col("year") != 1981)
    assert mode(since, "year", candidates="1979:1981", **asked).answer == 1980
    assert set(top_k(YEARS, "year", candidates="1977:1982", k=3, **asked).answer) == {
        1980,
        1981,
        1982,
    }
    for name in ("candidates", "groups"):
        with pytest.raises(ParameterError, match=f"{name}=\\['1:2'\\]|⟨{name}⟩\\['1:2'\\]"):
            public_candidates(["1:2"], column="c", kind="text", name=name)
    # Several in a list are names, such as results of matches.
    assert public_candidates(["0:1", "1:1"], column="c", kind="text").keys == ("0:1", "1:1")


@pytest.mark.parametrize("period", ["2024W01", "2024-w01", "2024-W01-1", "2024-W99", "2024-1"])
def test_a_period_in_another_spelling_is_refused(period: str, tmp_path: Path) -> None:
    """A week on a column of dates once meant its Monday: an answer about almost nobody, and paid."""
    with Ledger.open(str(tmp_path / "budget.db")) as ledger:
        ledger.create("d", PureDP(100))
        paid: dict[str, Any] = {"user": "who", "epsilon": 5, "ledger": ledger, "dataset": "d"}
        asked: list[Callable[[], Any]] = [
            lambda: mode(DATED, "day", candidates=[period, "2024-01-04"], **paid),
            lambda: top_k(DATED, "day", candidates=[period, "2024-01-04"], k=1, **paid),
            lambda: first_above(DATED, "day", groups=[period, "2024-01-04"], above=9, **paid),
            lambda: median(DATED, "who", bounds="0:9", by="day", groups=[period], **paid),
            lambda: mode(DATED, "code", candidates=["a"], where=f"day = '{period}'", **paid),
            lambda: mode(DATED, "code", candidates=["a"], where=f"day in ('{period}')", **paid),
            lambda: mode(DATED, "day", bounds=(period, "2024-12-30"), step="7d", **paid),
            lambda: median(DATED, "day", bounds=(period, "2024-12-30"), step="7d", **paid),
        ]
        for ask in asked:
            with pytest.raises(ParameterError, match=r"2024-12-31|2020-01-01:2024-12-31"):
                ask()
        assert len(ledger.history("d")) == 1
        day = first_above(DATED, "day", groups="2024-01-01:2024-01-31", above=60, **paid)
    assert day.answer == datetime.date(2024, 1, 3)


def test_weeks_in_a_text_file_that_spells_dates(tmp_path: Path) -> None:
    DATED.write_csv(tmp_path / "visits.csv")
    apart: dict[str, Any] = {"user": "who", "epsilon": 1}
    for release in (
        first_above(tmp_path / "visits.csv", "day", groups="2024-W01:2024-W02", above=9, **apart),
        mode(tmp_path / "visits.csv", "day", candidates=["2024-01", "2024-02"], **apart),
        mode(
            tmp_path / "visits.csv",
            "code",
            candidates=["a"],
            by="day",
            groups="2024-W01:2024-W02",
            **apart,
        ),
    ):
        assert any("day are compared letter by letter" in rule for rule in release.rules)
    file = TextFile(tmp_path / "visits.csv", read_as={"day": "date"})
    asked: dict[str, Any] = {"user": "who", "epsilon": 5}
    for groups, first in (("2024-W01:2024-W26", "2024-W01"), (["2024-01", "2024-02"], "2024-01")):
        assert first_above(file, "day", groups=groups, above=9, **asked).answer == first
    assert mode(file, "day", candidates="2024-01-03:2024-01-04", **asked).answer in (
        "2024-01-03",
        "2024-01-04",
    )
