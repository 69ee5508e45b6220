"""A paper's value compared with ours: when they agree, and that synthetic data are not compared."""

from __future__ import annotations

import pytest

from discreet.papers import Scope
from discreet.papers.figure import Drawing, shown


@pytest.mark.parametrize(
    ("paper", "ours", "verdict", "difference"),
    [
        ("1.01", 1.0127, "agrees", "+0.3%"),
        ("13.7", 17.23, "differs", "+25.8%"),
        ("4", 3.912, "agrees", "−2.2%"),
        ("5.4", 5.323, "close", "−1.4%"),
    ],
)
def test_numbers(paper: str, ours: float, verdict: str, difference: str) -> None:
    drawing = Drawing(Scope())
    drawing.number("x", paper=paper, ours=ours)
    assert (drawing.comparisons[0].verdict, drawing.comparisons[0].difference) == (
        verdict,
        difference,
    )


def test_statements_and_findings_of_our_own() -> None:
    drawing = Drawing(Scope())
    drawing.statement("x", paper="yes", ours="no", holds=False)
    drawing.statement("x", paper="yes", ours="yes", holds=True)
    drawing.added("x", ours="3")
    assert [row.verdict for row in drawing.comparisons] == ["differs", "agrees", "new"]


def test_made_up_data_are_compared_with_nothing() -> None:
    drawing = Drawing(Scope(), needs=("HEPTH",))
    drawing.number("x", paper="4", ours=9.0)
    drawing.statement("x", paper="yes", ours="no", holds=False)
    assert {row.verdict for row in drawing.comparisons} == {"not compared"}
    assert drawing.synthetic == ["HEPTH"]


def test_shown() -> None:
    assert shown(-0.0) in ("0", "−0")
