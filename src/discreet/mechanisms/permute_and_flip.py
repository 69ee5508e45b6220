"""Permute-and-flip: visit the candidates in random order, flip coins, return the first that gets heads."""

from __future__ import annotations

from typing import Any

from discreet._exact import distribution, sampling
from discreet._exact.distribution.closed_form import permute_and_flip_missed
from discreet._exact.distribution.reference import permute_and_flip_ball
from discreet._exact.gaps import Gaps, RowGaps
from discreet._exact.numbers.exact import Exact, refuse
from discreet._exact.sampling import Bits
from discreet.guarantees import FlippedCoins, Guarantee
from discreet.mechanisms.facts import Facts
from discreet.mechanisms.mechanism import Indices, Mechanism


class PermuteAndFlip(Mechanism):
    """The permute-and-flip mechanism, never less accurate than the exponential mechanism at the same ε.

    Visits the candidates r in random order and flips a coin for each, with heads probability
    p_r = exp(−γ_r), γ_r = (q* − q_r)/s. Returns the first candidate that gets heads; a best candidate always
    does.

    Distribution: Pr[r] = p_r ∫₀¹ Π_{t≠r} (1 − u·p_t) du, the same as noisy max with exponential noise. At the
    same ε, no tail of its error is larger than the exponential mechanism's.

    Guarantee, with s = d/ε: ε-DP; bounded range η = 2 ln(2e^(ε/2) − 1), **not** ε; zCDP with the smaller of
    ε + e^−ε − 1 and the ρ that η implies; (ε', δ)-DP with ε' = ε + 2 ln(1 − δ). All of this holds for any two
    score vectors between which no two scores move apart by more than d.

    Proof: ``docs/proofs/permute-and-flip.md``, ``docs/proofs/bounded-range-refuted.md`` and
    ``docs/proofs/laplace-dominance.md``; the sampler: ``docs/proofs/sampling.md``.

    Cost: one pass over the scores, then a few coin flips; the running time depends on the scores. With
    ``steady=True`` every candidate's coin is flipped. The numbers of passes, coin flips and random bits then
    do not depend on the scores (``docs/proofs/sampling.md`` says what this does and does not hide).

    Example:
        >>> from discreet import Scores
        >>> scores = Scores({"flu": 412, "cold": 298, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> PermuteAndFlip(epsilon=1).select(scores)
        'flu'
        >>> PermuteAndFlip(epsilon=1).guarantee(scores)
        PureDP(1)
    """

    __slots__ = ("_steady",)
    _steady: bool
    name = "permute-and-flip"
    facts = Facts(
        title="permute-and-flip",
        proof="docs/proofs/permute-and-flip.md",
        checked_as="permute-and-flip",
        law=distribution.permute_and_flip,
        ball_law=permute_and_flip_ball,
        symmetric=True,
        regular=True,
        missed=permute_and_flip_missed,
        hardest_known=True,
        free_gap=True,
        merges=True,
        compared=True,
    )

    def __init__(
        self,
        epsilon: object = None,
        *,
        scale: object = None,
        optimize: str = "max",
        steady: bool = False,
    ) -> None:
        super().__init__(epsilon, scale=scale, optimize=optimize)
        if not isinstance(steady, bool):
            raise refuse("steady", steady, "True or False")
        object.__setattr__(self, "_steady", steady)

    @property
    def steady(self) -> bool:
        """Whether the amount of work is independent of the scores."""
        return self._steady

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that recreate this mechanism."""
        return {**super().parameters(), "steady": self._steady}

    def _draw(self, gaps: Gaps, bits: Bits) -> int:
        if self._steady:
            return sampling.steady_head(gaps, bits)
        return sampling.uniform_head(gaps, bits)

    def _draw_many(self, gaps: Gaps, size: int, bits: Bits) -> Indices:
        return sampling.uniform_heads(gaps, size, bits)

    def _draw_each(self, rows: RowGaps, bits: Bits) -> Indices | list[int]:
        if self._steady:
            return super()._draw_each(rows, bits)
        return sampling.head_of_each(rows, bits)

    def _promise(self, epsilon: Exact) -> Guarantee:
        return FlippedCoins(epsilon)
