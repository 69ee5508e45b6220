"""Disclosure risk: how sure an attacker can become about which data set is the real one.

The attacker of the exponential randomized response paper (Section IV) knows a list of possible *worlds*,
has a prior belief in each, sees one answer and applies Bayes' rule. The *disclosure risk* is the largest
posterior belief that any answer can give. The paper bounds it by 1/(1 + (m−1)e^−ε) for m equally likely
worlds. That bound holds only if every two worlds are neighbours; worlds that are k steps apart need e^−kε.
This module measures the distance between the worlds' scores instead of assuming it
(``docs/proofs/disclosure-risk.md``).

``disclosure_risk`` reads the scores of the worlds, so it is **not private** if one of them is real data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.numbers.exact import positive, positive_distance, probability, refuse, whole
from discreet.analysis.family import noise_scale, required
from discreet.errors import ParameterError, ScoresError
from discreet.guarantees import PureDP
from discreet.mechanisms import Mechanism
from discreet.mechanisms.facts import Floats
from discreet.scores import Scores

_ONLY_DELTA = (
    "{name} promises only (ε, δ): in an event of probability δ nothing is promised, so one answer may "
    "prove which world is real, and no bound below 1 holds"
)
_NO_PROOF = (
    "{name} has no privacy guarantee: the risk below is exact for these worlds, but there is no bound for "
    "other worlds, and one more person can make the attacker certain"
)


@dataclass(frozen=True, slots=True)
class DisclosureRisk:
    """The most that one answer can reveal about which world is real.

    Attributes:
        risk: the largest posterior belief in any world, over all answers.
        world: the position of the world with that belief.
        answer: the answer (a candidate) that causes that belief.
        guess: the probability that an attacker who always guesses the likeliest world is right.
        blind: the same probability before any answer, which is the largest prior.
        bound: the upper bound on ``risk`` that the guarantee implies; 1 without a guarantee.
        steps: the largest distance between two worlds, in multiples of the range distance.
        warning: a reason not to rely on these numbers, or None.
        posterior: the belief in each world (row) after each answer (column).

    Example:
        >>> from discreet import PermuteAndFlip
        >>> worlds = [Scores(q, sensitivity=1, monotonic=True) for q in ([3, 2], [2, 2])]
        >>> risk = disclosure_risk(PermuteAndFlip(epsilon=1), worlds)
        >>> risk.blind, round(risk.risk, 3), risk.risk <= risk.bound
        (0.5, 0.731, True)
    """

    risk: float
    world: int
    answer: Any
    guess: float
    blind: float
    bound: float
    steps: float
    warning: str | None
    posterior: Floats = field(repr=False)

    def __float__(self) -> float:
        return self.risk


def disclosure_risk(
    mechanism: Mechanism, worlds: Iterable[Scores], *, prior: Sequence[object] | None = None
) -> DisclosureRisk:
    """Return the most that one answer can reveal about which world is real. **Not private**.

    Args:
        mechanism: the mechanism whose answer is seen.
        worlds: the scores in each possible world: the same candidates, sensitivity and monotonicity.
        prior: the attacker's prior belief in each world; by default uniform.

    Example:
        >>> from discreet import Exponential
        >>> worlds = [Scores(q, sensitivity=1, monotonic=True) for q in ([9, 20], [10, 19])]
        >>> risk = disclosure_risk(Exponential(epsilon=1), worlds)
        >>> round(risk.risk, 3), round(risk.bound, 3), risk.steps
        (0.881, 0.881, 2.0)
        >>> round(disclosure_bound(1), 3)  # as published: too small, because they are two steps apart
        0.731
    """
    listed = _worlds(worlds)
    required(mechanism)
    beliefs = _prior(prior, len(listed))
    logs = np.array([mechanism.log_probabilities(world) for world in listed])
    posterior = _bayes(np.log(beliefs)[:, None] + logs)
    world, answer = np.unravel_index(int(np.argmax(posterior)), posterior.shape)
    joint = beliefs[:, None] * np.exp(logs)
    distances = _distances(listed)
    return DisclosureRisk(
        risk=float(posterior[world, answer]),
        world=int(world),
        answer=listed[0].candidates[int(answer)],
        guess=min(1.0, float(joint.max(axis=0).sum())),
        blind=float(beliefs.max()),
        bound=_bound(mechanism, listed[0], beliefs, distances),
        steps=float(max(map(max, distances)) / listed[0].range_distance),
        warning=_warning(mechanism, listed[0]),
        posterior=posterior,
    )


def disclosure_bound(epsilon: object, *, worlds: int = 2, steps: object = None) -> float:
    """Return 1/(1 + (m−1)e^−kε), a bound on an attacker's belief in any world after an ε-DP answer.

    m is the number of equally likely ``worlds``. Any two of them are at most k = ``steps`` steps of the
    neighbour relation apart. The default is two worlds, with and without one person, which are one step
    apart. For more than two worlds the default is two steps, as between worlds that differ in *who is
    missing*: if neighbours add or remove a person, three worlds cannot all be neighbours of each other. The
    published formula always uses k = 1.

    Example:
        >>> round(disclosure_bound(1), 4)
        0.7311
        >>> round(disclosure_bound(1, worlds=201), 4), round(disclosure_bound(1, worlds=201, steps=1), 4)
        (0.0356, 0.0134)
    """
    count = whole("worlds", worlds)
    reach = positive("epsilon", epsilon) * steps_between(count, steps)
    return 1 / (1 + (count - 1) * math.exp(-min(float(reach), 1e6)))


def epsilon_for_risk(risk: object, *, worlds: int = 2, steps: object = None) -> float:
    """Return the largest ε whose ``disclosure_bound`` is at most ``risk``, rounded down.

    Example:
        >>> [round(epsilon_for_risk("0.2", worlds=201, steps=steps), 4) for steps in (1, 2)]
        [3.912, 1.956]
    """
    count = whole("worlds", worlds, least=2)
    tolerated = probability("risk", risk)
    if tolerated * count <= 1:
        raise refuse("risk", risk, f"above 1/{count}, the belief in each world before any answer")
    if tolerated == 1:
        return math.inf
    odds = (count - 1) * tolerated / (1 - tolerated)
    epsilon = math.log(odds) / float(steps_between(count, steps))
    while epsilon > 0 and disclosure_bound(epsilon, worlds=count, steps=steps) > tolerated:
        epsilon = math.nextafter(epsilon, 0.0)
    return epsilon


def steps_between(worlds: int, steps: object) -> Fraction:
    """Return how many steps apart worlds can be: ``steps``, by default 1 for two worlds and 2 for more."""
    return Fraction(min(worlds, 3) - 1) if steps is None else positive_distance("steps", steps)


def _worlds(worlds: Iterable[Scores]) -> list[Scores]:
    listed = list(worlds)
    if not listed or not all(isinstance(world, Scores) for world in listed):
        raise ParameterError("worlds must be at least one Scores")
    first = listed[0]
    for world in listed:
        if list(world.candidates) != list(first.candidates):
            raise ScoresError("all worlds must have the same candidates in the same order")
        if (world.range_distance, world.monotonic) != (first.range_distance, first.monotonic):
            raise ScoresError("all worlds must have the same sensitivity and monotonicity")
    return listed


def _prior(prior: Sequence[object] | None, count: int) -> Floats:
    if prior is None:
        return np.full(count, 1 / count)
    exact = [probability("prior", belief) for belief in prior]
    if len(exact) != count:
        raise ParameterError(f"prior has {len(exact)} beliefs for {count} worlds")
    total = sum(exact, Fraction(0))
    if min(exact) == 0 or abs(total - 1) > Fraction(1, 10**9):
        raise ParameterError("prior must be beliefs above 0 that add up to 1")
    return np.array([float(belief / total) for belief in exact])


def _bayes(log_joint: Floats) -> Floats:
    """Return the posterior beliefs, a column per answer; zeros if the answer is impossible in every world."""
    top = log_joint.max(axis=0)
    possible = top > -math.inf
    weights = np.zeros_like(log_joint)
    weights[:, possible] = np.exp(log_joint[:, possible] - top[possible])
    weights[:, possible] /= weights[:, possible].sum(axis=0)
    return weights


def _distances(worlds: list[Scores]) -> list[list[Fraction]]:
    """Return the exact range distance between the scores of each pair of worlds."""
    exact = [[Fraction(value) for value in world.values.tolist()] for world in worlds]

    def distance(one: list[Fraction], other: list[Fraction]) -> Fraction:
        moved = [after - before for before, after in zip(one, other, strict=True)]
        return max(moved) - min(moved)

    return [[distance(one, other) for other in exact] for one in exact]


def _warning(mechanism: Mechanism, scores: Scores) -> str | None:
    if not mechanism.private:
        return _NO_PROOF.format(name=mechanism.name)
    pure = mechanism.promise_at(scores.range_distance).to(PureDP).exact
    noisy = noise_scale(mechanism, scores.range_distance) > 0
    return _ONLY_DELTA.format(name=mechanism.name) if pure == math.inf and noisy else None


def _bound(
    mechanism: Mechanism, scores: Scores, beliefs: Floats, distances: list[list[Fraction]]
) -> float:
    """Return the proved bound on any posterior belief; 1 without a proof.

    The bound is the largest π_w / Σ_v π_v e^(−D(w, v)/s) over all worlds w, with prior beliefs π, distances D
    and the noise scale s.
    """
    if _warning(mechanism, scores) is not None:
        return 1.0
    scale = noise_scale(mechanism, scores.range_distance)
    if scale == 0:
        return 1.0
    reach = np.array([[float(min(d / scale, Fraction(10**6))) for d in row] for row in distances])
    return float((beliefs / (np.exp(-reach) @ beliefs)).max())
