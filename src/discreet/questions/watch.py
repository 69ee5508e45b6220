"""A watch reports which values of a stream cross a threshold; it is paid for when it is made."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any, NoReturn, TypedDict, TypeVar, Unpack, overload

from discreet._exact.numbers.exact import positive
from discreet._exact.sampling import SecureBits
from discreet._exact.sampling.above_threshold import NoisyThreshold
from discreet._exact.sampling.bits import process
from discreet.accounting import Event
from discreet.errors import ParameterError, WatchEndedError
from discreet.guarantees import Guarantee, PureDP
from discreet.mechanisms.above_threshold import CrossingRule, vector_of
from discreet.mechanisms.facts import Floats
from discreet.neighbours import ADD_REMOVE, Neighbours
from discreet.questions.run import AnyLedger, paid

G = TypeVar("G", bound=Guarantee)
_MACHINE_INTEGER = 2**63


class WatchTerms(TypedDict, total=False):
    """Options of ``SparseVector`` and ``AboveThreshold``.

    Attributes:
        monotonic: whether one person moves all values in the same direction, which requires less noise.
        noise: ``"exponential"`` (default), or ``"laplace"`` for comparison.
        threshold_share: the part of ε for the threshold's noise; by default the share that gives the least
            variance.
        steady: whether to do the same amount of work for any values; the answers have the same distribution.
        gap_unit: the public grid to which ``ask_gap`` rounds down; Δ by default.
        ledger: the ledger that counts the budget of ``dataset``, or its address. Without one no budget is
            counted, and ``entry`` is None.
        dataset: the data set's name in the ledger.
        neighbours: the relation for which the sensitivity is stated: ``"add-remove"`` or ``"replace"``.
        purpose: the purpose that the ledger records.

    Example:
        >>> terms: WatchTerms = {"monotonic": True, "noise": "laplace"}
        >>> AboveThreshold(1, threshold=500, sensitivity=1, **terms).ask(10**6)
        True
    """

    monotonic: bool
    noise: str
    threshold_share: object
    steady: bool
    gap_unit: object
    ledger: AnyLedger | None
    dataset: str | None
    neighbours: str
    purpose: str | None


class SparseVector:
    """Find which values of a stream cross a threshold, up to a number of crossings (sparse vector).

    The budget is spent when the watch is made, before any value is seen, and no answer changes the cost. A
    value may depend on the answers before it. The noise lives in this process only: a watch cannot be copied,
    pickled or used after a fork, and one that is lost with its process must be paid for again.

    Guarantee: ε-DP for the whole stream (``docs/proofs/above-threshold.md``); see ``CrossingRule``. Options
    are explained in ``WatchTerms``.

    Args:
        epsilon: the cost of the whole stream, however long it runs.
        threshold: the public threshold.
        sensitivity: the most by which one person changes any one value.
        crossings: the watch ends after this many crossings.

    Example:
        >>> watch = SparseVector(epsilon=1, crossings=2, threshold=500, sensitivity=1, monotonic=True)
        >>> [watch.ask(count) for count in (120, 9_000, 210, 8_000)]
        [False, True, False, True]
        >>> watch.left, watch.guarantee()
        (0, PureDP(1))
    """

    __slots__ = ("_drawn", "_entry", "_left", "_lock", "_process", "_rule", "_unit")

    def __init__(
        self,
        epsilon: object,
        *,
        threshold: object,
        sensitivity: object,
        crossings: int,
        monotonic: bool = False,
        noise: str = "exponential",
        threshold_share: object = None,
        steady: bool = False,
        gap_unit: object = None,
        ledger: AnyLedger | None = None,
        dataset: str | None = None,
        neighbours: str = ADD_REMOVE,
        purpose: str | None = None,
    ) -> None:
        self._rule = rule = CrossingRule(
            epsilon,
            threshold=threshold,
            sensitivity=sensitivity,
            crossings=crossings,
            monotonic=monotonic,
            noise=noise,
            threshold_share=threshold_share,
            steady=steady,
        )
        self._unit = rule.sensitivity if gap_unit is None else positive("gap_unit", gap_unit)
        said = f"which values reach {rule.threshold}, until {rule.crossings} have; lost if its process ends"
        event = Event(
            rule.guarantee(), mechanism=rule.name, neighbours=Neighbours.named(neighbours)
        )
        self._drawn: NoisyThreshold
        self._drawn, spent = paid(
            event, purpose or said, lambda: rule.draw(SecureBits()), ledger=ledger, dataset=dataset
        )
        self._entry = spent["entry"]
        self._left = rule.crossings
        self._lock = threading.Lock()
        self._process = process()

    # ---- answers, already paid for -------------------------------------------------------------

    def ask(self, value: Any) -> bool:
        """Return whether this value crosses the threshold, with noise on both.

        Example:
            >>> AboveThreshold(epsilon=1, threshold=500, sensitivity=1).ask(10**6)
            True
        """
        kind = type(value)
        if not (
            (kind is int and -_MACHINE_INTEGER <= value < _MACHINE_INTEGER)
            or (kind is float and value - value == 0.0)
        ):
            value = self._exact(value)
        with self._here():
            left = self._taken()
            crossed = self._drawn.crosses(value)
            self._left = left - crossed
        return crossed

    def ask_gap(self, value: Any) -> Fraction | None:
        """Return how far the noisy value is above the noisy threshold, rounded down; None if it is below.

        The unit of rounding is ``gap_unit``. This costs no more than ``ask``. The gap contains the noise of
        the value and of the threshold; if a value crosses by chance alone, its gap is pure noise.

        Example:
            >>> watch = SparseVector(epsilon=1, crossings=2, threshold=500, sensitivity=1, gap_unit=5)
            >>> watch.ask_gap(0) is None, 900 < watch.ask_gap(1500) < 1100
            (True, True)
        """
        if self._rule.steady:
            raise ParameterError(
                "⟨steady=True⟩ is not allowed with gaps, whose time depends on the values"
            )
        exact = Fraction(self._exact(value))
        with self._here():
            left = self._taken()
            steps = self._drawn.gap(exact, self._unit)
            self._left = left - (steps is not None)
        return None if steps is None else steps * self._unit

    def ask_all(self, values: Any) -> list[int]:
        """Ask about values in order until no crossings are left; return the indices of those that cross.

        The watch ends at its last crossing; later values are not looked at.

        Example:
            >>> watch = SparseVector(epsilon=1, crossings=2, threshold=500, sensitivity=1)
            >>> watch.ask_all([0, 9_000, 0, 8_000, 7_000])
            [1, 3]
        """
        array = vector_of(values)
        if self._rule.steady and array.dtype.kind == "O":
            raise ParameterError("⟨steady=True⟩ needs values of a machine integer or float type")
        with self._here():
            left = self._taken()
            crossed = self._drawn.crossings(array, left)
            self._left = left - len(crossed)
        return crossed

    def _here(self) -> threading.Lock:
        """Return the lock that serialises questions; raise outside the process that made this watch."""
        if self._process != process():
            raise WatchEndedError(
                "this watch works only in the process that made it, because its noise must not be "
                "shared: make and pay for a new one here"
            )
        return self._lock

    def _taken(self) -> int:
        """Set the crossings left to 0 and return the old number; an interruption thus ends the watch.

        Without an interruption, the caller stores the new number.
        """
        left, self._left = self._left, 0
        if not left:
            raise WatchEndedError(
                "this watch has reported all its crossings or was interrupted: make and pay for a new one"
            )
        return left

    def _exact(self, value: Any) -> int | float | Fraction:
        number: int | float | Fraction = vector_of([value]).tolist()[0]
        if self._rule.steady and not (
            isinstance(number, float)
            or (isinstance(number, int) and -_MACHINE_INTEGER <= number < _MACHINE_INTEGER)
        ):
            raise ParameterError("⟨steady=True⟩ needs values of a machine integer or float type")
        return number

    # ---- public facts about a watch ------------------------------------------------------------

    @overload
    def guarantee(self) -> PureDP: ...

    @overload
    def guarantee(self, measure: type[G], delta: object = None) -> G: ...

    def guarantee(self, measure: type[Guarantee] = PureDP, delta: object = None) -> Guarantee:
        """Return the guarantee of the whole stream: fixed when the watch was made, however long it runs."""
        return self._rule.guarantee(measure, delta)

    @property
    def rule(self) -> CrossingRule:
        """The public parameters of this watch, as an object that also computes probabilities of answers."""
        return self._rule

    @property
    def left(self) -> int:
        """The number of crossings left."""
        return self._left

    @property
    def entry(self) -> Any:
        """The ledger's entry; None if no ledger counted this watch."""
        return self._entry

    def probabilities(self, values: Any) -> Floats:
        """Return each value's probability of being the first to cross, then the probability of no crossing.

        **Not private**.
        """
        return self._rule.probabilities(values)

    def __repr__(self) -> str:
        rule = self._rule
        return (
            f"{type(self).__name__}(epsilon={rule.epsilon}, threshold={rule.threshold}, "
            f"sensitivity={rule.sensitivity}, crossings left: {self._left} of {rule.crossings})"
        )

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        raise WatchEndedError(
            "a watch cannot be copied or pickled: two watches with the same noise would reveal more "
            "than was paid for"
        )


class AboveThreshold(SparseVector):
    """Find the first value of a stream that crosses a threshold.

    This is ``SparseVector`` with one crossing; everything else is described there.

    Example:
        >>> watch = AboveThreshold(epsilon=1, threshold=500, sensitivity=1, monotonic=True)
        >>> watch.ask(120), watch.ask(9_000), watch.guarantee()
        (False, True, PureDP(1))
        >>> watch.ask(9_000)
        Traceback (most recent call last):
        discreet.errors.WatchEndedError: this watch has reported all its crossings or was ...
    """

    __slots__ = ()

    def __init__(
        self,
        epsilon: object,
        *,
        threshold: object,
        sensitivity: object,
        **terms: Unpack[WatchTerms],
    ) -> None:
        super().__init__(
            epsilon, threshold=threshold, sensitivity=sensitivity, crossings=1, **terms
        )
