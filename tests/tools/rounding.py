"""Check that a reported figure is the exact one, rounded up."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb, fmpq


def ball_of(value: Fraction) -> Any:
    return arb(fmpq(value.numerator, value.denominator))


def assert_rounded_up(reported: Fraction | float, truth: Any) -> None:
    """Check that the figure is at least the truth, and above it by no more than one part in 10¹²."""
    if not isinstance(reported, Fraction):
        raise AssertionError("a finite cost was expected")
    assert not (ball_of(reported) < truth)
    assert not (ball_of(reported) > truth * (1 + arb(10) ** -12))
