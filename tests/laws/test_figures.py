"""Every figure of both papers exists, computes, draws, and shows what it must."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import altair
import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.papers import PAPERS, Scope, all_figures, chosen_figures
from discreet.papers.drawing import vega_lite
from discreet.papers.figure import EM, NOT_COMPARED, PF, Drawing, Lines, useful_epsilons
from discreet.papers.histograms import NAMES, histogram, median_scores, mode_as_run

PRINTED = {
    "pf": ["1a", "1b", "1c", "2a", "2b", "2c", "3a", "3b", "3c", "4", "5", "6", "7a", "7b"],
    "err": ["5", "6a", "6b", "6c", "7", "8", "9", "10", "11a", "11b"],
}


def test_every_figure_of_both_papers_is_listed_in_order() -> None:
    for paper, numbers in PRINTED.items():
        assert [f.id for f in chosen_figures([paper])] == [
            f"{paper}-fig{number}" for number in numbers
        ]
    ours = {f.id for f in chosen_figures(["beyond"])}
    assert ours >= {"beyond-tails", "beyond-4096-bins", "beyond-mwem-pure", "beyond-mwem-zcdp"}
    with_figures = {paper.key for paper in PAPERS.values() if paper.prefix}
    assert {f.paper.key for f in all_figures().values()} == with_figures


def test_only_means_what_it_says() -> None:
    assert [f.id for f in chosen_figures(["fig3"])] == ["pf-fig3a", "pf-fig3b", "pf-fig3c"]
    assert [f.id for f in chosen_figures(["fig1"])] == ["pf-fig1a", "pf-fig1b", "pf-fig1c"]
    assert [f.id for f in chosen_figures(["fig5"])] == ["pf-fig5", "err-fig5"]
    assert [f.id for f in chosen_figures(["mwem", "fig4"])] == [
        "pf-fig4",
        "beyond-mwem-pure",
        "beyond-mwem-zcdp",
    ]
    assert chosen_figures() == list(all_figures().values())
    for wrong in ("fig12", "", "pf-fig3d"):
        with pytest.raises(ParameterError, match="only="):
            chosen_figures([wrong])


@pytest.fixture(scope="module")
def drawn() -> dict[str, Drawing]:
    """All figures, in quick mode with synthetic data, computed once."""
    return {name: f.compute(Scope(quick=True)) for name, f in all_figures().items()}


def _texts(spec: Any) -> list[str]:
    if isinstance(spec, dict):
        return [text for part in spec.values() for text in _texts(part)]
    if isinstance(spec, list):
        return [text for part in spec for text in _texts(part)]
    return [spec] if isinstance(spec, str) else []


@pytest.mark.parametrize("name", list(all_figures()))
def test_a_figure_without_data_is_drawn_and_marked(name: str, drawn: dict[str, Drawing]) -> None:
    figure, found = all_figures()[name], drawn[name]
    assert not found.troubles
    assert bool(found.synthetic) == bool(figure.needs)
    assert found.comparisons
    for row in found.comparisons:
        assert "nan" not in row.ours
        assert row.quantity
        assert not figure.needs or not row.paper or row.verdict == NOT_COMPARED
    for row_of_panels in found.rows:
        for panel in row_of_panels:
            rows = list(panel.table())
            assert rows
            assert any(math.isfinite(row["y"]) for row in rows)
            assert bool(panel.note) == bool(figure.needs)
            if isinstance(panel, Lines):
                assert len({line.label for line in panel.lines}) == len(panel.lines)
    spec = vega_lite(figure, found)
    texts = " ".join(_texts(spec))
    assert ("synthetic" in texts) == bool(figure.needs)
    assert figure.title in texts


@pytest.mark.parametrize("name", ["pf-fig1a", "err-fig11a", "beyond-mwem-pure"])
def test_lines_bars_and_error_bars_are_vega_lite(name: str, drawn: dict[str, Drawing]) -> None:
    """Check against the Vega-Lite schema, without the points, which take long to check."""
    spec = vega_lite(all_figures()[name], drawn[name])
    altair.VConcatChart.from_dict({**spec, "datasets": {}})


def test_no_claim_of_a_paper_that_needs_no_data_turned_around(drawn: dict[str, Drawing]) -> None:
    """The theory figures do not depend on data; the claims that differ from the papers are listed here."""
    differing = {
        (name, row.quantity)
        for name, found in drawn.items()
        for row in found.comparisons
        if row.verdict == "differs"
    }
    assert differing == {
        ("err-fig5", "ERR ¾ at ε = 4, 100 candidates"),
        ("err-fig6b", "PF against ERR ¼"),
        ("err-fig7", "ERR ¾ against EM, −Δ ≤ v < 0"),
        ("err-fig8", "worst case of ERR"),
    }


# ---- the real data ---------------------------------------------------------------------------------


def _rows(name: str, data: Path) -> dict[str, tuple[str, str]]:
    found = all_figures()[name].compute(Scope(quick=True, data=data))
    assert not found.synthetic
    return {row.quantity: (row.ours, row.verdict) for row in found.comparisons}


def test_the_numbers_of_section_6(dpbench: Path) -> None:
    mode = _rows("pf-fig3a", dpbench)
    assert mode["expected error of PF at ε = 0.04"] == ("5.323", "close")
    assert mode["EM error / PF error at ε = 0.04"] == ("1.84", "agrees")
    budget = "budget of EM for the same error, as a multiple of ε = "
    assert mode[f"{budget}0.04"] == ("1.265", "agrees")
    median = _rows("pf-fig3b", dpbench)
    assert median["expected error of PF at ε = 0.01"] == ("17.23", "differs")
    assert median["EM error / PF error at ε = 0.01"] == ("1.909", "close")
    assert median[f"{budget}0.01"] == ("1.196", "close")


def test_the_factors_of_randomized_response_and_what_they_cost(dpbench: Path) -> None:
    for name in ("err-fig9", "err-fig10"):
        rows = _rows(name, dpbench)
        assert rows["EM/ERR"][1] == "agrees"
        assert rows["PF/ERR for a coin of ½ or more"][1] == "agrees"
        assert rows["real ε of ERR ¾ with 1024 bins"][0].startswith("at least 7.3")


@pytest.mark.parametrize("problem", ["mode", "median"])
def test_five_data_sets_at_a_hundred_epsilons_take_under_a_second_each(
    dpbench: Path, problem: str
) -> None:
    """Measured in processor time, because the machine may be busy."""
    scores_of = mode_as_run if problem == "mode" else median_scores
    for name in NAMES:
        scores = scores_of(histogram(Scope(data=dpbench), name).counts)
        epsilons = useful_epsilons(scores, 100)
        began = time.process_time()
        flip, plain = (each.errors(scores, epsilons) for each in (PF, EM))
        assert time.process_time() - began < 1.0
        assert (flip <= plain).all()
        assert (np.diff(plain) < 0).all()
        assert plain[-1] == pytest.approx(1.0)
