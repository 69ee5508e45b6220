"""Optimal composition of equal bounded-range releases fixed in advance (Dong, Durfee and Rogers 2020).

δ(ε') is the maximum over offsets t of Σ_i C(k, i) θ^(k−i) (1−θ)^i (e^(kt−iε) − e^ε')₊, where
θ = (e^−t − e^−ε)/(1 − e^−ε). One of the offsets t_ℓ = (ε' + (ℓ+1)ε)/(k+1), ℓ = 0..k−1, clipped to [0, ε],
attains this maximum. ``docs/proofs/composition.md`` has the proof and the rounding bound used here.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet._exact.numbers.exact import Exact, float_down
from discreet._exact.numbers.searches import bisected

MOST_RELEASES = 20_000
_SMALLEST_DELTA = 1e-200  # far above underflow, so that no term that matters is lost
_RELATIVE_SLACK = 1e-9
_ABSOLUTE_SLACK = 1e-11
_LARGEST_TOTAL = 10_000
_LEFT_OUT = 1e-10  # this much of δ is allotted to the outcomes that are not evaluated

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


def homogeneous_epsilon(epsilon: Fraction, count: int, delta: Fraction) -> Exact | None:
    """Return the least ε', rounded up, for which ``count`` releases of range ε are (ε', δ)-DP.

    Return None if the count, δ or the total ε is outside the limits for which the rounding is proved.

    Example:
        >>> float(homogeneous_epsilon(Fraction(1, 10), 100, Fraction(1, 10**6)))
        2.2460...
    """
    total = epsilon * count
    allowed = float_down(delta)
    if count > MOST_RELEASES or allowed < _SMALLEST_DELTA or total > _LARGEST_TOTAL:
        return None
    pair = _Pair(float(epsilon), count, allowed)
    every = np.arange(count)
    if pair.divergence(0.0, every) <= allowed:
        return Fraction(0)
    ceiling = math.nextafter(float(total), math.inf)
    # Search with a few ℓ ("leaders"), then with those near the worst of them; check the answer with all ℓ.
    near = every[:: max(1, count // 32)]
    high = pair.search(0.0, ceiling, allowed, near)
    worst = max(near, key=lambda leader: pair.divergence(high, np.array([leader])))
    reach = max(2, count // 32)
    high = pair.search(
        high / 2,
        ceiling,
        allowed,
        every[max(0, worst - reach) : worst + reach + 1 : max(1, reach // 8)],
    )
    high = min(ceiling, high * (1 + 1e-5))
    if pair.divergence(high, every) > allowed:
        high = pair.search(high, ceiling, allowed, every)
    return min(total, Fraction(high))


class _Pair:
    """Upper bounds on the divergence of k releases of range ε, computed from the worst two-point pairs."""

    def __init__(self, epsilon: float, count: int, allowed: float) -> None:
        self._epsilon = epsilon
        self._count = count
        # By Hoeffding, the outcomes further than this from the mean have at most the omitted part of δ.
        self._left_out = allowed * _LEFT_OUT
        self._reach = math.ceil(math.sqrt(count * math.log(2 / self._left_out) / 2)) + 1
        self._log_binomials = _log_binomials(count)

    def search(self, low: float, high: float, allowed: float, leaders: Indices) -> float:
        """Return the least ε' between ``low`` and ``high`` with a divergence of at most ``allowed``."""
        return bisected(
            lambda target: self.divergence(target, leaders) <= allowed, low, high, relative=1e-9
        )[1]

    def divergence(self, target: float, leaders: Indices) -> float:
        """Return an upper bound on the divergence at ε' = ``target`` over the t_ℓ with ℓ in ``leaders``."""
        steps = target + (leaders + 1) * self._epsilon
        offsets = np.clip(steps / (self._count + 1), 0.0, self._epsilon)
        blocks = np.array_split(offsets, max(1, len(offsets) // 256))
        return max(float(self._at(block, target).max()) for block in blocks)

    def _at(self, offsets: Floats, target: float) -> Floats:
        """Return an upper bound on the divergence at ε' = ``target`` for each offset."""
        epsilon, count = self._epsilon, self._count
        spread = -math.expm1(-epsilon)
        # e^−ε (e^t − 1), in a form that does not overflow for large offsets.
        lower = np.exp(offsets - epsilon) * -np.expm1(-offsets) / spread
        means = count * lower
        first = max(0, math.floor(means.min()) - self._reach)
        window = slice(first, min(count, math.ceil(means.max()) + self._reach) + 1)
        lower_ends = np.arange(count + 1.0)[window]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_upper = np.log(-np.expm1(offsets - epsilon) / spread)[:, None]
            log_lower = np.log(lower)[:, None]
            # 0 · (−∞) means that an impossible outcome occurs zero times: its factor is one.
            powers = _zero_if_nan((count - lower_ends) * log_upper) + _zero_if_nan(
                lower_ends * log_lower
            )
        masses = np.exp(self._log_binomials[window] + powers)
        loss = count * offsets[:, None] - lower_ends * epsilon
        exceeding = -np.expm1(np.minimum(target - loss, 0.0))
        above = (masses * (loss > target - _ABSOLUTE_SLACK)).sum(axis=1)
        exact: Floats = (masses * exceeding).sum(axis=1)
        bound: Floats = exact * (1 + _RELATIVE_SLACK) + above * _ABSOLUTE_SLACK + self._left_out
        return bound


def _zero_if_nan(values: Floats) -> Floats:
    return np.where(np.isnan(values), 0.0, values)


def _log_binomials(count: int) -> Floats:
    logs, binomial = [0.0], 1
    for i in range(count):
        binomial = binomial * (count - i) // (i + 1)
        logs.append(math.log(binomial))
    return np.array(logs)
