"""Exact coins whose chance is a function of the gap: floats with a proven band, balls inside it.

A *family* of coins gives each candidate a chance c(γ). It offers the chance as a float with a known
relative error, as a ball, and a bound on it for all candidates beyond a level. Everything that the
samplers flip is one of these families.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from discreet.gaps import Flags, Floats, Gaps, Indices
from discreet.numbers.balls import ball_of
from discreet.sampling.bits import Bits, Words
from discreet.sampling.refinement import Ball, Uniform, scaled
from discreet.sampling.tuning import Tuning

_POWERS = 2.0 ** np.arange(128)


class SomeGaps(Protocol):
    """What a coin needs of the gaps, those of one row or of many."""

    def gather(self, indices: Indices, /) -> Floats:
        """γ of some candidates as float64 (lemma 4)."""
        ...

    def exact(self, index: int, /) -> Fraction:
        """γ of one candidate, exactly."""
        ...


class Coins(Protocol):
    """A chance c(γ) for every gap γ, decreasing in γ."""

    def chances(self, gammas: Floats) -> tuple[Floats, Floats | float]:
        """Chances for gaps computed by ``Gaps.gather``, and a factor for the tolerance.

        The relative error of a chance is at most 2⁻⁴³ times its factor, or the true chance and the
        float are both below 2⁻²⁰⁰. The first array may be the argument, overwritten.
        """
        ...

    def ball(self, gamma: Fraction) -> Ball:
        """The chance for an exact gap, at the precision in force."""
        ...

    def exponent(self, level: int) -> int:
        """The largest known a ≥ 0 such that exp(−γ) < 2^−level implies c(γ) ≤ 2^−a."""
        ...

    @property
    def spread(self) -> int:
        """Levels to add so that ``exponent(a + spread) >= a``."""
        ...


class Heads:
    """The coin exp(−γ)/2^halvings, which is all that one release of permute-and-flip needs."""

    __slots__ = ("halvings",)

    def __init__(self, halvings: int = 0) -> None:
        self.halvings = halvings

    @property
    def spread(self) -> int:
        """None: the chance itself is below 2^−level."""
        return 0

    def chances(self, gammas: Floats) -> tuple[Floats, Floats | float]:
        """exp(−γ)/2^halvings."""
        np.negative(gammas, out=gammas)
        np.exp(gammas, out=gammas)
        if self.halvings:
            gammas *= 0.5**self.halvings
        return gammas, 1.0

    def chance(self, gamma: float) -> float:
        """exp(−γ)/2^halvings for one gap, as good as ``chances``."""
        return math.exp(-gamma) * 0.5**self.halvings

    def ball(self, gamma: Fraction) -> Ball:
        """exp(−γ)/2^halvings."""
        return scaled(ball_of(-gamma).exp(), -self.halvings)

    def exponent(self, level: int) -> int:
        """Each halving counts for one."""
        return level + self.halvings


def flip(
    gaps: SomeGaps,
    candidates: Indices,
    coins: Coins,
    *,
    bits: Bits,
    tuning: Tuning,
    boost: int | Indices = 0,
) -> Indices:
    """The positions in ``candidates`` at which a coin of chance ``2**boost * c(γ)`` falls heads.

    The coins of different positions are independent. Lemma 6 shows that a coin decided here by
    floats is decided as the real numbers decide it.
    """
    chances, factor = coins.chances(gaps.gather(candidates))
    chances *= _POWERS[boost] * 2.0**tuning.coin
    words = bits.words(len(candidates), width=tuning.coin)
    drawn = words.astype(np.float64)
    doubt = tuning.tolerance * factor
    ceiling = chances * (1.0 + doubt)
    ceiling += 2.0
    heads: Indices = (drawn <= ceiling).nonzero()[0]
    if not len(heads):
        return heads
    floor = chances[heads] * (1.0 - (doubt if isinstance(doubt, float) else doubt[heads]))
    floor -= 2.0
    kept: Flags = drawn[heads] < floor
    if np.count_nonzero(kept) == len(kept):
        return heads
    for place in (~kept).nonzero()[0].tolist():
        position = int(heads[place])
        power = boost if isinstance(boost, int) else int(boost[position])
        uniform = Uniform(bits, known=int(words[position]), width=tuning.coin, step=tuning.word)
        gamma = gaps.exact(int(candidates[position]))
        kept[place] = falls_heads(uniform, coins, gamma, boost=power)
    return heads[kept]


def heads_among(
    gaps: Gaps, candidates: list[int], coins: Heads, *, bits: Bits, tuning: Tuning
) -> Iterator[int]:
    """Those of a few candidates whose coins fall heads, flipped one by one as they are asked for."""
    words = bits.words(len(candidates), width=tuning.word).tolist()
    for candidate, word in zip(candidates, words, strict=True):
        if _is_heads(gaps, candidate, coins, (word, tuning.word), bits=bits, tuning=tuning):
            yield candidate


def _is_heads(
    gaps: Gaps, candidate: int, coins: Heads, known: tuple[int, int], *, bits: Bits, tuning: Tuning
) -> bool:
    """Whether one coin falls heads, given a word and its width: ``flip`` in plain Python."""
    word, width = known
    doubt = tuning.tolerance
    chance = coins.chance(gaps.gamma(candidate)) * 2.0**width
    if word > chance * (1.0 + doubt) + 2.0:
        return False
    if word < chance * (1.0 - doubt) - 2.0:
        return True
    uniform = Uniform(bits, known=word, width=width, step=tuning.word)
    return falls_heads(uniform, coins, gaps.exact(candidate), boost=0)


def not_tails_yet(gaps: Gaps, *, bits: Bits, tuning: Tuning) -> tuple[Indices, Words]:
    """The first bits of everybody's uniform number, and the candidates for whom they do not mean tails.

    The first bits of u bound −ln u from above; whoever's gap is larger has e^−γ below u (lemma 6a).
    """
    words = bits.words(gaps.size, width=tuning.first_bits)
    bounds = noise_bounds(tuning.first_bits, tuning.tolerance)
    return gaps.within(bounds, words).nonzero()[0], words


def heads_after_first_bits(
    gaps: Gaps, candidate: int, coins: Heads, first: int, *, bits: Bits, tuning: Tuning
) -> bool:
    """Whether a coin falls heads, of whose uniform number the first bits are known."""
    word = (first << tuning.word) | bits.integer(tuning.word)
    known = (word, tuning.first_bits + tuning.word)
    return _is_heads(gaps, candidate, coins, known, bits=bits, tuning=tuning)


@lru_cache(maxsize=16)
def noise_bounds(width: int, tolerance: float) -> Floats:
    """For every value of the first bits of u, a number that −ln u is certainly below."""
    with np.errstate(divide="ignore"):
        bounds: Floats = np.log(np.arange(1 << width) * 0.5**width)
    bounds *= -(1.0 + tolerance)
    bounds.flags.writeable = False  # every release shares it
    return bounds


def falls_heads(uniform: Uniform, coins: Coins, gamma: Fraction, *, boost: int) -> bool:
    """Whether ``uniform`` is below ``2**boost * c(gamma)``, exactly."""
    return uniform.is_below(lambda: scaled(coins.ball(gamma), boost))
