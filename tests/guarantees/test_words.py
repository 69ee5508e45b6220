"""Guarantees in words: for every measure and size, with figures that are never too small."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    FlippedCoins,
    Guarantee,
    LaplaceDominated,
    PureDP,
)

ONE_NUMBER: list[type[Any]] = [PureDP, BoundedRange, LaplaceDominated, FlippedCoins, ZCDP]
ONE_PERSON = "One person's data changes the probability of any answer"
FOUR_PEOPLE = "Four people together change the probability of any answer"


@pytest.mark.parametrize(
    ("promise", "people", "words"),
    [
        (PureDP(1), 1, f"{ONE_PERSON} by a factor of at most 2.719 (ε = 1)."),
        (PureDP("0.1"), 1, f"{ONE_PERSON} by a factor of at most 1.106 (ε = 0.1)."),
        (PureDP(0), 1, f"{ONE_PERSON} by a factor of at most 1 (ε = 0)."),
        (PureDP(1), 4, f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4)."),
        (PureDP("0.1"), 4, f"{FOUR_PEOPLE} by a factor of at most 1.492 (4ε = 0.4)."),
        (PureDP(3), 4, f"{FOUR_PEOPLE} by a factor of at most 162800 (4ε = 12)."),
        (PureDP(300), 4, f"{FOUR_PEOPLE} by a factor of at most e^1200 (4ε = 1200)."),
        (PureDP(math.inf), 1, f"{ONE_PERSON} without any limit (ε = ∞)."),
        (
            BoundedRange(1),
            4,
            f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4); nor do any two answers move apart "
            "by more than that (bounded range).",
        ),
        (BoundedRange(math.inf), 4, f"{FOUR_PEOPLE} without any limit (4ε = ∞)."),
        (LaplaceDominated(1), 4, f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4)."),
        (
            ZCDP(1),
            4,
            f"{FOUR_PEOPLE} by a factor of at most e^44.29, up to one chance in a million "
            "(16ρ = 16).",
        ),
        (
            ApproxDP(1, "1e-6"),
            1,
            f"{ONE_PERSON} by a factor of at most 2.719 (ε = 1), except for an event of probability "
            "at most 1e-6 (δ).",
        ),
        (
            ApproxDP(1, "1e-6"),
            4,
            f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4), except for an event of probability "
            "at most 3.12e-5 (δ).",
        ),
    ],
)
def test_in_words(promise: Guarantee, people: int, words: str) -> None:
    assert promise.in_words(people) == words
    if people == 1:
        assert str(promise) == words


@pytest.mark.parametrize("number", ["1e-400", "1e-320", "0.5", "1e40", "1e300", "1e400", 0])
def test_words_exist_for_every_size(number: object) -> None:
    for promise in [*(measure(number) for measure in ONE_NUMBER), ApproxDP(number, "0.001")]:
        for people in (1, 2, 7, 1000):
            words = promise.in_words(people)
            assert words.endswith(".")
            assert "nan" not in words
    assert "7 people together change" in PureDP(1).in_words(7)
    with pytest.raises(ParameterError, match="people"):
        PureDP(1).in_words(0)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=30))
@settings(max_examples=60)
def test_figures_in_words_are_never_too_small(epsilon: Fraction) -> None:
    words = PureDP(epsilon).in_words()
    figure = Fraction(words.rpartition("= ")[2].rstrip(").").rstrip())
    assert epsilon <= figure <= epsilon * Fraction(1002, 1000)
