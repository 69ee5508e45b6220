"""Drop-in replacements for diffprivlib's selection mechanisms: change the import, keep the call.

``from diffprivlib.mechanisms import PermuteAndFlip`` becomes ``from discreet.diffprivlib import
PermuteAndFlip``; the keyword arguments, ``randomise()`` and the attributes stay the same. The differences:
the draw is exact and never crashes on large utilities; a seed is refused, because a release with known
randomness is not private; attributes cannot be changed, and ``repr`` does not show the utilities.
diffprivlib need not be installed. ``docs/tutorials/moving-over.md`` lists the differences that
diffprivlib's own tests notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn

from discreet import mechanisms
from discreet._exact.numbers.exact import positive
from discreet._exact.sampling import SecureBits, in_proportion_to
from discreet._exact.sampling.bits import is_generator
from discreet.errors import DiscreetError, ParameterError, ScoresError
from discreet.guarantees import PureDP
from discreet.scores import Scores

__all__ = ["Exponential", "PermuteAndFlip"]


class UndefinedFigureError(DiscreetError, NotImplementedError):
    """A choice has no bias, variance or mean squared error.

    This is also a ``NotImplementedError``, which diffprivlib raises in the same case.
    """


class _Selection:
    """The common part of the two mechanisms: everything except the distribution of the draw.

    Attributes:
        epsilon: ε of one release, as a float64 rounded up.
        delta: zero.
        guarantee: the guarantee of each call of ``randomise``, which is also the cost of the call.
        sensitivity: the sensitivity as given; the attributes below are also kept as given.
        utility: the utilities; private, so ``repr`` does not show them.
        monotonic: whether one person moves all utilities the same way.
        candidates: the candidates, or None for 0, 1, ….
        random_state: None, or a generator object such as diffprivlib's models pass. It is never used: all
            draws come from the operating system's generator.
    """

    epsilon: float
    guarantee: PureDP
    _scores: Scores
    _mechanism: mechanisms.Mechanism

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
        if random_state is not None and not is_generator(random_state):
            raise ParameterError(
                "random_state: a seed is not allowed, because a release whose randomness is known is not "
                "private; write random_state=None, or leave it out. For a reproducible study use discreet's "
                "sample(..., randomness=discreet.testing.scripted(seed))"
            )
        positive("epsilon", epsilon)
        scores = Scores(
            utility, candidates=candidates, sensitivity=sensitivity, monotonic=monotonic
        )
        # Bypass __setattr__, which always raises.
        self.__dict__.update(
            guarantee=PureDP(epsilon),
            epsilon=PureDP(epsilon).epsilon,
            delta=0.0,
            sensitivity=sensitivity,
            utility=utility,
            monotonic=monotonic,
            candidates=candidates,
            random_state=random_state,
            _scores=scores,
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(
            f"{name} is fixed when a {type(self).__name__} is made: make another one with the new {name}"
        )

    def __delattr__(self, name: str) -> NoReturn:
        self.__setattr__(name, None)

    def __repr__(self) -> str:
        shown = {
            name: value
            for name, value in self.__dict__.items()
            if name in ("epsilon", "sensitivity", "monotonic", "candidates", "measure")
        }
        parts = [f"{name}={value!r}" for name, value in shown.items() if value is not None]
        # The utilities are private, and a repr may end up in logs or files.
        parts.insert(2, f"utility=<{len(self._scores)} values, not shown>")
        return f"{type(self).__name__}({', '.join(parts)})"

    def bias(self, value: object) -> NoReturn:  # noqa: ARG002 - diffprivlib's own signature
        """Raise an error, as diffprivlib does: a choice need not be a number, so its bias is undefined."""
        raise UndefinedFigureError(
            "a choice among candidates has no bias, variance or mean squared error; "
            "discreet.analysis.expected_error returns how far it falls short of the best on average"
        )

    variance = bias
    mse = bias

    def randomise(self, value: None = None) -> Any:
        """Choose one candidate; every call is a new release and costs ε again."""
        if value is not None:
            raise ParameterError(
                "value must be None: the utilities were given when the mechanism was made"
            )
        return self._chosen()

    def _chosen(self) -> Any:
        return self._mechanism.select(self._scores)


class PermuteAndFlip(_Selection):
    """Permute-and-flip with diffprivlib's interface (``docs/proofs/permute-and-flip.md``).

    Example:
        >>> flip = PermuteAndFlip(epsilon=1, sensitivity=1, utility=[3, 1000], candidates=["a", "b"])
        >>> flip.randomise()
        'b'
        >>> flip
        PermuteAndFlip(epsilon=1.0, sensitivity=1, utility=<2 values, not shown>, monotonic=False, ...)
    """

    def __init__(self, *, epsilon: object, **arguments: Any) -> None:
        super().__init__(epsilon=epsilon, **arguments)
        self.__dict__["_mechanism"] = mechanisms.PermuteAndFlip(epsilon=epsilon)


class Exponential(_Selection):
    """The exponential mechanism with diffprivlib's interface (``docs/proofs/exponential.md``).

    ``measure`` gives each candidate a public base weight: Pr[r] is proportional to measure_r · exp(−γ_r),
    where γ_r is the candidate's gap to the best, in noise scales. The weights do not depend on the data, so
    the guarantee is the same.

    Example:
        >>> choice = Exponential(epsilon=1, sensitivity=1, utility=[3, 1000], measure=[5, 1])
        >>> choice.randomise()
        1
    """

    _weights: list[Fraction] | None

    def __init__(self, *, epsilon: object, measure: Any = None, **arguments: Any) -> None:
        super().__init__(epsilon=epsilon, **arguments)
        weights = None if measure is None else _weights(measure, len(self._scores))
        self.__dict__.update(
            measure=measure, _weights=weights, _mechanism=mechanisms.Exponential(epsilon=epsilon)
        )

    def _chosen(self) -> Any:
        if self._weights is None:
            return super()._chosen()
        gaps = self._mechanism.gaps(self._scores)
        return self._scores.candidates[in_proportion_to(gaps, self._weights, SecureBits())]


def _weights(measure: Any, count: int) -> list[Fraction]:
    """Return the base measure as exact rationals; it is public, so errors may quote it."""
    try:
        weights = [Fraction(number) for number in Scores(measure, sensitivity=1).values.tolist()]
    except ScoresError as error:
        raise ParameterError(f"measure: {error}".replace("scores", "weights")) from None
    if len(weights) != count:
        raise ParameterError("measure must have one weight per candidate")
    if min(weights) < 0 or max(weights) == 0:
        raise ParameterError("measure must have no negative weight and at least one above 0")
    return weights
