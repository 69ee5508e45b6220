"""Bounds on the total ε of lists fixed in advance, by privacy loss distributions.

The proofs are in ``docs/proofs/composition.md``.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import filterfalse

from discreet._exact.numbers.exact import Exact
from discreet.accounting.bounded_range import homogeneous_epsilon
from discreet.accounting.events import Event, core
from discreet.accounting.loss_grids import (
    LossCurve,
    Losses,
    bounded_range_curve,
    grid_step,
    loss_curve_of,
)
from discreet.guarantees import AveragedRange, BoundedRange, FlippedCoins, Guarantee, PureDP

_POINTS = 4_096
_MOST_POINTS = 65_536
_POINTS_FOR_OFFSETS = 1_024
_MOST_SPLITS = 12
_MOST_RANGES = 6

LOSSES = "the privacy loss distribution"
OPTIMAL = "the optimal composition of bounded range"
OFFSETS = "bounded range at its worst offsets, with the privacy loss distribution"

Ranged = BoundedRange | AveragedRange
"""Guarantees of bounded range: without hidden coins, or for every outcome of the hidden coins. A bound that
holds for every outcome of the coins also holds on average.
"""

Kinds = Sequence[tuple[Guarantee, int]]
Box = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True, slots=True)
class EpsilonBound:
    """An ε that holds at the requested δ, with the name of the bound that gives it."""

    name: str
    epsilon: Exact


def fixed_list_bounds(
    events: Sequence[Event], delta: Fraction, *, questions_chosen: bool
) -> tuple[EpsilonBound, ...]:
    """Return the bounds that hold if the costs, or the whole list, were fixed in advance.

    With ``questions_chosen``, only the costs were fixed; the questions may depend on answers. ``delta`` is
    the allowed δ minus the events' own δ.
    """
    counts: Counter[Guarantee] = Counter()
    for event in events:
        counts[core(event.guarantee)] += event.count
    kinds = [(guarantee, count) for guarantee, count in counts.items() if not _is_free(guarantee)]
    if delta == 0 or not kinds:
        return ()
    bounds = _by_worst_curves(kinds, delta)
    if not questions_chosen:
        bounds += _by_offsets(kinds, delta)
    return bounds


def left_out(
    bounds: Sequence[EpsilonBound], guarantees: Iterable[Guarantee], adaptive: object
) -> str:
    """Name the bounds that might be tighter but were not computed; empty if there are none.

    If the losses of some guarantee are not known, as for ZCDP, none of these bounds can be computed.
    """
    found = {bound.name for bound in bounds}
    # Guarantees that differ only in their proofs are one kind.
    kinds = set(filterfalse(_is_free, guarantees))
    if not kinds or any(loss_curve_of(guarantee, 1) is None for guarantee in kinds):
        return ""
    by_offsets = any(isinstance(guarantee, Ranged) for guarantee in kinds)
    if len(kinds) == 1:
        by_offsets |= any(isinstance(guarantee, FlippedCoins) for guarantee in kinds)
    missing = []
    if LOSSES not in found:
        missing.append(LOSSES)
    if adaptive is False and by_offsets and not {OPTIMAL, OFFSETS} & found:
        missing.append(OPTIMAL if len(kinds) == 1 else OFFSETS)
    return " and ".join(missing)


def _is_free(guarantee: Guarantee) -> bool:
    return guarantee.exact_in(PureDP) == 0


def _by_worst_curves(kinds: Kinds, delta: Fraction) -> tuple[EpsilonBound, ...]:
    """Return the bound that uses the worst curve of each guarantee; it holds for adaptive questions too."""
    releases = [loss_curve_of(guarantee, count) for guarantee, count in kinds]
    known = [release for release in releases if release is not None]
    points = max(_POINTS, 2 * sum(release.count for release in known))
    if len(known) < len(releases) or points > _MOST_POINTS:
        return ()
    losses = Losses.of(known, grid_step(known, points))
    return (EpsilonBound(LOSSES, losses.epsilon_at(delta)),)


def _by_offsets(kinds: Kinds, delta: Fraction) -> tuple[EpsilonBound, ...]:
    """Return the bound that uses one offset per bounded-range release; only for lists fixed in advance."""
    if len(kinds) == 1:
        guarantee, count = kinds[0]
        if isinstance(guarantee, Ranged | FlippedCoins):
            given_coins = isinstance(guarantee, AveragedRange)
            width = guarantee.exact if given_coins else guarantee.exact_in(BoundedRange)
            if isinstance(width, Fraction):
                epsilon = homogeneous_epsilon(width, count, delta)
                return (EpsilonBound(OPTIMAL, epsilon),) if epsilon is not None else ()
        return ()
    ranged = [
        (guarantee.exact, count)
        for guarantee, count in kinds
        if isinstance(guarantee, Ranged) and isinstance(guarantee.exact, Fraction)
    ]
    releases = [loss_curve_of(guarantee, count) for guarantee, count in kinds]
    others = [
        release
        for (guarantee, _), release in zip(kinds, releases, strict=True)
        if release is not None and not isinstance(guarantee, Ranged)
    ]
    too_many = len(ranged) > _MOST_RANGES or 2 * sum(n for _, n in kinds) > _POINTS_FOR_OFFSETS
    if not ranged or too_many or len(ranged) + len(others) < len(kinds):
        return ()
    epsilon = _worst_offset(ranged, others, delta)
    return (EpsilonBound(OFFSETS, epsilon),)


def _worst_offset(
    ranged: Sequence[tuple[Fraction, int]], others: Sequence[LossCurve], delta: Fraction
) -> Exact:
    """Return an upper bound on ε over all offsets, by repeatedly splitting the box with the largest bound.

    A box is a set of offsets, with one interval for each range, because releases of equal range have equal
    offsets in the worst case. Its bound holds for all offsets in the box, so the search may stop at any time.
    """
    everything = [LossCurve(lambda _, ratio: ratio, epsilon, count) for epsilon, count in ranged]
    releases = sum(release.count for release in [*everything, *others])
    step = grid_step([*everything, *others], max(256, min(16 * releases, _POINTS_FOR_OFFSETS)))
    rest = Losses.of(others, step)

    def bound(box: Box) -> Exact:
        releases = [
            LossCurve(bounded_range_curve(epsilon, low, high), epsilon, count)
            for (epsilon, count), (low, high) in zip(ranged, box, strict=True)
        ]
        return Losses.of(releases, step).times(rest).epsilon_at(delta)

    whole: Box = tuple((Fraction(0), epsilon) for epsilon, _ in ranged)
    heap: list[tuple[Exact, Box]] = [(-bound(whole), whole)]
    for _ in range(_MOST_SPLITS):
        for half in _halves(heapq.heappop(heap)[1], [count for _, count in ranged]):
            heapq.heappush(heap, (-bound(half), half))
    return -heap[0][0]


def _halves(box: Box, counts: Sequence[int]) -> tuple[Box, Box]:
    """Cut the box in half across its widest side, where each width is weighted by its count."""
    side = max(range(len(box)), key=lambda i: (box[i][1] - box[i][0]) * counts[i])
    low, high = box[side]
    middle = (low + high) / 2
    return (
        (*box[:side], (low, middle), *box[side + 1 :]),
        (*box[:side], (middle, high), *box[side + 1 :]),
    )
