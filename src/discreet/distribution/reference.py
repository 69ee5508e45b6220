"""The distributions in ball arithmetic (flint ``arb``): certain enclosures, for tests and audits.

A product of n − 1 factors is a polynomial of degree n − 1, so a Gauss–Legendre rule with ⌈n/2⌉
nodes integrates it exactly, and the ball of the sum is an enclosure of the integral. Below the best
score the noisy-max integrand is not a polynomial; there the remainder of the rule is bounded by
Theorem 4 of ``docs/proofs/probabilities.md`` and added to the radius.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from discreet.errors import ParameterError, ScoresError
from discreet.numbers.balls import ball_of, precision


def permute_and_flip_ball(gammas: Sequence[Fraction], bits: int = 200) -> list[Any]:
    """Balls around permute-and-flip's probabilities; a thousand gaps take about a second.

    Example:
        >>> best, other = permute_and_flip_ball([Fraction(0), Fraction(1)])
        >>> other
        [0.183939720585721 +/- ...]
        >>> (best + other).contains(1)
        True
    """
    with precision(_precision(bits)):
        coins = _coins(_checked(gammas))
        return [coin * chance for coin, chance in zip(coins, _unbeaten(coins), strict=True)]


def exponential_ball(gammas: Sequence[Fraction], bits: int = 200) -> list[Any]:
    """Balls around the exponential mechanism's probabilities.

    Example:
        >>> [float(ball) for ball in exponential_ball([Fraction(0), Fraction(0)])]
        [0.5, 0.5]
    """
    from flint import arb

    with precision(_precision(bits)):
        coins = _coins(_checked(gammas))
        total = sum(coins, arb(0))
        return [coin / total for coin in coins]


def exponential_randomized_response_ball(
    gammas: Sequence[Fraction], top: Sequence[bool], truth: Fraction, bits: int = 200
) -> list[Any]:
    """Balls around the probabilities of exponential randomized response.

    Example:
        >>> gammas, top = [Fraction(0), Fraction(0)], [True, False]
        >>> balls = exponential_randomized_response_ball(gammas, top, Fraction(1, 2))
        >>> [float(ball) for ball in balls]
        [0.75, 0.25]
    """
    if not 0 <= truth <= 1:
        raise ParameterError(f"truth must be a probability from 0 to 1, not {truth}")
    if len(top) != len(gammas) or not any(top):
        raise ScoresError("the top set must be one boolean for each candidate, at least one true")
    with precision(_precision(bits)):
        share = ball_of(Fraction(truth) / sum(map(bool, top)))
        other = ball_of(1 - Fraction(truth))
        plain = exponential_ball(gammas, bits)
        return [
            other * ball + share if member else other * ball
            for ball, member in zip(plain, top, strict=True)
        ]


def noisy_max_laplace_ball(gammas: Sequence[Fraction], bits: int = 200) -> list[Any]:
    """Balls around the probabilities of noisy max with Laplace noise of unit scale.

    The relative radius is about 2^−(bits − 40). What lies deeper than the scores that matter at
    this precision is enclosed by its bound (Theorem 5) and not integrated.

    Example:
        >>> noisy_max_laplace_ball([Fraction(0), Fraction(2)])[1]  # e⁻²(1/2 + 2/4)
        [0.135335283236613 +/- ...]
    """
    from flint import arb

    exact = _checked(gammas)
    with precision(_precision(bits)):
        coins = _coins(exact)
        above = _unbeaten([coin / 2 for coin in coins])
        order = sorted(range(len(exact)), key=exact.__getitem__)
        below = _below([exact[r] for r in order], bits)
        result = [arb(0)] * len(exact)
        for place, r in enumerate(order):
            # Both parts are relative to p_r, so tiny probabilities keep narrow balls.
            result[r] = coins[r] * (above[r] / 2 + below[place])
        return result


def _precision(bits: int) -> int:
    if bits < 64:
        raise ParameterError(f"bits must be at least 64, not {bits}")
    return bits + 32


def _checked(gammas: Sequence[Fraction]) -> list[Fraction]:
    values = [Fraction(gamma) for gamma in gammas]
    if not values or min(values) != 0:
        raise ScoresError("gaps must be non-negative, and the least exactly zero")
    return values


def _coins(gammas: Sequence[Fraction]) -> list[Any]:
    return [(-ball_of(gamma)).exp() for gamma in gammas]


def _rule(count: int) -> list[tuple[Any, Any]]:
    """Nodes and weights on [0, 1] as balls."""
    from flint import arb

    roots = (arb.legendre_p_root(count, k, weight=True) for k in range(count))
    return [((1 - root) / 2, weight / 2) for root, weight in roots]


def _unbeaten(coins: Sequence[Any]) -> list[Any]:
    """∫₀¹ Π_{t≠r} (1 − u·c_t) du for every r, exactly but for rounding."""
    from flint import arb

    result = [arb(0)] * len(coins)
    for node, weight in _rule((len(coins) + 1) // 2):
        factors = [1 - node * coin for coin in coins]
        product = weight
        for factor in factors:
            product *= factor
        result = [total + product / factor for total, factor in zip(result, factors, strict=True)]
    return result


def _below(gammas: Sequence[Fraction], bits: int) -> list[Any]:
    """Contribution, over p_r, of the region below the best score; gaps ascending."""
    from flint import arb

    size = len(gammas)
    flat, result = _flat_part(gammas, bits)
    for ahead, (score, following) in enumerate(pairwise(gammas), start=1):
        upper = max(score, flat)
        # Past the second best ψ grows by 1 per unit, so ψ > bits is reached within this reach.
        lower = following if ahead == 1 else min(following, upper + bits)
        panels = _panels(upper, lower, gammas, ahead)
        if lower < following:
            panels.append((lower, following))  # never integrated: ψ > bits at its start
        for panel in panels:
            decay = _decay(gammas, ahead, panel[0])
            if decay > bits:
                # ψ only grows, by at least 1 per unit: all that is left is at most exp(−ψ).
                left = arb(0, float(arb(-decay).exp().upper()))
                return [total + left for total in result]
            _add_panel(result, gammas, ahead, panel, bits)
    # Below every score the integrand is exp(−n·z): its integral is its value at the last over n.
    heads = _last_weight(gammas) / size
    return [
        total + heads * (ball_of(gamma - gammas[-1])).exp()
        for total, gamma in zip(result, gammas, strict=True)
    ]


def _flat_part(gammas: Sequence[Fraction], bits: int) -> tuple[Fraction, list[Any]]:
    """How far below the best score the others do not matter, and what that stretch contributes.

    There Π (1 − x_t) over any of the others is in [1 − Σx_t, 1], and Σx_t is below 2^−bits.
    """
    from flint import arb

    others = gammas[1:]
    if not others or others[0] == 0:
        return Fraction(0), [arb(0)] * len(gammas)
    weight = sum((ball_of(others[0] - gamma).exp() for gamma in others), arb(0))
    margin = float((weight.log() + bits * arb(2).log()).upper())
    flat = max(Fraction(0), others[0] - Fraction(margin))
    doubt = sum((ball_of(flat - gamma).exp() / 2 for gamma in others), arb(0))
    product = (1 - doubt).union(arb(1))
    best = (1 - (-ball_of(flat)).exp()) / 2
    return flat, [product * best, *[product * ball_of(flat) / 4] * len(others)]


def _last_weight(gammas: Sequence[Fraction]) -> Any:
    from flint import arb

    shift = sum((gamma - gammas[-1] for gamma in gammas[1:]), Fraction(0))
    return ball_of(shift).exp() / arb(2) ** len(gammas)


def _decay(gammas: Sequence[Fraction], ahead: int, height: Fraction) -> float:
    """ψ of Theorem 5, rounded down."""
    from flint import arb

    total = arb(2).log() * ahead
    total += sum((ball_of(height - gamma) for gamma in gammas[1:ahead]), arb(0))
    total += sum((ball_of(height - gamma).exp() / 2 for gamma in gammas[ahead:]), arb(0))
    return float(total.lower())


def _panels(
    upper: Fraction, lower: Fraction, gammas: Sequence[Fraction], ahead: int
) -> list[tuple[Fraction, Fraction]]:
    """The stretch between two scores, cut so that (1 + k + W) · length stays moderate."""
    panels = []
    stop = lower
    while stop > upper:
        weight = sum(float(ball_of(stop - gamma).exp()) for gamma in gammas[ahead:])
        length = Fraction(min(1.0, 32.0 / (1 + ahead + weight))).limit_denominator(1 << 20)
        start = max(upper, stop - length)
        panels.append((start, stop))
        stop = start
    return panels[::-1]


def _add_panel(
    result: list[Any],
    gammas: Sequence[Fraction],
    ahead: int,
    panel: tuple[Fraction, Fraction],
    bits: int,
) -> None:
    """Add a Gauss rule in y = 1 − exp(z − stop), widened by Theorem 4's relative remainder."""
    from flint import arb

    start, stop = panel
    width = 1 - ball_of(start - stop).exp()
    weight = sum((ball_of(stop - gamma).exp() for gamma in gammas[ahead:]), arb(0))
    count, remainder = _remainder(width, ahead, weight, bits)
    part = [arb(0)] * len(gammas)
    at_stop = [ball_of(stop - gamma).exp() for gamma in gammas]
    for node, node_weight in _rule(count):
        scale = 1 - width * node
        ratios = [ratio * scale for ratio in at_stop]
        product = node_weight * width / scale / 2
        for ratio in ratios[1:ahead]:
            product /= 2 * ratio
        for ratio in ratios[ahead:]:
            product *= 1 - ratio / 2
        for r, ratio in enumerate(ratios):
            part[r] += product / ratio if r < ahead else product / (2 - ratio)
    widen = 1 + arb(0, remainder)
    for r, value in enumerate(part):
        # The rule is within `remainder` of the integral, relative to the integral.
        result[r] += value * widen


def _remainder(width: Any, ahead: int, weight: Any, bits: int) -> tuple[int, float]:
    """Nodes for a relative remainder below 2^−bits, and that remainder (relative to the rule)."""
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
