from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet._exact.sampling import Bits, ScriptedBits, TapeBits
from discreet._exact.sampling.coins import STANDARD, Tuning, Uniform
from discreet._exact.sampling.thinning import LARGEST_RANGE, exact_skip, marks
from tests.tools.sampling.cases import SMALL
from tests.tools.sampling.walking import walk


@pytest.mark.parametrize("exponent", [1, 2, 3])
@pytest.mark.parametrize("places", [1, 2, 3])
@pytest.mark.parametrize("sparse", [0.0, math.inf])
def test_every_set_of_marks_has_its_exact_probability(
    places: int, exponent: int, sparse: float
) -> None:
    sets = list(product((0, 1), repeat=places))

    def sampler(bits: Bits) -> int:
        marked = marks(bits, places, exponent, tuning=replace(SMALL, sparse=sparse))
        return sets.index(tuple(int(place in marked) for place in range(places)))

    found, left = walk(sampler, len(sets), most_runs=400)
    assert left < 0.1
    chance = Fraction(1, 1 << exponent)
    for flags, mass in zip(sets, found, strict=True):
        exact = math.prod(chance if flag else 1 - chance for flag in flags)
        assert mass <= exact <= mass + left


@pytest.mark.parametrize("exponent", [1, 6, 12, 20])
def test_floats_and_balls_mark_the_same_places(exponent: int) -> None:
    places = 40 << exponent
    exact = replace(STANDARD, tolerance=math.inf)
    for seed in range(4):
        by_floats = marks(ScriptedBits(seed), places, exponent, tuning=STANDARD)
        by_balls = marks(ScriptedBits(seed), places, exponent, tuning=exact)
        assert by_floats.tolist() == by_balls.tolist()
        assert len(by_floats) > 0


@pytest.mark.parametrize("exponent", [3, 10, 30])
def test_marks_are_about_as_many_as_expected(exponent: int) -> None:
    # Fixed bits; a binomial of mean 10,000 within five standard deviations.
    places = min(10_000 << exponent, LARGEST_RANGE)
    marked = marks(ScriptedBits(9), places, exponent, tuning=STANDARD)
    assert abs(len(marked) - 10_000) < 500
    assert bool((np.diff(marked) > 0).all())
    assert 0 <= int(marked[0]) <= int(marked[-1]) < places


def test_the_trivial_marks() -> None:
    assert marks(ScriptedBits(1), 3, 0, tuning=STANDARD).tolist() == [0, 1, 2]
    assert marks(ScriptedBits(1), 0, 5, tuning=STANDARD).tolist() == []
    assert marks(ScriptedBits(1), 10**6, 64, tuning=STANDARD).tolist() == []


@pytest.mark.parametrize("word", [1, 8, 64])
def test_a_skip_is_decided_by_the_powers(word: int) -> None:
    for exponent in (1, 4):
        rest = 1 - Fraction(1, 1 << exponent)
        for known in (0, 1, (1 << word) - 1, (1 << word) // 3):
            uniform = Uniform(ScriptedBits(known), known=known, width=word, step=word)
            step = exact_skip(uniform, exponent, limit=50)
            low = Fraction(uniform.known, 1 << uniform.width)
            high = Fraction(uniform.known + 1, 1 << uniform.width)
            assert high <= rest**step
            assert step == 50 or low >= rest ** (step + 1)


@pytest.mark.parametrize("exponent", [32, 48, 50, 56, 62])
def test_a_short_skip_ends_at_any_exponent(exponent: int) -> None:
    """Close to one, log u is tiny. A guess that is off by more than one never found the step."""
    limit = 1 << min(36, exponent - 2)
    for place in range(12):
        skip = (limit >> place) - 5  # (1 − 2^−a)^skip is about 1 − skip·2^−a
        known = (1 << 128) - (skip << (128 - exponent)) - (1 << (127 - exponent))
        uniform = Uniform(TapeBits([0] * 256), known=known, width=128, step=64)
        step = exact_skip(uniform, exponent, limit=limit)
        bound = skip**2 / 2.0**exponent + 1
        assert abs(step - skip) <= bound


@pytest.mark.parametrize("width", [128, 512, 4096])
def test_a_long_skip_ends_too(width: int) -> None:
    """Below one half, the logarithm of a long word and that of its length would nearly cancel."""
    for top in range(3, 40):
        known = (top << (width - 6)) + 12345
        uniform = Uniform(TapeBits([0] * 256), known=known, width=width, step=64)
        step = exact_skip(uniform, 46, limit=LARGEST_RANGE)
        assert math.isclose(step, -math.log(top / 64) * 2.0**46, rel_tol=1e-9) or (
            step == LARGEST_RANGE < -math.log(top / 64) * 2.0**46
        )


def test_the_vector_path_clips_at_the_end() -> None:
    tuning = Tuning(sparse=0.0)
    assert marks(ScriptedBits(1), 5, 60, tuning=tuning).tolist() == []
