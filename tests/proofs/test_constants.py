"""The figures that the code reports are the theorems' formulas, rounded up very slightly."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

from discreet import ZCDP, ApproxDP, BoundedRange, PermuteAndFlip, PureDP, Scores
from discreet._exact.sampling.thinning import _LEVELS_PER_GAMMA
from discreet.guarantees import LaplaceDominated
from discreet.guarantees.conversions import (
    _orders,
    epsilon_of_zcdp,
    range_of_flipped_coins,
    zcdp_of_bounded_range,
    zcdp_of_pure,
)
from discreet.mechanisms import LargeGap
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.questions.scoring import quantile_sensitivity, within
from discreet.questions.unknown_domain import Limits
from discreet.tuning import Poisson
from discreet.tuning.laws import cost_of_halting
from tests.proofs.formulas import CONSTANTS, evaluate, formulas

KNOWN = formulas(CONSTANTS.read_text(encoding="utf-8"))
CASES = 300
GENERATOR = random.Random(20261116)  # noqa: S311  # cases, not secrets


def _epsilon() -> Fraction:
    return Fraction(GENERATOR.randint(1, 8000), 1000)


def _chance() -> Fraction:
    return Fraction(GENERATOR.randint(1, 999), 1000 * 10 ** GENERATOR.randint(0, 6))


def _scale(epsilon: Fraction, distance: Fraction) -> Any:
    return PermuteAndFlip(epsilon=epsilon)._scale_for(Scores([0, 1], range_distance=distance))


def _people(epsilon: Fraction, delta: Fraction, people: Fraction) -> Any:
    return ApproxDP(epsilon, delta / 10**12).for_people(int(people)).exact[1] * 10**12


def _parts() -> tuple[Fraction, Fraction]:
    level = Fraction(GENERATOR.randint(1, 999), 1000)
    return Fraction(level.numerator), Fraction(level.denominator)


# Name: the code's figure, with parameters in the order of the formula. A negative ε is reported as 0.
REPORTED: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Fraction, ...]]]] = {
    "scale_of": (_scale, lambda: (_epsilon(), _epsilon())),
    "distance_general": (
        lambda moved: Scores([0, 1], sensitivity=moved).range_distance,
        lambda: (_epsilon(),),
    ),
    "distance_monotone": (
        lambda moved: Scores([0, 1], sensitivity=moved, monotonic=True).range_distance,
        lambda: (_epsilon(),),
    ),
    "range_permute_and_flip": (range_of_flipped_coins, lambda: (_epsilon(),)),
    "epsilon_laplace": (
        lambda e, d: LaplaceDominated(e).to(ApproxDP, delta=d).exact[0],
        lambda: (_epsilon(), _chance()),
    ),
    "range_of_pure": (lambda e: PureDP(e).to(BoundedRange).exact, lambda: (_epsilon(),)),
    "epsilon_of_pure": (
        lambda e, d: PureDP(e).to(ApproxDP, delta=d).exact[0],
        lambda: (_epsilon(), _chance()),
    ),
    "epsilon_of_approx": (
        lambda e, lost, d: ApproxDP(e, lost).to(ApproxDP, delta=d).exact[0],
        lambda: (_epsilon(), *sorted((_chance(), _chance()))),
    ),
    "epsilon_of_range": (
        lambda e, d: BoundedRange(e).to(ApproxDP, delta=d).exact[0],
        lambda: (_epsilon(), _chance()),
    ),
    "delta_of_people": (
        _people,
        lambda: (_epsilon(), _chance(), Fraction(GENERATOR.randint(2, 4))),
    ),
    "concentrated_of_pure": (lambda e: PureDP(e).to(ZCDP).exact, lambda: (_epsilon(),)),
    "concentrated_of_range": (lambda e: BoundedRange(e).to(ZCDP).exact, lambda: (_epsilon(),)),
    "concentrated_of_laplace": (
        lambda e: LaplaceDominated(e).to(ZCDP).exact,
        lambda: (_epsilon(),),
    ),
    "concentrated_of_people": (
        lambda rho, people: ZCDP(rho).for_people(int(people)).exact,
        lambda: (_epsilon(), Fraction(GENERATOR.randint(1, 4))),
    ),
    "sensitivity_quantile": (
        lambda part, whole: quantile_sensitivity(part / whole, ADD_REMOVE).delta,
        _parts,
    ),
    "sensitivity_quantile_replace": (
        lambda part, whole: quantile_sensitivity(part / whole, REPLACE).delta,
        _parts,
    ),
    "cost_of_halting": (
        lambda e, gamma, eta: cost_of_halting(e, gamma, 1 + eta),
        lambda: (_epsilon(), _chance(), Fraction(GENERATOR.randint(-999, 4000), 1000)),
    ),
    "cost_of_poisson": (
        lambda e, mean: Poisson(mean=mean).pure(e),
        lambda: (_epsilon(), _epsilon()),
    ),
}
# Bounds from Hoeffding's lemma; the code reports smaller figures.
BOUNDED = {
    "concentrated_of_range_at_most": zcdp_of_bounded_range,
    "concentrated_of_pure_at_most": zcdp_of_pure,
}
# The curves that are solved for ε above, and a range that the code does not use.
NOT_REPORTED = {
    "delta_laplace",
    "delta_of_pure",
    "delta_of_approx",
    "delta_of_range",
    "range_permute_and_flip_counts",
}


@pytest.fixture(autouse=True)
def _precision() -> Any:
    before, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = before


def _ball(value: Fraction) -> Any:
    return arb(value.numerator) / arb(value.denominator)


def _agrees(reported: Any, formula: Any) -> bool:
    """Check that the figure is rounded up by less than one part in 10^12; ln of zero or less is zero."""
    if not formula.is_finite() or formula < 0:
        return bool(reported == 0)
    value = _ball(Fraction(reported))
    above, below = formula - arb(2) ** -150, formula * (1 + arb(10) ** -12) + arb(10) ** -15
    return bool(value > above) and bool(value < below)


@pytest.mark.parametrize("name", REPORTED)
def test_what_is_reported_is_the_formula_of_the_theorem(name: str) -> None:
    report, draw = REPORTED[name]
    for _ in range(CASES):
        case = draw()
        formula = evaluate(name, [_ball(value) for value in case], KNOWN)
        assert _agrees(report(*case), formula), (name, case)


@pytest.mark.parametrize("name", BOUNDED)
def test_what_is_reported_is_below_the_bound_that_is_checked(name: str) -> None:
    for _ in range(CASES):
        epsilon = _epsilon()
        assert _ball(BOUNDED[name](epsilon)) < evaluate(name, [_ball(epsilon)], KNOWN)  # type: ignore[arg-type]


def test_concentrated_to_approximate_is_the_formula_at_one_of_the_orders() -> None:
    for _ in range(CASES):
        rho, delta = _epsilon() ** 2 / 8, _chance()
        values = [
            evaluate("epsilon_of_concentrated", [_ball(rho), _ball(delta), _ball(order)], KNOWN)
            for order in _orders(rho, delta)
        ]
        reported = epsilon_of_zcdp(rho, delta)
        assert any(_agrees(reported, value) for value in values), (rho, delta)


def test_the_margin_of_an_unknown_domain_is_the_formula_rounded_up() -> None:
    for _ in range(CASES):
        epsilon, delta, touched = _epsilon(), _chance(), GENERATOR.randint(1, 200)
        limits = Limits(epsilon=epsilon, delta=delta, considered=touched, touched=touched)
        arguments = [_ball(epsilon), _ball(delta), arb(touched)]
        formula = evaluate("margin_unknown_domain", arguments, KNOWN)
        assert limits.margin - 2 < formula <= limits.margin - 1


def test_what_is_printed_about_a_noisy_count_is_the_formula_of_its_tail() -> None:
    for _ in range(CASES):
        epsilon = _epsilon()
        reach = within(epsilon)
        beyond, before = (
            evaluate("tail_noisy_count", [_ball(epsilon), arb(t)], KNOWN)
            for t in (reach, reach - 1)
        )
        assert beyond < 0.05 * (1 + 1e-6)
        assert reach == 0 or before > 0.05 * (1 - 1e-6)


def test_the_share_of_large_gap_is_the_formula() -> None:
    """With two candidates and a lead of d, the other gets W/2 − a(1 − W), where W = e^−ε."""
    scores = Scores([1, 0], range_distance=1)
    for _ in range(CASES):
        epsilon, delta = _epsilon(), _chance() / 2
        left = LargeGap(epsilon=epsilon, delta=delta).ball_probabilities(scores, bits=200)[1]
        weight = (-_ball(epsilon)).exp()
        share = evaluate("share_of_large_gap", [_ball(epsilon), _ball(delta)], KNOWN)
        assert (weight / 2 - share * (1 - weight)).overlaps(left), (epsilon, delta)
        assert not (weight / 2 - 2 * share * (1 - weight)).overlaps(left)


def test_the_float_of_levels_is_that_of_lemma_9() -> None:
    plans = CONSTANTS.with_name("Plans.v").read_text(encoding="utf-8")
    [(above, below)] = re.findall(r"levels_per_gamma : R := (\d+) / (\d+)", plans)
    assert Fraction(int(above), int(below)) == Fraction(_LEVELS_PER_GAMMA)


def test_every_formula_is_compared_and_stands_in_a_theorem() -> None:
    elsewhere = {
        "epsilon_of_concentrated",
        "margin_unknown_domain",
        "tail_noisy_count",
        "share_of_large_gap",
    }
    assert set(KNOWN) == {*REPORTED, *BOUNDED, *NOT_REPORTED, *elsewhere}
    statements = CONSTANTS.with_name("Statements.v").read_text(encoding="utf-8")
    used = statements + CONSTANTS.read_text(encoding="utf-8").partition("delta_of_approx")[2]
    for name in KNOWN:
        assert re.search(rf"\b{name}\b", used), name


def test_the_curves_and_the_solved_formulas_agree() -> None:
    pairs = {
        "epsilon_laplace": "delta_laplace",
        "epsilon_of_pure": "delta_of_pure",
        "epsilon_of_range": "delta_of_range",
    }
    for solved, curve in pairs.items():
        epsilon, delta = _ball(Fraction(2)), _ball(Fraction(1, 1000))
        back = evaluate(curve, [epsilon, evaluate(solved, [epsilon, delta], KNOWN)], KNOWN)
        assert back.overlaps(delta)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("scale_of", "d / eps", "d / (2 * eps)"),
        ("distance_general", "2 * D", "D"),
        ("range_permute_and_flip", "2 * exp (eps / 2) - 1", "2 * exp (eps / 2) - 2"),
        ("epsilon_laplace", "eps + 2 * ln", "eps + ln"),
        ("epsilon_of_range", "delta * (1 - exp (- eps))", "delta"),
        ("delta_of_people", "exp eps - 1", "exp eps"),
        ("concentrated_of_people", "people ^ 2", "people"),
        ("sensitivity_quantile", "Rmax part", "Rmin part"),
    ],
)
def test_a_changed_factor_is_caught(name: str, right: str, wrong: str) -> None:
    text = CONSTANTS.read_text(encoding="utf-8")
    start = text.index(f"Definition {name} ")
    changed = formulas(text[:start] + text[start:].replace(right, wrong, 1))
    assert changed[name] != KNOWN[name]
    report, draw = REPORTED[name]
    cases = [draw() for _ in range(20)]
    assert not all(
        _agrees(report(*case), evaluate(name, [_ball(v) for v in case], changed)) for case in cases
    )


def test_a_noise_scale_of_sensitivity_over_epsilon_is_caught() -> None:
    """The defect is planted in the code; general scores need 2Δ/ε."""
    moved, epsilon = Fraction(1), Fraction(1, 2)
    distance = evaluate("distance_general", [_ball(moved)], KNOWN)
    scale = evaluate("scale_of", [_ball(epsilon), distance], KNOWN)
    honest = _scale(epsilon, Scores([0, 1], sensitivity=moved).range_distance)
    assert _agrees(honest, scale)
    assert not _agrees(moved / epsilon, scale)
    assert math.isclose(float(honest), 4)
