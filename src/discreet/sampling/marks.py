"""Which of N places are marked, when each is marked independently with probability 2^−a.

The distance from one mark to the next is geometric: ⌊log u / log(1 − 2^−a)⌋ for a uniform u. Floats
decide that floor unless it is too close to call; see lemma 7 of the proof page.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.gaps import Indices
from discreet.numbers.balls import ball_of, precision
from discreet.sampling.bits import Bits
from discreet.sampling.refinement import GUARD_BITS, Uniform, scaled
from discreet.sampling.tuning import Tuning

LARGEST_RANGE = 1 << 46
_DRAWS_AT_ONCE = 1 << 15
_MOST_EXACT_BITS = 1 << 12
_SMALLEST = 24
_LN2 = math.log(2)
_NONE = np.empty(0, dtype=np.int64)


def marks(bits: Bits, places: int, exponent: int, *, tuning: Tuning) -> Indices:
    """The marked places in ``range(places)``, ascending; each with probability ``2**-exponent``."""
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
        return _NONE
    return found[0] if len(found) == 1 else np.concatenate(found)


def _sparse_skip(bits: Bits, limit: int, exponent: int, word: int) -> int:
    """One geometric distance, when it is almost certainly ``limit`` or more."""
    known = bits.integer(word)
    # (1 − 2^−a)^limit ≥ 1 − limit·2^−a, so that a u below the latter settles it in integers.
    common = max(word, exponent)
    if ((known + 1) << (common - word)) + (limit << (common - exponent)) <= 1 << common:
        return limit
    return exact_skip(Uniform(bits, known=known, width=word, step=word), exponent, limit=limit)


def _skips(bits: Bits, count: int, exponent: int, limit: int, tuning: Tuning) -> Indices:
    """Independent geometric distances, those of at least ``limit`` reported as ``limit``."""
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
    # What the float may be off by, and what the unknown lower bits of u may move it by: the smallest
    # words, for which that is much, are not believed at all.
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
    """The k with (1 − 2^−a)^(k+1) ≤ u < (1 − 2^−a)^k, or ``limit`` if that k is larger."""
    while True:
        guess = _guess(uniform, exponent, limit)
        # With exponent·k bits a small power is exact, so that u is settled as soon as it can be.
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
    """About log u / log(1 − 2^−a), at most ``limit``."""
    middle = 2 * uniform.known + 1
    log_uniform = math.log(middle) - (uniform.width + 1) * _LN2
    return int(min(max(log_uniform / math.log1p(-math.ldexp(1.0, -exponent)), 0.0), limit))
