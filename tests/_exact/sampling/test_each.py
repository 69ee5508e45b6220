"""A choice for every row: each has the distribution of a single release, and rows are independent."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from discreet._exact.gaps import Indices, RowGaps
from discreet._exact.sampling import (
    Bits,
    ScriptedBits,
    best_of_each,
    each,
    head_of_each,
    laplace_max_of_each,
    proportional_of_each,
)
from discreet._exact.sampling.bits import uniform_below_each
from discreet._exact.sampling.coins import STANDARD, Heads, Tuning, noise_bounds
from tests.tools.sampling import reference
from tests.tools.sampling.cases import SMALL
from tests.tools.sampling.fitting import LIMIT, excess, random_vectors
from tests.tools.sampling.walking import assert_bracketed

SAMPLERS = [
    (head_of_each, reference.permute_and_flip),
    (proportional_of_each, reference.exponential),
    (laplace_max_of_each, reference.laplace),
]
TINY = replace(SMALL, first_bits=1)
SCALE = Fraction(3, 2)
Draw = Callable[..., Indices]
Law = Callable[[Sequence[Fraction]], list[Any]]
FOUND = (AssertionError, pytest.fail.Exception)


def _rows(
    table: Sequence[Sequence[Any]], *, scale: Fraction = Fraction(1), **given: Any
) -> RowGaps:
    lengths = np.array([len(row) for row in table])
    widths = set(lengths.tolist())
    return RowGaps(
        np.array([score for row in table for score in row]),
        starts=np.cumsum(lengths) - lengths,
        width=widths.pop() if len(widths) == 1 else None,
        scale=scale,
        **given,
    )


def _joint(table: Sequence[Sequence[float]], law: Law) -> list[tuple[Fraction, Fraction]]:
    """Return the probabilities of all combinations of positions; the first row's position varies fastest."""
    masses: list[Any] = [arb(1)]
    with ctx.workprec(reference.PRECISION):
        for row in table:
            each_mass = law([Fraction(max(row)) - Fraction(score) for score in row])
            masses = [mass * before for mass in each_mass for before in masses]
    return [reference.bounds(mass) for mass in masses]


def _walk(
    draw: Draw, law: Law, table: Sequence[Sequence[float]], tuning: Tuning, within: float
) -> None:
    def sampler(bits: Bits) -> int:
        outcome, place = 0, 1
        for row, chosen in zip(
            table, draw(_rows(table), bits, tuning=tuning).tolist(), strict=True
        ):
            outcome += place * chosen
            place *= len(row)
        return outcome

    assert_bracketed(sampler, _joint(table, law), within=within, most_runs=1_500)


def _ties(gammas: Sequence[Fraction]) -> list[Any]:
    best = list(gammas).count(Fraction(0))
    return [arb(fmpq(1, best)) if gamma == 0 else arb(0) for gamma in gammas]


WALKS = [
    (head_of_each, reference.permute_and_flip, [[0.0, -0.5], [-1.5, 0.0]], TINY, 0.7),
    (head_of_each, reference.permute_and_flip, [[0.0, -0.5, -1.0]], TINY, 0.6),
    (head_of_each, reference.permute_and_flip, [[-1.0, 0.0], [3.0]], TINY, 0.2),
    (
        head_of_each,
        reference.permute_and_flip,
        [[0.0, -0.5], [7.0]],
        replace(TINY, tolerance=math.inf),
        0.4,
    ),
    (proportional_of_each, reference.exponential, [[0.0, -0.5, -1.5], [1.0]], TINY, 0.05),
    (proportional_of_each, reference.exponential, [[0.0, -0.5], [-1.0, 0.0]], TINY, 0.05),
    (laplace_max_of_each, reference.laplace, [[0.0, -0.5], [2.0]], TINY, 0.9),
    (best_of_each, _ties, [[1.0, 1.0, 0.0], [4.0, 4.0]], TINY, 0.1),
]


@pytest.mark.parametrize(("draw", "law", "table", "tuning", "within"), WALKS)
def test_every_tape_brackets_the_exact_probabilities_of_all_rows_together(
    draw: Draw, law: Law, table: list[list[float]], tuning: Tuning, within: float
) -> None:
    _walk(draw, law, table, tuning, within)


def _frequencies(draw: Draw, law: Law) -> float:
    """Compare frequencies; a right sampler exceeds LIMIT once in 10⁹ scripts; an error of 0.02 is found."""
    bits = ScriptedBits("each")

    def draws(values: NDArray[Any]) -> Indices:
        return draw(_rows(np.tile(values, (1_500, 1)).tolist(), scale=SCALE), bits)

    return excess(draws, law, random_vectors(150, 4), scale=SCALE)


@pytest.mark.parametrize(("draw", "law"), SAMPLERS, ids=lambda f: f.__name__)
def test_frequencies(draw: Draw, law: Law) -> None:
    assert _frequencies(draw, law) < LIMIT


def test_rows_are_independent() -> None:
    # Two ties in each row, 40,000 pairs: each pattern is expected 10,000 times, with a standard deviation
    # of 87; a deviation of six times that happens less than once in 10⁸ scripts.
    for draw, _ in SAMPLERS:
        chosen = draw(_rows([[0, 0]] * 80_000), ScriptedBits("pairs")).reshape(-1, 2)
        patterns = np.bincount(chosen @ np.array([1, 2]), minlength=4)
        assert abs(patterns - 10_000).max() < 6 * 87


# ---- a slow twin that reads the same bits and trusts no float ------------------------------------


def _slow_heads(rows: RowGaps, bits: Bits) -> list[int]:
    """Implement ``head_of_each`` from its description, in balls of 300 bits."""
    first = bits.words(rows.size, width=8).tolist()
    with ctx.workprec(300):
        chance = [
            arb(fmpq(-gap.numerator, gap.denominator)).exp()
            for gap in map(rows.exact, range(rows.size))
        ]
        left = [place for place in range(rows.size) if not bool(chance[place] * 256 < first[place])]
        more = bits.words(len(left), width=32).tolist()
        heads = []
        for place, word in zip(left, more, strict=True):
            number = (first[place] << 32) | word
            below = bool(chance[place] * 2**40 >= number + 1)
            assert below or bool(chance[place] * 2**40 <= number), "too close for this test"
            heads += [place] * below
    owners = rows.row_of(np.array(heads)).tolist()
    by_row = [
        [place for place, owner in zip(heads, owners, strict=True) if owner == row]
        for row in range(len(rows.starts))
    ]
    several = [mine for mine in by_row if len(mine) > 1]
    words = iter(bits.words(len(several), width=32).tolist()) if several else iter(())
    chosen = []
    for mine in by_row:
        product = next(words) * len(mine) if len(mine) > 1 else 0
        assert product % 2**32 >= 2**32 % len(mine) or len(mine) == 1, "drawn again"
        chosen.append(mine[product >> 32])
    return [place - int(start) for place, start in zip(chosen, rows.starts, strict=True)]


def _tables() -> list[RowGaps]:
    rng = np.random.default_rng(3)
    return [
        _rows(rng.normal(0, 5, (40, 10)).tolist()),
        _rows(rng.integers(0, 6, (60, 5)).tolist(), scale=Fraction(2, 3)),
        _rows([rng.normal(0, 2, size).tolist() for size in rng.integers(1, 9, 60)]),
        _rows(np.zeros((50, 3)).tolist()),
        _rows(rng.integers(0, 2**20, (50, 4)).tolist(), scale=Fraction(2**18)),
        _rows(rng.normal(0, 2, (40, 6)).tolist(), largest_is_best=False),
    ]


@pytest.mark.parametrize("number", range(6))
def test_heads_are_those_of_a_slow_exact_twin(number: int) -> None:
    for seed in range(5):
        drawn = head_of_each(_tables()[number], ScriptedBits(seed)).tolist()
        assert drawn == _slow_heads(_tables()[number], ScriptedBits(seed))


@pytest.mark.parametrize("number", range(6))
def test_shares_are_the_same_by_floats_and_by_balls(number: int) -> None:
    by_floats, by_balls = (
        proportional_of_each(
            _tables()[number], ScriptedBits(1), tuning=replace(STANDARD, tolerance=tolerance)
        ).tolist()
        for tolerance in (STANDARD.tolerance, math.inf)
    )
    assert by_floats == by_balls


def test_layers_are_the_same_whether_or_not_floats_are_believed() -> None:
    # Coins and depths only: the first bits do not distinguish any candidates.
    same = replace(STANDARD, first_bits=1)
    rows = [[0.0, -0.2, -0.4]] * 60
    drawn = [
        laplace_max_of_each(_rows(rows), ScriptedBits(5), tuning=replace(same, tolerance=tolerance))
        for tolerance in (STANDARD.tolerance, math.inf)
    ]
    assert drawn[0].tolist() == drawn[1].tolist()


# ---- planted defects -----------------------------------------------------------------------------


def _never_the_last(patch: pytest.MonkeyPatch) -> None:
    right = uniform_below_each
    patch.setattr(
        each,
        "uniform_below_each",
        lambda bits, bounds, *, width: right(bits, np.maximum(bounds - 1, 1), width=width),
    )


def _bounds_too_narrow(patch: pytest.MonkeyPatch) -> None:
    right = noise_bounds
    patch.setattr(each, "noise_bounds", lambda *given: right(*given) * 0.8)


def _first_bits_reused(patch: pytest.MonkeyPatch) -> None:
    """A planted defect: the second look at a coin forgets its first bits."""
    right = ScriptedBits.words

    def words(self: ScriptedBits, count: int, *, width: int = 64) -> Any:
        return (
            right(self, count, width=width) * 0 if width == 8 else right(self, count, width=width)
        )

    patch.setattr(ScriptedBits, "words", words)


def _coins_not_halved(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(each, "_ABOVE", Heads())


def _share_of_the_row_before(patch: pytest.MonkeyPatch) -> None:
    right = RowGaps.gammas
    patch.setattr(RowGaps, "gammas", lambda self: np.maximum(right(self), 0.1))


DEFECTS = [
    (_never_the_last, SAMPLERS[0]),
    (_bounds_too_narrow, SAMPLERS[0]),
    (_first_bits_reused, SAMPLERS[0]),
    (_coins_not_halved, SAMPLERS[2]),
    (_share_of_the_row_before, SAMPLERS[1]),
]


@pytest.mark.parametrize(
    ("plant", "sampler"), DEFECTS, ids=lambda part: getattr(part, "__name__", "")
)
def test_planted_defects_are_found(
    plant: Callable[[pytest.MonkeyPatch], None],
    sampler: tuple[Draw, Law],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(monkeypatch)
    with pytest.raises(FOUND):
        assert _frequencies(*sampler) < LIMIT
