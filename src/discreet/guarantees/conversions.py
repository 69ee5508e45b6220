"""The formulas that convert privacy costs, rounded up in ball arithmetic, and ``Proof``.

Users need only :mod:`discreet.guarantees`, which calls these functions.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet._exact.numbers.balls import upper_bound
from discreet._exact.numbers.exact import Exact

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Proof:
    """The pages that prove a guarantee, the theorems that Coq has checked, and what is assumed.

    A single theorem covers the whole guarantee. If there are several, each proves one step, and the pages
    show how the steps combine. If there is none, the proof is on paper.

    Example:
        >>> print(Proof("docs/proofs/exponential.md", "exponential_bounded_range"))
        docs/proofs/exponential.md: exponential_bounded_range, checked by Coq
        >>> print(Proof("docs/proofs/concentrated.md", assumes=("the scores are counts",)))
        docs/proofs/concentrated.md: proved on paper; assumes that the scores are counts
    """

    pages: tuple[str, ...]
    theorems: tuple[str, ...]
    assumes: tuple[str, ...]

    def __init__(
        self, page: str | tuple[str, ...], *theorems: str, assumes: Iterable[str] = ()
    ) -> None:
        object.__setattr__(self, "pages", (page,) if isinstance(page, str) else page)
        object.__setattr__(self, "theorems", theorems)
        object.__setattr__(self, "assumes", tuple(assumes))

    @property
    def checked(self) -> bool:
        """Whether one theorem that Coq has checked covers the whole guarantee."""
        return len(self.theorems) == 1

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the address of each page: on the project's site if there is one, else of the installed copy.

        Example:
            >>> [address] = Proof("docs/proofs/exponential.md").addresses
            >>> address.rpartition("/")[2].partition(".")[0]
            'exponential'
        """
        from pathlib import PurePosixPath

        site = _documentation()
        if site is not None:
            return tuple(f"{site}/proofs/{PurePosixPath(page).stem}.html" for page in self.pages)
        found = (installed_page(PurePosixPath(page).stem) for page in self.pages)
        return tuple(path.as_uri() for path in found if path is not None)

    def then(self, step: Proof, *, shows: bool = False) -> Proof:
        """Return this proof followed by one more step; if either is on paper, the result is on paper.

        With ``shows``, the step proves what this proof assumes, so these assumptions are dropped.

        Example:
            >>> first = Proof("docs/proofs/exponential.md", "exponential_bounded_range")
            >>> print(first.then(Proof("docs/proofs/conversions.md", "bounded_range_to_approx")))
            docs/proofs/exponential.md, docs/proofs/conversions.md: exponential_bounded_range and \
bounded_range_to_approx, each checked by Coq, put together on paper
            >>> first.then(Proof("docs/proofs/concentrated.md")).theorems
            ()
        """
        both = self.theorems and step.theorems
        return Proof(
            tuple(dict.fromkeys(self.pages + step.pages)),
            *(dict.fromkeys(self.theorems + step.theorems) if both else ()),
            assumes=step.assumes if shows else dict.fromkeys(self.assumes + step.assumes),
        )

    def assuming(self, *sentences: str) -> Proof:
        """Return the same proof with these assumptions instead of its own."""
        return Proof(self.pages, *self.theorems, assumes=sentences)

    def __str__(self) -> str:
        *others, last = self.theorems or ("",)
        how = "proved on paper"
        if others:
            how = f"{', '.join(others)} and {last}, each checked by Coq, put together on paper"
        elif last:
            how = f"{last}, checked by Coq"
        what = f"; assumes that {', and that '.join(self.assumes)}" if self.assumes else ""
        return f"{', '.join(self.pages)}: {how}{what}"


def installed_page(name: str) -> Path | None:
    """Return the file of a proof page, in this checkout or the installed package; None if there is none."""
    from pathlib import Path

    for place in (Path(__file__).parents[3] / "docs", Path(sys.prefix) / "share" / "discreet"):
        file = place / "proofs" / f"{name}.md"
        if file.is_file():
            return file
    return None


@lru_cache(maxsize=1)
def _documentation() -> str | None:
    """Return the documentation's address from the package's metadata; None if there is none."""
    from importlib import metadata

    with suppress(metadata.PackageNotFoundError):
        for named in metadata.metadata("discreet").get_all("Project-URL") or ():
            name, _, address = named.partition(", ")
            if name == "Documentation" and ".example" not in address:
                return str(address).rstrip("/")
    return None


# ---- the formulas, each with its proof ----


def shortened(epsilon: Exact, delta: Fraction, survivor: Any) -> Exact:
    """Return ε + ln(survivor(ε, δ)), rounded up; 0 if ``survivor`` gives at most 0."""
    assert isinstance(epsilon, Fraction)
    if upper_bound(survivor, epsilon, delta) <= 0:
        return Fraction(0)
    return upper_bound(lambda e, d: e + survivor(e, d).log(), epsilon, delta)


def epsilon_of_bounded_range(epsilon: Exact, delta: Fraction) -> Exact:
    """Return ε' = ε + 2 ln(1 − √(δ(1 − e^−ε))), from δ(ε') = (1 − e^((ε'−ε)/2))²/(1 − e^−ε).

    The root stays below one because δ < 1. Proof: ``docs/proofs/conversions.md``.
    """
    return shortened(epsilon, delta, lambda e, d: (1 - (d * (1 - (-e).exp())).sqrt()) ** 2)


def range_of_flipped_coins(epsilon: Fraction) -> Exact:
    """Return 2 ln(2e^(ε/2) − 1), the range of permute-and-flip (``docs/proofs/bounded-range-refuted.md``)."""
    return upper_bound(lambda e: 2 * (2 * (e / 2).expm1() + 1).log(), epsilon)


def zcdp_of_pure(epsilon: Exact) -> Exact:
    """Return ε·tanh(ε/2), the ρ of any ε-DP mechanism (``docs/proofs/concentrated.md``)."""
    return _rho(epsilon, lambda e: e * (e / 2).tanh())


def zcdp_of_bounded_range(epsilon: Exact) -> Exact:
    """Return the ρ of ε-bounded range: t − 1 − ln t with t = ε/(1 − e^−ε), at most ε²/8.

    Proof: ``docs/proofs/concentrated.md``.
    """

    def formula(e: Any) -> Any:
        ratio = e / -((-e).expm1())
        return ratio - 1 - ratio.log()

    return _rho(epsilon, formula)


def zcdp_of_laplace(epsilon: Exact) -> Exact:
    """Return ε + e^−ε − 1, the ρ of Laplace noise of scale 1 at distance ε.

    Proof: ``docs/proofs/concentrated.md``.
    """
    return _rho(epsilon, lambda e: e + (-e).expm1())


def _rho(epsilon: Exact, formula: Any) -> Exact:
    if epsilon in (math.inf, 0):
        return epsilon
    assert isinstance(epsilon, Fraction)
    return upper_bound(formula, epsilon)


def epsilon_of_zcdp(rho: Exact, delta: Fraction) -> Exact:
    """Return the least ε found for which ρ-zCDP implies (ε, δ)-DP.

    Any order α gives a valid ε (``docs/proofs/conversions.md``).
    """
    if delta == 1 or rho == 0:
        return Fraction(0)
    if rho == math.inf or delta == 0:
        return math.inf
    assert isinstance(rho, Fraction)

    def at(order: Fraction) -> Exact:
        return upper_bound(
            lambda a, r, d: a * r - (a * d).log() / (a - 1) + (1 - 1 / a).log(), order, rho, delta
        )

    return max(Fraction(0), min(at(order) for order in _orders(rho, delta)))


def _orders(rho: Fraction, delta: Fraction) -> list[Fraction]:
    """Return orders α near the best one, found with floats; the bound is rigorous at any order."""
    log_lost, log_rho = _log_of_lost(delta), _log(rho)
    # With x = α − 1: the classical order has x² = ln(1/δ)/ρ, and the best one is not far from it.
    center = (log_lost - log_rho) / 2
    if max(abs(log_lost), abs(log_rho), 2 * abs(center)) > 600:
        return [1 + Fraction(2) ** round(center / math.log(2))]
    lost, cost = math.exp(log_lost), math.exp(log_rho)

    def value(log_excess: float) -> float:
        excess = math.exp(log_excess)
        log_order = math.log1p(excess)
        return excess * cost + (lost - log_order) / excess + log_excess - log_order

    low, high = center - 5, center + 3
    for _ in range(80):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if value(left) < value(right) else (left, high)
    return [1 + Fraction(math.exp(place)) for place in (center, (low + high) / 2)]


@lru_cache(maxsize=64)
def _log_of_lost(delta: Fraction) -> float:
    """Return ln ln(1/δ) as a float; it is cached, because every conversion at this δ needs it."""
    lost = upper_bound(lambda d: -d.log(), delta)
    assert isinstance(lost, Fraction)
    return _log(lost)


def _log(value: Fraction) -> float:
    """Return the logarithm of a positive rational, even one outside the range of floats."""
    return math.log(value.numerator) - math.log(value.denominator)
