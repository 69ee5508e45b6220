"""Comparisons that floats could not decide: more random bits and ball arithmetic.

A uniform number u is known by its first bits only. When a float comparison falls inside its error
band, u is extended and the other side is enclosed in a ball (flint's ``arb``) until the two
separate, which happens with probability one (lemma 3 of the proof page).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from discreet.numbers.balls import ball_of, precision
from discreet.sampling.bits import Bits

Ball: TypeAlias = Any
"""flint's ``arb``: a real number known to lie in an interval."""

GUARD_BITS = 64


def scaled(value: Ball, exponent: int) -> Ball:
    """``value * 2**exponent``."""
    from flint import arb

    return value * arb((1, exponent))


class Uniform:
    """A uniform number in [0, 1) known to ``width`` bits: from ``known / 2**width`` upward."""

    __slots__ = ("_bits", "_step", "known", "width")

    def __init__(self, bits: Bits, *, known: int = 0, width: int = 0, step: int = 64) -> None:
        self._bits = bits
        self._step = step
        self.known = known
        self.width = width

    def extend(self) -> None:
        """Draw ``step`` more bits."""
        self.known = (self.known << self._step) | self._bits.integer(self._step)
        self.width += self._step

    def is_below(self, target: Callable[[], Ball]) -> bool:
        """Whether this number is below the one that ``target`` encloses at any precision."""
        while True:
            with precision(self.width + GUARD_BITS):
                threshold = scaled(target(), self.width)
                if bool(threshold >= self.known + 1):
                    return True
                if bool(threshold <= self.known):
                    return False
            self.extend()

    def ends(self) -> tuple[Ball, Ball]:
        """Balls around the two ends of the interval in which this number is known to lie."""
        return scaled(ball_of(self.known), -self.width), scaled(
            ball_of(self.known + 1), -self.width
        )
