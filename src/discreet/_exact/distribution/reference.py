"""The distributions in interval arithmetic (flint ``arb``): rigorous enclosures, for tests and audits.

A product of n − 1 factors is a polynomial of degree n − 1, so a Gauss–Legendre rule with ⌈n/2⌉ nodes
integrates it exactly, and the interval of the sum contains the integral. Below the best score the noisy-max
integrand is not a polynomial. There the remainder of the rule is bounded by Theorem 4 of
``docs/proofs/probabilities.md`` and added to the radius.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

from discreet._exact.numbers.balls import ball_of, bits_at_work, precision
from discreet.errors import ParameterError, ScoresError

# With more candidates than this on few different gaps, use an adaptive rule instead of the exact one.
_MANY, _FEW_LEVELS = 64, 12


def permute_and_flip_ball(gammas: Sequence[Fraction], bits: int = 200) -> list[Any]:
    """Return intervals that contain permute-and-flip's probabilities, one for each candidate.

    Equal gaps are evaluated once; a thousand different gaps take about a second.

    Example:
        >>> best, other = permute_and_flip_ball([Fraction(0), Fraction(1)])
        >>> other
        [0.183939720585721 +/- ...]
        >>> (best + other).contains(1)
        True
    """
    crowd = _Crowd(gammas)
    with precision(_precision(bits)):
        chances = _unbeaten(crowd, crowd.coins)
        return crowd.spread([coin * part for coin, part in zip(crowd.coins, chances, strict=True)])


def exponential_ball(gammas: Sequence[Fraction], bits: int = 200) -> list[Any]:
    """Return intervals that contain the exponential mechanism's probabilities.

    Example:
        >>> [float(ball) for ball in exponential_ball([Fraction(0), Fraction(0)])]
        [0.5, 0.5]
    """
    from flint import arb

    crowd = _Crowd(gammas)
    with precision(_precision(bits)):
        total = sum((m * coin for coin, m in zip(crowd.coins, crowd.counts, strict=True)), arb(0))
        return crowd.spread([coin / total for coin in crowd.coins])


def noisy_max_laplace_ball(gammas: Sequence[Fraction], bits: int = 200) -> list[Any]:
    """Return intervals that contain the probabilities of noisy max with Laplace noise of unit scale.

    The relative radius is about 2^−(bits − 40). The part of the integral too far below the best score to
    matter at this precision is not computed; the intervals include a bound on it (Theorem 5).

    Example:
        >>> noisy_max_laplace_ball([Fraction(0), Fraction(2)])[1]  # e⁻²(1/2 + 2/4)
        [0.135335283236613 +/- ...]
    """
    crowd = _Crowd(gammas)
    with precision(_precision(bits)):
        above = _unbeaten(crowd, [coin / 2 for coin in crowd.coins])
        parts = zip(crowd.coins, above, _below(crowd, bits), strict=True)
        # Both parts are relative to p_r, so tiny probabilities also get narrow intervals.
        return crowd.spread([coin * (one / 2 + two) for coin, one, two in parts])


class _Crowd:
    """The distinct gaps (levels) in order, with the number of candidates at each."""

    def __init__(self, gammas: Sequence[Fraction]) -> None:
        # Pairs of integers hash and compare several times faster than Fractions.
        self._ratios = [gamma.as_integer_ratio() for gamma in gammas]
        tally = Counter(self._ratios)
        self.levels = sorted(Fraction(*ratio) for ratio in tally)
        if not self.levels or self.levels[0] != 0:
            raise ScoresError("gaps must be non-negative, and the least exactly zero")
        self.counts = [tally[level.as_integer_ratio()] for level in self.levels]
        self.pairs = list(zip(self.levels, self.counts, strict=True))

    @cached_property
    def coins(self) -> list[Any]:
        """Return the coin exp(−γ) of each level, at the precision of the first call."""
        return [(-ball_of(level)).exp() for level in self.levels]

    def weight(self, height: Fraction, first: int) -> Any:
        """Return Σ exp(height − γ) over the candidates at level ``first`` and later."""
        from flint import arb

        return sum((m * ball_of(height - gamma).exp() for gamma, m in self.pairs[first:]), arb(0))

    def spread(self, balls: Sequence[Any]) -> list[Any]:
        """Expand one interval per level into one per candidate."""
        ratios = (level.as_integer_ratio() for level in self.levels)
        found = dict(zip(ratios, balls, strict=True))
        return [found[ratio] for ratio in self._ratios]


def _precision(bits: int) -> int:
    if bits < 64:
        raise ParameterError(f"bits must be at least 64, not {bits}")
    return bits + 32


def _rule(count: int) -> list[tuple[Any, Any]]:
    """Return (node, weight) pairs of the Gauss–Legendre rule on [0, 1], as intervals."""
    return _rule_in(count, bits_at_work())


@lru_cache(maxsize=256)
def _rule_in(count: int, _bits: int) -> list[tuple[Any, Any]]:
    from flint import arb

    roots = (arb.legendre_p_root(count, k, weight=True) for k in range(count))
    return [((1 - root) / 2, weight / 2) for root, weight in roots]


def _unbeaten(crowd: _Crowd, coins: Sequence[Any]) -> list[Any]:
    """Return, for one candidate r of each level, an interval that contains ∫₀¹ Π_{t≠r} (1 − u·c_t) du."""
    from flint import acb, arb

    counts = crowd.counts
    if sum(counts) > _MANY and len(coins) <= _FEW_LEVELS:
        # The integrands are entire, so flint's adaptive rule encloses the integral for any degree.
        return [acb.integral(_others(coins, counts, r), 0, 1).real for r in range(len(coins))]
    result = [arb(0)] * len(coins)
    for node, weight in _rule((sum(counts) + 1) // 2):
        factors = [1 - node * coin for coin in coins]
        product = weight
        for factor, count in zip(factors, counts, strict=True):
            product *= factor**count
        result = [total + product / factor for total, factor in zip(result, factors, strict=True)]
    return result


def _others(coins: Sequence[Any], counts: Sequence[int], left_out: int) -> Any:
    def product(u: Any, _analytic: bool) -> Any:
        from flint import acb

        value = acb(1)
        for level, (coin, count) in enumerate(zip(coins, counts, strict=True)):
            value *= (1 - u * coin) ** (count - (level == left_out))
        return value

    return product


def _below(crowd: _Crowd, bits: int) -> list[Any]:
    """Return, for each level, the part of the integral below the best score, divided by p_r."""
    from flint import arb

    gammas, counts = crowd.levels, crowd.counts
    flat, result = _flat_part(crowd, bits)
    for levels, (score, following) in enumerate(pairwise(gammas), start=1):
        upper = max(score, flat)
        ahead = sum(counts[:levels])
        # Below the second best score, ψ grows by 1 per unit, so ψ > bits holds within ``bits`` units.
        lower = following if ahead == 1 else min(following, upper + bits)
        panels = _panels(crowd, levels, upper, lower)
        if lower < following:
            panels.append((lower, following))  # not integrated, because ψ > bits at its start
        for panel in panels:
            decay = _decay(crowd, levels, panel[0])
            if decay > bits:
                # ψ grows by at least 1 per unit, so the remainder is at most exp(−ψ).
                left = arb(0, float(arb(-decay).exp().upper()))
                return [total + left for total in result]
            _add_panel(result, crowd, levels, panel, bits)
    # Below every score the integrand is exp(−n·z), so its integral is its value at the last score over n.
    last = gammas[-1]
    shift = last + sum((m * (gamma - last) for gamma, m in crowd.pairs), Fraction(0))
    heads = ball_of(shift).exp() / arb(2) ** sum(counts) / sum(counts)
    return [
        total + heads * ball_of(gamma - last).exp()
        for total, gamma in zip(result, gammas, strict=True)
    ]


def _flat_part(crowd: _Crowd, bits: int) -> tuple[Fraction, list[Any]]:
    """Return the depth down to which all but the best are negligible, and each level's integral down to it.

    Down to this depth, the product Π (1 − x_t) over any candidates except the best is in [1 − Σx_t, 1], and
    Σx_t is below 2^−bits.
    """
    from flint import arb

    if crowd.counts[0] > 1 or len(crowd.levels) == 1:
        return Fraction(0), [arb(0)] * len(crowd.levels)
    second = crowd.levels[1]
    margin = float((crowd.weight(second, 1).log() + bits * arb(2).log()).upper())
    flat = max(Fraction(0), second - Fraction(margin))
    product = (1 - crowd.weight(flat, 1) / 2).union(arb(1))
    best = (1 - (-ball_of(flat)).exp()) / 2
    return flat, [product * best, *[product * ball_of(flat) / 4] * (len(crowd.levels) - 1)]


def _decay(crowd: _Crowd, levels: int, height: Fraction) -> float:
    """Return Theorem 5's ψ at this height, rounded down."""
    from flint import arb

    total = arb(2).log() * sum(crowd.counts[:levels]) - ball_of(height)
    total += sum((m * ball_of(height - gamma) for gamma, m in crowd.pairs[:levels]), arb(0))
    return float((total + crowd.weight(height, levels) / 2).lower())


def _panels(
    crowd: _Crowd, levels: int, upper: Fraction, lower: Fraction
) -> list[tuple[Fraction, Fraction]]:
    """Cut the interval between two scores into panels on which few nodes are enough (Theorem 4)."""
    panels = []
    stop, ahead = lower, sum(crowd.counts[:levels])
    while stop > upper:
        weight = float(crowd.weight(stop, levels))
        length = Fraction(min(1.0, 32.0 / (1 + ahead + weight))).limit_denominator(1 << 20)
        start = max(upper, stop - length)
        panels.append((start, stop))
        stop = start
    return panels[::-1]


def _add_panel(
    result: list[Any], crowd: _Crowd, levels: int, panel: tuple[Fraction, Fraction], bits: int
) -> None:
    """Add a panel's integral to ``result``: a Gauss rule, widened by its error bound (Theorem 4)."""
    from flint import arb

    start, stop = panel
    width = 1 - ball_of(start - stop).exp()
    at_stop = [ball_of(stop - gamma).exp() for gamma in crowd.levels]
    ahead = sum(crowd.counts[:levels])
    count, remainder = _remainder(width, ahead, crowd.weight(stop, levels), bits)
    part = [arb(0)] * len(at_stop)
    for node, node_weight in _rule(count):
        scale = 1 - width * node
        ratios = [ratio * scale for ratio in at_stop]
        product = node_weight * width / scale / 2 * (2 * ratios[0])
        for level, (ratio, m) in enumerate(zip(ratios, crowd.counts, strict=True)):
            product *= (2 * ratio) ** -m if level < levels else (1 - ratio / 2) ** m
        for level, ratio in enumerate(ratios):
            part[level] += product / ratio if level < levels else product / (2 - ratio)
    widen = 1 + arb(0, remainder)
    for r, value in enumerate(part):
        # The rule is within `remainder` of the integral, relative to the integral.
        result[r] += value * widen


def _remainder(width: Any, ahead: int, weight: Any, bits: int) -> tuple[int, float]:
    """Return how many nodes bring the relative error below about 2^−bits, and a bound on that error."""
    from flint import arb

    best: tuple[int, float] | None = None
    for percent in (2, 5, 10, 20, 35, 50, 70, 85):
        reach = width + (1 - width) * percent / 100
        middle = 2 * reach / width - 1
        rho = middle + (middle * middle - 1).sqrt()
        growth = ((1 - width / 2) / (1 - reach)) ** (ahead + 1)
        growth *= (weight * (reach - width / 2)).exp()
        constant = growth * 32 / 15 / (1 - 1 / rho**2)
        wanted = (constant.log() + bits * arb(2).log()) / (2 * rho.log())
        count = max(2, int(float(wanted.upper())) + 1)
        error = constant / rho ** (2 * count)
        # |I − G| ≤ e·I means |I − G| ≤ e/(1−e)·G.
        relative = float((error / (1 - error)).upper())
        if best is None or count < best[0]:
            best = (count, relative)
    assert best is not None
    return best
