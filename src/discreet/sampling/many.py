"""Many independent draws from the same scores, each with exactly the law of a single release."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count

import numpy as np

from discreet.gaps import Floats, Gaps, Indices
from discreet.sampling.bits import Bits
from discreet.sampling.coins import Heads, flip
from discreet.sampling.integers import some_words_below
from discreet.sampling.layers import Layer, shallowest
from discreet.sampling.levels import DRAWS_AT_ONCE, Levels
from discreet.sampling.refinement import Ball, ball, scaled
from discreet.sampling.tuning import STANDARD, Tuning

_COINS = Heads()


class Window:
    """The coin "arrives in window w, given not before".

    Let each candidate arrive, if its coin exp(−γ)/2^halvings is heads, at a uniform time in [0, 1).
    Time is cut into 2^cuts windows; the first arrival is a uniform choice among the heads (lemma
    13).
    """

    __slots__ = ("_shift", "number")

    def __init__(self, number: int, *, cuts: int, halvings: int) -> None:
        self.number = number
        self._shift = cuts + halvings

    @property
    def spread(self) -> int:
        """Not used: windows are drawn from sorted levels."""
        return 0

    def chances(self, gammas: Floats) -> tuple[Floats, Floats | float]:
        """x/(1 − (w−1)x) for x = exp(−γ)/2^shift."""
        np.negative(gammas, out=gammas)
        np.exp(gammas, out=gammas)
        gammas *= 0.5**self._shift
        if self.number == 1:
            return gammas, 1.0
        left = 1.0 - (self.number - 1) * gammas
        gammas /= left
        return gammas, 2.0 / left

    def ball(self, gamma: Fraction) -> Ball:
        """x/(1 − (w−1)x) for x = exp(−γ)/2^shift."""
        share = scaled(ball(-gamma).exp(), -self._shift)
        return share / (1 - (self.number - 1) * share)

    def exponent(self, level: int) -> int:
        """The chance is at most 1/(2^(level+shift) − (w−1))."""
        return ((1 << (level + self._shift)) - (self.number - 1)).bit_length() - 1


def _last_level(gaps: Gaps, tuning: Tuning) -> int:
    # Weights up to size·2^last must fit in 63 bits.
    return min(tuning.levels[0], 62 - gaps.size.bit_length())


@np.errstate(all="ignore")
def proportionals(gaps: Gaps, size: int, bits: Bits, *, tuning: Tuning = STANDARD) -> Indices:
    """``size`` independent draws of the exponential mechanism.

    A level is proposed in proportion to its size and bound, a candidate of it uniformly, and
    accepted with the chance 2^level·exp(−γ) that is left.
    """
    levels = Levels(gaps, last=_last_level(gaps, tuning))
    last = levels.last
    weights = levels.sizes << (last - np.arange(last + 1))
    ends = np.cumsum(weights).astype(np.uint64)
    total = int(ends[-1])
    drawn = np.empty(size, dtype=np.int64)
    have = 0
    while have < size:
        count_now = min(tuning.overdraw * (size - have), 2 * DRAWS_AT_ONCE)
        words = some_words_below(bits, total, count=count_now)
        level = np.searchsorted(ends, words, side="right")
        words = words - (ends[level] - weights[level].astype(np.uint64))
        words >>= (last - level).astype(np.uint64)
        candidates = levels.order[levels.starts[level] + words.astype(np.int64)]
        accepted = flip(gaps, candidates, _COINS, bits=bits, tuning=tuning, boost=level)
        accepted = accepted[: size - have]
        drawn[have : have + len(accepted)] = candidates[accepted]
        have += len(accepted)
    return drawn


@np.errstate(all="ignore")
def uniform_heads(gaps: Gaps, size: int, bits: Bits, *, tuning: Tuning = STANDARD) -> Indices:
    """``size`` independent draws of permute-and-flip."""
    levels = Levels(gaps, last=_last_level(gaps, tuning))
    drawn = np.full(size, -1, dtype=np.int64)
    for start in range(0, size, DRAWS_AT_ONCE):
        _first_arrivals(levels, drawn[start : start + DRAWS_AT_ONCE], 0, bits, tuning)
    assert not len(drawn) or drawn.min() >= 0, "the best candidate's coin is always heads"
    return drawn


@np.errstate(all="ignore")
def laplace_maxes(gaps: Gaps, size: int, bits: Bits, *, tuning: Tuning = STANDARD) -> Indices:
    """``size`` independent draws of noisy max with Laplace noise."""
    levels = Levels(gaps, last=_last_level(gaps, tuning))
    drawn = np.full(size, -1, dtype=np.int64)
    for start in range(0, size, DRAWS_AT_ONCE):
        part = drawn[start : start + DRAWS_AT_ONCE]
        _first_arrivals(levels, part, 1, bits, tuning)
        for number in count(1):
            waiting = (part < 0).nonzero()[0]
            if not len(waiting):
                break
            layer = Layer(number)
            groups, candidates = levels.arrivals(layer, len(waiting), bits=bits, tuning=tuning)
            if len(groups):
                groups, winners = shallowest(
                    gaps, layer, groups, candidates, bits=bits, tuning=tuning
                )
                part[waiting[groups]] = winners
    return drawn


def _first_arrivals(
    levels: Levels, drawn: Indices, halvings: int, bits: Bits, tuning: Tuning
) -> None:
    """Fill in, for every draw in which some coin is heads, the first to arrive."""
    cuts = max(0, math.frexp(levels.mass)[1] - 1 - halvings)
    waiting = np.arange(len(drawn))
    for number in range(1, (1 << cuts) + 1):
        window = Window(number, cuts=cuts, halvings=halvings)
        draw, candidates = levels.arrivals(window, len(waiting), bits=bits, tuning=tuning)
        if len(draw):
            chosen = _one_per_draw(draw, bits, tuning.key)
            drawn[waiting[draw[chosen]]] = candidates[chosen]
            waiting = waiting[drawn[waiting] < 0]
            if not len(waiting):
                return


def _one_per_draw(draw: Indices, bits: Bits, width: int) -> Indices:
    """The position of one uniformly chosen arrival for each draw that has any."""
    while True:
        keys = bits.words(len(draw), width=width) | (draw.astype(np.uint64) << np.uint64(width))
        order = np.argsort(keys)
        ordered = keys[order]
        # Equal keys in one draw would favour a position: then all keys are drawn again.
        if not (ordered[1:] == ordered[:-1]).any():
            first = np.ones(len(order), dtype=np.bool_)
            owners = ordered >> np.uint64(width)
            first[1:] = owners[1:] != owners[:-1]
            chosen: Indices = order[first]
            return chosen
