"""Format numbers for people and for JSON. Rounding never understates a cost, and NaN is an error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.numbers.balls import upper_bound
from discreet._exact.numbers.exact import Exact, float_up, shown, whole
from discreet.errors import DiscreetError


def rounded(value: Exact, *, up: bool, digits: int = 4) -> float:
    """Round a number up or down to ``digits`` significant digits; a float means its shortest decimal.

    Example:
        >>> rounded(0.45872, up=True), rounded(0.45872, up=False), rounded(0.5, up=True)
        (0.4588, 0.4587, 0.5)
    """
    _refuse_nan(value)
    nearest = float_up(value) if up else -float_up(-value)
    if not math.isfinite(nearest):
        return nearest
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    return float(Context(prec=digits, rounding=rounding).plus(Decimal(repr(nearest))))


def figure(value: Exact, *, up: bool = True) -> str:
    """Return a cost rounded up, or a remaining budget rounded down, with at most four significant digits.

    Example:
        >>> figure(Fraction(1, 3)), figure(Fraction(1, 3_000_000)), figure(math.inf)
        ('0.3334', '3.334e-7', '∞')
        >>> figure(Fraction(4, 3), up=False)
        '1.333'
    """
    _refuse_nan(value)
    nearest = float_up(value)
    if nearest in (0, math.inf):
        return "0" if nearest == 0 else "∞"
    grid = Fraction(10) ** (3 - math.floor(math.log10(nearest)))
    whole = (math.ceil if up else math.floor)(Fraction(value) * grid)
    shown = float_up(whole / grid)
    if shown == 0 or 1e-4 <= shown < 1e6:
        return f"{shown:.9g}"
    digits, _, power = f"{shown:.4g}".partition("e")
    return f"{digits}e{int(power)}"


def measured(value: float, *, digits: int = 4) -> str:
    """Return as text a number that is not a guarantee, such as an error or a share, rounded to nearest.

    Example:
        >>> measured(5.32281), measured(5.32281, digits=6), measured(-math.inf)
        ('5.323', '5.32281', '−∞')
    """
    _refuse_nan(value)
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{digits}g}"


def written(value: object) -> str:
    """Return a parameter as text that can be read back; a rational too long to print is rounded up."""
    if not isinstance(value, Fraction):
        return repr(value)
    try:
        return str(value)
    except ValueError:  # Python does not write integers of more than 4300 digits
        return shown(value)


def percent(value: float, *, up: bool | None = None) -> str:
    """Return a probability in per cent, rounded up, down or to nearest; only 0 and 1 become 0% and 100%.

    Example:
        >>> percent(0.12341), percent(0.12341, up=True), percent(0.9999)
        ('12.3%', '12.4%', 'above 99.9%')
    """
    _refuse_nan(value)
    if 0 < value < 0.001:
        return "below 0.1%"
    if 0.999 < value < 1:
        return "above 99.9%"
    share = value if up is None else rounded(value, up=up, digits=3)
    return f"{100 * share:.3g}%"


def jsonable(value: Any) -> Any:
    """Convert a value to plain types for JSON; infinity becomes the text "inf", and NaN is an error.

    Example:
        >>> jsonable({"epsilon": math.inf, "errors": (1, np.float64(0.5))})
        {'epsilon': 'inf', 'errors': [1, 0.5]}
    """
    if type(value) in (str, int, bool) or value is None:
        return value
    if isinstance(value, Mapping):
        return {name: jsonable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    _refuse_nan(value)
    return str(value) if isinstance(value, float) and math.isinf(value) else value


def _refuse_nan(value: object) -> None:
    if isinstance(value, float) and math.isnan(value):
        raise DiscreetError("a figure is NaN (not a number), so it cannot be shown")


# ---- the meaning of a cost in words ----

_PEOPLE = {2: "Two people", 3: "Three people", 4: "Four people", 5: "Five people"}


def subject(people: int) -> str:
    """Return the start of a sentence: "One person's data changes" or "Two people together change"."""
    if whole("people", people) == 1:
        return "One person's data changes"
    return f"{_PEOPLE.get(people, f'{people} people')} together change"


def times(factor: int, symbol: str) -> str:
    """Return a multiple of a symbol as text, such as 4ε; a factor of 1 is left out."""
    return symbol if factor == 1 else f"{factor}{symbol}"


def odds(epsilon: Exact) -> str:
    """Return in words by what factor a probability may change: at most e^ε, rounded up."""
    if epsilon == math.inf:
        return "without any limit"
    factor = upper_bound(lambda e: e.exp(), Fraction(epsilon)) if epsilon < 700 else math.inf
    limit = figure(factor) if factor < 1e6 else f"e^{figure(epsilon)}"
    return f"by a factor of at most {limit}"
