"""What a plan says of an answer's accuracy, against the mechanisms' own samples and laws."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.analysis import error_bound, threshold_errors
from discreet.desk.accuracy import accuracy
from discreet.desk.owner_file import Column, SharedTable
from discreet.desk.shapes import question_from
from discreet.errors import ParameterError
from discreet.mechanisms import CrossingRule
from discreet.questions.scoring import count_scores
from discreet.questions.top_k import one_shot
from discreet.sampling import SecureBits
from discreet.sampling.joint_top_k import joint_first

_LISTED = Column(candidates=[f"value {each}" for each in range(40)])
_BETWEEN = Column(bounds=[0, 120])


def _words(column: Column, **asked: Any) -> str:
    table = SharedTable(source="x", user="person", dataset="x")
    return accuracy(
        table, column, question_from({"table": "x", "column": "c", "epsilon": 1} | asked)
    )


def _people(words: str) -> int:
    found = re.search(r"(\d+) people", words)
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize("k", [2, 12])
def test_the_first_k_fall_short_by_no_more(k: int) -> None:
    """By one-shot noise for 2, jointly for 12, on counts with much to confuse.

    Of 400 answers 20 may fall short by more; that 60 do has a probability below 10⁻¹² if it is true.
    """
    within = _people(_words(_LISTED, kind="top_k", k=k))
    counts = np.array([1000] * k + [1000 - within - 1] * (40 - k))
    scores, bits = count_scores(counts, neighbours="add-remove"), SecureBits()

    def chosen() -> list[int]:
        if k == 2:
            return one_shot(scores, Fraction(1), k, bits=bits)
        return joint_first(scores.values, k, scale=Fraction(2), bits=bits)

    assert sum(max(chosen()) >= k for _ in range(400)) < 60


@pytest.mark.parametrize(("k", "ways", "moved"), [(2, 40, 2), (12, math.perm(40, 12), 2)])
def test_the_sentence_is_of_the_method_that_will_be_used(k: int, ways: int, moved: int) -> None:
    bound = error_bound(1, ways, with_probability="0.95", sensitivity=moved, monotonic=True)
    assert _people(_words(_LISTED, kind="top_k", k=k)) == math.ceil(bound)


def test_counts_beside_the_answer_leave_less_for_the_choice() -> None:
    """A quarter of ε is for the count of the winner, a tenth for how many people there are."""
    alone = _words(_LISTED, kind="mode", epsilon="0.27")
    beside = _words(_LISTED, kind="mode", epsilon="0.4", with_count=True, with_people=True)
    assert beside == alone


def test_a_first_crossing_is_right_with_such_a_margin() -> None:
    margin = _people(_words(_LISTED, kind="first_above", above=500))
    rule = CrossingRule(epsilon=1, threshold=500, sensitivity=1, monotonic=True)
    assert threshold_errors(rule, n=40, margin=margin).wrong <= 0.05
    assert threshold_errors(rule, n=40, margin=margin - 2).wrong > 0.05


def test_every_kind_of_question_has_its_sentence() -> None:
    sentences = [
        _words(_LISTED, kind="mode"),
        _words(_BETWEEN, kind="median"),
        _words(_BETWEEN, kind="quantiles", at=["0.5"]),
        _words(_BETWEEN, kind="quantiles", at=["0.25", "0.5", "0.75"], by="c"),
    ]
    assert all(each.startswith("19 times out of 20") for each in sentences)
    assert "share one value" in sentences[3]
    assert "in each group" in sentences[3]


def test_wrong_parameters_are_refused_by_the_plan_too() -> None:
    with pytest.raises(ParameterError, match="at most the number of listed values, 40"):
        _words(_LISTED, kind="top_k", k=41)
    with pytest.raises(ParameterError, match="a number from 0 to 1"):
        _words(_BETWEEN, kind="quantiles", at=["1.5"])
