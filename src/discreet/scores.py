"""Scores: candidates, their values, and how far one person can move them; checked once, then frozen.

Scores are exactly the given numbers: integers of any size, floats as their binary values, fractions,
decimals. A NumPy array is borrowed, not copied. Scores are private data: ``repr``, notebooks and errors never
show one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from heapq import nlargest
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet._displays import card, counted
from discreet._exact.gaps import require_finite
from discreet._exact.numbers.exact import (
    fraction_of_decimal,
    non_negative_distance,
    positive,
    positive_distance,
    refuse,
)
from discreet.errors import ParameterError, ScoresError

RATIOS, LARGEST = "ratios", "largest"

_EXACT_IN_FLOAT64 = 1 << 53
_FLOATS = {float, np.float64, np.float32, np.float16}


class Scores:
    """The scores of the candidates, and the most that one person can change them.

    Args:
        values: a mapping from candidate to score, or a sequence, NumPy array, pandas or Polars series
            of scores.
        candidates: the labels, all different; by default the mapping's keys, a pandas index, or
            ``range(n)``.
        sensitivity: Δ, the most that one person changes any one score; or a list with one Δ for each
            candidate, at most one of them zero.
        monotonic: whether one person moves every score in the same direction (as with counts, if a person
            is added or removed); the range distance is then Δ instead of 2Δ.
        range_distance: d itself, instead of ``sensitivity``: the most by which two candidates' scores can
            move apart (twice the Δ̂ of the noisy-max paper).
        unequal: with a list of different sensitivities, ``"ratios"`` to compare each lead in units of the
            most that one person can change it, or ``"largest"`` to use one range distance, from the two
            largest sensitivities; the default is ratios if their error bound is the smaller one for more
            than half of the candidates (``docs/proofs/unequal-sensitivities.md``).

    ``docs/proofs/neighbours.md`` defines these terms and proves that they suffice.

    Example:
        >>> scores = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> scores
        Scores(3 candidates, int64, sensitivity=1, monotonic=True)
        >>> scores.range_distance
        Fraction(1, 1)
    """

    __slots__: Mapping[str, str] | tuple[()] = {
        "_range_distance": "d, or None if sensitivities differ.",
        "candidates": "The labels, in the order of ``values``.",
        "monotonic": "Whether one person moves all scores in the same direction.",
        "sensitivity": "Δ, or one Δ for each candidate; None if a range distance was given.",
        "unequal": "How scores are compared if sensitivities differ.",
        "values": "The scores: a read-only NumPy array, of exact rationals if no machine type holds them.",
    }
    candidates: Sequence[Any]
    monotonic: bool
    sensitivity: Fraction | tuple[Fraction, ...] | None
    unequal: str | None
    values: npt.NDArray[Any]
    _range_distance: Fraction | None

    def __init__(
        self,
        values: Any,
        *,
        candidates: Iterable[Any] | None = None,
        sensitivity: object = None,
        monotonic: bool = False,
        range_distance: object = None,
        unequal: str | None = None,
    ) -> None:
        if unequal not in (None, RATIOS, LARGEST):
            raise refuse("unequal", unequal, f'"{RATIOS}" or "{LARGEST}"')
        steps = None if sensitivity is None else _steps_of(sensitivity)
        differ = steps is not None and len(set(steps)) > 1
        delta, distance = distances_of(
            max(steps) if steps else sensitivity, monotonic, range_distance
        )
        if isinstance(values, Mapping):
            if candidates is not None:
                raise ParameterError("a mapping brings its own candidates: leave ⟨candidates⟩ out")
            candidates, values = list(values.keys()), list(values.values())
        elif candidates is None and not isinstance(values, np.ndarray):
            candidates = _index_labels(values)
        array = borrowed(values)
        if len(array) == 0:
            raise ScoresError("there must be at least one candidate")
        if steps is not None and len(steps) != len(array):
            raise ParameterError("⟨sensitivity⟩ must have one number for each candidate")
        set_once = object.__setattr__
        set_once(self, "values", array)
        set_once(self, "candidates", _labels(candidates, len(array)))
        set_once(self, "sensitivity", steps if differ else delta)
        set_once(self, "monotonic", bool(monotonic))
        if differ:
            unequal = unequal or recommended_way(steps or (), monotonic=bool(monotonic))
        set_once(self, "unequal", unequal if differ else None)
        set_once(self, "_range_distance", None if differ else distance)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Scores are frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("Scores are frozen")

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in Scores.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in Scores.__slots__:
            object.__setattr__(self, name, state[name])
        self.values.flags.writeable = False

    @property
    def range_distance(self) -> Fraction:
        """The range distance d: the most by which two scores can move apart between neighbours."""
        if self._range_distance is None:
            raise ParameterError(
                "this needs one sensitivity for all scores, and these have one for each candidate: take the "
                "largest"
            )
        return self._range_distance

    def on_grid(self, step: object) -> Scores:
        """Round these scores to multiples of ``step``, which must divide Δ, so that Δ is unchanged.

        This is for scores that should be multiples of ``step`` but were computed in floating point. If the
        floating-point error is below half a step, this restores the true scores, and with them the true Δ
        (``docs/proofs/neighbours.md``, grid lemma).

        Args:
            step: the distance between two points of the grid.

        Example:
            >>> Scores([0.30000000000000004, 0.1], sensitivity=1).on_grid("0.1").values.tolist()
            [Fraction(3, 10), Fraction(1, 10)]
        """
        grid = positive("step", step)
        if self.sensitivity is None:
            raise ParameterError("on_grid needs scores with ⟨sensitivity⟩, not ⟨range_distance⟩")
        steps = self.sensitivity if isinstance(self.sensitivity, tuple) else (self.sensitivity,)
        if any((each / grid).denominator != 1 for each in steps):
            raise ParameterError(
                f"⟨step⟩{step!r} is not allowed: ⟨sensitivity⟩ must be a multiple of it"
            )
        # Halves round up, not to even, so that scores a whole number of steps apart stay that far apart.
        half = Fraction(1, 2)
        rounded = [
            math.floor(Fraction(value) / grid + half) * grid for value in self.values.tolist()
        ]
        return Scores(
            rounded,
            candidates=self.candidates,
            sensitivity=self.sensitivity,
            monotonic=self.monotonic,
            unequal=self.unequal,
        )

    def _repr_html_(self) -> str:
        # A notebook saves what it shows, and may be passed on.
        return card(
            repr(self), note="The scores are not shown: they are data. scores.values has them."
        )

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        stated: object = self.sensitivity
        if isinstance(self.sensitivity, tuple):
            stated = f"{min(self.sensitivity)} to {max(self.sensitivity)}"
        distance = (
            f"range_distance={self.range_distance}"
            if stated is None
            else f"sensitivity={stated}, monotonic={self.monotonic}"
        )
        return f"Scores({counted(len(self), 'candidate')}, {self.values.dtype}, {distance})"


def distances_of(
    sensitivity: object, monotonic: object, range_distance: object
) -> tuple[Fraction | None, Fraction]:
    """Return Δ (None if ``range_distance`` was stated) and the range distance d."""
    if not isinstance(monotonic, bool | np.bool_):
        raise refuse("monotonic", monotonic, "True or False")
    if (sensitivity is None) == (range_distance is None):
        raise ParameterError("give exactly one of ⟨sensitivity⟩ and ⟨range_distance⟩")
    if range_distance is None:
        delta = positive_distance("sensitivity", sensitivity)
        return delta, delta if monotonic else 2 * delta
    if monotonic:
        raise ParameterError(
            "⟨monotonic⟩ needs ⟨sensitivity⟩; ⟨range_distance⟩ already says how far two "
            "scores can move apart"
        )
    return None, positive_distance("range_distance", range_distance)


def recommended_way(sensitivities: Sequence[Fraction], *, monotonic: bool) -> str:
    """Return "ratios" if its error bound is smaller for more than half of the candidates, else "largest".

    If the best candidate has sensitivity Δ, the error bound of "ratios" at probability 19/20 is the smaller
    one if 4Δ is less than ``largest_distance``, which is the same for all candidates.
    """
    distance = largest_distance(sensitivities, monotonic=monotonic)
    better = sum(4 * each < distance for each in sensitivities)
    return RATIOS if 2 * better > len(sensitivities) else LARGEST


def largest_distance(sensitivities: Sequence[Fraction], *, monotonic: bool) -> Fraction:
    """Return the range distance: the sum of the two largest sensitivities or, if monotonic, the largest."""
    return sum(nlargest(1 if monotonic else 2, sensitivities), Fraction(0))


def _steps_of(given: object) -> tuple[Fraction, ...] | None:
    """Return sensitivities, one for each candidate, as exact numbers; None if ``given`` is a single value."""
    read = getattr(given, "tolist", None) or getattr(given, "to_list", None)
    listed = given if read is None else read()
    if not isinstance(listed, list | tuple):
        return None
    if not listed:
        raise ParameterError("⟨sensitivity⟩ must have one number for each candidate")
    steps = tuple(non_negative_distance("sensitivity", each) for each in listed)
    if steps.count(Fraction(0)) > 1:
        raise ParameterError(
            "⟨sensitivity⟩ may be zero for one candidate only: of several scores that no person moves, leave "
            "out all but the best"
        )
    return steps


def _module(values: Any) -> str:
    return type(values).__module__.partition(".")[0]


def _index_labels(values: Any) -> Iterable[Any] | None:
    """Return a pandas series' index; None for other values, or if the index only counts from zero."""
    if _module(values) != "pandas" or not hasattr(values, "index") or not hasattr(values, "dtype"):
        return None
    index = values.index
    plain = getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1
    return None if plain else list(index)


def _labels(candidates: Iterable[Any] | None, count: int) -> Sequence[Any]:
    if candidates is None:
        return range(count)
    if isinstance(candidates, str | bytes | set | frozenset) or not isinstance(
        candidates, Iterable
    ):
        raise refuse("candidates", candidates, "a sequence of labels, in the order of the scores")
    if isinstance(candidates, range):
        labels: Sequence[Any] = candidates
    else:
        labels = tuple(candidates.tolist() if hasattr(candidates, "tolist") else candidates)
    if len(labels) != count:
        raise ScoresError("candidates and scores must have the same length")
    if not isinstance(labels, range):
        try:
            different = len(set(labels))
        except TypeError:
            raise ParameterError("candidates must be hashable labels") from None
        if different != count:
            raise ScoresError("candidates must all be different")
    return labels


def borrowed(values: Any, *, finite: bool = True) -> npt.NDArray[Any]:
    """Return a read-only array of exactly these numbers, without a copy if NumPy holds them already.

    With ``finite=False``, a NumPy array of floats is not checked here, but by the code that next reads it.
    """
    # Loading numpy.ma takes a while; if it is not loaded, no masked array can exist.
    masking: Any = sys.modules.get("numpy.ma")
    if masking is not None and isinstance(values, masking.MaskedArray):
        if masking.getmaskarray(values).any():
            raise ScoresError("scores must not be masked or null")
        values = values.data
    elif not isinstance(values, np.ndarray) and _module(values) in ("pandas", "polars", "pyarrow"):
        values = _column(values)
    if isinstance(values, np.ndarray):
        array = _from_array(values, finite=finite)
    elif isinstance(values, str | bytes | set | frozenset) or not isinstance(values, Iterable):
        raise ScoresError("scores must be a mapping, a sequence, an array or a series of numbers")
    else:
        array = _from_sequence(_listed(values))
    view = array.view()
    view.flags.writeable = False
    return view


def _listed(values: Iterable[Any]) -> list[Any]:
    try:
        return list(values)
    except Exception:
        # An exception from a foreign iterator may quote a score, so it is not passed on, even as a cause.
        raise ScoresError("scores could not be read to the end") from None


def _column(series: Any) -> Any:
    """Return a data-frame column as a NumPy array, or a list of exact values; nulls are refused."""
    kind, nulls = ("type", "null_count") if _module(series) == "pyarrow" else ("dtype", "__len__")
    if getattr(series, "ndim", 1) != 1 or not (hasattr(series, kind) and hasattr(series, nulls)):
        raise ScoresError("scores must have one dimension")
    if _module(series) == "pandas":
        missing = bool(series.isna().any())
    else:
        missing = (series.null_count() if callable(series.null_count) else series.null_count) > 0
    if missing:
        raise ScoresError("scores must not be null, missing or NaN")
    if _module(series) == "polars":
        machine = series.dtype.is_integer() or series.dtype.is_float()
        # NumPy has no 128-bit integers.
        return series.to_numpy() if machine and "128" not in str(series.dtype) else series.to_list()
    # A PyArrow array refuses to copy unless asked to; a chunked one always copies.
    return series.to_numpy(**({"zero_copy_only": False} if hasattr(series, "buffers") else {}))


def _from_array(array: npt.NDArray[Any], *, finite: bool) -> npt.NDArray[Any]:
    if array.ndim != 1:
        raise ScoresError("scores must have one dimension")
    kind = array.dtype.kind
    if kind == "O" or (kind == "f" and array.dtype.itemsize > 8):
        return _from_sequence(list(array))
    if kind not in "iuf":
        raise ScoresError(
            "scores must be real numbers (not booleans, complex numbers, text or dates)"
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    array = array.view(np.ndarray)
    if finite:
        require_finite(array)
    return array


def _from_sequence(values: list[Any]) -> npt.NDArray[Any]:
    types = set(map(type, values))
    if types and types <= _FLOATS:
        array = np.array(values, dtype=np.float64)
        require_finite(array)
        return array
    if types != {int}:
        values = [_exact_score(value) for value in values]
    if all(isinstance(value, int) for value in values):
        for machine in (np.int64, np.uint64):
            limits = np.iinfo(machine)
            if not values or (min(values) >= limits.min and max(values) <= limits.max):
                return np.array(values, dtype=machine)
    elif types <= {int, float} and all(
        isinstance(value, Fraction) or abs(value) <= _EXACT_IN_FLOAT64 for value in values
    ):
        return np.array([float(value) for value in values], dtype=np.float64)
    exact = np.empty(len(values), dtype=object)
    exact[:] = values
    return exact


def _exact_score(value: Any) -> int | Fraction:
    """Return one score as an exact number; error messages name the rule, never the value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        raise ScoresError("scores must not be null, missing or NaN")
    if isinstance(value, bool | np.bool_):
        raise ScoresError("scores must be numbers, not booleans")
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Decimal):
        exact = fraction_of_decimal(value)
        if exact is None:
            raise ScoresError("scores must be finite, and decimals must have a reasonable exponent")
        return exact
    if isinstance(value, float | np.floating):
        if not np.isfinite(value):
            raise ScoresError("scores must be finite")
        numerator, denominator = value.as_integer_ratio()
        return Fraction(int(numerator), int(denominator))
    raise ScoresError("scores must be real numbers (not complex numbers, text or dates)")
