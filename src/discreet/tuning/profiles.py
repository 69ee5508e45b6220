"""The cost of one run as a privacy profile: an upper bound on δ for every ε.

A profile describes one run. It is made from a guarantee, a list of releases fixed in advance, or an event of
dp-accounting. The setting may be drawn at random: if the profile holds for every setting, it also holds for
a random one.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise

from discreet._exact.numbers.balls import ball_of, precision, upper_bound, upper_end
from discreet._exact.numbers.exact import Exact, refuse
from discreet.accounting import Event
from discreet.accounting.events import core, events_of
from discreet.accounting.loss_grids import Losses, grid_step, loss_curve_of
from discreet.errors import DiscreetError, ParameterError
from discreet.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.guarantees.conversions import zcdp_of_pure

_BITS = 128
_POINTS = 320
_GRID = 4_096
_LARGEST = 4_096
_NOTHING = Fraction(1, 10**16)
_FEW = Fraction(1, 1000)
_STEPS = 60
_CLOSE = 1e-9

Renyi = Callable[[Fraction], Exact]


@dataclass(frozen=True)
class Profile:
    """The cost of one run, as an upper bound on δ for every ε.

    Attributes:
        divergence: an upper bound on δ at any ε ≥ 0.
        pure: the ε beyond which δ is zero; infinite if there is none.
        lost: the δ that remains even as ε goes to infinity.
        renyi: the Rényi divergence as a function of the order, rounded up; None if unknown.
        orders: the orders at which ``renyi`` is known; empty if it is known at every order.
    """

    divergence: Callable[[Fraction], Fraction]
    pure: Exact = math.inf
    lost: Fraction = Fraction(0)
    renyi: Renyi | None = None
    orders: tuple[Fraction, ...] = ()

    def at(self, epsilon: Fraction) -> Fraction:
        """Return δ at any real ε; if ε < 0, it is 1 − e^ε + e^ε·δ(−ε), from exchanging the two neighbours."""
        if epsilon >= 0:
            return min(Fraction(1), self.divergence(epsilon))
        other = self.divergence(-epsilon)
        found = upper_bound(lambda e, d: d * e.exp() - e.expm1(), epsilon, other)
        return min(Fraction(1), Fraction(found))

    @cached_property
    def reach(self) -> Fraction:
        """The largest ε at which the profile needs to be evaluated."""
        if isinstance(self.pure, Fraction):
            return self.pure
        found, lost = Fraction(1, 16), self.at(Fraction(1, 16))
        while found < _LARGEST and lost > self.lost + _NOTHING:
            further = self.at(found * 3 / 2)
            if further == lost < _FEW:
                # The values from the other library do not decrease any further.
                break
            found, lost = found * 3 / 2, further
        return found


def profile_of(cost: object) -> Profile:
    """Return the profile of one run, from any description of its cost.

    Example:
        >>> round(float(profile_of(PureDP(1)).at(Fraction(0))), 6)
        0.462117
    """
    if isinstance(cost, Profile):
        return cost
    if isinstance(cost, Event | Guarantee):
        return _of_list([Event.of(cost)])
    if type(cost).__module__.partition(".")[0] == "dp_accounting":
        from discreet.tuning.their_events import profile_of_theirs

        return profile_of_theirs(cost)
    if isinstance(cost, str | bytes) or not isinstance(cost, Iterable):
        raise refuse(
            "cost",
            cost,
            "a guarantee, an Event, a list of them fixed in advance, or an event or a loss distribution of "
            "dp-accounting",
        )
    return _of_list(events_of(cost))


def in_parallel(first: Profile, second: Profile) -> Profile:
    """Return the profile of two releases on disjoint sets of people: the larger of the two at every ε."""
    renyi: Renyi | None = None
    if first.renyi is not None and isinstance(second.pure, Fraction):
        one, rho = first.renyi, zcdp_of_pure(second.pure)
        renyi = lambda order: max(one(order), order * Fraction(rho))  # noqa: E731 - a one-line function
    return Profile(
        lambda epsilon: max(first.divergence(epsilon), second.divergence(epsilon)),
        pure=max(first.pure, second.pure),
        lost=max(first.lost, second.lost),
        renyi=renyi,
        orders=first.orders,
    )


def _of_list(events: Sequence[Event]) -> Profile:
    """Return the profile of a run that makes these releases, which were fixed in advance."""
    if not events:
        raise ParameterError("⟨cost⟩ is an empty list: say what one run costs")
    if len(events) == 1 and events[0].count == 1:
        return _of_guarantee(events[0].guarantee)
    promises = [(event.guarantee, event.count) for event in events]
    if all(isinstance(promise, ZCDP) for promise, _ in promises):
        rho = sum((Fraction(promise.exact) * n for promise, n in promises), Fraction(0))  # type: ignore[attr-defined]
        return _of_guarantee(ZCDP(rho))
    curves = [loss_curve_of(core(promise), n) for promise, n in promises]
    known = [curve for curve in curves if curve is not None]
    if len(known) < len(curves):
        raise ParameterError(
            "⟨cost⟩ mixes measures that do not add up: give a list of ε, or a list of ρ"
        )
    losses = Losses.of(known, grid_step(known, _GRID))
    kept = Fraction(1)
    for promise, n in promises:
        if isinstance(promise, ApproxDP):
            kept *= (1 - promise.exact[1]) ** n
    pure = sum((curve.epsilon * curve.count for curve in known), Fraction(0))
    return _with_lost(losses.delta_at, pure, 1 - kept)


@lru_cache(maxsize=16)  # a chart needs the same run dozens of times
def _of_guarantee(promise: Guarantee) -> Profile:
    if isinstance(promise, ZCDP):
        return _of_zcdp(promise)
    curve = loss_curve_of(core(promise), 1)
    if curve is None:
        raise ParameterError(f"⟨cost⟩{promise!r} is not allowed: one run must have a finite cost")
    epsilon, formula = curve.epsilon, curve.curve

    def divergence(at: Fraction) -> Fraction:
        if at >= epsilon:
            return Fraction(0)
        with precision(_BITS):
            return max(Fraction(0), Fraction(upper_end(formula(at, ball_of(at).exp()))))

    lost = promise.exact[1] if isinstance(promise, ApproxDP) else Fraction(0)
    return _with_lost(divergence, epsilon, lost)


def _with_lost(
    divergence: Callable[[Fraction], Fraction], epsilon: Fraction, lost: Fraction
) -> Profile:
    """Return the profile lost + (1 − lost)·divergence: with probability ``lost`` a run reveals everything."""
    if lost == 1:
        raise ParameterError("⟨cost⟩ promises nothing: its δ is 1")
    if lost == 0:
        return Profile(divergence, pure=epsilon)
    return Profile(lambda at: lost + (1 - lost) * divergence(at), lost=lost)


def _of_zcdp(promise: ZCDP) -> Profile:
    rho = promise.exact
    if not isinstance(rho, Fraction):
        raise ParameterError(f"⟨cost⟩{promise!r} is not allowed: one run must have a finite cost")
    if rho == 0:
        return _of_guarantee(PureDP(0))
    steer, most = float(rho), total_variation(rho)

    def divergence(at: Fraction) -> Fraction:
        order = 1 + Fraction(math.exp(_best_log_excess(steer, float(at))))
        return min(divergence_at_order(order, order * rho, at), most)

    return Profile(divergence, renyi=lambda order: order * rho)


def _best_log_excess(rho: float, epsilon: float) -> float:
    """Return ln(λ − 1) near the best order λ, where the bound's slope ρ(2λ − 1) − ε + ln(1 − 1/λ) is 0.

    This is Newton's method within a bracket. Floats only guide the search, because any order gives a valid
    bound.
    """
    low, high = -6.0, math.log(max(epsilon / rho, 1.0)) + 6.0
    at = high - 6.0
    for _ in range(_STEPS):
        excess = math.exp(at)
        slope = rho * (1 + 2 * excess) - epsilon - math.log1p(1 / excess)
        low, high = (at, high) if slope < 0 else (low, at)
        further = at - slope / (2 * rho * excess + 1 / (1 + excess))
        further = further if low < further < high else (low + high) / 2
        if abs(further - at) < _CLOSE:
            break
        at = further
    return at


def divergence_at_order(order: Fraction, renyi: Fraction, epsilon: Fraction) -> Fraction:
    """Return δ at ε for this Rényi divergence: e^((λ−1)(D − ε))·(1 − 1/λ)^(λ−1)/λ, rounded up."""
    found = upper_bound(
        lambda a, d, e: ((a - 1) * (d - e + (1 - 1 / a).log())).exp() / a, order, renyi, epsilon
    )
    return min(Fraction(1), Fraction(found) if found != math.inf else Fraction(1))


def total_variation(divergence: Fraction) -> Fraction:
    """Return a bound on the total variation from the Kullback–Leibler divergence D.

    It is the smaller of √(D/2) (Pinsker) and √(1 − e^−D) (Bretagnolle–Huber).
    """
    found = upper_bound(lambda d: (d / 2).sqrt().min((-(-d).expm1()).sqrt()), divergence)
    return min(Fraction(1), Fraction(found))


def chords(points: Sequence[tuple[Fraction, Fraction]]) -> Callable[[Fraction], Fraction]:
    """Return a profile that joins points (ε, δ), the first at ε = 0, by chords in e^ε.

    δ is convex in e^ε, so chords are upper bounds.
    """
    places = [epsilon for epsilon, _ in points]
    with precision(_BITS):
        ratios = [ball_of(epsilon).exp() for epsilon in places]
        steps = [1 / (high - low) for low, high in pairwise(ratios)]

    def divergence(at: Fraction) -> Fraction:
        right = bisect_right(places, at)
        if right == len(points):
            return points[-1][1]
        left = max(0, right - 1)
        (_, high_delta), (_, low_delta) = points[left], points[left + 1]
        with precision(_BITS):
            share = upper_end((ratios[left + 1] - ball_of(at).exp()) * steps[left])
        return low_delta + min(Fraction(1), Fraction(share)) * (high_delta - low_delta)

    return divergence


def sampled(
    found: Callable[[list[float]], Iterable[float]], reach: float
) -> list[tuple[Fraction, Fraction]]:
    """Return points (ε, δ), up to ε = ``reach``, of a profile that another library computes in floats."""
    places = [reach * place / _POINTS for place in range(_POINTS + 1)]
    deltas = [float(delta) for delta in found(places)]
    if len(deltas) != len(places) or not all(0 <= delta <= 1 for delta in deltas):
        raise DiscreetError("the accountant of this run gives no usable δ: the cost is not known")
    # A float slightly too low between two others must not make the profile increase with ε.
    falling = list(accumulate(reversed(deltas), max))[::-1]
    return [
        (Fraction(place), Fraction(delta)) for place, delta in zip(places, falling, strict=True)
    ]
