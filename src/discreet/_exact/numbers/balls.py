"""Interval arithmetic with flint's ``arb``. Its intervals are called balls: a midpoint and a radius.

Only this module sets flint's precision. ``upper_bound`` rounds the value of a formula up, so a reported cost
is never too small.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from discreet._exact.numbers.exact import Exact

_FIRST_PRECISION = 128
_LAST_PRECISION = 1 << 14
_RELATIVE_BITS = 64
_LARGEST_EXPONENT = 20_000


class _Precision:
    """The lock for flint's precision, which is shared by the whole process.

    Every computation with ``arb`` holds this lock, so no thread sees a precision set by another. The lock is
    reentrant.
    """

    lock = threading.RLock()

    @classmethod
    def renew(cls) -> None:
        """Replace the lock in a forked child, because a thread that no longer exists may hold the old one."""
        cls.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Precision.renew)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set flint's precision for a ``with`` block, and hold the lock until the block ends."""
    from flint import ctx

    with _Precision.lock, ctx.workprec(bits):
        yield


def bits_at_work() -> int:
    """Return the current precision in bits."""
    from flint import ctx

    return int(ctx.prec)


def ball_of(value: Fraction | int) -> Any:
    """Return an interval (flint ``arb``) that contains a rational, at the current precision."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def upper_end(ball: Any) -> Exact:
    """Return a rational at or above the upper end of a finite interval; ``inf`` from 2^20000 on."""
    mantissa, exponent = (int(part) for part in ball.upper().man_exp())
    if mantissa.bit_length() + exponent > _LARGEST_EXPONENT:
        return math.inf if mantissa > 0 else Fraction(0)
    if exponent < -_LARGEST_EXPONENT:
        # Round the mantissa up to a coarser grid, to keep the rational short.
        shift = -_LARGEST_EXPONENT - exponent
        mantissa, exponent = -(-mantissa >> shift), -_LARGEST_EXPONENT
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def upper_bound(formula: Callable[..., Any], *arguments: Fraction) -> Exact:
    """Return an upper bound on ``formula(*arguments)``, or ``inf`` if none is found.

    ``formula`` takes and returns ``arb``. The precision is doubled, up to a limit, until the interval has a
    relative width of about 2⁻⁶⁴. Expressions such as ε + e^−ε − 1 lose digits to cancellation for small ε,
    and more precision restores them.

    Example:
        >>> float(upper_bound(lambda e: e + (-e).exp() - 1, Fraction(1)))
        0.36787944117144233
    """
    bits = _FIRST_PRECISION
    best: Exact = math.inf
    while bits <= _LAST_PRECISION:
        with precision(bits):
            ball = formula(*(ball_of(argument) for argument in arguments))
            if ball.is_finite():
                best = min(best, upper_end(ball))
                if ball.rel_accuracy_bits() >= _RELATIVE_BITS or ball.is_zero():
                    return best
        bits *= 2
    return best
