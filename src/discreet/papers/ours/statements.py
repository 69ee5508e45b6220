"""Our own claims where the papers are wrong, checked in the same way as the papers' claims."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from discreet._exact.numbers.balls import ball_of
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, Scope, unless, unless_found
from discreet.papers.noisy_max.algorithms import distribution_noisy_max
from discreet.papers.noisy_max.privacy import renyi_divergence
from discreet.papers.problems import Number, Problem, balls, lattice, moved, neighbours, rational
from discreet.papers.randomized_response.algorithms import Reading, chain, interval, lemma_1, naive

claim = claims_of("discreet")


_HALF_COINS = ("9/10", "1/2", "1/5")
_SHAPES = ((2, 10), (3, 5))
_QUICK_SHAPES = ((2, 4), (3, 2))


def _range(scope: Scope) -> str:
    coins = _HALF_COINS[: scope.size(full=3, quick=2)]
    shapes = _QUICK_SHAPES if scope.quick else _SHAPES
    epsilons = ", ".join(f"{-4 * math.log(Fraction(coin)):.3g}" for coin in coins)
    deep = ", ".join(f"n = {count} to {depth / 2:g}Δ behind" for count, depth in shapes)
    return f"exp(−ε/4) = {', '.join(coins)} (ε = {epsilons}); scores and moves on the grid of Δ/2, {deep}"


def _pairs(scope: Scope) -> Iterator[tuple[list[Number], list[Number], Number]]:
    """Yield permute-and-flip's distributions at each pair of neighbours, with the value of exp(−ε/2).

    Scores are on the grid of Δ/2. Each moves by up to two grid steps, so the range distance is four steps.
    The coin of one step, exp(−ε/4), is rational.
    """
    shapes = _QUICK_SHAPES if scope.quick else _SHAPES
    for coin in map(rational, _HALF_COINS[: scope.size(full=3, quick=2)]):
        laws: dict[tuple[int, ...], list[Number]] = {}

        def law(scores: tuple[int, ...], coin: Number = coin, laws: Any = laws) -> list[Number]:
            shifted = tuple(score - max(scores) for score in scores)
            if shifted not in laws:
                laws[shifted] = distribution_noisy_max(Problem(shifted, unit_coin=coin))
            found: list[Number] = laws[shifted]
            return found

        for count, depth in shapes:
            for scores in lattice(count, depth):
                for moves in product((-2, -1, 0, 1, 2), repeat=count):
                    yield law(scores), law(moved(scores, moves)), coin**2


def _least_by_laplace(chance: Number, factor: Number) -> Number:
    """Return the value of the Laplace trade-off function at ``chance``, with exp(−ε) = ``factor``."""
    if chance <= rational("1/2"):
        return factor * chance
    if chance <= 1 - factor / 2:
        return factor / (4 * (1 - chance))
    return 1 - (1 - chance) / factor


@claim("Laplace dominance")
def _laplace_dominance(scope: Scope) -> Finding:
    """Under permute-and-flip, the outputs of two neighbours are at least as hard to tell apart as Laplace
    noise of scale 1/ε and the same noise shifted by one: if an event has probability x, its probability at
    the neighbour is at least the Laplace trade-off at x."""
    broken, events, least = None, 0, None
    for before, after, root in _pairs(scope):
        factor = root**2
        for members in product((0, 1), repeat=len(before)):
            events += 1
            chance, neighbour = (
                sum((p * inside for p, inside in zip(law, members, strict=True)), rational(0))
                for law in (before, after)
            )
            slack = neighbour - _least_by_laplace(chance, factor)
            least = slack if least is None else min(least, slack)
            if slack < 0:
                broken = {
                    "event": list(members),
                    "chance": str(chance),
                    "neighbour": str(neighbour),
                }
    return unless(
        broken,
        _range(scope),
        f"{events} events, exactly; the least slack is {least}. The proof, for all real scores and every n, "
        "is in docs/proofs/laplace-dominance.md: going through an intermediate shift w, memoryless noise "
        "gives y ≥ e^−ε(w − w²(1 − x)) for every w in [1, e^ε], and the best w gives the three pieces of the "
        "Laplace trade-off",
        events=events,
    )


@claim("Exact range")
def _exact_range(scope: Scope) -> Finding:
    """Permute-and-flip is η-bounded range with η = 2 ln(2e^(ε/2) − 1), which is between ε and 2ε. No smaller
    η holds for every number of candidates."""
    broken: dict[str, Any] | None = None
    pairs = 0
    attained, tried = set(), set()
    for before, after, root in _pairs(scope):
        pairs += 1
        tried.add(str(root))
        ratios = [x / y for x, y in zip(before, after, strict=True)]
        spread, bound = max(ratios) / min(ratios), (2 / root - 1) ** 2
        if spread > bound:
            broken = {"spread": str(spread), "bound": str(bound)}
        if spread == bound:
            attained.add(str(root))
    if attained != tried:
        broken = broken or {"not attained at exp(-epsilon/2)": sorted(tried - attained)}
    return unless(
        broken,
        _range(scope),
        f"{pairs} pairs, exactly; the bound is attained at each ε, by (Δ, 0) and (0, Δ). Proved for all real "
        "scores and every n in docs/proofs/bounded-range-refuted.md",
        pairs=pairs,
    )


@claim("Concentrated privacy")
def _concentrated(scope: Scope) -> Finding:
    """Permute-and-flip is (ε + e^−ε − 1)-concentrated differentially private, as the Laplace mechanism is."""
    orders = [Fraction(k, 2) for k in (3, 4, 6, 10, 40)]
    depth = scope.size(full=6, quick=2)
    broken = None
    closest: dict[str, float] = {}
    with balls():
        for epsilon in map(Fraction, ("0.1", "1", "4")):
            bound = ball_of(epsilon) + (-ball_of(epsilon)).exp() - 1
            for scores in lattice(2, depth):
                for moves in product([Fraction(k, 2) for k in (-2, -1, 0, 1, 2)], repeat=2):
                    first, second = (
                        distribution_noisy_max(Problem(q, epsilon=epsilon))
                        for q in (scores, moved(tuple(map(Fraction, scores)), moves))
                    )
                    for value in _divergences(first, second, orders):
                        if not bool(value <= bound):
                            broken = {"scores": list(scores), "epsilon": str(epsilon)}
                        name = f"largest share of the bound at ε = {float(epsilon):g}"
                        share = round(float(value / bound), 4)
                        closest[name] = max(closest.get(name, 0.0), share)
    return unless_found(
        broken,
        "n = 2 on the grid of Δ, moves on that of Δ/2, orders 1, 1.5, 2, 3, 5, 20, in ball arithmetic",
        "D_α/α never passes ε + e^−ε − 1; the proof is docs/proofs/laplace-dominance.md with "
        "docs/proofs/concentrated.md",
        **closest,
    )


def _divergences(
    first: list[Number], second: list[Number], orders: list[Fraction]
) -> Iterator[Number]:
    yield sum((x * (x / y).log() for x, y in zip(first, second, strict=True)), ball_of(Fraction(0)))
    for order in orders:
        yield renyi_divergence(first, second, order) / ball_of(order)


def _gap_and_spread(
    scores: tuple[Fraction, ...], top: tuple[int, ...]
) -> tuple[Fraction, Fraction]:
    """Return the gap from the lowest score in ``top`` to the best outside it, and the spread within ``top``.

    The gap is a large number if ``top`` holds every candidate.
    """
    inside = [scores[r] for r in top]
    outside = [score for r, score in enumerate(scores) if r not in top]
    return (min(inside) - max(outside) if outside else Fraction(10**6)), max(inside) - min(inside)


def _good(name: str, monotonic: bool, size: int, gap: Fraction, spread: Fraction) -> bool:
    """Return whether it is proved that no neighbour changes the top set T (for Δ = 1).

    T has ``size`` members; ``gap`` and ``spread`` come from ``_gap_and_spread``. The conditions are proved in
    docs/proofs/exponential-randomized-response.md.
    """
    if name == "naive":
        return size == 1 and gap > (1 if monotonic else 2)
    if name == "chain":
        return spread == 0 and gap > 2 if monotonic else size == 1 and gap > 3
    alone, several = (3, 4) if monotonic else (4, 5)
    return (size == 1 and gap > alone) or (spread <= (1 if monotonic else 0) and gap > several)


@claim("Where randomized response holds")
def _where_it_holds(scope: Scope) -> Finding:
    """The loss of exponential randomized response at a score vector is at most ε if no neighbour changes
    T. For the chain, T never changes exactly when T = {best} and the next score is more than 3Δ behind (for
    monotonic scores: when all of T ties and the next score is more than 2Δ behind). For the naive variant, T
    never changes exactly when one best score leads by more than 2Δ (monotonic scores: Δ)."""
    readings: dict[str, Reading] = {"naive": naive, "chain": chain, "interval": interval}
    depth = scope.size(full=12, quick=8)
    broken, vectors, good = None, 0, dict.fromkeys(readings, 0)
    half = [Fraction(k, 2) for k in (-2, -1, 0, 1, 2)]
    for steps in lattice(3, depth):
        scores = tuple(Fraction(step, 2) for step in steps)
        for name, reading in readings.items():
            top = reading(Problem(scores, epsilon=Fraction(1)))
            size, (gap, spread) = len(top), _gap_and_spread(scores, top)
            for monotonic in (False, True):
                vectors += 1
                # All scores of a monotonic neighbour move in the same direction.
                choices = (
                    [[m for m in half if m >= 0], [m for m in half if m <= 0]]
                    if monotonic
                    else [half]
                )
                kept = all(
                    reading(Problem(moved(scores, moves), epsilon=Fraction(1))) == top
                    for options in choices
                    for moves in product(options, repeat=3)
                )
                stated = _good(name, monotonic, size, gap, spread)
                good[name] += stated
                exact = name != "interval"
                if (kept != stated) if exact else (stated and not kept):
                    broken = {
                        "reading": name,
                        "scores": list(map(str, scores)),
                        "monotonic": monotonic,
                    }
    broken = broken or _loss_where_kept()
    return unless(
        broken,
        f"three candidates on the grid of Δ/2 to {depth // 2}Δ behind, all neighbours on that grid",
        f"in {vectors} cases T is unchanged by every neighbour exactly when the condition holds (for Lemma "
        "1's interval the condition is sufficient); and where T is unchanged the loss is at most ε. As a "
        "guarantee this is no use: privacy must hold for all data, and whether data is of this kind is "
        "itself private",
        **{f"cases where it holds, {name}": count for name, count in good.items()},
    )


def _loss_where_kept() -> dict[str, Any] | None:
    """Return neighbours with the same T and a loss above ε, or None; tried with exp(−ε/2) = ½ and ⅘."""
    for coin in map(rational, ("1/2", "4/5")):
        for scores in lattice(3, 5):
            problem = Problem(scores, unit_coin=coin)
            before = lemma_1(problem, truth=Fraction(3, 4))
            for neighbour in neighbours(scores):
                other = Problem(neighbour, unit_coin=coin)
                if chain(other) != chain(problem):
                    continue
                after = lemma_1(other, truth=Fraction(3, 4))
                if any(x < coin**2 * y for x, y in zip(before, after, strict=True)):
                    return {"scores": list(scores), "neighbour": list(neighbour)}
    return None
