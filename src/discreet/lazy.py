"""Permute-and-flip over a score *function*, when the best possible score is public.

Permute-and-flip needs the best score q* before it can flip its first coin, so it must evaluate every
candidate. If a public bound on all scores is known (no model makes fewer than zero mistakes), the bound can
be used as q*: candidates are then evaluated one at a time, in random order, until one is chosen. If a
score is expensive (a model to train, a file to read), this saves most of the work, provided that good
candidates come close to the bound.

``docs/proofs/lazy-evaluation.md`` proves that this is private, and shows two tempting variants that are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from discreet._exact.distribution.coin_flips import unbeaten
from discreet._exact.numbers.exact import positive, positive_distance, refuse
from discreet._exact.sampling import Bits, SecureBits, uniform_below
from discreet._exact.sampling.coins import Heads, Uniform, falls_heads
from discreet.errors import ParameterError, ScoresError
from discreet.guarantees import Guarantee, PureDP
from discreet.guarantees.claims import CLAIMS
from discreet.mechanisms import PermuteAndFlip
from discreet.release import Release
from discreet.scores import Scores

__all__ = ["LazyPermuteAndFlip"]

G = TypeVar("G", bound=Guarantee)


class LazyPermuteAndFlip:
    """Permute-and-flip that evaluates candidates only as it visits them, and may answer "none of them".

    A *stand-in* candidate whose score is the public bound joins the n real ones, and all n + 1 are visited
    in random order. The stand-in's coin always comes up heads, so the visits end there at the latest, with
    the answer None. Only the bound is used as q*, so nothing needs to be known about candidates not yet
    visited.

    Distribution: that of permute-and-flip on the n scores and the bound. A score beyond the bound counts as
    the bound.

    Guarantee: that of permute-and-flip at ε. It needs a sensitivity: a range distance is not enough, because
    the stand-in does not move with the other scores.

    Proof: ``docs/proofs/lazy-evaluation.md``.

    Cost: at most n evaluations. **How many were needed is not covered by the guarantee**: do not
    publish the number or let anyone time the call; a score function that takes a fixed time does not hide it.

    Args:
        bound: a public number that no score can beat, whatever the data.

    Example:
        >>> mistakes = {"forest": 0, "tree": 3, "coin": 480}
        >>> lazy = LazyPermuteAndFlip(epsilon=10, bound=0, sensitivity=1, monotonic=True, optimize="min")
        >>> lazy.select(list(mistakes), mistakes.get) in ("forest", None)
        True
        >>> lazy.guarantee()
        PureDP(10)
    """

    __slots__ = ("_bound", "_epsilon", "_monotonic", "_optimize", "_scale", "_sensitivity")
    name = "lazy-permute-and-flip"
    private = True
    proof = "docs/proofs/lazy-evaluation.md"

    def __init__(
        self,
        epsilon: object,
        *,
        bound: object,
        sensitivity: object,
        monotonic: bool = False,
        optimize: str = "max",
    ) -> None:
        if not isinstance(monotonic, bool):
            raise refuse("monotonic", monotonic, "True or False")
        if optimize not in ("max", "min"):
            raise refuse("optimize", optimize, '"max" or "min"')
        self._epsilon = positive("epsilon", epsilon)
        self._sensitivity = positive_distance("sensitivity", sensitivity)
        try:
            self._bound = _exact(bound)  # like a score, a float means its binary value
        except ScoresError:
            raise refuse("bound", bound, "a finite number") from None
        self._monotonic = monotonic
        self._optimize = optimize
        self._scale = self._sensitivity * (1 if monotonic else 2) / self._epsilon

    def __repr__(self) -> str:
        return (
            f"LazyPermuteAndFlip(epsilon={self._epsilon}, bound={self._bound}, "
            f"sensitivity={self._sensitivity}, monotonic={self._monotonic}, optimize={self._optimize!r})"
        )

    @property
    def epsilon(self) -> Fraction:
        """ε as given, exactly."""
        return self._epsilon

    # ---- release -------------------------------------------------------------------------------

    def select(self, candidates: Sequence[Any], score: Callable[[Any], Any]) -> Any:
        """Choose one candidate, or None, in one release that is sampled exactly from secure random bits.

        Args:
            candidates: public labels, all different; None is not allowed.
            score: called at most once per candidate, with the candidate; returns its score.
        """
        return self._choose(_checked(candidates), score, SecureBits())

    def release(
        self,
        candidates: Sequence[Any],
        score: Callable[[Any], Any],
        *,
        neighbours: str = "data sets whose scores are neighbours",
    ) -> Release:
        """Choose as ``select`` does; return the answer with its guarantee, never the number of visits."""
        return Release(
            answer=self.select(candidates, score),
            guarantee=self.guarantee(),
            mechanism=self.name,
            neighbours=neighbours,
        )

    def guarantee(self, measure: type[G] = PureDP, delta: object = None) -> G:  # type: ignore[assignment]  # the default is one of the measures
        """Return the guarantee of one release in ``measure``: that of permute-and-flip."""
        any_scores = Scores([0, 0], range_distance=1)
        whole = PermuteAndFlip(epsilon=self._epsilon).guarantee(any_scores, measure, delta)
        assert whole.proof is not None
        return whole.resting_on(whole.proof.then(CLAIMS["lazy", "stand-in"]))

    def _choose(self, candidates: Sequence[Any], score: Callable[[Any], Any], bits: Bits) -> Any:
        for place in _random_order(len(candidates) + 1, bits):
            if place == len(candidates):
                return None
            gamma = self._gap(_evaluated(score, candidates[place])) / self._scale
            if gamma == 0 or falls_heads(Uniform(bits), Heads(), gamma, boost=0):
                return candidates[place]
        raise AssertionError("the stand-in is always visited")

    def _gap(self, value: Fraction) -> Fraction:
        """Return how far a score is behind the bound; clamping to the bound keeps Δ and monotonicity."""
        behind = self._bound - value if self._optimize == "max" else value - self._bound
        return max(Fraction(0), behind)

    # ---- study: reads scores without spending budget; the results are not private ----------------

    def probabilities(self, scores: Scores) -> npt.NDArray[np.float64]:
        """Return the probability of each candidate and, last, of None. **Not private**."""
        gaps = [-self._gap(Fraction(value)) for value in scores.values.tolist()]
        return PermuteAndFlip(scale=self._scale).probabilities(
            Scores([*gaps, Fraction(0)], range_distance=1)
        )

    def expected_evaluations(self, scores: Scores) -> float:
        """Return the mean number of calls of the score function on these scores. **Not private**.

        Candidate r is evaluated if no coin before it, the stand-in's included, came up heads. The
        probability of this is the probability that r is chosen, divided by the probability that r's coin
        comes up heads. The result is the sum of these quotients.

        Example:
            >>> lazy = LazyPermuteAndFlip(epsilon=1, bound=0, sensitivity=1, monotonic=True)
            >>> round(lazy.expected_evaluations(Scores([0] * 99, sensitivity=1)), 10)
            0.99
        """
        behind = (self._gap(Fraction(value)) / self._scale for value in scores.values.tolist())
        gaps = np.array([0.0, *map(float, behind)])  # the stand-in comes first
        chances = unbeaten(np.exp(-gaps), lambda which: -np.expm1(-gaps[which]))
        return float(chances[1:].sum())


def _exact(value: object) -> Fraction:
    return Fraction(Scores([value], sensitivity=1).values.tolist()[0])


def _checked(candidates: Sequence[Any]) -> Sequence[Any]:
    if (
        isinstance(candidates, str | bytes)
        or not isinstance(candidates, Sequence)
        or not candidates
    ):
        raise ParameterError("candidates must be a sequence of at least one label")
    if not isinstance(candidates, range):
        try:
            different = set(candidates)
        except TypeError:
            raise ParameterError("candidates must be hashable labels") from None
        if len(different) != len(candidates) or None in different:
            raise ParameterError(
                "candidates must all be different, and None is the answer 'none of them'"
            )
    return candidates


def _evaluated(score: Callable[[Any], Any], candidate: Any) -> Fraction:
    """Evaluate one candidate and return its exact score; errors never contain a value."""
    try:
        value = score(candidate)
    except Exception as error:
        # An exception may quote data, so only its type is passed on, without the cause.
        raise ScoresError(f"the score function raised {type(error).__name__}") from None
    return _exact(value)


def _random_order(count: int, bits: Bits) -> Iterator[int]:
    """Yield the numbers below ``count`` in uniformly random order, drawing only as many as are needed."""
    moved: dict[int, int] = {}
    for place in range(count):
        chosen = place + uniform_below(bits, count - place)
        yield moved.get(chosen, chosen)
        moved[chosen] = moved.get(place, place)
