"""How much to check or draw, and from which data: one answer for claims and figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Scope:
    """``quick`` takes small ranges and few points; ``data`` is a folder of DPBench histograms, or None.

    Example:
        >>> Scope(quick=True).size(full=7, quick=4)
        4
    """

    quick: bool = False
    data: Path | None = None

    def size(self, *, full: int, quick: int) -> int:
        """The bound of a range, or a number of points."""
        return quick if self.quick else full
