"""Every sampler on each of its paths, with settings small enough to walk all outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.gaps import Gaps, Indices
from discreet._exact.sampling import (
    Bits,
    laplace_max,
    laplace_maxes,
    proportional,
    proportionals,
    steady_head,
    uniform_head,
    uniform_heads,
)
from discreet._exact.sampling.coins import Tuning
from tests.tools.sampling import reference

SMALL = Tuning(
    word=1,
    coin=1,
    index_word=2,
    key=1,
    pick=2,
    sparse=math.inf,
    spare=1,
    one_by_one=0,
    first_bits_up_to=0,
    single_visits=0,
    visits=1,
    flipped_up_to=0,
    proposals=(1,),
    cells=1,
    overdraw=1,
    level=1,
)
"""One bit at a time, one candidate at a time."""

PEEKED = replace(SMALL, first_bits_up_to=3, first_bits=1)
"""Like SMALL, but the first bits of every candidate's coin are looked at."""

NO_LIST = replace(SMALL, few=0, flipped_up_to=4, first_bits=1)
"""Like SMALL, but near candidates are never listed directly: all are found by their first bits."""

PROPOSED = replace(NO_LIST, flipped_up_to=0)
"""Like NO_LIST, but candidates are proposed, in blocks."""


def _first(many: Callable[..., Indices]) -> Callable[..., int]:
    def draw(gaps: Gaps, bits: Bits, *, tuning: Tuning) -> int:
        return int(many(gaps, 1, bits, tuning=tuning)[0])

    return draw


one_of_uniform_heads = _first(uniform_heads)
one_of_proportionals = _first(proportionals)
one_of_laplace_maxes = _first(laplace_maxes)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A sampler, its scores, and the settings that make it small."""

    name: str
    draw: Callable[..., int]
    scores: Sequence[float | int]
    expected: Callable[[Sequence[Fraction]], list[Any]]
    tuning: Tuning
    block: int = 4096
    timed: bool = False
    """Whether proposals come at random times, which a tree of outcomes cannot represent."""
    largest_is_best: bool = True
    within: float = 0.45
    """The largest share of the tree of tapes that may be left unwalked."""
    faintest: float = 1e-5
    """Paths of outcomes less probable than this are not followed."""

    def gaps(self) -> Gaps:
        return Gaps(
            np.array(self.scores),
            scale=Fraction(1),
            block=self.block,
            largest_is_best=self.largest_is_best,
        )

    def sampler(self, bits: Bits) -> int:
        return self.draw(self.gaps(), bits, tuning=self.tuning)

    def masses(self) -> list[Any]:
        best = max(self.scores) if self.largest_is_best else min(self.scores)
        return self.expected([abs(Fraction(best) - Fraction(score)) for score in self.scores])

    def bounds(self) -> list[tuple[Fraction, Fraction]]:
        return [reference.bounds(mass) for mass in self.masses()]


HEADS = [
    Case(
        name="heads: all near",
        draw=uniform_head,
        scores=[0.0, -0.25, -0.5],
        expected=reference.permute_and_flip,
        tuning=SMALL,
    ),
    Case(
        name="heads: some far",
        draw=uniform_head,
        scores=[0.0, -0.5, -1.5],
        expected=reference.permute_and_flip,
        tuning=SMALL,
    ),
    Case(
        name="heads: least is best",
        draw=uniform_head,
        scores=[1, 0, 2],
        expected=reference.permute_and_flip,
        tuning=SMALL,
        largest_is_best=False,
    ),
    Case(
        name="heads: visits, then all",
        draw=uniform_head,
        scores=[0.0, -0.5, -1.0, -1.0],
        expected=reference.permute_and_flip,
        tuning=replace(NO_LIST, single_visits=1, visits=2),
        within=0.8,
        faintest=1e-6,
    ),
    Case(
        name="heads: visits that are given up, then all",
        draw=uniform_head,
        scores=[0.0, -0.5, -1.0, -1.0],
        expected=reference.permute_and_flip,
        tuning=replace(NO_LIST, single_visits=1, near_enough=0.75, word=2),
        within=0.8,
    ),
    Case(
        name="heads: one by one",
        draw=uniform_head,
        scores=[0.0, -0.5, -1.5],
        expected=reference.permute_and_flip,
        tuning=replace(SMALL, one_by_one=2),
    ),
    Case(
        name="heads: first bits",
        draw=uniform_head,
        scores=[0.0, -0.5, -1.5],
        expected=reference.permute_and_flip,
        tuning=PEEKED,
    ),
    Case(
        name="heads: two first bits",
        draw=uniform_head,
        scores=[0, 1, 3],
        expected=reference.permute_and_flip,
        tuning=replace(PEEKED, first_bits=2),
        largest_is_best=False,
    ),
    Case(
        name="heads: first bits, and no float believed",
        draw=uniform_head,
        scores=[0.0, -0.5, -1.5],
        expected=reference.permute_and_flip,
        tuning=replace(PEEKED, tolerance=math.inf),
    ),
    Case(
        name="heads: proposed",
        draw=uniform_head,
        scores=[0.0, -0.5, -1.5],
        expected=reference.permute_and_flip,
        tuning=PROPOSED,
        timed=True,
        within=0.9,
    ),
    Case(
        name="heads: visits, then proposed in blocks",
        draw=uniform_head,
        scores=[-3.0, 0.0, -0.5, -1.5, -8.0, -8.0, -9.0, -9.0],
        expected=reference.permute_and_flip,
        tuning=replace(PROPOSED, single_visits=1, visits=1, level=3, cells=4),
        block=1,
        timed=True,
        within=0.95,
    ),
    Case(
        name="steady heads",
        draw=steady_head,
        scores=[0.0, -0.5, -1.5],
        expected=reference.permute_and_flip,
        tuning=SMALL,
    ),
    Case(
        name="many heads",
        draw=one_of_uniform_heads,
        scores=[0.0, -0.5, -1.5],
        expected=reference.permute_and_flip,
        tuning=replace(SMALL, level=2),
    ),
    Case(
        name="many heads: several windows",
        draw=one_of_uniform_heads,
        scores=[0, 0, 0, -1],
        expected=reference.permute_and_flip,
        tuning=replace(SMALL, level=2, key=2),
    ),
]
PROPORTIONAL = [
    Case(
        name="proportional: inverted",
        draw=proportional,
        scores=[0.0, -0.5, -1.5],
        expected=reference.exponential,
        tuning=SMALL,
    ),
    Case(
        name="proportional: inverted, one near",
        draw=proportional,
        scores=[0.0, -1.0],
        expected=reference.exponential,
        tuning=replace(SMALL, index_word=1),
        within=0.1,
    ),
    Case(
        name="proportional: visits, then proposed",
        draw=proportional,
        scores=[0.0, -0.5, -1.5, -1.0],
        expected=reference.exponential,
        tuning=replace(PROPOSED, single_visits=1),
    ),
    Case(
        name="proportional: proposed in blocks",
        draw=proportional,
        scores=[-3.0, 0.0, -0.5, -1.5, -2.0, -2.0, -1.0, -1.0],
        expected=reference.exponential,
        tuning=replace(PROPOSED, level=3, cells=4),
        block=1,
        within=0.6,
    ),
    Case(
        name="many proportional",
        draw=one_of_proportionals,
        scores=[0.0, -0.5, -1.5],
        expected=reference.exponential,
        tuning=replace(SMALL, level=2),
    ),
]
LAPLACE = [
    Case(
        name="Laplace",
        draw=laplace_max,
        scores=[0.0, -1.5],
        expected=reference.laplace,
        tuning=replace(SMALL, level=2),
    ),
    Case(
        name="Laplace: first bits",
        draw=laplace_max,
        scores=[0.0, -0.5],
        expected=reference.laplace,
        tuning=replace(PEEKED, level=2),
        within=0.9,
    ),
    Case(
        name="Laplace: visits, then all",
        draw=laplace_max,
        scores=[0.0, -0.5],
        expected=reference.laplace,
        tuning=replace(NO_LIST, level=2, single_visits=1),
        within=0.9,
        faintest=1e-6,
    ),
    Case(
        name="Laplace: proposed",
        draw=laplace_max,
        scores=[0.0, -2.5],
        expected=reference.laplace,
        tuning=replace(PROPOSED, level=2),
        timed=True,
        within=0.95,
    ),
    Case(
        name="many Laplace",
        draw=one_of_laplace_maxes,
        scores=[0.0, -0.5],
        expected=reference.laplace,
        tuning=replace(SMALL, level=2),
    ),
    Case(
        name="many Laplace: three",
        draw=one_of_laplace_maxes,
        scores=[0, 0, -2],
        expected=reference.laplace,
        tuning=replace(SMALL, level=2),
    ),
]
CASES = [*HEADS, *PROPORTIONAL, *LAPLACE]
