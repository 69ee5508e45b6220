"""A custom score: the checker finds a stated sensitivity that is too low."""

from __future__ import annotations

import traceback
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from discreet import Exponential, NoisyMax, PureDP
from discreet.errors import ParameterError, ScoresError, TableError
from discreet.questions import Question, SelectBy, check_sensitivity, select_by, select_from_file

ROWS: list[dict[str, Any]] = [{"code": "flu", "cost": 10}, {"code": "cold", "cost": 3}]


def visits(data: Any, code: Any) -> int:
    return sum(row["code"] == code for row in data)


def people(data: Any, code: Any) -> int:
    return len({row["user"] for row in data if row["code"] == code})


def total_cost(data: Any, code: Any) -> int:
    return sum(row["cost"] for row in data if row["code"] == code)


def balance(data: Any, code: Any) -> int:
    return sum(1 if row["code"] == code else -1 for row in data)


@pytest.mark.parametrize(
    ("score", "options", "holds", "measured"),
    [
        (visits, {}, True, 1),
        (visits, {"monotonic": True}, True, 1),
        (visits, {"monotonic": True, "rows_per_person": 2}, False, 2),
        (people, {"monotonic": True, "rows_per_person": 2, "user": "user"}, True, 1),
        (people, {"monotonic": True, "user": "user", "neighbours": "replace"}, False, 1),
        (people, {"user": "user", "neighbours": "replace"}, True, 1),
        (total_cost, {}, False, 10),
        (balance, {}, True, 1),
        (balance, {"monotonic": True}, False, 1),
    ],
)
def test_verdicts(score: Any, options: dict[str, Any], holds: bool, measured: int) -> None:
    verdict = check_sensitivity(
        score, candidates=["flu", "cold"], rows=ROWS, sensitivity=1, **options
    )
    assert verdict.holds == holds
    assert verdict.measured == Fraction(measured)
    assert (verdict.witness is None) == holds
    if verdict.witness is not None:
        assert "Refuted" in verdict.in_words()
        before, after = verdict.witness.data, verdict.witness.neighbour
        moved = Fraction(score(after, verdict.witness.candidate)) - score(
            before, verdict.witness.candidate
        )
        assert moved == verdict.witness.change
    else:
        assert "Not refuted" in verdict.in_words()


def test_a_wrong_statement_is_refused_before_anything_is_spent() -> None:
    class Never:
        def spend(self, *_: Any, **__: Any) -> None:
            raise AssertionError("spent")

        def fail(self, _: Any) -> None: ...

    options: dict[str, Any] = {"candidates": ["flu", "cold"], "sensitivity": 1, "epsilon": 1}
    with pytest.raises(ParameterError, match="too low"):
        select_by(
            [], score=total_cost, example_rows=ROWS, ledger=Never(), dataset="visits", **options
        )
    release = select_by(
        ROWS * 50, score=visits, example_rows=ROWS, **{**options, "candidates": ["flu", "x"]}
    )
    assert release.answer == "flu"
    assert release.guarantee == PureDP(1)


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas"])
def test_frames_are_made_like_the_data(kind: str) -> None:
    frame = pl.DataFrame(ROWS * 60)

    def score(data: Any, code: Any) -> int:
        if kind == "pandas":
            return int((data["code"] == code).sum())
        found = data.filter(pl.col("code") == code)
        return int(found.collect().height if kind == "lazy" else found.height)

    data: Any = {"polars": frame, "lazy": frame.lazy(), "pandas": pd.DataFrame(ROWS * 60)}[kind]
    release = select_by(
        data,
        candidates=["flu", "none"],
        score=score,
        sensitivity=1,
        monotonic=True,
        epsilon=1,
        example_rows=ROWS,
    )
    assert release.answer == "flu"


def test_a_score_that_cannot_take_an_empty_table_is_found_by_the_check() -> None:
    def largest(data: Any, _: Any) -> int:
        return int(max(row["cost"] for row in data))

    with pytest.raises(ParameterError, match="fails on a small data set"):
        check_sensitivity(largest, candidates=["a"], rows=ROWS, sensitivity=1)


def test_an_error_of_the_score_says_nothing() -> None:
    for kind in (
        ValueError,
        ParameterError,
    ):  # which a function may raise that uses discreet itself

        def fails(data: Any, _: Any, kind: type[Exception] = kind) -> int:
            raise kind(f"secret {data}")

        with pytest.raises(TableError) as caught:
            select_by([6 * 7], candidates=["a"], score=fails, sensitivity=1, epsilon=1)
        text = "".join(traceback.format_exception(caught.value))
        assert "42" not in text
    with pytest.raises(ScoresError, match="finite"):
        select_by(
            [42], candidates=["a"], score=lambda _d, _c: float("nan"), sensitivity=1, epsilon=1
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"candidates": None}, "public|given"),
        ({"candidates": []}, "candidates"),
        ({"candidates": "flu"}, "candidates"),
        ({"score": 3}, "score=3"),
        ({"sensitivity": 0}, "sensitivity=0"),
        ({"neighbours": "x"}, "neighbours"),
        ({"example_rows": []}, "example rows"),
        ({"example_rows": [{"a": i} for i in range(90)]}, "data sets"),
        ({"data": object(), "example_rows": ROWS}, "make="),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    given = {
        "data": [],
        "candidates": ["flu"],
        "score": visits,
        "sensitivity": 1,
        "epsilon": 1,
        **options,
    }
    with pytest.raises((ParameterError, ScoresError), match=words):
        select_by(given.pop("data"), **given)


def test_scores_in_a_file(tmp_path: Path) -> None:
    def ask(content: str, **options: Any) -> Any:
        (tmp_path / "s.csv").write_text(content, encoding="utf-8")
        stated = {"sensitivity": 1, "epsilon": 5, **options}
        return select_from_file(tmp_path / "s.csv", **stated).answer

    assert ask("candidate,score\nflu,90\ncold,1e1\n", monotonic=True) == "flu"
    assert ask("score,name\n-1/3,a\n99.5,b\n", candidate_column="name") == "b"
    assert ask("x,y,z\na,0,1\nb,99,0\n", score_column="z", epsilon=400) == "a"
    assert ask("candidate,score\nflu,90\ncold,1\n", sensitivity=None, range_distance=2) == "flu"
    mistakes = "model,mistakes\na,900\nb,10\nc,500\n"
    for mechanism in (None, "exponential", NoisyMax, Exponential(epsilon=1, optimize="min")):
        assert ask(mistakes, optimize="min", mechanism=mechanism) == "b"
    with pytest.raises(ParameterError, match="looks for the largest score"):
        ask(mistakes, mechanism=Exponential(epsilon=1, optimize="min"))
    with pytest.raises(ParameterError, match="looks for the smallest score"):
        ask(mistakes, mechanism=Exponential(epsilon=1), optimize="min")
    with pytest.raises(ParameterError, match="optimize"):
        ask(mistakes, optimize="best")
    for content, words in (
        ("candidate,score\nflu,secret\n", "finite number"),
        ("candidate,score\nflu,nan\n", "finite"),
        ("candidate,score\nflu,1/0\n", "finite number"),
        ("candidate,score\nflu\n", "every line"),
        ("candidate,score\n ,3\n", "blank"),
        ("candidate,score\na,3\na,4\n", "different"),
        ("candidate,score\n", "at least one"),
    ):
        with pytest.raises(ScoresError, match=words) as caught:
            ask(content)
        assert "secret" not in str(caught.value)
    with pytest.raises(ParameterError, match="there is no column 'q'"):
        ask("candidate,score\na,1\n", score_column="q")
    with pytest.raises(ParameterError, match="is not there"):
        select_from_file(tmp_path / "none.csv", sensitivity=1, epsilon=1)


def _worth(data: list[str], candidate: str) -> int:
    return {"a": 1, "b": 1, "c": 9}[candidate] * data.count(candidate)


def test_each_candidate_has_its_own_sensitivity() -> None:
    stated: dict[str, Any] = {"candidates": ["a", "b", "c"], "score": _worth, "monotonic": True}
    checked: dict[str, Any] = {
        "example_rows": [{"value": each} for each in "abc"],
        "make": lambda rows: [row["value"] for row in rows],
    }
    data = ["a"] * 90 + ["c"]
    release = select_by(data, **stated, **checked, sensitivity=[1, 1, 9], epsilon=3)
    assert release.answer == "a"
    assert release.guarantee == PureDP(3)
    told = " ".join(release.rules)
    assert "from 1 to 9" in told
    assert "compared by ratios" in told
    assert "largest: " in told
    largest = select_by(data, **stated, sensitivity=[1, 1, 9], unequal="largest", epsilon=3)
    assert "compared by largest" in " ".join(largest.rules)
    with pytest.raises(
        ParameterError, match=r"too low.*\[1, 1, 9\] with monotonic=True would match"
    ):
        select_by(data, **stated, **checked, sensitivity=[1, 1, 8], epsilon=3)
    with pytest.raises(ParameterError, match="one number for each candidate"):
        select_by(data, **stated, sensitivity=[1, 9], epsilon=3)


def test_a_question_with_several_sensitivities_is_a_value() -> None:
    question = SelectBy(
        candidates=["a", "b"], score="worth", sensitivity=[1, "1/3"], unequal="ratios", epsilon=1
    )
    assert question.sensitivity == (1, Fraction(1, 3))
    assert Question.from_dict(question.to_dict()) == question
    assert hash(question) == hash(Question.from_dict(question.to_dict()))
    with pytest.raises(ParameterError, match="unequal"):
        SelectBy(candidates=["a"], score="worth", sensitivity=[1, 2], unequal="both", epsilon=1)
