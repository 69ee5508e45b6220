"""The balls agree with formulas, and with integrals computed in another way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from flint import acb, arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet._exact.distribution import reference
from discreet.errors import ParameterError, ScoresError

gap_lists = st.lists(st.fractions(0, 6, max_denominator=20), max_size=3).map(
    lambda rest: [Fraction(0), *rest]
)


def test_bad_arguments_of_the_balls_are_refused() -> None:
    zero = Fraction(0)
    for gammas in ([], [Fraction(1)], [zero, Fraction(-1)]):
        with pytest.raises(ScoresError):
            reference.permute_and_flip_ball(gammas)
    with pytest.raises(ParameterError):
        reference.exponential_ball([zero], bits=10)


@settings(max_examples=40, deadline=None)
@given(gap_lists)
def test_balls_of_permute_and_flip_contain_the_sum_over_subsets(gammas: list[Fraction]) -> None:
    balls = reference.permute_and_flip_ball(gammas)
    with ctx.workprec(300):
        coins = [(-arb(fmpq(g.numerator, g.denominator))).exp() for g in gammas]
        for r, ball in enumerate(balls):
            others = coins[:r] + coins[r + 1 :]
            total = arb(0)
            for subset in range(1 << len(others)):
                members = [coin for t, coin in enumerate(others) if subset >> t & 1]
                sign = -1 if len(members) % 2 else 1
                total += math.prod(members, start=arb(sign) / (len(members) + 1))
            assert ball.overlaps(coins[r] * total)
            assert ball.rad() < arb(2) ** -190
        assert sum(balls, arb(0)).contains(1)


def _laplace_by_definition(gammas: Sequence[Fraction], r: int) -> Any:
    """Compute ∫ f(y − q_r) Π F(y − q_t) dy by rigorous adaptive integration, score by score."""
    scores = [-g for g in gammas]
    edges = sorted({Fraction(-120), *scores, Fraction(120)})

    def piece(low: Fraction, high: Fraction) -> Callable[[Any, bool], Any]:
        middle = (low + high) / 2

        def integrand(y: Any, _analytic: bool) -> Any:
            value = acb(1)
            for t, q in enumerate(scores):
                shift = y - acb(fmpq(q.numerator, q.denominator))
                tail = (-shift if middle > q else shift).exp() / 2
                value *= tail if t == r or middle <= q else 1 - tail
            return value

        return integrand

    total = acb(0)
    for low, high in pairwise(edges):
        start, stop = (acb(fmpq(x.numerator, x.denominator)) for x in (low, high))
        total += acb.integral(piece(low, high), start, stop)
    return total.real


@settings(max_examples=12, deadline=None)
@given(gap_lists)
def test_balls_of_noisy_max_agree_with_the_definition(gammas: list[Fraction]) -> None:
    balls = reference.noisy_max_laplace_ball(gammas)
    with ctx.workprec(150):
        for r, ball in enumerate(balls):
            assert abs(ball - _laplace_by_definition(gammas, r)) < 1e-35
        assert sum(balls, arb(0)).contains(1)


@pytest.mark.parametrize("gap", [Fraction(0), Fraction(1, 10**9), Fraction(7), Fraction(10**6)])
def test_two_candidates_have_a_closed_form(gap: Fraction) -> None:
    best, other = reference.noisy_max_laplace_ball([Fraction(0), gap])
    with ctx.workprec(300):
        g = arb(fmpq(gap.numerator, gap.denominator))
        assert other.overlaps((-g).exp() * (2 + g) / 4)
        assert best.overlaps(1 - (-g).exp() * (2 + g) / 4)
        assert (other.rad() / other.mid()) < arb(2) ** -150


def test_enormous_gaps_neither_hang_nor_widen_the_balls() -> None:
    gammas = [Fraction(0), Fraction(10) ** 9, Fraction(10) ** 12, Fraction(10) ** 12 + 1]
    balls = reference.noisy_max_laplace_ball(gammas)
    with ctx.workprec(300):
        # Only the best is near the second: e^{−g}(1/2 + g/4).
        second = arb(-(10**9)).exp() * (2 + arb(10) ** 9) / 4
        assert abs(balls[1] / second - 1) < arb(2) ** -150
        assert max(ball.rad() / ball.mid() for ball in balls) < arb(2) ** -150


def test_many_candidates_keep_narrow_balls() -> None:
    gammas = [Fraction(k * k, 400) for k in range(120)]
    for balls in (
        reference.permute_and_flip_ball(gammas, bits=100),
        reference.noisy_max_laplace_ball(gammas, bits=100),
    ):
        with ctx.workprec(150):
            assert max(ball.rad() / ball.mid() for ball in balls) < arb(2) ** -80
            assert sum(balls, arb(0)).contains(1)


@pytest.mark.parametrize("law", [reference.permute_and_flip_ball, reference.noisy_max_laplace_ball])
@pytest.mark.parametrize("levels", [{0: 79, 2: 1}, {0: 1, 1: 90}, {0: 30, 1: 30, 3: 30}])
def test_crowds_are_the_same_by_either_rule(
    law: Callable[..., list[Any]], levels: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    gammas = [Fraction(level) for level, count in levels.items() for _ in range(count)]
    adaptive = law(gammas)
    monkeypatch.setattr("discreet._exact.distribution.reference._FEW_LEVELS", 0)
    for one, two in zip(adaptive, law(gammas), strict=True):
        assert one.overlaps(two)
        assert float(one.rad()) < 1e-50 * float(one.mid())


def test_ten_thousand_candidates_keep_narrow_balls() -> None:
    gammas = [Fraction(0)] * 9_998 + [Fraction(2), Fraction(3)]
    for law in (reference.permute_and_flip_ball, reference.noisy_max_laplace_ball):
        balls = law(gammas)
        assert abs(sum(balls, arb(0)) - 1) < 1e-10
        assert all(float(ball.rad()) < 1e-50 * float(ball.mid()) for ball in balls[-3:])
