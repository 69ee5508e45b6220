"""Scores hold exactly the given numbers, whatever their source, and borrow arrays instead of copying."""

from __future__ import annotations

import copy
import pickle
from array import array
from collections import Counter, OrderedDict
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Scores
from discreet.errors import ParameterError, ScoresError

MACHINE_TYPES = [*"bBhHiIlLqQ", *"efd"]


class _Grade(IntEnum):
    LOW = 1
    HIGH = 5


def _exactly(scores: Scores) -> list[Fraction]:
    return [Fraction(value) for value in scores.values.tolist()]


# ---- what is accepted --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([3, 1, 2], np.int64),
        ((3, 1, 2), np.int64),
        (range(3), np.int64),
        ((number for number in (3, 1)), np.int64),
        (array("h", [3, 1]), np.int64),
        (OrderedDict(a=3, b=1).values(), np.int64),
        ([_Grade.LOW, _Grade.HIGH], np.int64),
        ([2**63 - 1, -(2**63)], np.int64),
        ([2**63, 0], np.uint64),
        ([2**64 - 1, 2**64 - 2], np.uint64),
        ([2**64, 0], object),
        ([2**63, -1], object),
        ([10**400, -(10**400)], object),
        ([0.1, 2.5], np.float64),
        ([np.float64(0.1), np.float32(2.5), np.float16(1)], np.float64),
        ([np.int8(3), np.uint64(1)], np.int64),
        ([1, 0.5], np.float64),
        ([2**53 + 1, 0.5], object),
        ([Fraction(1, 3), Fraction(1, 7)], object),
        ([Decimal("0.1"), Decimal("1e-30")], object),
        ([1, 0.1, Fraction(1, 3), Decimal("0.1"), 10**30, np.float32(0.1)], object),
        ([np.longdouble(1) / 3, np.longdouble(2)], object),
        ([1.7e308, -1.7e308], np.float64),
        ([5e-324, 0.0, -0.0], np.float64),
    ],
)
def test_any_sequence_of_numbers_is_held_exactly(values: Any, dtype: Any) -> None:
    listed = list(values)
    scores = Scores(
        listed if not isinstance(values, list | tuple | range) else values, sensitivity=1
    )
    assert scores.values.dtype == dtype
    plain = [number.item() if isinstance(number, np.integer) else number for number in listed]
    expected = [Fraction(*number.as_integer_ratio()) for number in plain]
    assert _exactly(scores) == expected
    assert scores.candidates == range(len(listed))


def test_an_iterator_is_read_once() -> None:
    assert Scores((number for number in (3, 1)), sensitivity=1).values.tolist() == [3, 1]
    assert Scores(map(Fraction, "12"), sensitivity=1).values.tolist() == [1, 2]


@pytest.mark.parametrize("mapping", [{"a": 3, "b": 1}, OrderedDict(a=3, b=1), Counter("aaab")])
def test_a_mapping_brings_its_candidates(mapping: Any) -> None:
    scores = Scores(mapping, sensitivity=1)
    assert list(scores.candidates) == ["a", "b"]
    assert scores.values.tolist() == [3, 1]
    with pytest.raises(ParameterError, match="brings its own candidates"):
        Scores(mapping, candidates=["a", "b"], sensitivity=1)


@pytest.mark.parametrize("code", MACHINE_TYPES)
def test_a_numpy_array_is_borrowed_and_read_only(code: str) -> None:
    given_array = np.array([3, 1, 2], dtype=code)
    scores = Scores(given_array, sensitivity=1)
    assert scores.values.dtype == given_array.dtype
    assert np.shares_memory(scores.values, given_array)
    assert not scores.values.flags.writeable
    assert given_array.flags.writeable  # the owner may still write
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0] = 9
    assert _exactly(scores) == [3, 1, 2]


@pytest.mark.parametrize("code", MACHINE_TYPES)
def test_strided_reversed_and_read_only_arrays(code: str) -> None:
    base = np.arange(12, dtype=code)
    base.flags.writeable = False
    for view in (base[::3], base[::-1], base[5:], base.reshape(3, 4)[:, 1]):
        scores = Scores(view, sensitivity=1)
        assert np.shares_memory(scores.values, base)
        assert scores.values.tolist() == view.tolist()


@pytest.mark.parametrize("code", [">i2", ">u8", ">f4", ">f8", ">f2"])
def test_foreign_byte_order_is_turned_round(code: str) -> None:
    scores = Scores(np.array([3, 1, 2], dtype=code), sensitivity=1)
    assert scores.values.dtype.isnative
    assert scores.values.tolist() == [3, 1, 2]


def test_long_doubles_and_object_arrays_keep_every_digit() -> None:
    third = np.longdouble(1) / 3
    held = Scores(np.array([third, 0], dtype=np.longdouble), sensitivity=1)
    assert _exactly(held)[0] == Fraction(*third.as_integer_ratio())
    assert _exactly(Scores(np.array([10**30, 0.5], dtype=object), sensitivity=1))[0] == 10**30


def test_array_subclasses_and_unmasked_arrays() -> None:
    class Tagged(np.ndarray[Any, Any]):
        pass

    tagged = np.array([1.0, 2.0]).view(Tagged)
    assert type(Scores(tagged, sensitivity=1).values) is np.ndarray
    unmasked = np.ma.array([1, 2], mask=[False, False])
    assert Scores(unmasked, sensitivity=1).values.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_sums_that_overflow_are_no_reason_to_refuse(dtype: Any) -> None:
    largest = np.finfo(dtype).max
    assert len(Scores(np.full(10_000, largest, dtype=dtype), sensitivity=1)) == 10_000


# ---- series ------------------------------------------------------------------------------------


def test_pandas_series() -> None:
    pandas = pytest.importorskip("pandas")
    labelled = pandas.Series([3, 1], index=["a", "b"])
    assert list(Scores(labelled, sensitivity=1).candidates) == ["a", "b"]
    assert Scores(labelled, candidates=["x", "y"], sensitivity=1).candidates == ("x", "y")
    assert Scores(pandas.Series([3, 1]), sensitivity=1).candidates == range(2)
    assert Scores(pandas.Series([3, 1, 2])[1:], sensitivity=1).candidates == (1, 2)
    assert Scores(pandas.Series([3, 1]).value_counts(), sensitivity=1).values.tolist() == [1, 1]
    assert np.shares_memory(
        Scores(pandas.Series(base := np.arange(3.0), copy=False), sensitivity=1).values, base
    )
    for dtype in ("Int64", "UInt8", "Float64", "float32", "category", object):
        held = Scores(pandas.Series([3, 1], dtype=dtype), sensitivity=1)
        assert _exactly(held) == [3, 1]
    large = 2**62 + 1  # a float64 would lose the last bit
    assert Scores(pandas.Series([large, 0], dtype="Int64"), sensitivity=1).values[0] == large


def test_polars_series() -> None:
    polars = pytest.importorskip("polars")
    for dtype in ("Int8", "UInt64", "Int128", "Float32", "Float64"):
        series = polars.Series([3, 1], dtype=getattr(polars, dtype))
        assert _exactly(Scores(series, sensitivity=1)) == [3, 1]
    huge = polars.Series([2**100, 1], dtype=polars.Int128)
    assert _exactly(Scores(huge, sensitivity=1)) == [2**100, 1]
    decimals = polars.Series([Decimal("0.10"), Decimal("2.25")])
    assert _exactly(Scores(decimals, sensitivity=1)) == [Fraction(1, 10), Fraction(9, 4)]
    labels = polars.Series(["a", "b"])
    assert Scores([1, 2], candidates=labels, sensitivity=1).candidates == ("a", "b")


def test_arrow_columns() -> None:
    arrow = pytest.importorskip("pyarrow")
    assert _exactly(Scores(arrow.array([3, 1]), sensitivity=1)) == [3, 1]
    assert _exactly(Scores(arrow.chunked_array([[3], [1, 2]]), sensitivity=1)) == [3, 1, 2]
    assert _exactly(Scores(arrow.array([Decimal("0.1")]), sensitivity=1)) == [Fraction(1, 10)]


# ---- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b"],
        ("a", "b"),
        np.array(["a", "b"]),
        {"a": 1, "b": 2}.keys(),
        iter("ab"),
        [("a", 1), ("b", 2)],
        [None, False],
        range(5, 7),
    ],
)
def test_labels_of_many_kinds(labels: Any) -> None:
    expected = list(labels) if not hasattr(labels, "__next__") else ["a", "b"]
    scores = Scores([1, 2], candidates=labels, sensitivity=1)
    assert list(scores.candidates) == expected
    assert all(type(label) is not np.str_ for label in scores.candidates)


# ---- distances ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sensitivity", "distance"),
    [
        ({"sensitivity": 1}, 1, 2),
        ({"sensitivity": 1, "monotonic": True}, 1, 1),
        ({"sensitivity": 1, "monotonic": np.True_}, 1, 1),
        ({"sensitivity": "1/3"}, Fraction(1, 3), Fraction(2, 3)),
        ({"sensitivity": 0.1}, Fraction(0.1), 2 * Fraction(0.1)),  # binary: the larger reading
        ({"sensitivity": 0.3}, Fraction(3, 10), Fraction(3, 5)),  # decimal: the larger reading
        ({"range_distance": 2}, None, 2),
        ({"range_distance": "0.5"}, None, Fraction(1, 2)),
    ],
)
def test_distances(arguments: dict[str, Any], sensitivity: Any, distance: Any) -> None:
    scores = Scores([1, 2], **arguments)
    assert scores.sensitivity == sensitivity
    assert scores.range_distance == distance
    assert scores.monotonic is bool(arguments.get("monotonic", False))


# ---- a value that shows no data ----------------------------------------------------------------


def test_scores_are_frozen_silent_and_survive_a_pickle() -> None:
    scores = Scores({"flu": 987654321, "cold": 123456789}, sensitivity=1, monotonic=True)
    assert len(scores) == 2
    for text in (repr(scores), str(scores)):
        assert "987654321" not in text
        assert "2 candidates" in text
    for name in (*Scores.__slots__, "anything"):
        with pytest.raises(AttributeError, match="frozen"):
            setattr(scores, name, None)
        with pytest.raises(AttributeError, match="frozen"):
            delattr(scores, name)
    for again in (pickle.loads(pickle.dumps(scores)), copy.copy(scores), copy.deepcopy(scores)):  # noqa: S301
        assert again.values.tolist() == scores.values.tolist()
        assert again.candidates == scores.candidates
        assert again.range_distance == scores.range_distance
        assert again.sensitivity == scores.sensitivity
        assert again.monotonic
        assert not again.values.flags.writeable


# ---- rounding to a grid ------------------------------------------------------------------------


def test_on_grid_keeps_labels_and_distance() -> None:
    scores = Scores({"a": 0.30000000000000004, "b": 0.1}, sensitivity=1, monotonic=True)
    rounded = scores.on_grid("0.1")
    assert _exactly(rounded) == [Fraction(3, 10), Fraction(1, 10)]
    assert list(rounded.candidates) == ["a", "b"]
    assert rounded.sensitivity == 1
    assert rounded.monotonic
    for wrong in ("0.3", 0, -1, "x", None, 2):
        with pytest.raises(ParameterError, match="step"):
            scores.on_grid(wrong)
    with pytest.raises(ParameterError, match="sensitivity"):
        Scores([1], range_distance=1).on_grid(1)


@given(
    st.fractions(min_value=-20, max_value=20),
    st.fractions(min_value=-1, max_value=1),
    st.integers(min_value=1, max_value=4),
)
def test_rounding_to_a_grid_never_widens_a_distance(
    score: Fraction, move: Fraction, steps: int
) -> None:
    """Two scores within Δ stay within Δ and in order; halves would reveal rounding to even."""
    step = Fraction(1, steps)
    for change in (move, Fraction(1), Fraction(-1)):
        for start in (score, round(score) + step / 2):
            before, after = (
                _exactly(Scores([value], sensitivity=1).on_grid(step))[0]
                for value in (start, start + change)
            )
            assert abs(after - before) <= 1
            assert (after - before) * change >= 0
            assert abs(before - start) <= step / 2


# ---- every integer type, every value -----------------------------------------------------------


@given(
    st.lists(
        st.one_of(st.integers(), st.fractions(), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
    )
)
def test_whatever_the_mixture_the_numbers_are_the_same(values: list[Any]) -> None:
    assert _exactly(Scores(values, sensitivity=1)) == [Fraction(value) for value in values]


def test_nothing_is_lost_between_the_machine_types() -> None:
    edges = [2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64]
    for first in edges:
        for second in (*edges, -1, 0.5, -(2**63)):
            held = Scores([first, second], sensitivity=1)
            assert _exactly(held) == [Fraction(first), Fraction(second)]


def test_empty_and_misfit_labels_are_refused_before_a_score_is_shown() -> None:
    for labels in (["a"], ["a", "b", "c"], range(3)):
        with pytest.raises(ScoresError, match="same length"):
            Scores([1, 2], candidates=labels, sensitivity=1)


@pytest.mark.parametrize("value", ["Infinity", "NaN", "1e999999"])
def test_a_decimal_that_is_no_sane_number_is_refused(value: str) -> None:
    with pytest.raises(ScoresError, match="reasonable exponent"):
        Scores([Decimal(value), 1], sensitivity=1)
