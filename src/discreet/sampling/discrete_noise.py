"""Whole-number noise for counts: exactly geometric and exactly discrete Laplace.

⌊−s·ln u⌋ is at least g with probability e^{−g/s}: a geometric variable, for any rational scale s. The
difference of two is discrete Laplace (docs/proofs/noisy-count-and-gap.md). The floor is decided in ball
arithmetic, with more bits of u where needed.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.numbers.balls import ball_of, precision
from discreet.sampling.bits import Bits
from discreet.sampling.coins import GUARD_BITS, Ball, Uniform

_WORD = 64


def geometric(bits: Bits, scale: Fraction, *, word: int = _WORD) -> int:
    """A whole number G ≥ 0 with Pr[G ≥ g] = e^{−g/scale}.

    Example:
        >>> from discreet.sampling.bits import SecureBits
        >>> geometric(SecureBits(), Fraction(1, 10**6))
        0
    """
    uniform = Uniform(bits, known=bits.integer(word), width=word, step=word)
    while True:
        if uniform.known:
            with precision(uniform.width + GUARD_BITS + max(0, scale.numerator.bit_length())):
                low, high = uniform.ends()
                found = common_floor(-high.log() * ball_of(scale), -low.log() * ball_of(scale))
            if found is not None:
                return found
        uniform.extend()


def discrete_laplace(bits: Bits, scale: Fraction, *, word: int = _WORD) -> int:
    """A whole number Z with Pr[Z = z] proportional to e^{−|z|/scale}.

    Example:
        >>> from discreet.sampling.bits import SecureBits
        >>> discrete_laplace(SecureBits(), Fraction(1, 10**6))
        0
    """
    return geometric(bits, scale, word=word) - geometric(bits, scale, word=word)


def common_floor(low: Ball, high: Ball) -> int | None:
    """The floor that every number between two balls has, if it is one."""
    below, above = low.floor().unique_fmpz(), high.floor().unique_fmpz()
    return int(below) if below is not None and below == above else None
