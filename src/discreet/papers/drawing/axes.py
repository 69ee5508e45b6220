"""Scales, ticks and labels of a panel, and the way from a value to a place and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.papers.figure import Axis, Floats

_POWERS = (
    "datum.value >= 1e5 || datum.value < 1e-3 ? replace(replace(format(datum.value, '~e'), '+', ''), "
    "'-', '−') : format(datum.value, '~g')"
)


def extent(axis: Axis, values: Sequence[Floats]) -> tuple[float, float]:
    """From where to where the axis must run to show all values, with a little room."""
    filled = [part[part > 0] if axis.log else part for part in values]
    filled = [part for part in filled if part.size]
    low = min(float(part.min()) for part in filled)
    high = max(float(part.max()) for part in filled)
    if axis.log:
        return low / 1.05, high * 1.05
    spread_out = (high - low) or abs(high) or 1.0
    return (0.0 if 0 <= low < 0.3 * high else low - 0.03 * spread_out), high + 0.03 * spread_out


def share(axis: Axis, domain: tuple[float, float], value: float) -> float:
    """How far along the axis a value lies, from 0 to 1."""
    if axis.log:
        return math.log(value / domain[0]) / math.log(domain[1] / domain[0])
    return (value - domain[0]) / (domain[1] - domain[0])


def value_at(axis: Axis, domain: tuple[float, float], share: float) -> float:
    """The value that lies so far along the axis."""
    if axis.log:
        return float(domain[0] * (domain[1] / domain[0]) ** share)
    return domain[0] + (domain[1] - domain[0]) * share


def scale(alt: Any, axis: Axis, domain: tuple[float, float]) -> Any:
    """The scale in Altair's words."""
    kind = "log" if axis.log else "linear"
    return alt.Scale(type=kind, domain=list(domain), nice=False, zero=False)


def axis_of(
    alt: Any, axis: Axis, domain: tuple[float, float], pixels: int, *, room: int = 40
) -> Any:
    """The axis with as many ticks as fit, one every ``room`` pixels."""
    if not axis.log:
        return alt.Axis(tickCount=max(3, pixels // room), labelOverlap="greedy", labelSeparation=8)
    return alt.Axis(values=log_ticks(*domain, most=max(3, pixels // room)), labelExpr=_POWERS)


def log_ticks(low: float, high: float, *, most: int) -> list[float]:
    """Round numbers for a logarithmic axis: all over a short way, then 1, 2, 5, then powers of ten.

    Example:
        >>> log_ticks(1.0, 60.0, most=6)
        [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
        >>> log_ticks(1e-9, 1e3, most=4)
        [1e-09, 1e-05, 0.1, 1000.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in (range(1, 10), (1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) <= most:
            return ticks
    powers = range(first, last + 1)
    for stride in range(2, len(powers) + 2):
        found = [
            [
                10.0**power
                for power in powers
                if power % stride == offset and low <= 10.0**power <= high
            ]
            for offset in range(stride)
        ]
        longest = max(found, key=len)
        if len(longest) <= most:
            return longest
    return []


_LINE_HEIGHT = 13.0
_LETTER_WIDTH = 6.4


@dataclass(frozen=True, slots=True)
class Label:
    """Words, their shade, and where they begin, in pixels from the top left of the panel."""

    text: str
    shade: str
    x: float
    y: float

    @property
    def right(self) -> float:
        """About where the words end."""
        return self.x + _LETTER_WIDTH * len(self.text)


def spread(labels: Sequence[Label], height: float) -> list[Label]:
    """The labels from top to bottom, at least a line apart where they share a column.

    Example:
        >>> near = [Label("PF", "#000", 10, 50), Label("EM", "#000", 10, 52)]
        >>> [label.y for label in spread(near, 100)]
        [44.5, 57.5]
    """
    placed = sorted(labels, key=lambda label: label.y)
    for _ in range(200):
        moved = False
        for first in range(len(placed)):
            for second in range(first + 1, len(placed)):
                upper, lower = placed[first], placed[second]
                short = _LINE_HEIGHT - (lower.y - upper.y)
                if short > 1e-6 and upper.x < lower.right and lower.x < upper.right:
                    placed[first] = replace(upper, y=upper.y - short / 2)
                    placed[second] = replace(lower, y=lower.y + short / 2)
                    moved = True
        placed = [replace(label, y=min(max(label.y, 4.0), height - 2.0)) for label in placed]
        if not moved:
            break
    return placed
