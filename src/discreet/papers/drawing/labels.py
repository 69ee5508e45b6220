"""Labels beside the curves they name, moved apart where they would cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
