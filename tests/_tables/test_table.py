"""Declared types decide, whatever the rows contain; engine messages are not shown."""

from __future__ import annotations

import datetime
import traceback
from decimal import Decimal
from functools import partial
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet._tables import Grid, Rows, open_table, people_per_candidate, people_per_grid_point
from discreet._tables.engines import quietly
from discreet.errors import ParameterError, TableError
from discreet.questions import first_above, mode, top_k

DAY = datetime.date(2024, 1, 2)


def _count(frame: Any, keys: list[Any], *, user: str | None = None) -> list[int]:
    table = open_table(frame, needed=["c"])
    return list(people_per_candidate(table, Rows(user=user), column="c", keys=keys)[0])


def test_python_objects_in_pandas_are_one_kind_whatever_they_are() -> None:
    for values in (["a", "b"], ["a", 3], [3, [1]], [None, None]):
        table = open_table(pd.DataFrame({"c": pd.Series(values, dtype=object)}), needed=[])
        assert table.kinds == {"c": "object"}
    mixed = pd.DataFrame(
        {"c": pd.Series(["a", 3, [1], None, "a"], dtype=object), "u": [1, 1, 1, 1, 1]}
    )
    assert _count(mixed, ["a", "3"]) == [2, 0]
    assert _count(mixed, ["a", "3"], user="u") == [1, 0]
    users = pd.DataFrame(
        {"c": ["a", "a", "a"], "u": pd.Series(["x", {"un": "hashable"}, "x"], dtype=object)}
    )
    assert _count(users, ["a"], user="u") == [1]


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        ([1, 2, 2], {"candidates": [1, 2]}),
        ([1, 2, 2], {"candidates": ["1"], "by": "c", "groups": [1, 2]}),
        ([1, 2, 2], {"candidates": "1:2"}),
        ([1, 2, 2], {"candidates": ["1"], "by": "c", "groups": "1:2"}),
        ([DAY, None], {"candidates": "2024-W01:2024-W05"}),
        ([1, 2, 2], {"candidates": ["1"], "where": "c >= 2"}),
        ([1, 2, 2], {"bounds": "0:5"}),
        ([DAY, None], {"candidates": [DAY]}),
        ([DAY, None], {"bounds": "2024-01-01:2024-01-05", "step": "1d"}),
    ],
)
def test_objects_are_asked_for_texts_only(values: list[Any], asked: dict[str, Any]) -> None:
    """Other questions are refused before any payment, because numbers in Python objects are not counted."""
    held = pd.DataFrame({"c": pd.Series(values, dtype=object)})
    told: dict[str, Any] = {"one_row_per_user": True, "epsilon": 1}
    words = r"declared object, in which only texts count \(astype.* or convert_dtypes\(\) gives it a type"
    for question in (mode, partial(top_k, k=1)):
        with pytest.raises(ParameterError, match=words):
            question(held, "c", **asked, **told)
    if asked.get("candidates") == [1, 2]:
        assert (
            mode(held.convert_dtypes(), "c", candidates=[1, 2], **{**told, "epsilon": 99}).answer
            == 2
        )
        with pytest.raises(ParameterError, match=words):
            first_above(held, "c", groups=[1, 2], above=2, **told)
        with pytest.raises(ParameterError, match=words):
            first_above(held, "c", groups="1:2", above=2, **told)


def test_rules_say_which_columns_have_no_type() -> None:
    frame = pd.DataFrame({"c": ["a", "b"], "u": ["x", "y"]}, dtype=object)
    rules = mode(frame, "c", candidates=["a"], user="u", epsilon=1).rules
    for column in ("c", "u"):
        assert (
            f"In {column}, which declares no type, texts count and everything else is left out."
            in rules
        )


def test_categories_numbers_booleans_and_dates() -> None:
    categories = pd.DataFrame({"c": pd.Categorical(["a", "b", None, "a"])})
    assert _count(categories, ["a", "z"]) == [2, 0]
    assert _count(
        pl.DataFrame({"c": pl.Series(["a", "b", None], dtype=pl.Enum(["a", "b", "z"]))}), ["z", "b"]
    ) == [0, 1]
    assert _count(pd.DataFrame({"c": [1, 2, None, 2]}), [2.0, 5.0]) == [2, 0]
    assert _count(pl.DataFrame({"c": [-0.0, 0.0, float("nan")]}), [0.0]) == [2]
    assert _count(pl.DataFrame({"c": [True, None, False, True]}), [True, False]) == [2, 1]
    days = [datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 2)]
    for frame in (pl.DataFrame({"c": days}), duckdb.sql("SELECT DATE '2024-01-01' AS c")):
        assert _count(frame, [datetime.date(2024, 1, 1)]) == [1]


def test_candidates_beyond_the_type_of_the_column_count_nobody() -> None:
    small = pl.DataFrame({"c": pl.Series([1, -3, 100], dtype=pl.Int8)})
    assert _count(small, [1, 300, -3, 2**70]) == [1, 0, 1, 0]
    unsigned = pl.DataFrame({"c": pl.Series([1, 2**64 - 1], dtype=pl.UInt64)})
    assert _count(unsigned, [1, -1]) == [1, 0]


def test_decimals_and_large_integers_on_a_grid() -> None:
    frame = pl.DataFrame({"c": [Decimal("0.3"), Decimal("0.31"), None]})
    table = open_table(frame, needed=[])
    grid = Grid.between("0:1", step="0.1")
    assert people_per_grid_point(table, Rows(), column="c", grid=grid, per_person="least")[
        0, 3:5
    ].tolist() == [1, 1]
    large = open_table(pl.DataFrame({"c": pl.Series([2**64 - 1, 3], dtype=pl.UInt64)}), needed=[])
    assert (
        people_per_grid_point(
            large, Rows(), column="c", grid=Grid.between("0:9"), per_person="least"
        ).sum()
        == 1
    )


def test_a_person_known_by_a_float() -> None:
    frame = pd.DataFrame({"c": ["a"] * 5, "u": [1.0, 1.0, 2.0, float("nan"), float("inf")]})
    assert _count(frame, ["a"], user="u") == [2]


@pytest.mark.parametrize("data", [3, None, (1, 2), {"c": [1]}, pl.Series([1])])
def test_what_is_no_table(data: Any) -> None:
    with pytest.raises(ParameterError, match="is not allowed"):
        open_table(data, needed=[])


def test_people_known_by_other_plain_values() -> None:
    ids = duckdb.sql("SELECT 'a' AS c, uuid() AS u FROM range(3)")
    assert _count(ids, ["a"], user="u") == [3]
    times = pl.DataFrame({"c": ["a", "a"], "u": [datetime.datetime(2024, 1, 1), None]})
    assert _count(times, ["a"], user="u") == [1]


@pytest.mark.parametrize("engine", ["polars", "spark"])
def test_an_engine_goes_with_a_path(engine: str) -> None:
    with pytest.raises(ParameterError, match='"spark" reads a path in a cluster'):
        open_table(pl.DataFrame({"c": [1]}), needed=[], engine=engine)


def test_an_engine_that_fails_is_not_heard() -> None:
    connection = duckdb.connect()
    relation = connection.sql("SELECT CAST(x AS INTEGER) AS c FROM (VALUES ('1'), ('secret')) t(x)")
    table = open_table(relation, needed=[])
    with pytest.raises(TableError) as caught:
        people_per_candidate(table, Rows(), column="c", keys=[1])
    assert "secret" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


def test_a_panic_is_not_heard_either() -> None:
    class Panic(BaseException):
        pass

    def fail() -> None:
        raise Panic("secret")

    with pytest.raises(TableError) as caught:
        quietly(fail, doing="anything")
    assert caught.value.__context__ is None
    with pytest.raises(KeyboardInterrupt):
        quietly(lambda: (_ for _ in ()).throw(KeyboardInterrupt()), doing="anything")


def test_our_own_errors_pass() -> None:
    def fail() -> None:
        raise ParameterError("ours")

    with pytest.raises(ParameterError, match="ours"):
        quietly(fail, doing="anything")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([0, 1], r"must be texts.*rename\(columns=str\)"),
        (["x", "x"], "two columns are named 'x'"),
        (["x", "X"], r"two columns are named 'x' \(letter case does not count\)"),
    ],
)
def test_columns_without_a_name_of_their_own(columns: list[Any], words: str) -> None:
    frame = pd.DataFrame([["a", "b"]], columns=columns)
    with pytest.raises(ParameterError, match=words):
        open_table(frame, needed=["x"])
    if columns == ["x", "X"]:
        for held in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
            with pytest.raises(ParameterError, match=words):
                open_table(held, needed=["x"])


UNUSABLE: dict[str, tuple[Any, str, str]] = {
    "pandas period": (
        pd.DataFrame({"c": pd.period_range("2024-01", periods=2, freq="M")}),
        r"period\[M\]",
        r"astype\(",
    ),
    "pandas complex": (pd.DataFrame({"c": [1j, 2j]}), "complex128", r"astype\("),
    "polars list": (pl.DataFrame({"c": [[1], [2]]}), r"List\(Int64\)", r"\.cast\("),
    "polars object": (pl.DataFrame({"c": [object()]}, schema={"c": pl.Object}), "Object", "cast"),
    "arrow map": (pa.table({"c": pa.array([{"a": 1}])}), "struct<a: int64>", "CAST"),
    "arrow half": (pa.table({"c": pa.array([None], pa.float16())}), "halffloat", "CAST"),
    "duckdb": (duckdb.sql("SELECT 'x'::BLOB AS c"), "BLOB", r'CAST\("c" AS VARCHAR\)'),
}


@pytest.mark.parametrize("name", UNUSABLE)
@pytest.mark.parametrize(
    "asked",
    [
        {"candidates": ["x"]},
        {"bounds": "0:5"},
        {"candidates": ["x"], "where": "c = 'x'"},
        {"candidates": ["x"], "by": "c", "groups": ["x"]},
        {"delta": "1e-6"},
    ],
    ids=str,
)
def test_a_type_that_cannot_be_asked_about_is_named_with_the_fix(
    name: str, asked: dict[str, Any]
) -> None:
    """The error uses the user's terms, and comes before anything is paid."""
    held, declared, fix = UNUSABLE[name]
    with pytest.raises(ParameterError, match=f"'c'.*{declared}.*{fix}") as caught:
        mode(held, "c", one_row_per_user=True, epsilon=1, **asked)
    assert "other" not in str(caught.value)


def test_a_type_is_named_as_the_person_knows_it() -> None:
    for held, declared in (
        (pd.DataFrame({"c": ["a"]}), "str"),
        (pd.DataFrame({"c": pd.array([1, None], dtype="Int8")}), "Int8"),
        (pl.DataFrame({"c": ["a"]}), "String"),
        (pa.table({"c": ["a"]}), "string"),
        (duckdb.sql("SELECT 'a' AS c"), "VARCHAR"),
    ):
        with pytest.raises(ParameterError, match=f"declared {declared}\\b"):
            mode(held, "c", candidates=["a"], where="c = true", one_row_per_user=True, epsilon=1)
