"""Recommend a mechanism for a budget and a number of releases, with reasons.

For one release under pure DP, permute-and-flip is never worse than the exponential mechanism. When many
releases are composed under zCDP or (ε, δ)-DP, the exponential mechanism costs about a quarter of
permute-and-flip's ρ, so it can run at about twice the ε and has the smaller error. This module computes the
least number of releases for which this holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from discreet._displays import card, counted, paragraph, table
from discreet._exact.numbers.exact import Exact, refuse, whole
from discreet._exact.numbers.printing import figure, rounded
from discreet._exact.numbers.searches import bisected, least_whole
from discreet.accounting import Event, compose
from discreet.accounting.accountants import COST_UNIT, DELTA_UNIT
from discreet.accounting.events import core
from discreet.analysis.family import family_list
from discreet.analysis.planning import ErrorBasis
from discreet.errors import NotPrivateError, ParameterError
from discreet.guarantees import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.guarantees.conversions import epsilon_of_zcdp
from discreet.mechanisms import Exponential, Mechanism, PermuteAndFlip
from discreet.mechanisms.registry import Family, member
from discreet.scores import Scores

_ANY = Fraction(1)  # a mechanism built from ε costs the same at every range distance
_DIGITS = 6
_AT_WORST = "at worst, "
# Bounds for lists fixed in advance take up to a second each, so the search uses fewer digits.
_DIGITS_FOR_LISTS = 3
_MOST_RELEASES = 1_000_000


@dataclass(frozen=True, slots=True)
class Option:
    """One mechanism at the largest ε within the budget, with its error.

    Attributes:
        mechanism: the mechanism's name.
        epsilon: the ε of each release.
        error: the expected error of each release.
        composed: the cost of all releases together, in the budget's measure.
        accountant: the accountant that a budget needs for this cost; None if the cost holds only for a list
            fixed in advance, because no accountant can count such a cost release by release.
    """

    mechanism: str
    epsilon: float
    error: float
    composed: str
    accountant: str | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The mechanism to use, and why.

    Attributes:
        mechanism: the mechanism with the smallest expected error, at the ε that the budget allows.
        options: all mechanisms considered, with the smallest error first.
        releases: the number of releases that share the budget.
        budget: the budget.
        crossover: the least number of releases at which the exponential mechanism has a smaller error than
            permute-and-flip under this budget, composed adaptively; None if there is no such number.
        basis: the data that errors are measured on: the given scores, or the worst case over any data.
        reasons: the reasons, one sentence each.

    Example:
        >>> advice = recommend(n=100, budget=PureDP(1))
        >>> advice.options[0].mechanism, advice.releases
        ('permute-and-flip', 1)
    """

    mechanism: Mechanism
    options: tuple[Option, ...]
    releases: int
    budget: Guarantee
    crossover: int | None
    basis: str
    reasons: tuple[str, ...]

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per option, the best first."""
        return [asdict(option) for option in self.options]

    def __str__(self) -> str:
        return "\n".join((self.advice, *self.reasons))

    @property
    def advice(self) -> str:
        """One sentence that names the mechanism and the ε to use."""
        best = self.options[0]
        return f"Use {best.mechanism} with ε = {best.epsilon:.{_DIGITS}g} for each release."

    def _repr_html_(self) -> str:
        rows = [
            (option.mechanism, option.epsilon, rounded(option.error, up=True), option.composed)
            for option in self.options
        ]
        return card(
            self.advice,
            *map(paragraph, self.reasons),
            table(("mechanism", "ε of each release", "expected error", "cost of all"), rows),
        )


@dataclass(frozen=True, slots=True)
class _Setting:
    """The budget, how releases are composed, and the data that errors are measured on."""

    budget: Guarantee
    adaptive: bool | str
    measured_on: ErrorBasis

    def composed(self, mechanism: Mechanism, releases: int) -> tuple[Guarantee, str | None]:
        """Return the cost of all releases under the cheapest accountant, and the accountant's name."""
        promise = mechanism.promise_at(_ANY)
        own = _own_delta(mechanism)
        lost = own * releases
        epsilon, rho = (
            _counted(core(promise).to(measure).exact) * releases for measure in (PureDP, ZCDP)
        )
        if isinstance(self.budget, ApproxDP):
            delta = self.budget.exact[1]
            # A budget that adds up ρ reserves half of its δ for releases that have their own δ.
            kept = Fraction(math.floor(delta / 2 * DELTA_UNIT), DELTA_UNIT)
            bounds: list[tuple[Exact, str | None]] = [
                (
                    epsilon_of_zcdp(rho, delta - delta / 2) if lost <= kept else math.inf,
                    "rho-delta",
                ),
                (epsilon if lost <= delta else math.inf, "epsilon-delta"),
            ]
            if self.adaptive is not True:
                listed = compose([Event(promise, count=releases)], self.adaptive, delta=delta)
                bounds.append((listed.approx.exact[0], None))
            least, accountant = min(bounds, key=lambda bound: bound[0])
            return ApproxDP(least, delta), accountant
        if isinstance(self.budget, PureDP):
            return PureDP(epsilon if own == 0 else math.inf), "epsilon"
        return ZCDP(rho if own == 0 else math.inf), "rho"

    def affordable(self, mechanism: Mechanism, releases: int) -> bool:
        cost, _ = self.composed(mechanism, releases)
        return bool(_limit(cost) <= _limit(self.budget))

    def unaffordable(self, mechanism: Mechanism, releases: int) -> ParameterError:
        """Return the error for a mechanism that no ε makes affordable."""
        allowed = self.budget.exact[1] if isinstance(self.budget, ApproxDP) else Fraction(0)
        if _own_delta(mechanism) * releases > allowed:
            return ParameterError(
                f"{mechanism.name} cannot be used under {self.budget!r} at any ε: its own δ is more than "
                "the budget allows"
            )
        return ParameterError(
            f"{self.budget!r} is too small for {counted(releases, 'release')} of {mechanism.name}: budgets "
            "count in units of 10⁻¹² and round the cost of each release up"
        )


def recommend(
    scores: Scores | None = None,
    *,
    budget: Guarantee,
    releases: int = 1,
    mechanisms: Family | Iterable[Family] | None = None,
    adaptive: bool | str = True,
    n: int | None = None,
    sensitivity: object = None,
    monotonic: bool = False,
    gap: object = None,
) -> Recommendation:
    """Recommend a mechanism for a number of releases under one budget.

    With ``scores`` the errors are measured on these scores, and the advice is **not private**. With ``n`` the
    errors are the worst over any data, and no data is read.

    Args:
        scores: typical scores of one release.
        budget: ``PureDP``, ``ZCDP`` or ``ApproxDP``: the most that all releases may cost together.
        releases: the number of releases that share the budget, each with the same ε.
        mechanisms: the mechanisms to consider; by default permute-and-flip, the exponential mechanism and
            noisy max with Laplace noise.
        adaptive: whether later releases may depend on earlier answers, as in ``discreet.accounting.compose``;
            matters only for ``ApproxDP``.
        n: the number of candidates, instead of ``scores``.
        sensitivity: with ``n``: Δ; by default 1.
        monotonic: with ``n``: whether one person moves all scores in the same direction.
        gap: with ``n``: assume that the runner-up lies at least this far below the best; by default 0.

    Example:
        >>> recommend(n=100, budget=PureDP(1)).mechanism
        PermuteAndFlip(epsilon=1)
        >>> advice = recommend(n=100, budget=ApproxDP(1, "1e-6"), releases=50)
        >>> advice.mechanism.name, advice.crossover
        ('exponential', 7)
    """
    if not isinstance(budget, PureDP | ZCDP | ApproxDP):
        raise refuse("budget", budget, "PureDP, ZCDP or ApproxDP")
    if _limit(budget) in (0, math.inf):
        raise refuse("budget", budget, "above zero and finite")
    measured_on = ErrorBasis(scores, n=n, sensitivity=sensitivity, monotonic=monotonic, gap=gap)
    count = whole("releases", releases)
    setting = _Setting(budget, adaptive, measured_on)
    ranked = []
    for family in family_list(mechanisms):
        best = largest_member(family, setting, count)
        composed, accountant = setting.composed(best, count)
        option = Option(
            mechanism=best.name,
            epsilon=float(best.epsilon or 0),
            error=setting.measured_on.error(best),
            composed=repr(composed),
            accountant=accountant,
        )
        ranked.append((option, best))
    ranked.sort(key=lambda pair: pair[0].error)
    crossover = _crossover(replace(setting, adaptive=True))
    basis = (
        "on these scores" if scores is not None else f"{_AT_WORST}for any data with {n} candidates"
    )
    if gap is not None:
        basis += f" whose best score is {gap} or more ahead"
    return Recommendation(
        mechanism=ranked[0][1],
        options=tuple(option for option, _ in ranked),
        releases=count,
        budget=budget,
        crossover=crossover,
        basis=basis,
        reasons=_reasons([option for option, _ in ranked], count, budget, crossover, basis),
    )


def _limit(budget: Guarantee) -> Exact:
    if isinstance(budget, ApproxDP):
        return budget.exact[0]
    assert isinstance(budget, PureDP | ZCDP)
    return budget.exact


def _own_delta(mechanism: Mechanism) -> Fraction:
    """Return the mechanism's own δ, rounded up to the unit in which budgets count."""
    promise = mechanism.promise_at(_ANY)
    own = promise.exact[1] if isinstance(promise, ApproxDP) else Fraction(0)
    return Fraction(math.ceil(own * DELTA_UNIT), DELTA_UNIT)


def _counted(cost: Exact) -> Exact:
    """Round one release's cost up to the unit in which budgets count."""
    return cost if cost == math.inf else Fraction(math.ceil(cost * COST_UNIT), COST_UNIT)


def largest_member(family: Family, setting: _Setting, releases: int) -> Mechanism:
    """Return a family's mechanism at the largest ε that the budget allows, rounded down to a few digits."""
    if not member(family, 1).private:
        raise NotPrivateError(f"{member(family, 1).name} has no guarantee, so no budget allows it")
    limit = _limit(setting.budget)
    if isinstance(setting.budget, PureDP):
        each = Fraction(math.floor(limit / releases * COST_UNIT), COST_UNIT)
        equal = member(family, _cut(each, _DIGITS) if each else 1)
        if not setting.affordable(equal, releases):
            raise setting.unaffordable(equal, releases)
        return equal
    low = float(limit) / releases
    while not setting.affordable(member(family, low), releases):
        low /= 2
        if low < 1e-12 * float(limit) / releases:
            raise setting.unaffordable(member(family, 1), releases)
    high = 2 * low
    while setting.affordable(member(family, high), releases):
        low, high = high, 2 * high
        if high > 1e9:
            break
    digits = _DIGITS if setting.adaptive is True else _DIGITS_FOR_LISTS
    low, _ = bisected(
        lambda epsilon: not setting.affordable(member(family, epsilon), releases),
        low,
        high,
        relative=10.0**-digits,
        geometric=True,
    )
    return member(family, _cut(Fraction(low), digits))


def _cut(epsilon: Fraction, digits: int) -> Fraction:
    """Round ε down to this many significant digits, so that it stays affordable."""
    unit = Fraction(10) ** (math.floor(math.log10(epsilon)) + 1 - digits)
    return math.floor(epsilon / unit) * unit


def _crossover(setting: _Setting) -> int | None:
    """Return the least number of releases at which ``Exponential`` beats ``PermuteAndFlip``, or None."""

    def exponential_wins(releases: int) -> bool | None:
        """Return whether ``Exponential`` has the smaller error; None if the budget is too small."""
        try:
            members = [
                largest_member(family, setting, releases)
                for family in (Exponential, PermuteAndFlip)
            ]
        except ParameterError:
            return None
        exponential, permuting = map(setting.measured_on.error, members)
        return exponential < permuting

    if isinstance(setting.budget, PureDP):
        return None
    found = least_whole(
        lambda releases: exponential_wins(releases) is not False, most=_MOST_RELEASES
    )
    return found if found is not None and exponential_wins(found) else None


def _reasons(
    options: list[Option], releases: int, budget: Guarantee, crossover: int | None, basis: str
) -> tuple[str, ...]:
    best = options[0]
    at_worst, data = basis.startswith(_AT_WORST), basis.removeprefix(_AT_WORST)
    bound, where = ("at most ", f", {data}") if at_worst else ("", f" {data}")
    many = f"{releases} releases" if releases > 1 else "one release"
    reasons = [
        f"For {many} under {budget!r} its average error is {bound}{figure(best.error)}{where}.",
        "A list fixed in advance costs this as a whole; a budget that is spent step by step refuses it."
        if best.accountant is None
        else f"A budget of {budget!r} with the accountant {best.accountant!r} pays for it.",
    ]
    reasons += [
        f"{other.mechanism} may use ε = {other.epsilon:.{_DIGITS}g}; its average error is "
        f"{bound}{figure(other.error)}"
        + (f" (×{other.error / best.error:.3g})." if best.error else ".")
        for other in options[1:]
    ]
    if isinstance(budget, PureDP):
        reasons.append(
            "Under pure DP every mechanism gets the same ε, and permute-and-flip is never worse than the "
            "exponential mechanism at the same ε."
        )
    elif crossover is None:
        reasons.append(
            "Permute-and-flip stays ahead of the exponential mechanism for as many releases as this budget "
            "allows, up to a million."
        )
    elif crossover > 1:
        reasons.append(
            f"The exponential mechanism composes more cheaply: it overtakes permute-and-flip at "
            f"{crossover} releases under this budget."
        )
    else:
        reasons.append(
            "The exponential mechanism composes more cheaply: under this budget it is ahead of "
            "permute-and-flip from the first release."
        )
    return tuple(reasons)
