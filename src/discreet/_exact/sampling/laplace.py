"""Noisy max with Laplace noise: draw the candidate whose score plus Laplace noise of scale s is largest.

If any noisy score exceeds the best score, the winner is drawn like that of permute-and-flip with halved
coins. Otherwise the layers below the best score are searched one after the other, or by proposals in blocks
if there are many candidates (docs/proofs/sampling.md, theorem 3).

Y_r ≥ 0 denotes how far candidate r's noisy score lies below the best score, in units of the scale. Layer k
contains the candidates with k−1 ≤ Y_r < k. Given Y_r ≥ k−1, the chance that candidate r is in layer k
depends only on z = γ_r − (k−1). Within the layer, the distribution of its depth V = Y_r − (k−1) depends only
on z clipped to [0, 1] (lemmas 10 and 11).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count

import numpy as np

from discreet._exact.gaps import Floats, Gaps, Indices
from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.coins import (
    GUARD_BITS,
    STANDARD,
    Ball,
    Heads,
    SomeGaps,
    Tuning,
    Uniform,
    flip,
)
from discreet._exact.sampling.permute_and_flip import first_arrivals, head_or_none
from discreet._exact.sampling.proposals import first_kept
from discreet._exact.sampling.thinning import DRAWS_AT_ONCE, Levels, far_heads

_ABOVE = Heads(halvings=1)
# Depths in floats are within this of the exact ones (lemma 11), for layers up to _DEEPEST.
DEPTH_ERROR = 2.0**-38
_DEEPEST = 100
_LARGEST_STEP = 1 << _DEEPEST
# log2(e), rounded up.
_LOG2_E = Fraction(14427, 10000)


@np.errstate(all="ignore")
def laplace_max(gaps: Gaps, bits: Bits, *, tuning: Tuning = STANDARD) -> int:
    """Draw a candidate by noisy max with Laplace noise.

    Example:
        >>> from fractions import Fraction
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> laplace_max(Gaps(np.array([0, 10**9]), scale=Fraction(2)), SecureBits())
        1
    """
    chosen = head_or_none(gaps, _ABOVE, LaplaceNoise(0), bits=bits, tuning=tuning)
    if chosen is not None:
        return chosen
    near = gaps.few_near(tuning.level, most=tuning.few)
    if near is None and gaps.size <= tuning.flipped_up_to:
        near = np.arange(gaps.size)
    for number in count(1):
        if near is not None:
            chosen = _shallowest_of(near, gaps, Layer(number), bits=bits, tuning=tuning)
        else:
            noise = LaplaceNoise(number)
            chosen = first_kept(gaps, noise, bits=bits, tuning=tuning, lowered=number - 1)
        if chosen is not None:
            return chosen
    raise AssertionError("unreachable: the layers are endless")


def _shallowest_of(
    near: Indices, gaps: Gaps, layer: Layer, *, bits: Bits, tuning: Tuning
) -> int | None:
    """Return the shallowest candidate in a layer, near or far; None if the layer is empty."""
    inside = near[flip(gaps, near, layer, bits=bits, tuning=tuning)]
    if len(near) < gaps.size:
        far = far_heads(gaps, layer, level=tuning.level, bits=bits, tuning=tuning)
        inside = np.concatenate([inside, far])
    if len(inside) > 1:
        groups = np.zeros(len(inside), dtype=np.int64)
        inside = shallowest(gaps, layer, groups, inside, bits=bits, tuning=tuning)[1]
    return inside.item(0) if len(inside) else None


class LaplaceNoise:
    """Laplace noise for ``first_kept``: a falling level; at x scales above the best score, σ is e^−x.

    In each stage, time t goes from 0 to 1. In stage 0, σ is t; in stage k ≥ 1, σ is 2^(k−1)·(1 + t). A stage
    begins only if no candidate was reached in the stages before it.
    """

    __slots__ = ("_start", "_step", "coins")
    ends = True

    def __init__(self, stage: int) -> None:
        doublings = max(stage - 1, 0)
        self._step = 1 << doublings
        self._start = self._step if stage else 0
        self.coins = Heads(-doublings)

    def odds(self, gamma: float, time: float) -> float:
        """Return (1 + |1 − σ·e^−γ|)/max(1, 2^(k−1)·e^−γ) for stage k."""
        if self._step > _LARGEST_STEP:
            return math.nan
        chance = math.exp(-gamma)
        return (1.0 + abs(1.0 - chance * (self._start + self._step * time))) / max(
            1.0, chance * self._step
        )

    def ball(self, gamma: Fraction, time: Ball) -> Ball:
        """Return the odds as an interval."""
        chance = ball_of(-gamma).exp()
        distance = abs(1 - chance * (self._start + self._step * time))
        return (1 + distance) / (chance * self._step).max(ball_of(1))


@np.errstate(all="ignore")
def laplace_maxes(gaps: Gaps, size: int, bits: Bits, *, tuning: Tuning = STANDARD) -> Indices:
    """Make ``size`` independent draws of noisy max with Laplace noise."""
    levels = Levels.prepared(gaps, tuning)
    drawn = np.full(size, -1, dtype=np.int64)
    for start in range(0, size, DRAWS_AT_ONCE):
        part = drawn[start : start + DRAWS_AT_ONCE]
        first_arrivals(levels, part, 1, bits, tuning)
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


class Layer:
    """The coin that decides whether a candidate is in layer k, given that it is not above that layer."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def exponent(self, level: int) -> int:
        """Return an exponent a: chances at this level are at most 2^−a, since none exceeds e^k·exp(−γ)."""
        return max(0, level - math.ceil(self.number * _LOG2_E))

    def chances(self, gammas: Floats) -> tuple[Floats, Floats | float]:
        """Return 1 − 1/e for z ≤ 0, 1 − e^(z−1)/(2 − e^−z) for z ≤ 1, and (e−1)/(2e^z − 1) beyond."""
        gammas -= self.number - 1
        inside = np.clip(gammas, 0.0, 1.0)
        beyond = np.maximum(gammas, 1.0)
        chances = 1.0 - np.exp(inside - 1.0) / (2.0 - np.exp(-inside))
        outside = gammas > 1.0
        chances[outside] = (math.e - 1.0) / (2.0 * np.exp(beyond[outside]) - 1.0)
        return chances, 4.0 if self.number <= _DEEPEST else math.inf

    def ball(self, gamma: Fraction) -> Ball:
        """Return the chance as an interval, by the formulas of ``chances``."""
        z = gamma - (self.number - 1)
        if z >= 1:
            return (ball_of(1).exp() - 1) / (2 * ball_of(z).exp() - 1)
        inside = ball_of(max(z, Fraction(0)))
        return 1 - (inside - 1).exp() / (2 - (-inside).exp())

    def depths(self, gammas: Floats, uniforms: Floats) -> Floats:
        """Return the depths for uniform numbers in (0, 1), by inversion, accurate to ``DEPTH_ERROR``."""
        inside = np.clip(gammas - (self.number - 1), 0.0, 1.0)
        slope = 2.0 * np.exp(inside) - 1.0
        share = uniforms * (1.0 - np.exp(inside - 1.0) / (2.0 - np.exp(-inside)))
        rising = np.log1p(share * slope)
        falling = inside - np.log((1.0 - share) * (2.0 - np.exp(-inside)))
        return np.where(share * slope <= np.expm1(inside), rising, falling)

    def depth_bounds(self, gamma: Fraction, uniform: Uniform) -> tuple[Ball, Ball]:
        """Return a lower and an upper bound on the depth, as intervals; the depth grows with ``uniform``."""
        inside = ball_of(min(max(gamma - (self.number - 1), Fraction(0)), Fraction(1)))
        slope = 2 * inside.exp() - 1
        chance = 1 - (inside - 1).exp() / (2 - (-inside).exp())
        turn = inside.exp() - 1
        low, high = uniform.ends()
        ends = []
        for share, prefer_rising in ((low * chance, True), (high * chance, False)):
            rising = (1 + share * slope).log()
            falling = inside - ((1 - share) * (2 - (-inside).exp())).log()
            # The rising branch never exceeds the falling one; the depth lies between them.
            if bool(share * slope <= turn):
                falling = rising
            elif bool(share * slope >= turn):
                rising = falling
            ends.append(rising if prefer_rising else falling)
        return ends[0], ends[1]

    @property
    def trusted(self) -> bool:
        """Return whether floats can be trusted in this layer."""
        return self.number <= _DEEPEST


def shallowest(
    gaps: SomeGaps,
    layer: Layer,
    groups: Indices,
    candidates: Indices,
    *,
    bits: Bits,
    tuning: Tuning,
) -> tuple[Indices, Indices]:
    """Return the candidate with the least depth in each group.

    ``groups`` has the group of each of ``candidates``, all of which are in the layer. The result has the
    groups that occur, in ascending order, and one candidate for each. A candidate alone in its group needs no
    depth.
    """
    if (groups[1:] < groups[:-1]).any():
        order = np.argsort(groups, kind="stable")
        groups, candidates = groups[order], candidates[order]
    first = np.ones(len(groups), dtype=np.bool_)
    first[1:] = groups[1:] != groups[:-1]
    starts = first.nonzero()[0]
    winners = candidates[starts]
    sizes = np.diff(starts, append=len(groups))
    crowded = (sizes > 1).nonzero()[0]
    if len(crowded):
        sizes = sizes[crowded]
        begins = np.cumsum(sizes) - sizes
        members = np.arange(int(sizes.sum())) + np.repeat(starts[crowded] - begins, sizes)
        winners[crowded] = _least_of_each(
            gaps, layer, candidates[members], begins, bits=bits, tuning=tuning
        )
    return groups[starts], winners


def _least_of_each(
    gaps: SomeGaps,
    layer: Layer,
    candidates: Indices,
    begins: Indices,
    *,
    bits: Bits,
    tuning: Tuning,
) -> Indices:
    """Return the candidate with the least depth in each group; ``begins`` has each group's first position."""
    words = bits.words(len(candidates), width=tuning.word)
    uniforms = np.ldexp(words.astype(np.float64) + 0.5, -tuning.word)
    depths = layer.depths(gaps.gather(candidates), uniforms)
    margin = 2 * DEPTH_ERROR + 2.0 ** (1 - tuning.word) if layer.trusted else math.inf
    margin = max(margin, tuning.tolerance)
    ends = np.append(begins[1:], len(candidates))
    limits = np.minimum.reduceat(depths, begins) + margin
    # This condition lets interval arithmetic decide if a depth is NaN.
    near = ~(depths > np.repeat(limits, ends - begins))
    winners: Indices = np.empty(len(begins), dtype=np.int64)
    number = np.add.reduceat(near, begins, dtype=np.int64)
    alone = number == 1
    winners[alone] = candidates[near & np.repeat(alone, ends - begins)]
    for place in (~alone).nonzero()[0].tolist():
        contenders = [
            (
                int(candidates[member]),
                gaps.exact(int(candidates[member])),
                Uniform(bits, known=int(words[member]), width=tuning.word, step=tuning.word),
            )
            for member in range(int(begins[place]), int(ends[place]))
        ]
        winners[place] = _settle(layer, contenders)
    return winners


def _settle(layer: Layer, contenders: list[tuple[int, Fraction, Uniform]]) -> int:
    """Return the candidate with the least depth, found in interval arithmetic with as many bits as needed."""
    while True:
        with precision(contenders[0][2].width + 2 * GUARD_BITS):
            bounds = [layer.depth_bounds(gamma, uniform) for _, gamma, uniform in contenders]
            for place, (_, upper) in enumerate(bounds):
                if all(
                    other == place or bool(upper <= lower)
                    for other, (lower, _) in enumerate(bounds)
                ):
                    return contenders[place][0]
        for _, _, uniform in contenders:
            uniform.extend()
