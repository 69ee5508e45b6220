"""Guarantees of some mechanisms that PureDP, BoundedRange, ZCDP and ApproxDP cannot express."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from discreet._exact.numbers.exact import Exact, cost, probability, whole
from discreet.guarantees.conversions import (
    epsilon_of_bounded_range,
    range_of_flipped_coins,
    shortened,
    zcdp_of_bounded_range,
    zcdp_of_laplace,
)
from discreet.guarantees.measures import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Epsilon,
    G,
    Guarantee,
    PureDP,
)


class LaplaceDominated(Epsilon):
    """Neighbours are at least as hard to tell apart as Laplace variables of scale 1/ε centred at 0 and 1.

    Permute-and-flip and Laplace noisy max give this guarantee (``docs/proofs/laplace-dominance.md``). It
    implies ε-DP, and a smaller δ and a smaller ρ than ε-DP alone implies.

    Example:
        >>> LaplaceDominated(1).to(ZCDP) < PureDP(1).to(ZCDP)
        True
    """

    __slots__ = ()

    def _smaller_epsilon(self, delta: Fraction) -> Exact:
        # δ(ε') = 1 − e^((ε'−ε)/2), so ε' = ε + 2 ln(1 − δ).
        return shortened(self._exact, delta, lambda _e, d: (1 - d) ** 2)

    def _number_in(self, measure: type[Guarantee]) -> Exact:
        if measure is ZCDP:
            return zcdp_of_laplace(self._exact)
        return 2 * self._exact if measure is BoundedRange else self._exact

    def in_words(self, people: int = 1) -> str:
        """Return the promise in one plain sentence."""
        return self.to(PureDP).in_words(people)


class FlippedCoins(LaplaceDominated):
    """The guarantee of permute-and-flip: Laplace dominance, and a range of exactly 2 ln(2e^(ε/2) − 1).

    The range lies between ε (the published claim, which is false) and 2ε (what ε-DP alone gives). It gives a
    smaller ρ than Laplace dominance alone (``docs/proofs/bounded-range-refuted.md``).

    Example:
        >>> FlippedCoins(1).to(BoundedRange)
        BoundedRange(1.6635931315023726)
    """

    __slots__ = ()

    def for_people(self, count: int) -> LaplaceDominated:
        """Return the promise for several people: Laplace dominance only, without the range."""
        many = whole("people", count)
        return self if many == 1 else self._together(many, LaplaceDominated(self._exact * many))

    def _number_in(self, measure: type[Guarantee]) -> Exact:
        assert isinstance(self._exact, Fraction)
        if measure is PureDP:
            return self._exact
        width = range_of_flipped_coins(self._exact)
        if measure is BoundedRange:
            return min(width, 2 * self._exact)
        return zcdp_of_bounded_range(width)


class AveragedRange(LaplaceDominated):
    """Bounded range for every fixed result of hidden coins, whose distribution does not depend on the data.

    The exponential mechanism gives this guarantee if such coins first assign people to groups. Averaged over
    the coins, the answers may have a larger range; δ, ρ and the composition of several releases are those of
    bounded range (``docs/proofs/neighbours.md``).

    Example:
        >>> AveragedRange(1).to(ZCDP) == BoundedRange(1).to(ZCDP)
        True
        >>> AveragedRange(1).to(BoundedRange)
        BoundedRange(2)
    """

    __slots__ = ()

    def _smaller_epsilon(self, delta: Fraction) -> Exact:
        return epsilon_of_bounded_range(self._exact, delta)

    def _number_in(self, measure: type[Guarantee]) -> Exact:
        return (
            zcdp_of_bounded_range(self._exact) if measure is ZCDP else super()._number_in(measure)
        )


class ApproxZCDP(ApproxDP):
    """(ε, δ)-DP that is also ρ-zCDP outside an event of probability ``beyond``.

    A question gives this guarantee if it finds its groups by weights with normal noise: a group of only one
    person may be named, with a small probability (``docs/proofs/groups-from-the-data.md``). A budget that
    adds up ρ charges this ρ and ``beyond``, not the ρ that follows from ε (``docs/proofs/composition.md``,
    Theorem 1 (d)).

    Example:
        >>> ApproxZCDP(1, "1e-6", "0.03", "5e-7").to(ApproxDP)
        ApproxDP(1, 1e-06)
    """

    __slots__ = ("_beyond", "_rho")
    _numbers = ("_epsilon", "_delta", "_rho", "_beyond")
    _beyond: Fraction
    _rho: Exact

    def __init__(self, epsilon: object, delta: object, rho: object, beyond: object) -> None:
        super().__init__(epsilon, delta)
        object.__setattr__(self, "_rho", cost("rho", rho))
        object.__setattr__(self, "_beyond", probability("beyond", beyond))

    @property
    def concentrated(self) -> tuple[Exact, Fraction]:
        """The exact ρ, and the exact probability of the event outside which ρ holds."""
        return self._rho, self._beyond

    @property
    def figures(self) -> Mapping[str, Exact]:
        """The exact ε, δ, ρ and ``beyond``, by name."""
        return {**super().figures, "rho": self._rho, "beyond": self._beyond}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApproxZCDP) and self.figures == other.figures

    def __hash__(self) -> int:
        return hash(tuple(self.figures.values()))

    def to(self, measure: type[G], *, delta: object = None) -> G:
        """Convert the (ε, δ) promise to another measure; nothing is inferred from ρ."""
        return self._approx.to(measure, delta=delta)

    def for_people(self, count: int) -> ApproxDP:
        """Return the promise for several people: (ε, δ) only."""
        return self if whole("people", count) == 1 else self._approx.for_people(count)

    @property
    def _approx(self) -> ApproxDP:
        """The promise without ρ; it is part of this promise, so it has the same proof."""
        return ApproxDP(*self.exact).resting_on(self.proof, self.direct)
