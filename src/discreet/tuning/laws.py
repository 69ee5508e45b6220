"""Distributions of the number of runs, which determine the cost of the best run.

A distribution is represented by its generating function f(x) = E[x^K]. The best of K runs has f′(F) times the
density of one run, where F is the probability that one run is worse (``docs/proofs/tuning.md``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

from discreet._displays import counted
from discreet._exact.numbers.balls import ball_of, precision, upper_bound
from discreet._exact.numbers.exact import Exact, above, positive, shown, whole
from discreet._exact.numbers.searches import bisected
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.run_counts import poisson, truncated_negative_binomial
from discreet.errors import ParameterError

MOST_RUNS_AT_TIMES = 10**9
LEAST_HALTING = 1 / MOST_RUNS_AT_TIMES
MOST_RUNS = 10**6
_BITS = 128


class RunCount(ABC):
    """The distribution of the number of runs K, represented by f(x) = E[x^K]. Draws are exact.

    Example:
        >>> isinstance(Geometric(mean=20), RunCount)
        True
    """

    __slots__ = ()

    published = "-"
    """The published bound for pure runs, as a formula; ``-`` if none is published."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The distribution in words, for ledgers and readers."""

    @abstractmethod
    def draw(self, bits: Bits) -> int:
        """Draw a number of runs exactly."""

    @abstractmethod
    def generating(self, x: Any) -> Any:
        """Return f(x) as an interval, for an interval x in [0, 1]."""

    @abstractmethod
    def slope(self, x: Any) -> Any:
        """Return f′(x); f′(1) is the mean."""

    def share(self, formula: Any) -> float:
        """Evaluate a formula in interval arithmetic and return the midpoint as a float, for display only."""
        with precision(_BITS):
            return float(formula().mid())

    @property
    def mean(self) -> float:
        """The mean number of runs, as a float for display."""
        return self.share(lambda: self.slope(ball_of(1)))

    @property
    def mean_above(self) -> Fraction:
        """A close upper bound on the mean number of runs."""
        return Fraction(upper_bound(self.slope, Fraction(1)))

    def chance_of_top(self, share: object) -> float:
        """Return the chance that the winner is in the best ``share`` of settings if runs rank them correctly.

        Settings are drawn uniformly with repetition, so this chance is 1 − f(1 − share).

        Example:
            >>> round(Geometric(mean=40).chance_of_top(0.05), 3)
            0.678
        """
        part = positive("share", share)
        return self.share(lambda: 1 - self.generating(ball_of(1 - min(part, Fraction(1)))))

    def __repr__(self) -> str:
        return f"<{self.words}>"


class RandomRunCount(RunCount):
    """The distribution of a random number of runs; proved costs hold only while the number is secret."""

    __slots__ = ()

    @abstractmethod
    def bend(self, x: Any) -> Any:
        """Return f″(x)."""

    @abstractmethod
    def pure(self, epsilon: Fraction) -> Exact:
        """Return the exact cost of the best of K runs if one run costs ε, rounded up (theorem 1)."""


class NegativeBinomial(RandomRunCount):
    """Truncated negative binomial: Pr[K = k] is proportional to (1 − γ)^k Π_{l<k} (l + η)/(l + 1), k ≥ 1.

    A ``shape`` η of 0 gives the logarithmic distribution, and 1 the geometric. As η approaches −1, the best
    run costs less, and it becomes more likely that there is only one run. γ follows from the mean.

    Args:
        mean: the mean number of runs, above 1.
        shape: η, above −1.

    Example:
        >>> NegativeBinomial(mean=40, shape=0.5)
        <truncated negative binomial number of runs, shape 0.5, mean 40>
    """

    __slots__ = ("_mean", "halting", "shape")

    def __init__(self, *, mean: object, shape: object) -> None:
        self._mean = above("mean", mean, 1)
        self.shape = above("shape", shape, -1)
        self.halting = 1 / self._mean if self.shape == 1 else self._halting()
        if self.halting < LEAST_HALTING:
            raise ParameterError(
                f"⟨mean⟩{shown(self._mean)} is not allowed with this shape: now and then there would be more"
                f" than {MOST_RUNS_AT_TIMES:,} runs; ask for a smaller mean or a larger shape"
            )

    def _halting(self) -> Fraction:
        """Return γ such that the mean number of runs is the requested one or slightly below it."""
        wanted = self._mean

        def few_enough(halting: float) -> bool:
            with precision(_BITS):
                return bool(self._mean_at(ball_of(Fraction(halting))) <= ball_of(wanted))

        if few_enough(LEAST_HALTING / 2):
            return Fraction(0)
        return Fraction(bisected(few_enough, LEAST_HALTING / 2, 1.0, geometric=True)[1])

    def _mean_at(self, halting: Any) -> Any:
        lost, eta = -halting.log(), ball_of(self.shape)
        if self.shape == 0:
            return (1 / halting - 1) / lost
        return eta * (1 / halting - 1) / -(-eta * lost).expm1()

    @property
    def words(self) -> str:
        """The distribution in words."""
        if self.shape in (0, 1):
            return f"{'geometric' if self.shape else 'logarithmic'} number of runs, mean {shown(self._mean)}"
        return (
            f"truncated negative binomial number of runs, shape {_plain(self.shape)}, "
            f"mean {shown(self._mean)}"
        )

    @property
    def published(self) -> str:  # type: ignore[override]  # it depends on the shape
        """The published bound for pure runs: (2 + η)ε, from Papernot and Steinke 2022."""
        return f"{_plain(2 + self.shape)}ε"

    @property
    def mean_above(self) -> Fraction:
        """The mean number of runs: exactly 1/γ for the geometric distribution, else a close upper bound."""
        return (
            1 / self.halting if self.shape == 1 else Fraction(upper_bound(self.slope, Fraction(1)))
        )

    def draw(self, bits: Bits) -> int:
        """Draw by inversion; interval arithmetic makes the draw exact."""
        return truncated_negative_binomial(bits, self.shape, self.halting)

    def _left(self, x: Any) -> Any:
        return 1 - ball_of(1 - self.halting) * x

    def generating(self, x: Any) -> Any:
        """Return ((1 − (1 − γ)x)^−η − 1)/(γ^−η − 1) or, if η = 0, ln(1 − (1 − γ)x)/ln γ."""
        lost, eta = -ball_of(self.halting).log(), ball_of(self.shape)
        if self.shape == 0:
            return -self._left(x).log() / lost
        return (-eta * self._left(x).log()).expm1() / (eta * lost).expm1()

    def slope(self, x: Any) -> Any:
        """Return E[K]·(γ/(1 − (1 − γ)x))^(1 + η)."""
        halting = ball_of(self.halting)
        return (
            self._mean_at(halting)
            * (ball_of(1 + self.shape) * (halting / self._left(x)).log()).exp()
        )

    def bend(self, x: Any) -> Any:
        """Return f′(x)·(1 + η)(1 − γ)/(1 − (1 − γ)x)."""
        return self.slope(x) * ball_of((1 + self.shape) * (1 - self.halting)) / self._left(x)

    def pure(self, epsilon: Fraction) -> Exact:
        """Return ε + (1 + η) ln((e^ε + γ)/(1 + γe^ε)), which is below (2 + η)ε."""
        return cost_of_halting(epsilon, self.halting, 1 + self.shape)


class Geometric(NegativeBinomial):
    """A geometric number of runs: after each run, stop with probability 1/mean.

    Example:
        >>> Geometric(mean=20)
        <geometric number of runs, mean 20>
        >>> Geometric(mean=1)
        Traceback (most recent call last):
        discreet.errors.ParameterError: mean=1 is not allowed: it must be a finite number above 1
    """

    __slots__ = ()

    def __init__(self, *, mean: object) -> None:
        super().__init__(mean=mean, shape=1)


class Poisson(RandomRunCount):
    """A Poisson number of runs: close to its mean, and zero with probability e^−mean.

    Example:
        >>> Poisson(mean=40)
        <Poisson number of runs, mean 40>
    """

    __slots__ = ("rate",)

    def __init__(self, *, mean: object) -> None:
        self.rate = positive("mean", mean)
        if self.rate > MOST_RUNS:
            raise ParameterError(
                f"⟨mean⟩{shown(self.rate)} is not allowed: it must be {MOST_RUNS:,} at most"
            )

    @property
    def words(self) -> str:
        """The distribution in words."""
        return f"Poisson number of runs, mean {shown(self.rate)}"

    @property
    def mean_above(self) -> Fraction:
        """The mean number of runs, exactly."""
        return self.rate

    def draw(self, bits: Bits) -> int:
        """Draw by inversion; interval arithmetic makes the draw exact."""
        return poisson(bits, self.rate)

    def generating(self, x: Any) -> Any:
        """Return e^(μ(x − 1))."""
        return (ball_of(self.rate) * (x - 1)).exp()

    def slope(self, x: Any) -> Any:
        """Return μ·e^(μ(x − 1))."""
        return ball_of(self.rate) * self.generating(x)

    def bend(self, x: Any) -> Any:
        """Return μ²·e^(μ(x − 1))."""
        return ball_of(self.rate) * self.slope(x)

    def pure(self, epsilon: Fraction) -> Exact:
        """Return ε + μ·tanh(ε/2)."""
        return upper_bound(lambda e, rate: e + rate * (e / 2).tanh(), epsilon, self.rate)


class Fixed(RunCount):
    """A publicly known number of runs, as in ordinary tuning. The best run alone costs as much as all runs.

    Example:
        >>> Fixed(40)
        <fixed number of 40 runs>
    """

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        self.count = whole("count", count)

    @property
    def words(self) -> str:
        """The distribution in words."""
        return f"fixed number of {counted(self.count, 'run')}"

    def draw(self, bits: Bits) -> int:  # noqa: ARG002 - the interface passes bits, not needed here
        """Return the fixed number."""
        return self.count

    def generating(self, x: Any) -> Any:
        """Return x^k."""
        return x**self.count

    def slope(self, x: Any) -> Any:
        """Return k·x^(k − 1)."""
        return self.count * x ** (self.count - 1)


def cost_of_halting(epsilon: Fraction, halting: Fraction, power: Fraction) -> Exact:
    """Return ε + p·ln((e^ε + γ)/(1 + γe^ε)), rounded up: theorems 1 and 5 of ``docs/proofs/tuning.md``."""

    def formula(e: Any, gamma: Any, p: Any) -> Any:
        # Numerator and denominator are multiplied by e^−ε, so a large ε does not overflow.
        small = (-e).exp()
        return e + p * ((1 + gamma * small) / (small + gamma)).log()

    return upper_bound(formula, epsilon, halting, power)


def _plain(value: Fraction) -> str:
    """Return a number, possibly negative, as a short decimal."""
    return f"-{shown(-value)}" if value < 0 else shown(value)
