"""The base class of all mechanisms. Each mechanism has its own file, with its facts and samplers.

A mechanism sees scores only through their gaps γ_r = (q* − q_r)/s, where s = d/ε is the noise scale and
d the range distance (``docs/proofs/neighbours.md``).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from discreet._exact.gaps import Gaps, RowGaps
from discreet._exact.gaps.arithmetic import arithmetic_for
from discreet._exact.gaps.gaps import best_of_rows
from discreet._exact.numbers.balls import ball_of
from discreet._exact.numbers.exact import (
    Exact,
    non_negative,
    non_negative_distance,
    positive,
    refuse,
    whole,
)
from discreet._exact.numbers.printing import written
from discreet._exact.sampling import Bits, SecureBits, best_indices, best_of_each, uniform_best
from discreet._exact.sampling.bits import source_of_bits
from discreet.errors import ParameterError
from discreet.guarantees import ZCDP, ApproxDP, Guarantee, Proof, PureDP
from discreet.guarantees.claims import CLAIMS, SCORES
from discreet.mechanisms.facts import Facts, Floats
from discreet.mechanisms.score_rows import BLOCK, ScoreRows
from discreet.mechanisms.unequal import compared, distance_of
from discreet.release import Release
from discreet.scores import RATIOS, Scores

G = TypeVar("G", bound=Guarantee)
Indices = npt.NDArray[np.int64]

_ONE_BY_ONE = (
    "log_probabilities",
    "_mass",
    "_distribution",
    "gaps",
    "seen",
    "_scale_for",
    "_scale_at",
)
"""The methods that compute probabilities from scores. ``log_masses`` does not handle mechanisms that override
any of them."""
_DRAWS_IN_BLOCKS = 32  # with more draws per row, drawing each row by itself is faster


class Mechanism(ABC):
    """A way to choose one candidate by its score, privately.

    Args:
        epsilon: ε, the cost of one release; the noise scale is d/ε.
        scale: the noise scale s, instead of ``epsilon``; with a scale of zero, a best candidate is always
            chosen, without any guarantee.
        optimize: ``"max"`` to look for the largest score, ``"min"`` for the smallest.

    Example:
        >>> from discreet import PermuteAndFlip
        >>> mechanism = PermuteAndFlip(epsilon=1)
        >>> isinstance(mechanism, Mechanism), mechanism.name, mechanism.private
        (True, 'permute-and-flip', True)
    """

    __slots__ = ("_epsilon", "_optimize", "_scale")
    _epsilon: Fraction | None
    _optimize: str
    _scale: Fraction | None

    name: ClassVar[str]
    """The name on the command line and in reports."""
    private: ClassVar[bool] = True
    """Whether the mechanism has a privacy proof; without one it refuses to release."""
    facts: ClassVar[Facts]
    """Known facts about the mechanism besides its guarantee."""
    takes_unequal: ClassVar[bool] = True
    """Whether the mechanism accepts scores with different sensitivities."""

    def __init__(
        self, epsilon: object = None, *, scale: object = None, optimize: str = "max"
    ) -> None:
        if (epsilon is None) == (scale is None):
            raise ParameterError("give exactly one of ⟨epsilon⟩ and ⟨scale⟩")
        if not isinstance(optimize, str) or optimize not in ("max", "min"):
            raise refuse("optimize", optimize, '"max" or "min"')
        set_once = object.__setattr__
        set_once(self, "_epsilon", None if epsilon is None else positive("epsilon", epsilon))
        set_once(self, "_scale", None if scale is None else non_negative("scale", scale))
        set_once(self, "_optimize", optimize)

    @property
    def proof(self) -> str:
        """The page in ``docs/proofs`` that proves the guarantee."""
        return self.facts.proof

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __getstate__(self) -> dict[str, Any]:
        return self.parameters()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # the way to restore a frozen object

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that recreate this mechanism."""
        given = {"epsilon": self._epsilon} if self._scale is None else {"scale": self._scale}
        return {**given, "optimize": self._optimize}

    def with_epsilon(self, epsilon: object) -> Self:
        """Return the same mechanism at another ε.

        Example:
            >>> from discreet import NoisyMax
            >>> NoisyMax(epsilon=1, noise="laplace").with_epsilon(2)
            NoisyMax(epsilon=2, noise='laplace')
        """
        rest = {k: v for k, v in self.parameters().items() if k not in ("epsilon", "scale")}
        return type(self)(epsilon=epsilon, **rest)

    @property
    def epsilon(self) -> Fraction | None:
        """ε, exactly as given; None if the scale was given instead."""
        return self._epsilon

    @property
    def scale(self) -> Fraction | None:
        """The noise scale, exactly as given; None if ε was given instead."""
        return self._scale

    @property
    def optimize(self) -> str:
        """Which score is the best: ``"max"`` for the largest, ``"min"`` for the smallest."""
        return self._optimize

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.parameters() == other.parameters()

    def __hash__(self) -> int:
        return hash((type(self), *self.parameters().values()))

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={written(value)}"
            for name, value in self.parameters().items()
            if (name, value) not in (("optimize", "max"), ("steady", False))
        )
        return f"{type(self).__name__}({shown})"

    # ---- release -------------------------------------------------------------------------------

    def select(self, scores: Scores) -> Any:
        """Draw one candidate, exactly and with secure random bits; return its label (this is one release)."""
        return _scores(scores).candidates[self.select_index(scores)]

    def select_index(self, scores: Scores) -> int:
        """Draw one candidate, exactly and with secure random bits; return its position (one release)."""
        return self._choose(scores, SecureBits())

    def release(
        self, scores: Scores, *, neighbours: str = "data sets whose scores are neighbours"
    ) -> Release:
        """Choose one candidate and return it with its guarantee.

        Example:
            >>> from discreet import PermuteAndFlip, Scores
            >>> scores = Scores({"flu": 412, "cold": 98}, sensitivity=1, monotonic=True)
            >>> PermuteAndFlip(epsilon=1).release(scores).answer
            'flu'
        """
        promise = self.promise_for(scores)
        stated = promise if isinstance(promise, ApproxDP | ZCDP) else promise.to(PureDP)
        return Release(
            answer=self.select(scores),
            guarantee=stated,
            mechanism=self.name,
            neighbours=neighbours,
        )

    def select_each(
        self,
        values: Any,
        *,
        offsets: Any = None,
        sensitivity: object = None,
        monotonic: bool = False,
        range_distance: object = None,
    ) -> Indices:
        """Draw one candidate in each row, exactly and with secure random bits; return their positions.

        ``guarantee`` gives the cost of **one row**. A person in several rows pays for that many releases, so
        ``Event.of_each`` needs ``rows_per_person`` (``docs/proofs/many-rows.md``).

        Args:
            values: a table with a row for each choice, or one long array with ``offsets``.
            offsets: row i runs from ``offsets[i]`` to just before ``offsets[i + 1]``.
            sensitivity: Δ, the most by which one person can change any score of a row.
            monotonic: whether one person moves all scores of a row in the same direction.
            range_distance: d, the most by which one person can move two scores of a row apart; instead of
                ``sensitivity``.

        Example:
            >>> from discreet import PermuteAndFlip
            >>> PermuteAndFlip(epsilon=1).select_each([[412, 98, 57], [3, 8, 260]], sensitivity=1)
            array([0, 2])
            >>> PermuteAndFlip(epsilon=1).select_each([412, 98, 3, 8, 260], offsets=[0, 2, 5], sensitivity=1)
            array([0, 2])
        """
        rows = ScoreRows(
            values,
            offsets=offsets,
            sensitivity=sensitivity,
            monotonic=monotonic,
            range_distance=range_distance,
        )
        return self._choose_each(rows, SecureBits())

    # ---- study: reads the scores without spending budget; the results are not private -----------

    def sample(self, scores: Scores, size: int, *, randomness: Bits | None = None) -> Indices:
        """Draw ``size`` independent choices; return their positions. **Not private**: for study only.

        ``randomness`` may be ``discreet.testing.scripted(seed)`` for a reproducible study.
        """
        size = whole("size", size, least=0)
        bits = source_of_bits(randomness)
        scores = self.seen(scores)
        if self._scale_for(scores) == 0:
            return uniform_best(scores.values, size, bits, largest_is_best=self._optimize == "max")
        return self._draw_many(self.gaps(scores), size, bits)

    def sample_each(
        self, values: Any, size: int = 1, *, randomness: Bits | None = None, **stated: Any
    ) -> Indices:
        """Draw ``size`` independent choices in each row; return a table of their positions. **Not private**.

        ``values`` and the ``stated`` arguments are those of ``select_each``.
        """
        size = whole("size", size, least=0)
        bits = source_of_bits(randomness)
        rows = ScoreRows(values, **stated)
        if size > _DRAWS_IN_BLOCKS or not self.private:
            drawn = (
                self.sample(row, size, randomness=bits) for row in map(rows.row, range(len(rows)))
            )
            return np.array(list(drawn), dtype=np.int64).reshape(len(rows), size)
        columns = [self._choose_each(rows, bits) for _ in range(size)]
        return np.array(columns, dtype=np.int64).reshape(size, len(rows)).T

    def probabilities(self, scores: Scores) -> Floats:
        """Return the probability of each candidate. **Not private**: reads the scores, spends nothing."""
        return self._mass(scores, log=False)

    def log_probabilities(self, scores: Scores) -> Floats:
        """Return the log-probabilities, accurate even where the probabilities underflow. **Not private**."""
        return self._mass(scores, log=True)

    def ball_probabilities(self, scores: Scores, *, bits: int = 200) -> list[Any]:
        """Return intervals (flint ``arb``) that contain the probabilities, for audits. **Not private**."""
        scores = self.seen(scores)
        if self._scale_for(scores) == 0:
            values = scores.values.tolist()
            best = max(values) if self._optimize == "max" else min(values)
            return [ball_of(Fraction(value == best, values.count(best))) for value in values]
        gaps = self.gaps(scores)
        assert self.facts.ball_law is not None
        values = scores.values.tolist()
        first = {value: place for place, value in reversed(list(enumerate(values)))}
        exact = {value: gaps.exact(place) for value, place in first.items()}
        return self.facts.ball_law([exact[value] for value in values], bits)

    # ---- guarantees ----------------------------------------------------------------------------

    @overload
    def guarantee(self, scores: Scores) -> PureDP: ...

    @overload
    def guarantee(self, scores: Scores, measure: type[G], delta: object = None) -> G: ...

    def guarantee(
        self, scores: Scores, measure: type[Guarantee] = PureDP, delta: object = None
    ) -> Guarantee:
        """Return the tightest guarantee that is proved for one release on these scores, in ``measure``.

        It depends on the mechanism and on the range distance or sensitivities, never on a score. ``delta`` is
        only for ``ApproxDP``.
        """
        return self.promise_for(scores).to(measure, delta=delta)

    def privacy_map(self, distance: object, monotonic: bool = False) -> float:
        """Return ε for neighbours at this L∞ distance, rounded up; the mechanism must be built with scale=.

        Example:
            >>> from discreet import PermuteAndFlip
            >>> PermuteAndFlip(scale=2).privacy_map(1), PermuteAndFlip(scale=2).privacy_map(1, monotonic=True)
            (1.0, 0.5)
        """
        if self._scale is None:
            raise ParameterError(
                "privacy_map needs a mechanism built from ⟨scale⟩; one built from ⟨epsilon⟩ scales its "
                "noise to the distance, so it always costs that epsilon"
            )
        if not isinstance(monotonic, bool | np.bool_):
            raise refuse("monotonic", monotonic, "True or False")
        moved = non_negative_distance("distance", distance)
        return self.promise_at(moved if monotonic else 2 * moved).to(PureDP).epsilon

    def promise_for(self, scores: Scores) -> Guarantee:
        """Return the strongest guarantee proved for scores with these sensitivities and any values."""
        promise = self.promise_at(self._distance_of(scores))
        if scores.unequal != RATIOS or promise.proof is None:
            return promise
        step = CLAIMS["unequal", "scores"]
        direct = {measure: step.then(proof) for measure, proof in promise.direct.items()}
        return promise.resting_on(step.then(promise.proof), direct)

    def promise_at(self, range_distance: Fraction) -> Guarantee:
        """Return the strongest guarantee proved at this range distance, not converted to another measure."""
        promise, facts = self._promise(self._cost(range_distance)), facts_of(self)
        if facts is None:
            # A subclass may behave differently, and the proofs do not cover it.
            return promise
        proofs = {to: proof for (of, to), proof in CLAIMS.items() if of == facts.checked_as}
        # The theorem for the guarantee's own measure covers only these numbers; the others cover any numbers.
        own = proofs.pop(type(promise).__name__, None) or Proof(facts.proof)
        return promise.resting_on(own.assuming(SCORES), proofs)

    def _cost(self, range_distance: Fraction) -> Exact:
        """Return ε at range distance d: as given, or d/s if the noise scale s was given instead."""
        if self._epsilon is not None:
            return self._epsilon
        if range_distance == 0:
            return Fraction(0)
        return range_distance / self._scale if self._scale else math.inf

    def _distance_of(self, scores: Scores) -> Fraction:
        """Return the most by which one person can move two scores apart, or two ratios if they are used."""
        if not isinstance(_scores(scores).sensitivity, tuple):
            return scores.range_distance
        if not self.takes_unequal:
            raise ParameterError(
                f"{self.name} needs one sensitivity for all scores, and these have one for each candidate: "
                "take the largest, or another mechanism"
            )
        return distance_of(scores)

    def seen(self, scores: Scores) -> Scores:
        """Return the numbers that are compared: the scores, or ratios if ``scores.unequal`` is "ratios".

        **Not private**, like the scores.

        Example:
            >>> from discreet import PermuteAndFlip
            >>> scores = Scores([10, 8, 0], sensitivity=[1, 1, 9])
            >>> PermuteAndFlip(scale=0).seen(scores).values.tolist()
            [Fraction(1, 1), Fraction(-1, 1), Fraction(-1, 1)]
        """
        if not isinstance(_scores(scores).sensitivity, tuple):
            return scores
        scale = self._scale_for(scores)
        return compared(scores, scale=scale, largest_is_best=self._optimize == "max")

    def _scale_for(self, scores: Scores) -> Fraction:
        return self._scale_at(self._distance_of(scores))

    def _scale_at(self, range_distance: Fraction) -> Fraction:
        if self._scale is not None:
            return self._scale
        assert self._epsilon is not None
        return range_distance / self._epsilon

    def gaps(self, scores: Scores) -> Gaps:
        """Return the gaps, the only input that a mechanism uses. **Not private**; needs a scale > 0."""
        return self._gaps_at(self._scale_for(scores), self.seen(scores))

    def _gaps_at(self, scale: Fraction, scores: Scores) -> Gaps:
        return Gaps(scores.values, scale=scale, largest_is_best=self._optimize == "max")

    def _choose(self, scores: Scores, bits: Bits) -> int:
        scores = self.seen(scores)
        scale = self._scale_for(scores)
        if not scale:
            best = uniform_best(scores.values, 1, bits, largest_is_best=self._optimize == "max")
            return int(best[0])
        return self._draw(self._gaps_at(scale, scores), bits)

    def _choose_each(self, rows: ScoreRows, bits: Bits) -> Indices:
        scale = self._scale_at(rows.range_distance)
        chosen = np.empty(len(rows), dtype=np.int64)
        for which, part in rows.blocks(
            scale or Fraction(1), largest_is_best=self._optimize == "max"
        ):
            if not scale:
                chosen[which] = best_of_each(part, bits)
            elif part.ordinary and part.size <= BLOCK:
                chosen[which] = self._draw_each(part, bits)
            else:
                chosen[which] = self._draw_one_by_one(part, bits)
        return chosen

    def _draw_one_by_one(self, rows: RowGaps, bits: Bits) -> list[int]:
        return [self._draw(rows.row(number), bits) for number in range(len(rows.starts))]

    def _mass(self, scores: Scores, *, log: bool) -> Floats:
        scores = self.seen(scores)
        scale = self._scale_for(scores)
        if scale == 0:
            best = best_indices(scores.values, largest_is_best=self._optimize == "max")
            mass = np.zeros(len(scores))
            mass[best] = 1 / len(best)
            with np.errstate(divide="ignore"):
                return np.log(mass) if log else mass
        return self._distribution(*self._gaps_at(scale, scores).gammas(), log=log)

    def log_masses(
        self, rows: Floats, range_distance: Fraction, counts: Sequence[int] | None = None
    ) -> Floats | None:
        """Return ``log_probabilities`` of each row of a matrix, all rows at once. **Not private**.

        Returns None if that is not possible: the scale is zero, the mechanism has no formula, or it overrides
        a method that computes probabilities.

        Args:
            rows: finite scores; each row has the scores of one selection.
            range_distance: d, the most by which one person moves two scores apart.
            counts: the number of candidates with each score, by default one; allowed only for a single row.
        """
        scale, kind = self._scale_at(range_distance), type(self)
        own = any(getattr(kind, name) is not getattr(Mechanism, name) for name in _ONE_BY_ONE)
        if own or not scale or self.facts.law is None:
            return None
        largest = self._optimize == "max"
        bests = best_of_rows(rows, largest_is_best=largest)[:, None]
        arithmetic = arithmetic_for(rows.dtype, scale.numerator, scale.denominator, largest)
        with np.errstate(all="ignore"):
            high, low = arithmetic.pairs(rows, bests)
            if counts is None:
                return self.facts.law(high, low, log=True)
            every = (np.repeat(part[0], counts) for part in (high, low))
            return self.facts.law(*every, log=True)[None, np.cumsum(counts) - 1]

    # ---- what a subclass implements -------------------------------------------------------------

    @abstractmethod
    def _draw(self, gaps: Gaps, bits: Bits) -> int:
        """Draw the position of one candidate, exactly."""

    @abstractmethod
    def _draw_many(self, gaps: Gaps, size: int, bits: Bits) -> Indices:
        """Draw ``size`` positions, exactly and independently."""

    def _draw_each(self, rows: RowGaps, bits: Bits) -> Indices | list[int]:
        """Draw one candidate in each row, exactly; return the positions within the rows."""
        return self._draw_one_by_one(rows, bits)

    def _distribution(self, gammas: Floats, correction: Floats, *, log: bool) -> Floats:
        """Return the probabilities for the gaps ``gammas + correction``; with ``log``, their logarithms."""
        assert self.facts.law is not None
        return self.facts.law(gammas, correction, log=log)

    @abstractmethod
    def _promise(self, epsilon: Exact) -> Guarantee:
        """Return the strongest guarantee proved for the noise scale d/ε."""


def facts_of(thing: object) -> Facts | None:
    """Return the facts that a mechanism's own class states, or None.

    Inherited facts do not count, because a subclass may behave differently.
    """
    return thing.facts if isinstance(thing, Mechanism) and "facts" in vars(type(thing)) else None


def _scores(scores: Scores) -> Scores:
    if not isinstance(scores, Scores):
        raise ParameterError(
            f"expected Scores, got {type(scores).__name__}: wrap the numbers as "
            "Scores(values, sensitivity=...), so that the cost is known"
        )
    return scores
