"""Permute-and-flip: flip a coin exp(−γ) for every candidate and choose uniformly among the heads.

This is also noisy max with exponential noise. Most of the n coins are never flipped. If there is a clear
winner, the block maxima show it. If many candidates are good, a few random visits find one. In between,
candidates are proposed in blocks, with a bound from the best score of each block. If there are few
candidates, the first bits of each coin show that most are tails. All methods draw from the same distribution
(docs/proofs/sampling.md, theorem 1).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction

import numpy as np

from discreet._exact.gaps import Floats, Gaps, Indices
from discreet._exact.numbers.balls import ball_of
from discreet._exact.sampling.bits import Bits, few_indices, some_indices, uniform_below
from discreet._exact.sampling.coins import (
    STANDARD,
    Ball,
    Heads,
    Tuning,
    flip,
    heads_after_first_bits,
    heads_among,
    not_tails_yet,
    scaled,
)
from discreet._exact.sampling.proposals import Noise, first_kept
from discreet._exact.sampling.thinning import DRAWS_AT_ONCE, Levels, far_heads


@np.errstate(all="ignore")
def uniform_head(gaps: Gaps, bits: Bits, *, tuning: Tuning = STANDARD) -> int:
    """Draw a candidate by permute-and-flip.

    The probability of r is p_r ∫₀¹ Π_{t≠r} (1 − u·p_t) du with p = exp(−γ).

    Example:
        >>> from fractions import Fraction
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> uniform_head(Gaps(np.array([0, 10**9]), scale=Fraction(2)), SecureBits())
        1
    """
    chosen = head_or_none(gaps, Heads(), _NOISE, bits=bits, tuning=tuning)
    assert chosen is not None, "the best candidate's coin is always heads"
    return chosen


class ExponentialNoise:
    """Exponential noise: candidate r is reached before time s with probability (1 − e^−s)·exp(−γ)."""

    __slots__ = ()
    coins = Heads()
    ends = False

    def odds(self, gamma: float, time: float) -> float:
        """Return 1 + (1 − e^−γ)(e^s − 1) for time s."""
        return 1.0 - math.expm1(-gamma) * math.expm1(time)

    def ball(self, gamma: Fraction, time: Ball) -> Ball:
        """Return the odds as an interval; for the best candidate they do not depend on the time."""
        if not gamma:
            return ball_of(1)
        return 1 + (1 - ball_of(-gamma).exp()) * (time.exp() - 1)


_NOISE = ExponentialNoise()


def head_or_none(
    gaps: Gaps, coins: Heads, noise: Noise, *, bits: Bits, tuning: Tuning
) -> int | None:
    """Return a uniform choice among the candidates whose coins are heads, or None if there are none.

    ``noise`` must reach exactly the candidates whose coins are heads, in uniformly random order.
    """
    gaps.best  # noqa: B018 - reads all scores, and refuses NaN and infinities
    level = tuning.level
    # Exact rationals are slow, so only as many as necessary are checked.
    by_bits = gaps.size <= tuning.first_bits_up_to and gaps.native
    near = gaps.few_near(level, most=tuning.one_by_one if by_bits else tuning.few)
    if near is not None:
        heads = _heads_of(near, gaps, coins, level=level, bits=bits, tuning=tuning)
        return _one_of(heads, bits)
    if by_bits:
        return _by_first_bits(gaps, coins, bits=bits, tuning=tuning)
    visited: list[int] = []
    if gaps.some_near(tuning.sampled_level, count=tuning.sampled):
        chosen, visited = _visit(gaps, coins, bits=bits, tuning=tuning)
        if chosen is not None:
            return chosen
    if gaps.size <= tuning.flipped_up_to:
        if gaps.native:
            return _by_first_bits(gaps, coins, bits=bits, tuning=tuning, tails=visited)
        heads = flip(gaps, np.arange(gaps.size), coins, bits=bits, tuning=tuning)
        return _one_of(heads, bits, tails=visited)
    return first_kept(gaps, noise, bits=bits, tuning=tuning, out=visited)


def _heads_of(
    near: Indices, gaps: Gaps, coins: Heads, *, level: int, bits: Bits, tuning: Tuning
) -> Indices:
    """Return all candidates whose coins are heads; ``near`` has those that are near at ``level``."""
    heads = near
    # A single near candidate is the best one, and its coin exp(−0) needs no flip.
    if len(near) > 1 or coins.halvings:
        if len(near) <= tuning.one_by_one:
            fallen = heads_among(gaps, near.tolist(), coins, bits=bits, tuning=tuning)
            heads = np.fromiter(fallen, dtype=np.int64)
        else:
            heads = near[flip(gaps, near, coins, bits=bits, tuning=tuning)]
    if len(near) < gaps.size:
        far = far_heads(gaps, coins, level=level, bits=bits, tuning=tuning)
        heads = np.concatenate([heads, far]) if len(far) else heads
    return heads


def _by_first_bits(
    gaps: Gaps, coins: Heads, *, bits: Bits, tuning: Tuning, tails: Collection[int] = ()
) -> int | None:
    """Choose uniformly among the heads, or return None; the first bits show that most coins are tails.

    The other coins are flipped all at once, or, if there are very few or unusually many of them, in random
    order until one is heads. Candidates in ``tails`` are skipped.
    """
    left, words = not_tails_yet(gaps, bits=bits, tuning=tuning)
    by_chance = 2 * (gaps.size >> tuning.first_bits) + tuning.one_by_one
    if tuning.one_by_one < len(left) <= by_chance:
        found = flip(gaps, left, coins, bits=bits, tuning=tuning, first=words[left])
        return _one_of(left[found], bits, tails=tails)
    for count in range(len(left), 0, -1):
        place = uniform_below(bits, count)
        candidate = left.item(place)
        if candidate not in tails and heads_after_first_bits(
            gaps, candidate, coins, words.item(candidate), bits=bits, tuning=tuning
        ):
            return candidate
        left[place] = left[count - 1]
    return None


def _one_of(heads: Indices, bits: Bits, *, tails: Collection[int] = ()) -> int | None:
    """Return a uniform choice among the ``heads`` that are not in ``tails``; None if there are none."""
    while len(heads):
        place = uniform_below(bits, len(heads))
        candidate = heads.item(place)
        if candidate not in tails:
            return candidate
        heads = np.delete(heads, place)
    return None


def _visit(gaps: Gaps, coins: Heads, *, bits: Bits, tuning: Tuning) -> tuple[int | None, list[int]]:
    """Flip the coins of a few random candidates, and of more if one gap is small, until one coin is heads.

    Return the head, or None, and the candidates visited; without a head, their coins were all tails.
    Candidates are drawn with replacement and repeats are skipped, so their order is uniformly random.
    """
    drawn = few_indices(bits, gaps.size, count=tuning.single_visits, width=tuning.word)
    visited = list(dict.fromkeys(drawn))
    for candidate in heads_among(gaps, visited, coins, bits=bits, tuning=tuning):
        return candidate, visited
    if any(gaps.gamma(candidate) <= tuning.near_enough for candidate in visited):
        order = some_indices(bits, gaps.size, count=tuning.visits, width=tuning.index_word)
        for position in flip(gaps, order, coins, bits=bits, tuning=tuning).tolist():
            # A candidate visited before got tails, and only its first flip counts.
            candidate = order.item(position)
            if not _met(candidate, visited, order[:position]):
                return candidate, visited
        visited += order.tolist()
    return None, visited


def _met(candidate: int, visited: list[int], order: Indices) -> bool:
    return candidate in visited or bool(np.count_nonzero(order == candidate))


# ---- many draws from the same scores, each with the distribution of a single draw -------------------------


@np.errstate(all="ignore")
def uniform_heads(gaps: Gaps, size: int, bits: Bits, *, tuning: Tuning = STANDARD) -> Indices:
    """Make ``size`` independent draws of permute-and-flip."""
    levels = Levels.prepared(gaps, tuning)
    drawn = np.full(size, -1, dtype=np.int64)
    for start in range(0, size, DRAWS_AT_ONCE):
        first_arrivals(levels, drawn[start : start + DRAWS_AT_ONCE], 0, bits, tuning)
    assert not len(drawn) or drawn.min() >= 0, "the best candidate's coin is always heads"
    return drawn


class Window:
    """The coin that decides whether a candidate arrives in window w, given that it did not arrive before.

    A candidate whose coin exp(−γ)/2^halvings is heads arrives at a uniform time in [0, 1). Time is cut into
    2^cuts windows. The first arrival is a uniform choice among the heads (lemma 13).
    """

    __slots__ = ("_shift", "number")

    def __init__(self, number: int, *, cuts: int, halvings: int) -> None:
        self.number = number
        self._shift = cuts + halvings

    def chances(self, gammas: Floats) -> tuple[Floats, Floats | float]:
        """Return the chances x/(1 − (w−1)x) for x = exp(−γ)/2^shift, and a factor for the error of each."""
        np.negative(gammas, out=gammas)
        np.exp(gammas, out=gammas)
        gammas *= 0.5**self._shift
        if self.number == 1:
            return gammas, 1.0
        left = 1.0 - (self.number - 1) * gammas
        gammas /= left
        return gammas, 2.0 / left

    def ball(self, gamma: Fraction) -> Ball:
        """Return the chance x/(1 − (w−1)x) for x = exp(−γ)/2^shift, as an interval."""
        share = scaled(ball_of(-gamma).exp(), -self._shift)
        return share / (1 - (self.number - 1) * share)

    def exponent(self, level: int) -> int:
        """Return an exponent a: chances at this level are at most 1/(2^(level+shift) − (w−1)) ≤ 2^−a."""
        return ((1 << (level + self._shift)) - (self.number - 1)).bit_length() - 1


def first_arrivals(
    levels: Levels, drawn: Indices, halvings: int, bits: Bits, tuning: Tuning
) -> None:
    """Write the first arrival into ``drawn`` for every draw in which some coin is heads."""
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
    """Return the position of one uniformly chosen arrival for each draw that has any."""
    while True:
        keys = bits.words(len(draw), width=width) | (draw.astype(np.uint64) << np.uint64(width))
        order = np.argsort(keys)
        ordered = keys[order]
        # Equal keys in one draw would favour a position, so all keys are drawn again.
        if not (ordered[1:] == ordered[:-1]).any():
            first = np.ones(len(order), dtype=np.bool_)
            owners = ordered >> np.uint64(width)
            first[1:] = owners[1:] != owners[:-1]
            chosen: Indices = order[first]
            return chosen
