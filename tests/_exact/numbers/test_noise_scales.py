"""The split of ε: exact for every share, and by default the one with the least variance."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet._exact.numbers.noise_scales import NoiseScales, best_share


@pytest.mark.parametrize("steps", [1, 2, 3, 8, 20, 200, 10**6, 10**30])
def test_the_best_share_costs_exactly_epsilon_and_has_the_least_variance(steps: int) -> None:
    epsilon, sensitivity = Fraction(3, 10), Fraction(7, 3)

    def at(share: Fraction) -> NoiseScales:
        return NoiseScales.split(epsilon, sensitivity=sensitivity, steps=steps, share=share)

    share = best_share(steps)
    best = NoiseScales.split(epsilon, sensitivity=sensitivity, steps=steps)
    assert best == at(share)
    assert sensitivity / best.threshold + steps * sensitivity / best.query == epsilon
    for other in (share * Fraction(9, 10), share * Fraction(11, 10), Fraction(1, 2)):
        assert at(other).variance >= best.variance
    # b₂/b₁ = k^(1/3), to twenty binary places.
    ratio = best.query / best.threshold
    assert ratio**3 <= steps < (ratio + Fraction(1, 1 << 20)) ** 3


def test_equal_scales_need_no_correction() -> None:
    assert NoiseScales(Fraction(2), Fraction(2)).correction == 0
    assert NoiseScales(Fraction(2), Fraction(5)).correction == 3
    assert NoiseScales(Fraction(2), Fraction(5), two_sided=True).correction == 0
