"""The ε needed for a given accuracy, computed from scores, or from n alone before any data is read.

Every tail of the error falls as ε grows (``docs/proofs/worst-case-error.md``), so the least ε that meets a
target is the root of a monotone function. The search first brackets the root and then refines the bracket.
The returned ε has been evaluated and meets the target; an unreachable target raises an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from discreet._exact.numbers.exact import positive, probability
from discreet._exact.numbers.searches import least_root
from discreet.analysis.error import (
    CandidateErrors,
    candidate_errors,
    expected_error,
    score_difference,
)
from discreet.analysis.family import family_name
from discreet.analysis.worst_case import worst_case_error, worst_case_tail
from discreet.errors import ParameterError, ScoresError
from discreet.mechanisms import Mechanism, PermuteAndFlip
from discreet.mechanisms.registry import Family, member
from discreet.scores import Scores

_LARGEST_LOG = 600.0
# In float64, the first of these noise scales makes every choice uniform, and the second adds no noise.
_ENDS = (Fraction(2) ** 1400, Fraction(1, 2**1400))


class ErrorBasis:
    """The data that errors are measured on: given scores, or the worst data with n candidates.

    Exactly one of ``scores`` and ``n`` is given; the other arguments apply only to ``n``.
    """

    def __init__(
        self,
        scores: Scores | None,
        *,
        n: int | None,
        sensitivity: object,
        monotonic: bool,
        gap: object,
    ) -> None:
        if (scores is None) == (n is None):
            raise ParameterError("give exactly one of scores and ⟨n⟩")
        if scores is not None and not (gap is None and sensitivity is None and not monotonic):
            raise ParameterError(
                "⟨gap⟩, ⟨sensitivity⟩ and ⟨monotonic⟩ can only be used with ⟨n⟩; scores have their own"
            )
        self.scores = scores
        self._public: dict[str, Any] = {
            "n": n,
            "sensitivity": 1 if sensitivity is None else sensitivity,
            "monotonic": monotonic,
            "gap": 0 if gap is None else gap,
        }

        @cache
        def errors(optimize: str) -> CandidateErrors:
            """Return the candidates' errors, which depend on ``optimize`` but not on ε."""
            assert scores is not None
            return candidate_errors(PermuteAndFlip(epsilon=1, optimize=optimize), scores)

        @cache
        def above(optimize: str, limit: Fraction) -> Any:
            return errors(optimize).at_least(limit, strictly=True)

        self._errors, self._above = errors, above

    def error(self, mechanism: Mechanism) -> float:
        """Return the expected error on the given scores, or the largest expected error on any data."""
        if self.scores is None:
            return worst_case_error(mechanism, **self._public)
        return self._errors(mechanism.optimize).mean(mechanism.probabilities(self.scores))

    def tail(self, mechanism: Mechanism, limit: Fraction) -> float:
        """Return Pr[error > limit] on the given scores, or the worst Pr[error ≥ limit] on any data."""
        if self.scores is None:
            return worst_case_tail(mechanism, t=limit, **self._public)
        above = self._above(mechanism.optimize, limit)
        return float(mechanism.probabilities(self.scores)[above].sum())


@dataclass(frozen=True, slots=True)
class _Goal:
    """A figure of a mechanism that falls as ε grows, such as its error, and the value it must not exceed."""

    figure: Callable[[Mechanism], float]
    target: float
    words: str


def epsilon_for(
    mechanism: Family,
    scores: Scores | None = None,
    *,
    expected_error: object = None,
    error_at_most: object = None,
    with_probability: object = None,
    n: int | None = None,
    gap: object = None,
    sensitivity: object = None,
    monotonic: bool = False,
) -> float:
    """Return the least ε at which a mechanism is accurate enough; zero if a uniform choice already is.

    With ``scores`` the result is for exactly these scores, and is **not private**. With ``n`` and
    ``sensitivity`` no data is read. The result then holds for any data; with ``gap``, for any data whose
    runner-up lies at least that far below the best.

    Args:
        mechanism: a class, a registered name, or a mechanism whose ε is ignored.
        scores: the scores to plan for.
        expected_error: the mean error must be at most this.
        error_at_most: the error must be at most this ...
        with_probability: ... with at least this probability.
        n: the number of candidates, instead of ``scores``.
        gap: with ``n``: assume that the runner-up lies at least this far below the best; by default 0.
        sensitivity: with ``n``: Δ; by default 1.
        monotonic: with ``n``: whether one person moves all scores in the same direction.

    Example:
        >>> from discreet import Exponential, PermuteAndFlip
        >>> scores = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> round(epsilon_for(Exponential, scores, expected_error=1), 4)
        0.1832
        >>> round(epsilon_for(PermuteAndFlip, scores, expected_error=1), 4)
        0.139
        >>> round(epsilon_for(PermuteAndFlip, n=1000, error_at_most=20, with_probability="0.95"), 4)
        0.9175
    """
    basis = ErrorBasis(scores, n=n, sensitivity=sensitivity, monotonic=monotonic, gap=gap)
    if (expected_error is None) == (error_at_most is None):
        raise ParameterError("give exactly one of ⟨expected_error⟩ and ⟨error_at_most⟩")
    if (error_at_most is None) != (with_probability is None):
        raise ParameterError("⟨error_at_most⟩ and ⟨with_probability⟩ go together")
    if expected_error is not None:
        target = float(score_difference("expected_error", expected_error))
        goal = _Goal(basis.error, target, f"⟨expected_error⟩{expected_error}")
    else:
        limit = score_difference("error_at_most", error_at_most)
        target = float(1 - probability("with_probability", with_probability))
        words = f"⟨error_at_most⟩{error_at_most} with probability {with_probability}"
        goal = _Goal(lambda mechanism: basis.tail(mechanism, limit), target, words)
    return _least_epsilon(mechanism, goal)


def budget_ratio(
    mechanism: Family, reference: Family, scores: Scores, *, epsilon: object = None
) -> float:
    """Return the mechanism's ε divided by the ε of ``reference`` at the same expected error.

    ``epsilon`` is the ε of ``reference``, by default ``reference.epsilon``. **Not private**.

    Example:
        >>> from discreet import Exponential, PermuteAndFlip
        >>> scores = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> round(budget_ratio(Exponential, PermuteAndFlip(epsilon="0.1"), scores), 3)
        1.401
    """
    if epsilon is None:
        if not isinstance(reference, Mechanism) or reference.epsilon is None:
            raise ParameterError(
                "give ⟨epsilon⟩, or a reference with its own, such as PermuteAndFlip(epsilon=1)"
            )
        epsilon = reference.epsilon
    spent = positive("epsilon", epsilon)
    error = expected_error(member(reference, spent), scores)
    if error == 0:
        raise ScoresError(
            "the reference makes no error on these scores, so there is no error to match"
        )
    return epsilon_for(mechanism, scores, expected_error=error) / float(spent)


def _least_epsilon(family: Family, goal: _Goal) -> float:
    blind, noiseless = (goal.figure(_with_scale(family, scale)) for scale in _ENDS)
    if blind <= goal.target:
        return 0.0
    if noiseless >= goal.target:
        raise ParameterError(
            f"{goal.words} cannot be met by {family_name(family)}: the best reachable, as ε grows, "
            f"approaches {_reachable(goal, noiseless)}"
        )

    def excess(log_epsilon: float) -> float:
        # Errors fall like e^−ε, so their logarithms guide the search (the target is above zero here). The
        # sign comes from comparing the numbers themselves.
        figure = goal.figure(member(family, math.exp(log_epsilon)))
        steering = math.log(max(figure, 5e-324)) - math.log(goal.target)
        return max(steering, 5e-324) if figure > goal.target else min(steering, 0.0)

    root = least_root(excess, farthest=_LARGEST_LOG)
    if root is None:
        raise ParameterError(
            f"{goal.words} cannot be met by {family_name(family)} at any ε between 10^−260 and 10^260"
        )
    return math.exp(root)


def _with_scale(family: Family, scale: object) -> Mechanism:
    """Return the member of the family with this noise scale."""
    mechanism = member(family, 1)
    rest = {k: v for k, v in mechanism.parameters().items() if k not in ("epsilon", "scale")}
    return type(mechanism)(scale=scale, **rest)


def _reachable(goal: _Goal, noiseless: float) -> str:
    if "probability" in goal.words:
        return f"probability {1 - noiseless:.6g}"
    return f"{noiseless:.6g}" if noiseless > 1e-300 else "0"
