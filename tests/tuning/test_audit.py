"""The exact audit: its findings come within 1 % of our claims, and common wrong claims are refuted."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from flint import arb, ctx, fmpq

from discreet import PureDP
from discreet.errors import ParameterError
from discreet.tuning import (
    Fixed,
    Geometric,
    NegativeBinomial,
    Poisson,
    RunCount,
    audit_tuning,
    cost_of_tuning,
)
from discreet.tuning.audit import law_of_best

_LAWS = [
    Geometric(mean=5),
    NegativeBinomial(mean=20, shape=0),
    NegativeBinomial(mean=3, shape="-0.5"),
    Poisson(mean=10),
]


@pytest.mark.parametrize("runs", _LAWS, ids=repr)
@pytest.mark.parametrize("epsilon", ["0.1", 2])
def test_the_claim_for_pure_runs_is_met_within_one_percent(runs: RunCount, epsilon: object) -> None:
    claim = cost_of_tuning(PureDP(epsilon), runs=runs)
    assert isinstance(claim, PureDP)
    verdict = audit_tuning(claim, epsilon=epsilon, runs=runs)
    assert verdict.holds
    assert verdict.found > 0.99 * claim.epsilon
    assert audit_tuning(claim, epsilon=epsilon, runs=runs, outcomes=2).holds


def test_a_claim_one_percent_too_small_is_refuted() -> None:
    runs = Geometric(mean=20)
    claim = cost_of_tuning(PureDP(1), runs=runs)
    assert isinstance(claim, PureDP)
    planted = PureDP(claim.epsilon * 0.99)
    verdict = audit_tuning(planted, epsilon=1, runs=runs)
    assert not verdict.holds
    # The witness is a pair of laws, each outcome within a factor e of the other.
    assert sum(verdict.run) == sum(verdict.neighbour) == 1
    for one, two in zip(verdict.run, verdict.neighbour, strict=True):
        assert Fraction(1, 2718281829) * 10**9 <= one / two <= Fraction(2718281829, 10**9)


@pytest.mark.parametrize("claim", [1, 2, 3, 4])
def test_the_epsilon_of_the_winner_is_refuted_for_a_fixed_or_shown_number(claim: int) -> None:
    """If everybody knows that there are five runs, 5ε is true and no smaller figure is."""
    assert not audit_tuning(PureDP(claim), epsilon=1, runs=Fixed(5), outcomes=2).holds
    assert audit_tuning(PureDP(5), epsilon=1, runs=Fixed(5), outcomes=2).holds


def test_a_target_costs_what_is_claimed() -> None:
    runs = Geometric(mean=50)
    claim = cost_of_tuning(PureDP(1), runs=runs, target=True)
    assert isinstance(claim, PureDP)
    assert claim < PureDP(2)
    verdict = audit_tuning(claim, epsilon=1, runs=runs, target=True, outcomes=2)
    assert verdict.holds
    assert verdict.found > 0.99 * claim.epsilon
    assert verdict.outcome == 2, "the answer 'none' attains it"


def test_the_law_of_the_best_by_adding_up_all_runs() -> None:
    """A slow twin takes the best of all outcomes of k runs, weighted by the masses of K up to 80."""
    masses = (Fraction(1, 5), Fraction(1, 2), Fraction(3, 10))
    runs = Geometric(mean=3)
    expected = [Fraction(0)] * 3
    for k in range(1, 81):
        weight = Fraction(1, 3) * Fraction(2, 3) ** (k - 1)
        if k <= 4:
            for drawn in product(range(3), repeat=k):
                chance = weight
                for outcome in drawn:
                    chance *= masses[outcome]
                expected[max(drawn)] += chance
            continue
        below = Fraction(0)
        for place, mass in enumerate(masses):
            # Σ_j C(k, j) mass^j below^(k−j), j ≥ 1: at least one run at this outcome, none above.
            expected[place] += weight * sum(
                comb(k, j) * mass**j * below ** (k - j) for j in range(1, k + 1)
            )
            below += mass
    with ctx.workprec(128):
        found = law_of_best(runs, [arb(fmpq(m.numerator, m.denominator)) for m in masses])
        for one, two in zip(found, [*expected, 0], strict=True):
            assert abs(float(one.mid()) - float(two)) < 1e-12


def test_wrong_claims_are_refused() -> None:
    with pytest.raises(ParameterError, match="outcomes"):
        audit_tuning(PureDP(1), epsilon=1, runs=Fixed(2), outcomes=4)
    with pytest.raises(ParameterError, match="claim"):
        audit_tuning(1, epsilon=1, runs=Fixed(2))  # type: ignore[arg-type]
