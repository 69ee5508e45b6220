"""Check the proof that every answer names, by question, mechanism, method and relation, and in groups."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from discreet import AboveThreshold, PermuteAndFlip, PureDP, Scores
from discreet.guarantees import Guarantee, Proof
from discreet.guarantees.claims import CLAIMS, SCORES
from discreet.mechanisms import MECHANISMS, LargeGap
from discreet.questions import (
    Quantiles,
    TableRelease,
    bound,
    first_above,
    median,
    mode,
    quantile,
    quantiles,
    select_by,
    table,
    top_k,
)
from discreet.questions.read_back import release_from
from discreet.tuning import Fixed, Geometric, Poisson, cost_of_tuning
from tests.tools.theorems import PAGES

ROWS = pl.DataFrame(
    {
        "who": [*range(60), *range(20)],
        "code": ["a", "b", "b", "c"] * 20,
        "age": list(range(80)),
        "site": ["n", "s", "s", "w"] * 20,
    }
)
CODES: dict[str, Any] = {"column": "code", "candidates": ["a", "b", "c", "d", "e", "f"]}
AGES: dict[str, Any] = {"column": "age", "bounds": (0, 80)}
BY: dict[str, Any] = {"by": "site", "groups": ["n", "s", "w"]}
DELTA: dict[str, Any] = {"delta": "1e-6"}
ADDED, REPLACED = "counts_add_remove", "counts_replace"
ANSWER = "answer_pure_dp"
ROUNDS, FOUND = "unknown_domain_rounds_approx_dp", "found_groups_approx_dp"
THREE = [name for name in MECHANISMS if name != "large-gap" and MECHANISMS[name](epsilon=1).private]

Case = tuple[Callable[..., TableRelease], dict[str, Any], tuple[str, ...], tuple[str, ...]]
"""A question, its options, and the theorems that it names for add-remove and for replace."""


def both(*theorems: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the same theorems under both relations."""
    return theorems, theorems


CASES: dict[str, Case] = {
    "mode": (mode, CODES, *both("mode_pure_dp")),
    "median": (median, AGES, *both("quantile_pure_dp")),
    "quantile": (quantile, {**AGES, "at": "0.9"}, *both("quantile_pure_dp")),
    "a drawn value": (median, {**AGES, "per_person": "random"}, *both(ANSWER)),
    "several quantiles": (quantiles, {**AGES, "at": [0.25, 0.5, 0.75]}, *both(ANSWER)),
    "top 2": (top_k, {**CODES, "k": 2}, *both("top_k_one_shot_pure_dp")),
    "top 5": (top_k, {**CODES, "k": 5}, *both("top_k_joint_pure_dp")),
    "peeling": (top_k, {**CODES, "k": 2, "method": "peeling"}, *both(ANSWER)),
    "with a lead": (mode, {**CODES, "with_gap": True}, *both(ANSWER)),
    "with a count": (mode, {**CODES, "with_count": True}, *both(ANSWER)),
    "counts of all": (top_k, {**CODES, "k": 5, "with_count": True}, *both(ANSWER)),
    "with people": (median, {**AGES, "with_people": True}, *both(ANSWER)),
    "unknown domain": (mode, {"column": "code", **DELTA}, *both(ROUNDS)),
    "unknown domain, twice": (top_k, {"column": "code", "k": 2, **DELTA}, *both(ROUNDS)),
    "unknown domain with a count": (
        mode,
        {"column": "code", "with_count": True, **DELTA},
        *both("unknown_domain_then_approx_dp"),
    ),
    "first above": (
        first_above,
        {"column": "code", "groups": ["a", "b"], "above": 3},
        *both(ANSWER),
    ),
    "first above, with gaps and people": (
        first_above,
        {
            "column": "code",
            "groups": ["a", "b"],
            "above": 3,
            "crossings": 2,
            "with_gap": True,
            "with_people": True,
        },
        *both(ANSWER),
    ),
    "first above, Laplace noise": (
        first_above,
        {
            "column": "code",
            "groups": ["a", "b"],
            "above": 3,
            "mechanism": "above-threshold-laplace",
        },
        ("above_threshold_laplace_pure_dp", ADDED),
        ("above_threshold_laplace_pure_dp", REPLACED),
    ),
    "bound": (bound, {"column": "age"}, *both(ANSWER)),
    "large gap": (
        mode,
        {**CODES, "mechanism": LargeGap},
        ("large_gap_approx_dp", ADDED),
        ("large_gap_approx_dp", REPLACED),
    ),
    "large gap, a quantile": (
        median,
        {**AGES, "mechanism": LargeGap},
        ("large_gap_approx_dp", "quantiles_add_remove"),
        ("large_gap_approx_dp", "quantiles_replace"),
    ),
    "large gap, a drawn value": (
        median,
        {**AGES, "per_person": "random", "mechanism": LargeGap},
        ("large_gap_approx_dp", "quantiles_add_remove", "average_approx_dp"),
        ("large_gap_approx_dp", "quantiles_replace", "average_approx_dp"),
    ),
    "large gap, several quantiles": (
        quantiles,
        {**AGES, "at": [0.25, 0.75], "mechanism": LargeGap},
        (),
        (),
    ),
    # In groups.
    "a group each": (mode, {**CODES, **BY}, *both(ANSWER)),
    "all groups": (mode, {**CODES, **BY, "groups_per_person": 3}, *both(ANSWER)),
    "a quantile a group": (median, {**AGES, **BY}, *both(ANSWER)),
    "a lead a group": (mode, {**CODES, **BY, "with_gap": True}, *both(ANSWER)),
    "a count a group": (mode, {**CODES, **BY, "with_count": True}, *both(ANSWER)),
    "top 2 a group": (top_k, {**CODES, **BY, "k": 2}, *both(ANSWER)),
    "top 5 a group": (top_k, {**CODES, **BY, "k": 5}, *both(ANSWER)),
    "peeling a group": (top_k, {**CODES, **BY, "k": 2, "method": "peeling"}, *both(ANSWER)),
    "quantiles a group": (quantiles, {**AGES, **BY, "at": [0.25, 0.75]}, *both(ANSWER)),
    "bounds a group": (bound, {"column": "age", **BY}, *both(ANSWER)),
    "unknown domain a group": (mode, {"column": "code", **DELTA, **BY}, (), ()),
    "large gap a group": (mode, {**CODES, **BY, "mechanism": LargeGap}, (), ()),
    "found groups": (mode, {**CODES, **DELTA, "by": "site"}, *both(FOUND)),
    "found groups, all of it": (
        top_k,
        {**CODES, **DELTA, "by": "site", "k": 2, "with_count": True, "with_people": True},
        *both(FOUND),
    ),
    "found groups, large gap": (
        mode,
        {**CODES, **DELTA, "by": "site", "mechanism": LargeGap},
        (),
        (),
    ),
    "found groups, unknown domain": (mode, {"column": "code", **DELTA, "by": "site"}, (), ()),
    "found groups, weights": (
        mode,
        {**CODES, **DELTA, "by": "site", "groups_per_person": 50},
        (),
        (),
    ),
    "found groups, bounds": (bound, {"column": "age", **DELTA, "by": "site"}, *both(FOUND)),
    "a chosen bound, unknown domain": (
        mode,
        {"column": "code", **DELTA, **BY, "groups_per_person": "choose"},
        (),
        (),
    ),
    "a chosen bound": (mode, {**CODES, **BY, "groups_per_person": "choose"}, *both(ANSWER)),
    **{
        f"{question.__name__} by {name}{where}": (
            question,
            {**options, **groups, "mechanism": name},
            *both(*theorems),
        )
        for name in THREE
        for question, options, where, groups, theorems in (
            (mode, CODES, "", {}, ("mode_pure_dp",)),
            (median, AGES, "", {}, ("quantile_pure_dp",)),
            (mode, CODES, ", in groups", BY, (ANSWER,)),
            (median, AGES, ", in groups", BY, (ANSWER,)),
        )
    },
}


def proves(proof: Proof) -> None:
    """Return whether every page shown contains a named theorem, or proves the claim on paper."""
    by_hand = {page for claim in CLAIMS.values() for page in claim.pages}
    for page in proof.pages:
        cited = any(f"`{name}`" in PAGES[page] for name in proof.theorems)
        assert cited if proof.theorems else page in by_hand, page


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::discreet.questions.run.NeverMatchesWarning")
def test_an_answer_names_what_it_rests_on(case: str, relation: str) -> None:
    question, options, *named = CASES[case]
    release = question(ROWS, **options, epsilon=2, user="who", neighbours=relation)
    proof = release.guarantee.proof
    assert proof is not None
    assert proof.theorems == named[relation == "replace"]
    assert proof.checked == (len(proof.theorems) == 1)
    assert proof.assumes == ("the column who tells people apart",)
    proves(proof)
    again = release_from(release.as_data()).guarantee.proof
    assert again == proof


def test_a_row_each_is_another_statement() -> None:
    asked: dict[str, Any] = {**CODES, "epsilon": 2, "one_row_per_user": True}
    proof = mode(ROWS, **asked).guarantee.proof
    assert proof == CLAIMS["mode", "PureDP"].assuming("nobody has two rows")
    grouped = mode(ROWS, **asked, **BY).guarantee.proof
    assert grouped is not None
    assert grouped.theorems == (ANSWER,)
    counted = pl.DataFrame({"code": ["a", "b"], "people": [3, 4]})
    options: dict[str, Any] = {**CODES, "epsilon": 2, "counted": "people"}
    assert "nobody counts in two rows" in str(mode(counted, **options).guarantee.proof)
    # If everyone has one value, a replaced person moves the joint scores less far.
    joint = top_k(ROWS, **asked, k=5, neighbours="replace").guarantee.proof
    assert joint is not None
    assert joint.theorems == (ANSWER,)
    for counted_too in (False, True):
        kept = top_k(
            ROWS,
            "code",
            k=2,
            epsilon=2,
            one_row_per_user=True,
            with_count=counted_too,
            **DELTA,
        )
        assert kept.guarantee.proof is not None
        assert kept.guarantee.proof.theorems == (FOUND,)


def test_what_is_found_first_hides_no_page_of_the_question() -> None:
    """If no theorem covers both steps, the pages of both are shown."""
    release = mode(ROWS, **CODES, **DELTA, by="site", epsilon=2, user="who", mechanism=LargeGap)
    assert release.guarantee.proof is not None
    assert {"docs/proofs/large-gap.md", "docs/proofs/groups-from-the-data.md"} <= set(
        release.guarantee.proof.pages
    )


@pytest.mark.parametrize("options", [{}, {"per_person": "random"}, BY], ids=["", "drawn", "by"])
@pytest.mark.parametrize("at", [[0.5], [0.25, 0.75]], ids=["one", "two"])
def test_a_ledger_is_told_no_theorem_of_another_measure(options: Any, at: Any) -> None:
    """The charge is a separate promise; a theorem about ε proves neither its ρ nor its range."""
    asked = Quantiles(AGES["column"], bounds=AGES["bounds"], at=at, epsilon=1, **options)
    told = table(ROWS, user="who", ledger=None).plan(asked).event.guarantee
    assert not isinstance(told, PureDP)
    assert told.proof is None or ANSWER not in told.proof.theorems


def test_scores_of_ones_own_rest_on_what_was_stated() -> None:
    release = select_by(
        [1, 2], candidates=[1, 2], score=lambda data, of: data.count(of), sensitivity=1, epsilon=1
    )
    assert release.guarantee.proof == CLAIMS["permute-and-flip", "PureDP"].assuming(SCORES)


def test_a_mechanism_that_nobody_proved_labels_no_answer() -> None:
    class Other(PermuteAndFlip):
        __slots__ = ()

    for options in (CODES, {**CODES, **BY}, {**CODES, "with_count": True}):
        release = mode(ROWS, **options, epsilon=1, user="who", mechanism=Other)
        proof = release.guarantee.proof
        assert proof is None or "each guarantee that is added up holds" in proof.assumes
        assert release_from(release.as_data()).guarantee.proof == proof


def _other_guarantees() -> dict[str, Guarantee]:
    scores = Scores([3, 1], sensitivity=1)
    return {
        "a release": PermuteAndFlip(epsilon=1).release(scores).guarantee,
        "a stream": AboveThreshold(epsilon=1, threshold=5, sensitivity=1).guarantee(),
        **{
            f"tuning, {type(runs).__name__}": cost_of_tuning(
                PermuteAndFlip(epsilon=1).guarantee(scores), runs=runs
            )
            for runs in (Geometric(mean=5), Poisson(mean=5), Fixed(5))
        },
    }


@pytest.mark.parametrize("what", _other_guarantees())
def test_whatever_else_promises_says_what_it_rests_on(what: str) -> None:
    proof = _other_guarantees()[what].proof
    assert proof is not None
    proves(proof)
    named = {
        "a release": ("permute_and_flip_pure_dp",),
        "a stream": ("above_threshold_pure_dp",),
        "tuning, Geometric": ("tuning_halting_pure_dp",),
        "tuning, Poisson": ("tuning_poisson_pure_dp",),
        "tuning, Fixed": ("tuning_fixed_pure_dp",),
    }
    assert proof.theorems == named[what]


def test_a_tie_to_another_mechanism_would_be_seen() -> None:
    """A planted defect: another law is registered as one of the three, and the labels must show it."""
    scores = Scores([3, 1], sensitivity=1)
    for first, second in itertools.permutations(THREE, 2):
        one, other = (MECHANISMS[name](epsilon=1) for name in (first, second))
        same = one.facts.law is other.facts.law
        proofs = one.guarantee(scores, PureDP).proof, other.guarantee(scores, PureDP).proof
        assert (proofs[0] == proofs[1]) == same
