"""The laws of the number of runs: generating functions against sums, means, refusals."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx

from discreet.errors import ParameterError
from discreet.testing import scripted
from discreet.tuning import Fixed, Geometric, NegativeBinomial, Poisson
from discreet.tuning.laws import RandomRunCount
from tests.tools.rounding import assert_rounded_up, ball_of

_LAWS = [
    Geometric(mean=4),
    NegativeBinomial(mean=4, shape=0),
    NegativeBinomial(mean=4, shape="-0.5"),
    NegativeBinomial(mean=4, shape="2.5"),
    Poisson(mean=4),
]


def _masses(runs: RandomRunCount) -> list[float]:
    """Return the masses up to 1,500, from the recurrence in floats, normalised."""
    if isinstance(runs, Poisson):
        weights = [1.0]
        for k in range(1, 1500):
            weights.append(weights[-1] * float(runs.rate) / k)
    else:
        assert isinstance(runs, NegativeBinomial)
        stay = float(1 - runs.halting)
        weights = [0.0, 1.0]
        for k in range(1, 1500):
            weights.append(weights[-1] * stay * (k + float(runs.shape)) / (k + 1))
    total = sum(weights)
    return [weight / total for weight in weights]


@pytest.mark.parametrize("runs", _LAWS, ids=repr)
def test_the_generating_function_and_its_slopes(runs: RandomRunCount) -> None:
    masses = _masses(runs)
    assert abs(runs.mean - 4) < 1e-9
    for x in (0.0, 0.3, 0.9, 1.0):
        with ctx.workprec(128):
            found = [float(form(arb(x)).mid()) for form in (runs.generating, runs.slope, runs.bend)]
        sums = [
            sum(p * x**k for k, p in enumerate(masses)),
            sum(k * p * x ** (k - 1) for k, p in enumerate(masses) if k),
            sum(k * (k - 1) * p * x ** (k - 2) for k, p in enumerate(masses) if k > 1),
        ]
        assert found == pytest.approx(sums, rel=1e-6, abs=1e-9)
    assert runs.chance_of_top("0.1") == pytest.approx(
        1 - sum(p * 0.9**k for k, p in enumerate(masses)), rel=1e-6
    )


def test_each_law_draws_its_own() -> None:
    bits = scripted("laws")
    assert Fixed(7).draw(bits) == 7
    assert Poisson(mean="1e-9").draw(bits) == 0
    for runs in _LAWS[:4]:
        assert runs.draw(bits) >= 1


def test_costs_rise_with_the_mean_and_stay_below_the_published_bound() -> None:
    for shape in ("-0.5", 0, "0.5", 1, 3):
        costs = [
            NegativeBinomial(mean=mean, shape=shape).pure(Fraction(1)) for mean in (2, 10, 100)
        ]
        assert costs == sorted(costs)
        assert 1 < costs[0] < costs[-1] < 2 + Fraction(shape)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Geometric(mean=1), "above 1"),
        (lambda: Geometric(mean=float("inf")), "above 1"),
        (lambda: Geometric(mean=float("nan")), "above 1"),
        (lambda: NegativeBinomial(mean=5, shape=-1), "above -1"),
        (lambda: NegativeBinomial(mean=1, shape=0), "above 1"),
        (lambda: NegativeBinomial(mean=1000, shape="-0.9"), "smaller mean"),
        (lambda: Poisson(mean=0), "above 0"),
        (lambda: Poisson(mean="1e7"), "at most"),
        (lambda: Fixed(0), "1 or above"),
    ],
)
def test_impossible_laws_are_refused(make: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("epsilon", ["0.01", "1", "20"])
def test_what_pure_runs_cost_is_rounded_up(epsilon: str) -> None:
    cost = Fraction(epsilon)
    with ctx.workprec(200):
        e = ball_of(cost)
        for runs in _LAWS:
            if isinstance(runs, Poisson):
                exact = e + ball_of(runs.rate) * (e / 2).tanh()
            else:
                assert isinstance(runs, NegativeBinomial)
                gamma = ball_of(runs.halting)
                ratio = (e.exp() + gamma) / (1 + gamma * e.exp())
                exact = e + ball_of(1 + runs.shape) * ratio.log()
            assert_rounded_up(runs.pure(cost), exact)
