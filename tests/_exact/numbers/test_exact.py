"""A user's number becomes exactly the intended rational, or an error that quotes it."""

from __future__ import annotations

import enum
import math
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet._exact.numbers.exact import (
    cost,
    float_down,
    float_up,
    non_negative,
    non_negative_distance,
    positive,
    positive_distance,
    probability,
    refuse,
    shown,
    whole,
)
from discreet.errors import ParameterError

PARSERS: list[Callable[[str, object], object]] = [
    positive,
    non_negative,
    positive_distance,
    non_negative_distance,
    cost,
    probability,
]
FINITE = st.floats(allow_nan=False, allow_infinity=False)


class _Level(enum.IntEnum):
    TWO = 2


class _Boastful(float):
    def __repr__(self) -> str:
        return "0.0001"


class _Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (1, Fraction(1)),
        (10**400, Fraction(10**400)),
        (_Level.TWO, Fraction(2)),
        (0.1, Fraction(1, 10)),
        (1e-320, Fraction(1, 10**320)),
        (1e300, Fraction(10**300)),
        (5e-324, Fraction(5, 10**324)),
        (_Boastful(1.5), Fraction(3, 2)),
        ("0.1", Fraction(1, 10)),
        (" 1e-3 ", Fraction(1, 1000)),
        ("2/3", Fraction(2, 3)),
        (" 2 / 3 ", Fraction(2, 3)),
        ("1e-2000", Fraction(1, 10**2000)),
        (Decimal("0.10"), Fraction(1, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.int8(3), Fraction(3)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.5), Fraction(1, 2)),
        # A NumPy scalar is converted to float64 and then read as its shortest decimal.
        (np.float32(0.1), Fraction("0.10000000149011612")),
        (np.float16(0.1), Fraction("0.0999755859375")),
    ],
)
def test_every_accepted_type_means_its_rational(written: object, meant: Fraction) -> None:
    assert positive("epsilon", written) == meant
    assert non_negative("epsilon", written) == meant
    assert cost("epsilon", written) == meant


@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize(
    "garbage",
    [
        None,
        True,
        False,
        np.True_,
        math.nan,
        -math.inf,
        np.float64("nan"),
        np.float32("-inf"),
        np.longdouble("0.5"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        1j,
        b"1",
        "",
        "one",
        "nan",
        "inf",
        "1/0",
        "1/2/3",
        "0x10",
        [],
        [1],
        (0.5,),
        {},
        np.array(0.5),
        np.array([0.5]),
        object(),
        -1,
        -0.5,
        "-1/2",
        Decimal(-1),
    ],
    ids=lambda value: "object" if type(value) is object else repr(value),
)
def test_garbage_is_refused(parse: Callable[[str, object], object], garbage: object) -> None:
    with pytest.raises(ParameterError, match="is not allowed"):
        parse("epsilon", garbage)


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, "0", "0/5", Decimal(0), np.int64(0), np.float32(0)])
def test_zero_is_not_positive_but_is_a_cost(zero: object) -> None:
    for parse in (positive, positive_distance):
        with pytest.raises(ParameterError, match="above 0"):
            parse("epsilon", zero)
    for allowed in (non_negative, non_negative_distance, cost, probability):
        assert allowed("epsilon", zero) == 0


@pytest.mark.parametrize("infinite", [math.inf, np.inf, np.float32("inf"), np.longdouble("inf")])
def test_only_a_cost_may_be_infinite(infinite: object) -> None:
    assert cost("epsilon", infinite) == math.inf
    for parse in (positive, non_negative, positive_distance, non_negative_distance, probability):
        with pytest.raises(ParameterError):
            parse("epsilon", infinite)


@pytest.mark.parametrize(
    "monster",
    [
        "1e999999999",
        "1e-999999999",
        "1e5000",
        Decimal("1e99999999"),
        Decimal("1e-99999999"),
        "9" * 1_000_000,
        "0." + "0" * 1_000_000 + "1",
        "1/" + "9" * 5000,
        "9" * 5000 + "/7",
        10**100_000,
        Fraction(1, 10**5000),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("parse", [positive, non_negative, positive_distance])
def test_monsters_are_refused_quickly(
    parse: Callable[[str, object], object], monster: object
) -> None:
    started = time.process_time()
    with pytest.raises(ParameterError) as caught:
        parse("epsilon", monster)
    assert len(str(caught.value)) < 200
    assert time.process_time() - started < 1


def test_a_refusal_survives_any_repr() -> None:
    assert "<_Unprintable>" in str(refuse("epsilon", _Unprintable(), "a number"))
    assert "<int>" in str(refuse("epsilon", -(10**5000), "a number"))
    assert len(str(refuse("epsilon", "x" * 10_000, "a number"))) < 150


@given(FINITE.filter(lambda value: value > 0))
def test_a_float_distance_is_the_larger_of_its_two_readings(value: float) -> None:
    distance = positive_distance("sensitivity", value)
    assert distance == max(Fraction(repr(value)), Fraction(value))
    assert non_negative_distance("sensitivity", value) == distance
    assert positive_distance("sensitivity", np.float64(value)) == distance


def test_a_narrow_numpy_distance_is_never_below_its_binary_value() -> None:
    for value in (np.float32(0.1), np.float16(0.1), np.float32(0.3)):
        assert positive_distance("sensitivity", value) >= Fraction(float(value))


@given(st.one_of(st.fractions(min_value=0), FINITE.filter(lambda value: value >= 0)))
def test_reported_floats_enclose_the_number(value: Any) -> None:
    exact = non_negative("epsilon", value)
    up, down = float_up(exact), float_down(exact)
    assert down <= exact <= up
    assert up in (down, math.nextafter(down, math.inf))
    assert Fraction(shown(exact)) >= exact


@given(
    st.integers(min_value=0, max_value=1200), st.fractions(min_value=Fraction(1, 9), max_value=9)
)
def test_reporting_reaches_beyond_the_floats(power: int, part: Fraction) -> None:
    large, small = part * Fraction(10) ** power, part / Fraction(10) ** power
    for exact in (large, small):
        assert float_down(exact) <= exact <= float_up(exact)
        text = shown(exact)
        assert text == "inf" or Fraction(text) >= exact


@pytest.mark.parametrize("value", [0.1, 0.3, 1.7976931348623157e308, 5e-324])
def test_what_is_shown_is_never_below_a_binary_value(value: float) -> None:
    text = shown(Fraction(value))
    assert text == "inf" or Fraction(text) >= Fraction(value)


def test_shown_is_short_where_it_can_be() -> None:
    assert shown(math.inf) == "inf"
    assert shown(Fraction(10) ** 400) == "inf"
    assert shown(Fraction(1, 10)) == "0.1"
    assert shown(Fraction(0)) == "0"
    assert shown(Fraction(1, 10**400)) == "5e-324"


def test_whole_numbers() -> None:
    assert whole("size", np.int64(3)) == 3
    assert type(whole("size", np.int64(3))) is int
    assert whole("size", 0, least=0) == 0
    for wrong in (0, -1, 1.0, "1", True, np.True_, None, Fraction(1), math.nan):
        with pytest.raises(ParameterError, match="a whole number, 1 or above"):
            whole("size", wrong)


@given(st.one_of(st.integers(), st.floats(), st.text(), st.binary(), st.none(), st.decimals()))
def test_anything_is_a_number_or_a_refusal(value: object) -> None:
    for parse in PARSERS:
        try:
            exact = parse("epsilon", value)
        except ParameterError:
            continue
        assert isinstance(exact, Fraction) or exact == math.inf
