"""The mechanisms as in a textbook: slow, short and exact, for reading and for comparison.

Every sampler takes rational gaps γ = (best − score)/scale, in the unit of the noise, and random bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb, ctx

from discreet._exact.sampling.bits import Bits, uniform_below
from discreet._exact.sampling.coins import Uniform

Sampler = Callable[[Sequence[Fraction], Bits], int]


def coin(chance: Fraction, bits: Bits) -> bool:
    """Return heads with a rational probability."""
    return uniform_below(bits, chance.denominator) < chance.numerator


def falls_heads(gamma: Fraction, bits: Bits) -> bool:
    """Return heads with probability e^−γ.

    γ is split into parts of at most one. For each part, also called γ, flip coins γ, γ/2, γ/3, ...: the
    number of flips up to the first tails is odd with probability e^−γ.
    """
    while gamma > 1:
        if not falls_heads(Fraction(1), bits):
            return False
        gamma -= 1
    count = 1
    while coin(gamma / count, bits):
        count += 1
    return count % 2 == 1


def permute_and_flip(gammas: Sequence[Fraction], bits: Bits) -> int:
    """Visit the candidates in random order; choose the first whose coin e^−γ comes up heads."""
    left = list(range(len(gammas)))
    while True:
        place = left.pop(uniform_below(bits, len(left)))
        if falls_heads(gammas[place], bits):
            return place


def uniform_head(gammas: Sequence[Fraction], bits: Bits, *, width: int = 16, step: int = 16) -> int:
    """Flip a coin e^−γ for every candidate, by comparing a uniform number, and choose one of the heads.

    Coq proves the law of this program: ``whole_sampler`` in ``proofs/WholeNumbers.v``.
    """

    def chance(gamma: Fraction) -> Any:
        return (arb(-gamma.numerator) / gamma.denominator).exp()

    numbers = (
        (place, gamma, Uniform(bits, known=bits.integer(width), width=width, step=step))
        for place, gamma in enumerate(gammas)
    )
    heads = [place for place, gamma, u in numbers if u.is_below(partial(chance, gamma))]
    return heads[uniform_below(bits, len(heads))]


def exponential(gammas: Sequence[Fraction], bits: Bits) -> int:
    """Propose a candidate at random, and keep it with probability e^−γ; otherwise start again."""
    while True:
        place = uniform_below(bits, len(gammas))
        if falls_heads(gammas[place], bits):
            return place


class _Noise:
    """A Laplace or Gumbel variate of unit scale, computed to any precision."""

    def __init__(self, kind: str, bits: Bits) -> None:
        self._kind, self._bits = kind, bits
        self._sign = 1 if kind == "gumbel" or uniform_below(bits, 2) else -1
        self._known, self._width = 0, 0

    def ball(self, width: int) -> Any:
        """Return a ball that contains it, from the first ``width`` bits of a uniform number."""
        if width > self._width:
            more = width - self._width
            self._known = (self._known << more) | self._bits.integer(more)
            self._width = width
        unit = arb(1) / arb(2) ** width
        uniform = arb(self._known) * unit + arb(0.5, 0.5) * unit
        if self._known == 0:
            return None  # its logarithm is not bounded yet
        exponential = -uniform.log()
        return -exponential.log() if self._kind == "gumbel" else self._sign * exponential


def noisy_max(kind: str) -> Sampler:
    """Add noise to every score and choose the largest; draw bits until it is certain which one is largest."""

    def sample(gammas: Sequence[Fraction], bits: Bits) -> int:
        noises = [_Noise(kind, bits) for _ in gammas]
        width = 64
        before, ctx.prec = ctx.prec, 400
        try:
            while True:
                balls = [noise.ball(width) for noise in noises]
                if all(ball is not None and ball.is_finite() for ball in balls):
                    totals = [
                        ball - arb(gamma.numerator) / gamma.denominator
                        for ball, gamma in zip(balls, gammas, strict=True)
                    ]
                    for place, total in enumerate(totals):
                        if all(
                            other == place or totals[other] < total for other in range(len(totals))
                        ):
                            return place
                width += 64
        finally:
            ctx.prec = before

    return sample
