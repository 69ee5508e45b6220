"""Noisy max: add noise to every score and return the candidate with the largest sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from discreet._exact import distribution, sampling
from discreet._exact.distribution.closed_form import laplace_missed
from discreet._exact.distribution.reference import noisy_max_laplace_ball
from discreet._exact.gaps import Gaps, RowGaps
from discreet._exact.numbers.exact import Exact, refuse
from discreet._exact.sampling import Bits
from discreet.guarantees import BoundedRange, FlippedCoins, Guarantee, LaplaceDominated
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.facts import Facts
from discreet.mechanisms.mechanism import Indices, Mechanism
from discreet.mechanisms.permute_and_flip import PermuteAndFlip


@dataclass(frozen=True, slots=True)
class _Noise:
    """The samplers, guarantee and facts of noisy max with one kind of noise."""

    draw: Callable[[Gaps, Bits], int]
    draw_many: Callable[[Gaps, int, Bits], Indices]
    draw_each: Callable[[RowGaps, Bits], Indices]
    promise: Callable[[Exact], Guarantee]
    facts: Facts


_NOISES = {
    # Theorem 5 of the noisy-max paper: exponential noise is permute-and-flip itself.
    "exponential": _Noise(
        sampling.uniform_head,
        sampling.uniform_heads,
        sampling.head_of_each,
        FlippedCoins,
        replace(
            PermuteAndFlip.facts,
            title="noisy max, exponential noise",
            compared=False,
        ),
    ),
    "laplace": _Noise(
        sampling.laplace_max,
        sampling.laplace_maxes,
        sampling.laplace_max_of_each,
        LaplaceDominated,
        Facts(
            title="noisy max, Laplace noise",
            proof="docs/proofs/noisy-max-laplace.md",
            checked_as="noisy-max-laplace",
            law=distribution.noisy_max_laplace,
            ball_law=noisy_max_laplace_ball,
            symmetric=True,
            regular=True,
            missed=laplace_missed,
            hardest_known=False,
            free_gap=False,
            merges=False,
            compared=True,
        ),
    ),
    # The Gumbel-max identity: Gumbel noise is the exponential mechanism itself.
    "gumbel": _Noise(
        sampling.proportional,
        sampling.proportionals,
        sampling.proportional_of_each,
        BoundedRange,
        replace(Exponential.facts, title="noisy max, Gumbel noise", compared=False),
    ),
}


class NoisyMax(Mechanism):
    """The mechanism *report noisy max*, with exponential, Laplace or Gumbel noise of scale s = d/ε.

    Returns the candidate r with the largest q_r + s·X_r, where the X_r are independent and have unit scale.
    The candidate is drawn from exactly this distribution, so ties and rounding do not matter.

    Distribution: Pr[r] = ∫ f(y − q_r) Π_{t≠r} F(y − q_t) dy for noise with density f and cdf F. With
    exponential noise this is permute-and-flip, with Gumbel noise the exponential mechanism.

    Guarantee: ε-DP for every kind of noise. Laplace noise also has (ε + e^−ε − 1)-zCDP and 2ε-bounded range;
    exponential noise is a little better in both (see ``PermuteAndFlip``); Gumbel noise has ε-bounded range
    and ρ-zCDP with ρ at most ε²/8. With ``optimize="min"`` the scores are negated and the same guarantees
    hold.

    Proof: ``docs/proofs/permute-and-flip.md``, ``docs/proofs/noisy-max-laplace.md``,
    ``docs/proofs/exponential.md``; the sampler: ``docs/proofs/sampling.md``.

    Cost: one pass over the scores; only candidates near the best need more work.

    Example:
        >>> from discreet import Scores
        >>> scores = Scores({"flu": 412, "cold": 298, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> NoisyMax(epsilon=1, noise="laplace").select(scores)
        'flu'
    """

    __slots__ = ("_noise",)
    _noise: str

    def __init__(
        self,
        epsilon: object = None,
        *,
        scale: object = None,
        optimize: str = "max",
        noise: str = "exponential",
    ) -> None:
        super().__init__(epsilon, scale=scale, optimize=optimize)
        if not isinstance(noise, str) or noise not in _NOISES:
            raise refuse("noise", noise, '"exponential", "laplace" or "gumbel"')
        object.__setattr__(self, "_noise", noise)

    @property
    def noise(self) -> str:
        """The kind of noise."""
        return self._noise

    @property
    def name(self) -> str:  # type: ignore[override]  # one name per kind of noise
        """The name on the command line and in reports."""
        return f"noisy-max-{self._noise}"

    @property
    def facts(self) -> Facts:  # type: ignore[override]  # one set of facts per kind of noise
        """Known facts about the mechanism besides its guarantee."""
        return _NOISES[self._noise].facts

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that recreate this mechanism."""
        return {**super().parameters(), "noise": self._noise}

    def _draw(self, gaps: Gaps, bits: Bits) -> int:
        return _NOISES[self._noise].draw(gaps, bits)

    def _draw_many(self, gaps: Gaps, size: int, bits: Bits) -> Indices:
        return _NOISES[self._noise].draw_many(gaps, size, bits)

    def _draw_each(self, rows: RowGaps, bits: Bits) -> Indices:
        return _NOISES[self._noise].draw_each(rows, bits)

    def _promise(self, epsilon: Exact) -> Guarantee:
        return _NOISES[self._noise].promise(epsilon)
