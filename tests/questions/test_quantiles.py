"""One quantile and several: near the truth, ties broken, and private at every depth by exact laws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet import BoundedRange, PermuteAndFlip, PureDP
from discreet._tables.counts import Counts
from discreet.accounting import Event
from discreet.errors import ParameterError
from discreet.guarantees.dominated import AveragedRange
from discreet.neighbours import ADD_REMOVE, REPLACE
from discreet.questions import median, quantile, quantiles
from discreet.questions.quantiles import recursive, spread_out
from discreet.questions.scoring import quantile_scores
from discreet.testing import scripted
from tests.tools.engines import TableMaker

AGES = pl.DataFrame({"person": range(3000), "age": [i % 100 for i in range(3000)]})


@pytest.mark.parametrize("level", [50, 1.0, 0, "x", "0.1234567"])
def test_a_wrong_level_is_told_what_is_allowed(level: Any) -> None:
    with pytest.raises(
        ParameterError, match=f"at={level!r} is not allowed: it must be strictly between 0"
    ):
        quantile(AGES, "age", at=level, bounds="0:100", epsilon=1, user="person")


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
def test_near_the_truth(table_in: TableMaker, neighbours: str) -> None:
    ages = table_in(AGES.to_dict(as_series=False))
    options: dict[str, Any] = {
        "column": "age",
        "bounds": (0, 120),
        "epsilon": 6,
        "user": "person",
        "neighbours": neighbours,
    }
    assert abs(median(ages, **options).answer - 50) <= 2
    assert abs(quantile(ages, at="0.9", **options).answer - 90) <= 2
    release = quantiles(ages, at=[0.1, 0.25, 0.5, 0.75, 0.9], **options)
    assert np.abs(np.array(release.answer) - [10, 25, 50, 75, 90]).max() <= 4
    assert release.guarantee == PureDP(6)
    assert "3 depths" in release.mechanism
    assert quantiles(ages, at=[0.5], **options).mechanism == "permute-and-flip"


def test_people_who_share_a_value() -> None:
    options: dict[str, Any] = {
        "column": "v",
        "bounds": "0:100",
        "epsilon": 10,
        "one_row_per_user": True,
    }
    same = pl.DataFrame({"v": [7] * 2000})
    assert quantiles(same, at=[0.1, 0.5, 0.9], **options).answer == (7, 7, 7)
    half = pl.DataFrame({"v": [0] * 1000 + [i % 101 for i in range(1000)]})
    low, middle, high = quantiles(half, at=[0.25, 0.49, 0.75], **options).answer
    assert (low, middle) == (0, 0)
    assert abs(high - 50) <= 4


def test_values_that_count_and_values_that_do_not() -> None:
    frame = pl.DataFrame(
        {"u": [1, 1, 2, 3, 4, 5], "v": [5.0, 90.0, None, float("nan"), float("inf"), 1e9]}
    )
    options: dict[str, Any] = {"column": "v", "bounds": "0:100", "epsilon": 200, "user": "u"}
    dropping = {**options, "outside": "drop"}
    assert median(frame, **dropping).answer == 48
    assert median(frame, per_person="least", **dropping).answer == 5
    assert median(frame, per_person="largest", **dropping).answer == 90
    assert median(frame, per_person="mean", **dropping).answer == 48
    assert {median(frame, per_person="random", **dropping).answer for _ in range(60)} == {5, 90}
    assert 0 <= median(frame.head(0), **options).answer <= 100
    assert quantile(frame, at="0.9", **options).answer == 100
    assert quantile(frame.with_columns(-pl.col("v")), at="0.1", **options).answer == 0


@pytest.mark.parametrize("bounds", ["0:200", None])
def test_a_person_with_several_values_counts_with_their_mean(bounds: str | None) -> None:
    """A hundred people's wages rise from 70 to 130 in four years; the least is the first year's wage."""
    rows = [(who, 100 + who % 5 - 2 + 20 * year - 30) for who in range(100) for year in range(4)]
    wages = pl.DataFrame({"who": [who for who, _ in rows], "wage": [wage for _, wage in rows]})
    asked: dict[str, Any] = {"column": "wage", "user": "who", "bounds": bounds, "epsilon": 50}
    levels = [Fraction(1, 4), Fraction(1, 2)]
    for release in (median(wages, **asked), quantile(wages, at="0.5", **asked)):
        assert abs(release.answer - 100) <= 1
        assert release.rules[0].startswith("A person with several values counts with their mean")
    assert abs(quantiles(wages, at=levels, **asked).answer[1] - 100) <= 1
    assert abs(median(wages, per_person="least", **asked).answer - 70) <= 1
    alone = {**asked, "user": None, "one_row_per_user": True, "column": "wage"}
    one = wages.group_by("who").first()
    assert abs(median(one, **alone).answer - median(one, **asked).answer) <= 3


def test_the_rules_are_said_beside_the_answer() -> None:
    options: dict[str, Any] = {"column": "age", "bounds": "0:60", "epsilon": 1, "user": "person"}
    for rule, words in (("least", "the least of"), ("random", "drawn at random"), ("mean", "mean")):
        release = median(AGES, per_person=rule, **options)
        said = release.rules[0]
        assert words in said
        assert [sentence for sentence in release.rules if "several" in sentence] == [said]
        assert said in str(release)
        assert said in release.as_data()["rules"]
    for outside, words in (("clamp", "count as the nearer bound"), ("drop", "are left out")):
        assert f"Values outside 0:60 {words}" in str(median(AGES, outside=outside, **options))
    alone = {**options, "user": None, "one_row_per_user": True}
    assert "several" not in str(median(AGES, **alone))
    with pytest.raises(ParameterError, match=r'per_person=.*"mean", "least", "largest", "random"'):
        median(AGES, per_person="first", **options)
    with pytest.raises(ParameterError, match=r'outside=.*"clamp", "drop"'):
        median(AGES, outside="ignore", **options)


def test_a_drawn_value_keeps_no_bounded_range() -> None:
    """The key of the draw is secret; averaging over keys preserves (ε, δ) and ρ, but not the range."""
    told: list[Event] = []

    class Notebook:
        def spend(self, _dataset: str, event: Event, *, purpose: str) -> str:
            told.append(event)
            return purpose

        def fail(self, _entry: object) -> None:
            raise AssertionError

    options: dict[str, Any] = {"column": "age", "bounds": "0:60", "epsilon": 1, "user": "person"}
    for rule in ("mean", "random"):
        for ask, at in ((quantile, "0.5"), (quantiles, ["0.5"])):
            asking: dict[str, Any] = {"at": at, "per_person": rule, "mechanism": "exponential"}
            ask(AGES, ledger=Notebook(), dataset="ages", **options, **asking)
    assert [event.guarantee for event in told] == [BoundedRange(1)] * 2 + [AveragedRange(1)] * 2


def test_quantiles_are_labelled() -> None:
    options: dict[str, Any] = {"column": "age", "bounds": "0:60", "epsilon": 1, "user": "person"}
    release = quantiles(AGES, at=["0.1", "1/3", 0.9], **options)
    lines = str(release).splitlines()
    assert [line.partition(":")[0] for line in lines[:3]] == ["0.1", "1/3", "0.9"]
    assert f"1/3: {release.answer[1]}" in release._repr_html_()
    assert release.as_data()["labels"] == ["0.1", "1/3", "0.9"]


def test_answers_by_group() -> None:
    frame = AGES.with_columns(
        clinic=pl.when(pl.col("age") < 50).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    release = quantiles(
        frame,
        column="age",
        at=[0.25, 0.75],
        bounds="0:100",
        epsilon=9,
        user="person",
        by="clinic",
        groups=["a", "b"],
    )
    assert np.abs(np.array(release.answer["a"]) - [12.5, 37.5]).max() <= 4
    assert np.abs(np.array(release.answer["b"]) - [62.5, 87.5]).max() <= 4


Law = dict[tuple[int, ...], float]


def _law(line: tuple[int, ...], levels: list[Fraction], chooser: PermuteAndFlip) -> Law:
    """Return the exact law of the recursion on a line where no coins move people."""

    def follow(
        part: Counts, offset: int, low: Fraction, high: Fraction, asked: list[Fraction]
    ) -> Law:
        if not asked:
            return {(): 1.0}
        middle = len(asked) // 2
        level = asked[middle]
        scores = quantile_scores(part, (level - low) / (high - low), neighbours=ADD_REMOVE)
        law: Law = {}
        for place, chance in enumerate(chooser.probabilities(scores).tolist()):
            upper = part[place:].copy()
            upper[0] = 0
            below = follow(part[: place + 1], offset, low, level, asked[:middle])
            above = follow(upper, offset + place, level, high, asked[middle + 1 :])
            for (first, p), (second, q) in itertools.product(below.items(), above.items()):
                law[*first, offset + place, *second] = chance * p * q
        return law

    return follow(np.array(line), 0, Fraction(0), Fraction(1), levels)


def test_the_sampler_follows_the_law() -> None:
    levels = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    line, chooser = (2, 0, 1, 2), PermuteAndFlip(epsilon=1)
    law = _law(line, levels, chooser)
    assert math.isclose(sum(law.values()), 1)
    # A single level is never spread out, so its law follows from the scores; several levels use the
    # recursion.
    draws, bits = 1500, scripted("one level")
    seen = np.bincount(
        [
            recursive(np.array(line), [Fraction(1, 2)], chooser, neighbours=ADD_REMOVE, bits=bits)[
                0
            ]
            for _ in range(draws)
        ],
        minlength=4,
    )
    single = _law(line, [Fraction(1, 2)], chooser)
    for place in range(4):
        chance = single[place,]
        assert abs(seen[place] / draws - chance) < 5.5 * math.sqrt(chance * (1 - chance) / draws)


@pytest.mark.parametrize(("neighbours", "steps"), [(ADD_REMOVE, 1), (REPLACE, 2)])
def test_privacy_over_all_small_histograms(neighbours: str, steps: int) -> None:
    """For three quantiles at two depths, the exact loss never exceeds the charge."""
    levels = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    epsilon = Fraction(1)
    chooser = PermuteAndFlip(epsilon=epsilon / (2 * steps))
    laws = {line: _law(line, levels, chooser) for line in itertools.product(range(3), repeat=3)}
    worst = 0.0
    for line, law in laws.items():
        for one, other in itertools.product(range(3), repeat=2):
            changed = list(line)
            changed[one] += 1
            if neighbours == REPLACE:
                changed[other] -= 1
            if tuple(changed) in laws:
                after = laws[tuple(changed)]
                worst = max(worst, *(abs(math.log(law[key] / after[key])) for key in law))
    assert worst <= float(epsilon) + 1e-9
    assert worst > float(epsilon) / 4


def test_spreading_out_keeps_everyone() -> None:
    people = np.array([0, 5, 1000, 1])
    line = spread_out(people, 4, scripted("spread"))
    assert line.reshape(4, 16).sum(axis=1).tolist() == people.tolist()
    assert (line >= 0).all()
    # A thousand people over sixteen positions: each has 62.5 ± 7.7.
    assert np.abs(line[32:48] - 62.5).max() < 45


def test_answers_never_decrease() -> None:
    levels = [Fraction(i, 10) for i in range(1, 10)]
    for seed in range(20):
        people = np.array([3, 0, 1, 2, 0, 0, 4])
        found = recursive(
            people,
            levels,
            PermuteAndFlip(epsilon="0.1"),
            neighbours=ADD_REMOVE,
            bits=scripted(seed),
        )
        assert found == sorted(found)
