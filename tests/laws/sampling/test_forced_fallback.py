"""Exactness, second check: if balls decide everything, the same bits give the same draws.

With an infinite tolerance no float is trusted. A float comparison that was trusted wrongly would show as a
difference between the two runs.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from discreet._exact.gaps import Gaps
from discreet._exact.numbers.balls import precision
from discreet._exact.sampling import (
    ScriptedBits,
    laplace_max,
    laplace_maxes,
    proportional,
    proportionals,
    steady_head,
    uniform_head,
    uniform_heads,
)
from discreet._exact.sampling.coins import (
    STANDARD,
    Coins,
    Heads,
    Tuning,
    Uniform,
    heads_after_first_bits,
    noise_bounds,
)
from discreet._exact.sampling.laplace import Layer
from discreet._exact.sampling.permute_and_flip import Window
from tests.tools.forking import forked
from tests.tools.sampling.checks import (
    assert_coins_agree,
    assert_first_bits_agree,
    assert_single_coins_agree,
)

BUSY = Tuning(
    few=4,
    first_bits_up_to=0,
    single_visits=2,
    near_enough=2.0,
    visits=3,
    flipped_up_to=0,
    proposals=(4,),
    cells=64,
    level=6,
    sparse=0.0,
    spare=2,
)
"""Small enough that a few dozen candidates take every path except the one by first bits."""
LISTED = replace(STANDARD, first_bits_up_to=0, flipped_up_to=0)
"""No candidate is decided by first bits: without floats, the following bits would go to other candidates."""

ONE = [uniform_head, proportional, laplace_max, steady_head]
MANY = [uniform_heads, proportionals, laplace_maxes]


def _vectors() -> list[Any]:
    rng = np.random.default_rng(11)
    return [
        rng.uniform(0, 12, 40),
        rng.integers(0, 12, 40),
        np.zeros(20),
        np.array([1.0]),
        np.concatenate([rng.uniform(0, 1, 30), [14.0]]),
        np.array([5, 5, 4, 0], dtype=np.uint64),
        rng.normal(0, 3, 25).astype(np.float32),
    ]


@pytest.mark.parametrize("draw", ONE, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("tuning", [LISTED, BUSY], ids=["listed", "busy"])
def test_one_release_is_the_same_by_floats_and_by_balls(
    draw: Callable[..., int], tuning: Tuning
) -> None:
    for values in _vectors():
        for seed in range(30):
            drawn = [
                draw(
                    Gaps(values, scale=Fraction(2), block=4),
                    ScriptedBits(seed),
                    tuning=replace(tuning, tolerance=tolerance),
                )
                for tolerance in (STANDARD.tolerance, math.inf)
            ]
            assert drawn[0] == drawn[1]


@pytest.mark.parametrize("draw", MANY, ids=lambda draw: draw.__name__)
def test_many_draws_are_the_same_by_floats_and_by_balls(draw: Callable[..., Any]) -> None:
    for values in _vectors():
        drawn = [
            draw(
                Gaps(values, scale=Fraction(2)),
                60,
                ScriptedBits(3),
                tuning=replace(STANDARD, tolerance=tolerance),
            ).tolist()
            for tolerance in (STANDARD.tolerance, math.inf)
        ]
        assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    "coins",
    [Heads(), Heads(1), Window(3, cuts=3, halvings=0), Layer(1), Layer(3)],
    ids=["heads", "halved", "window", "first layer", "third layer"],
)
@pytest.mark.parametrize("peeked", [False, True])
def test_coins_fall_the_same_by_floats_and_by_balls(coins: Coins, peeked: bool) -> None:
    assert_coins_agree(coins, peeked=peeked)


def test_a_few_coins_fall_the_same_by_floats_and_by_balls() -> None:
    assert_single_coins_agree()


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_a_peek_says_tails_as_balls_do(dtype: type) -> None:
    assert_first_bits_agree(dtype)


def test_the_bounds_of_first_bits_have_their_margin() -> None:
    """Lemma 6a needs slightly more than the exact −ln u; a much larger value would decide fewer coins."""
    bounds = noise_bounds(STANDARD.first_bits, STANDARD.tolerance).tolist()
    assert bounds[0] == math.inf
    with precision(120):
        for first, bound in enumerate(bounds[1:], start=1):
            exact = -(arb(first) / 256).log()
            assert bool(exact * (1 + arb((1, -43))) < arb(bound))
            assert bool(arb(bound) < exact * (1 + arb((1, -41))))


@pytest.mark.parametrize("halvings", [0, 1])
def test_a_coin_after_a_peek_falls_the_same_by_floats_and_by_balls(halvings: int) -> None:
    gaps = Gaps(np.random.default_rng(7).uniform(0, 4, 6_000), scale=Fraction(2))
    by_floats, by_balls = (
        [
            heads_after_first_bits(
                gaps,
                candidate,
                Heads(halvings),
                candidate % 256,
                bits=ScriptedBits(candidate),
                tuning=tuning,
            )
            for candidate in range(gaps.size)
        ]
        for tuning in (STANDARD, replace(STANDARD, tolerance=math.inf))
    )
    assert by_floats == by_balls


def test_balls_are_asked_about_every_coin_when_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    settle = Uniform.is_below

    def count(self: Uniform, target: Callable[[], Any]) -> bool:
        nonlocal asked
        asked += 1
        return settle(self, target)

    monkeypatch.setattr(Uniform, "is_below", count)
    gaps = Gaps(np.arange(30.0), scale=Fraction(40))
    steady_head(gaps, ScriptedBits(1), tuning=replace(STANDARD, tolerance=math.inf))
    assert asked == 30
    steady_head(gaps, ScriptedBits(1))
    assert asked == 30


def test_the_assumption_about_exp_and_log_holds_here() -> None:
    """The proofs assume relative errors of at most 2⁻⁴⁹; see "What is assumed" on the proof page."""
    rng = np.random.default_rng(5)
    tiny = 2.0 ** -rng.uniform(0, 1000, 1000)

    points = np.concatenate([rng.uniform(-601, 601, 3000), rng.uniform(-50, 50, 3000), tiny, -tiny])
    _assert_close(np.exp(points), points, lambda x: x.exp())
    _assert_close([math.exp(point) for point in points], points, lambda x: x.exp())
    some = points[points < 500]
    _assert_close([math.expm1(point) for point in some], some, lambda x: x.expm1())

    below = np.concatenate([-rng.uniform(0, 45, 2000), -(2.0 ** rng.uniform(5, 120, 500)), -tiny])
    small = np.concatenate([rng.uniform(0, 2, 2000), tiny])
    for points in (below, small):
        _assert_close(np.expm1(points), points, lambda x: x.expm1())
    _assert_close(np.log1p(small), small, lambda x: x.log1p())
    halves = np.concatenate([-rng.uniform(0, 0.5, 2000), -tiny / 2])
    _assert_close([math.log1p(point) for point in halves], halves, lambda x: x.log1p())

    words = np.concatenate([rng.uniform(0.5, 2.0**64, 2000), 2.0 ** rng.uniform(0.1, 64, 2000)])
    near_one = np.concatenate([rng.uniform(0.5, 2, 1000), 1 + tiny[tiny > 2.0**-50]])
    below_half = np.concatenate([rng.uniform(0, 0.5, 2000), tiny / 2, np.arange(1, 256) / 256])
    for points in (words, near_one, below_half):
        _assert_close(np.log(points), points, lambda x: x.log())
    integers = [2 * int.from_bytes(rng.bytes(size), "big") + 3 for size in range(600)]
    _assert_close([math.log(number) for number in integers], integers, lambda x: x.log())


def _assert_close(found: Any, points: Any, formula: Callable[[Any], Any]) -> None:
    with ctx.workprec(160):
        for point, value in zip(points, found, strict=True):
            exact = formula(arb(fmpq(*point.as_integer_ratio())))
            error = abs(arb(fmpq(*value.as_integer_ratio())) - exact)
            assert bool(error <= abs(exact) * arb((1, -49)))


def test_a_child_forked_while_balls_are_in_use_can_use_them() -> None:
    """Another thread of the parent holds the lock on the precision during the fork."""
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with precision(100):
            held.set()
            release.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()

    def choose() -> None:
        gaps = Gaps(np.arange(5.0), scale=Fraction(2))
        uniform_head(gaps, ScriptedBits(1), tuning=replace(STANDARD, tolerance=math.inf))

    try:
        assert forked(choose) == (0, b"")  # ends a child that waits for the lock
    finally:
        release.set()
        holder.join()
