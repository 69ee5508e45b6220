"""Exact draws of a number of runs: truncated negative binomial, logarithmic, geometric or Poisson.

Each draw uses one uniform number u, and returns the least k whose cumulative mass exceeds u. Every comparison
is decided in interval arithmetic, with as many bits of u as needed (lemma 3 of docs/proofs/sampling.md). The
work grows with the number drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count

from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.coins import GUARD_BITS, Ball, Uniform

_WORD = 64


def truncated_negative_binomial(
    bits: Bits, shape: Fraction, halting: Fraction, *, word: int = _WORD
) -> int:
    """Draw a whole number K ≥ 1 with Pr[K = k] proportional to (1 − γ)^k Π_{l<k} (l + η)/(l + 1).

    ``shape`` is η > −1, and ``halting`` is γ in (0, 1]. η = 1 gives the geometric distribution, and the limit
    at η = 0 the logarithmic one.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> truncated_negative_binomial(SecureBits(), Fraction(1), Fraction(1)) == 1
        True
    """

    def masses() -> Iterator[Ball]:
        stay, eta = ball_of(1 - halting), ball_of(shape)
        lost = -ball_of(halting).log()
        mass = stay / lost if shape == 0 else eta * stay / (eta * lost).expm1()
        for k in count(1):
            yield mass
            mass *= stay * (eta + k) / (k + 1)

    return 1 if halting == 1 else 1 + _inverted(bits, masses, word=word)


def poisson(bits: Bits, mean: Fraction, *, word: int = _WORD) -> int:
    """Draw a whole number K ≥ 0 with Pr[K = k] = e^−μ μ^k/k!.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> poisson(SecureBits(), Fraction(1, 10**30))
        0
    """

    def masses() -> Iterator[Ball]:
        rate = ball_of(mean)
        mass = (-rate).exp()
        for k in count(1):
            yield mass
            mass *= rate / k

    return _inverted(bits, masses, word=word)


def _inverted(bits: Bits, masses: Callable[[], Iterator[Ball]], *, word: int) -> int:
    """Return the index at which the running sum of the masses first exceeds one uniform number."""
    uniform = Uniform(bits, step=word)
    while True:
        uniform.extend()
        with precision(uniform.width + GUARD_BITS):
            low, high = uniform.ends()
            below = 0 * low
            for place, mass in enumerate(masses()):
                below += mass
                if bool(below >= high):
                    return place
                if not bool(below <= low):
                    # The sum and u cannot be separated yet, so take more bits of both.
                    break
