"""Scores that behave as a NumPy array and record whether the audited subject reads the neighbour relation."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.audit.relations import Floats
from discreet.scores import Scores

_SLOTS = [vars(Scores)[name] for name in Scores.__slots__ if name != "values"]
_VALUES: Any = vars(Scores)["values"]


def _noted(name: str) -> Any:
    """Return a property that reads the attribute ``name`` and records that it was read."""
    slot = vars(Scores)[name]

    def read(scores: Scores) -> Any:
        object.__setattr__(scores, "_looked", True)
        return slot.__get__(scores)

    return property(read, slot.__set__)


class AuditedScores(np.lib.mixins.NDArrayOperatorsMixin, Scores):
    """Scores that also behave as a NumPy array, so that any function of scores can be audited.

    Example:
        >>> scores = AuditedScores([1.0, 3.0], sensitivity=1)
        >>> scores.max() - scores, np.exp(scores).shape, scores.sensitivity
        (array([2., 0.]), (2,), Fraction(1, 1))
    """

    __slots__ = ("_looked",)
    monotonic: Any = _noted("monotonic")
    _range_distance: Any = _noted("_range_distance")

    @property
    def looked(self) -> bool:
        """Whether the subject has read ``monotonic`` or the range distance."""
        return getattr(self, "_looked", False)

    def with_values(self, row: Floats) -> AuditedScores:
        """Return a copy with the values of ``row``, which must be finite but are not checked."""
        other = object.__new__(AuditedScores)
        for slot in _SLOTS:
            slot.__set__(other, slot.__get__(self))
        values = row.copy()
        values.flags.writeable = False
        _VALUES.__set__(other, values)
        object.__setattr__(other, "_looked", False)
        return other

    @property
    def __array_struct__(self) -> Any:
        # NumPy looks for this attribute first. Providing it is faster than a failed lookup.
        return self.values.__array_struct__

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [part.values if isinstance(part, AuditedScores) else part for part in inputs]
        return getattr(ufunc, method)(*plain, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.values, name)

    def __getitem__(self, place: Any) -> Any:
        return self.values[place]

    def __iter__(self) -> Any:
        return iter(self.values)
