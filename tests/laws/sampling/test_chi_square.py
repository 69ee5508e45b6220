"""Exactness, third check: frequencies over thousands of random score vectors.

The bits are scripted, so these tests never fail by chance. With secure bits, all twenty-five tests together
would raise a false alarm less than once in ten million runs (each about 10⁻⁹). Power: each test of many draws
finds a probability of one half that is wrong by 0.01.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet._exact.gaps import Gaps, Indices
from discreet._exact.gaps import gaps as gaps_module
from discreet._exact.sampling import (
    ScriptedBits,
    laplace_max,
    laplace_maxes,
    proportional,
    proportionals,
    steady_head,
    uniform_head,
    uniform_heads,
)
from discreet._exact.sampling.coins import STANDARD, Tuning
from tests.tools.sampling import reference
from tests.tools.sampling.fitting import LIMIT, excess, random_vectors

SCALE = Fraction(3, 2)
BUSY = Tuning(
    few=1,
    first_bits_up_to=0,
    single_visits=1,
    visits=2,
    flipped_up_to=4,
    proposals=(1, 3),
    cells=12,
    level=4,
)
PROPOSED = replace(BUSY, few=0, single_visits=0, flipped_up_to=0)
BY_FIRST_BITS = replace(STANDARD, one_by_one=0)
ONE = [
    (uniform_head, reference.permute_and_flip),
    (steady_head, reference.permute_and_flip),
    (proportional, reference.exponential),
    (laplace_max, reference.laplace),
]
MANY = [
    (uniform_heads, reference.permute_and_flip),
    (proportionals, reference.exponential),
    (laplace_maxes, reference.laplace),
]


@pytest.mark.parametrize(
    "tuning",
    [STANDARD, BUSY, PROPOSED, BY_FIRST_BITS],
    ids=["standard", "busy", "proposed", "first bits"],
)
@pytest.mark.parametrize(("draw", "law"), ONE, ids=lambda f: f.__name__)
def test_single_releases(
    draw: Callable[..., int],
    law: Callable[..., list[Any]],
    tuning: Tuning,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gaps_module, "_NARROW", 2)
    bits = ScriptedBits("single")

    def draws(values: NDArray[Any]) -> Indices:
        return np.array(
            [draw(Gaps(values, scale=SCALE, block=1), bits, tuning=tuning) for _ in range(40)]
        )

    assert excess(draws, law, random_vectors(250, 1), scale=SCALE) < LIMIT


@pytest.mark.parametrize("tuning", [STANDARD, BUSY], ids=["standard", "busy"])
@pytest.mark.parametrize(("draw", "law"), MANY, ids=lambda f: f.__name__)
def test_many_draws(
    draw: Callable[..., Indices], law: Callable[..., list[Any]], tuning: Tuning
) -> None:
    bits = ScriptedBits("many")

    def draws(values: NDArray[Any]) -> Indices:
        return draw(Gaps(values, scale=SCALE), 2_000, bits, tuning=tuning)

    assert excess(draws, law, random_vectors(400, 2), scale=SCALE) < LIMIT


@pytest.mark.parametrize(("draw", "law"), MANY, ids=lambda f: f.__name__)
def test_a_million_draws_from_one_vector(
    draw: Callable[..., Indices], law: Callable[..., list[Any]]
) -> None:
    values = np.array([4.0, 4.0, 3.5, 3.0, 1.0, -2.0])
    bits = ScriptedBits("million")

    def draws(values: NDArray[Any]) -> Indices:
        return draw(Gaps(values, scale=SCALE), 1_000_000, bits)

    # Five degrees of freedom: a chi-square variable exceeds 5 + 15·√10 with probability 10⁻⁹.
    assert excess(draws, law, iter([values]), scale=SCALE) < 15
