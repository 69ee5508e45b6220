"""Every theorem is on its page, and every guarantee names its proof."""

from __future__ import annotations

import pickle
import re
from typing import Any

import polars
import pytest

from discreet import ZCDP, ApproxDP, BoundedRange, PermuteAndFlip, PureDP, Scores, table
from discreet.accounting import Event, compose
from discreet.audit import audit
from discreet.guarantees import FlippedCoins, LaplaceDominated, Proof
from discreet.guarantees.claims import CLAIMS
from discreet.lazy import LazyPermuteAndFlip
from discreet.mechanisms import MECHANISMS, STREAMS, LargeGap, NoisyMax
from discreet.questions.question import KINDS
from tests.tools.theorems import CHECK, PAGES, PICTURE, PROOFS, ROOT, THEOREMS

PRIVATE = [name for name in MECHANISMS if MECHANISMS[name](epsilon=1).private]
SCORES = Scores([3, 1], sensitivity=1)


# ---- pages, statements, Coq's print ------------------------------------------------------------------------


def test_every_theorem_is_cited_on_its_page() -> None:
    missing = {
        name: page for name, page in THEOREMS.items() if not page or f"`{name}`" not in PAGES[page]
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


def test_the_site_shows_no_label_of_another_time() -> None:
    """Printed output is recorded, and could become outdated when the code changes."""
    recorded = (ROOT / "docs" / "_extensions" / "outputs.json").read_text(encoding="utf-8")
    for pages, said in re.findall(r"(docs/proofs/[^:]+): ([\w, ]*?), checked by Coq", recorded):
        assert said in THEOREMS, f"{pages}: {said}"


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_says_relies_on_it_exists(page: str) -> None:
    for name in re.findall(r"`discreet((?:\.\w+)+)`", PAGES[page]):
        place, rest = ROOT / "src" / "discreet", name.split(".")[1:]
        while rest and (place / rest[0]).is_dir():
            place = place / rest.pop(0)
        module = (
            place / f"{rest.pop(0)}.py" if rest and (place / f"{rest[0]}.py").exists() else None
        )
        text = (module or place / "__init__.py").read_text(encoding="utf-8")
        assert all(re.search(rf"\b{each}\b", text) for each in rest), name
    for path in re.findall(r"`((?:tests|proofs|benchmarks)/[\w/.]+\.\w+)`", PAGES[page]):
        assert (ROOT / path).exists(), path


def test_an_extra_axiom_is_caught() -> None:
    printed = "Axioms:\n" + "".join(f"{name} : True\n" for name in sorted(CHECK.AXIOMS))
    assert CHECK.axioms_in(printed) == CHECK.AXIOMS
    assert CHECK.axioms_in(printed + "Statements.more : False\n  : Prop\n") != CHECK.AXIOMS
    for unsafe in (
        "x is assumed to be guarded.\n",
        "Constants/Inductives relying on type-in-type:\n",
    ):
        with pytest.raises(SystemExit):
            CHECK.axioms_in(unsafe + printed)


def test_the_picture_is_that_of_the_theorems() -> None:
    assert PICTURE.PICTURE.read_text(encoding="utf-8") == PICTURE.picture(), "make pages"


def test_the_page_lists_what_the_code_claims() -> None:
    assert PICTURE.PAGE.read_text(encoding="utf-8") == PICTURE.page(), "make pages"


def test_one_theorem_covers_each_default_answer() -> None:
    listed = list(PICTURE.DEFAULTS["proofs"]())
    assert [words for words, _, proof in listed if not proof.checked] == []
    assert {measure for _, measure, _ in listed} == {"PureDP", "ApproxDP", "ZCDP"}


def test_each_question_explains_its_price_with_the_theorem_that_its_answer_names() -> None:
    rows = polars.DataFrame({"person": [1], "code": ["a"], "age": [30], "site": ["north"]})
    visits = table(rows, ledger=None, user="person")
    for words, question, _ in PICTURE.DEFAULTS["asked"]():
        prices = [
            paragraph
            for each in type(question).__mro__
            for paragraph in (vars(each).get("__doc__") or "").split("\n\n")
            if paragraph.strip().startswith("Price")
        ]
        proof = visits.plan(question).proof
        assert proof is not None
        for theorem in proof.theorems:
            assert any(f"``{theorem}``" in price for price in prices), (words, theorem)


def test_every_kind_of_question_is_among_the_default_answers() -> None:
    asked = {question.kind for _, question, _ in PICTURE.DEFAULTS["asked"]()}
    found_first = {"groups", "groups_per_person", "then"}
    assert asked == set(KINDS) - found_first - {
        "select_by"
    }  # which is a choice among the user's own scores


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
        assert arrow in found, arrow
        assert arrow[::-1] not in found
    # It follows from the first two, so it is not drawn.
    assert ("permute_and_flip_pure_dp", "permute_and_flip_approx_dp") not in found


# ---- what a guarantee says ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRIVATE)
def test_every_guarantee_of_a_mechanism_says_what_it_rests_on(name: str) -> None:
    mechanism = MECHANISMS[name](epsilon=1)
    promise = mechanism.promise_at(SCORES.range_distance)
    for reported in (
        promise,
        promise.for_people(3),
        *(mechanism.guarantee(SCORES, measure) for measure in (PureDP, BoundedRange, ZCDP)),
        mechanism.guarantee(SCORES, ApproxDP, delta="1e-6"),
        mechanism.guarantee(SCORES, ApproxDP, delta="1e-6").for_people(2),
    ):
        # An empty promise names no proof.
        assert (reported.proof is None) == ("inf" in repr(reported)), repr(reported)
        if reported.proof is not None:
            assert "no person moves two scores" in str(reported.proof)


@pytest.mark.parametrize("name", PRIVATE)
def test_one_theorem_covers_each_main_promise_but_the_rho_of_laplace_noise(name: str) -> None:
    mechanism = MECHANISMS[name](epsilon=1)
    own = mechanism.promise_at(SCORES.range_distance).proof
    assert own is not None
    assert own.checked
    if name != "large-gap":
        for measure in (PureDP, BoundedRange, ApproxDP):
            proof = mechanism.guarantee(
                SCORES, measure, "1e-6" if measure is ApproxDP else None
            ).proof
            assert proof is not None
            assert proof.checked, (name, measure)
        in_rho = mechanism.guarantee(SCORES, ZCDP).proof
        assert in_rho is not None
        assert "docs/proofs/concentrated.md" in in_rho.pages
        assert in_rho.checked == (name != "noisy-max-laplace")


def test_a_large_gap_at_another_delta_is_not_what_its_theorem_is_about() -> None:
    mechanism = LargeGap(epsilon=1, delta="1e-6")
    own = mechanism.guarantee(SCORES, ApproxDP, delta="1e-6").proof
    other = mechanism.guarantee(SCORES, ApproxDP, delta="1e-3").proof
    assert own is not None
    assert other is not None
    assert own.theorems == ("large_gap_approx_dp",)
    assert other.theorems == ("large_gap_approx_dp", "approx_to_approx")
    assert not other.checked
    assert str(other).startswith("docs/proofs/large-gap.md, docs/proofs/conversions.md: ")
    assert "each checked by Coq, put together on paper" in str(other)
    # If no score moves, ε is zero, but the theorem requires a positive ε.
    still = LargeGap(scale=1).promise_at(SCORES.range_distance * 0).proof
    assert still is not None
    assert not still.theorems


def test_lazy_evaluation_is_put_together() -> None:
    proof = LazyPermuteAndFlip(epsilon=1, bound=0, sensitivity=1).guarantee(PureDP).proof
    assert proof is not None
    assert proof.theorems == ("permute_and_flip_pure_dp", "lazy_coins", "lazy_range_distance")


def test_one_step_on_paper_puts_the_whole_on_paper() -> None:
    first = CLAIMS["exponential", "PureDP"]
    both = first.then(CLAIMS["PureDP", "ApproxDP"])
    assert both.theorems == ("exponential_pure_dp", "pure_to_approx")
    assert not both.checked
    assert not first.then(CLAIMS["ZCDP", "people"]).theorems
    assert not CLAIMS["ZCDP", "people"].then(first).theorems


def test_for_one_person_nothing_more_is_needed() -> None:
    for name in PRIVATE:
        promise = MECHANISMS[name](epsilon=1).promise_at(SCORES.range_distance)
        for stated in (promise, promise.to(ApproxDP, delta="1e-3"), promise.to(ZCDP)):
            assert stated.for_people(1).proof == stated.proof
            if stated.proof is not None:
                assert stated.for_people(2).proof != stated.proof


def test_a_promise_that_nobody_proved_says_nothing() -> None:
    assert PureDP(1).proof is None
    assert PureDP(1).to(ZCDP).proof is None
    assert FlippedCoins(1).for_people(2).proof is None

    class Other(PermuteAndFlip):
        __slots__ = ()

    assert Other(epsilon=1).guarantee(SCORES).proof is None
    assert PermuteAndFlip(scale=0).guarantee(SCORES).proof is None
    assert PermuteAndFlip(epsilon=1).guarantee(SCORES, ApproxDP, delta=1).proof is None


@pytest.mark.parametrize("name", PRIVATE)
def test_a_pickled_guarantee_keeps_its_proof(name: str) -> None:
    promise = MECHANISMS[name](epsilon=1).promise_at(SCORES.range_distance)
    again = pickle.loads(pickle.dumps(promise))  # noqa: S301 - our own bytes
    assert again == promise
    assert again.proof == promise.proof
    assert again.to(ApproxDP, delta="1e-3").proof == promise.to(ApproxDP, delta="1e-3").proof


def test_a_sum_rests_on_its_parts_and_on_composition() -> None:
    proved = PermuteAndFlip(epsilon=1).guarantee(SCORES)
    total = compose([proved, Event((PermuteAndFlip(epsilon=1)).promise_at(SCORES.range_distance))])
    assert total.pure.proof is not None
    assert total.pure.proof.theorems == ("permute_and_flip_pure_dp", "adaptive_pure_composition")
    assert total.best.proof == total.pure.proof
    assert total.zcdp.proof is not None
    assert total.zcdp.proof.theorems == (
        *("permute_and_flip_pure_dp", "pure_to_zcdp_exact"),
        *("permute_and_flip_zcdp", "adaptive_zcdp_composition"),
    )
    assert "docs/proofs/composition.md" in total.zcdp.proof.pages
    # Equal figures with and without a proof are different guarantees.
    mixed = compose([proved, PureDP(1)]).pure.proof
    assert mixed is not None
    assert "each guarantee that is added up holds" in mixed.assumes
    claimed = compose([PureDP("0.1"), PureDP("0.2")], delta="1e-6")
    assert claimed.pure.proof == CLAIMS["PureDP", "sum"].assuming(
        "each guarantee that is added up holds"
    )
    assert compose([proved]).pure.proof == proved.proof
    listed = compose([Event(proved, count=100)], False, delta="1e-6").approx.proof
    assert listed is not None
    assert not listed.theorems


def test_an_audit_shows_which_of_the_two_it_is() -> None:
    checked = audit(PermuteAndFlip(epsilon=1), PureDP(1), n=2, effort="quick")
    assert checked.proof is not None
    said = "docs/proofs/permute-and-flip.md: permute_and_flip_pure_dp, checked by Coq; assumes that"
    assert checked.proof.startswith(said)
    assert checked.proof in str(checked)
    assert checked.as_dict()["proof"] == checked.proof
    steps = audit(NoisyMax(epsilon=1, noise="laplace"), ZCDP(1), n=2, effort="quick")
    assert "each checked by Coq, put together on paper; assumes that" in " ".join(
        str(steps).split()
    )
    dominated = audit(PermuteAndFlip(epsilon=1), LaplaceDominated(1), n=2, effort="quick")
    assert "permute_and_flip_flipped_coins" in str(dominated)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("measure", [PureDP, BoundedRange, ApproxDP, ZCDP])
def test_a_stream_says_what_its_guarantee_rests_on(name: str, measure: Any) -> None:
    rule = STREAMS[name](epsilon=1, threshold=0, sensitivity=1)
    proof: Proof | None = rule.guarantee(measure, "1e-6" if measure is ApproxDP else None).proof
    assert proof is not None
    in_rho = measure is ZCDP and rule.noise == "exponential"
    assert proof.checked == (measure is PureDP or in_rho)
    own = f"above_threshold_{'laplace_' if rule.noise == 'laplace' else ''}pure_dp"
    own = "above_threshold_zcdp" if in_rho else own
    assert proof.theorems[0] == own
    assert any("no person moves a value" in assumed for assumed in proof.assumes)
