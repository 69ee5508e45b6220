"""The gaps to the best score, which are a mechanism's only input, as floats and as exact numbers."""

from discreet._exact.gaps.arithmetic import FARTHEST_GAP, Flags, Floats, Values
from discreet._exact.gaps.gaps import Gaps, Indices, require_finite
from discreet._exact.gaps.rows import RowGaps, Scratch, in_blocks

__all__ = [
    "FARTHEST_GAP",
    "Flags",
    "Floats",
    "Gaps",
    "Indices",
    "RowGaps",
    "Scratch",
    "Values",
    "in_blocks",
    "require_finite",
]
