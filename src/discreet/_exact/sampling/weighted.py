"""Draw in proportion to w_r·exp(−γ_r) with public rational weights w, by inverting the distribution.

One interval is computed for each candidate. This is slower than ``proportional``, which has no weights, but
fast enough for lists that people write by hand.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from discreet._exact.gaps import Gaps
from discreet._exact.numbers.balls import ball_of
from discreet._exact.sampling.bits import Bits
from discreet._exact.sampling.coins import Ball, Uniform


def in_proportion_to(gaps: Gaps, weights: Sequence[Fraction], bits: Bits) -> int:
    """Draw a candidate with probability w_r·exp(−γ_r)/Σ_t w_t·exp(−γ_t).

    The draw is the least r whose cumulative share exceeds one uniform number u. Every comparison "u below the
    share" is decided in interval arithmetic with as many bits of u as needed (docs/proofs/sampling.md,
    lemma 3). All comparisons use the same u, so they are consistent.

    Example:
        >>> import numpy as np
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> gaps = Gaps(np.array([0, 10**6]), scale=Fraction(1))
        >>> in_proportion_to(gaps, [Fraction(3), Fraction(1)], SecureBits())
        1
    """
    # Candidates with weight zero are left out; their share is empty.
    eligible = [place for place, weight in enumerate(weights) if weight > 0]
    exponents = [-gaps.exact(place) for place in eligible]
    nearest = max(exponents)

    def shares() -> list[Ball]:
        masses = (
            ball_of(weights[place]) * ball_of(exponent - nearest).exp()
            for place, exponent in zip(eligible, exponents, strict=True)
        )
        return list(accumulate(masses))

    uniform = Uniform(bits)
    uniform.extend()

    def share(place: int) -> Ball:
        cumulative = shares()
        return cumulative[place] / cumulative[-1]

    return eligible[
        bisect_left(
            range(len(eligible) - 1),
            True,
            key=lambda place: uniform.is_below(lambda: share(place)),
        )
    ]
