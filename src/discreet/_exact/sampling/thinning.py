"""Find all heads among the candidates of one release, without flipping every coin.

The coin of a candidate beyond a level has a chance c of at most 2^−a. It is replaced by two independent
coins that must both be heads. The first has chance 2^−a, needs no score, and is drawn for all candidates at
once by `marks`. The second has chance 2^a·c and is flipped only for the few marked candidates
(docs/proofs/sampling.md, lemma 8).

To prepare for many draws, `Levels` groups all candidates by how large their chances can be. A candidate at
level j has exp(−γ) ≤ 2^−j, with certainty (lemma 9). Many independent draws then cost a few coins each:
`marks` decides which candidates might be heads in which draw, for all draws and a whole level at once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet._exact.gaps import Floats, Gaps, Indices
from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.coins import GUARD_BITS, Coins, Tuning, Uniform, flip, scaled

_LN2 = math.log(2)
_NOBODY = np.empty(0, dtype=np.int64)


def far_heads(gaps: Gaps, coins: Coins, *, level: int, bits: Bits, tuning: Tuning) -> Indices:
    """Return the heads among the candidates that are far at ``level``."""
    exponent = coins.exponent(level)
    marked = marks(bits, gaps.size, exponent, tuning=tuning)
    if len(marked):
        marked = marked[gaps.is_far(marked, level)]
    if not len(marked):
        return marked
    return marked[flip(gaps, marked, coins, bits=bits, tuning=tuning, boost=exponent)]


LARGEST_RANGE = 1 << 46
_DRAWS_AT_ONCE = 1 << 15
_MOST_EXACT_BITS = 1 << 12
_SMALLEST = 24


def marks(bits: Bits, places: int, exponent: int, *, tuning: Tuning) -> Indices:
    """Mark each of ``range(places)`` with chance ``2**-exponent``; return the marked positions, ascending.

    The distance from one mark to the next is geometric: ⌊log u / log(1 − 2^−a)⌋ for a uniform u. Floats
    decide the floor unless the value is too close to an integer (lemma 7).
    """
    if exponent <= 0:
        return np.arange(places)
    assert places <= LARGEST_RANGE
    found: list[Indices] = []
    last = -1
    while last < places - 1:
        left = places - 1 - last
        expected = math.ldexp(left, -exponent)
        if expected < tuning.sparse:
            step = _sparse_skip(bits, left, exponent, tuning.word)
            last += step + 1
            if step < left:
                found.append(np.array([last], dtype=np.int64))
        else:
            count = min(int(expected * 1.05) + tuning.spare, _DRAWS_AT_ONCE)
            ends = np.cumsum(_skips(bits, count, exponent, left, tuning) + 1) + last
            last = int(ends[-1])
            found.append(ends if last < places else ends[: int(np.searchsorted(ends, places))])
    if not found:
        return _NOBODY
    return found[0] if len(found) == 1 else np.concatenate(found)


def _sparse_skip(bits: Bits, limit: int, exponent: int, word: int) -> int:
    """Return one geometric distance, clipped to ``limit``; fast if it is clipped, as it almost always is."""
    known = bits.integer(word)
    # (1 − 2^−a)^limit ≥ 1 − limit·2^−a, so if u is below the latter, integers decide.
    common = max(word, exponent)
    if ((known + 1) << (common - word)) + (limit << (common - exponent)) <= 1 << common:
        return limit
    return exact_skip(Uniform(bits, known=known, width=word, step=word), exponent, limit=limit)


def _skips(bits: Bits, count: int, exponent: int, limit: int, tuning: Tuning) -> Indices:
    """Return independent geometric distances; distances above ``limit`` are clipped to it."""
    word = tuning.word
    words = bits.words(count, width=word)
    distance = words.astype(np.float64)
    distance += 0.5
    np.log(distance, out=distance)
    distance -= word * _LN2
    mean = math.ldexp(1.0, exponent)
    distance /= math.log1p(-1.0 / mean)
    np.minimum(distance, limit + 0.5, out=distance)
    floor = np.floor(distance)
    steps: Indices = floor.astype(np.int64)
    # This covers the float's error and the effect of the unknown lower bits of u. The smallest words, for
    # which that effect is large, are not trusted at all.
    farthest = min(limit, word * mean)
    doubt = (farthest + mean) * tuning.tolerance + math.ldexp(mean, _SMALLEST - word + 1)
    distance -= floor
    distance -= 0.5
    np.abs(distance, out=distance)
    unclear = distance >= 0.5 - doubt
    unclear |= words < max(1, 1 << max(word - _SMALLEST, 0))
    for place in unclear.nonzero()[0].tolist():
        uniform = Uniform(bits, known=int(words[place]), width=word, step=word)
        steps[place] = exact_skip(uniform, exponent, limit=limit)
    return steps


def exact_skip(uniform: Uniform, exponent: int, *, limit: int) -> int:
    """Return the k with (1 − 2^−a)^(k+1) ≤ u < (1 − 2^−a)^k, or ``limit`` if that k is larger."""
    while True:
        guess = _guess(uniform, exponent, limit)
        # With exponent·k bits a small power is exact, so the comparison with u ends as early as possible.
        exact_bits = min(exponent * (guess + 2), _MOST_EXACT_BITS)
        with precision(max(uniform.width + exponent, exact_bits) + GUARD_BITS):
            rest = 1 - scaled(ball_of(1), -exponent)
            low, high = uniform.ends()
            if bool(high <= rest**limit):
                return limit
            for step in range(max(guess - 1, 0), min(guess + 2, limit)):
                if bool(high <= rest**step) and bool(low >= rest ** (step + 1)):
                    return step
        uniform.extend()


def _guess(uniform: Uniform, exponent: int, limit: int) -> int:
    """Return roughly log u / log(1 − 2^−a), at most ``limit``."""
    middle, whole = 2 * uniform.known + 1, 2 << uniform.width
    # The exact search looks only at the guess and its neighbours, so no two terms here may cancel.
    if 2 * middle > whole:
        log_uniform = math.log1p(-((whole - middle) / whole))
    else:
        digits = middle.bit_length()
        halvings = digits - uniform.width - 1
        log_uniform = math.log(middle / (1 << digits)) + halvings * _LN2
    return int(min(max(log_uniform / math.log1p(-math.ldexp(1.0, -exponent)), 0.0), limit))


DRAWS_AT_ONCE = 1 << 16
_STRETCH = 1 << 16
_LEVELS_PER_GAMMA = (1.0 - 2.0**-40) / math.log(2)


def levels_of(gammas: Floats, last: int) -> NDArray[np.uint8]:
    """Return for each γ a level ≤ ``last`` with exp(−γ) ≤ 2^−level (lemma 9); overwrites ``gammas``."""
    gammas *= _LEVELS_PER_GAMMA
    np.minimum(gammas, last, out=gammas)
    return gammas.astype(np.uint8)


class Levels:
    """Candidates grouped by level; the last level also contains all candidates beyond it."""

    __slots__ = ("gaps", "last", "order", "sizes", "starts")

    def __init__(self, gaps: Gaps, *, last: int) -> None:
        self.gaps = gaps
        self.last = last
        levels = np.empty(gaps.size, dtype=np.uint8)
        for start in range(0, gaps.size, _STRETCH):
            stop = min(start + _STRETCH, gaps.size)
            levels[start:stop] = levels_of(gaps.stretch(start, stop), last)
        self.order: Indices = np.argsort(levels, kind="stable")
        self.sizes: Indices = np.bincount(levels, minlength=last + 1)
        self.starts: Indices = np.cumsum(self.sizes) - self.sizes

    @classmethod
    def prepared(cls, gaps: Gaps, tuning: Tuning) -> Levels:
        """Return levels up to ``tuning.level``, or fewer, so that weights of size·2^last fit in 63 bits."""
        return cls(gaps, last=min(tuning.level, 62 - gaps.size.bit_length()))

    @property
    def mass(self) -> float:
        """The sum of 2^−level over all candidates; it lies between Σ exp(−γ) and a little over twice that."""
        return float((self.sizes * 0.5 ** np.arange(len(self.sizes))).sum())

    def arrivals(
        self, coins: Coins, draws: int, *, bits: Bits, tuning: Tuning
    ) -> tuple[Indices, Indices]:
        """Return all heads in ``draws`` independent draws: the draw and the candidate of each head."""
        draw_parts: list[Indices] = []
        candidate_parts: list[Indices] = []
        boost_parts: list[Indices] = []
        for level in self.sizes.nonzero()[0].tolist():
            size = int(self.sizes[level])
            exponent = coins.exponent(level)
            places = marks(bits, draws * size, exponent, tuning=tuning)
            if len(places):
                draw = places // size
                draw_parts.append(draw)
                candidate_parts.append(self.order[self.starts[level] + places - draw * size])
                boost_parts.append(np.full(len(places), exponent))
        if not draw_parts:
            none = np.empty(0, dtype=np.int64)
            return none, none
        draw = np.concatenate(draw_parts)
        candidates = np.concatenate(candidate_parts)
        boost = np.concatenate(boost_parts)
        heads = flip(self.gaps, candidates, coins, bits=bits, tuning=tuning, boost=boost)
        return draw[heads], candidates[heads]
