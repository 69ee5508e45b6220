"""The noise scales for values compared with a threshold: b₁ for the threshold, b₂ for each value.

Both are exact rationals. With sensitivity Δ and k = ``steps``, ε = Δ/b₁ + k·Δ/b₂ exactly, however ε is split
between the two terms (docs/proofs/above-threshold.md, "The split").
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

_ROOT_BITS = 20


@dataclass(frozen=True, slots=True)
class NoiseScales:
    """The noise scales b₁ (threshold) and b₂ (query); the noise is Laplace if two-sided, else exponential.

    Example:
        >>> NoiseScales.split(Fraction(1), sensitivity=Fraction(1), steps=1)
        NoiseScales(threshold=Fraction(2, 1), query=Fraction(2, 1), two_sided=False)
    """

    threshold: Fraction
    query: Fraction
    two_sided: bool = False

    @staticmethod
    def split(
        epsilon: Fraction,
        *,
        sensitivity: Fraction,
        steps: int,
        share: Fraction | None = None,
        two_sided: bool = False,
    ) -> NoiseScales:
        """Return scales with Δ/b₁ = share·ε and k·Δ/b₂ = (1 − share)·ε, for k = ``steps``."""
        part = best_share(steps) if share is None else share
        return NoiseScales(
            sensitivity / (part * epsilon),
            steps * sensitivity / ((1 - part) * epsilon),
            two_sided,
        )

    @property
    def correction(self) -> Fraction:
        """The mean noise of a value minus that of the threshold: b₂ − b₁, or 0 for Laplace noise."""
        return Fraction(0) if self.two_sided else self.query - self.threshold

    @property
    def variance(self) -> Fraction:
        """The variance of the difference of the two noise terms."""
        return (self.threshold**2 + self.query**2) * (2 if self.two_sided else 1)


def best_share(steps: int) -> Fraction:
    """Return the threshold's share of ε that minimises the variance of the difference of the noise terms.

    b₁² + b₂² is least at b₂/b₁ = k^(1/3), computed to 20 binary places. The variance is flat near its
    minimum, so a rational close to the best share is good enough.

    Example:
        >>> best_share(1), best_share(8), float(best_share(2))
        (Fraction(1, 2), Fraction(1, 5), 0.38648...)
    """
    cube = steps << (3 * _ROOT_BITS)
    root = 1 << -(-cube.bit_length() // 3)
    while True:  # integer Newton's method from above ends at the floor of the root
        better = (2 * root + cube // (root * root)) // 3
        if better >= root:
            break
        root = better
    ratio = Fraction(root, 1 << _ROOT_BITS)
    return ratio / (ratio + steps)
