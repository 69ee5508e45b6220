"""The accuracy of an answer, from public facts: a bound for any data, and a typical error on stated data.

*At worst* is proved for any data. *Typical* is computed for public data that the plan describes, with about
as many people as the owner states. The judgement divides the mean error on that data by the mean error of a
random guess. The answer is useful if the ratio is at most 1/10, doubtful if it is at most 1/2, and otherwise
no better than guessing. An answer that is useful on that data is still doubtful if the proved bound is as
large as the number of people, or if the answer is no better than guessing on nearly equal counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet._displays import counted
from discreet._exact.numbers.exact import float_up
from discreet._exact.numbers.printing import figure
from discreet._exact.sampling import Bits
from discreet._exact.sampling.bits import ScriptedBits, uniform_indices
from discreet._tables.counts import Counts
from discreet.analysis.worst_case import error_bound_at
from discreet.errors import ParameterError
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.facts import Floats
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.scores import Scores

USEFUL, DOUBTFUL, GUESSING = "useful", "doubtful", "no better than guessing"
DRAWS = 200
"""The number of answers drawn on stated data if the error has no closed form."""
MOST_DRAWN = 200_000
"""The largest total size of the drawn answers. Planning at a desk is free, so its work is limited."""
MOST_POINTS = 512
"""The largest number of grid points that stated data is spread over."""
BOUNDED = (PermuteAndFlip.facts.law, Exponential.facts.law)
"""The distributions with a proved error bound on any data."""


def proved_bound(
    chooser: Mechanism | None, scale: Fraction, ways: int, level: Fraction
) -> float | None:
    """Return a bound on the error of one choice that holds on any data with probability ``level``.

    The choice is among ``ways`` candidates, and ``scale`` is d/ε for the range distance d of their scores.
    The bound is proved for permute-and-flip, for the exponential mechanism, and for the one-shot and joint
    methods of ``TopK``, which have no ``chooser``. For other mechanisms the result is None; with Laplace
    noise, for example, the error can exceed the bound.
    """
    if chooser is not None and chooser.facts.law not in BOUNDED:
        return None
    return error_bound_at(scale, ways, beta=1 - level)


@dataclass(frozen=True, slots=True)
class Errors:
    """The distribution of an answer's error, and the mean error of a random guess."""

    sizes: Floats
    chances: Floats
    guessing: float

    def quantile(self, level: Fraction) -> float:
        """Return the smallest bound that the error exceeds with probability at most 1 − level."""
        order = np.argsort(self.sizes, kind="stable")
        reached = np.cumsum(self.chances[order])
        place = min(int(np.searchsorted(reached, float(level) - 1e-9)), len(order) - 1)
        return float(self.sizes[order[place]])

    @property
    def mean(self) -> float:
        """The mean error of an answer."""
        return float(self.sizes @ self.chances)

    @property
    def judgement(self) -> str:
        """The judgement (such as useful), from the mean error of an answer and that of a random guess."""
        ratio = self.mean / self.guessing if self.guessing else math.inf if self.mean else 0.0
        return USEFUL if ratio <= 0.1 else DOUBTFUL if ratio <= 0.5 else GUESSING


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of an answer: how far it may be off, and a judgement.

    Attributes:
        worst: with probability ``level`` the error is at most this, on any data; None if no bound is proved.
        level: the probability with which the bounds hold.
        unit: the unit of the error, singular and plural.
        meaning: the meaning of an error, in words.
        assumed: the data for which ``typical`` is computed, in words.
        errors: computes the distribution of the error on that data; None if that is impossible.
        most: the largest error that any answer can have, if that is public; a bound this large says nothing.
        assuming: what the typical error assumes because nobody stated it, such as ``1,000 people``.
        among: the number of people for whom ``typical`` is computed; with a bound this large, no answer is
            useful.
        flat: computes the distribution of the error on nearly equal counts; None if that is not known.
        caution: a reason why no answer is useful, in words.

    Example:
        >>> print(Accuracy(7.3, Fraction(19, 20), ("person", "people"), "people fewer than the best", ""))
        at worst 8 people off, 19 times out of 20
    """

    worst: float | None
    level: Fraction
    unit: tuple[str, str]
    meaning: str
    assumed: str
    errors: Callable[[], Errors] | None = field(default=None, repr=False, compare=False)
    most: int | None = None
    assuming: str = ""
    among: int | None = None
    flat: Callable[[], Errors] | None = field(default=None, repr=False, compare=False)
    caution: str = ""

    @cached_property
    def _law(self) -> Errors | None:
        return None if self.errors is None else self.errors()

    @property
    def typical(self) -> float | None:
        """The error bound that holds on the assumed data with probability ``level``."""
        return None if self._law is None else self._law.quantile(self.level)

    @property
    def judgement(self) -> str | None:
        """The judgement: useful, doubtful or no better than guessing; None if ``errors`` is None."""
        return self._judged[0]

    @cached_property
    def _judged(self) -> tuple[str | None, str]:
        """The judgement, and why an answer with a small typical error is not useful, or "" if it is."""
        found = None if self._law is None else self._law.judgement
        if found != USEFUL:
            return found, self.caution
        doubt = self.caution
        if not doubt and self._beyond(self.among):
            doubt = "" if self._beyond(self.most) else "a bound this large says nothing"
            return DOUBTFUL, doubt
        if not doubt and self.flat is not None and self.flat().judgement == GUESSING:
            doubt = "no better than guessing if the counts are nearly equal"
        return (DOUBTFUL if doubt else USEFUL), doubt

    def _beyond(self, size: int | None) -> bool:
        """Whether the proved bound, rounded up, is at least ``size``; False if either is None."""
        if self.worst is None or size is None:
            return False
        return math.ceil(self.worst - 1e-9) >= size

    def __str__(self) -> str:
        judgement, doubt = self._judged
        judged = "" if judgement is None else f"{judgement}: "
        worst, missing = self.worst, "no bound is proved"
        if self.most is not None and self._beyond(self.most):
            worst, missing = None, f"no bound below {self.in_units(self.most)} is proved"
        said = []
        if self.typical is not None:
            assuming = f" (assuming {self.assuming})" if self.assuming else ""
            said.append(f"typically {self.in_units(self.typical)} off{assuming}")
        if worst is not None:
            said.append(f"at worst {self.in_units(worst)} off")
        words = f"{', '.join(said)}, {self.how_often}" if said else "it depends on the data"
        if not said or worst != self.worst:
            words += f"; {missing}"
        return f"{judged}{words}{f'; {doubt}' if doubt else ''}"

    @property
    def how_often(self) -> str:
        """The probability ``level`` in words, such as "19 times out of 20"."""
        if self.level == Fraction(19, 20):
            return "19 times out of 20"
        return f"with probability {figure(self.level, up=False)}"

    def in_units(self, error: float) -> str:
        """Format an error with its unit, rounded up."""
        return (
            counted(math.ceil(error - 1e-9), *self.unit)
            if error < 10**15
            else f"{error:.3g} {self.unit[1]}"
        )

    def proved(self) -> dict[str, Any]:
        """Return the proved bound as plain data, without computing the typical error."""
        return {
            "worst": None if self.worst is None else float_up(self.worst),
            "level": float(self.level),
            "unit": list(self.unit),
            "meaning": self.meaning,
            "most": self.most,
        }

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Accuracy:
        """Make the accuracy from the plain data of ``proved``."""
        singular, plural = data["unit"]
        level = Fraction(str(data["level"]))
        most = data.get("most")  # absent from answers that older versions kept
        return Accuracy(data["worst"], level, (singular, plural), data["meaning"], "", most=most)

    def as_data(self) -> dict[str, Any]:
        """Return the accuracy as plain data, for JSON."""
        typical = {"typical": self.typical, "judgement": self.judgement, "assumed": self.assumed}
        return self.proved() | typical | {"words": str(self)}


PEOPLE = ("person", "people")


# ---- stated data ---------------------------------------------------------------------------------------


def falling_counts(people: int, size: int) -> Counts:
    """Return counts proportional to 1, 1/2, 1/3, ..., because equal counts would make every answer right."""
    shares = 1 / np.arange(1, size + 1)
    found: Counts = np.floor(people * shares / shares.sum()).astype(np.int64)
    return found


_EACH = 10
"""Nearly equal counts average at least this many people; on a long list, most counts are zero."""


def nearly_equal_counts(people: int, size: int) -> Counts:
    """Return counts that differ only as much as chance makes them: by about the square root of their mean.

    They are the quantiles of a normal distribution at up to 512 evenly spaced levels. If there are fewer than
    ten people per candidate, only one candidate for every ten people has a count above zero.
    """
    alike = max(1, min(size, people // _EACH))
    levels = min(alike, MOST_POINTS)
    normal = NormalDist(people / alike, math.sqrt(people / alike))
    spread = [normal.inv_cdf(1 - (place + 0.5) / levels) for place in range(levels)]
    found: Counts = np.zeros(size, dtype=np.int64)
    places = np.arange(alike) * levels // alike
    found[:alike] = np.maximum(np.ceil(np.array(spread)[places]), 0)
    return found


def even_counts(people: int, points: int) -> Counts:
    """Spread people evenly over the points of a grid, or over 512 points if the grid has more."""
    size = min(points, MOST_POINTS)
    found: Counts = np.diff(np.arange(size + 1) * people // size).astype(np.int64)
    return found


def few_places(size: int) -> list[int]:
    """Return all indices of a list or grid; if there are more than 512, return 512 of them, evenly spread."""
    number = min(size, MOST_POINTS)
    return [place * (size - 1) // max(number - 1, 1) for place in range(number)]


def exactly(
    mechanism: Mechanism, scores: Scores, sizes: Sequence[float] | Floats | Counts
) -> Errors:
    """Compute the error distribution of one choice from the mechanism's probabilities, without drawing."""
    errors = np.asarray(sizes, dtype=np.float64)
    return Errors(errors, mechanism.probabilities(scores), float(errors.mean()))


def drawn(
    like: Counts,
    pick: Callable[[Counts, Bits], Iterable[Sequence[int]]],
    error: Callable[[Counts, Sequence[int]], float],
    places: int,
) -> Errors:
    """Estimate the error distribution from answers drawn on the data ``like``, with a fixed random seed."""
    bits = ScriptedBits("stated data")
    draws = max(20, min(DRAWS, MOST_DRAWN // places))
    sizes = [error(like, next(iter(pick(like[None, :], bits)))) for _ in range(draws)]
    guesses = [error(like, guess(len(like), places, bits)) for _ in range(draws)]
    return Errors(np.array(sizes), np.full(draws, 1 / draws), math.fsum(guesses) / draws)


def guess(size: int, places: int, bits: Bits) -> list[int]:
    """Draw ``places`` distinct indices below ``size`` uniformly, as a random guess."""
    if places > size // 2:
        order = np.argsort(bits.words(size), kind="stable")
        return [int(place) for place in order[:places]]
    found: dict[int, None] = {}
    while len(found) < places:
        found |= dict.fromkeys(uniform_indices(bits, size, count=places).tolist())
    return list(found)[:places]


def least_epsilon(
    at: Callable[[Fraction], Accuracy], *, error: Fraction, typical: bool
) -> Fraction:
    """Find the smallest ε, to within about 0.1 % of it, at which the error is at most ``error``.

    ``at`` returns the accuracy at an ε. The search assumes that the error falls as ε grows. An error that is
    estimated from drawn answers does not always fall; then the result still reaches ``error``, but a smaller
    ε may reach it too.
    """

    def reached(epsilon: Fraction) -> bool:
        found = at(epsilon)
        size = found.typical if typical else found.worst
        if size is None:
            raise ParameterError(
                "⟨error_at_most⟩ is not allowed here: no bound is proved for this question; give ⟨epsilon⟩"
            )
        return size <= error

    power = next((power for power in range(-12, 13) if reached(Fraction(4) ** power)), None)
    if power is None:
        raise ParameterError("⟨error_at_most⟩ is not allowed: no ε below 16 million reaches it")
    low, high = Fraction(4) ** (power - 1), Fraction(4) ** power
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return _rounded_up(high, reached)


def _rounded_up(epsilon: Fraction, reached: Callable[[Fraction], bool]) -> Fraction:
    """Round ε, which reaches the error, up to four significant digits.

    If the rounded ε does not reach the error, one unit in the last digit is added; if that does not help, ε
    stays as it is.
    """
    unit = Fraction(10) ** (math.floor(math.log10(epsilon)) - 3)
    found = Fraction(math.ceil(epsilon / unit)) * unit
    return next((each for each in (found, found + unit) if reached(each)), epsilon)
