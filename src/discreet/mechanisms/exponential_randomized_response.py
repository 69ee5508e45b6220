"""Exponential randomized response: for study only, because its published privacy proof is wrong."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from discreet._exact import distribution, sampling
from discreet._exact.gaps import Gaps, require_finite
from discreet._exact.numbers.balls import ball_of
from discreet._exact.numbers.exact import Exact, probability, refuse, whole
from discreet._exact.sampling import Bits
from discreet._exact.sampling.bits import source_of_bits
from discreet.errors import NotPrivateError
from discreet.guarantees import Guarantee, PureDP
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.facts import Facts, Floats
from discreet.mechanisms.mechanism import Indices, Mechanism
from discreet.release import Release
from discreet.scores import Scores

_REFUSAL = (
    "exponential randomized response is not released: its published proof is wrong and its real ε is "
    "unbounded (run `discreet audit exponential-randomized-response`, or read "
    "docs/proofs/exponential-randomized-response.md)"
)


_CHAINED = Facts(
    title="exponential randomized response",
    proof="docs/proofs/exponential-randomized-response.md",
    checked_as="",
    law=None,
    ball_law=None,
    symmetric=True,
    regular=False,
    missed=None,
    hardest_known=False,
    free_gap=False,
    merges=False,
    compared=False,
)
_FACTS = {
    "complete": _CHAINED,
    "naive": replace(_CHAINED, title="naive exponential randomized response", hardest_known=True),
}


class ExponentialRandomizedResponse(Mechanism):
    """Choose uniformly from the top set T with probability ``truth``, else by the exponential mechanism.

    ``variant="naive"``: T is the set of best candidates. ``variant="complete"``: T is the chain of
    Algorithm 3 of Munilla Garrido and Matthes. It starts at the best candidate and ends where two consecutive
    scores differ by more than Δ.

    Distribution: Pr[r] = (1 − π)·p_r/Σp + (π/m if r ∈ T else 0), π = ``truth``, m = the size of T.

    Guarantee: **none**, ε = ∞. One person can change T, and a probability of nearly zero then becomes π/m;
    see ``docs/proofs/exponential-randomized-response.md``. ``select`` and ``release`` always raise an error.
    ``probabilities`` and ``sample`` are for study.

    Example:
        >>> from discreet import Scores
        >>> scores = Scores([5, 3, 1], sensitivity=1)
        >>> ExponentialRandomizedResponse(epsilon=1, truth="0.75").probabilities(scores).round(3)
        array([0.916, 0.061, 0.023])
        >>> ExponentialRandomizedResponse(epsilon=1, truth="0.75").guarantee(scores)
        PureDP(inf)
    """

    __slots__ = ("_truth", "_variant")
    _truth: Fraction
    _variant: str
    private = False
    takes_unequal = False

    def __init__(
        self,
        epsilon: object = None,
        *,
        scale: object = None,
        optimize: str = "max",
        truth: object = "0.75",
        variant: str = "complete",
    ) -> None:
        super().__init__(epsilon, scale=scale, optimize=optimize)
        if not isinstance(variant, str) or variant not in ("complete", "naive"):
            raise refuse("variant", variant, '"complete" or "naive"')
        object.__setattr__(self, "_truth", probability("truth", truth))
        object.__setattr__(self, "_variant", variant)

    @property
    def truth(self) -> Fraction:
        """π: the probability of answering from the top set."""
        return self._truth

    @property
    def variant(self) -> str:
        """``"complete"`` (the chain) or ``"naive"`` (the best candidates only)."""
        return self._variant

    @property
    def name(self) -> str:  # type: ignore[override]  # one name per variant
        """The name on the command line and in reports."""
        tail = "" if self._variant == "complete" else "-naive"
        return f"exponential-randomized-response{tail}"

    @property
    def facts(self) -> Facts:  # type: ignore[override]  # the variants differ
        """Known facts about the mechanism besides its guarantee."""
        return _FACTS[self._variant]

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that recreate this mechanism."""
        return {**super().parameters(), "truth": self._truth, "variant": self._variant}

    def select(self, scores: Scores) -> NoReturn:  # noqa: ARG002  # it refuses whatever it is given
        """Raise an error, because the mechanism has no guarantee."""
        raise NotPrivateError(_REFUSAL)

    def select_index(self, scores: Scores) -> NoReturn:  # noqa: ARG002  # as above
        """Raise an error, because the mechanism has no guarantee."""
        raise NotPrivateError(_REFUSAL)

    def select_each(self, values: object, **stated: object) -> NoReturn:  # noqa: ARG002  # as above
        """Raise an error, because the mechanism has no guarantee."""
        raise NotPrivateError(_REFUSAL)

    def release(self, scores: Scores, *, neighbours: str = "") -> Release:  # noqa: ARG002  # as above
        """Raise an error, because the mechanism has no guarantee."""
        raise NotPrivateError(_REFUSAL)

    def sample(self, scores: Scores, size: int, *, randomness: Bits | None = None) -> Indices:
        """Draw the position of the chosen candidate ``size`` times. **Not private**: for study only."""
        size = whole("size", size, least=0)
        bits = source_of_bits(randomness)
        draws = super().sample(scores, size, randomness=bits)
        honest = sampling.biased_coins(bits, self._truth, count=size)
        top = np.flatnonzero(self.top_set(scores))
        picks = sampling.uniform_indices(bits, len(top), count=int(honest.sum()))
        draws[honest] = top[picks]
        return draws

    def top_set(self, scores: Scores) -> npt.NDArray[np.bool_]:
        """Return a mask of the candidates in the top set T. **Not private**."""
        largest = self._optimize == "max"
        if self._variant == "naive":
            members = sampling.best_indices(scores.values, largest_is_best=largest)
        else:
            members = _chain(
                scores.values, scores.range_distance / (1 if scores.monotonic else 2), largest
            )
        top = np.zeros(len(scores), dtype=np.bool_)
        top[members] = True
        return top

    def ball_probabilities(self, scores: Scores, *, bits: int = 200) -> list[Any]:
        """Return intervals (flint ``arb``) that contain the probabilities, for audits. **Not private**."""
        plain = Exponential(**super().parameters()).ball_probabilities(scores, bits=bits)
        top = self.top_set(scores).tolist()
        truth, part = ball_of(self._truth), ball_of(self._truth / sum(top))
        return [
            (1 - truth) * mass + (part if member else 0)
            for mass, member in zip(plain, top, strict=True)
        ]

    def _mass(self, scores: Scores, *, log: bool) -> Floats:
        if self._scale_for(scores) == 0:
            best = sampling.best_indices(scores.values, largest_is_best=self._optimize == "max")
            gammas, correction = np.full(len(scores), np.inf), None
            gammas[best] = 0.0
        else:
            gammas, correction = self.gaps(scores).gammas()
        mass = distribution.exponential(gammas, correction, log=log)
        top, truth = self.top_set(scores), float(self._truth)
        share = truth / np.count_nonzero(top)
        if not log:
            mass *= 1.0 - truth
            mass[top] += share
            return mass
        mass += math.log1p(-truth) if truth < 1.0 else -math.inf
        if truth > 0.0:
            mass[top] = np.logaddexp(mass[top], math.log(share))
        return mass

    def _draw(self, gaps: Gaps, bits: Bits) -> int:
        return sampling.proportional(gaps, bits)

    def _draw_many(self, gaps: Gaps, size: int, bits: Bits) -> Indices:
        return sampling.proportionals(gaps, size, bits)

    def _distribution(self, gammas: Floats, correction: Floats, *, log: bool) -> Floats:
        return distribution.exponential(gammas, correction, log=log)

    def _promise(self, epsilon: Exact) -> Guarantee:
        return PureDP(0 if epsilon == 0 else math.inf)


def _chain(values: npt.NDArray[Any], sensitivity: Fraction, largest: bool) -> npt.NDArray[np.intp]:
    """Return the positions in the chain, the best first; scores are compared exactly."""
    require_finite(values)
    order = np.argsort(values, kind="stable")
    if largest:
        order = order[::-1]
    ranked = values[order].tolist()
    length = 1
    while length < len(ranked) and (
        abs(Fraction(ranked[length - 1]) - Fraction(ranked[length])) <= sensitivity
    ):
        length += 1
    return order[:length]
