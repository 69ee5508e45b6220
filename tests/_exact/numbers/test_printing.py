"""Printed figures are rounded in the safe direction and are never NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet._exact.numbers.printing import figure, jsonable, measured, percent, rounded
from discreet.errors import DiscreetError

FLOATS = st.floats(1e-300, 1e300)


@given(FLOATS, st.integers(1, 6))
def test_rounding_has_a_side(value: float, digits: int) -> None:
    meant = Fraction(repr(value))
    down, up = (rounded(value, up=side, digits=digits) for side in (False, True))
    assert Fraction(repr(down)) <= meant <= Fraction(repr(up))
    assert up <= down * (1 + 2 * 10.0 ** (1 - digits))
    assert rounded(up, up=True, digits=digits) == up


@given(FLOATS)
def test_a_cost_is_never_printed_below_itself(value: float) -> None:
    assert Fraction(figure(Fraction(value))) >= Fraction(value) * (1 - Fraction(1, 10**15))


@given(st.floats(0.001, 0.999))
def test_a_bound_in_per_cent_is_not_below_itself(value: float) -> None:
    assert Fraction(percent(value, up=True)[:-1]) >= 100 * Fraction(repr(value))
    assert Fraction(percent(value, up=False)[:-1]) <= 100 * Fraction(repr(value))


def test_certainty_is_said_only_where_it_is() -> None:
    assert [percent(value) for value in (0.0, 1e-9, 0.5, 1 - 1e-9, 1.0)] == [
        "0%",
        "below 0.1%",
        "50%",
        "above 99.9%",
        "100%",
    ]


def test_infinity_is_said_and_nan_refused() -> None:
    assert figure(math.inf) == measured(math.inf) == "∞"
    assert rounded(math.inf, up=True) == math.inf
    assert jsonable({"a": [math.inf, -math.inf, np.int64(3)]}) == {"a": ["inf", "-inf", 3]}
    for wrong in (math.nan, np.float64("nan"), {"deep": [(1.0, math.nan)]}):
        with pytest.raises(DiscreetError, match="not a number"):
            jsonable(wrong)
    printers: list[Callable[[float], Any]] = [measured, percent, figure]
    printers += [partial(rounded, up=True), partial(percent, up=True)]
    for printed in printers:
        with pytest.raises(DiscreetError, match="not a number"):
            printed(math.nan)
