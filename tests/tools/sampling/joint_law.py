"""The law of the joint exponential mechanism for top-k, tuple by tuple: slow and exact."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

JointLaw = dict[tuple[int, ...], Fraction]


def loss(counts: Sequence[int], chosen: Sequence[int]) -> int:
    """Return the largest shortfall over the positions."""
    best = sorted(counts, reverse=True)
    return max(best[place] - counts[candidate] for place, candidate in enumerate(chosen))


def joint_law(counts: Sequence[int], k: int, base: Fraction) -> JointLaw:
    """Return the probability of each ordered tuple; ``base`` stands for e^{1/scale}."""
    weights = {
        chosen: base ** -loss(counts, chosen) for chosen in permutations(range(len(counts)), k)
    }
    total = sum(weights.values())
    return {chosen: weight / total for chosen, weight in weights.items()}
