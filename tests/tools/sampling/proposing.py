"""Checks of proposals: count their weights, and follow every outcome and every tape to see which are kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from discreet._exact.gaps import Gaps, Indices
from discreet._exact.gaps import gaps as gaps_module
from discreet._exact.numbers.balls import ball_of
from discreet._exact.sampling import Bits, proposals
from discreet._exact.sampling.bits import TapeBits
from discreet._exact.sampling.coins import Heads, Tuning
from discreet._exact.sampling.laplace import LaplaceNoise
from discreet._exact.sampling.permute_and_flip import ExponentialNoise
from discreet._exact.sampling.proposals import BoundedBlocks, Clock, Noise, first_kept
from tests.tools.sampling import oracles
from tests.tools.sampling.cases import PROPOSED, SMALL
from tests.tools.sampling.walking import walk


def assert_weights(gaps: Gaps, tuning: Tuning, *, lowered: int = 0) -> None:
    """Check that candidates are proposed in proportion to 2^−level, which bounds their coins."""

    def all_places(_: Bits, bound: int, **__: Any) -> Indices:
        return np.arange(bound)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proposals, "some_indices", all_places)
        blocks = BoundedBlocks(gaps, tuning, lowered=lowered)
        candidates, levels = blocks.proposals(TapeBits(()), 1, 32)
    level_of = dict(zip(candidates.tolist(), levels.tolist(), strict=True))
    times = Counter(candidates.tolist())
    assert sorted(times) == list(range(gaps.size))
    unit = Fraction(blocks.rate) / len(candidates)
    coins = Heads(-lowered)
    with ctx.workprec(100):
        for candidate, count in times.items():
            assert count * unit == Fraction(1, 2 ** level_of[candidate])
            bound = arb((1, -level_of[candidate]))
            assert not bool(coins.ball(gaps.exact(candidate)) > bound)


_TUNING = replace(PROPOSED, level=3, cells=3)
_SCORES = [0, -1, -3, -2]
_TIME = Fraction(3, 5)


class _Enough(Exception):  # noqa: N818 - an end, which the check expects
    """One proposal has been made."""


def _once(*_: object) -> Iterator[int]:
    yield 1
    raise _Enough


def assert_law_at_a_given_time(noise: Noise, patch: pytest.MonkeyPatch) -> None:
    """Check one proposal, at time 3/5: each candidate is kept at the rate of the noise, for any blocks."""
    patch.setattr(gaps_module, "_NARROW", 2)
    patch.setattr(BoundedBlocks, "rounds", _once)
    gaps = Gaps(np.array(_SCORES), scale=Fraction(1))
    lowered = -noise.coins.halvings if isinstance(noise.coins, Heads) else 0
    rate = Fraction(BoundedBlocks(gaps, _TUNING, lowered=lowered).rate)

    def sampler(bits: Bits) -> int:
        try:
            chosen = first_kept(gaps, noise, bits=bits, tuning=_TUNING, lowered=lowered)
        except _Enough:
            return gaps.size
        assert chosen is not None
        return chosen

    found = oracles.distribution(sampler, gaps.size + 1, patch, wait=_TIME * rate)
    with ctx.workprec(oracles.PRECISION):
        expected = []
        for candidate in range(gaps.size):
            gamma = gaps.exact(candidate)
            chance = noise.coins.ball(gamma) / noise.ball(gamma, ball_of(_TIME))
            expected.append(chance / ball_of(rate))
        expected.append(1 - sum(expected, arb(0)))
    oracles.assert_equals(found, expected)


NOISES: list[Noise] = [ExponentialNoise(), *(LaplaceNoise(stage) for stage in range(4))]


def assert_rates(gamma: Fraction, time: Fraction) -> None:
    """Check the rate: it is the slope of −log Pr[not yet reached], computed from the noise itself."""
    step = Fraction(1, 10**20)
    with ctx.workprec(300):
        for noise, stage in zip(NOISES, (None, 0, 1, 2, 3), strict=True):
            before, after = (_unreached(gamma, stage, time + side * step) for side in (-1, 1))
            slope = (before.log() - after.log()) / ball_of(2 * step)
            rate = noise.coins.ball(gamma) / noise.ball(gamma, ball_of(time))
            assert bool(abs(slope - rate) < 1e-15)


def _unreached(gamma: Fraction, stage: int | None, time: Fraction) -> Any:
    """Return the chance that the candidate is not reached yet: exponential noise or, at a stage, Laplace."""
    if stage is None:
        return 1 - (-ball_of(gamma)).exp() * (1 - (-ball_of(time)).exp())
    sigma = time if stage == 0 else 2 ** (stage - 1) * (1 + time)
    height = ball_of(gamma) - ball_of(sigma).log()
    return height.exp() / 2 if bool(height < 0) else 1 - (-height).exp() / 2


def assert_kept_at_a_random_time() -> None:
    """Check E[1/odds] over an exponential time on every tape: ∫ y/(1 − p + p·y) dy over (0, 1)."""
    gaps = Gaps(np.array([0, -1]), scale=Fraction(1))

    def sampler(bits: Bits) -> int:
        clock = Clock(1.0, bits, SMALL)
        clock.proceed(1)
        return int(clock.keeps(gaps, 1, ExponentialNoise()))

    found, left = walk(sampler, 2, most_runs=3_000)
    p = math.exp(-1)
    exact = 1 / p - (1 - p) / p**2 * -math.log1p(-p)
    assert left < 0.03
    assert found[1] <= exact <= found[1] + left
