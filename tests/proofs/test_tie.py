"""A claim names the right theorem, and a wrong name or a changed statement is caught.

The planted defects are plausible mistakes: in the code's table, in Coq's output, in a source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from discreet._exact.distribution import exponential, noisy_max_laplace, permute_and_flip
from discreet.guarantees import Proof
from discreet.guarantees.claims import ADDED_UP, CLAIMS, KEYED
from discreet.mechanisms import MECHANISMS
from discreet.mechanisms.mechanism import facts_of
from tests.proofs.tie import DEMANDS, Claim, faults, printed
from tests.tools.theorems import CHECK, PAGES, PROOFS, THEOREMS

CHECKED = (PROOFS / "checked.txt").read_text(encoding="utf-8")
SOURCES = CHECK.read_sources()
CITING = {page: text + " ".join(f"`{name}`" for name in THEOREMS) for page, text in PAGES.items()}
"""Pages that cite everything, so that a wrong name is caught only by its statement."""


def found(
    claims: Mapping[Claim, Proof] = CLAIMS,
    checked: str = CHECKED,
    pages: Mapping[str, str] = PAGES,
) -> list[str]:
    """Return everything that is wrong with a table and Coq's output."""
    return list(faults(claims, checked, pages))


def test_every_claim_names_the_theorem_that_it_needs() -> None:
    assert not found()


def test_coq_has_read_these_very_sources() -> None:
    agreed = CHECKED.split()[1]
    assert CHECK.digest(SOURCES) == agreed, "a source has changed: make -C proofs accept"


def test_every_demand_is_that_of_a_claim() -> None:
    """A requirement without a claim would be about a theorem that the code no longer names."""
    unused = {claim for claim in DEMANDS if not CLAIMS.get(claim, Proof("")).theorems}
    of_no_mechanism = {
        *((law, "FlippedCoins") for law in ("exponential", "noisy-max-laplace")),
        *((law, "LaplaceDominated") for law in ("permute-and-flip", "exponential")),
        ("FlippedCoins", "BoundedRange"),
    }
    assert unused == of_no_mechanism


LAWS = {
    "permute-and-flip": permute_and_flip,
    "exponential": exponential,
    "noisy-max-laplace": noisy_max_laplace,
    "large-gap": None,
    "": None,
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_is_checked_as_the_law_that_it_has(name: str) -> None:
    mechanism = MECHANISMS[name](epsilon=1)
    facts = facts_of(mechanism)
    assert facts is not None
    assert facts.law is LAWS[facts.checked_as]
    assert (facts.checked_as == "large-gap") == (name == "large-gap")
    assert bool(facts.checked_as) == mechanism.private


# ---- planted defects
# ----------------------------------------------------------------------------------------------

TIED: dict[str, tuple[Claim, str]] = {
    # The first nine once went unnoticed, or resemble ones that did.
    "a range tied to a tail": (("exponential", "BoundedRange"), "noisy_count_tail"),
    "another law of the number of runs": (("halting runs", "PureDP"), "tuning_poisson_pure_dp"),
    "the best run by the first to reach a target": (
        ("halting runs", "PureDP"),
        "tuning_target_pure_dp",
    ),
    "the ρ of votes by their ε": (("votes", "ZCDP"), "votes_pure_dp"),
    "a count of named values by the rounds": (
        ("unknown domain", "then"),
        "unknown_domain_rounds_approx_dp",
    ),
    "a sum tied to parallel composition": (("PureDP", "sum"), "parallel_composition"),
    "another law": (("permute-and-flip", "PureDP"), "exponential_pure_dp"),
    "a law for counts only": (
        ("permute-and-flip", "BoundedRange"),
        "permute_and_flip_bounded_range_counts",
    ),
    "another measure": (("LaplaceDominated", "people"), "pure_for_people"),
    "another relation": (("counts", "replace"), "counts_add_remove"),
    "another mechanism": (("large-gap", "ApproxDP"), "permute_and_flip_approx_dp"),
    "that it is a law": (("noisy-max-laplace", "PureDP"), "laplace_noisy_max_is_law"),
    # The following are new.
    "another conversion": (("PureDP", "ApproxDP"), "bounded_range_to_approx"),
    "the conversion the other way": (("PureDP", "BoundedRange"), "bounded_range_to_pure"),
    "another question": (("mode", "PureDP"), "quantile_pure_dp"),
    "all of an answer by the theorem for one choice": (("answer", "PureDP"), "mode_pure_dp"),
    "groups that were found by those that were listed": (("kept", "ApproxDP"), "answer_pure_dp"),
    "all rounds by the theorem for one": (
        ("unknown domain", "ApproxDP"),
        "unknown_domain_approx_dp",
    ),
    "a δ under hidden coins by pure ε": (("hidden coins", "ApproxDP"), "average_pure_dp"),
    "Laplace noise by exponential noise": (
        ("above-threshold-laplace", "PureDP"),
        "above_threshold_pure_dp",
    ),
    "a refutation": (("permute-and-flip", "FlippedCoins"), "published_bounded_range_false"),
    "a bound below": (("permute-and-flip", "ApproxDP"), "approx_dp_exact"),
    "what is on paper": (("several quantiles", "steps"), "recursive_quantiles_pure_dp"),
    "a larger ρ": (("PureDP", "ZCDP"), "pure_to_zcdp"),
    "the ρ of another measure": (("BoundedRange", "ZCDP"), "pure_to_zcdp_exact"),
    "a ρ under hidden coins by one range": (
        ("AveragedRange", "ZCDP"),
        "bounded_range_to_zcdp_exact",
    ),
    "the ρ of dominance by that of a range": (
        ("LaplaceDominated", "ZCDP"),
        "bounded_range_to_zcdp_exact",
    ),
    "the ρ of a stream by its ε": (
        ("above-threshold-exponential", "ZCDP"),
        "above_threshold_pure_dp",
    ),
    "the ρ of an answer by its ε": (("answer", "ZCDP"), "answer_pure_dp"),
    "a name that nobody stated": (("exponential", "PureDP"), "exponential_pure_db"),
    "a curve in place of a figure": (("ApproxDP", "ApproxDP"), "approx_curve"),
    "weaker composition": (("ApproxDP", "sum"), "adaptive_pure_composition"),
}


@pytest.mark.parametrize("plant", TIED)
def test_a_wrong_name_is_caught(plant: str) -> None:
    claim, theorem = TIED[plant]
    assert claim in CLAIMS
    assert found({**CLAIMS, claim: Proof(CLAIMS[claim].pages, theorem)}, pages=CITING)


def test_what_is_taken_on_trust_is_said() -> None:
    assert {claim: proof.assumes for claim, proof in CLAIMS.items() if proof.assumes} == {
        ("cluster", "PureDP"): (KEYED,),
        ("ledger", "sum"): (ADDED_UP,),
    }


def test_a_page_that_does_not_hold_the_proof_is_caught() -> None:
    for claim, theorem in ((("mode", "PureDP"), ["mode_pure_dp"]), (("cluster", "PureDP"), [])):
        assert found({**CLAIMS, claim: Proof("docs/proofs/sampling.md", *theorem)})
    assert found({**CLAIMS, ("a new", "claim"): Proof("docs/proofs/sampling.md")})


HYPOTHESIS = r"\1q = q' ->\n       "
PRINTED = {
    "a hypothesis": (
        "permute_and_flip_pure_dp",
        r"(Mechanism\.range_distance n q q' d ->\n\s+)",
        HYPOTHESIS,
    ),
    "a hypothesis of a conversion": (
        "pure_to_approx",
        r"(0 <= delta ->\n\s+)",
        r"\g<1>0 < exp eps - delta * (1 + exp eps) ->\n       ",
    ),
    "strictly positive laws": (
        "approx_to_approx",
        r"Measures\.is_law_over",
        "Measures.is_positive",
    ),
    "two candidates at least": ("large_gap_approx_dp", r"\(0 < n\)%nat", "(1 < n)%nat"),
    "a larger cost": ("exponential_pure_dp", r"\(d / s\)", "(2 * d / s)"),
    "another predicate": (
        "exponential_bounded_range",
        r"Privacy\.bounded_range",
        "Privacy.pure_dp",
    ),
    "one law of three": (
        "mode_pure_dp",
        r"In choose Selections\.selections",
        "choose = Mechanism.pf",
    ),
    "one relation of two": (
        "quantile_pure_dp",
        r"\(People\.replace t t' ->",
        "(People.add_remove t t' ->",
    ),
    "other scores": ("mode_pure_dp", r"people_with has t0", "people_with has t"),
    "one value each": ("unknown_domain_rounds_approx_dp", r"<= m\)%nat", "<= 1)%nat"),
    "a set of one answer": ("answer_pure_dp", r"sum answers \(law t\)", "law t a"),
}


@pytest.mark.parametrize("plant", PRINTED)
def test_a_changed_statement_is_caught(plant: str) -> None:
    name, old, new = PRINTED[plant]
    before = printed(CHECKED)[0][name]
    after = re.sub(old, new, before)
    assert after != before
    assert found(checked=CHECKED.replace(before, after))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "forall S : nat -> bool, Mechanism.event",
            "forall S : nat -> bool, 0 = 1 -> Mechanism.event",
        ),
        ("Mechanism.pf :: Mechanism.em ::", "Mechanism.em :: Mechanism.em ::"),
        ("People.rows t' p <> nil /\\", "True /\\"),
        # A false constructor of releases, one that costs too little, and one about another law.
        ("  | silence : ", "  | lie : forall law, Answers.release unit law 0 0\n  | silence : "),
        ("(INR m * eps) (2 * (INR m * eps))", "(INR m * eps) (INR m * eps)"),
        ("Answers.release nat (Answers.chosen choose s n q)", "Answers.release nat (fun _ _ => 0)"),
        ("z - Z.of_nat (Answers.number_with which t)", "z"),
        # ρ without its orders, for a release that contains a person twice, and for chances that do not add
        # up.
        ("exp (order * (order - 1) * rho)", "exp (order * order * rho)"),
        ("(INR m * Rmax (2 * rho) rho')", "(INR m * rho)"),
        ("Wholes.whole A law eps eps' ->", "Answers.release A law eps eps' ->"),
        # Ties that the first run wins, a known number of runs, and one vote too many.
        ("/ INR (S j) * psi (Some (x, S j))", "0 * psi (Some (x, S j))"),
        ("w 0%nat = 0 /\\", "w 1%nat = 1 /\\"),
        ("| Some r => r <? n", "| Some r => true"),
    ],
)
def test_a_changed_definition_is_caught(old: str, new: str) -> None:
    assert old in CHECKED
    assert found(checked=CHECKED.replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (
            "Statements.v",
            "Theorem permute_and_flip_pure_dp q q' d :\n",
            "Theorem permute_and_flip_pure_dp q q' d : q = q' ->\n",
        ),
        ("Privacy.v", "forall S, event n S p", "forall S, 0 = 1 -> event n S p"),
        ("Walk.v", "Qed.", "Admitted."),
        ("Common.v", "Open Scope R_scope.", 'Open Scope R_scope. Axiom more : "(*" = "*)".'),
    ],
)
def test_a_changed_source_is_caught_without_coq(file: str, old: str, new: str) -> None:
    """Only Coq can decide whether the change is sound, so it must read the sources again."""
    place = CHECK.sources().index(file)
    assert old in SOURCES[place]
    planted = [*SOURCES[:place], SOURCES[place].replace(old, new), *SOURCES[place + 1 :]]
    assert CHECK.digest(planted) != CHECKED.split()[1]
