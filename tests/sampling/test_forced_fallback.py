"""Exactness, second way: balls decide everything, and the same bits give the same draws.

With an infinite tolerance no float is believed. A float comparison that was ever believed wrongly
would show as a difference between the two runs.
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

from discreet.gaps import Gaps
from discreet.sampling import (
    ScriptedBits,
    laplace_max,
    laplace_maxes,
    proportional,
    proportionals,
    steady_head,
    uniform_head,
    uniform_heads,
)
from discreet.sampling.coins import Coins, Heads, first_heads, flip
from discreet.sampling.layers import Layer
from discreet.sampling.many import Window
from discreet.sampling.refinement import Uniform, precision
from discreet.sampling.tuning import STANDARD, Tuning
from tests.forking import forked

BUSY = Tuning(
    few=4,
    very_few=2,
    stroll=(2, 3),
    promising=2.0,
    visits=(0.5, 1.0),
    levels=(6, 4, 3, 2),
    inner=1,
    sparse=0.0,
    spare=2,
)
"""Small enough that a few dozen candidates take every path."""

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
@pytest.mark.parametrize("tuning", [STANDARD, BUSY], ids=["standard", "busy"])
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
def test_coins_fall_the_same_by_floats_and_by_balls(coins: Coins) -> None:
    """A chance off by a thousandth would differ about once in two thousand of these coins."""
    gaps = Gaps(np.random.default_rng(7).uniform(0, 4, 12_000), scale=Fraction(2))
    everyone = np.arange(gaps.size)
    by_floats, by_balls = (
        flip(
            gaps,
            everyone,
            coins,
            bits=ScriptedBits(1),
            tuning=replace(STANDARD, tolerance=tolerance),
        ).tolist()
        for tolerance in (STANDARD.tolerance, math.inf)
    )
    assert by_floats == by_balls


def test_a_handful_of_coins_falls_the_same_by_floats_and_by_balls() -> None:
    """Of the same power as the test before, for the coins flipped one at a time."""
    gaps = Gaps(np.random.default_rng(7).uniform(0, 4, 12_000), scale=Fraction(2))
    by_floats, by_balls = (
        [
            first_heads(gaps, [candidate], Heads(), bits=ScriptedBits(candidate), tuning=tuning)
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
    points = np.concatenate(
        [-rng.uniform(0, 600, 3000), -rng.uniform(0, 50, 3000), -(2.0 ** -rng.uniform(0, 80, 500))]
    )
    for found in (np.exp(points), np.array([math.exp(point) for point in points])):
        _assert_close(found, points, lambda x: x.exp())
    words = np.concatenate([rng.uniform(0.5, 2.0**64, 2000), 2.0 ** rng.uniform(0.1, 64, 2000)])
    _assert_close(np.log(words), words, lambda x: x.log())
    small = rng.uniform(0, 2, 2000)
    _assert_close(np.log1p(small), small, lambda x: (1 + x).log())


def _assert_close(found: Any, points: Any, formula: Callable[[Any], Any]) -> None:
    with ctx.workprec(160):
        for point, value in zip(points.tolist(), found.tolist(), strict=True):
            exact = formula(arb(fmpq(*Fraction(point).as_integer_ratio())))
            error = abs(arb(fmpq(*Fraction(value).as_integer_ratio())) - exact)
            assert bool(error <= abs(exact) * arb((1, -49)))


def test_a_child_forked_while_balls_are_in_use_can_use_them() -> None:
    """The parent holds the lock on the precision in another thread when the child is born."""
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
        assert forked(choose) == (0, b"")  # a child that waits for the lock is ended
    finally:
        release.set()
        holder.join()
