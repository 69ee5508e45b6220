"""Which of N places are marked, when each is marked independently with probability 2^−a.

The distance from one mark to the next is geometric: ⌊log u / log(1 − 2^−a)⌋ for a uniform u. Floats
decide that floor unless it is too close to call; see lemma 7 of the proof page.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.gaps import Indices
from discreet.sampling.bits import Bits
from discreet.sampling.refinement import GUARD_BITS, Uniform, ball, precision, scaled
from discreet.sampling.tuning import Tuning

LARGEST_RANGE = 1 << 46
_DRAWS_AT_ONCE = 1 << 15
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
            count = min(int(expected * 1.05) + 16, _DRAWS_AT_ONCE)
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
    middle = words.astype(np.float64)
    middle += 0.5
    chance = math.ldexp(1.0, -exponent)
    distance = np.log(middle)
    distance -= word * _LN2
    distance /= math.log1p(-chance)
    floor = np.floor(distance)
    # What the float may be off by, and what the unknown lower bits of u may move it by.
    doubt = (np.abs(distance) + 1.0 / chance) * tuning.tolerance + (2.0 / chance) / middle
    part = distance - floor
    unclear = (part <= doubt) | (part >= 1.0 - doubt) | (words == 0)
    np.minimum(floor, limit, out=floor)
    steps: Indices = floor.astype(np.int64)
    for place in (unclear & (distance - doubt < limit)).nonzero()[0].tolist():
        uniform = Uniform(bits, known=int(words[place]), width=word, step=word)
        steps[place] = exact_skip(uniform, exponent, limit=limit)
    return steps


def exact_skip(uniform: Uniform, exponent: int, *, limit: int) -> int:
    """⌊log u / log(1 − 2^−exponent)⌋, or ``limit`` if that is at least ``limit``."""
    while True:
        with precision(uniform.width + exponent + GUARD_BITS):
            rate = (1 - scaled(ball(1), -exponent)).log()
            low, high = uniform.ends()
            least = high.log() / rate
            if bool(least >= limit):
                return limit
            if uniform.known:
                most = low.log() / rate
                floor = int(float(least.mid()))
                for step in (floor - 1, floor, floor + 1):
                    if step >= 0 and bool(least >= step) and bool(most <= step + 1):
                        return step
        uniform.extend()
