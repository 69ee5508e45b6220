from __future__ import annotations

from typing import Any

import pytest

from discreet import ZCDP, ApproxDP, PermuteAndFlip, PureDP, Release, Scores
from discreet.analysis import compare, recommend

SCORES = Scores({"flu <b>": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)


def _html(thing: Any) -> str:
    html = thing._repr_html_()
    assert isinstance(html, str)
    return html


def test_a_release_shows_only_what_was_released() -> None:
    release = PermuteAndFlip(epsilon=50).release(SCORES, neighbours="one patient more or less")
    html = _html(release)
    assert "flu &lt;b&gt;" in html
    assert "PureDP(50)" in html
    assert "no ledger" in html
    for number in ("412", "398", "57"):
        assert number not in html
    assert "entry 7" in _html(
        Release(answer="x", guarantee=PureDP(1), mechanism="m", neighbours="n", entry="entry 7")
    )


@pytest.mark.parametrize(
    "guarantee", [PureDP(1), ZCDP("0.5"), ApproxDP(1, "1e-6"), PureDP(float("inf"))]
)
def test_guarantees_in_words_and_measures(guarantee: Any) -> None:
    html = _html(guarantee)
    assert repr(guarantee) in html
    assert "ApproxDP at" in html


def test_scores_show_shape_and_kind_and_no_data() -> None:
    """A saved notebook would contain whatever is shown."""
    for shown in (_html(SCORES), repr(SCORES), str(SCORES)):
        assert "Scores(3 candidates, int64, sensitivity=1, monotonic=True)" in shown
        for data in ("flu", "cold", "412", "398", "57"):
            assert data not in shown
    assert "scores.values" in _html(SCORES)


def test_comparisons_and_recommendations() -> None:
    pytest.importorskip("vl_convert")
    html = compare(SCORES, epsilons="0.01:0.5:12")._repr_html_()
    assert "<svg" in html
    assert "<script" not in html
    assert "and 6 more rows" in html
    tied = compare(Scores([1, 1], sensitivity=1), epsilons=1)._repr_html_()
    assert "<svg" not in tied
    advice = recommend(n=10, budget=PureDP(1))._repr_html_()
    assert "Use permute-and-flip with ε = 1 for each release." in advice
