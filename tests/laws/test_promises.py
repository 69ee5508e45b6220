"""Every promise of every registered mechanism is audited; a planted lie is refuted.

A new line in the registry is audited without changes here, in every measure in which it promises anything,
including (ε, δ).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Exponential,
    NoisyMax,
    PermuteAndFlip,
    PureDP,
    Scores,
)
from discreet._exact.numbers.exact import Exact
from discreet._exact.numbers.noise_scales import NoiseScales
from discreet.audit import Regular, Verdict, audit
from discreet.guarantees import Guarantee, LaplaceDominated
from discreet.guarantees.conversions import zcdp_of_bounded_range
from discreet.mechanisms import MECHANISMS, STREAMS, CrossingRule, LargeGap, Mechanism
from discreet.mechanisms.mechanism import facts_of
from tests.tools.remembering import weigh_once

PRIVATE = [name for name, make in MECHANISMS.items() if make(epsilon=1).private]
DELTAS = ("1e-3", "0.02", "0.2")


@pytest.fixture(autouse=True)
def _laws_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute each law once, because every claim is audited at the same scores."""
    weigh_once(monkeypatch)


def claims_of(mechanism: Mechanism) -> list[Guarantee]:
    """Return all promises of a mechanism at range distance 2: each measure with a finite figure."""
    promise = mechanism.promise_at(Fraction(2))
    deltas = [str(promise.delta)] if isinstance(promise, ApproxDP) else DELTAS
    claims: list[Guarantee] = [promise.to(measure) for measure in (PureDP, BoundedRange, ZCDP)]
    claims += [promise.to(ApproxDP, delta=delta) for delta in deltas]
    if isinstance(promise, LaplaceDominated):
        claims.append(LaplaceDominated(promise.exact))
    return [claim for claim in claims if _number(claim) < math.inf]


def _number(claim: Any) -> Exact:
    return claim.exact[0] if isinstance(claim, ApproxDP) else claim.exact


def audited(mechanism: Mechanism, *, n: Any = (2, 3, 4)) -> Iterator[Verdict]:
    for claim in claims_of(mechanism):
        yield audit(mechanism, claim, n=n, effort="quick")


@pytest.mark.parametrize(("epsilon", "n"), [("0.3", (2, 3)), ("1", (2, 3, 4)), ("4", (2, 3))])
@pytest.mark.parametrize("name", PRIVATE)
def test_every_promise_survives_the_audit(name: str, epsilon: str, n: Any) -> None:
    verdicts = list(audited(MECHANISMS[name](epsilon=epsilon), n=n))
    assert verdicts
    for verdict in verdicts:
        assert verdict.status == "proved", str(verdict)


@pytest.mark.parametrize("name", MECHANISMS)
def test_regularity_is_stated_where_it_is_proved(name: str) -> None:
    mechanism = MECHANISMS[name](epsilon=1)
    facts = facts_of(mechanism)
    assert facts is not None
    assert (audit(mechanism, Regular(), n=(2, 3)).status == "proved") == facts.regular
    if facts.symmetric:
        parts = Regular(symmetric=True, shift_invariant=True, monotonic=False)
        assert audit(mechanism, parts, n=(2, 3)).holds


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_laws_in_floats_and_in_balls_are_the_same(name: str) -> None:
    for values in ([3, 1, 2, 3], [0, 5], [7], [0.5, 0.25, -3.0]):
        for options in (
            {"epsilon": 1},
            {"scale": 3},
            {"scale": 0},
            {"epsilon": 2, "optimize": "min"},
        ):
            mechanism = MECHANISMS[name](**options)
            scores = Scores(values, sensitivity=1)
            balls = mechanism.ball_probabilities(scores)
            assert np.allclose([float(ball) for ball in balls], mechanism.probabilities(scores))
    facts = MECHANISMS[name](epsilon=1).facts
    assert (facts.law is None) == (facts.ball_law is None)
    if facts.law is not None and facts.missed is not None:
        for n, gamma in ((2, 0.5), (5, 3.0), (40, 0.1)):
            gaps = np.full(n, gamma)
            gaps[0] = 0.0
            assert facts.missed(n, gamma) == pytest.approx(float(facts.law(gaps)[1:].sum()))


@pytest.mark.parametrize("crossings", [1, 3])
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("name", STREAMS)
def test_every_promise_about_a_stream_survives_the_audit(
    name: str, monotonic: bool, crossings: int
) -> None:
    """The audit uses ε = 1; another ε gives the same lists of answers at other distances."""
    rule = STREAMS[name](
        epsilon=1, threshold=3, sensitivity=1, crossings=crossings, monotonic=monotonic
    )
    for measure in (PureDP, BoundedRange, ZCDP):
        assert rule.guarantee(measure) == rule.guarantee().to(measure)
    verdict = audit(rule, rule.guarantee())
    assert verdict.status == "proved", str(verdict)
    # The figure is not too high either.
    assert verdict.measured > 0.999


# ---- planted lies ------------------------------------------------------------------------------


class HalfTheCost(Exponential):
    def _promise(self, epsilon: Exact) -> Guarantee:
        return BoundedRange(epsilon / 2)


class PublishedRange(PermuteAndFlip):
    def _promise(self, epsilon: Exact) -> Guarantee:
        return BoundedRange(epsilon)


class PublishedRho(NoisyMax):
    """Claims ε²/8 for exponential noise."""

    def _promise(self, epsilon: Exact) -> Guarantee:
        return ZCDP(epsilon * epsilon / 8)


class SmallerRho(Exponential):
    """Claims a hundredth less than the exact constant, in zCDP only."""

    def _promise(self, epsilon: Exact) -> Guarantee:
        assert isinstance(epsilon, Fraction)
        return ZCDP(zcdp_of_bounded_range(epsilon) * Fraction(99, 100))


class SmallerDelta(LargeGap):
    def _promise(self, epsilon: Exact) -> Guarantee:
        return ApproxDP(epsilon, self._delta * Fraction(9, 10))


class NoDelta(LargeGap):
    def _promise(self, epsilon: Exact) -> Guarantee:
        return PureDP(epsilon)


class AlwaysMonotonic(PermuteAndFlip):
    """Noise for monotonic scores, used for all scores."""

    def _scale_for(self, scores: Scores) -> Fraction:
        return super()._scale_for(scores) / (1 if scores.monotonic else 2)


class Sharper(PermuteAndFlip):
    """Spends two hundredths more than it claims."""

    def _scale_for(self, scores: Scores) -> Fraction:
        return super()._scale_for(scores) * Fraction(50, 51)


class WrongInCrowds(Exponential):
    """Honest with two or three candidates; with four, one answer in thirty is the true best."""

    def _mass(self, scores: Scores, *, log: bool) -> Any:
        mass = super()._mass(scores, log=False)
        if len(scores) > 3:
            best = np.asarray(scores.values == scores.values.max())
            mass = 0.97 * mass + 0.03 * best / best.sum()
        return np.log(mass) if log else mass


LIARS = [
    HalfTheCost,
    PublishedRange,
    PublishedRho,
    SmallerRho,
    SmallerDelta,
    NoDelta,
    AlwaysMonotonic,
    Sharper,
    WrongInCrowds,
]


@pytest.mark.parametrize("liar", LIARS)
def test_a_planted_lie_is_refuted(liar: type[Mechanism]) -> None:
    n = 4 if liar is WrongInCrowds else (2, 3)
    assert any(verdict.status == "refuted" for verdict in audited(liar(epsilon=1), n=n))


class _Lying(CrossingRule):
    """A stream mechanism with too little noise for its promise."""

    factors = (Fraction(1), Fraction(1))

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        scales = self.scales
        less = NoiseScales(
            scales.threshold * self.factors[0], scales.query * self.factors[1], scales.two_sided
        )
        object.__setattr__(self, "scales", less)


class QuieterThreshold(_Lying):
    factors = (Fraction(50, 51), Fraction(1))


class QuieterValues(_Lying):
    factors = (Fraction(1), Fraction(50, 51))


class OneCrossingPaid(_Lying):
    """Uses noise for one crossing, whatever was promised: Lee and Clifton's error."""

    factors = (Fraction(1), Fraction(1, 3))


class AsIfMonotonic(_Lying):
    factors = (Fraction(1), Fraction(1, 2))


class HardlyThresholdNoise(_Lying):
    factors = (Fraction(1, 100), Fraction(1))


@pytest.mark.parametrize(
    "liar", [QuieterThreshold, QuieterValues, OneCrossingPaid, AsIfMonotonic, HardlyThresholdNoise]
)
@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_a_planted_lie_about_a_stream_is_refuted(liar: type[_Lying], noise: str) -> None:
    rule = liar(epsilon=1, threshold=3, sensitivity=1, crossings=3, noise=noise)
    assert audit(rule, rule.guarantee()).status == "refuted"


# ---- a lie of one part in a thousand -----------------------------------------------------------


def _rho_of_range(eta: Decimal) -> Decimal:
    ratio = eta / (1 - (-eta).exp())
    return ratio - 1 - ratio.ln()


def _page_formulas(epsilon: Decimal, delta: Decimal) -> dict[tuple[str, str], Decimal]:
    """Evaluate in decimals the bounds that the pages state as not attained."""
    laplace = epsilon + (-epsilon).exp() - 1
    eta = 2 * (2 * (epsilon / 2).exp() - 1).ln()
    coins = min(laplace, _rho_of_range(eta))
    return {
        ("permute-and-flip", "ZCDP"): coins,
        ("noisy-max-exponential", "ZCDP"): coins,
        ("noisy-max-laplace", "BoundedRange"): 2 * epsilon,
        ("noisy-max-laplace", "ZCDP"): laplace,
        ("noisy-max-laplace", "LaplaceDominated"): epsilon,
        ("noisy-max-laplace", "ApproxDP"): epsilon + 2 * (1 - delta).ln(),
    }


def lie_about(claim: Any) -> Guarantee:
    """Return the same claim with a figure that is smaller by one part in a thousand."""
    part = Fraction(999, 1000)
    if isinstance(claim, ApproxDP):
        return ApproxDP(claim.exact[0], claim.exact[1] * part)
    smaller: Guarantee = type(claim)(claim.exact * part)
    return smaller


@pytest.mark.parametrize("name", PRIVATE)
def test_a_lie_of_one_part_in_a_thousand(name: str) -> None:
    """A bound that a page calls exact is refuted at 0.999 of it; the others match the page's formula."""
    mechanism = MECHANISMS[name](epsilon=1)
    formulas = _page_formulas(Decimal(1), Decimal("0.02"))
    for claim in claims_of(mechanism):
        if isinstance(claim, ApproxDP) and claim.delta not in (0.02, 1e-6):
            continue
        formula = formulas.get((name, type(claim).__name__))
        if formula is None:
            verdict = audit(mechanism, lie_about(claim), n=2, effort="quick", monotonic=False)
            assert verdict.status == "refuted", str(verdict)
            continue
        stated = Decimal(float(_number(claim)))
        assert formula - Decimal("1e-15") <= stated <= formula * (1 + Decimal("1e-12"))
        # The comparison finds a planted lie in such a promise.
        assert not formula - Decimal("1e-15") <= stated * Decimal("0.999")
