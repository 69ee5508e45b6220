"""Search for roots, thresholds and peaks: first find a bracket, then refine it."""

from __future__ import annotations

import math
from collections.abc import Callable

_PRECISION = 1e-12
_STRIDE = 2.0
_HALVINGS = 200
_GOLDEN = (math.sqrt(5) - 1) / 2
_SECTIONS = 80


def bisected(
    enough: Callable[[float], bool],
    low: float,
    high: float,
    *,
    relative: float = 0.0,
    geometric: bool = False,
) -> tuple[float, float]:
    """Narrow a bracket by bisection; return its low end (``enough`` false) and high end (``enough`` true).

    ``enough`` must be false at ``low`` and true at ``high``; it is not called at either. The search ends when
    the bracket is at most ``relative`` times its lower end, or when no float lies between the ends.

    Example:
        >>> low, high = bisected(lambda x: x * x >= 2, 0.0, 2.0)
        >>> low * low < 2 <= high * high, high - low < 1e-15
        (True, True)
    """
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high) if geometric else (low + high) / 2
        if high - low <= relative * low or not low < middle < high:
            break
        low, high = (low, middle) if enough(middle) else (middle, high)
    return low, high


def least_whole(holds: Callable[[int], bool], *, most: int) -> int | None:
    """Return the smallest whole number from 1 to ``most`` for which ``holds`` is true, or None.

    The search doubles a number and then bisects, so ``holds`` must stay true once it is true.

    Example:
        >>> least_whole(lambda n: n * n > 50, most=100), least_whole(lambda n: False, most=100)
        (8, None)
    """
    low, high = 0, 1
    while not holds(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def peak(height: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with a single peak on [low, high] is largest, by golden-section search.

    Example:
        >>> round(peak(lambda x: -((x - 3) ** 2), 0, 10), 6)
        3.0
    """
    if low >= high:
        return low
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = height(left), height(right)
    for _ in range(_SECTIONS):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = height(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = height(left)
    return max((low, (low + high) / 2, high), key=height)


def root_between(
    excess: Callable[[float], float], low: float, high: float, *, precision: float
) -> float | None:
    """Return the smallest x in [low, high] with ``excess(x) <= 0``, to within ``precision``, or None.

    ``excess`` must decrease. It was evaluated at the returned x itself, and is at most 0 there.

    Example:
        >>> round(root_between(lambda x: 2 - x * x, 0.0, 9.0, precision=1e-9), 8)
        1.41421356
    """
    above, below = excess(low), excess(high)
    if above <= 0:
        return low
    return _refine(excess, low, high, above, below, precision=precision) if below <= 0 else None


def least_root(excess: Callable[[float], float], *, farthest: float) -> float | None:
    """Return an x within ±``farthest`` where ``excess`` falls to 0 or below, or None if no such x is found.

    If ``excess`` decreases, x is the smallest number with ``excess(x) <= 0``, to within 10⁻¹². ``excess`` was
    evaluated at the returned x itself, and is at most 0 there.

    Example:
        >>> round(least_root(lambda x: 3 - x, farthest=100), 9)
        3.0
        >>> least_root(lambda x: 1.0, farthest=100) is None
        True
    """
    bracket = _bracket(excess, farthest)
    return None if bracket is None else _refine(excess, *bracket, precision=_PRECISION)


def _bracket(
    excess: Callable[[float], float], farthest: float
) -> tuple[float, float, float, float] | None:
    """Return low < high with excess(low) > 0 ≥ excess(high), and both values of ``excess``; or None."""
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
    excess: Callable[[float], float],
    low: float,
    high: float,
    above: float,
    below: float,
    *,
    precision: float,
) -> float:
    """Narrow a bracket by Illinois regula falsi, or by bisection if that is slow; return its upper end."""
    widths = [high - low]
    last = 0
    while high - low > precision:
        slow = len(widths) > 3 and widths[-1] > widths[-4] / 2
        secant = high - below * (high - low) / (below - above)
        middle = (low + high) / 2 if slow else secant
        # Stay half the precision away from both ends, so that both ends move closer.
        middle = min(max(middle, low + precision / 2), high - precision / 2)
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
