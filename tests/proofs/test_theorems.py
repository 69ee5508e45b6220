"""Every reported guarantee names a theorem that is stated, or says that it is proved on paper."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from discreet import ZCDP, ApproxDP, BoundedRange, PermuteAndFlip, PureDP, Scores
from discreet.audit import audit
from discreet.guarantees import FlippedCoins, LaplaceDominated, Proof
from discreet.guarantees.conversions import STEPS
from discreet.lazy import LazyPermuteAndFlip
from discreet.mechanisms import MECHANISMS, STREAMS
from discreet.mechanisms.mechanism import facts_of

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "proofs"
STATEMENTS = (PROOFS / "Statements.v").read_text(encoding="utf-8")
PRIVATE = [name for name in MECHANISMS if MECHANISMS[name](epsilon=1).private]


def _loaded(path: Path) -> ModuleType:
    described = importlib.util.spec_from_file_location(path.stem, path)
    assert described is not None
    assert described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


CHECK = _loaded(PROOFS / "check.py")
PICTURE = _loaded(ROOT / "docs" / "_extensions" / "proof_picture.py")
THEOREMS = PICTURE.statements()


def _read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_every_theorem_is_cited_on_its_page() -> None:
    missing = {
        name: page for name, page in THEOREMS.items() if not page or f"`{name}`" not in _read(page)
    }
    assert not missing


def test_what_coq_printed_is_what_is_stated() -> None:
    agreed = (PROOFS / "checked.txt").read_text(encoding="utf-8")
    printed = re.findall(r"^Statements\.(\w+)$", agreed.partition("DEFINITIONS")[0], re.M)
    assert printed == list(THEOREMS)


def test_nothing_that_calls_itself_checked_is_unknown() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        for sentence in re.findall(r"Checked by Coq[^\n]*", page.read_text(encoding="utf-8")):
            for name in re.findall(r"`([a-z]\w*_\w+)`", sentence):
                assert name in THEOREMS, f"{page.name}: {name}"


def _known(proof: Proof) -> None:
    for page in proof.pages:
        assert (ROOT / page).is_file()
    for theorem in proof.theorems:
        assert theorem in THEOREMS, theorem
        assert THEOREMS[theorem] in proof.pages or f"`{theorem}`" in "".join(
            map(_read, proof.pages)
        )
    assert ("checked by Coq" in str(proof)) != ("proved on paper" in str(proof))


def test_every_step_names_a_page_and_a_theorem_or_is_on_paper() -> None:
    for proof in STEPS.values():
        _known(proof)
    kinds = ("PureDP", "BoundedRange", "LaplaceDominated", "FlippedCoins", "ZCDP", "ApproxDP")
    assert {(kind, "people") for kind in kinds} <= set(STEPS)


@pytest.mark.parametrize("name", PRIVATE)
def test_every_guarantee_of_a_mechanism_says_what_it_rests_on(name: str) -> None:
    mechanism = MECHANISMS[name](epsilon=1)
    facts = facts_of(mechanism)
    assert facts is not None
    for measure in facts.theorems:
        assert facts.theorems[measure], "no theorem: leave the measure out"
        # A theorem may stand on another page of the mechanism than the one that is named first.
        assert set(facts.theorems[measure]) <= set(THEOREMS)
    scores = Scores([3, 1], sensitivity=1)
    promise = mechanism.promise_at(scores.range_distance)
    for reported in (
        promise,
        promise.for_people(3),
        *(mechanism.guarantee(scores, measure) for measure in (PureDP, BoundedRange, ZCDP)),
        mechanism.guarantee(scores, ApproxDP, delta="1e-6"),
        mechanism.guarantee(scores, ApproxDP, delta="1e-6").for_people(2),
    ):
        assert reported.proof is not None or "inf" in repr(reported), repr(reported)


def test_the_main_promises_are_checked_and_the_exact_rho_is_on_paper() -> None:
    scores = Scores([3, 1], sensitivity=1)
    for name in PRIVATE:
        mechanism = MECHANISMS[name](epsilon=1)
        if name == "large-gap":
            own = mechanism.promise_at(scores.range_distance).proof
            assert own is not None
            assert own.checked
        else:
            for measure in (PureDP, BoundedRange, ApproxDP):
                proof = mechanism.guarantee(scores, measure).proof
                assert proof is not None
                assert proof.checked, (name, measure)
            on_paper = mechanism.guarantee(scores, ZCDP).proof
            assert on_paper is not None
            assert not on_paper.checked
    lazy = LazyPermuteAndFlip(epsilon=1, bound=0, sensitivity=1).guarantee(PureDP).proof
    assert lazy is not None
    assert lazy.checked


def test_one_step_on_paper_puts_the_whole_on_paper() -> None:
    first = Proof("docs/proofs/exponential.md", "exponential_pure_dp")
    assert first.then(Proof("docs/proofs/conversions.md", "pure_to_approx")).checked
    assert not first.then(Proof("docs/proofs/concentrated.md")).checked
    assert not Proof("docs/proofs/concentrated.md").then(first).checked


def test_a_promise_that_nobody_proved_says_nothing() -> None:
    assert PureDP(1).proof is None
    assert PureDP(1).to(ZCDP).proof is None
    assert FlippedCoins(1).for_people(2).proof is None

    class Other(PermuteAndFlip):
        __slots__ = ()

    assert Other(epsilon=1).guarantee(Scores([1, 0], sensitivity=1)).proof is None


def test_an_audit_shows_which_of_the_two_it_is() -> None:
    checked = audit(PermuteAndFlip(epsilon=1), PureDP(1), n=2, starts=1)
    assert (
        checked.proof == "docs/proofs/permute-and-flip.md: permute_and_flip_pure_dp, checked by Coq"
    )
    assert "checked by Coq" in str(checked)
    paper = audit(PermuteAndFlip(epsilon=1), ZCDP(1), n=2, starts=1)
    assert "proved on paper" in str(paper)
    dominated = audit(PermuteAndFlip(epsilon=1), LaplaceDominated(1), n=2, starts=1)
    assert "permute_and_flip_dominated" in str(dominated)


@pytest.mark.parametrize(
    "planted",
    [
        "Theorem gap : 1 = 2. Proof. Admitted.",
        "Lemma gap : 1 = 2. Proof. admit. Qed.",
        "Axiom more : forall x : R, 0 <= x.",
        "Parameter more : R.",
        "Hypothesis free : 0 < 1.",
        "Variables (x y : R).",
        "Context (x : R).",
        "#[local] Hypothesis free : 0 < 1.",
        "Unset Guard Checking.",
        "Section A. End A.\nVariable x : R.",
        "Section A.\nEnd A.\n  Hypotheses (h : 0 < 1).",
    ],
)
def test_a_gap_in_a_source_is_caught(planted: str) -> None:
    assert list(CHECK.faults("Planted.v", planted))


def test_what_is_meant_passes() -> None:
    fine = "(* Axiom, Admitted (* nested *) *)\nSection A.\nVariable x : R.\nHypothesis h : 0 < x.\nEnd A.\n"
    assert not list(CHECK.faults("Fine.v", fine))
    for name in CHECK.sources():
        assert not list(CHECK.faults(name, (PROOFS / name).read_text(encoding="utf-8")))


def test_an_extra_axiom_is_caught() -> None:
    printed = "Axioms:\n" + "".join(f"{name} : True\n" for name in sorted(CHECK.AXIOMS))
    assert CHECK.axioms_in(printed) == CHECK.AXIOMS
    assert CHECK.axioms_in(printed + "Statements.more : False\n  : Prop\n") != CHECK.AXIOMS


def test_the_picture_is_that_of_the_theorems() -> None:
    assert PICTURE.PICTURE.read_text(encoding="utf-8") == PICTURE.picture(), "make pages"


def test_the_arrows_are_what_the_proofs_use() -> None:
    found = PICTURE.arrows()
    assert {name for arrow in found for name in arrow} <= set(THEOREMS)
    for arrow in (
        ("permute_and_flip_pure_dp", "permute_and_flip_dominated"),
        ("permute_and_flip_dominated", "permute_and_flip_approx_dp"),
        ("adaptive_pure_composition", "peeling_pure_dp"),
        ("counts_replace", "mode_pure_dp"),
        ("exponential_bounded_range", "exponential_pure_dp"),
    ):
        assert arrow in found
        assert arrow[::-1] not in found
    # It follows from the first two, so it is not drawn.
    assert ("permute_and_flip_pure_dp", "permute_and_flip_approx_dp") not in found


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("measure", [PureDP, BoundedRange, ZCDP])
def test_a_stream_says_what_its_guarantee_rests_on(name: str, measure: Any) -> None:
    proof = STREAMS[name](epsilon=1, threshold=0, sensitivity=1).guarantee(measure).proof
    assert proof is not None
    _known(proof)
    assert proof.checked == (measure is not ZCDP)
