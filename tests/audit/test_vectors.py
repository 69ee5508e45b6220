"""Defects that appear only with many candidates or only with enormous scores."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import Exponential, NoisyMax, PermuteAndFlip, PureDP, Scores
from discreet.audit import audit
from discreet.audit.losses import HockeyStickLoss, PureLoss, RangeLoss, RenyiLoss
from discreet.audit.relations import Relation, ScoreGrid
from discreet.audit.subjects import Subject
from discreet.audit.vectors import TOTALS, Crowds


def softmax(scores: Any, epsilon: float = 1.0) -> Any:
    weights = np.exp(epsilon * (scores - scores.max()) / float(scores.range_distance))
    return weights / weights.sum()


def best(scores: Any) -> Any:
    winners = np.asarray(scores.values == scores.values.max())
    return winners / winners.sum()


def with_a_little_argmax(scores: Any) -> Any:
    return 0.97 * softmax(scores, 4.0) + 0.03 * best(scores)


def argmax_beyond_700(scores: Any) -> Any:
    return best(scores) if np.abs(scores.values).max() > 700 else softmax(scores)


def overflows(scores: Any) -> Any:
    weights = np.exp(scores.values / 2)
    return weights / weights.sum()


def raises_when_weights_vanish(scores: Any) -> Any:
    weights = np.exp(scores.values / 2)
    if weights.sum() == 0:
        raise ZeroDivisionError("all weights vanished")
    return weights / weights.sum()


def test_a_little_argmax_is_refuted_in_a_crowd_and_only_there() -> None:
    assert audit(with_a_little_argmax, PureDP(4), n=(2, 3), effort="quick").status == "not refuted"
    verdict = audit(with_a_little_argmax, PureDP(4), monotonic=False, effort="quick")
    assert verdict.status == "refuted"
    assert verdict.measured > 4.62
    witness = verdict.witness
    assert witness is not None
    assert sum(witness.multiplicities) >= 7
    assert witness.probability < 1e-3
    assert witness.neighbour_probability > 0.03
    assert " × " in str(witness)
    assert "10,000 candidates" in verdict.coverage


def test_seven_candidates_are_enough() -> None:
    scores, other = (-1.999, *[0.0] * 6), (-0.999, *[-1.0] * 6)
    laws = [
        with_a_little_argmax(
            Subject(best, sensitivity=Fraction(1), epsilon=None).scores(row, monotonic=False)
        )
        for row in (scores, other)
    ]
    assert math.log(laws[1][0] / laws[0][0]) == pytest.approx(4.045, abs=1e-3)


@pytest.mark.parametrize(
    ("subject", "outcome"),
    [
        (argmax_beyond_700, None),
        (overflows, "not a number"),
        (raises_when_weights_vanish, "raises"),
    ],
)
def test_what_breaks_far_out_is_refuted(subject: Any, outcome: str | None) -> None:
    verdict = audit(subject, PureDP(1), n=2, effort="quick")
    assert verdict.status == "refuted"
    assert verdict.witness is not None
    assert "1.7e+308" in verdict.coverage
    if outcome is not None:
        assert verdict.measured == math.inf
        assert any(outcome in repr(answer) for answer in verdict.witness.answers)
        # One step on either side of the end of the float range.
        assert abs(verdict.witness.scores[0] - verdict.witness.neighbour[0]) == 1


def test_the_same_code_with_care_is_not_refuted_far_out() -> None:
    assert audit(softmax, PureDP(1), n=2, effort="quick").status == "not refuted"


@pytest.mark.parametrize(
    "mechanism", [PermuteAndFlip(epsilon=4), NoisyMax(epsilon=1, noise="laplace")]
)
def test_our_own_hold_in_crowds(mechanism: Any) -> None:
    verdict = audit(mechanism, PureDP(mechanism.epsilon), monotonic=True, effort="quick")
    assert verdict.status == "proved"
    assert max(stage.size for stage in verdict.stages) == 10_000


def test_a_lie_about_our_own_is_refuted_in_balls_at_ten_thousand() -> None:
    verdict = audit(
        Exponential(epsilon=1), PureDP("0.99"), n=10_000, effort="quick", monotonic=True
    )
    assert verdict.status == "refuted"
    assert verdict.witness is not None
    assert verdict.witness.certainty == "ball arithmetic"


@pytest.mark.parametrize("monotonic", [True, False])
def test_the_catalogue_holds_neighbours_of_the_stated_size(monotonic: bool) -> None:
    relation, grid = Relation(monotonic), ScoreGrid.for_sensitivity(Fraction(1))
    subject = Subject(softmax, sensitivity=Fraction(1), epsilon=None)
    kind = Crowds(relation, grid, 1.0, TOTALS[:2], subject, PureLoss(1), thorough=False)
    for _, total, batches in kind.stages():
        found = [batch.pair(place) for batch in batches for place in range(len(batch.losses))]
        assert len(found) > 30
        for pair in found[::7]:
            assert kind.size(pair) == total
            near = [batch.pair(0) for batch in kind.around(pair, 0.5) if len(batch.losses)]
            assert {kind.size(moved) for moved in near} > {total}
            for moved in (pair, *near[::3]):
                assert relation.contains(moved.scores, moved.neighbour, Fraction(1))


@pytest.mark.parametrize(
    "loss", [PureLoss(1), RangeLoss(1), RenyiLoss(1), HockeyStickLoss(Fraction(0), Fraction(1, 2))]
)
def test_blocks_lose_what_their_members_lose(loss: Any) -> None:
    counts, rows = [1, 5, 3], np.array([[2.0, 0.0, -1.0], [1.0, 1.0, -1.0]])
    subject = Subject(softmax, sensitivity=Fraction(1), epsilon=None)
    short = subject.log_blocks(rows, counts, monotonic=False)
    assert short.shape == (2, 3)
    whole = subject.log_masses(np.repeat(rows, counts, axis=1), monotonic=False)
    assert loss.values(short[:1], short[1:])[0] == pytest.approx(
        loss.values(whole[:1], whole[1:])[0], rel=1e-12
    )


def test_a_block_whose_members_differ_is_not_told_as_one() -> None:
    def favours_the_third(scores: Any) -> Any:
        weights = softmax(scores) + np.where(np.arange(len(scores)) == 2, 1e-3, 0.0)
        return weights / weights.sum()

    subject = Subject(favours_the_third, sensitivity=Fraction(1), epsilon=None)
    assert subject.log_blocks(np.array([[1.0, 0.0]]), [2, 5], monotonic=False).shape == (1, 7)
    verdict = audit(favours_the_third, PureDP("0.5"), n=100, monotonic=False, effort="quick")
    assert verdict.status == "refuted"
    assert audit(favours_the_third, PureDP(1), n=100, monotonic=False, effort="quick").holds


@pytest.mark.parametrize("counts", [[4, 2, 3], [40, 2, 300]])
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_levels_stand_for_their_crowds(counts: list[int], optimize: str) -> None:
    mechanism = PermuteAndFlip(epsilon=1, optimize=optimize)
    subject = Subject(mechanism, sensitivity=Fraction(1), epsilon=None)
    values = np.array([3.0, 5.0, 3.0])
    (logs,) = subject.log_blocks(np.array([values, values]), counts, monotonic=False)[:1]
    whole = mechanism.log_probabilities(Scores(np.repeat(values, counts), sensitivity=1))
    assert np.allclose(np.repeat(logs - np.log(counts), counts), whole)
    assert subject.evaluations == 1
