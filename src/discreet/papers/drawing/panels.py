"""What a figure is made of, before it is drawn: lines or bars with their axes, and their rows as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis.

    Attributes:
        title: what it shows.
        log: whether it is logarithmic.
        domain: from where to where; None to fit the data.
    """

    title: str
    log: bool = False
    domain: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One curve.

    Attributes:
        label: written at its end; also its name in the table.
        xs, ys: its points; what is not finite, or not positive on a logarithmic axis, is left out.
        look: which dash, shade and marker (see ``drawing.LOOKS``).
        low, high: ends of error bars.
        at: the x at which to put the label, instead of the end.
        shift: pixels to the right and down from there.
        markers: how many markers along the line.
        quiet: named in the table only, not on the figure.
    """

    label: str
    xs: Floats
    ys: Floats
    look: str
    low: Floats | None = None
    high: Floats | None = None
    at: float | None = None
    shift: tuple[float, float] = (4.0, -10.0)
    markers: int = 6
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """A panel of curves.

    Attributes:
        title: written above it.
        x, y: the axes.
        lines: the curves.
        rules: vertical rules: position and label.
        note: small words inside, such as *synthetic*.
        width, height: of the panel in pixels; None for the figure's usual size.
    """

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    rules: Sequence[tuple[float, str]] = ()
    note: str = ""
    width: int | None = None
    height: int | None = None

    def table(self) -> Iterator[dict[str, Any]]:
        """One row per point."""
        for line in self.lines:
            for place, (x, y) in enumerate(zip(line.xs.tolist(), line.ys.tolist(), strict=True)):
                row: dict[str, Any] = {"panel": self.title, "series": line.label}
                row |= {"x_axis": self.x.title, "x": x, "y_axis": self.y.title, "y": y}
                if line.low is not None and line.high is not None:
                    row |= {"low": float(line.low[place]), "high": float(line.high[place])}
                yield row


@dataclass(frozen=True, slots=True)
class Bars:
    """A panel of grouped bars.

    Attributes:
        title: written above it.
        y: the axis of the values.
        groups: the names along the x axis.
        series: for each name of a bar, its value in each group.
        looks: the shade of each series (see ``drawing.LOOKS``).
        note: small words inside.
        width, height: of the panel in pixels; None for the figure's usual size.
    """

    title: str
    y: Axis
    groups: Sequence[str]
    series: Mapping[str, Sequence[float]]
    looks: Sequence[str]
    note: str = ""
    width: int | None = None
    height: int | None = None

    def table(self) -> Iterator[dict[str, Any]]:
        """One row per bar."""
        for label, values in self.series.items():
            for group, value in zip(self.groups, values, strict=True):
                row: dict[str, Any] = {"panel": self.title, "series": label}
                yield row | {"x_axis": "data set", "x": group, "y_axis": self.y.title, "y": value}
