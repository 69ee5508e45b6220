"""The table that links each claim to its page of ``docs/proofs`` and to any theorems that Coq has checked.

``tests/proofs/test_tie.py`` compares the table with Coq's own printout of every theorem named here. Each
theorem must state the law, the measure and the neighbour relation of its claim, and may assume no more than
the code establishes. This checks the mathematics, not the code (``docs/proofs/checked-by-coq.md``).
"""

from __future__ import annotations

from discreet.guarantees.conversions import Proof

SCORES = "no person moves two scores further apart than was stated"
VALUES = "no person moves a value further than was stated"
ADDED_UP = "each guarantee that is added up holds"
RUNS = "each run costs what was stated, and no run sees anything of another"
KEYED = (
    "noise that is a keyed function cannot be told from independent noise without the key, which is a "
    "computational assumption"
)

_DOMINANCE = "docs/proofs/laplace-dominance.md"
_REFUTED = "docs/proofs/bounded-range-refuted.md"
_CONVERSIONS = "docs/proofs/conversions.md"
_CONCENTRATED = "docs/proofs/concentrated.md"
_NEIGHBOURS = "docs/proofs/neighbours.md"
_COMPOSITION = "docs/proofs/composition.md"
_QUESTIONS = "docs/proofs/question-sensitivities.md"
_TOP_K = "docs/proofs/top-k.md"
_VOTES = "docs/proofs/votes.md"
_TUNING = "docs/proofs/tuning.md"

CLAIMS: dict[tuple[str, str], Proof] = {
    # ---- what one selection promises, by its law and its measure ----
    ("permute-and-flip", "FlippedCoins"): Proof(
        (_DOMINANCE, _REFUTED), "permute_and_flip_flipped_coins"
    ),
    ("permute-and-flip", "PureDP"): Proof(
        "docs/proofs/permute-and-flip.md", "permute_and_flip_pure_dp"
    ),
    ("permute-and-flip", "BoundedRange"): Proof(_REFUTED, "permute_and_flip_bounded_range"),
    ("permute-and-flip", "ZCDP"): Proof(_CONCENTRATED, "permute_and_flip_zcdp"),
    ("permute-and-flip", "ApproxDP"): Proof(_DOMINANCE, "permute_and_flip_approx_dp"),
    ("exponential", "BoundedRange"): Proof(
        "docs/proofs/exponential.md", "exponential_bounded_range"
    ),
    ("exponential", "PureDP"): Proof("docs/proofs/exponential.md", "exponential_pure_dp"),
    ("exponential", "ZCDP"): Proof(_CONCENTRATED, "exponential_zcdp"),
    ("exponential", "ApproxDP"): Proof("docs/proofs/exponential.md", "exponential_approx_dp"),
    ("noisy-max-laplace", "LaplaceDominated"): Proof(_DOMINANCE, "laplace_noisy_max_dominated"),
    ("noisy-max-laplace", "PureDP"): Proof(
        "docs/proofs/noisy-max-laplace.md", "laplace_noisy_max_pure_dp"
    ),
    ("noisy-max-laplace", "BoundedRange"): Proof(
        "docs/proofs/noisy-max-laplace.md", "laplace_noisy_max_bounded_range"
    ),
    ("noisy-max-laplace", "ApproxDP"): Proof(
        "docs/proofs/noisy-max-laplace.md", "laplace_noisy_max_approx_dp"
    ),
    ("large-gap", "ApproxDP"): Proof("docs/proofs/large-gap.md", "large_gap_approx_dp"),
    ("lazy", "stand-in"): Proof(
        "docs/proofs/lazy-evaluation.md", "lazy_coins", "lazy_range_distance"
    ),
    ("unequal", "scores"): Proof(
        "docs/proofs/unequal-sensitivities.md",
        "unequal_range_distance",
        "unequal_monotone_range_distance",
    ),
    # ---- a stream ----
    ("above-threshold-exponential", "PureDP"): Proof(
        "docs/proofs/above-threshold.md", "above_threshold_pure_dp"
    ),
    ("above-threshold-exponential", "ZCDP"): Proof(
        "docs/proofs/above-threshold.md", "above_threshold_zcdp"
    ),
    ("above-threshold-laplace", "PureDP"): Proof(
        "docs/proofs/above-threshold.md", "above_threshold_laplace_pure_dp"
    ),
    # ---- from one measure to another, to several people, to a sum ----
    ("PureDP", "BoundedRange"): Proof(_CONVERSIONS, "pure_to_bounded_range"),
    ("PureDP", "ZCDP"): Proof(_CONCENTRATED, "pure_to_zcdp_exact"),
    ("PureDP", "ApproxDP"): Proof(_CONVERSIONS, "pure_to_approx"),
    ("BoundedRange", "PureDP"): Proof(_CONVERSIONS, "bounded_range_to_pure"),
    ("BoundedRange", "ZCDP"): Proof(_CONCENTRATED, "bounded_range_to_zcdp_exact"),
    ("BoundedRange", "ApproxDP"): Proof(_CONVERSIONS, "bounded_range_to_approx"),
    ("LaplaceDominated", "PureDP"): Proof(_DOMINANCE, "dominated_pure_dp"),
    ("LaplaceDominated", "BoundedRange"): Proof(_DOMINANCE, "dominated_to_bounded_range"),
    ("LaplaceDominated", "ZCDP"): Proof(_CONCENTRATED, "dominated_to_zcdp"),
    ("LaplaceDominated", "ApproxDP"): Proof(_DOMINANCE, "dominated_to_approx"),
    ("FlippedCoins", "PureDP"): Proof(_DOMINANCE, "dominated_pure_dp"),
    ("FlippedCoins", "BoundedRange"): Proof(_REFUTED),
    ("FlippedCoins", "ZCDP"): Proof(_CONCENTRATED, "bounded_range_to_zcdp_exact"),
    ("FlippedCoins", "ApproxDP"): Proof(_DOMINANCE, "dominated_to_approx"),
    ("AveragedRange", "PureDP"): Proof(_NEIGHBOURS),
    ("AveragedRange", "BoundedRange"): Proof(_NEIGHBOURS),
    ("AveragedRange", "ZCDP"): Proof(_NEIGHBOURS, "averaged_range_to_zcdp"),
    ("AveragedRange", "ApproxDP"): Proof(_NEIGHBOURS),
    ("AveragedRange", "people"): Proof(_NEIGHBOURS),
    ("ZCDP", "ApproxDP"): Proof(_CONVERSIONS, "zcdp_to_approx"),
    ("ApproxDP", "PureDP"): Proof(_CONVERSIONS),
    ("ApproxDP", "BoundedRange"): Proof(_CONVERSIONS),
    ("ApproxDP", "ZCDP"): Proof(_CONCENTRATED),
    ("ApproxDP", "ApproxDP"): Proof(_CONVERSIONS, "approx_to_approx"),
    ("PureDP", "people"): Proof(_NEIGHBOURS, "pure_for_people"),
    ("BoundedRange", "people"): Proof(_NEIGHBOURS, "bounded_range_for_people"),
    ("LaplaceDominated", "people"): Proof(_DOMINANCE, "dominated_for_people"),
    ("FlippedCoins", "people"): Proof(_DOMINANCE, "dominated_for_people"),
    ("ZCDP", "people"): Proof(_NEIGHBOURS),
    ("ApproxDP", "people"): Proof(_NEIGHBOURS, "approx_for_people"),
    ("PureDP", "sum"): Proof(_COMPOSITION, "adaptive_pure_composition"),
    ("ZCDP", "sum"): Proof(_COMPOSITION, "adaptive_zcdp_composition"),
    ("ApproxDP", "sum"): Proof(_COMPOSITION, "adaptive_approx_composition"),
    ("fixed list", "sum"): Proof(_COMPOSITION),
    ("ledger", "sum"): Proof("docs/proofs/ledger.md", assumes=(ADDED_UP,)),
    # ---- from a table to an answer, by one of the three selections above ----
    ("mode", "PureDP"): Proof(_QUESTIONS, "mode_pure_dp"),
    ("quantile", "PureDP"): Proof(_QUESTIONS, "quantile_pure_dp"),
    ("one-shot", "scores"): Proof(_TOP_K, "one_shot_pure_dp"),
    ("one-shot", "PureDP"): Proof(_TOP_K, "top_k_one_shot_pure_dp"),
    ("joint", "PureDP"): Proof(_TOP_K, "top_k_joint_pure_dp"),
    ("joint", "BoundedRange"): Proof(_TOP_K, "weighed_bounded_range"),
    # Covers all of these, and also leads, several quantiles, noisy numbers of people, groups and hidden
    # coins.
    ("answer", "PureDP"): Proof(_QUESTIONS, "answer_pure_dp"),
    ("answer", "ZCDP"): Proof(_QUESTIONS, "answer_zcdp"),
    # ---- votes of blocks, by one of the three selections ----
    ("votes", "PureDP"): Proof(_VOTES, "votes_pure_dp"),
    ("votes", "ZCDP"): Proof(_VOTES, "votes_zcdp"),
    ("votes", "LaplaceDominated"): Proof(_VOTES, "votes_laplace_dominated"),
    ("votes", "AveragedRange"): Proof(_VOTES),
    ("votes", "count"): Proof(_VOTES, "votes_with_number_pure_dp"),
    # ---- the same in steps: how far one person moves the scores, what else is released ----
    ("counts", "add-remove"): Proof(_QUESTIONS, "counts_add_remove"),
    ("counts", "replace"): Proof(_QUESTIONS, "counts_replace"),
    ("quantiles", "add-remove"): Proof(_QUESTIONS, "quantiles_add_remove"),
    ("quantiles", "replace"): Proof(_QUESTIONS, "quantiles_replace"),
    ("hidden coins", "ApproxDP"): Proof(_QUESTIONS, "average_approx_dp"),
    ("hidden coins", "LaplaceDominated"): Proof(_NEIGHBOURS, "average_laplace_dominated"),
    ("hidden coins", "AveragedRange"): Proof(_NEIGHBOURS),
    ("groups", "sum"): Proof(_QUESTIONS),
    ("count", "PureDP"): Proof("docs/proofs/noisy-count-and-gap.md", "noisy_count_pure_dp"),
    ("several quantiles", "steps"): Proof("docs/proofs/quantiles.md"),
    ("unknown domain", "ApproxDP"): Proof(
        "docs/proofs/unknown-domain.md", "unknown_domain_rounds_approx_dp"
    ),
    ("unknown domain", "then"): Proof(
        "docs/proofs/unknown-domain.md", "unknown_domain_then_approx_dp"
    ),
    ("kept", "ApproxDP"): Proof("docs/proofs/groups-from-the-data.md", "found_groups_approx_dp"),
    ("weighed", "ApproxDP"): Proof("docs/proofs/groups-from-the-data.md"),
    ("chosen bound", "PureDP"): Proof("docs/proofs/groups-from-the-data.md"),
    ("cluster", "PureDP"): Proof("docs/proofs/distributed-selection.md", assumes=(KEYED,)),
    # ---- the best of several runs, by the law of their number, or the first to reach a target ----
    ("halting runs", "PureDP"): Proof(_TUNING, "tuning_halting_pure_dp"),
    ("Poisson runs", "PureDP"): Proof(_TUNING, "tuning_poisson_pure_dp"),
    ("fixed runs", "PureDP"): Proof(_TUNING, "tuning_fixed_pure_dp"),
    ("target", "PureDP"): Proof(_TUNING, "tuning_target_pure_dp"),
    ("tuning", "ApproxDP"): Proof(_TUNING),
}
"""The proof of each claim, keyed by the mechanism or the property, and the measure."""
