"""The cost of the best of several runs: closed forms, slow twins, dp-accounting, refusals."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet import ZCDP, ApproxDP, BoundedRange, PureDP
from discreet.accounting import Event
from discreet.errors import ParameterError
from discreet.tuning import Fixed, Geometric, NegativeBinomial, Poisson, RunCount, cost_of_tuning
from discreet.tuning.cost import EXACT, WEIGHTED, bounds_of_tuning
from discreet.tuning.laws import RandomRunCount
from discreet.tuning.profiles import profile_of

_LAWS: list[RandomRunCount] = [
    Geometric(mean=10),
    NegativeBinomial(mean=10, shape=0),
    Poisson(mean=6),
]


def _slope(runs: RandomRunCount, x: NDArray[Any]) -> NDArray[Any]:
    """Compute f′ in floats, from its definition as a sum of masses."""
    if isinstance(runs, Poisson):
        return float(runs.rate) * np.exp(float(runs.rate) * (x - 1))
    assert isinstance(runs, NegativeBinomial)
    gamma = float(runs.halting)
    return runs.mean * (gamma / (1 - (1 - gamma) * x)) ** (1 + float(runs.shape))


@pytest.mark.parametrize("runs", _LAWS, ids=repr)
@pytest.mark.parametrize("epsilon", ["0.01", "0.5", 4])
def test_the_closed_form_is_the_maximum_over_a_grid(runs: RandomRunCount, epsilon: str) -> None:
    e = float(epsilon)
    u = np.linspace(1e-9, 1 - 1e-9, 400_001)
    reached = np.minimum(math.exp(e) * u, 1 - math.exp(-e) * (1 - u))
    largest = float(np.max(np.log(_slope(runs, reached) / _slope(runs, u))))
    claimed = cost_of_tuning(PureDP(epsilon), runs=runs)
    assert isinstance(claimed, PureDP)
    assert e + largest <= claimed.epsilon + 1e-9
    assert e + largest == pytest.approx(claimed.epsilon, rel=1e-4)


def test_a_pure_run_as_a_profile_costs_the_same() -> None:
    """Theorem 2 reproduces theorem 1, theorem 3 comes near, and neither is below the exact cost."""
    for runs in _LAWS:
        exact = runs.pure(Fraction(1))
        tiny = Fraction(1, 10**12)
        for bound in bounds_of_tuning(profile_of(PureDP(1)), runs, tiny):
            assert bound.epsilon >= exact - Fraction(1, 10**6), bound
            assert bound.epsilon <= exact * Fraction(1002, 1000), bound


@pytest.mark.parametrize("runs", _LAWS, ids=repr)
@pytest.mark.parametrize(
    "cost", [BoundedRange(1), ApproxDP(1, "1e-4"), ZCDP("0.1"), PureDP(1)], ids=repr
)
def test_no_pair_of_small_runs_exceeds_the_bound(runs: RandomRunCount, cost: Any) -> None:
    """Random pairs of four outcomes within the profile, in every order, stay below the claimed δ.

    The search has power: the largest δ found is at least a hundredth of the one allowed in most cases.
    """
    delta = 0.02
    claimed = cost_of_tuning(cost, runs=runs, delta=delta)
    assert isinstance(claimed, ApproxDP)
    profile = profile_of(cost)
    grid = np.linspace(0, 3, 13)
    allowed = np.array([float(profile.at(Fraction(float(t)))) for t in grid])
    rng = np.random.default_rng(18)
    worst = 0.0
    for _ in range(60):
        second = rng.dirichlet([0.4, 1, 1, 0.4])
        first = second * np.exp(rng.normal(0, 1.0, 4))
        first /= first.sum()
        # Move the two laws towards each other until the pair is within the profile, in both orders.
        for share in np.linspace(0, 1, 21):
            one = first + share * (second - first)
            if all(
                np.maximum(a - np.exp(t) * b, 0).sum() <= limit
                for a, b in ((one, second), (second, one))
                for t, limit in zip(grid, allowed, strict=True)
            ):
                break
        for order in itertools.permutations(range(4)):
            laws = []
            for masses in (one[list(order)], second[list(order)]):
                fine = np.linspace(0, 1, 41)
                below = np.concatenate([[0], np.cumsum(masses)[:-1]])
                # f(b) − f(a) by Simpson's rule on f′.
                places = below[:, None] + masses[:, None] * fine
                weights = np.array([1, *[4, 2] * 19, 4, 1]) / 120
                laws.append(masses * (_slope(runs, places) @ weights))
            worst = max(
                worst, float(np.maximum(laws[0] - math.exp(claimed.epsilon) * laws[1], 0).sum())
            )
    assert worst <= delta * (1 + 1e-6)


def test_the_weighted_bound_is_the_least_for_runs_that_are_not_pure() -> None:
    for cost in (ZCDP("0.05"), [Event(BoundedRange("0.1"), count=50)]):
        for runs in (Geometric(mean=20), Poisson(mean=20)):
            bounds = {
                bound.name: bound.epsilon
                for bound in bounds_of_tuning(profile_of(cost), runs, Fraction(1, 10**5))
            }
            assert min(bounds, key=lambda name: bounds[name]) == WEIGHTED


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [0, "0.5", 2, math.inf], ids=str)
@pytest.mark.parametrize(("mean", "delta"), [(2, 1e-5), (40, 1e-7)])
def test_at_most_what_dp_accounting_says(shape: Any, mean: int, delta: float) -> None:
    """These are a few of the 200 cases of ``benchmarks/tuning.py``."""
    dp_event = pytest.importorskip("dp_accounting.dp_event", reason="dp-accounting is absent")
    from dp_accounting import rdp

    poisson = shape == math.inf
    runs: RunCount = Poisson(mean=mean) if poisson else NegativeBinomial(mean=mean, shape=shape)
    for event in (dp_event.GaussianDpEvent(3.0), dp_event.ZCDpEvent(0.02, 0)):
        accountant = rdp.RdpAccountant()
        accountant.compose(dp_event.RepeatAndSelectDpEvent(event, mean, float(shape)))
        theirs = accountant.get_epsilon(delta)
        ours = cost_of_tuning(event, runs=runs, delta=delta)
        assert isinstance(ours, ApproxDP)
        assert ours.epsilon <= theirs + 1e-9
        assert ours.epsilon < 0.99 * theirs


def test_a_fixed_number_costs_all_the_runs() -> None:
    assert cost_of_tuning(PureDP("0.5"), runs=Fixed(40)) == PureDP(20)
    with_delta = cost_of_tuning(PureDP("0.1"), runs=Fixed(40), delta="1e-6")
    assert isinstance(with_delta, ApproxDP)
    assert with_delta.epsilon < 4
    together = cost_of_tuning(ZCDP("0.01"), runs=Fixed(10), delta="1e-6")
    assert together == ZCDP("0.1").to(ApproxDP, delta="1e-6")


def test_the_delta_of_approximate_runs_is_counted_once_a_run() -> None:
    found = cost_of_tuning(ApproxDP(1, "1e-8"), runs=Geometric(mean=20))
    assert isinstance(found, ApproxDP)
    assert found.exact[1] == Fraction(20, 10**8)
    assert found.epsilon == pytest.approx(float(Geometric(mean=20).pure(Fraction(1))), rel=1e-3)
    # A δ smaller than that of the runs gives no finite ε.
    with pytest.raises(ParameterError, match="no finite cost"):
        cost_of_tuning(ApproxDP(1, "1e-8"), runs=Geometric(mean=20), delta="1e-9")


def test_more_delta_costs_less() -> None:
    for runs in _LAWS:
        costs = [
            cost_of_tuning(PureDP(1), runs=runs, delta=delta).to(ApproxDP, delta=delta).epsilon
            for delta in ("1e-9", "1e-3", "0.05")
        ]
        assert costs == sorted(costs, reverse=True)
        assert costs[0] <= float(runs.pure(Fraction(1))) + 1e-12


@pytest.mark.parametrize(
    ("cost", "given", "words"),
    [
        (PureDP(math.inf), {}, "finite cost"),
        (ZCDP(math.inf), {"delta": "1e-6"}, "finite cost"),
        (ZCDP(1), {}, "delta= is needed"),
        (ZCDP(1), {"delta": 0}, "above 0"),
        (ApproxDP(1, 1), {}, "δ is 1"),
        (1, {}, "a guarantee"),
        ("PureDP(1)", {}, "a guarantee"),
        ([], {}, "empty list"),
        ([PureDP(1), ZCDP(1)], {"delta": "1e-6"}, "mixes measures"),
        (PureDP(1), {"delta": 2}, "from 0 to 1"),
    ],
)
def test_what_has_no_finite_cost_is_refused(cost: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        cost_of_tuning(cost, runs=Geometric(mean=5), **given)


def test_a_target_needs_a_geometric_stop() -> None:
    for runs in (Poisson(mean=5), Fixed(5), NegativeBinomial(mean=5, shape=2)):
        with pytest.raises(ParameterError, match="Geometric"):
            cost_of_tuning(PureDP(1), runs=runs, target=True)
    assert cost_of_tuning(PureDP(1), runs=Geometric(mean=1000), target=True) < PureDP(2)
    with pytest.raises(ParameterError, match="Geometric, NegativeBinomial"):
        cost_of_tuning(PureDP(1), runs=20)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("runs", "target", "theorem"),
    [
        (Geometric(mean=5), False, "tuning_halting_pure_dp"),
        (NegativeBinomial(mean=5, shape=0), False, "tuning_halting_pure_dp"),
        (Poisson(mean=5), False, "tuning_poisson_pure_dp"),
        (Fixed(5), False, "tuning_fixed_pure_dp"),
        (Geometric(mean=5), True, "tuning_target_pure_dp"),
    ],
)
def test_the_law_of_the_number_of_runs_has_its_theorem(
    runs: RunCount, target: bool, theorem: str
) -> None:
    proof = cost_of_tuning(PureDP(1), runs=runs, target=target).proof
    assert proof is not None
    assert proof.theorems == (theorem,)
    assert "no run sees anything of another" in str(proof)


def test_every_figure_names_its_proof() -> None:
    found = cost_of_tuning(PureDP(1), runs=Geometric(mean=5))
    assert "docs/proofs/tuning.md" in str(found.proof)
    assert EXACT in {
        b.name for b in bounds_of_tuning(profile_of(PureDP(1)), _LAWS[0], Fraction(1, 9))
    }
