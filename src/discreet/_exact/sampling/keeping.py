"""Decide which unlisted groups to name: each group's coin depends on its number of people.

The chance π(m) for m people is the largest that any (ε, δ) rule can have for adding or removing a person. It
is zero for zero people, and exactly one above some number. In between, it is computed in interval arithmetic
(docs/proofs/groups-from-the-data.md).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.coins import GUARD_BITS, Ball, Uniform
from discreet._exact.sampling.discrete_noise import common_floor


def kept(
    people: NDArray[np.int64], *, keeping: KeepingRule, bits: Bits, word: int = 64
) -> NDArray[np.bool_]:
    """Decide independently for each group whether to keep it, with the rule's chance for its size or weight.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> keeping = Keeping(Fraction(1), Fraction(1, 10**9))
        >>> kept(np.array([0, 500]), keeping=keeping, bits=SecureBits())
        array([False,  True])
    """
    words = bits.words(len(people), width=word).tolist()
    found = np.zeros(len(people), dtype=np.bool_)
    ends: dict[int, tuple[int, int]] = {}
    for place, (number, drawn) in enumerate(zip(people.tolist(), words, strict=True)):
        if number not in ends:
            ends[number] = keeping.ends(number, word)
        low, high = ends[number]
        if drawn < low or drawn >= high:
            found[place] = drawn < low
        else:
            uniform = Uniform(bits, known=drawn, width=word, step=word)
            found[place] = uniform.is_below(lambda number=number: keeping.ball(number))  # type: ignore[misc]  # bound at once
    return found


class KeepingRule(Protocol):
    """A function from a group's size (its number of people or its weight) to its chance of being kept."""

    def ball(self, size: int, /) -> Ball:
        """Return an interval that contains the chance, at the current precision."""

    def ends(self, size: int, width: int, /) -> tuple[int, int]:
        """Return a lower and an upper bound, both integers, on the chance times 2^width."""


class Keeping:
    """The rule with the largest chances π(m) that ε and δ allow, in closed form.

    Up to ``turn``, π grows as fast as ε and δ allow; above it, 1 − π falls as fast as they allow, to zero.
    """

    def __init__(self, epsilon: Fraction, delta: Fraction) -> None:
        self.epsilon = epsilon
        self.delta = delta
        bits = GUARD_BITS
        while True:
            bits *= 2
            with precision(bits + max(0, epsilon.denominator.bit_length())):
                e, d = ball_of(epsilon), ball_of(delta)
                last = (1 + (1 - d) / d * (e / 2).tanh()).log() / e
                found = common_floor(last, last)
            if found is not None:  # ``last`` is never an integer, so enough bits decide
                self.turn = found + 1
                return

    def ball(self, people: int) -> Ball:
        """Return an interval that contains π(people), at the current precision."""
        e, d = ball_of(self.epsilon), ball_of(self.delta)
        rising = min(people, self.turn)
        chance = d * (e * rising).expm1() / e.expm1()
        if people > self.turn:
            steps = e * (self.turn - people)
            chance = 1 - (steps.exp() * (1 - chance) + d * steps.expm1() / e.expm1())
        return chance.min(ball_of(1))

    def ends(self, people: int, width: int) -> tuple[int, int]:
        """Return a lower and an upper bound, both integers, on π(people)·2^width."""
        with precision(width + GUARD_BITS):
            scaled = self.ball(people) * ball_of(1 << width)
            return int(scaled.lower().floor().unique_fmpz()), int(
                scaled.upper().ceil().unique_fmpz()
            )
