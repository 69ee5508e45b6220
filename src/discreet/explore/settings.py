"""Create mechanisms by name with the page's settings."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from discreet.mechanisms import MECHANISMS, Mechanism, mechanism_named
from discreet.scores import Scores


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings besides ε that a mechanism's behaviour may depend on.

    Attributes:
        sensitivity: Δ.
        monotonic: whether one person moves all scores in the same direction.
        delta: the δ of each release.
    """

    sensitivity: Fraction
    monotonic: bool
    delta: Fraction

    @property
    def range_distance(self) -> Fraction:
        """The range distance d: how far apart one person can move two scores."""
        return self.sensitivity if self.monotonic else 2 * self.sensitivity

    def scores(self, values: object) -> Scores:
        """Return the values as scores with this sensitivity and this ``monotonic``."""
        return Scores(values, sensitivity=self.sensitivity, monotonic=self.monotonic)


def mechanism_at(name: str, delta: Fraction, **amount: object) -> Mechanism:
    """Return the named mechanism at an ε or a scale, with δ if the mechanism takes one.

    Example:
        >>> mechanism_at("permute-and-flip", Fraction(0), epsilon=1)
        PermuteAndFlip(epsilon=1)
    """
    extra = {"delta": delta} if takes_delta(name) else {}
    return mechanism_named(name, **amount, **extra)


@cache
def takes_delta(name: str) -> bool:
    """Return whether the mechanism has a parameter δ."""
    return "delta" in inspect.signature(MECHANISMS[name]).parameters


@cache
def is_private(name: str) -> bool:
    """Return whether the mechanism has a proof of privacy."""
    return mechanism_named(name, epsilon=1).private
