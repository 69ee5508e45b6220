"""The law of the order of candidates with one exponential noise each: slow and exact."""

from __future__ import annotations

import itertools
from fractions import Fraction

OneShotLaw = dict[tuple[int, ...], Fraction]


def times(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    """Return the product of two polynomials."""
    product = [Fraction(0)] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            product[i + j] += a * b
    return product


def _value(polynomial: list[Fraction], at: Fraction) -> Fraction:
    return sum((c * at**i for i, c in enumerate(polynomial)), Fraction(0))


def one_shot_law(weights: list[Fraction], k: int) -> OneShotLaw:
    """Return the exact law: the k smallest U_r = e^{−Y_r}, uniform on [0, 1/w_r] for w = e^{q/s}, are chosen.

    Integrate from the k-th down to the first, piece by piece between the ends 1/w.
    """
    ends = sorted({Fraction(0), *(1 / w for w in weights)})
    law: OneShotLaw = {}
    for order in itertools.permutations(range(len(weights)), k):
        rest = [r for r in range(len(weights)) if r not in order]
        # reach[p]: the probability density, on piece p, that the first j come in order and the j-th is at u.
        reach: list[list[Fraction]] = [[Fraction(1)] for _ in ends[1:]]
        for place, r in enumerate(order):
            so_far = Fraction(0)
            following = []
            for piece, (low, high) in enumerate(itertools.pairwise(ends)):
                inside = weights[r] if high <= 1 / weights[r] else Fraction(0)
                if place == 0:
                    following.append([inside])
                    continue
                integral = [Fraction(0), *(c / (i + 1) for i, c in enumerate(reach[piece]))]
                base = so_far - _value(integral, low)
                following.append(
                    [inside * (c + (base if i == 0 else 0)) for i, c in enumerate(integral)]
                )
                so_far += _value(integral, high) - _value(integral, low)
            reach = following
        total = Fraction(0)
        for piece, (low, high) in enumerate(itertools.pairwise(ends)):
            density = reach[piece]
            for r in rest:
                # Pr[U_r > u] = 1 − w·u up to 1/w, then zero.
                tail = [Fraction(1), -weights[r]] if high <= 1 / weights[r] else [Fraction(0)]
                density = times(density, tail)
            integral = [Fraction(0), *(c / (i + 1) for i, c in enumerate(density))]
            total += _value(integral, high) - _value(integral, low)
        law[order] = total
    return law
