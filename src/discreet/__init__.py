"""Differentially private selection: exact, fast, and audited by computation.

Example:
    >>> from discreet import PermuteAndFlip, Scores
    >>> scores = Scores({"flu": 412, "cold": 298, "asthma": 57}, sensitivity=1, monotonic=True)
    >>> PermuteAndFlip(epsilon=1).select(scores)
    'flu'
"""

from discreet.guarantees import ZCDP, ApproxDP, BoundedRange, PureDP
from discreet.mechanisms import (
    Exponential,
    ExponentialRandomizedResponse,
    NoisyMax,
    PermuteAndFlip,
)
from discreet.release import Release
from discreet.scores import Scores

__version__ = "0.1.0"

__all__ = [
    "ZCDP",
    "ApproxDP",
    "BoundedRange",
    "Exponential",
    "ExponentialRandomizedResponse",
    "NoisyMax",
    "PermuteAndFlip",
    "PureDP",
    "Release",
    "Scores",
    "__version__",
]
