"""The guarantees PureDP, BoundedRange, ZCDP and ApproxDP, and all conversions between them.

A guarantee holds an exact rational (or infinity). The figures it reports (``epsilon``, ``rho``,
``delta``) are float64 rounded *up*; ``exact`` has the rational itself. Every conversion is proved in
``docs/proofs/conversions.md`` and ``docs/proofs/concentrated.md`` and evaluated in ball arithmetic,
rounded up. If nothing can be promised, the answer is infinity, never a smaller number.

Example:
    >>> PureDP("0.1").epsilon
    0.1
    >>> PureDP(1).to(ZCDP)
    ZCDP(0.4621171572600098)
    >>> BoundedRange(1).to(ZCDP) <= ZCDP("0.125")
    True
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import total_ordering
from typing import Any, ClassVar, Self, TypeVar, cast

from discreet._displays import card, paragraph, table
from discreet._exact.numbers.balls import upper_bound
from discreet._exact.numbers.exact import Exact, cost, float_up, probability, refuse, shown, whole
from discreet._exact.numbers.printing import figure, odds, subject, times
from discreet.errors import ParameterError
from discreet.guarantees.claims import CLAIMS
from discreet.guarantees.conversions import (
    Proof,
    epsilon_of_bounded_range,
    epsilon_of_zcdp,
    shortened,
    zcdp_of_bounded_range,
    zcdp_of_pure,
)

G = TypeVar("G", bound="Guarantee")


class Guarantee(ABC):
    """A promise about any two neighbouring data sets; see ``docs/proofs/neighbours.md``."""

    __slots__ = ("_direct", "_proof")
    symbol: ClassVar[str]
    _numbers: ClassVar[tuple[str, ...]]
    """The names of the attributes that hold its numbers."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    @property
    @abstractmethod
    def figures(self) -> Mapping[str, Exact]:
        """The exact numbers of the guarantee by name, such as ``epsilon``, ``rho`` or ``delta``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(shown, self.figures.values()))})"

    @property
    def proof(self) -> Proof | None:
        """The pages and theorems that prove the guarantee; None if it is unproved.

        Example:
            >>> from discreet import Exponential, Scores
            >>> scores = Scores([3, 1], sensitivity=1)
            >>> print(Exponential(epsilon=1).guarantee(scores).proof)
            docs/proofs/exponential.md: exponential_pure_dp, checked by Coq; assumes that no person moves \
two scores further apart than was stated
            >>> Exponential(epsilon=1).guarantee(scores, ZCDP).proof.checked
            True
        """
        return getattr(self, "_proof", None)

    def resting_on(self, proof: Proof | None, direct: Mapping[str, Proof] | None = None) -> Self:
        """Return this promise with a proof attached.

        ``direct`` maps the names of other measures to proofs of the same release's guarantees in these
        measures, made without a conversion; they also assume what ``proof`` assumes. A promise of nothing
        (ε = ∞, or δ = 1) has no proof.
        """
        made, something = object.__new__(type(self)), True
        for name in self._numbers:
            number = getattr(self, name)
            something &= number < math.inf and (name, number) != ("_delta", 1)
            object.__setattr__(made, name, number)
        object.__setattr__(made, "_proof", proof if something else None)
        object.__setattr__(made, "_direct", dict(direct or {}) if something else {})
        return made

    @property
    def direct(self) -> Mapping[str, Proof]:
        """Direct proofs of the same release's guarantees in other measures, by the measure's name."""
        return getattr(self, "_direct", {})

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), tuple(self.figures.values()), self.proof, self.direct)

    def to(self, measure: type[G], *, delta: object = None) -> G:
        """Convert the promise to another measure, rounded up; infinite if nothing follows.

        ``delta`` is only for ``ApproxDP``. The default is zero, or the promise's own δ if it has one.
        """
        converted = self._to(measure, delta)
        if converted == self:
            return converted.resting_on(self.proof, self.direct)
        return converted.resting_on(self.proof_in(measure))

    @abstractmethod
    def exact_in(self, measure: type[Guarantee]) -> Exact:
        """Convert to a measure with one number (ε or ρ); return the number, rounded up, without a proof.

        Example:
            >>> BoundedRange("0.5").exact_in(PureDP)
            Fraction(1, 2)
        """

    def proof_in(self, measure: type[Guarantee]) -> Proof | None:
        """Return the proof of this promise in another measure; None if no proof is known."""
        found = self.direct.get(measure.__name__)
        if found is None:
            return self._then(measure.__name__)
        assumed = () if self.proof is None else self.proof.assumes
        return found.assuming(*dict.fromkeys(found.assumes + assumed))

    @abstractmethod
    def _to(self, measure: type[G], delta: object) -> G: ...

    @abstractmethod
    def for_people(self, count: int) -> Guarantee:
        """Return the promise for ``count`` people who act as one (a household)."""

    def _together(self, people: int, promise: G) -> G:
        """Return ``promise`` with this promise's proof, extended by a step if there are several people."""
        if people == 1:
            return promise.resting_on(self.proof, self.direct)
        return promise.resting_on(self._then("people"))

    def _then(self, to: str) -> Proof | None:
        """Return this promise's proof followed by that of the step ``to``; None if either is missing."""
        step = CLAIMS.get((type(self).__name__, to))
        return self.proof.then(step) if self.proof is not None and step is not None else None

    @abstractmethod
    def in_words(self, people: int = 1) -> str:
        """Return the promise in one plain sentence, for one person or for a household."""

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        rows = [(measure.__name__, repr(self.to(measure))) for measure in (PureDP, ZCDP)]
        rows.append(("ApproxDP at δ = 10⁻⁶", repr(self.to(ApproxDP, delta=Fraction(1, 10**6)))))
        rows.append(("a household of four", repr(self.for_people(4))))
        return card(repr(self), paragraph(self.in_words()), table(("", ""), rows))


def _restored(kind: Any, numbers: tuple[Exact, ...], *proofs: Any) -> Any:
    return kind(*numbers).resting_on(*proofs)


def _target_delta(measure: type[Guarantee], delta: object) -> Fraction:
    # Any other class, even a subclass, would get a number that means something else.
    if not any(measure is known for known in (PureDP, BoundedRange, ZCDP, ApproxDP)):
        raise refuse("measure", measure, "PureDP, BoundedRange, ZCDP or ApproxDP")
    if measure is not ApproxDP and delta is not None:
        raise ParameterError(
            f"⟨delta⟩{delta!r} can only be used with ApproxDP, not {measure.__name__}"
        )
    return Fraction(0) if delta is None else probability("delta", delta)


@total_ordering
class _OneNumber(Guarantee):
    """A guarantee with a single number; a smaller number is a stronger guarantee."""

    __slots__ = ("_exact",)
    _numbers = ("_exact",)
    _exact: Exact
    _parameter: ClassVar[str]

    def __init__(self, value: object) -> None:
        object.__setattr__(self, "_exact", cost(self._parameter, value))

    @property
    def exact(self) -> Exact:
        """The cost as an exact rational, or infinity."""
        return self._exact

    def _to(self, measure: type[G], delta: object) -> G:
        target = _target_delta(measure, delta)
        make: Callable[..., G] = measure
        if measure is ApproxDP:
            return make(self._epsilon_at(target), target)
        return make(self.exact_in(measure))

    @abstractmethod
    def _epsilon_at(self, delta: Fraction) -> Exact:
        """Return the smallest known ε' for which (ε', δ)-DP follows."""

    @property
    def figures(self) -> Mapping[str, Exact]:
        """The exact ``epsilon`` or ``rho``, by name."""
        return {self._parameter: self._exact}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return bool(self._exact == other._exact)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, type(self)) or type(other) is not type(self):
            return NotImplemented
        return bool(self._exact < other._exact)

    def __hash__(self) -> int:
        return hash((type(self), self._exact))


class Epsilon(_OneNumber):
    """A guarantee with ε as its only number."""

    __slots__ = ()
    _parameter = "epsilon"
    symbol = "ε"

    @property
    def epsilon(self) -> float:
        """ε, rounded up to a float64."""
        return float_up(self._exact)

    def for_people(self, count: int) -> Epsilon:
        """Return the promise for ``count`` people: ε · ``count`` (``docs/proofs/neighbours.md``)."""
        return self._together(count, type(self)(self._exact * whole("people", count)))

    def exact_in(self, measure: type[Guarantee]) -> Exact:
        """Convert to a measure with one number (ε or ρ); return the number, rounded up, without a proof."""
        if measure is type(self) or self._exact in (0, math.inf):
            return self._exact
        return self._number_in(measure)

    def _epsilon_at(self, delta: Fraction) -> Exact:
        """Return the smallest known ε' for which (ε', δ)-DP follows."""
        if delta == 1:
            return Fraction(0)
        if self._exact == math.inf or delta == 0:
            return self._exact
        return max(Fraction(0), min(self._exact, self._smaller_epsilon(delta)))

    @abstractmethod
    def _smaller_epsilon(self, delta: Fraction) -> Exact: ...

    @abstractmethod
    def _number_in(self, measure: type[Guarantee]) -> Exact:
        """Return the ε or ρ in another measure, rounded up, for a finite ε above zero."""


class PureDP(Epsilon):
    """ε-differential privacy: no outcome's probability changes by more than a factor of e^ε.

    Example:
        >>> PureDP(1).for_people(4)
        PureDP(4)
        >>> print(PureDP(1))
        One person's data changes the probability of any answer by a factor of at most 2.719 (ε = 1).
    """

    __slots__ = ()

    def _smaller_epsilon(self, delta: Fraction) -> Exact:
        # Randomized response dominates: δ(ε') = (e^ε − e^ε')/(1 + e^ε), so ε' = ε + ln(1 − δ(1 + e^−ε)).
        return shortened(self._exact, delta, lambda e, d: 1 - d * (1 + (-e).exp()))

    def _number_in(self, measure: type[Guarantee]) -> Exact:
        return 2 * self._exact if measure is BoundedRange else zcdp_of_pure(self._exact)

    def in_words(self, people: int = 1) -> str:
        """Return the promise in one plain sentence."""
        whose = subject(people)  # this checks the number
        together = self._exact * people
        return (
            f"{whose} the probability of any answer {odds(together)} "
            f"({times(people, 'ε')} = {figure(together)})."
        )


class BoundedRange(Epsilon):
    """ε-bounded range: the log-ratios of all outcomes lie within ε of each other.

    It is stronger than ε-DP, and the exponential mechanism gives it.

    Example:
        >>> BoundedRange(1).to(PureDP)
        PureDP(1)
    """

    __slots__ = ()

    def _smaller_epsilon(self, delta: Fraction) -> Exact:
        return epsilon_of_bounded_range(self._exact, delta)

    def _number_in(self, measure: type[Guarantee]) -> Exact:
        return self._exact if measure is PureDP else zcdp_of_bounded_range(self._exact)

    def in_words(self, people: int = 1) -> str:
        """Return the promise in one plain sentence."""
        words = PureDP(self._exact).in_words(people)
        if self._exact == math.inf:
            return words
        return f"{words[:-1]}; nor do any two answers move apart by more than that (bounded range)."


class ZCDP(_OneNumber):
    """ρ-zero-concentrated differential privacy: the Rényi divergence of every order α is at most ρα.

    Example:
        >>> ZCDP("0.125").to(ApproxDP, delta="1e-6").epsilon < 2.5
        True
    """

    __slots__ = ()
    _parameter = "rho"
    symbol = "ρ"

    @property
    def rho(self) -> float:
        """ρ, rounded up to a float64."""
        return float_up(self._exact)

    def _epsilon_at(self, delta: Fraction) -> Exact:
        return epsilon_of_zcdp(self._exact, delta)

    def exact_in(self, measure: type[Guarantee]) -> Exact:
        """Return ρ for ``ZCDP``; otherwise 0 if ρ is 0, else infinity: no finite ε follows without a δ."""
        return self._exact if measure is ZCDP or self._exact == 0 else math.inf

    def for_people(self, count: int) -> ZCDP:
        """Return the promise for ``count`` people: its ρ is ``count`` squared times as large.

        Proved in ``docs/proofs/neighbours.md``.
        """
        return self._together(count, ZCDP(self._exact * whole("people", count) ** 2))

    def in_words(self, people: int = 1) -> str:
        """Return the promise in one plain sentence."""
        group = self.for_people(people)
        bound, _delta = group.to(ApproxDP, delta=Fraction(1, 10**6)).exact
        return (
            f"{subject(people)} the probability of any answer {odds(bound)}, up to one chance in a "
            f"million ({times(people**2, 'ρ')} = {figure(group.exact)})."
        )


class ApproxDP(Guarantee):
    """(ε, δ)-differential privacy.

    Example:
        >>> ApproxDP(1, "1e-6")
        ApproxDP(1, 1e-06)
        >>> PureDP(1).to(ApproxDP, delta="1e-6").epsilon < 1
        True
    """

    __slots__ = ("_delta", "_epsilon")
    _numbers: ClassVar[tuple[str, ...]] = ("_epsilon", "_delta")
    _delta: Fraction
    _epsilon: Exact
    symbol = "(ε, δ)"

    def __init__(self, epsilon: object, delta: object) -> None:
        object.__setattr__(self, "_epsilon", cost("epsilon", epsilon))
        object.__setattr__(self, "_delta", probability("delta", delta))

    @property
    def epsilon(self) -> float:
        """ε, rounded up to a float64."""
        return float_up(self._epsilon)

    @property
    def delta(self) -> float:
        """δ, rounded up to a float64."""
        return float_up(self._delta)

    @property
    def exact(self) -> tuple[Exact, Fraction]:
        """(ε, δ) as exact rationals (ε may be infinite)."""
        return self._epsilon, self._delta

    @property
    def figures(self) -> Mapping[str, Exact]:
        """The exact ε and δ, by name."""
        return {"epsilon": self._epsilon, "delta": self._delta}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApproxDP) and self.exact == other.exact

    def __le__(self, other: object) -> bool:
        """Return whether this promise has every figure of the other one, each at most as large.

        If so, it implies the other. A ρ that the other states (``ApproxZCDP``) is never inferred from ε.
        """
        if not isinstance(other, ApproxDP):
            return NotImplemented
        own = self.figures
        return all(name in own and own[name] <= most for name, most in other.figures.items())

    def __hash__(self) -> int:
        return hash((ApproxDP, self.exact))

    def _to(self, measure: type[G], delta: object) -> G:
        # A larger δ gives a smaller ε. Other measures follow only if δ is zero; else they are infinite.
        target = (
            self._delta if measure is ApproxDP and delta is None else _target_delta(measure, delta)
        )
        if self._delta == 0:
            return PureDP(self._epsilon).to(measure, delta=target if measure is ApproxDP else None)
        if measure is ApproxDP:
            return cast("G", ApproxDP(self._epsilon_at(target), target))
        make: Callable[..., G] = measure
        return make(math.inf)

    def exact_in(self, measure: type[Guarantee]) -> Exact:
        """Convert to ``measure`` and return the number: infinity unless δ is zero."""
        return PureDP(self._epsilon).exact_in(measure) if self._delta == 0 else math.inf

    def _epsilon_at(self, target: Fraction) -> Exact:
        """Return an ε for which (ε, ``target``)-DP follows; infinity if ``target`` is below this promise's δ.

        Proved in ``docs/proofs/conversions.md``.
        """
        if target < self._delta:
            return math.inf
        if target == self._delta:
            return self._epsilon
        spare = (target - self._delta) / (1 - self._delta)
        return PureDP(self._epsilon)._epsilon_at(spare)

    def for_people(self, count: int) -> ApproxDP:
        """Return the promise for k = ``count`` people: kε, and δ(e^(kε) − 1)/(e^ε − 1) but at most 1."""
        count = whole("people", count)
        if self._epsilon == math.inf or count == 1 or self._delta == 0:
            return self._together(count, ApproxDP(self._epsilon * count, self._delta))
        if self._epsilon == 0:
            return self._together(count, ApproxDP(0, min(Fraction(1), self._delta * count)))
        assert isinstance(self._epsilon, Fraction)
        delta = upper_bound(
            lambda e, d: d * (count * e).expm1() / e.expm1(), self._epsilon, self._delta
        )
        return self._together(count, ApproxDP(self._epsilon * count, min(Fraction(1), delta)))

    def in_words(self, people: int = 1) -> str:
        """Return the promise in one plain sentence."""
        _epsilon, delta = self.for_people(people).exact
        words = PureDP(self._epsilon).in_words(people)
        return f"{words[:-1]}, except for an event of probability at most {figure(delta)} (δ)."
