"""The statistical audit finds four wrong samplers and does not suspect ours.

Each audit has a false-alarm rate of 1e-9 and uses scripted randomness, so the outcome never changes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
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
from discreet.audit import fidelity_test, statistical_audit
from discreet.audit.bounds import AnswerSet, bound_for
from discreet.audit.confidence import (
    lower_confidence,
    lower_tail,
    upper_confidence,
    upper_tail,
)
from discreet.errors import ParameterError
from discreet.guarantees import ApproxZCDP
from discreet.testing import scripted

Sampler = Callable[[Any, int], Any]


def sampler_of(mechanism: Any, seed: int = 5) -> Sampler:
    bits = scripted(seed)
    return lambda scores, size: mechanism.sample(scores, size, randomness=bits)


def half_noise(epsilon: str) -> Sampler:
    bits = scripted(11)

    def sample(scores: Scores, size: int) -> Any:
        scale = scores.range_distance / Fraction(epsilon) / 2
        return PermuteAndFlip(scale=scale).sample(scores, size, randomness=bits)

    return sample


def forgets_factor_two(epsilon: str) -> Sampler:
    """Noisy max with Laplace noise calibrated to Δ instead of 2Δ, as a user would write it."""
    generator = np.random.default_rng(12)

    def sample(scores: Any, size: int) -> Any:
        noise = generator.laplace(
            scale=float(scores.sensitivity) / float(epsilon), size=(size, len(scores))
        )
        return np.argmax(scores.values + noise, axis=1)

    return sample


def wrong_ties(epsilon: str) -> Sampler:
    generator = np.random.default_rng(13)

    def sample(scores: Any, size: int) -> Any:
        best = np.sort(scores.values)[-2:]
        if best[0] == best[1]:
            return np.full(size, int(scores.values.argmin()))
        weights = np.exp(float(epsilon) * (scores - scores.max()) / float(scores.range_distance))
        return generator.choice(len(scores), size=size, p=weights / weights.sum())

    return sample


def chain(epsilon: str) -> Sampler:
    return sampler_of(ExponentialRandomizedResponse(epsilon=epsilon, truth="0.5"))


@pytest.mark.parametrize("epsilon", ["1"])
@pytest.mark.parametrize("wrong", [half_noise, forgets_factor_two, wrong_ties, chain])
def test_wrong_samplers_are_rejected(wrong: Callable[[str], Sampler], epsilon: str) -> None:
    verdict = statistical_audit(wrong(epsilon), PureDP(epsilon), n=(2, 3))
    assert verdict.status == "suspect"
    assert verdict.measured > float(epsilon)
    assert verdict.witness is not None
    assert verdict.draws > 0
    assert verdict.seconds < 60


@pytest.mark.parametrize(
    ("mechanism", "claim"),
    [
        (PermuteAndFlip(epsilon=1), PureDP(1)),
        (Exponential(epsilon=1), BoundedRange(1)),
        (PermuteAndFlip(epsilon=1), ApproxDP("0.9", "0.0488")),
        (NoisyMax(epsilon=1, noise="laplace"), PureDP(1)),
    ],
)
def test_ours_are_not_rejected(mechanism: Any, claim: Any) -> None:
    verdict = statistical_audit(sampler_of(mechanism), claim, n=2, samples=40_000, explore=200)
    assert verdict.status == "not refuted"
    assert verdict.measured <= verdict.claimed


@pytest.mark.parametrize("claim", [BoundedRange(1), ZCDP("0.125"), ApproxDP("0.8", "0.01")])
def test_false_claims_about_permute_and_flip_are_rejected(claim: Any) -> None:
    verdict = statistical_audit(sampler_of(PermuteAndFlip(epsilon=1)), claim, n=2)
    assert verdict.status == "suspect"


def test_one_answer_at_a_time() -> None:
    generator = np.random.default_rng(3)

    def coin(scores: Scores) -> int:
        return int(generator.integers(len(scores)))

    verdict = statistical_audit(coin, PureDP("0.5"), n=2, samples=1000, explore=100)
    assert verdict.status == "not refuted"
    assert verdict.as_dict()["draws"] == verdict.draws


@pytest.mark.parametrize(
    "function",
    [
        3,
        PermuteAndFlip,
        lambda scores, size: np.full(size, len(scores)),
        lambda scores, size: np.full((size, 2), 0.5),
        lambda scores, size: np.zeros(size + 1, dtype=int),
    ],
)
def test_what_is_no_sampler(function: Any) -> None:
    with pytest.raises(ParameterError):
        statistical_audit(function, PureDP(1), n=2, samples=100, explore=100)


def test_the_claim_and_the_rate_are_checked() -> None:
    with pytest.raises(ParameterError):
        statistical_audit(chain("1"), PureDP(1), false_alarm=0.0)
    wrong: list[Any] = [2, ApproxZCDP(1, "1e-6", "0.001", "5e-7")]
    for claim in wrong:  # the second one's ρ would not be measured
        with pytest.raises(ParameterError, match="is not allowed: give PureDP"):
            statistical_audit(chain("1"), claim, samples=100, explore=100)


def test_confidence_bounds_are_those_of_clopper_and_pearson() -> None:
    from scipy.stats import beta, binom

    for successes, trials in [(0, 10), (3, 10), (10, 10), (500, 1000), (3, 100_000)]:
        for error in (1e-3, 1e-10):
            low, high = (
                lower_confidence(successes, trials, error),
                upper_confidence(successes, trials, error),
            )
            if successes:
                assert low == pytest.approx(
                    beta.ppf(error, successes, trials - successes + 1), rel=1e-6
                )
            if successes < trials:
                assert high == pytest.approx(
                    beta.isf(error, successes + 1, trials - successes), rel=1e-6
                )
    assert upper_tail(30, 100, 0.2) == pytest.approx(binom.sf(29, 100, 0.2), rel=1e-9)
    assert lower_tail(12, 100, 0.2) == pytest.approx(binom.cdf(12, 100, 0.2), rel=1e-9)
    assert (lower_confidence(0, 5, 0.1), upper_confidence(5, 5, 0.1)) == (0.0, 1.0)


@pytest.mark.parametrize(
    "mechanism",
    [
        PermuteAndFlip(epsilon=1),
        Exponential(epsilon=1),
        NoisyMax(epsilon=1, noise="laplace"),
        ExponentialRandomizedResponse(epsilon=1, truth="0.5"),
    ],
)
def test_our_samplers_are_faithful(mechanism: Any) -> None:
    scores = Scores([3, 2.5, 2, 0, -40], sensitivity=1)
    stated = mechanism.probabilities(scores)
    outcome = fidelity_test(sampler_of(mechanism), scores, stated, size=50_000)
    assert outcome.faithful
    assert "not rejected" in str(outcome)


def test_an_unfaithful_sampler_is_found() -> None:
    scores = Scores([3, 2.5, 2, 0], sensitivity=1)
    other = PermuteAndFlip(epsilon=1).probabilities(scores)
    outcome = fidelity_test(sampler_of(Exponential(epsilon=1)), scores, other, size=50_000)
    assert not outcome.faithful
    assert outcome.p_value < 1e-9
    certain = fidelity_test(
        lambda scores, size: np.zeros(size, dtype=int), scores, [1, 0, 0, 0], size=1000
    )
    assert certain.faithful
    assert math.isclose(certain.p_value, 1.0)
    never = fidelity_test(
        lambda scores, size: np.ones(size, dtype=int), scores, [1, 0, 0, 0], size=1000
    )
    assert never.p_value == 0.0


def test_a_fidelity_test_needs_a_statement() -> None:
    scores = Scores([1, 0], sensitivity=1)
    with pytest.raises(ParameterError):
        fidelity_test(lambda scores, size: np.zeros(size, dtype=int), scores)
    with pytest.raises(ParameterError):
        fidelity_test(PermuteAndFlip(epsilon=1), scores, [0.5, 0.6])


def test_labels_errors_and_crowds_are_answers() -> None:
    def louder(scores: Any) -> Any:
        if scores.max() - scores.min() > 1.5:
            raise ValueError("too far apart")
        return ("winner", int(np.argmax(scores)))

    verdict = statistical_audit(louder, PureDP(3), n=2, samples=2000, explore=100, monotonic=True)
    assert not verdict.holds
    assert verdict.witness is not None
    assert verdict.witness.answers[:2] == (0, 1)
    assert {repr(answer) for answer in verdict.witness.answers} >= {"('winner', 0)"}


def test_a_little_argmax_is_rejected_in_a_crowd() -> None:
    def mixture(scores: Any, size: int) -> Any:
        weights = np.exp(2 * (scores.values - scores.values.max()))
        law = 0.9 * weights / weights.sum()
        best = scores.values == scores.values.max()
        law += 0.1 * best / best.sum()
        return np.random.default_rng(7).choice(len(law), size=size, p=law / law.sum())

    # The true loss is about 5.9; a private mechanism at ε = 4 is rejected with probability below 1e-9.
    verdict = statistical_audit(
        mixture, PureDP(4), n=30, samples=200_000, explore=500, monotonic=False
    )
    assert not verdict.holds
    assert verdict.witness is not None
    assert len(verdict.witness.scores) == 30


@pytest.mark.parametrize("answer", [0, 0.25, float("nan")])
@pytest.mark.parametrize("cost", [1e-4, 1e-3])
def test_the_time_is_limited(monkeypatch: pytest.MonkeyPatch, answer: float, cost: float) -> None:
    """The clock advances only with draws. The limit holds to within a second, however slow the draws are."""
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    seen = list[float]()

    def slow(_scores: Any) -> float:
        clock[0] += cost
        seen.append(clock[0])
        return answer + (len(seen) % 1000 if answer == 0.25 else 0)

    verdict = statistical_audit(slow, PureDP(1), monotonic=False, samples=10**6, seconds=3)
    assert clock[0] < 4
    assert verdict.holds
    assert verdict.draws > 0.5 * 3 / cost
    assert "cut short by its time limit" in verdict.notes


def test_a_time_is_positive() -> None:
    with pytest.raises(ParameterError):
        statistical_audit(lambda _scores: 0, PureDP(1), seconds=0)


def _exponential(scores: Any, size: int, generator: np.random.Generator) -> Any:
    weights = np.exp((scores.values - scores.values.max()) / 2)
    return generator.choice(len(weights), size=size, p=weights / weights.sum())


@pytest.mark.parametrize("limit", [700, 12_345])
@pytest.mark.parametrize("beyond", ["the best candidate", "the first candidate"])
def test_another_answer_beyond_a_limit_is_found_far_out(limit: float, beyond: str) -> None:
    """If the answer beyond the limit is constant, only a pair on both sides of the limit shows the loss."""
    generator = np.random.default_rng(21)

    def sample(scores: Any, size: int) -> Any:
        if scores.values.max() > limit:
            return np.full(size, 0 if "first" in beyond else int(scores.values.argmax()))
        return _exponential(scores, size, generator)

    verdict = statistical_audit(sample, PureDP(1), n=2, samples=40_000, monotonic=False)
    assert verdict.status == "suspect"
    assert verdict.witness is not None
    assert limit - 1 <= max(verdict.witness.scores)
    if "first" in beyond:
        assert max(verdict.witness.scores) <= limit + 1
    assert "far out" in verdict.coverage


@pytest.mark.parametrize("fails", ["raises", "nan"])
def test_what_fails_far_out_has_answered(fails: str) -> None:
    generator = np.random.default_rng(22)

    def sample(scores: Any, size: int) -> Any:
        weights = np.exp(scores.values / 2)  # all weights vanish below a score of about -1491
        if fails == "nan" and not weights.sum():
            return [float("nan")] * size
        return generator.choice(len(weights), size=size, p=weights / weights.sum())

    verdict = statistical_audit(sample, PureDP(1), n=2, samples=20_000, monotonic=True)
    assert verdict.status == "suspect"
    assert verdict.witness is not None
    words = "raises ValueError" if fails == "raises" else "not a number"
    assert words in map(repr, verdict.witness.answers)


def test_a_noisy_maximum_is_audited_as_it_is() -> None:
    generator = np.random.default_rng(23)

    def sample(scores: Any, size: int) -> list[Any]:
        noisy = scores.values + generator.exponential(2, (size, len(scores)))
        return list(zip(noisy.argmax(axis=1).tolist(), noisy.max(axis=1).tolist(), strict=True))

    verdict = statistical_audit(sample, PureDP(1), n=3, samples=50_000, monotonic=False)
    assert verdict.status == "suspect"


def test_an_event_that_is_rarer_proves_no_divergence() -> None:
    bound, _ = bound_for(ZCDP(1))
    few, many = np.array([10, 990]), np.array([900, 100])
    assert bound.estimate(few, many, AnswerSet((0,)))[0] == 0
    assert bound.estimate(many, few, AnswerSet((0,)))[0] > 1


@pytest.mark.parametrize("epsilon", [1, 400, 699, 701, 5000, math.inf])
def test_no_epsilon_is_too_large_for_a_lower_bound_on_delta(epsilon: float) -> None:
    bound, _ = bound_for(ApproxDP(epsilon, "1e-6"))
    first, second = np.array([900, 100]), np.array([1, 999])
    proved = bound.proved(first, second, AnswerSet((0,)), 1e-9)
    # P(S) − e^ε Q(S) is about 0.9 − e^ε/1000, which is below every float from ε = 720 on.
    assert proved <= 0.9 - math.exp(min(epsilon, 709)) / 1000
    assert (proved == -math.inf) == (epsilon > 700)
    estimate, spread = bound.estimate(first, second, AnswerSet((0,)))
    assert math.isfinite(estimate)
    assert spread > 0


def test_the_words_of_a_suspicion() -> None:
    verdict = statistical_audit(
        lambda scores: int(scores.argmax()), PureDP(1), n=2, samples=2000, explore=100
    )
    assert "suspect" in str(verdict)
    assert "refuted" not in str(verdict)
    assert "probability at most 1e-09" in str(verdict)
