"""The cost of the best of several private runs: exact for pure runs, the least proved bound for others.

Every result is rounded up by interval arithmetic. Proofs: ``docs/proofs/tuning.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet._exact.numbers.balls import ball_of, precision, upper_bound, upper_end
from discreet._exact.numbers.exact import Exact, float_up, probability, refuse
from discreet._exact.numbers.searches import root_between
from discreet.accounting import Event, compose
from discreet.accounting.events import events_of
from discreet.accounting.fixed_lists import EpsilonBound
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP, Guarantee, PureDP
from discreet.guarantees.claims import CLAIMS, RUNS
from discreet.tuning.laws import (
    Fixed,
    NegativeBinomial,
    Poisson,
    RandomRunCount,
    RunCount,
    cost_of_halting,
)
from discreet.tuning.profiles import Profile, profile_of
from discreet.tuning.weights import divergence_of_best, weights_of

EXACT = "the exact worst case of pure runs"
WEIGHTED = "the profile of one run, weighted by what the best can make of it"
RATIO = "the profile of one run and the largest ratio"
RENYI = "the Rényi divergence of one run (Papernot and Steinke)"

_BITS = 128
_PRECISION = 1e-10
_FARTHEST = 4_096.0
_DEAREST = 500  # above this, e^ε overflows a float and no bound is useful
_STEPS = 60


def cost_of_tuning(
    cost: object, *, runs: RunCount, delta: object = None, target: bool = False
) -> Guarantee:
    """Return the cost of releasing only the best of several runs that each cost ``cost``.

    Args:
        cost: the cost of one run: a guarantee, an ``Event``, a list of releases fixed in advance, or an event
            or a loss distribution of dp-accounting.
        runs: the distribution of the number of runs.
        delta: the δ allowed. Pure runs need none; for (ε, δ) runs the default is the mean number of runs
            times δ.
        target: whether to release the first run that reaches a public target, instead of the best run.

    Example:
        >>> from discreet.tuning import Fixed, Geometric, Poisson
        >>> cost_of_tuning(PureDP(1), runs=Geometric(mean=5))
        PureDP(2.273682324866308)
        >>> cost_of_tuning(PureDP("0.1"), runs=Poisson(mean=40)).epsilon < 2.1
        True
        >>> cost_of_tuning(PureDP(1), runs=Fixed(40))
        PureDP(40)
    """
    if not isinstance(runs, RunCount):
        raise refuse("runs", runs, "Geometric, NegativeBinomial, Poisson or Fixed")
    if isinstance(runs, Fixed):
        return _all_of_them(cost, runs, delta, target=target)
    assert isinstance(runs, RandomRunCount)
    if target and (not isinstance(runs, NegativeBinomial) or runs.shape != 1):
        raise ParameterError(
            "⟨runs⟩ must be Geometric with ⟨target⟩: nothing is proved for other distributions"
        )
    profile = profile_of(cost)
    allowed = _allowed(profile, runs, delta)
    if allowed == 0:
        assert isinstance(profile.pure, Fraction)
        whole = PureDP(_pure(profile.pure, runs, target=target))
        law = "halting runs" if isinstance(runs, NegativeBinomial) else "Poisson runs"
        return whole.resting_on(CLAIMS["target" if target else law, "PureDP"].assuming(RUNS))
    found = min(bounds_of_tuning(profile, runs, allowed, target=target), key=lambda b: b.epsilon)
    if found.epsilon == math.inf:
        raise ParameterError(
            "⟨cost⟩ is too large: no finite cost is known for this number of such runs"
        )
    return ApproxDP(found.epsilon, allowed).resting_on(CLAIMS["tuning", "ApproxDP"].assuming(RUNS))


def bounds_of_tuning(
    profile: Profile, runs: RandomRunCount, delta: Fraction, *, target: bool = False
) -> list[EpsilonBound]:
    """Return every proved bound on the whole search's ε at this δ, which must be above 0."""
    found = []
    if isinstance(profile.pure, Fraction):
        whole = PureDP(_pure(profile.pure, runs, target=target))
        found.append(EpsilonBound(EXACT, whole.to(ApproxDP, delta=delta).exact[0]))
    power = Fraction(1) if target else None
    found.append(EpsilonBound(RATIO, _by_ratio(profile, runs, delta, power)))
    if not target:
        found.append(EpsilonBound(WEIGHTED, _by_weights(profile, runs, delta)))
        if isinstance(runs, Poisson) and profile.renyi is not None:
            found.append(EpsilonBound(RENYI, _by_renyi(profile, runs, delta)))
    return found


def _pure(epsilon: Fraction, runs: RandomRunCount, *, target: bool) -> Exact:
    if target and isinstance(runs, NegativeBinomial):
        return cost_of_halting(epsilon, runs.halting, Fraction(1))
    return runs.pure(epsilon)


def _allowed(profile: Profile, runs: RandomRunCount, delta: object) -> Fraction:
    """Return the whole search's δ: as requested, else 0 for pure runs, else E[K] times one run's δ."""
    if delta is not None:
        allowed = probability("delta", delta)
        if allowed > 0 or profile.pure != math.inf:
            return allowed
        raise ParameterError(
            "⟨delta⟩0 is not allowed: runs that are not purely private need a δ above 0"
        )
    if profile.pure != math.inf:
        return Fraction(0)
    if profile.lost == 0:
        raise ParameterError("⟨delta⟩ is needed: these runs are not purely private")
    return min(Fraction(1), profile.lost * runs.mean_above)


def _all_of_them(cost: object, runs: Fixed, delta: object, *, target: bool) -> Guarantee:
    """Return the cost of a publicly known number of runs: all of them count (theorem 4)."""
    if target:
        raise ParameterError(
            "⟨runs⟩ must be Geometric with ⟨target⟩: with a known number, every run is paid for"
        )
    events = [Event.of(cost)] if isinstance(cost, Event | Guarantee) else list(_listed(cost))
    steps = [
        Event(event.guarantee, count=event.count * runs.count, neighbours=event.neighbours)
        for event in events
    ]
    together = compose(steps, "questions", delta=delta)
    if together.best.to(PureDP).exact < math.inf or together.approx.exact[0] < math.inf:
        best = together.approx if delta is not None else together.best
        if isinstance(best, PureDP):
            return best.resting_on(CLAIMS["fixed runs", "PureDP"].assuming(RUNS))
        return best if isinstance(best, ApproxDP) else together.approx
    raise ParameterError("⟨delta⟩ is needed: these runs are not purely private")


def _listed(cost: object) -> tuple[Event, ...]:
    if isinstance(cost, str) or not hasattr(cost, "__iter__"):
        raise refuse(
            "cost", cost, "a guarantee, an Event or a list of them, where the number is fixed"
        )
    return events_of(cost)


def _by_ratio(
    profile: Profile, runs: RandomRunCount, delta: Fraction, power: Fraction | None
) -> Exact:
    """Return ln b + ln R, where E[K]·δ(ln b) ≤ δ and R is the largest f′(r(u))/f′(u): theorem 2."""
    share = delta / runs.mean_above
    first = _least(lambda epsilon: float_up(profile.at(epsilon) - share), profile.reach)
    if first is None:
        return math.inf
    if isinstance(runs, NegativeBinomial):
        odds = runs.halting / (1 - runs.halting)

        def excess(epsilon: Fraction) -> float:
            # R is a power of R₁, and R₁ is large enough once δ(ln R₁) ≤ (R₁ − 1)γ/(1 − γ).
            found = upper_bound(
                lambda e, d, o: d - e.expm1() * o, epsilon, profile.at(epsilon), odds
            )
            # For a very negative value only the sign matters, and the value may overflow a float.
            return float_up(max(Fraction(-1), found))

        ratio = _least(excess, profile.reach)
        return math.inf if ratio is None else first + (power or 1 + runs.shape) * ratio
    assert isinstance(runs, Poisson)
    return first + runs.rate * profile.at(Fraction(0))


def _least(excess: object, reach: Fraction) -> Fraction | None:
    """Search for the least ε in [0, reach] at which a decreasing function, rounded up, is at most 0."""
    high = min(float_up(reach), _FARTHEST)
    found = root_between(lambda x: excess(Fraction(x)), 0.0, high, precision=_PRECISION)  # type: ignore[operator]
    return None if found is None else Fraction(found)


def _by_weights(profile: Profile, runs: RandomRunCount, delta: Fraction) -> Exact:
    """Return the least ε at which the weighted sum of the profile is at most δ: theorem 3."""
    if profile.reach > _DEAREST:
        return math.inf
    weights = weights_of(profile, runs, delta)

    def excess(epsilon: float) -> float:
        found = divergence_of_best(profile, weights, Fraction(epsilon))
        # On a logarithmic scale most profiles are nearly straight, so a root is found in a few steps.
        return math.log(float_up(found / delta)) if found > 0 else -1.0

    high = float_up(profile.reach) - weights.lowest
    found = root_between(excess, 0.0, max(high, 0.0), precision=1e-9)
    return math.inf if found is None else Fraction(found)


def _by_renyi(profile: Profile, runs: Poisson, delta: Fraction) -> Exact:
    """Return the least D(λ) + μ·δ(ln(λ/(λ − 1))) + ln(μ/(λδ))/(λ − 1) + ln(1 − 1/λ) over λ: theorem 6."""
    assert profile.renyi is not None
    renyi = profile.renyi

    def at(order: Fraction) -> Exact:
        divergence = renyi(order)
        if not isinstance(divergence, Fraction):
            return math.inf
        with precision(_BITS):
            # Round down, so the corresponding δ is not too small.
            lower = -upper_end(-(1 + 1 / ball_of(order - 1)).log())
        tail = profile.at(max(Fraction(0), Fraction(lower)))
        return upper_bound(
            lambda a, d, t, m, p: d + m * t + (m / (a * p)).log() / (a - 1) + (1 - 1 / a).log(),
            order,
            divergence,
            tail,
            runs.rate,
            delta,
        )

    orders = profile.orders or tuple(
        1 + Fraction(10 ** (place * 5 / _STEPS - 2)) for place in range(_STEPS + 1)
    )
    found = [(at(order), order) for order in orders]
    best, order = min(found)
    if not profile.orders:
        near = [1 + (order - 1) * Fraction(10 ** (step / 120)) for step in range(-10, 11)]
        best = min(best, *map(at, near))
    return max(Fraction(0), best)
