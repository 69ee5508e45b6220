"""Public lists: a range is a range everywhere, and a period is not a single day."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from discreet import PureDP
from discreet._tables import TextFile
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.questions import NeverMatchesWarning, first_above, median, mode, quantiles, top_k
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
    with pytest.raises(ParameterError, match="'1980:1982' itself: it is a range"):
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
    # Several ranges in a list are names, such as match results.
    assert public_candidates(["0:1", "1:1"], column="c", kind="text").keys == ("0:1", "1:1")


@pytest.mark.parametrize("period", ["2024W01", "2024-w01", "2024-W01-1", "2024-W99", "2024-1"])
def test_a_period_in_another_spelling_is_refused(period: str, tmp_path: Path) -> None:
    """A week on a column of dates once meant its Monday: almost nobody counted, but it was charged."""
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
        assert any("Texts of day that spell a date count for the" in rule for rule in release.rules)
    file = TextFile(tmp_path / "visits.csv", read_as={"day": "date"})
    asked: dict[str, Any] = {"user": "who", "epsilon": 5}
    for groups, first in (("2024-W01:2024-W26", "2024-W01"), (["2024-01", "2024-02"], "2024-01")):
        assert first_above(file, "day", groups=groups, above=9, **asked).answer == first
    assert mode(file, "day", candidates="2024-01-03:2024-01-04", **asked).answer in (
        "2024-01-03",
        "2024-01-04",
    )


def test_some_weekdays_hours_or_months() -> None:
    """Only Wednesday to Friday occur here; a part of a grid works like the whole grid."""
    asked: dict[str, Any] = {"user": "who", "epsilon": 50}
    assert mode(DATED, "day", candidates=["Monday", "Friday"], **asked).answer == "Friday"
    moments = DATED.with_columns(pl.col("day").cast(pl.Datetime) + pl.duration(hours=9))
    assert mode(moments, "day", candidates=["08:00", "09:00"], **asked).answer == "09:00"
    found = median(DATED, "who", bounds="0:400", by="day", groups=["Wednesday"], **asked).answer
    assert list(found) == ["Wednesday"]
    for wrong, words in (
        (["Monday", "2024-01"], "'Monday', which cannot be a value"),
        (["Monday", "Noday"], "'Noday', which cannot be a value.* or only weekdays, hours"),
        (["Monday", "Monday"], "'Monday' more than once"),
        (["08:00", "09:00"], "has no hours"),
        (["2024-01:2024-02"], "itself: it is a range"),
    ):
        with pytest.raises(ParameterError, match=words):
            mode(DATED, "day", candidates=wrong, **asked)


def test_months_as_bounds_of_a_text_file_are_days(tmp_path: Path) -> None:
    DATED.write_csv(tmp_path / "visits.csv")
    found = mode(tmp_path / "visits.csv", "day", bounds="2023-12:2024-02", user="who", epsilon=50)
    assert found.answer in set(WEEKS)


def test_periods_in_a_text_file_without_a_stated_type(tmp_path: Path) -> None:
    """Months for dates, and weeks that the file names itself, were once compared as text, and charged."""
    days = DATED.with_columns(week=pl.col("day").dt.strftime("%G-W%V"))
    days.write_csv(tmp_path / "visits.csv")
    asked: dict[str, Any] = {"user": "who", "epsilon": 50}
    held: list[Any] = [DATED, tmp_path / "visits.csv"]
    questions: list[Callable[[Any], Any]] = [
        lambda data: mode(data, "day", candidates="2023-12:2024-06", **asked),
        lambda data: top_k(data, "day", candidates=["2024-W01", "2030-W01"], k=1, **asked),
        lambda data: first_above(data, "day", groups="2023-W50:2024-W10", above=20, **asked),
        lambda data: median(data, "who", bounds="0:99", by="day", groups=["2024-Q1"], **asked),
        lambda data: mode(data, "code", candidates=["a", "b"], where="day = '2024-01'", **asked),
    ]
    for ask in questions:
        expected, found = (ask(data).answer for data in held)
        assert found == expected
    weeks = first_above(held[1], "week", groups="2023-W50:2024-W10", above=20, **asked)
    assert (
        weeks.answer
        == first_above(DATED, "day", groups="2023-W50:2024-W10", above=20, **asked).answer
    )
    assert "Texts of week that spell a date count for the week in which it lies" in " ".join(
        weeks.rules
    )
    with pytest.raises(
        ParameterError, match=r"'weekday' needs a column of dates.*read_as= states a type: date"
    ):
        mode(held[1], "day", candidates="weekday", **asked)


@pytest.mark.parametrize("words", ["2024-01:2024-03", "2024-W01:2024-W09", "2024-Q1", "2024-01-03"])
def test_periods_on_a_column_without_a_type_are_refused(words: str, tmp_path: Path) -> None:
    """The column may hold Python dates, which are not text: a meaningless answer would be charged."""
    objects = pd.DataFrame(
        {"who": [1, 2], "day": pd.Series([datetime.date(2024, 1, 3)] * 2, dtype=object)}
    )
    listed: Any = words if ":" in words else [words]
    where = f"day in '{words}'"
    with Ledger.open(str(tmp_path / "budget.db")) as ledger:
        ledger.create("d", PureDP(100))
        paid: dict[str, Any] = {"user": "who", "epsilon": 5, "ledger": ledger, "dataset": "d"}
        asked: list[Callable[[], Any]] = [
            lambda: mode(objects, "day", candidates=listed, **paid),
            lambda: top_k(objects, "day", candidates=listed, k=1, **paid),
            lambda: first_above(objects, "day", groups=listed, above=9, **paid),
            lambda: median(objects, "who", bounds="0:9", by="day", groups=listed, **paid),
            lambda: median(objects, "who", bounds="0:9", where=where, **paid),
        ]
        for ask in asked:
            with pytest.raises(ParameterError, match=r'"datetime64\[us\]"\), astype\("string"\)'):
                ask()
        assert len(ledger.history("d")) == 1
    typed = objects.astype({"day": "datetime64[us]"})
    assert mode(typed, "day", candidates=listed, user="who", epsilon=50).answer
    texts = objects.astype({"day": "string"})
    months = words == "2024-01:2024-03"  # which its user may take to contain dates that are texts
    with pytest.warns(NeverMatchesWarning, match="convert it first") if months else nullcontext():
        said = mode(texts, "day", candidates=listed, user="who", epsilon=1).rules
    assert "means that text, not the dates in the" in " ".join(said)


def test_numbers_on_a_column_of_texts_are_said() -> None:
    """The number 1 matches only the text 1 and no other spelling, and the answer says so."""
    texts = pl.DataFrame({"who": range(600), "code": ["1"] * 200 + ["01"] * 400})
    found = mode(texts, "code", candidates=[1, 2], user="who", epsilon=50, with_count=True)
    assert found.answer == 1
    assert 190 <= found.count <= 210
    assert any("1 means the text '1', and no other way" in rule for rule in found.rules)
    plain = mode(texts, "code", candidates=["1", "2"], user="who", epsilon=50)
    assert not any("means the text" in rule for rule in plain.rules)
    numbers = mode(YEARS, "year", candidates=[1980, 1981], user="who", epsilon=50)
    assert not any("means the text" in rule for rule in numbers.rules)


@pytest.mark.parametrize("ask", GROUPED)
def test_a_list_of_ranges_is_refused(ask: Callable[..., Any]) -> None:
    """On a text column each range became a group of that name, and was charged. Times are not ranges."""
    texts = YEARS.with_columns(year=pl.col("year").cast(pl.String))
    asked: dict[str, Any] = {"user": "who", "epsilon": 50, "by": "year"}
    for groups in (["1980:1981", "1982:1983"], ["2024-W01:2024-W09", "other"]):
        with pytest.raises(ParameterError, match="a list without ranges"):
            ask(texts, groups=groups, **asked)
    assert list(ask(texts, groups=["2:1", "08:00"], **asked).answer) == ["2:1", "08:00"]


@pytest.mark.parametrize("words", [["2024-01", "2024-W02"], ["2024", "2024-01"]])
def test_periods_of_several_kinds_on_texts_are_doubted(words: list[str], tmp_path: Path) -> None:
    """In a text file without a stated type they are plain text; a warning says so before the payment."""
    DATED.write_csv(tmp_path / "visits.csv")
    asked: dict[str, Any] = {"user": "who", "epsilon": 5}
    where = f"day in ('{words[0]}', '{words[1]}')"
    questions: list[Callable[[], Any]] = [
        lambda: mode(tmp_path / "visits.csv", "day", candidates=words, **asked),
        lambda: first_above(tmp_path / "visits.csv", "day", groups=words, above=9, **asked),
        lambda: median(
            tmp_path / "visits.csv", "who", bounds="0:9", by="day", groups=words, **asked
        ),
        lambda: mode(tmp_path / "visits.csv", "code", candidates=["a"], where=where, **asked),
    ]
    for ask in questions:
        with pytest.warns(NeverMatchesWarning, match="periods of several kinds"):
            ask()


def test_a_rule_is_said_once(tmp_path: Path) -> None:
    DATED.write_csv(tmp_path / "visits.csv")
    found = mode(
        tmp_path / "visits.csv",
        "day",
        candidates="2024-01:2024-03",
        where="day = '2024-01'",
        user="who",
        epsilon=5,
    )
    assert len(set(found.rules)) == len(found.rules)
