"""The privacy loss of a pair of neighbours in each measure, in floats and in interval arithmetic.

Every loss considers both directions of a pair. The search uses floats: a loss takes rows of log-probabilities
and returns one number per row. In most measures it is infinite if one neighbour can give an answer that the
other cannot. Witnesses are certified in interval arithmetic: the lower end of the interval is a proved lower
bound on the loss (docs/proofs/auditing.md).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet._exact.numbers.balls import ball_of
from discreet._exact.numbers.exact import Exact
from discreet._exact.numbers.searches import peak
from discreet.audit.relations import Floats
from discreet.audit.subjects import FLOOR
from discreet.errors import ParameterError
from discreet.guarantees import ZCDP, ApproxDP, BoundedRange, Guarantee, LaplaceDominated, PureDP

_LOG_FLOOR = math.log(FLOOR)


@dataclass(frozen=True, slots=True)
class Detail:
    """The answers that cause the loss of one pair.

    If ``swapped``, the two distributions are exchanged: the neighbour's comes first.
    """

    outcome: int
    swapped: bool = False
    other: int | None = None
    order: float | None = None
    event: tuple[int, ...] = ()
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Loss(ABC):
    """A measure of loss. ``claimed`` is the largest loss that the claim allows."""

    claimed: Exact
    symbol: ClassVar[str] = "ε"

    @abstractmethod
    def values(self, first: Floats, second: Floats) -> Floats:
        """Return the loss of each pair of rows, in the direction in which it is larger."""

    @abstractmethod
    def detail(self, first: Floats, second: Floats) -> Detail:
        """Return the answers that cause the loss of one pair."""

    @abstractmethod
    def ball(self, first: Sequence[Any], second: Sequence[Any], detail: Detail) -> Any:
        """Return an interval for the loss that ``detail`` describes; None if the loss is infinite.

        If a probability may be zero, only the lower end is certain: the loss is at least that. The caller has
        already swapped the two sides if ``detail.swapped``.
        """


class _TwoWayLoss(Loss):
    """A loss that depends on the order of the two distributions; the larger of the two values counts."""

    def values(self, first: Floats, second: Floats) -> Floats:
        """Return the loss of each pair of rows, in the direction in which it is larger."""
        return np.maximum(self._one_way(first, second), self._one_way(second, first))

    def detail(self, first: Floats, second: Floats) -> Detail:
        """Return the direction with the larger loss, and the answers that cause it."""
        swapped = bool(self._finest(second, first) > self._finest(first, second))
        if swapped:
            first, second = second, first
        return replace(self._shown_by(first, second), swapped=swapped)

    @abstractmethod
    def _one_way(self, first: Floats, second: Floats) -> Floats:
        """Return the loss of each row of ``first`` against the same row of ``second``, one direction only."""

    def _finest(self, first: Floats, second: Floats) -> Any:
        """Return the one-way loss of a single pair, as precisely as possible."""
        return self._one_way(first, second)

    @abstractmethod
    def _shown_by(self, first: Floats, second: Floats) -> Detail:
        """Return the answers that cause the one-way loss of a single pair."""


def log_ratios(first: Floats, second: Floats) -> Floats:
    """Return the log-ratios ln P − ln Q; NaN for answers that may be impossible under both."""
    with np.errstate(invalid="ignore"):
        ratios: Floats = np.subtract(first, second)
    unknown = (first <= _LOG_FLOOR) & (first == second)
    ratios[unknown] = np.nan
    return ratios


class PureLoss(Loss):
    """The loss of pure DP: the largest |ln P(r) − ln Q(r)| over all answers r."""

    def values(self, first: Floats, second: Floats) -> Floats:
        """Return the loss of each pair of rows."""
        return np.asarray(np.fmax(np.abs(log_ratios(first, second)), 0.0).max(axis=-1))

    def detail(self, first: Floats, second: Floats) -> Detail:
        """Return the answer with the largest absolute log-ratio."""
        ratios = np.nan_to_num(log_ratios(first, second), nan=0.0, posinf=np.inf, neginf=-np.inf)
        outcome = int(np.abs(ratios).argmax())
        return Detail(outcome, swapped=bool(ratios[outcome] < 0))

    def ball(self, first: Sequence[Any], second: Sequence[Any], detail: Detail) -> Any:
        """Return an interval for the log-ratio of the answer in ``detail``."""
        return ball_log_ratio(first[detail.outcome], second[detail.outcome])


class RangeLoss(Loss):
    """The loss of bounded range: the difference between the largest and the smallest log-ratio."""

    def values(self, first: Floats, second: Floats) -> Floats:
        """Return the loss of each pair of rows."""
        ratios = log_ratios(first, second)
        unknown = np.isnan(ratios)
        high = np.where(unknown, -np.inf, ratios).max(axis=-1)
        low = np.where(unknown, np.inf, ratios).min(axis=-1)
        return np.asarray(high - low)

    def detail(self, first: Floats, second: Floats) -> Detail:
        """Return the two answers whose log-ratios lie furthest apart."""
        ratios = log_ratios(first, second)
        return Detail(int(np.nanargmax(ratios)), other=int(np.nanargmin(ratios)))

    def ball(self, first: Sequence[Any], second: Sequence[Any], detail: Detail) -> Any:
        """Return an interval for the difference between the log-ratios of the two answers in ``detail``."""
        assert detail.other is not None
        high = ball_log_ratio(first[detail.outcome], second[detail.outcome])
        low = ball_log_ratio(second[detail.other], first[detail.other])
        return None if high is None or low is None else high + low


@dataclass(frozen=True, slots=True)
class HockeyStickLoss(_TwoWayLoss):
    """The loss of (ε, δ): the δ needed at the claimed ε, the sum of all positive P(r) − e^ε Q(r)."""

    epsilon: Exact
    symbol: ClassVar[str] = "δ"

    def _one_way(self, first: Floats, second: Floats) -> Floats:
        return hockey_stick(first, second, float(self.epsilon))

    def _shown_by(self, first: Floats, second: Floats) -> Detail:
        return _event(first, second, float(self.epsilon))

    def ball(self, first: Sequence[Any], second: Sequence[Any], detail: Detail) -> Any:
        """Return an interval that contains P(S) − e^ε Q(S) for the event S in ``detail``."""
        return _ball_excess(first, second, detail.event, ball_of(Fraction(self.epsilon)))


def _event(first: Floats, second: Floats, epsilon: float) -> Detail:
    """Return all answers that are more than e^ε times as likely under P as under Q."""
    excess = _excess(first, second, epsilon)
    event = tuple(int(place) for place in np.flatnonzero(excess > 0))
    return Detail(int(excess.argmax()), event=event, threshold=epsilon)


def _excess(first: Floats, second: Floats, epsilon: float | Floats) -> Floats:
    # Computed as P·(1 − e^(ε − L)), because e^ε by itself could overflow.
    with np.errstate(invalid="ignore", over="ignore"):
        factor = -np.expm1(np.minimum(epsilon - (first - second), 1.0))
        return np.where(first == -np.inf, 0.0, np.exp(first) * np.nan_to_num(factor, nan=0.0))


def hockey_stick(first: Floats, second: Floats, epsilon: float | Floats) -> Floats:
    """Return δ(ε), the sum of all positive P(r) − e^ε Q(r), from log-probabilities along the last axis."""
    return np.asarray(np.maximum(_excess(first, second, epsilon), 0.0).sum(axis=-1))


# D_α/α is nearly always largest at order 1; the search tries these orders for the other cases.
_ORDERS = (1.5, 4.0, 32.0)


class RenyiLoss(_TwoWayLoss):
    """The loss of zCDP: the largest D_α/α over orders α > 1 and the limit α → 1 (Kullback–Leibler)."""

    symbol: ClassVar[str] = "ρ"

    def _one_way(self, first: Floats, second: Floats) -> Floats:
        orders = [renyi(first, second, order) / order for order in _ORDERS]
        return np.asarray(np.max([kullback_leibler(first, second), *orders], axis=0))

    def _finest(self, first: Floats, second: Floats) -> Any:
        return self._best_order(first, second)[0]

    def _shown_by(self, first: Floats, second: Floats) -> Detail:
        """Return the order with the largest loss (1 for the limit α → 1), and one answer to show."""
        ratios = log_ratios(first, second)
        return Detail(int(np.nanargmax(ratios)), order=self._best_order(first, second)[1])

    @staticmethod
    def _best_order(first: Floats, second: Floats) -> tuple[float, float]:
        def value(log_excess: float) -> float:
            order = 1 + math.exp(log_excess)
            return float(renyi(first, second, order)) / order

        at_one = float(kullback_leibler(first, second))
        points = np.linspace(math.log(1e-3), math.log(1e4), 60).tolist()
        best = max(range(len(points)), key=lambda place: value(points[place]))
        top = peak(value, points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)])
        # Near order 1 the sum suffers from cancellation; the limit has its own formula.
        return max((at_one, 1.0), (value(top) if top > math.log(2e-3) else 0.0, 1 + math.exp(top)))

    def ball(self, first: Sequence[Any], second: Sequence[Any], detail: Detail) -> Any:
        """Return an interval for D_α/α at the order in ``detail``."""
        from flint import arb

        order, total = detail.order, arb(0)
        assert order is not None
        alpha = ball_of(Fraction(order))
        for p, q in zip(first, second, strict=True):
            if p.is_zero():
                continue
            if q.is_zero():
                return None
            if not p > 0 or not q > 0:
                # An unknown term lowers the sum by at most this, because x·ln(x/y) ≥ −y/e and
                # x^α·y^(1−α) ≥ 0.
                total = total - (q.upper() if order == 1 else arb(0))
                continue
            ratio = p / q
            total += p * ratio.log() if order == 1 else p * (ratio.log() * (alpha - 1)).exp()
        return total if order == 1 else total.log() / (alpha - 1) / alpha


def renyi(first: Floats, second: Floats, order: float) -> Floats:
    """Return the Rényi divergence D_α of P from Q, given log-probabilities, along the last axis."""
    with np.errstate(invalid="ignore"):
        exponents = order * first + (1 - order) * second
    exponents = np.where(first == -np.inf, -np.inf, exponents)
    top = exponents.max(axis=-1, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    sums = (
        np.exp(exponents - safe).sum(axis=-1)
        if np.isfinite(top).all()
        else np.where(
            top[..., 0] == np.inf, np.inf, np.exp(np.minimum(exponents - safe, 700.0)).sum(axis=-1)
        )
    )
    return np.asarray((np.log(sums) + safe[..., 0]) / (order - 1))


def kullback_leibler(first: Floats, second: Floats) -> Floats:
    """Return the expectation of ln P − ln Q under P, along the last axis."""
    ratios = log_ratios(first, second)
    with np.errstate(invalid="ignore"):
        terms = np.exp(first) * ratios
    return np.asarray(np.where((first == -np.inf) | np.isnan(ratios), 0.0, terms).sum(axis=-1))


class LaplaceLoss(_TwoWayLoss):
    """The loss of Laplace dominance: the least ε with δ(x) ≤ max(0, 1 − e^((x−ε)/2)) for every x ≥ 0."""

    def _one_way(self, first: Floats, second: Floats) -> Floats:
        return self._needed(first, second)[0]

    @staticmethod
    def _needed(first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """Return the least ε, and the threshold x that requires it.

        Between two adjacent log-ratios, δ(x) = P(S) − e^x Q(S) for a fixed set S. So x − 2 ln(1 − δ(x))
        is largest at one of the two ends or at e^x = (1 − P(S))/Q(S).
        """
        ratios = np.nan_to_num(log_ratios(first, second), nan=0.0, posinf=np.inf, neginf=-np.inf)
        best = np.zeros(ratios.shape[:-1])
        at = np.zeros(ratios.shape[:-1])
        masses, others = np.exp(first), np.exp(second)
        for place in range(ratios.shape[-1]):
            level = ratios[..., place : place + 1]
            inside = ratios >= level
            rest = np.where(inside, 0.0, masses).sum(axis=-1)
            weight = np.where(inside, others, 0.0).sum(axis=-1)
            with np.errstate(divide="ignore", invalid="ignore"):
                turning = np.nan_to_num(np.log(rest / weight), nan=0.0)
            for point in (level[..., 0], turning, np.zeros_like(turning)):
                x = np.clip(point, 0.0, 1e6)
                delta = hockey_stick(first, second, x[..., None])
                with np.errstate(divide="ignore"):
                    needed = np.where(delta > 0, x - 2 * np.log1p(-np.minimum(delta, 1.0)), 0.0)
                at = np.where(needed > best, x, at)
                best = np.maximum(best, needed)
        return best, at

    def _shown_by(self, first: Floats, second: Floats) -> Detail:
        return _event(first, second, float(self._needed(first, second)[1]))

    def ball(self, first: Sequence[Any], second: Sequence[Any], detail: Detail) -> Any:
        """Return an interval for the ε that the event in ``detail`` requires at its threshold."""
        assert detail.threshold is not None
        threshold = ball_of(Fraction(detail.threshold))
        survivor = 1 - _ball_excess(first, second, detail.event, threshold)
        return None if survivor.is_zero() else threshold - 2 * survivor.log()


# ---- in interval arithmetic --------------------------------------------------------------------


def ball_log_ratio(first: Any, second: Any) -> Any:
    """Return an interval for ln P − ln Q; None if it is certainly infinite.

    If Q may be zero, the upper end of Q is used; if P may be zero, the result is −∞. In both cases only the
    lower end of the interval is certain.
    """
    from flint import arb

    if second.is_zero() and first > 0:
        return None
    if not first > 0:
        return arb(float("-inf"))
    return (first / (second if second > 0 else second.upper())).log()


def _ball_excess(
    first: Sequence[Any], second: Sequence[Any], event: Sequence[int], epsilon: Any
) -> Any:
    from flint import arb

    inside = sum((first[place] for place in event), arb(0))
    return inside - epsilon.exp() * sum((second[place] for place in event), arb(0))


def exceeds(value: Any, claimed: Any) -> bool:
    """Return whether a loss (None for infinity) is certainly above the claim."""
    if claimed == math.inf:
        return False
    return value is None or bool(value > ball_of(Fraction(claimed)))


def as_float(value: Any) -> float:
    """Return a loss as a float: the middle of its interval, or the lower end if the interval is wide."""
    if value is None:
        return math.inf
    return float(value.mid() if value.rad() < 1e-6 else value.lower())


def loss_for(claim: Guarantee) -> Loss:
    """Return the loss for the claim's measure."""
    if isinstance(claim, PureDP):
        return PureLoss(claim.exact)
    if isinstance(claim, BoundedRange):
        return RangeLoss(claim.exact)
    if isinstance(claim, LaplaceDominated):
        return LaplaceLoss(claim.exact)
    if isinstance(claim, ZCDP):
        return RenyiLoss(claim.exact)
    if type(claim) is ApproxDP:  # the ρ of an ApproxZCDP would not be measured
        epsilon, delta = claim.exact
        if epsilon == math.inf:
            raise ParameterError(
                "a claim with infinite epsilon promises nothing, so there is nothing to audit"
            )
        return HockeyStickLoss(delta, epsilon)
    raise ParameterError(
        f"⟨claim⟩{claim!r} is not allowed: give PureDP, BoundedRange, ZCDP, ApproxDP or Regular()"
    )
