from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from discreet import (
    ZCDP,
    ApproxDP,
    BoundedRange,
    Exponential,
    ExponentialRandomizedResponse,
    NoisyMax,
    PermuteAndFlip,
    PureDP,
    Scores,
)
from discreet.audit import audit
from discreet.audit.search import Found, _doubtful
from discreet.errors import ParameterError
from discreet.guarantees import ApproxZCDP, FlippedCoins, LaplaceDominated
from discreet.mechanisms.registry import MECHANISMS, mechanism_named


def written_by_hand(scores: Any) -> Any:
    weights = np.exp((scores - scores.max()) / float(scores.range_distance))
    return weights / weights.sum()


class OneOverN:
    """A class from outside discreet that takes an ε and ignores it."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def probabilities(self, scores: Scores) -> list[float]:
        return [1 / len(scores)] * len(scores)


def test_permute_and_flip_is_not_bounded_range() -> None:
    verdict = audit(PermuteAndFlip(epsilon=1), BoundedRange(1))
    assert verdict.status == "refuted"
    # It is the supremum over all n (docs/proofs/bounded-range-refuted.md), so it is never exceeded.
    assert verdict.measured == pytest.approx(2 * math.log(2 * math.exp(0.5) - 1), abs=1e-12)
    assert verdict.witness is not None
    assert sorted(verdict.witness.scores) == [0, 1]
    assert verdict.witness.certainty == "ball arithmetic"


def test_permute_and_flip_has_the_range_that_is_proved() -> None:
    own = PermuteAndFlip(epsilon=1).guarantee(Scores([0, 0], sensitivity=1), BoundedRange)
    assert audit(PermuteAndFlip(epsilon=1), own, n=(2, 3), effort="quick").status == "proved"


def test_permute_and_flip_is_not_the_zcdp_that_bounded_range_would_give() -> None:
    verdict = audit(PermuteAndFlip(epsilon=1), ZCDP("0.125"), n=2)
    assert verdict.status == "refuted"
    assert 0.3272 < verdict.measured < 0.33
    assert audit(PermuteAndFlip(epsilon=1), ZCDP("0.367880"), n=2).status == "proved"


@pytest.mark.parametrize(
    ("mechanism", "claim", "status"),
    [
        (Exponential(epsilon=1), BoundedRange(1), "proved"),
        (Exponential(epsilon=1), ZCDP("0.125"), "proved"),
        (Exponential(epsilon=1), ZCDP("0.12"), "refuted"),
        (PermuteAndFlip(epsilon=1), LaplaceDominated(1), "proved"),
        (PermuteAndFlip(epsilon=1), LaplaceDominated("0.99"), "refuted"),
        (PermuteAndFlip(epsilon=1), ApproxDP("0.9", "0.0488"), "proved"),
        (PermuteAndFlip(epsilon=1), ApproxDP("0.9", "0.0487"), "refuted"),
        (NoisyMax(epsilon=1, noise="gumbel"), BoundedRange(1), "proved"),
        (NoisyMax(epsilon=1, noise="laplace"), BoundedRange(1), "refuted"),
        (PermuteAndFlip(epsilon=1, optimize="min"), PureDP(1), "proved"),
        (PermuteAndFlip(epsilon=1, optimize="min"), BoundedRange("1.66"), "refuted"),
        (PermuteAndFlip(scale=2), PureDP(1), "proved"),
        (PermuteAndFlip(scale=2), PureDP("0.99"), "refuted"),
        (PermuteAndFlip(scale=0), PureDP(10), "refuted"),
    ],
)
def test_measures(mechanism: Any, claim: Any, status: str) -> None:
    assert audit(mechanism, claim, n=(2, 3)).status == status


def test_scale_suffices_for_monotonic_neighbours_only() -> None:
    assert audit(PermuteAndFlip(scale=1), PureDP(1), n=3, monotonic=True).status == "proved"
    assert audit(PermuteAndFlip(scale=1), PureDP(1), n=3, monotonic=False).status == "refuted"
    assert audit(PermuteAndFlip(scale=1), PureDP(1), n=3).status == "refuted"


@pytest.mark.parametrize("variant", ["complete", "naive"])
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_exponential_randomized_response_is_refuted(variant: str, epsilon: str) -> None:
    mechanism = ExponentialRandomizedResponse(epsilon=epsilon, truth="0.75", variant=variant)
    verdict = audit(mechanism, PureDP(epsilon), n=3, effort="quick")
    assert verdict.status == "refuted"
    assert verdict.measured > 1.68


def test_the_loss_of_the_chain_grows_with_the_number_of_candidates() -> None:
    mechanism = ExponentialRandomizedResponse(epsilon=1, truth="0.5")
    losses = [
        audit(mechanism, PureDP(1), n=n, effort="quick", monotonic=False).measured
        for n in (5, 15, 50)
    ]
    assert losses == sorted(losses)
    assert losses[-1] > 21.6


def test_the_same_audit_gives_the_same_verdict() -> None:
    first, second = (audit(PermuteAndFlip(epsilon=1), ZCDP("0.3"), n=(2, 3)) for _ in range(2))
    assert first.witness == second.witness
    assert first.stages == second.stages
    assert first.evaluations == second.evaluations


def test_a_pair_is_judged_under_the_relation_in_which_it_loses_more() -> None:
    general, monotonic = (
        SimpleNamespace(relation=name, size=len) for name in ("general", "monotonic")
    )
    pair = (0.0, 1.0)
    found: Any = [Found(0.9, pair, general), Found(1.5, pair, monotonic)]
    for order in (found, found[::-1]):
        assert [one.kind.relation for one in _doubtful(order, 1)] == ["monotonic"]


def test_at_the_edge_of_the_claim_small_pairs_are_certified_first() -> None:
    kind: Any = SimpleNamespace(relation="general", size=len)
    values = [1 + 2e-15] * 9 + [1.0, 1 - 1e-9]
    found = [Found(value, (0.0,) * (20 - n), kind) for n, value in enumerate(values)]
    assert [len(one.pair) for one in _doubtful(found, 1)] == [11, 12, 13, 14, 15]
    above = Found(1 + 1e-9, (0.0,) * 30, kind)
    assert _doubtful([*found, above], 1)[0] is above


def test_an_underflow_is_not_a_loss() -> None:
    def careless(scores: Any) -> Any:
        weights = np.exp((scores - scores.max()) * 300.0)
        return weights / weights.sum()

    # The true loss is 600; probabilities below 1e-290 are taken as unknown.
    assert audit(careless, PureDP(600), n=3).status == "not refuted"
    assert audit(careless, PureDP(599), n=2).status == "refuted"


def test_a_class_is_built_with_the_claimed_epsilon() -> None:
    assert audit(Exponential, PureDP("0.5"), n=2).status == "proved"
    assert audit(OneOverN, PureDP(1), n=3, effort="quick").measured == 0


def test_fractions_are_taken_as_exact() -> None:
    def flipped(scores: Any) -> list[Fraction]:
        best = int(np.argmax(scores))
        return [
            Fraction(2 if place == best else 1, len(scores) + 1) for place in range(len(scores))
        ]

    verdict = audit(flipped, PureDP("0.6931"), n=3, effort="quick")
    assert verdict.status == "refuted"
    assert verdict.witness is not None
    assert "exact" in verdict.witness.certainty
    assert verdict.measured == pytest.approx(math.log(2), abs=1e-15)
    assert audit(flipped, PureDP("0.6932"), n=3, effort="quick").status == "not refuted"


def test_neighbours_of_ones_own() -> None:
    def one_candidate(scores: tuple[float, ...]) -> list[tuple[float, ...]]:
        return [
            (*scores[:place], scores[place] + move, *scores[place + 1 :])
            for place in range(len(scores))
            for move in (1.0, -1.0)
        ]

    verdict = audit(written_by_hand, PureDP("0.5"), n=3, neighbours=one_candidate)
    assert verdict.status == "not refuted"
    assert {stage.relation for stage in verdict.stages} == {"custom"}
    assert audit(written_by_hand, PureDP("0.49"), n=3, neighbours=one_candidate).status == "refuted"
    # A proof page covers only the library's own relations.
    assert (
        audit(PermuteAndFlip(epsilon=1), PureDP(1), n=2, neighbours=one_candidate).status
        == "not refuted"
    )


@pytest.mark.parametrize("sensitivity", ["1/3", 0.1, 3, Fraction(7, 2)])
def test_sensitivities_that_are_not_powers_of_two(sensitivity: Any) -> None:
    mechanism = PermuteAndFlip(epsilon=1)
    verdict = audit(mechanism, PureDP(1), sensitivity=sensitivity, n=2)
    assert verdict.status == "proved"
    assert verdict.measured == pytest.approx(1, rel=1e-8)
    assert audit(mechanism, PureDP("0.9999"), sensitivity=sensitivity, n=2).status == "refuted"


@pytest.mark.parametrize(
    "options",
    [
        {"n": 1},
        {"n": ()},
        {"monotonic": 2},
        {"sensitivity": 0},
        {"effort": "some"},
        {"effort": None},
        {"neighbours": 3},
    ],
)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        audit(PermuteAndFlip(epsilon=1), PureDP(1), **options)


@pytest.mark.parametrize(
    "subject",
    [
        3,
        lambda scores: [0.5] * (len(scores) + 1),
        lambda scores: [0.9] * len(scores),
        lambda scores: [math.nan] * len(scores),
    ],
)
def test_what_cannot_be_audited(subject: Any) -> None:
    with pytest.raises(ParameterError):
        audit(subject, PureDP(1), n=2)


@pytest.mark.parametrize("claim", [1.0, ApproxZCDP(1, "1e-6", "0.001", "5e-7")])
def test_a_claim_must_be_one_that_is_measured(claim: Any) -> None:
    with pytest.raises(ParameterError, match="is not allowed: give PureDP"):
        audit(PermuteAndFlip(epsilon=1), claim, n=2)


def test_progress_is_told() -> None:
    heard: list[tuple[str, float]] = []
    tell: Callable[[str, float], None] = lambda stage, share: heard.append((stage, share))  # noqa: E731
    audit(PermuteAndFlip(epsilon=1), PureDP(1), n=2, progress=tell)
    assert heard[0][1] == 0
    assert heard[-1] == ("certificate", 1.0)


def test_reports() -> None:
    verdict = audit(PermuteAndFlip(epsilon=1), BoundedRange(1), n=2)
    told = json.loads(verdict.to_json())
    assert told["status"] == "refuted"
    assert told["witness"]["neighbour_probability"] == pytest.approx(0.303265, abs=1e-6)
    assert "is not BoundedRange(1): refuted" in str(verdict)
    assert "█" in str(verdict)
    assert verdict._repr_html_().startswith("<div")
    infinite = audit(PermuteAndFlip(scale=0), PureDP(1), n=2, effort="quick")
    assert json.loads(infinite.to_json())["measured"] == "inf"


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_subclass_is_audited_by_its_own_probabilities(name: str) -> None:
    """The subclass inherits logarithms and balls that belong to another distribution."""
    honest = mechanism_named(name, epsilon=1)

    class Argmax(type(honest)):  # type: ignore[misc]  # every class of the register
        def probabilities(self, scores: Scores) -> Any:
            return np.eye(len(scores))[int(np.argmax(scores.values))]

    assert audit(Argmax(**honest.parameters()), PureDP(1), n=2, effort="quick").status == "refuted"


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_subclass_is_not_what_was_proved(name: str) -> None:
    """A subclass that returns the best if there are at least seven candidates is not refuted at n = 2."""
    honest = mechanism_named(name, epsilon=1)

    class Argmax(type(honest)):  # type: ignore[misc]  # every class of the register
        def probabilities(self, scores: Scores) -> Any:
            if len(scores) < 7:
                return honest.probabilities(scores)
            return np.eye(len(scores))[int(np.argmax(scores.values))]

    claim = honest.promise_at(Fraction(1))
    if not isinstance(claim, ApproxDP):
        claim = PureDP(1)
    verdict = audit(Argmax(**honest.parameters()), claim, n=2, effort="quick")
    assert verdict.status != "proved"
    assert verdict.proof is None


@pytest.mark.parametrize(
    ("mechanism", "claim", "proved"),
    [
        (NoisyMax(epsilon=1, noise="laplace"), FlippedCoins(1), False),
        (NoisyMax(epsilon=1, noise="laplace"), LaplaceDominated(1), True),
        (PermuteAndFlip(epsilon=1), FlippedCoins(1), True),
        (PermuteAndFlip(epsilon=1), LaplaceDominated(1), True),
        (Exponential(epsilon=1), LaplaceDominated(1), False),
    ],
)
def test_proved_is_this_very_claim(mechanism: Any, claim: Any, proved: bool) -> None:
    assert (audit(mechanism, claim, n=2, effort="quick").status == "proved") == proved


def test_what_was_measured_above_the_claim_is_never_called_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("discreet.audit.search.exceeds", lambda _value, _claimed: False)
    monkeypatch.setattr("discreet.audit.exact._proof", lambda *_: "a page")
    verdict = audit(PermuteAndFlip(epsilon=1), PureDP("0.5"), n=2, effort="quick")
    assert verdict.measured > verdict.claimed
    assert verdict.status == "not refuted"


class _DoublesFarOut:
    """The exponential mechanism, except for log-probabilities below −800, which underflow as floats."""

    def log_probabilities(self, scores: Scores) -> Any:
        gaps = 0.5 * (scores.values - scores.values.max())
        logs = gaps - np.log(np.exp(gaps).sum())
        return np.where(logs < -800, 2 * logs, logs)

    def probabilities(self, scores: Scores) -> Any:
        return np.exp(self.log_probabilities(scores))


def test_a_strangers_logarithms_are_looked_at() -> None:
    assert (
        audit(_DoublesFarOut(), PureDP(1), n=2, effort="quick", monotonic=False).status == "refuted"
    )


@pytest.mark.parametrize("read", ["monotonic", "range_distance", "a copy"])
def test_what_looks_at_how_neighbours_move_is_tried_both_ways(read: str) -> None:
    """Such a subject may fail only on monotonic neighbours. Others are tried only on general ones."""

    def softmax(scores: Any, cost: float) -> Any:
        weights = np.exp(cost * (scores - scores.max()))
        return weights / weights.sum()

    def wrong_one_way(scores: Any) -> Any:
        seen = copy.copy(scores) if read == "a copy" else scores
        one_way = float(seen.range_distance) == 1 if read != "monotonic" else seen.monotonic
        return softmax(scores, 2.0 if one_way else 0.5)

    verdict = audit(wrong_one_way, PureDP(1), n=2, effort="quick")
    assert verdict.status == "refuted"
    assert verdict.witness is not None
    assert verdict.witness.relation == "monotonic"
    blind = audit(lambda scores: softmax(scores, 0.5), PureDP(1), n=2, effort="quick")
    assert {stage.relation for stage in blind.stages} == {"general"}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_rows_found_together_are_those_found_alone(name: str, optimize: str) -> None:
    """A mechanism that computes its law in its own way returns None; its rows are computed one at a time."""
    mechanism = mechanism_named(name, epsilon="0.7", optimize=optimize)
    rows = np.array([[0.0, -3.0, 2.5, 2.5], [1e6, 0.0, -1e6, 1e6], [0.0, 0.0, 0.0, 1e-300]])
    together = mechanism.log_masses(rows, Fraction(2))
    alone = [mechanism.log_probabilities(Scores(row, sensitivity=1)) for row in rows]
    own = "_mass" in vars(type(mechanism))
    assert (together is None) == own
    if together is not None:
        np.testing.assert_allclose(together, alone, rtol=1e-14, atol=1e-14)
        blocks = mechanism.log_masses(rows[:1], Fraction(2), [1, 2, 1, 3])
        assert blocks is not None
        crowd = Scores(np.repeat(rows[0], [1, 2, 1, 3]), sensitivity=1)
        expected = mechanism.log_probabilities(crowd)[[0, 1, 3, 4]]
        np.testing.assert_allclose(blocks[0], expected, rtol=1e-14, atol=1e-14)


def test_a_mechanism_with_a_law_of_its_own_is_audited_by_it() -> None:
    """The mechanism states its own facts, including symmetry, but its law is not the one they name."""

    class Sharper(PermuteAndFlip):
        facts = PermuteAndFlip.facts

        def _scale_for(self, scores: Scores) -> Fraction:
            return super()._scale_for(scores) * Fraction(50, 51)

    assert Sharper(epsilon=1).log_masses(np.zeros((1, 2)), Fraction(2)) is None
    assert audit(Sharper(epsilon=1), PureDP(1), n=3, effort="quick").status == "refuted"


def test_a_subject_may_answer_in_one_array_again_and_again() -> None:
    answers = {size: np.empty(size) for size in range(1, 6)}

    def softmax(scores: Any) -> Any:
        weights = np.exp(0.5 * (scores - scores.max()))
        answers[len(scores)][:] = weights / weights.sum()
        return answers[len(scores)]

    verdict = audit(softmax, PureDP(1), n=3, effort="quick")
    assert verdict.status == "not refuted"
    assert verdict.measured == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("wrong", ["sum", "negative", "nan"])
def test_one_wrong_answer_among_right_ones_is_seen(wrong: str) -> None:
    """Answers are checked many at a time; an invalid distribution counts as an answer itself."""

    def mostly_uniform(scores: Any) -> Any:
        parts = np.full(len(scores), 1 / len(scores))
        if scores[0] > scores[1] + 1.5:
            parts[0] = {"sum": 0.9, "negative": -parts[0], "nan": np.nan}[wrong]
            if wrong == "negative":
                parts[1] = 1 - parts[0] - parts[2:].sum()
        return parts

    verdict = audit(mostly_uniform, PureDP(1), n=3, effort="quick")
    assert verdict.status == "refuted"
    assert verdict.witness is not None
    answer = verdict.witness.answers[verdict.witness.outcome]
    assert repr(answer) in ("no distribution", "not a number", "0", "1", "2")
