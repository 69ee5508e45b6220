"""Crossings of a noisy threshold: every path on tapes of bits, and floats against balls."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet._exact.distribution.crossings import Block, sequence_ball
from discreet._exact.numbers.noise_scales import NoiseScales
from discreet._exact.sampling import Bits
from discreet._exact.sampling.above_threshold import NoisyThreshold
from discreet._exact.sampling.coins import STANDARD, Tuning
from discreet.testing import scripted
from tests.tools.sampling.cases import SMALL
from tests.tools.sampling.reference import bounds
from tests.tools.sampling.walking import assert_bracketed

VALUES = (Fraction(1), Fraction(-1, 2))
SCALES = [
    NoiseScales(Fraction(2), Fraction(3, 2)),
    NoiseScales(Fraction(1), Fraction(2), two_sided=True),
]
BALLS_ONLY = replace(STANDARD, tolerance=math.inf)
FLOATS = replace(STANDARD)
"""Like STANDARD, but words are drawn one at a time, as for balls."""


def one_by_one(watched: NoisyThreshold, values: Any) -> list[int]:
    return [place for place, value in enumerate(values) if watched.crosses(value)]


def at_once(watched: NoisyThreshold, values: Any) -> list[int]:
    return watched.crossings(np.array([float(value) for value in values]), len(values))


def by_gaps(watched: NoisyThreshold, values: Any) -> list[int]:
    found = [watched.gap(value, Fraction(5)) for value in values]
    return [place for place, gap in enumerate(found) if gap is not None]


def law(scales: NoiseScales) -> list[tuple[Fraction, Fraction]]:
    """Return the probability of each set of crossings; a set is a two-bit number, first value first."""
    return [
        bounds(
            sequence_ball(
                [Block(VALUES[0], bool(code & 2)), Block(VALUES[1], bool(code & 1))], scales
            )
        )
        for code in range(4)
    ]


def outcome(
    ask: Callable[[NoisyThreshold, Any], list[int]], scales: NoiseScales, tuning: Tuning, **how: Any
) -> Callable[[Bits], int]:
    def draw(bits: Bits) -> int:
        watched = NoisyThreshold(Fraction(0), scales, bits, tuning=tuning, **how)
        return sum(2 >> place for place in ask(watched, VALUES))

    return draw


@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize(
    ("ask", "word", "within"),
    [(one_by_one, 1, 0.4), (one_by_one, 3, 0.5), (at_once, 1, 0.5), (by_gaps, 1, 0.6)],
)
def test_every_tape_leads_where_the_law_says(
    scales: NoiseScales, ask: Any, word: int, within: float
) -> None:
    tuning = replace(SMALL, word=word)
    assert_bracketed(outcome(ask, scales, tuning), law(scales), within=within, most_runs=3000)


def test_every_tape_of_the_steady_form() -> None:
    assert_bracketed(
        outcome(at_once, SCALES[0], SMALL, steady=True), law(SCALES[0]), within=0.5, most_runs=3000
    )


@pytest.mark.parametrize("wrong", [Fraction(3, 2), Fraction(2, 3)])
def test_a_wrong_scale_is_seen_on_tapes(wrong: Fraction) -> None:
    """One scale is off by a half, which the tapes must detect."""
    other = replace(SCALES[0], query=SCALES[0].query * wrong)
    with pytest.raises(pytest.fail.Exception):
        assert_bracketed(
            outcome(one_by_one, other, SMALL), law(SCALES[0]), within=0.4, most_runs=3000
        )


def many_values() -> Any:
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(-6, 4, 300), rng.normal(-60, 10, 300), [3.0, -1e300, -0.0]])


@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("kind", ["float", "whole", "exact", "steady"])
def test_floats_decide_as_balls_do(scales: NoiseScales, kind: str) -> None:
    """With the same bits, decisions with and without floats agree; a wrong decision would show."""
    if kind == "steady" and scales.two_sided:
        return
    values = many_values()
    if kind == "whole":
        values = np.clip(values, -(2**62), 2**62).astype(np.int64)
    if kind == "exact":
        values = np.array([Fraction(value) / 3 for value in values.tolist()], dtype=object)
    for seed in range(3):
        answers = []
        for tuning in (FLOATS, BALLS_ONLY):
            tuned = replace(tuning, level=4)
            watched = NoisyThreshold(
                Fraction(1, 3), scales, scripted(seed), tuning=tuned, steady=kind == "steady"
            )
            answers.append(watched.crossings(values, 10**6))
        assert answers[0] == answers[1]
        assert len(answers[0]) > 10


def test_few_comparisons_need_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = []
    real = NoisyThreshold._settle

    def counted(self: NoisyThreshold, *arguments: Any) -> bool:
        settled.append(arguments)
        return real(self, *arguments)

    monkeypatch.setattr(NoisyThreshold, "_settle", counted)
    watched = NoisyThreshold(Fraction(0), SCALES[0], scripted("few"))
    one_by_one(watched, many_values().tolist())
    watched.crossings(many_values(), 10**6)
    assert not settled


@pytest.mark.parametrize("scales", SCALES)
def test_extremes(scales: NoiseScales) -> None:
    """Try scales and values far beyond the range of floats, and values that floats cannot distinguish."""
    for size in (Fraction(10) ** -400, Fraction(1), Fraction(10) ** 400):
        stretched = NoiseScales(scales.threshold * size, scales.query * size, scales.two_sided)
        watched = NoisyThreshold(Fraction(10) ** 600, stretched, scripted("extremes"))
        assert not watched.crosses(-(10**601))
        assert watched.crosses(10**601)
        assert not watched.crosses(-1e300)
        assert watched.crossings(np.array([0.0, -1e308]), 2) == []
    near = NoisyThreshold(Fraction(2**60), scales, scripted("near"))
    assert near.crossings(np.array([0, 2**60 + 200, 2**60 - 200]), 3) == [1]
    low = NoisyThreshold(Fraction(-(2**63)), scales, scripted("low"))
    assert low.crossings(np.array([-(2**63) + 500, -(2**63) + 400]), 3) == [0, 1]


@pytest.mark.parametrize("scales", SCALES)
def test_the_law_of_the_gap(scales: NoiseScales) -> None:
    """In 3,000 scripted draws, each frequency is within 6 standard deviations (false alarms: 10⁻⁸ in all)."""
    unit, draws, value = Fraction(2), 3000, Fraction(1)
    bits = scripted("gaps")
    found = [NoisyThreshold(Fraction(0), scales, bits).gap(value, unit) for _ in range(draws)]
    for steps in (None, 0, 1, 2, 5):
        # A gap of at least g means that the value minus g also crosses.
        if steps is None:
            chance = float(sequence_ball([Block(value, False)], scales))
        else:
            ends = [
                float(sequence_ball([Block(value - unit * k, True)], scales))
                for k in (steps, steps + 1)
            ]
            chance = ends[0] - ends[1]
        expected = found.count(steps) / draws
        assert abs(expected - chance) < 6 * math.sqrt(chance / draws)
