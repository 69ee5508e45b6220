"""The language of conditions: accepted and refused conditions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from discreet._tables import Rows, Table, open_table, people_per_candidate
from discreet._tables.compared import require_condition
from discreet._tables.where import parse
from discreet.errors import ParameterError

FRAME = pl.DataFrame(
    {
        "age": [10, 20, 30, None],
        "dose": [0.5, None, float("nan"), float("inf")],
        "clinic": ["north", "it's", None, "south"],
        "well": [True, False, None, True],
        "odd name": [1, 2, 3, 4],
        "day": pl.Series(["2024-01-01", "2024-06-01", None, "2025-01-01"]).str.to_date(),
    }
)


WEEKS = pl.DataFrame({"week": ["2024-W01", "2024-W10", "2024-W11", "2024-W01:2024-W10", None]})


def test_a_range_on_a_column_of_texts_is_any_of_its_periods() -> None:
    table = open_table(WEEKS.with_row_index("row"), needed=[])
    for condition, expected in (
        ("week in '2024-W01:2024-W10'", [0, 1]),
        ("week not in '2024-W01:2024-W10'", [2, 3, 4]),
        ("week in ('2024-W11', '2024-W01:2024-W02')", [0, 2]),
        ("week = '2024-W01:2024-W10'", [3]),
        ("week in 'a:b'", []),
    ):
        rows = Rows(where=parse(condition))
        counts = people_per_candidate(table, rows, column="row", keys=range(5))
        assert np.flatnonzero(counts[0]).tolist() == expected, condition
    with pytest.raises(ParameterError, match="at most 10,000 periods"):
        require_condition(table, parse("week in '0001-01-01:2024-01-01'"))


def _kept(text: str) -> list[int]:
    table: Table = open_table(FRAME.with_row_index("row"), needed=[])
    condition = parse(text)
    require_condition(table, condition)
    counts = people_per_candidate(table, Rows(where=condition), column="row", keys=range(4))
    return np.flatnonzero(counts[0]).tolist()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("age >= 20", [1, 2]),
        ("age < 20.5", [0, 1]),
        ("age != 20", [0, 2]),
        ("not age = 20", [0, 2, 3]),
        ("age <> 20 and clinic is null", [2]),
        ("clinic = 'it''s'", [1]),
        ("clinic in ('north', 'south') or age = 30", [0, 2, 3]),
        ("clinic not in ('north')", [1, 2, 3]),
        ("dose > 0.1", [0]),
        ("dose is null", [1, 2, 3]),
        ("dose is not null", [0]),
        ("well = true", [0, 3]),
        ("well == true", [0, 3]),
        ("well in (false)", [1]),
        ('"odd name" > 2', [2, 3]),
        ("day < '2024-12-31'", [0, 1]),
        ("day in ('2024-06-01', '2025-01-01', '0001-01-01')", [1, 3]),
        ("NOT (age > 10 OR clinic > 'm') AND age is NOT NULL", []),
        ("age = 1e400", []),
        ("age < 1" + "0" * 5000, [0, 1, 2]),
        ("age > -1" + "0" * 305, [0, 1, 2]),
        ("age > -1", [0, 1, 2]),
    ],
)
def test_rows_kept(text: str, rows: list[int]) -> None:
    assert _kept(text) == rows


@pytest.mark.parametrize(
    "text",
    [
        "",
        "age",
        "age >",
        "age > 1 or",
        "age > (select avg(age) from t)",
        "age > 1; drop table t",
        "avg(age) > 1",
        "age = dose",
        "age in ()",
        "1 = age",
        "clinic = 'north",
        "(age > 1",
        "age > 1)",
        "age ! 1",
        "age = 1x",
    ],
)
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(ParameterError, match="where="):
        parse(text)


@pytest.mark.parametrize(
    "text", ["age = 'ten'", "clinic = 3", "well = 1", "day = 'soon'", "day = 3", "nobody = 1"]
)
def test_what_does_not_fit_the_declared_type(text: str) -> None:
    with pytest.raises(ParameterError, match="where"):
        _kept(text)


@pytest.mark.parametrize(
    ("opening", "closing"), [("(", ")"), ("not ", ""), ("age > 1 and ", ""), ("age > 1 or ", "")]
)
def test_a_condition_is_no_longer_than_engines_bear(opening: str, closing: str) -> None:
    for times in (100, 101, 5000):
        text = opening * times + "age > 1" + closing * times
        if times == 100:
            assert _kept(text)
        else:
            with pytest.raises(ParameterError, match="more than 100"):
                parse(text)


def test_only_text_is_read() -> None:
    with pytest.raises(ParameterError, match=r"where= must be a text .* type int"):
        parse(3)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('origin = "JFK"', "texts are in single quotes: 'JFK'"),
        ("origin in ('LGA', JFK)", "texts are in single quotes: 'JFK'"),
        ('origin = "O\'Hare"', "texts are in single quotes: 'O''Hare'"),
        ("age > 5 & age < 9", "cannot be read from '& age < 9' on; write and"),
        ("age > 5 || age < 9", "cannot be read from '|| age < 9' on; write or"),
        ("age > 5 ; age < 9", "cannot be read from '; age < 9' on"),
    ],
)
def test_a_slip_of_another_language_is_named(text: str, hint: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse(text)
    assert str(caught.value).endswith(hint)
