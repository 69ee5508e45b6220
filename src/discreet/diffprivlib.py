"""Drop-in replacements for diffprivlib's selection mechanisms: change the import, keep the call.

``from diffprivlib.mechanisms import PermuteAndFlip`` becomes ``from discreet.diffprivlib import
PermuteAndFlip``; the keyword arguments and ``randomise()`` stay. What changes: the draw is exact, it never
crashes on large utilities, and there is no ``random_state``, because a release with a known seed is not
private. diffprivlib itself is not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet import mechanisms
from discreet.errors import ParameterError, ScoresError
from discreet.guarantees import PureDP
from discreet.sampling import SecureBits, in_proportion_to
from discreet.scores import Scores

__all__ = ["Exponential", "PermuteAndFlip"]


class _Selection:
    """What the two have in common: everything but the law of the draw."""

    def __init__(
        self,
        *,
        epsilon: object,
        sensitivity: object,
        utility: Any,
        monotonic: bool = False,
        candidates: Sequence[Any] | None = None,
        random_state: object = None,
    ) -> None:
        if random_state is not None:
            raise ParameterError(
                "random_state is not accepted: a release whose randomness is known is not private; for a "
                "reproducible study use discreet's sample(..., randomness=discreet.testing.scripted(seed))"
            )
        self._epsilon = PureDP(epsilon)
        self._scores = Scores(
            utility, candidates=candidates, sensitivity=sensitivity, monotonic=monotonic
        )

    @property
    def epsilon(self) -> float:
        """ε, rounded up to a float64; fixed when the mechanism was made."""
        return self._epsilon.epsilon

    @property
    def guarantee(self) -> PureDP:
        """What every call of ``randomise`` costs."""
        return self._epsilon


class PermuteAndFlip(_Selection):
    """Permute-and-flip with diffprivlib's call (``docs/proofs/permute-and-flip.md``).

    Example:
        >>> flip = PermuteAndFlip(epsilon=1, sensitivity=1, utility=[3, 1000], candidates=["a", "b"])
        >>> flip.randomise()
        'b'
    """

    def __init__(self, *, epsilon: object, **arguments: Any) -> None:
        self._mechanism = mechanisms.PermuteAndFlip(epsilon=epsilon)
        super().__init__(epsilon=epsilon, **arguments)

    def randomise(self, value: None = None) -> Any:
        """Choose one candidate; every call is a new release and costs ε again."""
        _refuse_value(value)
        return self._mechanism.select(self._scores)


class Exponential(_Selection):
    """The exponential mechanism with diffprivlib's call (``docs/proofs/exponential.md``).

    ``measure`` gives each candidate a public base weight: Pr[r] is proportional to measure_r · exp(−γ_r). The
    weights do not depend on the data, so the guarantee is the same.

    Example:
        >>> choice = Exponential(epsilon=1, sensitivity=1, utility=[3, 1000], measure=[5, 1])
        >>> choice.randomise()
        1
    """

    def __init__(self, *, epsilon: object, measure: Any = None, **arguments: Any) -> None:
        self._mechanism = mechanisms.Exponential(epsilon=epsilon)
        super().__init__(epsilon=epsilon, **arguments)
        self._weights = None if measure is None else _weights(measure, len(self._scores))

    def randomise(self, value: None = None) -> Any:
        """Choose one candidate; every call is a new release and costs ε again."""
        _refuse_value(value)
        if self._weights is None:
            return self._mechanism.select(self._scores)
        gaps = self._mechanism.gaps(self._scores)
        chosen = in_proportion_to(gaps, self._weights, SecureBits())
        return self._scores.candidates[chosen]


def _refuse_value(value: object) -> None:
    if value is not None:
        raise ParameterError(
            "value must be None: the utilities were given when the mechanism was made"
        )


def _weights(measure: Any, count: int) -> list[Fraction]:
    """The base measure as exact rationals; public, so its errors may speak."""
    try:
        weights = [Fraction(number) for number in Scores(measure, sensitivity=1).values.tolist()]
    except ScoresError as error:
        raise ParameterError(f"measure: {error}".replace("scores", "weights")) from None
    if len(weights) != count:
        raise ParameterError("measure must have one weight per candidate")
    if min(weights) < 0 or max(weights) == 0:
        raise ParameterError("measure must have no negative weight and at least one above 0")
    return weights
