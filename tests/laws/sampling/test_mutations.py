"""The exactness checks must find each defect that is planted here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet._exact.gaps import Flags, Floats, Gaps, Indices
from discreet._exact.gaps import gaps as gaps_module
from discreet._exact.sampling import (
    Bits,
    ScriptedBits,
    biased_coins,
    exponential,
    permute_and_flip,
    proposals,
    steady,
    thinning,
)
from discreet._exact.sampling import coins as coins_module
from discreet._exact.sampling.bits import uniform_below
from discreet._exact.sampling.coins import STANDARD, Ball, Heads, Uniform, flip, scaled
from discreet._exact.sampling.laplace import LaplaceNoise, Layer
from discreet._exact.sampling.permute_and_flip import Window, uniform_head, uniform_heads
from discreet._exact.sampling.thinning import Levels, marks
from tests.tools.sampling import oracles, reference
from tests.tools.sampling.cases import CASES, Case
from tests.tools.sampling.checks import (
    assert_coin,
    assert_coins_agree,
    assert_first_bits_agree,
    assert_least_depth,
    assert_single_coins_agree,
    chance_of,
)
from tests.tools.sampling.fitting import LIMIT, excess, random_vectors
from tests.tools.sampling.proposing import (
    assert_kept_at_a_random_time,
    assert_law_at_a_given_time,
    assert_rates,
    assert_weights,
)
from tests.tools.sampling.walking import assert_bracketed

Patch = pytest.MonkeyPatch
FOUND = (AssertionError, pytest.fail.Exception)


def _case(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def _tapes(name: str, most_runs: int = 1_200) -> Callable[[Patch], None]:
    """Bracket this case's probabilities over all tapes of bits."""
    case = _case(name)
    return lambda _: assert_bracketed(case.sampler, case.bounds(), within=0.7, most_runs=most_runs)


def _outcomes(name: str) -> Callable[[Patch], None]:
    """Compute this case's distribution over all outcomes of the primitives."""
    case = _case(name)

    def check(patch: Patch) -> None:
        found = oracles.distribution(case.sampler, len(case.scores), patch, faintest=case.faintest)
        if case.expected is reference.exponential:
            oracles.assert_proportional(found, case.masses())
        else:
            oracles.assert_equals(found, case.masses())

    return check


def _floats_agree(_: Patch) -> None:
    assert_coins_agree(Heads())


def _single_coins_agree(_: Patch) -> None:
    assert_single_coins_agree()


def _first_bits_agree(_: Patch) -> None:
    assert_first_bits_agree(np.float64)


def _depths_are_exact(_: Patch) -> None:
    assert_least_depth((Fraction(0), Fraction(3)))


def _coin_is_exact(_: Patch) -> None:
    gamma = Fraction(1, 3)
    assert_coin(Heads(), gamma, 0, chance_of(Heads(), gamma), 1)


def _frequencies(_: Patch) -> None:
    scale = Fraction(3, 2)
    bits = ScriptedBits("mutant")

    def draws(values: Any) -> Indices:
        return uniform_heads(Gaps(values, scale=scale), 2_000, bits)

    surplus = excess(draws, reference.permute_and_flip, random_vectors(60, 3), scale=scale)
    assert surplus < LIMIT


def _frequencies_of_proposed(patch: Patch) -> None:
    patch.setattr(gaps_module, "_NARROW", 2)
    scale = Fraction(3, 2)
    bits = ScriptedBits("proposed")
    tuning = replace(STANDARD, few=0, first_bits_up_to=0, single_visits=0, flipped_up_to=0)

    def draws(values: Any) -> Indices:
        return np.array(
            [uniform_head(Gaps(values, scale=scale), bits, tuning=tuning) for _ in range(100)]
        )

    surplus = excess(draws, reference.permute_and_flip, random_vectors(80, 3), scale=scale)
    assert surplus < LIMIT


def _frequencies_after_first_bits(_: Patch) -> None:
    scale = Fraction(3, 2)
    bits = ScriptedBits("first bits")
    tuning = replace(STANDARD, few=0, first_bits=2, one_by_one=0)
    one_ahead = [np.repeat([0.0, -4.5], [1, others]) for others in (9, 19, 29)]

    def draws(values: Any) -> Indices:
        return np.array(
            [uniform_head(Gaps(values, scale=scale), bits, tuning=tuning) for _ in range(1000)]
        )

    surplus = excess(draws, reference.permute_and_flip, iter(one_ahead), scale=scale)
    assert surplus < LIMIT


def _weights_are_right(_: Patch) -> None:
    values = np.random.default_rng(1).exponential(4.0, 300)
    assert_weights(Gaps(values, scale=Fraction(1), block=32), replace(STANDARD, cut_from=32))


def _law_at_a_given_time(patch: Patch) -> None:
    assert_law_at_a_given_time(LaplaceNoise(0), patch)


def _rates_are_right(_: Patch) -> None:
    assert_rates(Fraction(1, 3), Fraction(2, 5))


def _kept_at_a_random_time(_: Patch) -> None:
    assert_kept_at_a_random_time()


# The planted defects.


def uniform_draw_off_by_one(patch: Patch) -> None:
    def off(bits: Bits, bound: int) -> int:
        return uniform_below(bits, max(1, bound - 1))

    patch.setattr(permute_and_flip, "uniform_below", off)


def at_most_for_below(patch: Patch) -> None:
    def is_below(self: Uniform, target: Callable[[], Ball]) -> bool:
        return bool(scaled(target(), self.width) >= self.known)

    patch.setattr(Uniform, "is_below", is_below)


def coin_a_thousandth_too_large_in_floats(patch: Patch) -> None:
    right = Heads.chances

    def chances(self: Heads, gammas: Floats) -> tuple[Floats, Floats | float]:
        found, factor = right(self, gammas)
        return found * 1.001, factor

    patch.setattr(Heads, "chances", chances)


def coin_a_thousandth_too_large_in_balls(patch: Patch) -> None:
    right = Heads.ball
    patch.setattr(Heads, "ball", lambda self, gamma: right(self, gamma) * 1001 / 1000)


def candidate_visited_twice(patch: Patch) -> None:
    patch.setattr(permute_and_flip, "_met", lambda *_: False)


def visits_forgotten(patch: Patch) -> None:
    right = permute_and_flip._visit
    patch.setattr(permute_and_flip, "_visit", lambda *given, **rest: (right(*given, **rest)[0], []))


def time_forgotten(patch: Patch) -> None:
    patch.setattr(proposals.Clock, "keeps", lambda *_: True)


def clock_too_slow_in_balls(patch: Patch) -> None:
    right = proposals.Clock._exact
    patch.setattr(proposals.Clock, "_exact", lambda self: right(self) / 2)


def proposal_not_boosted(patch: Patch) -> None:
    right = proposals.BoundedBlocks.proposals

    def unboosted(*given: Any) -> tuple[Indices, Indices]:
        candidates, levels = right(*given)
        return candidates, np.zeros_like(levels)

    patch.setattr(proposals.BoundedBlocks, "proposals", unboosted)


def levels_one_too_high(patch: Patch) -> None:
    right = thinning.levels_of
    patch.setattr(proposals, "levels_of", lambda *given: right(*given) + np.uint8(1))


def block_proposed_with_its_parts(patch: Patch) -> None:
    right = Gaps.blocks

    def blocks(self: Gaps) -> tuple[int, Indices, Floats]:
        width, starts, gammas = right(self)
        return width, np.append(starts[0], starts), np.append(gammas[0], gammas)

    patch.setattr(Gaps, "blocks", blocks)


def rate_counts_what_the_last_block_lacks(patch: Patch) -> None:
    right = proposals.BoundedBlocks.__init__

    def wrong(self: proposals.BoundedBlocks, gaps: Gaps, tuning: Any, **rest: Any) -> None:
        right(self, gaps, tuning, **rest)
        self.rate *= 1 + 1 / gaps.size

    patch.setattr(proposals.BoundedBlocks, "__init__", wrong)


def noise_a_hundredth_off(patch: Patch) -> None:
    right = LaplaceNoise.ball
    patch.setattr(LaplaceNoise, "ball", lambda *given: right(*given) * 101 / 100)


def single_coin_a_thousandth_too_large(patch: Patch) -> None:
    right = Heads.chance
    patch.setattr(Heads, "chance", lambda self, gamma: right(self, gamma) * 1.001)


def first_bits_forgotten_together(patch: Patch) -> None:
    def forgets(*given: Any, **rest: Any) -> Indices:
        return coins_module.flip(*given, **{**rest, "first": None})

    patch.setattr(permute_and_flip, "flip", forgets)


def first_bits_forgotten(patch: Patch) -> None:
    right = coins_module.heads_after_first_bits

    def forgets(gaps: Gaps, candidate: int, coins: Heads, _: int, **rest: Any) -> bool:
        return right(gaps, candidate, coins, 0, **rest)

    patch.setattr(permute_and_flip, "heads_after_first_bits", forgets)


def bounds_of_first_bits_one_too_small(patch: Patch) -> None:
    right = coins_module.noise_bounds
    patch.setattr(coins_module, "noise_bounds", lambda *given: np.append(right(*given)[1:], 0.0))


def bounds_of_first_bits_a_thousandth_too_small(patch: Patch) -> None:
    right = coins_module.noise_bounds
    patch.setattr(coins_module, "noise_bounds", lambda *given: right(*given) * 0.999)


def candidate_both_near_and_far(patch: Patch) -> None:
    def is_far(self: Gaps, indices: Indices, level: int) -> Flags:
        return np.ones(len(indices), dtype=np.bool_)

    patch.setattr(Gaps, "is_far", is_far)


def least_and_largest_swapped(patch: Patch) -> None:
    right = Gaps.__init__

    def swapped(self: Gaps, values: Any, *, largest_is_best: bool = True, **rest: Any) -> None:
        right(self, values, largest_is_best=not largest_is_best, **rest)

    patch.setattr(Gaps, "__init__", swapped)


def mark_one_place_late(patch: Patch) -> None:
    def late(bits: Bits, places: int, exponent: int, **options: Any) -> Indices:
        return np.minimum(marks(bits, places, exponent, **options) + 1, places - 1)

    patch.setattr(thinning, "marks", late)


def _unboosted(*arguments: Any, boost: int = 0, **options: Any) -> Indices:
    return flip(*arguments, **options)


def marked_coin_not_boosted(patch: Patch) -> None:
    patch.setattr(thinning, "flip", _unboosted)


def halving_forgotten(patch: Patch) -> None:
    from discreet._exact.sampling import laplace

    patch.setattr(laplace, "_ABOVE", Heads(0))


def window_forgets_the_past(patch: Patch) -> None:
    patch.setattr(Window, "ball", lambda self, gamma: scaled(Heads().ball(gamma), -self._shift))


def window_forgets_the_past_in_floats(patch: Patch) -> None:
    right = Window.chances
    patch.setattr(
        Window,
        "chances",
        lambda self, gammas: right(Window(1, cuts=self._shift, halvings=0), gammas),
    )


def layer_counted_from_one(patch: Patch) -> None:
    right = Layer.ball
    patch.setattr(Layer, "ball", lambda self, gamma: right(Layer(self.number + 1), gamma))


def depth_upside_down(patch: Patch) -> None:
    right = Layer.depth_bounds

    def turned(self: Layer, gamma: Fraction, uniform: Uniform) -> tuple[Ball, Ball]:
        low, high = right(self, gamma, uniform)
        return 1 - high, 1 - low

    patch.setattr(Layer, "depth_bounds", turned)


def stretch_wins_too_often(patch: Patch) -> None:
    right = steady._pick
    patch.setattr(steady, "_pick", lambda bits, bound, width: right(bits, max(bound - 1, 0), width))


def share_of_nobody_counts_the_far_only(patch: Patch) -> None:
    right = exponential.Shares._settle

    def smaller(self: exponential.Shares, uniform: Uniform) -> int:
        size = self._gaps.size
        self._gaps.size -= len(self._near)
        try:
            return right(self, uniform)
        finally:
            self._gaps.size = size

    patch.setattr(exponential.Shares, "_settle", smaller)


def proposal_beyond_the_near_not_boosted(patch: Patch) -> None:
    patch.setattr(exponential, "flip", _unboosted)


def level_size_off_by_one(patch: Patch) -> None:
    right = Levels.prepared

    def wrong(gaps: Gaps, tuning: Any) -> Any:
        levels = right(gaps, tuning)
        levels.sizes = levels.sizes.copy()
        levels.sizes[int(levels.sizes.nonzero()[0][-1])] -= 1
        return levels

    patch.setattr(Levels, "prepared", wrong)


def always_the_first_arrival(patch: Patch) -> None:
    def first(draw: Indices, bits: Bits, width: int) -> Indices:
        return np.unique(draw, return_index=True)[1]

    patch.setattr(permute_and_flip, "_one_per_draw", first)


MUTANTS: list[tuple[Callable[[Patch], None], Callable[[Patch], None]]] = [
    (uniform_draw_off_by_one, _tapes("heads: all near")),
    (at_most_for_below, _coin_is_exact),
    (coin_a_thousandth_too_large_in_floats, _floats_agree),
    (coin_a_thousandth_too_large_in_balls, _coin_is_exact),
    (candidate_visited_twice, _outcomes("heads: visits, then all")),
    (visits_forgotten, _outcomes("heads: visits, then all")),
    (visits_forgotten, _outcomes("heads: visits that are given up, then all")),
    (visits_forgotten, _outcomes("Laplace: visits, then all")),
    (time_forgotten, _frequencies_of_proposed),
    (clock_too_slow_in_balls, _kept_at_a_random_time),
    (proposal_not_boosted, _law_at_a_given_time),
    (levels_one_too_high, _weights_are_right),
    (block_proposed_with_its_parts, _weights_are_right),
    (rate_counts_what_the_last_block_lacks, _weights_are_right),
    (noise_a_hundredth_off, _rates_are_right),
    (uniform_draw_off_by_one, _tapes("heads: first bits")),
    (first_bits_forgotten, _tapes("heads: first bits")),
    (first_bits_forgotten_together, _frequencies_after_first_bits),
    (bounds_of_first_bits_a_thousandth_too_small, _first_bits_agree),
    (bounds_of_first_bits_one_too_small, _tapes("heads: two first bits")),
    (single_coin_a_thousandth_too_large, _single_coins_agree),
    (candidate_both_near_and_far, _outcomes("heads: some far")),
    (least_and_largest_swapped, _tapes("heads: some far")),
    (least_and_largest_swapped, _tapes("heads: least is best")),
    (mark_one_place_late, _tapes("heads: some far")),
    (marked_coin_not_boosted, _tapes("heads: some far")),
    (halving_forgotten, _outcomes("Laplace")),
    (window_forgets_the_past, _outcomes("many heads: several windows")),
    (window_forgets_the_past_in_floats, _frequencies),
    (layer_counted_from_one, _outcomes("many Laplace")),
    (depth_upside_down, _depths_are_exact),
    (stretch_wins_too_often, _tapes("steady heads")),
    (share_of_nobody_counts_the_far_only, _tapes("proportional: inverted, one near")),
    (proposal_beyond_the_near_not_boosted, _tapes("proportional: inverted, one near")),
    (level_size_off_by_one, _outcomes("many proportional")),
    (always_the_first_arrival, _frequencies),
]


@pytest.mark.parametrize(
    ("defect", "check"),
    MUTANTS,
    ids=[f"{place}-{defect.__name__}" for place, (defect, _) in enumerate(MUTANTS)],
)
def test_a_planted_defect_is_found(
    defect: Callable[[Patch], None], check: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    defect(monkeypatch)
    with pytest.raises(FOUND):
        check(monkeypatch)


@pytest.mark.parametrize(
    "check",
    [
        _floats_agree,
        _first_bits_agree,
        _coin_is_exact,
        _depths_are_exact,
        _frequencies,
        _frequencies_after_first_bits,
        _frequencies_of_proposed,
        _weights_are_right,
        _law_at_a_given_time,
        _rates_are_right,
        _kept_at_a_random_time,
    ],
)
def test_the_checks_pass_without_a_defect(
    check: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    check(monkeypatch)


def test_a_biased_coin_with_the_wrong_chance_is_found() -> None:
    # Fixed bits: a coin of 1/3 + 1/100 lies outside five standard deviations of 1/3.
    heads = int(
        biased_coins(ScriptedBits(2), Fraction(1, 3) + Fraction(1, 100), count=100_000).sum()
    )
    assert abs(heads - 100_000 / 3) > 5 * (100_000 * 2 / 9) ** 0.5
