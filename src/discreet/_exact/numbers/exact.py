"""Exact numbers for parameters: each value from a user is converted to a rational or refused.

A float given as ``epsilon`` or ``scale`` means its shortest decimal (0.1 is one tenth). A float given as a
*distance* (a sensitivity) means the larger of its shortest decimal and its binary value, so rounding cannot
make it smaller than intended. NumPy floats are first converted to float64.
"""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.errors import ParameterError

Number: TypeAlias = int | float | Fraction | Decimal | str
"""The types that a user may pass for a parameter."""

Exact: TypeAlias = Fraction | float
"""A rational, or the float ``inf``; no other float is allowed."""

# A larger decimal exponent would make a rational of megabytes, so it is refused. Python itself reads and
# writes only integers of up to 4300 digits, which is more than twice this exponent.
LARGEST_EXPONENT = 2_000
_MOST_DIGITS = 2 * LARGEST_EXPONENT
_MOST_BITS = 13_000
_RATIO = re.compile(rf"\s*[+-]?\d{{1,{_MOST_DIGITS}}}\s*/\s*\d{{1,{_MOST_DIGITS}}}\s*")


def fraction_of_decimal(value: Decimal) -> Fraction | None:
    """Convert a decimal to a rational; return None if it is not finite or its exponent is too large."""
    if not value.is_finite():
        return None
    exponent = value.as_tuple().exponent
    if (
        not isinstance(exponent, int)
        or max(abs(exponent), abs(value.adjusted())) > LARGEST_EXPONENT
    ):
        return None
    return Fraction(value)


def _fraction_of_text(text: str) -> Fraction | None:
    if _RATIO.fullmatch(text):
        numerator, denominator = text.split("/")
        return Fraction(int(numerator), int(denominator)) if int(denominator) else None
    try:
        return fraction_of_decimal(Decimal(text.strip()))
    except InvalidOperation:
        return None


def _exact(value: object) -> Fraction | None:
    """Return the rational that ``value`` means, or None if it is not an accepted number."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, np.floating):
        if value.dtype.itemsize > 8:
            return None
        value = float(value)
    if isinstance(value, float):
        # The shortest decimal. Not repr(), because a subclass may print something else.
        return Fraction(float.__repr__(value)) if math.isfinite(value) else None
    if isinstance(value, str):
        return _fraction_of_text(value)
    if isinstance(value, Decimal):
        return fraction_of_decimal(value)
    if isinstance(value, np.integer):
        return Fraction(int(value))
    if isinstance(value, numbers.Rational):
        exact = Fraction(int(value.numerator), int(value.denominator))
        longest = max(exact.numerator.bit_length(), exact.denominator.bit_length())
        return exact if longest <= _MOST_BITS else None
    return None


def refuse(name: str, value: object, allowed: str) -> ParameterError:
    """Return the error for an invalid parameter; its message gives the value and what is allowed."""
    return ParameterError(f"⟨{name}⟩{echo(value)} is not allowed: it must be {allowed}")


def echo(value: object) -> str:
    """Return the value of a parameter as short text for a message, even if its ``repr`` fails."""
    try:
        text = repr(value)
    except Exception:  # another class's repr may raise anything; a huge integer raises ValueError
        return f"<{type(value).__name__}>"
    short = text if len(text) <= 60 else text[:57] + "..."
    # This bracket marks parameter names, so it must not come from a value.
    return short.replace("⟨", r"\u27e8")


def above(name: str, value: object, bound: int) -> Fraction:
    """Convert ``value`` to a rational; refuse it unless it is finite and above ``bound``."""
    exact = _exact(value)
    if exact is None or exact <= bound:
        raise refuse(name, value, f"a finite number above {bound}")
    return exact


def finite(name: str, value: object) -> Fraction:
    """Convert ``value`` to a rational; refuse it unless it is a finite number."""
    exact = _exact(value)
    if exact is None:
        raise refuse(name, value, "a finite number")
    return exact


def positive(name: str, value: object) -> Fraction:
    """Convert ``value`` to a rational; refuse it unless it is finite and above zero.

    Example:
        >>> positive("epsilon", 0.1)
        Fraction(1, 10)
    """
    return above(name, value, 0)


def non_negative(name: str, value: object) -> Fraction:
    """Convert ``value`` to a rational; refuse it unless it is finite and zero or above."""
    exact = _exact(value)
    if exact is None or exact < 0:
        raise refuse(name, value, "a finite number, 0 or above")
    return exact


def _at_least_binary(value: object, exact: Fraction) -> Fraction:
    """Return ``exact``, or the exact binary value of a float ``value`` if that is larger."""
    if isinstance(value, float | np.floating):
        return max(exact, Fraction(float(value)))
    return exact


def positive_distance(name: str, value: object) -> Fraction:
    """Convert a distance and refuse zero or less; a float means the larger of its decimal and binary value.

    Example:
        >>> positive_distance("sensitivity", 0.3) == Fraction(3, 10)
        True
        >>> positive_distance("sensitivity", 0.1) == Fraction(0.1)
        True
    """
    return _at_least_binary(value, positive(name, value))


def non_negative_distance(name: str, value: object) -> Fraction:
    """Convert a distance that may be zero; a float means the larger of its decimal and binary value."""
    return _at_least_binary(value, non_negative(name, value))


def cost(name: str, value: object) -> Exact:
    """Convert a privacy cost to a rational or ``inf``; refuse it unless it is zero or above."""
    if isinstance(value, float | np.floating) and float(value) == math.inf:
        return math.inf
    # Our own conversions may produce longer rationals than a user may write.
    exact = value if type(value) is Fraction else _exact(value)
    if exact is None or exact < 0:
        # Infinity is accepted as a float; the text "inf" is refused like any other text that is not a number.
        finite = isinstance(value, str)
        raise refuse(name, value, f"a number, 0 or above{'' if finite else ', or infinity'}")
    return exact


def probability(name: str, value: object) -> Fraction:
    """Convert ``value`` to a rational; refuse it unless it is from 0 to 1."""
    # As for a cost, our own rounding may produce longer numbers than a user may write.
    exact = value if type(value) is Fraction else _exact(value)
    if exact is None or not 0 <= exact <= 1:
        raise refuse(name, value, "a number from 0 to 1")
    return exact


def whole(name: str, value: object, *, least: int = 1) -> int:
    """Convert ``value`` to an int; refuse it unless it is a whole number, ``least`` or above."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise refuse(name, value, f"a whole number, {least} or above")
    if value < least or int(value).bit_length() > _MOST_BITS:
        raise refuse(name, value, f"a whole number, {least} or above")
    return int(value)


def float_up(value: Exact) -> float:
    """Return the smallest float64 that is at least ``value``; costs are reported this way.

    Example:
        >>> float_up(Fraction(1, 10)), float_up(Fraction(10) ** 400)
        (0.1, inf)
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


def shown(value: Exact) -> str:
    """Return as text the smallest ``repr`` of a float that is at least ``value``; ``inf`` if there is none.

    Example:
        >>> shown(Fraction(3, 10)), shown(Fraction(4)), shown(Fraction(1, 3))
        ('0.3', '4', '0.33333333333333337')
    """
    if float_up(value) == math.inf:
        return "inf"
    if Fraction(value).denominator == 1 and value < 10**15:
        return str(int(value))
    # The decimal of a float may lie on either side of its binary value.
    reading = math.nextafter(float_up(value), 0.0)
    while reading < math.inf and Fraction(repr(reading)) < value:
        reading = math.nextafter(reading, math.inf)
    return repr(reading)


def float_down(value: Exact) -> float:
    """Return the largest float64 that is at most ``value``, which must not be negative."""
    try:
        nearest = float(value)
    except OverflowError:
        return float(np.finfo(np.float64).max)
    return nearest if nearest <= value else math.nextafter(nearest, 0.0)
