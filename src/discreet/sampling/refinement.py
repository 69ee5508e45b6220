"""Comparisons that floats could not decide: more random bits and ball arithmetic.

A uniform number u is known by its first bits only. When a float comparison falls inside its error
band, u is extended and the other side is enclosed in a ball (flint's ``arb``) until the two
separate, which happens with probability one (lemma 3 of the proof page).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.sampling.bits import Bits

Ball: TypeAlias = Any
"""flint's ``arb``: a real number known to lie in an interval."""

GUARD_BITS = 64


class _Precision:
    """The lock under which flint's precision, one for the whole process, is set.

    A change by code that does not take it could never make a comparison wrong (a ball is an enclosure
    at any precision), only slower.
    """

    lock = threading.RLock()

    @classmethod
    def renew(cls) -> None:
        """In a forked child the old lock may be held by a thread that does not exist there."""
        cls.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Precision.renew)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Run ball arithmetic at this many bits, alone."""
    from flint import ctx

    with _Precision.lock, ctx.workprec(bits):
        yield


def ball(value: Fraction | int) -> Ball:
    """The ball around an exact rational, at the current precision."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


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
        return scaled(ball(self.known), -self.width), scaled(ball(self.known + 1), -self.width)
