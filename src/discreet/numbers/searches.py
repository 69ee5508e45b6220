"""The root of a decreasing function: bracketed first, refined inside the bracket, never guessed."""

from __future__ import annotations

from collections.abc import Callable

_PRECISION = 1e-12
_STRIDE = 2.0


def least_root(excess: Callable[[float], float], *, farthest: float) -> float | None:
    """The least x found (to 10⁻¹²) with ``excess(x) <= 0``, or None if there is none within ±``farthest``.

    The x returned was evaluated. It is the least one if ``excess`` decreases.

    Example:
        >>> round(least_root(lambda x: 3 - x, farthest=100), 9)
        3.0
        >>> least_root(lambda x: 1.0, farthest=100) is None
        True
    """
    bracket = _bracket(excess, farthest)
    return None if bracket is None else _refine(excess, *bracket)


def _bracket(
    excess: Callable[[float], float], farthest: float
) -> tuple[float, float, float, float] | None:
    """Two ends, low < high, with excess(low) > 0 ≥ excess(high), and the two values."""
    x, value = 0.0, excess(0.0)
    step = _STRIDE if value > 0 else -_STRIDE
    while abs(x + step) <= farthest:
        following = excess(x + step)
        if value > 0 >= following:
            return x, x + step, value, following
        if following > 0 >= value:
            return x + step, x, following, value
        x, value = x + step, following
    return None


def _refine(
    excess: Callable[[float], float], low: float, high: float, above: float, below: float
) -> float:
    """Regula falsi in the Illinois way; halving wherever three steps did not halve the bracket."""
    widths = [high - low]
    last = 0
    while high - low > _PRECISION:
        slow = len(widths) > 3 and widths[-1] > widths[-4] / 2
        secant = high - below * (high - low) / (below - above)
        middle = (low + high) / 2 if slow else secant
        # Off the ends by less than the precision, so that the far end comes close as well.
        middle = min(max(middle, low + _PRECISION / 2), high - _PRECISION / 2)
        if not low < middle < high:
            break
        value = excess(middle)
        if value > 0:
            low, above = middle, value
            below = below / 2 if last > 0 else below
            last = 1
        else:
            high, below = middle, value
            above = above / 2 if last < 0 else above
            last = -1
        widths.append(high - low)
    return high
