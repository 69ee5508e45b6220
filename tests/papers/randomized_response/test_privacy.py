"""The ε that randomized response really spends, checked against explicit pairs of neighbours."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from discreet import ExponentialRandomizedResponse, PureDP, Scores
from discreet.audit import audit
from discreet.papers.problems import Problem
from discreet.papers.randomized_response.privacy import (
    loss_at,
    real_epsilon,
    top_set_is_safe,
    witness_of,
)


def _pair_loss(first: list[int], second: list[int], epsilon: str, truth: str) -> float:
    response = ExponentialRandomizedResponse(epsilon=epsilon, truth=truth)
    logs = [response.log_probabilities(Scores(values, sensitivity=1)) for values in (first, second)]
    return float(np.abs(logs[0] - logs[1]).max())


@pytest.mark.parametrize(("epsilon", "truth", "n"), [("0.1", "0.75", 10), ("1", "0.5", 50)])
def test_the_bound_is_attained_by_a_pair_of_neighbours(epsilon: str, truth: str, n: int) -> None:
    written_out = []
    for m in range(2, n + 1):
        chain = list(range(m - 1, -1, -1)) + [-2] * (n - m)
        written_out.append(_pair_loss([chain[0] + 1, *chain[1:]], chain, epsilon, truth))
    bound = real_epsilon(float(epsilon), truth=float(truth), n=n)
    assert bound == pytest.approx(max(written_out), rel=1e-9)


def test_it_is_at_least_what_the_proof_page_says() -> None:
    for n, least in ((10, 3.39), (20, 7.66), (50, 21.7), (100, 46.0), (200, 95.3)):
        assert real_epsilon(1.0, truth=0.5, n=n) > least


def test_no_epsilon_is_small_enough() -> None:
    floor = math.log(1 + 0.75 / 0.25 * 1024 / 2)
    losses = [real_epsilon(epsilon, truth=0.75, n=1024) for epsilon in (1e-6, 1e-3, 0.01, 0.1, 1.0)]
    assert losses[0] == pytest.approx(floor, rel=1e-3)
    assert min(losses) > 7.3
    assert losses[-1] > 400


def test_the_loss_at_given_scores() -> None:
    response = ExponentialRandomizedResponse(epsilon="0.1", truth="0.75")
    # A large lead: no neighbour changes the top set, and the claim holds here.
    far = Scores([9, 2, 1], sensitivity=1)
    assert top_set_is_safe(far)
    # Counts move in one direction: a lead of more than 2Δ is enough, and one of less than 2Δ is not.
    assert top_set_is_safe(Scores([20, 7], sensitivity=6, monotonic=True))
    assert not top_set_is_safe(Scores([20, 10], sensitivity=6, monotonic=True))
    assert 0 < loss_at(response, far) <= 0.1
    # The published example: one more person for the second candidate links it to the first.
    near = Scores([5, 3, 1], sensitivity=1)
    assert not top_set_is_safe(near)
    assert loss_at(response, near) >= _pair_loss([5, 3, 1], [5, 4, 1], "0.1", "0.75") > 1.71


def test_the_audit_agrees_that_it_is_refuted() -> None:
    response = ExponentialRandomizedResponse(epsilon="0.1", truth="0.75")
    verdict = audit(response, PureDP("0.1"), n=3, monotonic=True, effort="quick")
    assert verdict.status == "refuted"
    assert verdict.measured >= real_epsilon(0.1, truth=0.75, n=3) - 1e-9


def test_a_pair_is_a_witness_only_if_its_loss_is_certainly_above() -> None:
    def law(problem: Problem) -> list[arb]:
        return [arb(2), arb(1)] if problem.scores == (1, 0) else [arb(1), arb(1)]

    asked = law, (1, 0), (0, 0), 0  # the loss is ln 2
    assert witness_of(*asked, Fraction(6931, 10000)) is not None
    assert witness_of(*asked, Fraction(6932, 10000)) is None
