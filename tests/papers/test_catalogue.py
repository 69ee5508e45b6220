"""Every claim has the expected verdict, and the catalogue is complete."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from discreet.errors import DiscreetError, MissingExtraError, ParameterError
from discreet.papers import (
    CONSISTENT,
    FAILED,
    NOT_CHECKABLE,
    PAPERS,
    PROVED,
    REFUTED,
    VERDICTS,
    CheckedClaim,
    Claim,
    Figure,
    Finding,
    Scope,
    all_claims,
    catalogue,
    check,
    chosen_claims,
)
from discreet.papers.catalogue import judged
from discreet.papers.figure import Drawing
from discreet.papers.recorded import recorded, short

FIGURE = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")

# Every numbered statement of the papers, with its expected verdict.
EXPECTED: dict[str, dict[str, str]] = {
    "permute-and-flip": {
        "Proposition 1": PROVED,
        "Theorem 1": PROVED,
        "Proposition 2": CONSISTENT,
        "Equation 5": PROVED,
        "Proposition 3": PROVED,
        "Algorithm 2": PROVED,
        "Algorithm 3": PROVED,
        "Theorem 2": PROVED,
        "Corollary 1": PROVED,
        "Proposition 4": PROVED,
        "Proposition 5": PROVED,
        "Figure 1(a)": CONSISTENT,
        "Figure 1(b)": PROVED,
        "Open question (section 4.1)": PROVED,
        "Figure 1(c)": CONSISTENT,
        "Proposition 6": PROVED,
        "Theorem 3": PROVED,
        "Figure 2(a, b)": CONSISTENT,
        "Figure 2(c)": CONSISTENT,
        "Section 6, mode": NOT_CHECKABLE,
        "Section 6, median": NOT_CHECKABLE,
        "Figure 3(a, b)": NOT_CHECKABLE,
        "Figure 3(c)": NOT_CHECKABLE,
    },
    "permute-and-flip-supplement": {
        "Lemma 1": PROVED,
        "Lemma 2": PROVED,
        "Lemma 3": PROVED,
        "Remark 1": PROVED,
        "Lemma 4": PROVED,
        "Lemma 5": PROVED,
        "Lemma 6": PROVED,
        "Lemma 7": PROVED,
        "Equations 10 and 11": PROVED,
        "Appendix E": PROVED,
        "Appendix F": PROVED,
        "Figures 5 to 7": NOT_CHECKABLE,
    },
    "noisy-max": {
        "Footnote 1": PROVED,
        "Equation 3": PROVED,
        "Lemma 2": PROVED,
        "Lemma 3": PROVED,
        "Lemma 4": PROVED,
        "Theorem 5": PROVED,
        "Proposition 6": PROVED,
        "Definition 7, remark": PROVED,
        "Proposition 8": REFUTED,
        "Equation 4": PROVED,
        "Section 4, conversions": CONSISTENT,
        "Corollary 10": REFUTED,
        "Proposition 11": PROVED,
    },
    "opendp-proof": {
        "Primitive 1": PROVED,
        "Primitive 2": PROVED,
        "Pseudocode, lines 29 to 32": REFUTED,
        "Postcondition": PROVED,
        "Lemma 2.2": PROVED,
        "Lemma 2.3": PROVED,
        "Theorem 2.4": PROVED,
    },
    "exponential-randomized-response": {
        "Algorithm 1": PROVED,
        "Algorithm 2": PROVED,
        "Section III-A": REFUTED,
        "Algorithm 3": REFUTED,
        "Section III-B": REFUTED,
        "Lemma 1": REFUTED,
        "Lemma 2": REFUTED,
        "Theorem 1": REFUTED,
        "Section III-C": REFUTED,
        "Theorem 2": REFUTED,
        "Lemma 3": REFUTED,
        "Section IV-B": PROVED,
        "Figure 6(a)": CONSISTENT,
        "Figure 6(b)": REFUTED,
        "Figure 6(c)": CONSISTENT,
        "Figure 7": REFUTED,
        "Figure 8": REFUTED,
        "Section VI": NOT_CHECKABLE,
        "Proposition 1": REFUTED,
        "Lemma 4": PROVED,
        "Theorem 3": PROVED,
        "Lemma 5": PROVED,
        "Lemma 6": PROVED,
        "Equations 12 and 13": PROVED,
        "Proposition 2": PROVED,
        "Equations 15 and 16": PROVED,
    },
    "sparse-vector": {
        "Variant 1": CONSISTENT,
        "Variant 2 (Dwork and Roth)": CONSISTENT,
        "Variant 3 (Roth)": REFUTED,
        "Variant 4 (Lee and Clifton)": REFUTED,
        "Variant 5 (Stoddard and others)": REFUTED,
        "Variant 6 (Chen and others)": REFUTED,
    },
    "discreet": {
        "Laplace dominance": PROVED,
        "Exact range": PROVED,
        "Concentrated privacy": CONSISTENT,
        "Where randomized response holds": PROVED,
    },
}

WITH_DATA = {
    "permute-and-flip/section-6-mode": PROVED,
    "permute-and-flip/section-6-median": REFUTED,
    "permute-and-flip/figure-3-a-b": CONSISTENT,
    "permute-and-flip/figure-3-c": REFUTED,
    "permute-and-flip-supplement/figures-5-to-7": CONSISTENT,
    "exponential-randomized-response/section-vi": CONSISTENT,
}

# Statements that the papers number themselves; the others are algorithms, equations and figures.
NUMBERED = {
    "permute-and-flip": {
        *(f"Proposition {k}" for k in range(1, 7)),
        *(f"Theorem {k}" for k in range(1, 4)),
        "Corollary 1",
    },
    "permute-and-flip-supplement": {*(f"Lemma {k}" for k in range(1, 8)), "Remark 1"},
    "noisy-max": {
        *(f"Lemma {k}" for k in (2, 3, 4)),
        *(f"Proposition {k}" for k in (6, 8, 11)),
        "Theorem 5",
        "Corollary 10",
    },
    "opendp-proof": {"Lemma 2.2", "Lemma 2.3", "Theorem 2.4"},
    "exponential-randomized-response": {
        *(f"Lemma {k}" for k in range(1, 7)),
        *(f"Theorem {k}" for k in range(1, 4)),
        "Proposition 1",
        "Proposition 2",
    },
}


def outcome(entry: Claim, *, data: Path | None = None) -> CheckedClaim:
    return next(iter(check([entry], Scope(quick=True, data=data))))


def test_the_catalogue_is_the_table() -> None:
    found = {
        paper: {entry.number for entry in all_claims() if entry.paper == paper} for paper in PAPERS
    }
    assert found == {paper: set(numbers) for paper, numbers in EXPECTED.items()}


def test_every_numbered_statement_is_there_once() -> None:
    for paper, numbers in NUMBERED.items():
        assert numbers <= set(EXPECTED[paper])
    of_the_papers = [entry for entry in all_claims() if entry.paper != "discreet"]
    assert len(of_the_papers) >= 45
    assert len({(entry.paper, entry.number) for entry in of_the_papers}) == len(of_the_papers)
    assert len({entry.id for entry in all_claims()}) == len(all_claims())


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
@pytest.mark.parametrize("entry", all_claims(), ids=lambda entry: entry.id)
def test_verdict(entry: Claim, quick: bool) -> None:
    """The shipped record covers the full range, which takes about half a minute in total."""
    result = next(iter(check([entry], Scope(quick=quick))))
    finding = result.finding
    assert finding.verdict == EXPECTED[entry.paper][entry.number], finding.evidence
    assert finding.evidence
    assert finding.covered or finding.verdict == NOT_CHECKABLE
    assert (finding.witness is not None) == (finding.verdict == REFUTED)
    json.dumps(result.as_json(), allow_nan=False)
    if not quick:
        assert_recorded(result)


def assert_recorded(result: CheckedClaim) -> None:
    """Compare word for word, and figures to six digits, because float64 differs a little between machines."""
    fresh, kept = short(result), recorded().findings[result.claim.id]
    refresh = "the record is out of date: make pages, or python -m discreet.papers.recorded"
    assert fresh.keys() == kept.keys()
    for name in kept:
        found, told = fresh[name] or "", kept[name] or ""
        assert FIGURE.sub("#", found) == FIGURE.sub("#", told), refresh
        figures = [[float(figure) for figure in FIGURE.findall(text)] for text in (found, told)]
        assert figures[0] == pytest.approx(figures[1], rel=1e-6), refresh


@pytest.mark.parametrize("identity", WITH_DATA)
def test_verdict_on_real_data(dpbench: Path, identity: str) -> None:
    (entry,) = chosen_claims(only=[identity])
    finding = outcome(entry, data=dpbench).finding
    assert finding.verdict == WITH_DATA[identity], finding.evidence


def test_published_figures_are_reported_as_they_are(dpbench: Path) -> None:
    (entry,) = chosen_claims(only=["permute-and-flip/section-6-median"])
    numbers = outcome(entry, data=dpbench).finding.numbers
    assert numbers["expected error of PF at ε = 0.01"] == "17.23; the paper: 13.7"
    assert numbers["EM error / PF error at ε = 0.01"] == "1.909; the paper: 1.93"


def test_data_that_is_missing_or_broken(tmp_path: Path) -> None:
    (entry,) = chosen_claims(only=["permute-and-flip/section-6-mode"])
    assert "--data FOLDER" in outcome(entry).finding.evidence
    absent = outcome(entry, data=tmp_path).finding
    assert absent.verdict == NOT_CHECKABLE
    assert "HEPTH" in absent.evidence
    (tmp_path / "HEPTH.n4096.npy").write_bytes(b"not an array")
    assert outcome(entry, data=tmp_path).finding.verdict == FAILED


def test_the_refutations_have_the_known_figures() -> None:
    numbers = outcome(*chosen_claims(only=["noisy-max/proposition-8"])).finding.numbers
    assert numbers["range at ε = 1"] == pytest.approx(1.66359, abs=1e-5)
    numbers = outcome(*chosen_claims(only=["noisy-max/corollary-10"])).finding.numbers
    assert numbers["divergence and ε²/8 at ε = 1"] == [0.32729, 0.125]
    finding = outcome(*chosen_claims(only=["exponential-randomized-response/theorem-1"])).finding
    assert finding.witness is not None
    least = {name: pair["real epsilon at least"] for name, pair in finding.witness.items()}
    assert least == {"chain": 1.7135, "interval": 1.7411, "prose": 1.4952, "Algorithm 3": 1.6645}
    for row in finding.numbers.values():
        assert row == sorted(row)
        assert row[2] > 21.6


def test_statements_are_sentences_in_plain_words() -> None:
    for entry in all_claims():
        assert entry.statement.endswith("."), entry.id
        assert not re.search(r"\\|\$|  ", entry.statement), entry.id
        assert len(entry.statement) < 400, entry.id


def test_a_check_that_breaks_is_reported() -> None:
    def broken(_scope: Scope) -> Finding:
        raise DiscreetError("the sky fell")

    result = outcome(Claim("discreet", "Nothing", "Nothing.", broken))
    assert result.finding.verdict == FAILED
    assert "the sky fell" in result.finding.evidence
    assert FAILED not in VERDICTS


def test_choosing() -> None:
    assert {entry.paper for entry in chosen_claims(papers=["opendp-proof"])} == {"opendp-proof"}
    assert [entry.id for entry in chosen_claims(only=["theorem-5"])] == ["noisy-max/theorem-5"]
    assert len(chosen_claims(only=["Lemma 2"])) == 3
    with pytest.raises(ParameterError, match="permute-and-flip"):
        chosen_claims(papers=["permute"])
    with pytest.raises(ParameterError, match="list"):
        chosen_claims(only=["lemma-99"])


# ---- claims about figures ----------------------------------------------------------------------------


@pytest.fixture
def small_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(drawing: Drawing) -> None:
        assert drawing.scope.quick
        drawing.statement("what holds", paper="yes", ours="yes", holds=True)
        drawing.number("what is printed", paper="4", ours=9.0)

    def without_solver(_drawing: Drawing) -> None:
        raise MissingExtraError("needs a solver")

    for name, function in (("pf-small", fill), ("pf-solver", without_solver)):
        monkeypatch.setitem(catalogue._FIGURES, name, Figure(name, "Small", (), (), function))


@pytest.mark.usefixtures("small_figures")
def test_a_value_that_differs_refutes_and_is_the_witness() -> None:
    found = judged(Scope(), "pf-small", evidence="it is so")
    assert found.verdict == REFUTED
    assert found.witness == {"what is printed": "9; the paper: 4"}
    assert found.numbers["what holds"] == "yes; the paper: yes"
    assert "pf-small" in found.covered


@pytest.mark.usefixtures("small_figures")
def test_only_what_the_claim_is_about_counts() -> None:
    found = judged(Scope(), "pf-small", about="holds", evidence="it is so")
    assert (found.verdict, found.evidence, found.witness) == (CONSISTENT, "it is so", None)
    assert judged(Scope(), "pf-small", about="holds", evidence="", holds=PROVED).verdict == PROVED


@pytest.mark.usefixtures("small_figures")
def test_a_missing_solver_or_missing_data_decides_nothing(tmp_path: Path) -> None:
    assert judged(Scope(), "pf-solver", evidence="").verdict == NOT_CHECKABLE
    assert "--data" in judged(Scope(), "pf-fig3a", evidence="").evidence
    assert "HEPTH" in judged(Scope(data=tmp_path), "pf-fig3a", evidence="").evidence
