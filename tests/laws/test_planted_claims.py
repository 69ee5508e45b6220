"""Each kind of check can fail: it refutes a planted wrong law, formula or price."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.papers import REFUTED, Scope, chosen_claims, opendp_proof, polynomials
from discreet.papers.noisy_max import algorithms as chain
from discreet.papers.noisy_max.algorithms import distribution_noisy_max
from discreet.papers.ours import statements
from discreet.papers.permute_and_flip import (
    algorithms,
    error,
    optimality,
    privacy,
    supplement,
    worst_case,
)
from discreet.papers.permute_and_flip.algorithms import distribution_with_replacement
from discreet.papers.polynomials import polynomial, unknown
from discreet.papers.problems import Number, Problem, rational
from discreet.papers.randomized_response import error as response_error


def verdict(identity: str) -> str:
    (entry,) = chosen_claims(only=[identity])
    return entry.check(Scope(quick=True)).verdict


def half_noise(scores: tuple[int, ...]) -> tuple[Number, ...]:
    """Permute-and-flip at twice the stated ε."""
    doubled = tuple(2 * (score - max(scores)) for score in scores)
    problem = Problem(doubled, unit_coin=unknown())
    return tuple(polynomial(chance) for chance in distribution_noisy_max(problem))


@pytest.mark.parametrize(
    "identity",
    [
        "permute-and-flip/theorem-1",
        "permute-and-flip-supplement/remark-1",
        "noisy-max/proposition-6",
        "noisy-max/equation-4",
        "opendp-proof/theorem-2.4",
    ],
)
def test_half_the_noise_is_not_private(monkeypatch: pytest.MonkeyPatch, identity: str) -> None:
    monkeypatch.setattr(privacy, "permute_and_flip_polynomials", half_noise)
    assert verdict(identity) == REFUTED


@pytest.mark.parametrize(
    ("module", "name", "identity"),
    [
        (chain, "distribution_noisy_max", "noisy-max/theorem-5"),
        (chain, "distribution_capped", "noisy-max/lemma-3"),
        (opendp_proof, "distribution_noisy_max", "opendp-proof/lemma-2.2"),
        (algorithms, "distribution_without_replacement", "permute-and-flip/algorithm-3"),
        (
            supplement,
            "distribution_by_permutation",
            "permute-and-flip-supplement/lemma-2",
        ),
        (supplement, "distribution_by_permutation", "appendix-e"),
        (privacy, "distribution_by_permutation", "permute-and-flip/proposition-3"),
        (optimality, "distribution_noisy_max", "permute-and-flip/theorem-3"),
        (optimality, "distribution_noisy_max", "permute-and-flip/proposition-6"),
        (response_error, "distribution_noisy_max", "equations-12-and-13"),
    ],
)
def test_the_exponential_mechanism_is_not_permute_and_flip(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, identity: str
) -> None:
    monkeypatch.setattr(module, name, distribution_with_replacement)
    assert verdict(identity) == REFUTED


def test_a_wrong_range_a_wrong_dominance_and_a_wrong_set_are_refuted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_little_noise(problem: Problem) -> list[Number]:
        doubled = tuple(2 * score for score in problem.scores)
        return distribution_noisy_max(Problem(doubled, unit_coin=problem.unit_coin))

    with monkeypatch.context() as patch:
        patch.setattr(statements, "distribution_noisy_max", too_little_noise)
        assert verdict("discreet/laplace-dominance") == REFUTED
        assert verdict("discreet/exact-range") == REFUTED
    with monkeypatch.context() as patch:
        patch.setattr(
            statements, "_good", lambda _name, _one_way, size, gap, _spread: size == 1 and gap > 2
        )
        assert verdict("discreet/where-randomized-response-holds") == REFUTED


def test_wrong_formulas_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        # An exponential mechanism that misses the best three times as often breaks the bound on the mean.
        patch.setattr(
            error,
            "wrong_exponential",
            lambda count, coin: 3 * (count - 1) * coin / (1 + (count - 1) * coin),
        )
        assert verdict("permute-and-flip/proposition-1") == REFUTED
    with monkeypatch.context() as patch:
        patch.setattr(worst_case, "wrong_permute_and_flip", lambda count, coin: coin / count)
        assert verdict("permute-and-flip/proposition-4") == REFUTED
        assert verdict("permute-and-flip/proposition-5") == REFUTED


def test_a_lower_threshold_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimality, "_THRESHOLD_BELOW", Fraction(1, 2))
    monkeypatch.setattr(optimality, "_shapes", lambda _scope: [(3, 8)])
    assert verdict("permute-and-flip/theorem-3") == REFUTED
    assert verdict("permute-and-flip-supplement/equations-10-and-11") == REFUTED
    assert verdict("permute-and-flip-supplement/lemma-7") == REFUTED


def test_theorem_2_is_refuted_for_a_worse_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    def uniform(scores: tuple[int, ...]) -> tuple[Number, ...]:
        return tuple(polynomials.polynomial(rational(1) / len(scores)) for _ in scores)

    monkeypatch.setattr(error, "permute_and_flip_polynomials", uniform)
    assert verdict("permute-and-flip/theorem-2") == REFUTED
    assert verdict("permute-and-flip/corollary-1") == REFUTED
