"""Formulas evaluated in ball arithmetic and rounded up: no reported cost is ever too small."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.exact_numbers import Exact

_FIRST_PRECISION = 128
_LAST_PRECISION = 1 << 14
_RELATIVE_BITS = 64
_LARGEST_EXPONENT = 20_000


def ball_of(value: Fraction) -> Any:
    """The ball (flint ``arb``) around an exact rational, at the current precision."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def upper_end(ball: Any) -> Exact:
    """A rational at least every point of a finite ball; ``inf`` beyond 2^±20000."""
    mantissa, exponent = (int(part) for part in ball.upper().man_exp())
    if mantissa.bit_length() + exponent > _LARGEST_EXPONENT:
        return math.inf if mantissa > 0 else Fraction(0)
    if exponent < -_LARGEST_EXPONENT:
        # Round the mantissa up to a coarser grid, so that the rational stays of sane size.
        shift = -_LARGEST_EXPONENT - exponent
        mantissa, exponent = -(-mantissa >> shift), -_LARGEST_EXPONENT
    return Fraction(mantissa) * Fraction(2) ** exponent


def upper_bound(formula: Callable[..., Any], *arguments: Fraction) -> Exact:
    """A rational at least ``formula(*arguments)``, tight to about 2⁻⁶⁴; ``inf`` if none is found.

    ``formula`` takes and returns balls. Precision is doubled until the ball is narrow: expressions
    such as ε + e^−ε − 1 cancel for small ε, and this is where the cancelled digits come back.

    Example:
        >>> float(upper_bound(lambda e: e + (-e).exp() - 1, Fraction(1)))
        0.36787944117144233
    """
    from flint import ctx

    precision = _FIRST_PRECISION
    best: Exact = math.inf
    while precision <= _LAST_PRECISION:
        with ctx.workprec(precision):
            ball = formula(*(ball_of(argument) for argument in arguments))
            if ball.is_finite():
                best = min(best, upper_end(ball))
                if ball.rel_accuracy_bits() >= _RELATIVE_BITS or ball.is_zero():
                    return best
        precision *= 2
    return best
