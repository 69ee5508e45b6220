"""A claim about figures takes its verdict from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import MissingExtraError
from discreet.papers import CONSISTENT, NOT_CHECKABLE, PROVED, REFUTED, Figure, Scope, catalogue
from discreet.papers.catalogue import judged
from discreet.papers.figure import Drawing


@pytest.fixture(autouse=True)
def _small_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(drawing: Drawing) -> None:
        assert drawing.scope.quick
        drawing.statement("what holds", paper="yes", ours="yes", holds=True)
        drawing.number("what is printed", paper="4", ours=9.0)

    def without_solver(_drawing: Drawing) -> None:
        raise MissingExtraError("needs a solver")

    for name, function in (("pf-small", fill), ("pf-solver", without_solver)):
        monkeypatch.setitem(catalogue._FIGURES, name, Figure(name, "Small", (), (), function))


def test_a_value_that_differs_refutes_and_is_the_witness() -> None:
    found = judged(Scope(), "pf-small", evidence="it is so")
    assert found.verdict == REFUTED
    assert found.witness == {"what is printed": "9; the paper: 4"}
    assert found.numbers["what holds"] == "yes; the paper: yes"
    assert "pf-small" in found.covered


def test_only_what_the_claim_is_about_counts() -> None:
    found = judged(Scope(), "pf-small", about="holds", evidence="it is so")
    assert (found.verdict, found.evidence, found.witness) == (CONSISTENT, "it is so", None)
    assert judged(Scope(), "pf-small", about="holds", evidence="", holds=PROVED).verdict == PROVED


def test_a_missing_solver_or_missing_data_decides_nothing(tmp_path: Path) -> None:
    assert judged(Scope(), "pf-solver", evidence="").verdict == NOT_CHECKABLE
    assert "--data" in judged(Scope(), "pf-fig3a", evidence="").evidence
    assert "HEPTH" in judged(Scope(data=tmp_path), "pf-fig3a", evidence="").evidence
