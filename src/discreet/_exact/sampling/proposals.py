"""Find the winner of a noisy maximum as the first accepted proposal, using bounds on blocks of candidates.

Imagine noise that comes down from infinity and reaches one candidate after another. Each candidate is
proposed at the times of a Poisson process, whose rate is an upper bound on the rate at which the noise
reaches the candidate. One bound holds for a whole block; it follows from the best score in the block. The
probability of accepting a proposal is the ratio of the two rates, and the first accepted candidate is the
winner (docs/proofs/sampling.md, lemma 16).

Few scores are read besides the best of each block. Blocks of m candidates need on average fewer than about 4m
proposals, because the bound for each candidate in a block is at most about twice the best one's chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from fractions import Fraction
from itertools import chain, repeat
from typing import Protocol

import numpy as np

from discreet._exact.gaps import FARTHEST_GAP, Gaps, Indices
from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling.bits import Bits, Words, some_indices
from discreet._exact.sampling.coins import GUARD_BITS, Ball, Coins, Tuning, Uniform, flip
from discreet._exact.sampling.thinning import levels_of

_LN2 = math.log(2)
# Floats are trusted only within these limits on the word, the number and length of waits, and the time
# (lemma 17).
_LEAST_WORD = 32
_MOST_WAITS = 1 << 16
_LONGEST_WAIT = 16.0
_LATEST = 32.0
_SMALLEST = 24
# If more than _FEW_HEAVY blocks are heavy, use narrow blocks for up to _NARROW_UP_TO candidates instead.
_FEW_HEAVY = 2
_NARROW_UP_TO = 1 << 17
_HALVINGS = 4
_PARTS = 1 << _HALVINGS
_HALVES = 0.5 ** np.arange(256)


class Noise(Protocol):
    """Noise that reaches candidates at random times: at time t the rate is c(γ)/odds(γ, t), for a coin c."""

    @property
    def coins(self) -> Coins:
        """The coin c; its chance is at most 2^−level for each candidate that is proposed at a level."""
        ...

    @property
    def ends(self) -> bool:
        """Whether the random times are limited to at most 1; if False, they are unbounded."""
        ...

    def odds(self, gamma: float, time: float) -> float:
        """Return the odds, which are at least one; NaN if floats are not trusted.

        The relative error is below 2⁻⁴⁰, plus δ if the time is off by δ.
        """
        ...

    def ball(self, gamma: Fraction, time: Ball) -> Ball:
        """Return the odds as an interval."""
        ...


class BoundedBlocks:
    """Blocks of candidates; the level of a block's best candidate bounds the coins of all its candidates.

    If a few blocks are much better than the others, they are cut into parts, which are listed before the
    blocks.

    Args:
        gaps: the gaps of all candidates.
        tuning: sets the last level, the number of cells, and which blocks are cut.
        lowered: the amount to subtract from each level; no level goes below zero.
    """

    __slots__ = ("_bound", "_cells", "_halvings", "_levels", "_size", "_starts", "_width", "rate")

    def __init__(self, gaps: Gaps, tuning: Tuning, *, lowered: int = 0) -> None:
        self._width, self._starts, gammas = gaps.blocks()
        self._size = gaps.size
        parts = 0
        if self._width >= tuning.cut_from and not self._width % _PARTS:
            weights = np.exp(-gammas)
            limit = float(np.add.reduce(weights)) / tuning.heavy
            heavy = (weights[: gaps.size // self._width] > limit).nonzero()[0]
            if len(heavy) > _FEW_HEAVY and gaps.size <= _NARROW_UP_TO:
                self._width, self._starts, gammas = gaps.blocks(narrow=True)
            else:
                parts = len(heavy) * _PARTS
        if parts:
            starts = self._starts[heavy]
            gammas[heavy] = FARTHEST_GAP
            gammas = np.concatenate([gaps.parts(starts, self._width, _PARTS), gammas])
            starts = (starts[:, None] + np.arange(0, self._width, self._width // _PARTS)).ravel()
            self._starts = np.concatenate([starts, self._starts])
        levels = levels_of(gammas, tuning.level).astype(np.int64)
        if lowered:
            levels = np.maximum(levels - lowered, 0)
        # A block of level j has 2^(last−j) cells, a part 2^(last−j−h), or one if that is less than one.
        levels[:parts] += _HALVINGS
        most = max(tuning.cells, 4 * len(levels)) / float(np.add.reduce(_HALVES[levels]))
        last = max(min(tuning.level, math.frexp(most)[1] - 1), _HALVINGS if parts else 0)
        np.minimum(levels, last, out=levels)
        counts = 1 << (last - levels)
        self._halvings = None
        if parts:
            counts[parts + heavy] = 0
            levels[:parts] -= _HALVINGS
            self._halvings = np.zeros_like(levels)
            self._halvings[:parts] = _HALVINGS
        self._levels = levels
        self._cells = np.arange(len(levels)).repeat(counts)
        self._bound = len(self._cells) * self._width
        # Proposals beyond the end of a short last block are dropped, so the rate does not include them.
        lacking = self._starts.item(-1) + self._width - gaps.size
        self.rate = math.ldexp(self._bound - lacking * counts.item(-1), -last)

    def proposals(self, bits: Bits, count: int, width: int) -> tuple[Indices, Indices]:
        """Draw up to ``count`` candidates independently, weighted 2^−level; return them and their levels."""
        places = some_indices(bits, self._bound, count=count, width=width)
        cells = places // self._width
        places -= cells * self._width
        stretch = self._cells[cells]
        if self._halvings is not None:
            places >>= self._halvings[stretch]
        places += self._starts[stretch]
        level = self._levels[stretch]
        inside = places < self._size
        if np.count_nonzero(inside) < len(inside):
            return places[inside], level[inside]
        return places, level

    def rounds(self, tuning: Tuning) -> Iterator[int]:
        """Yield the number of proposals for each round, without end."""
        most = math.ceil(self.rate) + tuning.spare
        for count in chain(tuning.proposals, repeat(tuning.proposals[-1])):
            yield min(count, most)


def first_kept(
    gaps: Gaps,
    noise: Noise,
    *,
    bits: Bits,
    tuning: Tuning,
    lowered: int = 0,
    out: Collection[int] = (),
) -> int | None:
    """Return the first candidate reached that is not in ``out``, or None if the time limit passes first."""
    blocks = BoundedBlocks(gaps, tuning, lowered=lowered)
    clock = Clock(blocks.rate, bits, tuning)
    before = 0
    for count in blocks.rounds(tuning):
        candidates, level = blocks.proposals(bits, count, tuning.index_word)
        heads = flip(gaps, candidates, noise.coins, bits=bits, tuning=tuning, boost=level)
        for position in heads.tolist():
            clock.proceed(before + position + 1)
            if noise.ends and clock.is_over():
                return None
            candidate = candidates.item(position)
            if candidate not in out and clock.keeps(gaps, candidate, noise):
                return candidate
        before += len(candidates)
        # Time is rarely over before about this point, and the next proposal with heads checks it anyway.
        if noise.ends and before >= blocks.rate:
            clock.proceed(before)
            if clock.is_over():
                return None
    raise AssertionError("unreachable: the rounds are endless")


class Clock:
    """The times of proposals at some rate: sums of −ln u divided by the rate, for uniform numbers u."""

    __slots__ = (
        "_bits",
        "_longest",
        "_number",
        "_rate",
        "_tuning",
        "_uniforms",
        "_waited",
        "_words",
    )

    def __init__(self, rate: float, bits: Bits, tuning: Tuning) -> None:
        self._rate = rate
        self._bits = bits
        self._tuning = tuning
        self._words: list[Words] = []
        self._uniforms: list[Uniform] = []
        self._number, self._waited, self._longest = 0, 0.0, 0.0

    def proceed(self, number: int) -> None:
        """Advance to the time of the proposal with this number, which must not be in the past."""
        if number == self._number:
            return
        words = self._bits.words(number - self._number, width=self._tuning.word)
        waits = words.astype(np.float64)
        waits += 0.5
        np.log(waits, out=waits)
        np.subtract(self._tuning.word * _LN2, waits, out=waits)
        self._words.append(words)
        self._number = number
        self._waited += float(np.add.reduce(waits))
        self._longest = max(self._longest, float(np.maximum.reduce(waits)))

    def is_over(self) -> bool:
        """Return whether the current time is past 1."""
        time, doubt = self._time()
        if abs(time - 1.0) > doubt:
            return time > 1.0
        return self._settled(lambda: self._exact() - 1)

    def keeps(self, gaps: Gaps, candidate: int, noise: Noise) -> bool:
        """Return whether a proposal made now is accepted; the chance is 1/odds."""
        word = self._tuning.word
        known = self._bits.integer(word)
        time, doubt = self._time()
        odds = noise.odds(gaps.gamma(candidate), time)
        found = (known + 0.5) * 0.5**word * odds
        if abs(found - 1.0) > doubt * odds:
            return found < 1.0
        share = Uniform(self._bits, known=known, width=word, step=word)
        gamma = gaps.exact(candidate)
        return self._settled(lambda: 1 - _enclosed(share) * noise.ball(gamma, self._exact()), share)

    def _time(self) -> tuple[float, float]:
        """Return the time and a bound on its error; NaN if floats are not trusted (lemma 17)."""
        time = self._waited / self._rate
        if self._tuning.word < _LEAST_WORD or self._number > _MOST_WAITS:
            return math.nan, math.inf
        if self._longest > _LONGEST_WAIT or time > _LATEST:
            return math.nan, math.inf
        doubt = self._number / self._rate * (2.0 ** (_SMALLEST - self._tuning.word) + 2.0**-40)
        return time, max(doubt + 2.0**-30, self._tuning.tolerance)

    def _exact(self) -> Ball:
        """Return the time as an interval, from all the bits drawn for it."""
        word = self._tuning.word
        for known in np.concatenate(self._words)[len(self._uniforms) :].tolist():
            self._uniforms.append(Uniform(self._bits, known=known, width=word, step=word))
        product = ball_of(1)
        for uniform in self._uniforms:
            product *= _enclosed(uniform)
        return -product.log() / ball_of(Fraction(self._rate))

    def _settled(self, difference: Callable[[], Ball], *others: Uniform) -> bool:
        """Return whether ``difference`` is at least zero; draw more bits until the sign is certain."""
        width = self._tuning.word
        while True:
            with precision(width + GUARD_BITS):
                found = difference()
                if bool(found >= 0) or bool(found < 0):
                    return bool(found >= 0)
            for uniform in (*self._uniforms, *others):
                uniform.extend()
            width += self._tuning.word


def _enclosed(uniform: Uniform) -> Ball:
    """Return the interval in which a uniform number lies, given the bits that are known."""
    low, high = uniform.ends()
    return low.union(high)
