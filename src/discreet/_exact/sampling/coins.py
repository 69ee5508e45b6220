"""Exact coins; the chance of heads is a function of the gap.

A *family* of coins gives each candidate a chance c(γ). It provides the chance as a float with a known
relative error, as an interval, and as a bound for all candidates that are far at a level. The samplers flip
only coins of these families.

Only the first bits of a uniform number u are drawn. If a float comparison falls inside its error band, more
bits of u are drawn, and the chance is enclosed in narrower intervals (flint's ``arb``) until u is certainly
below or above it. This happens with probability one (docs/proofs/sampling.md, lemma 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet._exact.gaps import Flags, Floats, Gaps, Indices
from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling.bits import Bits, Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Word sizes, error tolerance, and the sizes at which a sampler changes its method.

    These numbers do not affect any distribution. Tests shrink them until every path of a sampler can be
    enumerated, or set the tolerance to infinity, so that interval arithmetic makes every decision.

    Attributes:
        word: the number of bits of a uniform number that are drawn first, or after its ``first_bits``.
        coin: like ``word``, for coins that are flipped many at a time; fewer bits suffice for most of them.
        first_bits: the number of bits, at most 8 (lemma 6a), that are drawn first for each coin if candidates
            are few; they decide most coins.
        index_word: the number of bits from which a uniform index is made.
        key: the number of bits of a random key; in each of many draws, the head with the least key is chosen.
        pick: the number of bits for each random choice in ``steady_head``.
        tolerance: the relative half-width of the band in which a float comparison is not trusted, at least
            2⁻⁴² (lemma 6); ``inf`` sends every comparison to interval arithmetic.
        sparse: if fewer marks than this are expected, they are found one at a time.
        spare: how many distances between marks, or how many proposals, are drawn beyond the expected number.
        few: up to this many near candidates are listed and handled directly.
        first_bits_up_to: with up to this many candidates, all coins are decided by their first bits, unless
            only a few are near.
        one_by_one: up to this many coins are flipped one by one, which is then fastest.
        sampled: about how many evenly spaced candidates are checked before any random visits.
        sampled_level: random visits are made only if one of these candidates is not far at this level.
        single_visits: the number of random visits made first, one at a time.
        visits: the number of further visits, made all at once.
        near_enough: further visits are made only if one of the first visits found a gap of at most this.
        flipped_up_to: with up to this many candidates, all coins are flipped by their first bits if visits
            find no head.
        proposals: the largest number of proposals in each round; later rounds repeat the last number.
        cut_from: blocks of at least this many candidates may be cut into parts.
        heavy: a block is cut if its best candidate has more than 1/``heavy`` of the weight of all blocks'
            best candidates together.
        cells: the approximate number of cells of equal chance from which proposals are drawn, or four for
            each block if that is more.
        overdraw: the number of proposals for each missing draw, when many draws are made.
        level: the exponent a; candidates with coins below 2⁻ᵃ are thinned and never listed.
    """

    word: int = 64
    coin: int = 32
    first_bits: int = 8
    index_word: int = 32
    key: int = 46
    pick: int = 128
    tolerance: float = 2.0**-42
    sparse: float = 2.0**-8
    spare: int = 16
    few: int = 1024
    first_bits_up_to: int = 2048
    one_by_one: int = 8
    sampled: int = 128
    sampled_level: int = 5
    single_visits: int = 6
    visits: int = 128
    near_enough: float = 5.5
    flipped_up_to: int = 1 << 14
    proposals: tuple[int, ...] = (512, 2048)
    cut_from: int = 1024
    heavy: float = 32.0
    cells: int = 1 << 12
    overdraw: int = 4
    level: int = 32


STANDARD = Tuning()


Ball: TypeAlias = Any
"""flint's ``arb``: an interval that contains a real number."""

GUARD_BITS = 64
_MOST_DOUBLINGS = 100


def scaled(value: Ball, exponent: int) -> Ball:
    """Return ``value * 2**exponent``."""
    from flint import arb

    return value * arb((1, exponent))


class Uniform:
    """A uniform number in [0, 1); its first ``width`` bits have been drawn and form the integer ``known``."""

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
        """Return whether this number is below the one enclosed by ``target()``; draw more bits if needed."""
        while True:
            with precision(self.width + GUARD_BITS):
                threshold = scaled(target(), self.width)
                if bool(threshold >= self.known + 1):
                    return True
                if bool(threshold <= self.known):
                    return False
            self.extend()

    def ends(self) -> tuple[Ball, Ball]:
        """Return the two ends of the interval that contains this number."""
        return scaled(ball_of(self.known), -self.width), scaled(
            ball_of(self.known + 1), -self.width
        )


_POWERS = 2.0 ** np.arange(128)


class SomeGaps(Protocol):
    """The methods of ``Gaps`` (one row) and ``RowGaps`` (many rows) that coins use."""

    def gather(self, indices: Indices, /) -> Floats:
        """Return γ of some candidates as float64 (lemma 4)."""
        ...

    def exact(self, index: int, /) -> Fraction:
        """Return γ of one candidate, exactly."""
        ...


class Coins(Protocol):
    """A family of coins: its chance c(γ) of heads decreases as the gap γ grows."""

    def chances(self, gammas: Floats) -> tuple[Floats, Floats | float]:
        """Return the chances for gaps from ``Gaps.gather``, and a factor by which to widen the tolerance.

        The relative error of a chance is at most 2⁻⁴³ times its factor, or the true chance and the float are
        both below 2⁻²⁰⁰. The argument may be overwritten and returned as the first array.
        """
        ...

    def ball(self, gamma: Fraction) -> Ball:
        """Return an interval that contains c(γ) for an exact gap, at the current precision."""
        ...

    def exponent(self, level: int) -> int:
        """Return the largest known exponent a ≥ 0 such that exp(−γ) < 2^−level implies c(γ) ≤ 2^−a."""
        ...


class Heads:
    """Coins with the chance c(γ) = min(1, exp(−γ)/2^halvings); halvings may be negative."""

    __slots__ = ("halvings",)

    def __init__(self, halvings: int = 0) -> None:
        self.halvings = halvings

    def chances(self, gammas: Floats) -> tuple[Floats, Floats | float]:
        """Return the chances c(γ), written over the gaps, and the factor for the tolerance."""
        np.negative(gammas, out=gammas)
        np.exp(gammas, out=gammas)
        if self.halvings:
            gammas *= 0.5**self.halvings
            np.minimum(gammas, 1.0, out=gammas)
        return gammas, 1.0 if self.halvings >= -_MOST_DOUBLINGS else math.inf

    def chance(self, gamma: float) -> float:
        """Return exp(−γ)/2^halvings for one gap, as precise as in ``chances`` but not clipped at one."""
        return math.exp(-gamma) * 0.5**self.halvings

    def ball(self, gamma: Fraction) -> Ball:
        """Return an interval that contains c(γ) for an exact gap, at the current precision."""
        chance = scaled(ball_of(-gamma).exp(), -self.halvings)
        return chance.min(ball_of(1)) if self.halvings < 0 else chance

    def exponent(self, level: int) -> int:
        """Return an exponent a ≥ 0 such that exp(−γ) < 2^−level implies c(γ) ≤ 2^−a."""
        return max(0, level + self.halvings)


def flip(
    gaps: SomeGaps,
    candidates: Indices,
    coins: Coins,
    *,
    bits: Bits,
    tuning: Tuning,
    boost: int | Indices = 0,
    first: Words | None = None,
) -> Indices:
    """Return the positions in ``candidates`` where a coin with chance ``2**boost * c(γ)`` is heads.

    The coins are independent. ``first`` has the first bits of each uniform number, if known. By lemma 6, a
    coin decided by floats here has the same result as in exact arithmetic.
    """
    chances, factor = coins.chances(gaps.gather(candidates))
    words, width = bits.words(len(candidates), width=tuning.coin), tuning.coin
    if first is not None:
        words = (first.astype(np.uint64) << np.uint64(width)) | words
        width += tuning.first_bits
    chances *= _POWERS[boost] * 2.0**width
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
        uniform = Uniform(bits, known=int(words[position]), width=width, step=tuning.word)
        gamma = gaps.exact(int(candidates[position]))
        kept[place] = falls_heads(uniform, coins, gamma, boost=power)
    return heads[kept]


def heads_among(
    gaps: Gaps, candidates: list[int], coins: Heads, *, bits: Bits, tuning: Tuning
) -> Iterator[int]:
    """Flip the coins of a few candidates, one at a time on request; yield the candidates with heads."""
    words = bits.words(len(candidates), width=tuning.word).tolist()
    for candidate, word in zip(candidates, words, strict=True):
        if _is_heads(gaps, candidate, coins, (word, tuning.word), bits=bits, tuning=tuning):
            yield candidate


def _is_heads(
    gaps: Gaps, candidate: int, coins: Heads, known: tuple[int, int], *, bits: Bits, tuning: Tuning
) -> bool:
    """Return whether one coin is heads, given its first bits and their number, in plain Python."""
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
    """Draw the first bits of every coin; return the candidates that may still be heads, and the bits.

    The first bits of u bound −ln u from above. A candidate with a larger gap has e^−γ below u, so its coin is
    tails (lemma 6a).
    """
    words = bits.words(gaps.size, width=tuning.first_bits)
    bounds = noise_bounds(tuning.first_bits, tuning.tolerance)
    return gaps.within(bounds, words).nonzero()[0], words


def heads_after_first_bits(
    gaps: Gaps, candidate: int, coins: Heads, first: int, *, bits: Bits, tuning: Tuning
) -> bool:
    """Return whether a coin is heads, given the first bits of its uniform number."""
    word = (first << tuning.word) | bits.integer(tuning.word)
    known = (word, tuning.first_bits + tuning.word)
    return _is_heads(gaps, candidate, coins, known, bits=bits, tuning=tuning)


@lru_cache(maxsize=16)
def noise_bounds(width: int, tolerance: float) -> Floats:
    """Return, for every value of the first bits of u, a number certainly above −ln u."""
    with np.errstate(divide="ignore"):
        bounds: Floats = np.log(np.arange(1 << width) * 0.5**width)
    bounds *= -(1.0 + tolerance)
    bounds.flags.writeable = False  # shared by every release
    return bounds


def falls_heads(uniform: Uniform, coins: Coins, gamma: Fraction, *, boost: int) -> bool:
    """Decide exactly whether ``uniform`` is below ``2**boost * c(gamma)``."""
    return uniform.is_below(lambda: scaled(coins.ball(gamma), boost))


def biased_coins(bits: Bits, chance: Fraction, *, count: int) -> NDArray[np.bool_]:
    """Flip ``count`` independent coins with exactly the rational probability ``chance`` of heads.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> biased_coins(SecureBits(), Fraction(1), count=2)
        array([ True,  True])
    """
    if chance >= 1 or chance <= 0:
        return np.full(count, chance >= 1)
    words = bits.words(count)
    floor = chance.numerator * 2**64 // chance.denominator
    heads: NDArray[np.bool_] = words < np.uint64(floor)
    # Only the one word that contains the threshold leaves the result undecided.
    for place in (words == np.uint64(floor)).nonzero()[0].tolist():
        heads[place] = Uniform(bits, known=floor, width=64).is_below(lambda: ball_of(chance))
    return heads
