"""Two tempting variants of lazy evaluation that are **not** private, for study and for the audit.

Both modify ``discreet.lazy``; ``docs/proofs/lazy-evaluation.md`` shows what each one leaks.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms import PermuteAndFlip
from discreet.mechanisms.facts import Floats
from discreet.scores import Scores

_FEW = 12


class StartOver:
    """Lazy evaluation that starts over if all coins are tails, instead of answering None. Not ε-DP.

    Its distribution approaches the exponential mechanism's as the bound moves away, and permute-and-flip's as
    a candidate reaches the bound. In between it is not ε-DP: for monotonic scores (0, −c) and a bound of 0,
    the real ε tends to ε + ln(2 − e^−ε) as c grows, and is nearly 2ε for small ε.

    Args:
        epsilon: the ε from which the coins are computed.
        bound: the public bound on all scores.

    Example:
        >>> tempting = StartOver(epsilon=1, bound=0)
        >>> near, far = (Scores(q, sensitivity=1, monotonic=True) for q in ([0, -30], [-1, -30]))
        >>> log_ratio = math.log(tempting.probabilities(far)[1] / tempting.probabilities(near)[1])
        >>> round(log_ratio, 4), round(1 + math.log(2 - math.exp(-1)), 4)
        (1.4899, 1.4899)
    """

    name = "start-over"
    private = False

    def __init__(self, epsilon: object, *, bound: float | Fraction) -> None:
        self._mechanism = PermuteAndFlip(epsilon=epsilon)
        self._bound = Fraction(bound)

    def probabilities(self, scores: Scores) -> Floats:
        """Return each candidate's probability: Pr[r | some coin is heads in a round]."""
        gaps = _bounded_gaps(scores, self._bound)
        assert self._mechanism.epsilon is not None
        rate = self._mechanism.epsilon / scores.range_distance
        coins = np.exp(-np.array([float(gap * rate) for gap in gaps]))
        nodes, weights = np.polynomial.legendre.leggauss(64)
        nodes, weights = (nodes + 1) / 2, weights / 2
        # A round returns r with probability p_r ∫ Π_{t≠r} (1 − u·p_t) du. The integrand has degree n − 1,
        # and 64 nodes integrate it exactly up to degree 127.
        tails = 1 - nodes[:, None] * coins
        heads = coins * (weights @ (tails.prod(axis=1, keepdims=True) / tails))
        return np.asarray(heads / heads.sum(), dtype=np.float64)


def answer_and_visits(
    epsilon: object, scores: Scores, *, bound: float | Fraction
) -> dict[tuple[int | None, int], float]:
    """Return the joint distribution of the lazy answer (None for "none") and the number of evaluations.

    The answer alone is ε-DP. Together with the count it has no privacy: with one candidate, "none after one
    evaluation" has probability zero exactly when the candidate reaches the bound.

    Example:
        >>> reached, missed = (Scores([q], sensitivity=1) for q in (0, -1))
        >>> answer_and_visits(1, reached, bound=0)[None, 1]
        0.0
        >>> round(answer_and_visits(1, missed, bound=0)[None, 1], 4)
        0.1967
    """
    if len(scores) > _FEW:
        raise ParameterError(f"all orders are enumerated: at most {_FEW} candidates")
    rate = Fraction(PermuteAndFlip(epsilon=epsilon).epsilon or 0) / scores.range_distance
    coins = [math.exp(-float(gap * rate)) for gap in _bounded_gaps(scores, Fraction(bound))]
    n = len(coins)
    joint: dict[tuple[int | None, int], float] = {}
    for visits in range(n + 1):
        # Candidates with tails before r may have been visited in any order, all equally likely.
        for before in combinations(range(n), visits):
            vain = (
                math.prod(1 - coins[t] for t in before)
                / math.comb(n + 1, visits)
                / (n + 1 - visits)
            )
            joint[None, visits] = joint.get((None, visits), 0.0) + vain
            for r in set(range(n)) - set(before):
                joint[r, visits + 1] = joint.get((r, visits + 1), 0.0) + vain * coins[r]
    return joint


def _bounded_gaps(scores: Scores, bound: Fraction) -> list[Fraction]:
    return [max(Fraction(0), bound - Fraction(value)) for value in scores.values.tolist()]
