"""Above threshold: find the values in a stream that cross a threshold, with noise on threshold and values."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeVar, overload

import numpy as np

from discreet._exact.distribution.crossings import Block, Panels, first_crossing, sequence_ball
from discreet._exact.numbers.exact import (
    finite,
    positive,
    positive_distance,
    probability,
    refuse,
    whole,
)
from discreet._exact.numbers.noise_scales import NoiseScales
from discreet._exact.sampling import Bits
from discreet._exact.sampling.above_threshold import NoisyThreshold
from discreet._exact.sampling.bits import source_of_bits
from discreet.errors import ParameterError, ScoresError
from discreet.guarantees import Guarantee, PureDP
from discreet.guarantees.claims import CLAIMS, VALUES
from discreet.mechanisms.facts import Floats
from discreet.mechanisms.mechanism import Indices
from discreet.scores import Scores

G = TypeVar("G", bound=Guarantee)
PAGE = "docs/proofs/above-threshold.md"
NOISES = ("exponential", "laplace")


class CrossingRule:
    """The public parameters of a noisy threshold, and the noise scales and guarantee that follow from them.

    The threshold T gets noise X of scale b₁ once; each value gets its own noise Y of scale b₂. A value q
    crosses if q + Y ≥ T + b₂ − b₁ + X, where b₂ − b₁ corrects for the public means of one-sided noise
    (with Laplace noise the correction is 0). The stream ends after ``crossings`` crossings. A value may
    depend on earlier answers.

    Distribution: ∫ f(x) Π g(x) dx, where f is the density of X and g the chance of each answer given X = x.

    Guarantee: ε-DP with ε = Δ/b₁ + crossings·d/b₂, where one person changes every value by at most Δ, and
    d = 2Δ, or Δ if all values move the same way. With exponential noise no smaller ε holds if there are more
    values than crossings. Releasing how far a crossing value is above the threshold costs nothing extra.

    Proof: ``docs/proofs/above-threshold.md``.

    Cost: less than a microsecond per value; values that are all known in advance need a single pass.

    Args:
        epsilon: the cost of the whole stream, however long it is.
        threshold: T, a public number.
        sensitivity: Δ, the most by which one person changes any value.
        crossings: the stream ends after this many crossings.
        monotonic: whether one person moves all values in the same direction.
        noise: ``"exponential"``, or ``"laplace"`` for comparison.
        threshold_share: the part of ε spent on the threshold's noise; None for the share that minimises the
            variance.
        steady: whether to make the amount of work independent of the values; the distribution is the same
            (``docs/proofs/above-threshold.md``).

    Example:
        >>> rule = CrossingRule(epsilon=1, threshold=500, sensitivity=1, monotonic=True)
        >>> rule.scales.threshold, rule.scales.query, rule.guarantee()
        (Fraction(2, 1), Fraction(2, 1), PureDP(1))
        >>> rule.probabilities([400, 600]).round(6)
        array([0., 1., 0.])
    """

    __slots__ = (
        "crossings",
        "epsilon",
        "monotonic",
        "noise",
        "scales",
        "sensitivity",
        "steady",
        "threshold",
        "threshold_share",
    )
    epsilon: Fraction
    threshold: Fraction
    sensitivity: Fraction
    crossings: int
    monotonic: bool
    noise: str
    threshold_share: Fraction | None
    steady: bool
    scales: NoiseScales
    private = True
    proof = PAGE
    exchangeable = True
    """The order of values and answers does not matter, because the threshold's noise is drawn only once."""

    def __init__(
        self,
        epsilon: object,
        *,
        threshold: object,
        sensitivity: object,
        crossings: int = 1,
        monotonic: bool = False,
        noise: str = "exponential",
        threshold_share: object = None,
        steady: bool = False,
    ) -> None:
        for name, flag in (("monotonic", monotonic), ("steady", steady)):
            if not isinstance(flag, bool | np.bool_):
                raise refuse(name, flag, "True or False")
        if not isinstance(noise, str) or noise not in NOISES:
            raise refuse("noise", noise, " or ".join(f'"{kind}"' for kind in NOISES))
        if steady and noise != "exponential":
            raise ParameterError("⟨steady=True⟩ is not allowed with noise other than exponential")
        share = None
        if threshold_share is not None:
            share = probability("threshold_share", threshold_share)
            if not 0 < share < 1:
                raise refuse("threshold_share", threshold_share, "strictly between 0 and 1")
        set_once = object.__setattr__
        set_once(self, "epsilon", positive("epsilon", epsilon))
        set_once(self, "threshold", finite("threshold", threshold))
        set_once(self, "sensitivity", positive_distance("sensitivity", sensitivity))
        set_once(self, "crossings", whole("crossings", crossings))
        set_once(self, "monotonic", bool(monotonic))
        set_once(self, "noise", noise)
        set_once(self, "threshold_share", share)
        set_once(self, "steady", bool(steady))
        scales = NoiseScales.split(
            self.epsilon,
            sensitivity=self.sensitivity,
            steps=self.crossings * (1 if monotonic else 2),
            share=share,
            two_sided=noise == "laplace",
        )
        set_once(self, "scales", scales)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (type(self), self.parameters())

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.parameters() == other.parameters()

    def __hash__(self) -> int:
        return hash((type(self), *self.parameters().values()))

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that recreate this rule."""
        names = list(inspect.signature(CrossingRule).parameters)
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={value}"
            for name, value in self.parameters().items()
            if value is not None and value is not False
        )
        return f"{type(self).__name__}({shown})"

    @property
    def name(self) -> str:
        """The name in reports and ledgers."""
        kind = "above-threshold" if self.crossings == 1 else "sparse-vector"
        return kind if self.noise == "exponential" else f"{kind}-{self.noise}"

    @property
    def middle(self) -> Fraction:
        """The threshold for noisy values, before its own noise: T + b₂ − b₁, or T for Laplace noise."""
        return self.threshold + self.scales.correction

    @property
    def deviation(self) -> Fraction:
        """The standard deviation of the noise of one comparison, rounded up to twenty binary places."""
        square = math.ceil(self.scales.variance * (1 << 40))
        return Fraction(math.isqrt(square - 1) + 1, 1 << 20)

    @overload
    def guarantee(self) -> PureDP: ...

    @overload
    def guarantee(self, measure: type[G], delta: object = None) -> G: ...

    def guarantee(self, measure: type[Guarantee] = PureDP, delta: object = None) -> Guarantee:
        """Return the guarantee of the whole stream in ``measure``; the answers do not change it."""
        promise = PureDP(self.epsilon)
        # A subclass may behave differently, and this proof does not cover it.
        proof = CLAIMS[f"above-threshold-{self.noise}", "PureDP"].assuming(VALUES)
        own = proof if type(self) is CrossingRule else None
        rho = CLAIMS.get((f"above-threshold-{self.noise}", "ZCDP"))
        direct = {"ZCDP": rho} if own is not None and rho is not None else {}
        return promise.resting_on(own, direct).to(measure, delta=delta)

    def draw(self, bits: Bits) -> NoisyThreshold:
        """Draw the threshold's noise; return the noisy threshold for one stream."""
        return NoisyThreshold(self.middle, self.scales, bits, steady=self.steady)

    # ---- study: reads the values without spending budget; the results are not private -----------

    def sample(self, values: Any, size: int, *, randomness: Bits | None = None) -> Indices:
        """Draw the index of the first crossing ``size`` times; ``len(values)`` if none. **Not private**."""
        bits, array = source_of_bits(randomness), vector_of(values)
        drawn = np.full(whole("size", size, least=0), len(array), dtype=np.int64)
        for place in range(len(drawn)):
            found = self.draw(bits).crossings(array)
            if found:
                drawn[place] = found[0]
        return drawn

    def probabilities(self, values: Any) -> Floats:
        """Return the probabilities that each value crosses first, then that none crosses. **Not private**."""
        return first_crossing(self._offsets(vector_of(values)), self.scales)

    def sequence_probability(self, values: Any, answers: Sequence[bool]) -> float:
        """Return the probability of these answers to these values. **Not private**.

        Example:
            >>> rule = CrossingRule(epsilon=1, threshold=5, sensitivity=1, crossings=2)
            >>> round(rule.sequence_probability([4, 5, 6], [False, True, True]), 4)
            0.1385
        """
        return float(self.sequence_ball(values, answers))

    def sequence_ball(
        self,
        values: Any,
        answers: Sequence[bool],
        times: Sequence[int] | None = None,
        *,
        bits: int = 100,
    ) -> Any:
        """Return an interval that contains the probability of these answers.

        Value i is repeated ``times[i]`` times, always with the same answer.
        """
        exact = [Fraction(value) - self.middle for value in vector_of(values).tolist()]
        repeats = [1] * len(exact) if times is None else list(times)
        blocks = [
            Block(offset, bool(above), often)
            for offset, above, often in zip(exact, answers, repeats, strict=True)
        ]
        if _crossed(blocks) > self.crossings or _crossed(blocks[:-1]) >= self.crossings:
            raise ParameterError("nothing is answered after the last crossing")
        return sequence_ball(blocks, self.scales, bits=bits)

    def sequence_logs(self, rows: Floats, answers: Sequence[bool], times: Sequence[int]) -> Floats:
        """Return the log-probability of these answers for each row, in floats; see ``sequence_ball``."""
        offsets = rows - float(self.middle)
        panels = Panels(
            self.scales, np.unique(offsets).tolist(), longest=sum(times), steepest=max(times)
        )
        return panels.log_integrals(block_logs(panels, offsets, answers, times))

    def _offsets(self, values: Any) -> Floats:
        """Return each value minus ``middle``, without losing digits if the two are close."""
        if values.dtype.kind == "O":
            return np.array([float(Fraction(value) - self.middle) for value in values.tolist()])
        middle = float(self.middle)
        return np.asarray((values - middle) - float(self.middle - Fraction(middle)))


def _made_again(kind: type[CrossingRule], parameters: dict[str, Any]) -> CrossingRule:
    return kind(**parameters)


def block_logs(
    panels: Panels, offsets: Floats, answers: Sequence[bool], times: Sequence[int]
) -> Floats:
    """Return the log-probability of all answers, for each row of offsets and each point of ``panels``.

    A point is a value of the threshold's noise.
    """
    total = np.zeros((len(offsets), len(panels.points)))
    for place, (above, often) in enumerate(zip(answers, times, strict=True)):
        different, where = np.unique(offsets[:, place], return_inverse=True)
        total += (often * panels.log_chances(different, above=above))[where.reshape(-1)]
    return total


def _crossed(blocks: Sequence[Block]) -> int:
    return sum(block.times for block in blocks if block.above)


def vector_of(values: Any) -> Any:
    """Return values as an array of int64, float64 or exact numbers, all finite."""
    try:
        array = (
            values.values if isinstance(values, Scores) else Scores(values, sensitivity=1).values
        )
    except ScoresError:
        raise ScoresError("values must be finite numbers, at least one") from None
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        return array.astype(np.int64, copy=False)
    return array.astype(np.float64 if array.dtype.kind == "f" else object, copy=False)
