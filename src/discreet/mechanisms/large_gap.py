"""Large gap: permute-and-flip that always returns the best candidate if it is far enough ahead."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact import distribution, sampling
from discreet._exact.distribution.reference import permute_and_flip_ball
from discreet._exact.gaps import Gaps, RowGaps
from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.numbers.exact import Exact, probability
from discreet._exact.sampling import Bits
from discreet._exact.sampling.bits import source_of_bits
from discreet._exact.sampling.coins import Ball, Uniform
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP, Guarantee, Proof
from discreet.guarantees.claims import SCORES
from discreet.mechanisms.facts import Facts, Floats
from discreet.mechanisms.mechanism import Indices, Mechanism
from discreet.mechanisms.score_rows import ScoreRows
from discreet.scores import Scores

# The allowed relative error of W as a float. A sum of 2⁴⁰ exponentials of gaps is far more precise.
_TOLERANCE = 2.0**-32
# Beyond this exponent, the exact value does not matter: a power of e is nearly zero, or enormous.
_FAR = 1_000_000
_TINY = Fraction(1, 10**290)  # a float near this or below may have too few digits, or be zero
_LEAST_DELTA = Fraction(1, 10**100_000)  # e^−10⁶ is negligible compared with any allowed δ


class LargeGap(Mechanism):
    """Permute-and-flip with an added δ, which makes the answer certain if the best candidate leads by enough.

    Draws r by permute-and-flip. If r is not the best candidate b, returns b instead with probability
    c = min(1, 2a(1/W − 1)), where W is the sum of p_t = exp(−γ_t) over all other candidates t ≠ b, and
    a = δ/(e^ε − 1). If W ≥ 1, c is zero. If b leads by so much that W ≤ 2a/(1 + 2a), the answer is always b.

    Distribution: Pr[r] = (1 − c)·PF_r for r ≠ b, where PF is permute-and-flip's distribution; b gets the
    remaining probability. No tail of its error is larger than permute-and-flip's. With two candidates, no
    symmetric (ε, δ)-DP mechanism errs with a smaller probability if the lead is a multiple of d.

    Guarantee, with s = d/ε: (ε, δ)-DP; for groups of k people, (kε, a(e^(kε) − 1))-DP. It is not ε-DP for any
    ε, because an answer may be impossible for one data set and possible for its neighbour. The mechanism is
    not regular: raising a rival may help a third candidate.

    Proof: ``docs/proofs/large-gap.md``; the sampler of permute-and-flip: ``docs/proofs/sampling.md``.

    Cost: the same as permute-and-flip, plus one more pass over the scores if the draw is not the best
    candidate.

    Example:
        >>> from discreet import Scores
        >>> scores = Scores({"flu": 412, "cold": 298, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> mechanism = LargeGap(epsilon=1, delta="1e-6")
        >>> mechanism.select(scores)
        'flu'
        >>> mechanism.probabilities(scores).tolist()
        [1.0, 0.0, 0.0]
        >>> mechanism.guarantee(scores, ApproxDP, delta="1e-6")
        ApproxDP(1, 1e-06)
    """

    __slots__ = ("_delta",)
    name = "large-gap"
    takes_unequal = False
    facts = Facts(
        title="large gap",
        proof="docs/proofs/large-gap.md",
        checked_as="large-gap",
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

    _delta: Fraction

    def __init__(
        self,
        epsilon: object = None,
        *,
        scale: object = None,
        optimize: str = "max",
        delta: object = "1e-6",
    ) -> None:
        super().__init__(epsilon, scale=scale, optimize=optimize)
        exact = probability("delta", delta)
        if not _LEAST_DELTA <= exact < 1:
            raise ParameterError(
                f"⟨delta⟩{delta!r} is not allowed: it must be between 0 and 1, and not below 10^−100000"
            )
        object.__setattr__(self, "_delta", exact)

    @property
    def delta(self) -> Fraction:
        """δ, exactly as given."""
        return self._delta

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that recreate this mechanism."""
        return {**super().parameters(), "delta": self._delta}

    def sample(self, scores: Scores, size: int, *, randomness: Bits | None = None) -> Indices:
        """Draw ``size`` independent choices; return their positions. **Not private**: for study only."""
        bits = source_of_bits(randomness)
        draws = super().sample(scores, size, randomness=bits)
        if self._scale_for(scores) == 0:
            return draws
        return self._corrected(draws, scores, bits)

    def ball_probabilities(self, scores: Scores, *, bits: int = 200) -> list[Any]:
        """Return intervals (flint ``arb``) that contain the probabilities, for audits. **Not private**."""
        from flint import arb

        if self._scale_for(scores) == 0:
            return super().ball_probabilities(scores, bits=bits)
        gaps = self.gaps(scores)
        gammas = [gaps.exact(place) for place in range(len(scores))]
        with precision(bits + 32):
            plain = permute_and_flip_ball(gammas, bits)
            if gammas.count(Fraction(0)) > 1:
                return plain
            keep = 1 - _capped(self._coin_ball(gammas, self._cost(scores.range_distance)))
            best = gammas.index(Fraction(0))
            tail = [keep * part for part in plain]
            tail[best] = 1 - sum((tail[r] for r in range(len(tail)) if r != best), arb(0))
            return tail

    def _choose(self, scores: Scores, bits: Bits) -> int:
        drawn = super()._choose(scores, bits)
        if self._scale_for(scores) == 0:
            return drawn
        return int(self._corrected(np.array([drawn], dtype=np.int64), scores, bits)[0])

    def _choose_each(self, rows: ScoreRows, bits: Bits) -> Indices:
        drawn = super()._choose_each(rows, bits)
        if self._scale_at(rows.range_distance) == 0:
            return drawn
        for which, part in rows.blocks(Fraction(1), largest_is_best=self._optimize == "max"):
            erred = ~part.is_best()[part.starts + drawn[which]]
            for number in (erred.nonzero()[0] + which.start).tolist():
                one = drawn[number : number + 1]
                drawn[number] = self._corrected(one, rows.row(number), bits)[0]
        return drawn

    def _corrected(self, draws: Indices, scores: Scores, bits: Bits) -> Indices:
        """Change each draw that is not the best candidate to the best one, with probability exactly c."""
        if not len(draws):
            return draws
        gaps = self.gaps(scores)
        best = np.concatenate(list(gaps.ties()))
        erred = (draws != best[0]).nonzero()[0]
        if len(best) > 1 or not len(erred):
            return draws
        cost = self._cost(scores.range_distance)
        least, most = self._coin_bounds(gaps, int(best[0]), cost)
        words = bits.words(len(erred))
        lowest = words.astype(np.float64)
        # A word w stands for the interval [w, w+1)/2⁶⁴; its float is off by at most 2¹¹.
        turned = lowest + 4096.0 <= least * 2.0**64
        doubtful = ~turned & (lowest - 4096.0 < most * 2.0**64)
        gammas = [gaps.exact(index) for index in range(gaps.size)] if doubtful.any() else []
        for place in doubtful.nonzero()[0].tolist():
            uniform = Uniform(bits, known=int(words[place]), width=64)
            turned[place] = uniform.is_below(lambda: self._coin_ball(gammas, cost))
        draws[erred[turned]] = best[0]
        return draws

    def _coin_bounds(self, gaps: Gaps, best: int, cost: Exact) -> tuple[float, float]:
        """Return two floats that enclose c; (0, 1) if floats are not precise enough."""
        weight = _weight(gaps.gammas()[0], best)
        if weight * (1 - _TOLERANCE) >= 1:
            return 0.0, 0.0
        if weight < 1e-200 or not 1e-290 < cost < 500 or self._delta < _TINY:
            return 0.0, 1.0
        factor = 2 * float(self._delta) / math.expm1(float(cost))
        # The error of W is within one tolerance; the formula's own error is a small part of another.
        least, most = (
            factor * (1 / (weight * (1 + sign * 2 * _TOLERANCE)) - 1) * (1 - sign * _TOLERANCE)
            for sign in (1, -1)
        )
        return min(1.0, max(0.0, least)), min(1.0, max(0.0, most))

    def _coin_ball(self, gammas: list[Fraction], cost: Exact) -> Ball:
        """Return an interval that contains 2a(1/W − 1); any interval above 1 if that number is far above 1.

        The number is computed as 2δ(1 − W)/Σ(e^(ε−γ) − e^−γ).
        """
        from flint import arb

        assert isinstance(cost, Fraction)
        others = list(gammas)
        others.remove(Fraction(0))
        if not others or cost - min(others) < -_FAR:
            # W is more than e^10⁶ times smaller than a, so the quotient is far above one.
            return arb(2)
        if cost - min(others) > _FAR:
            return arb(0, 1).union(arb(0)) * arb((1, -_FAR))
        weight = sum((_power(-gamma) for gamma in others), arb(0))
        grown = sum((_power(cost - gamma) for gamma in others), arb(0))
        left = -ball_of(-cost).expm1() if cost < _FAR else 1 - _power(-cost)
        return 2 * ball_of(self._delta) * (1 - weight) / (grown * left)

    def _mass(self, scores: Scores, *, log: bool) -> Floats:
        if self._scale_for(scores) == 0:
            return super()._mass(scores, log=log)
        gammas, correction = self.gaps(scores).gammas()
        best = (gammas == 0).nonzero()[0]
        if len(best) > 1 or len(gammas) == 1:
            return self._distribution(gammas, correction, log=log)
        keep = self._kept(gammas + correction, int(best[0]), self._cost(scores.range_distance))
        others = np.arange(len(gammas)) != best[0]
        if log:
            logs = self._distribution(gammas, correction, log=True)
            with np.errstate(divide="ignore"):
                logs[others] += np.log(keep)
            logs[best[0]] = np.log1p(-min(1.0, math.fsum(np.exp(logs[others]))))
            return logs
        mass = self._distribution(gammas, correction, log=False)
        mass[others] *= keep
        mass[best[0]] = 1 - math.fsum(mass[others])
        return mass

    def _kept(self, gammas: Floats, best: int, cost: Exact) -> float:
        """Return 1 − c, the probability that a draw other than the best is kept, as a float."""
        weight = _weight(gammas, best)
        if weight >= 1:
            return 1.0
        if cost == math.inf:
            return 0.0
        assert isinstance(cost, Fraction)
        # Use logarithms: e^ε overflows long before δ/(e^ε − 1) becomes negligible, and W and δ underflow.
        epsilon = float(min(cost, Fraction(10**300)))
        growth = epsilon
        if epsilon < 30:
            growth = _log(cost) if cost < _TINY else math.log(math.expm1(epsilon))
        logarithm = _log(2 * self._delta) - growth + math.log1p(-weight)
        logarithm -= math.log(weight) if weight >= _TINY else _log_weight(gammas, best)
        return -math.expm1(logarithm) if logarithm < 0 else 0.0

    def _draw(self, gaps: Gaps, bits: Bits) -> int:
        return sampling.uniform_head(gaps, bits)

    def _draw_many(self, gaps: Gaps, size: int, bits: Bits) -> Indices:
        return sampling.uniform_heads(gaps, size, bits)

    def _draw_each(self, rows: RowGaps, bits: Bits) -> Indices:
        return sampling.head_of_each(rows, bits)

    def _distribution(self, gammas: Floats, correction: Floats, *, log: bool) -> Floats:
        return distribution.permute_and_flip(gammas, correction, log=log)

    def promise_at(self, range_distance: Fraction) -> Guarantee:
        """Return the strongest guarantee proved at this range distance, not converted to another measure."""
        promise = super().promise_at(range_distance)
        # The theorem needs ε > 0. The proof page covers ε = 0, where no score moves.
        still = promise.proof is not None and promise.figures["epsilon"] == 0
        return promise.resting_on(Proof(self.proof, assumes=(SCORES,))) if still else promise

    def _promise(self, epsilon: Exact) -> Guarantee:
        return ApproxDP(epsilon, 0 if epsilon == 0 else self._delta)


def _capped(value: Ball) -> Ball:
    """Return an interval that contains min(1, max(0, x)) for every x in the given interval."""
    from flint import arb

    if value <= 0:
        return arb(0)
    return arb(1) if value >= 1 else value.intersection(arb(0.5, 0.5))


def _power(exponent: Fraction) -> Ball:
    """Return an interval that contains e^exponent; it starts at zero if the exponent is below −4·10⁶."""
    from flint import arb

    least = Fraction(-4 * _FAR)
    return ball_of(exponent).exp() if exponent >= least else ball_of(least).exp().union(arb(0))


def _weight(gammas: Floats, best: int) -> float:
    """Return W, the sum of p_t over all candidates except the best."""
    coins = np.exp(-np.maximum(gammas, 0.0))
    coins[best] = 0.0
    return float(coins.sum())


def _log_weight(gammas: Floats, best: int) -> float:
    """Return ln W, even if W underflows."""
    others = np.delete(gammas, best)
    least = float(others.min())
    return -least if least == math.inf else math.log(np.exp(least - others).sum()) - least


def _log(number: Fraction) -> float:
    """Return the logarithm of a positive rational, even if it underflows as a float."""
    if number >= _TINY:
        return math.log(number)
    return math.log(number.numerator) - math.log(number.denominator)
