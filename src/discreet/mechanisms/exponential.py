"""The exponential mechanism: choose with probability proportional to the exponential of the score."""

from __future__ import annotations

from discreet._exact import distribution, sampling
from discreet._exact.distribution.closed_form import exponential_missed
from discreet._exact.distribution.reference import exponential_ball
from discreet._exact.gaps import Gaps, RowGaps
from discreet._exact.numbers.exact import Exact
from discreet._exact.sampling import Bits
from discreet.guarantees import BoundedRange, Guarantee
from discreet.mechanisms.facts import Facts
from discreet.mechanisms.mechanism import Indices, Mechanism


class Exponential(Mechanism):
    """The exponential mechanism; use it if many selections are composed.

    Chooses r with probability proportional to p_r = exp(−γ_r), γ_r = (q* − q_r)/s.

    Distribution: Pr[r] = p_r / Σ_t p_t, the same as noisy max with Gumbel noise.

    Guarantee, with s = d/ε: ε-bounded range, hence ε-DP and ρ-zCDP with ρ = t − 1 − ln t at
    t = ε/(1 − e^−ε). This ρ is at most ε²/8; for small ε it is about a quarter of permute-and-flip's.

    Proof: ``docs/proofs/exponential.md``; the sampler: ``docs/proofs/sampling.md``.

    Cost: one pass over the scores, then a few coin flips; the running time depends on the scores.

    Example:
        >>> from discreet import Scores, ZCDP
        >>> scores = Scores({"flu": 412, "cold": 298, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> Exponential(epsilon=1).select(scores)
        'flu'
        >>> Exponential(epsilon=1).guarantee(scores, ZCDP)
        ZCDP(0.12330156148224454)
    """

    __slots__ = ()
    name = "exponential"
    facts = Facts(
        title="exponential mechanism",
        proof="docs/proofs/exponential.md",
        checked_as="exponential",
        law=distribution.exponential,
        ball_law=exponential_ball,
        symmetric=True,
        regular=True,
        missed=exponential_missed,
        hardest_known=True,
        free_gap=False,
        merges=False,
        compared=True,
    )

    def _draw(self, gaps: Gaps, bits: Bits) -> int:
        return sampling.proportional(gaps, bits)

    def _draw_many(self, gaps: Gaps, size: int, bits: Bits) -> Indices:
        return sampling.proportionals(gaps, size, bits)

    def _draw_each(self, rows: RowGaps, bits: Bits) -> Indices:
        return sampling.proportional_of_each(rows, bits)

    def _promise(self, epsilon: Exact) -> Guarantee:
        return BoundedRange(epsilon)
