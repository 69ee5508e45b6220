"""A total is divided as well as by brute force, and costs at most as much as equal shares."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from discreet.study.split import Curve, weakest


def _falling(size: float, *, wanted: float = 1.0, power: int = 1) -> Curve:
    return Curve(lambda epsilon: (size / float(epsilon), float(epsilon) ** power), wanted)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("sizes", [(1.0, 1.0, 1.0), (1.0, 5.0, 40.0), (0.01, 300.0, 7.0)])
def test_the_weakest_is_as_good_as_by_brute_force(sizes: tuple[float, ...], power: int) -> None:
    """Compare with all splits on a grid of hundredths; under ρ, costs are squares of ε."""
    most = 2.0
    curves = [_falling(size, power=power) for size in sizes]
    found = weakest(curves, most)
    assert found is not None
    costs = [float(epsilon) ** power for epsilon in found]
    assert sum(costs) == pytest.approx(most, rel=1e-3)
    assert sum(costs) <= most * (1 + 1e-9)
    reached = max(size / float(epsilon) for size, epsilon in zip(sizes, found, strict=True))
    best = min(
        max(
            size / (share / 100 * most) ** (1 / power)
            for size, share in zip(sizes, (*shares, 100 - sum(shares)), strict=True)
        )
        for shares in itertools.product(range(1, 100), repeat=2)
        if sum(shares) < 100
    )
    assert reached <= best * 1.01
    equal = max(size / (most / 3) ** (1 / power) for size in sizes)
    assert reached <= equal * (1 + 1e-3)


def test_weights_and_wanted_errors_divide_the_ratio() -> None:
    found = weakest([_falling(10, wanted=5), _falling(10, wanted=2.5)], 3.0)
    assert found is not None
    assert [round(float(each), 3) for each in found] == [1.0, 2.0]


def test_errors_that_jump_and_errors_that_nothing_reaches() -> None:
    jumping = Curve(lambda epsilon: (0.0 if epsilon >= 1 else 9.0, float(epsilon)), 1.0)
    found = weakest([jumping, _falling(1)], 3.0)
    assert found is not None
    assert sum(found) <= 3
    assert weakest([Curve(lambda epsilon: (5.0, float(epsilon) + 9), 1.0)], 3.0) is None
    assert jumping.epsilon_for(1.0) == pytest.approx(1.0, rel=0.26)
    stubborn = Curve(lambda _epsilon: (5.0, 1.0), 1.0)
    assert stubborn.epsilon_for(1.0) == float("inf")
    assert Fraction(found[0]) > 0
