"""The law of the exponential mechanism over sets of k candidates, set by set: slow and exact."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

SetLaw = dict[tuple[int, ...], Fraction]


def set_loss(counts: Sequence[int], chosen: Sequence[int]) -> int:
    """Return the most by which the i-th largest count in the set falls short of the i-th largest of all."""
    best = sorted(counts, reverse=True)
    own = sorted((counts[candidate] for candidate in chosen), reverse=True)
    return max(first - second for first, second in zip(best, own, strict=False))


def set_law(counts: Sequence[int], k: int, base: Fraction) -> SetLaw:
    """Return the probability of each set; ``base`` stands for e^{1/scale}."""
    weights = {
        chosen: base ** -set_loss(counts, chosen) for chosen in combinations(range(len(counts)), k)
    }
    total = sum(weights.values())
    return {chosen: weight / total for chosen, weight in weights.items()}
