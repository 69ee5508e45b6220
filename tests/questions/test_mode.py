"""The mode: counts people instead of rows; public candidates, groups, counts and gaps."""

from __future__ import annotations

import enum
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet import PermuteAndFlip, PureDP, Scores
from discreet.errors import ParameterError
from discreet.questions import Grid, mode
from discreet.questions.candidates import public_candidates
from discreet.questions.scoring import noisy_count, winner_and_gap, within
from discreet.testing import scripted
from tests.tools.engines import TableMaker

ONE_BUSY_PATIENT = pl.DataFrame(
    {"patient": [0] * 5000 + list(range(1, 101)), "code": ["rare"] * 5000 + ["flu"] * 100}
)


class Diagnosis(enum.Enum):
    FLU = "flu"
    RARE = "rare"


def test_people_count_not_rows(table_in: TableMaker) -> None:
    visits = table_in(ONE_BUSY_PATIENT.to_dict(as_series=False))
    options: dict[str, Any] = {"column": "code", "candidates": ["flu", "rare"], "epsilon": 1}
    assert mode(visits, user="patient", **options).answer == "flu"
    assert mode(visits, one_row_per_user=True, **options).answer == "rare"


@pytest.mark.parametrize(
    "candidates",
    [
        ["flu", "rare"],
        ("flu", "rare"),
        np.array(["flu", "rare"]),
        Diagnosis,
        pl.Enum(["flu", "rare"]),
        pd.CategoricalDtype(["flu", "rare"]),
        pl.Series(["flu", "rare"]).to_list(),
    ],
)
def test_ways_to_give_candidates(candidates: Any) -> None:
    release = mode(
        ONE_BUSY_PATIENT, column="code", candidates=candidates, epsilon=2, user="patient"
    )
    assert release.answer == "flu"


def test_candidate_files(tmp_path: Path) -> None:
    def labels(name: str, content: str, kind: str = "text") -> tuple[Any, ...]:
        (tmp_path / name).write_text(content, encoding="utf-8", newline="")
        return public_candidates(tmp_path / name, column="code", kind=kind).labels

    assert labels("a.txt", "flu\nrare\n") == ("flu", "rare")
    assert labels("b.txt", "flu\r\nrare") == ("flu", "rare")
    assert labels("c.csv", "code,name\nJ11,flu\nJ00,cold\n") == ("J11", "J00")
    assert labels("d.csv", 'page\n"a, b"\nc\n') == ("a, b", "c")
    assert labels("e.txt", "3\n007\n", kind="integer") == (3, 7)
    for name, content, words in (
        ("f.txt", "flu\n\nrare\n", "blank"),
        ("g.txt", "flu\nflu\n", "more than once"),
        ("h.txt", "", "empty"),
        ("i.csv", "x,y\n1,2\n", "column named 'code'"),
        ("j.csv", "code\nflu\n  \n", "blank"),
        ("k.csv", "", "column named"),
    ):
        with pytest.raises(ParameterError, match=words):
            labels(name, content)
    with pytest.raises(ParameterError, match=r"no such file.*write candidates=\['UA', 'AA'\]"):
        public_candidates("UA,AA", column="code", kind="text")
    with pytest.raises(ParameterError, match="no such file"):
        public_candidates(tmp_path / "nothing.txt", column="code", kind="text")
    with pytest.raises(ParameterError, match="'x'"):
        labels("l.txt", "1\nx\n", kind="integer")


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"a", "b"}, "text", "fixed order"),
        (["a", ""], "text", "blank"),
        (["a", None], "text", "None"),
        ([True], "integer", "True"),
        ([1, "1"], "integer", "more than once"),
        ([1.5], "integer", "1.5"),
        ([math.nan], "float", "nan"),
        (["maybe"], "boolean", "maybe"),
        (["soon"], "date", "soon"),
        (["a"], "other", "declared other"),
        (3, "text", "candidates=3"),
        (b"ab", "text", "not bytes"),
    ],
)
def test_candidates_refused(given: Any, kind: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        public_candidates(given, column="c", kind=kind)


def test_an_empty_table_and_an_unknown_value_get_an_answer() -> None:
    empty = ONE_BUSY_PATIENT.head(0)
    answers = {
        mode(frame, column="code", candidates=["x", "y"], epsilon=1, user="patient").answer
        for frame in (empty, ONE_BUSY_PATIENT)
        for _ in range(30)
    }
    assert answers == {"x", "y"}  # fails once in 2⁵⁹


def test_a_grid_of_candidates() -> None:
    frame = pl.DataFrame({"age": [0.5] * 3 + [10.0, 19.9, 12.5] * 100})
    release = mode(
        frame,
        column="age",
        candidates=Grid.between("0:100", step=10),
        epsilon=2,
        one_row_per_user=True,
    )
    assert release.answer == 10


CLINICS = pl.DataFrame(
    {
        # Each patient is in both clinics, with different complaints.
        "patient": list(range(200)) * 2,
        "clinic": ["north"] * 200 + ["south"] * 200,
        "code": ["flu"] * 200 + ["cold"] * 200,
    }
)


def test_groups_share_the_budget_only_when_people_are_in_one() -> None:
    options: dict[str, Any] = {
        "column": "code",
        "candidates": ["cold", "flu"],
        "epsilon": 4,
        "user": "patient",
        "by": "clinic",
        "groups": ["south", "north", "empty"],
    }
    both = mode(CLINICS, groups_per_person=2, with_count=True, **options)
    assert list(both.answer) == ["south", "north", "empty"]
    assert (both.answer["north"], both.answer["south"]) == ("flu", "cold")
    assert both.guarantee == PureDP(4)
    # ε/2 per group, a quarter of it for the count: noise of scale 2, which exceeds 60 once in 10¹³.
    assert abs(both.count["south"] - 200) < 60
    assert both.count_within == within(Fraction(1, 2))
    one = mode(CLINICS, with_count=True, **options)
    # Everybody counts in one of their two groups, drawn at random: 60 away from half once in 10¹⁵, and noise
    # of scale 1 exceeds 20 once in 10⁸.
    assert (one.answer["north"], one.answer["south"]) == ("flu", "cold")
    assert abs(one.count["north"] - 100) < 80
    assert abs(one.count["south"] - 100) < 80
    (said,) = (sentence for sentence in one.rules if "assigned" in sentence)
    assert "at most 1 of the groups" in said
    assert "With groups_per_person=3 " in said
    assert "ε = 1.333 instead of 4" in said
    assert f": {one.count['north']} assigned people, give or take" in str(one)
    assert one.assigned is one.as_data()["assigned"] is True
    assert "assigned" not in str(mode(CLINICS, groups_per_person=3, **options))
    moved = mode(CLINICS, with_count=True, neighbours="replace", **options)
    assert moved.count_within == within(Fraction(1, 2))
    assert "south: cold" in str(moved)


def test_where() -> None:
    release = mode(
        CLINICS,
        column="code",
        candidates=["cold", "flu"],
        epsilon=2,
        user="patient",
        where="clinic = 'south'",
    )
    assert release.answer == "cold"


def test_counts_and_gaps() -> None:
    release = mode(
        ONE_BUSY_PATIENT,
        column="code",
        candidates=["flu", "rare"],
        epsilon=8,
        user="patient",
        with_count=True,
        with_gap=True,
    )
    assert abs(release.count - 100) < 20  # noise of scale 1/2
    assert 80 < release.gap < 120
    assert "people, give or take" in str(release)
    assert release.as_data()["gap"] == release.gap
    assert release.count_within == within(Fraction(2))


def test_the_law_of_winner_and_gap() -> None:
    """For two candidates one apart at scale 1, the signed lead is Laplace around 1 (3,000 scripted draws)."""
    scores = Scores([1, 0], sensitivity=1, monotonic=True)
    bits, draws = scripted("gap"), 3000
    found = [winner_and_gap(scores, Fraction(1), bits=bits) for _ in range(draws)]
    for winner, location in ((0, 1.0), (1, -1.0)):
        for gap in range(4):
            # The density of a lead x of this winner is e^{−|x − location|}/2, and gap is ⌊x⌋.
            grid = (np.arange(1000) + 0.5) / 1000 + gap
            chance = float((np.exp(-np.abs(grid - location)) / 2).mean())
            seen = sum(pair == (winner, gap) for pair in found) / draws
            assert abs(seen - chance) < 5.5 * math.sqrt(chance / draws)


def test_winner_of_winner_and_gap_is_permute_and_flip() -> None:
    scores = Scores([3, 2, 2, 0], sensitivity=1, monotonic=True)
    bits, draws = scripted("winner"), 3000
    seen = np.bincount(
        [winner_and_gap(scores, Fraction(1), bits=bits)[0] for _ in range(draws)], minlength=4
    )
    law = PermuteAndFlip(epsilon=1).probabilities(scores)
    assert (np.abs(seen / draws - law) < 5.5 * np.sqrt(law / draws)).all()


def test_within_is_a_95_percent_interval() -> None:
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3)):
        bits, limit = scripted(f"within {epsilon}"), within(epsilon)
        draws = [abs(noisy_count(0, epsilon, bits=bits)) for _ in range(2000)]
        assert np.mean([draw > limit for draw in draws]) < 0.05 + 5.5 * math.sqrt(
            0.05 * 0.95 / 2000
        )
        ratio = math.exp(-epsilon)
        assert 2 * ratio ** (limit + 1) / (1 + ratio) <= 0.05 + 1e-9
        assert limit == 0 or 2 * ratio**limit / (1 + ratio) > 0.05


def test_an_epsilon_beyond_floats_gets_its_count() -> None:
    assert len(str(within(Fraction(1, 10**400)))) == 401
    assert within(Fraction(10**400)) == 0
    frame = pl.DataFrame({"c": ["a"] * 9 + ["b"]})
    for options in ({"neighbours": "replace"}, {"with_gap": True}, {}):
        release = mode(
            frame,
            column="c",
            candidates=["a", "b"],
            epsilon="1e-400",
            one_row_per_user=True,
            with_count=True,
            **options,
        )
        assert release.answer in ("a", "b")
        assert "give or take" in str(release)
    with pytest.raises(ParameterError, match="too small for any answer"):
        mode(frame, column="c", epsilon="1e-400", delta=0.1, one_row_per_user=True)
