"""Differentially private selection: exact, fast, and audited by computation.

Example:
    >>> from discreet import PermuteAndFlip, Scores
    >>> scores = Scores({"flu": 412, "cold": 298, "asthma": 57}, sensitivity=1, monotonic=True)
    >>> PermuteAndFlip(epsilon=1).select(scores)
    'flu'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from discreet._names import loaded

if TYPE_CHECKING:
    from discreet.guarantees import ZCDP, ApproxDP, BoundedRange, PureDP
    from discreet.mechanisms import (
        Exponential,
        ExponentialRandomizedResponse,
        NoisyMax,
        PermuteAndFlip,
    )
    from discreet.questions import AboveThreshold, SparseVector, table
    from discreet.release import Release
    from discreet.scores import Scores
    from discreet.study import Study

__version__ = "0.2.0"

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "ApproxDP",
    "BoundedRange",
    "Exponential",
    "ExponentialRandomizedResponse",
    "NoisyMax",
    "PermuteAndFlip",
    "PureDP",
    "Release",
    "Scores",
    "SparseVector",
    "Study",
    "__version__",
    "table",
]

# The module of each public name. Names are loaded on first use, so that the command line can print its
# help without waiting for NumPy.
_HOMES = {
    "ZCDP": "guarantees",
    "ApproxDP": "guarantees",
    "BoundedRange": "guarantees",
    "PureDP": "guarantees",
    "Exponential": "mechanisms",
    "ExponentialRandomizedResponse": "mechanisms",
    "NoisyMax": "mechanisms",
    "PermuteAndFlip": "mechanisms",
    "Release": "release",
    "Scores": "scores",
    "AboveThreshold": "questions",
    "SparseVector": "questions",
    "Study": "study",
    "table": "questions",
}

_ROOMS = (
    *("accounting", "analysis", "audit", "desk", "guarantees"),
    *("ledger", "mechanisms", "questions", "study", "tuning"),
)
"""Packages that can be used as ``discreet.desk.connect(...)`` after ``import discreet`` alone."""


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"discreet.{name}")
    return loaded(globals(), _HOMES, name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
