"""What is audited: a mechanism, anything with ``probabilities(scores)``, or a function of scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.relations import Floats
from discreet.errors import ParameterError
from discreet.mechanisms.mechanism import Mechanism, facts_of
from discreet.scores import Scores

TOLERANCE = 1e-9
"""Relative error that a float probability from somebody else's code is allowed to have."""

FLOOR = 1e-290
"""Below this a float probability may have lost its digits: only "at most this" is believed."""


class AuditedScores(np.lib.mixins.NDArrayOperatorsMixin, Scores):
    """Scores that also behave as a NumPy array, so that any function of scores can be audited.

    Example:
        >>> scores = AuditedScores([1.0, 3.0], sensitivity=1)
        >>> scores.max() - scores, np.exp(scores).shape, scores.sensitivity
        (array([2., 0.]), (2,), Fraction(1, 1))
    """

    __slots__ = ()

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


class Subject:
    """The audited thing, evaluated on rows of scores and remembered.

    Our own mechanisms depend on the sorted gaps only (which ``Regular()`` audits without this
    shortcut), so vectors that differ by an order or a shift are evaluated once.
    """

    def __init__(self, audited: Any, *, sensitivity: Fraction, epsilon: Fraction | None) -> None:
        self.audited = _instance(audited, epsilon)
        self.sensitivity = sensitivity
        self.evaluations = 0
        self._cache: dict[tuple[bool, bytes], Floats] = {}
        self._function = _log_mass_function(self.audited)
        facts = facts_of(self.audited)
        self.canonical = facts is not None and facts.symmetric
        self.largest_is_best = getattr(self.audited, "optimize", "max") != "min"

    @property
    def name(self) -> str:
        """How the subject is called in a report."""
        if isinstance(self.audited, Mechanism):
            return repr(self.audited)
        if callable(self.audited) and not hasattr(self.audited, "probabilities"):
            return str(getattr(self.audited, "__name__", None) or type(self.audited).__name__)
        return type(self.audited).__name__

    @property
    def mechanism(self) -> Mechanism | None:
        """The subject if it is one of the library's kind of mechanism."""
        return self.audited if isinstance(self.audited, Mechanism) else None

    def scores(self, values: Sequence[float] | Floats, *, monotonic: bool) -> AuditedScores:
        """These values as the scores that the subject is given."""
        return AuditedScores(
            np.asarray(values, dtype=np.float64), sensitivity=self.sensitivity, monotonic=monotonic
        )

    def log_masses(self, rows: Floats, *, monotonic: bool, plainly: bool = False) -> Floats:
        """Log-probabilities, one row per row of scores; ``plainly`` without the shortcut."""
        if not self.canonical or plainly:
            result = np.empty(rows.shape)
            for place, row in enumerate(rows):
                result[place] = self._one(row, monotonic)
            return result
        signed = rows if self.largest_is_best else -rows
        order = np.argsort(-signed, axis=1, kind="stable")
        ranked = np.take_along_axis(signed, order, axis=1)
        ranked -= ranked[:, :1]
        different, places = np.unique(ranked, axis=0, return_inverse=True)
        sign = 1.0 if self.largest_is_best else -1.0
        masses = np.stack([self._one(sign * row + 0.0, monotonic) for row in different])
        result = np.empty(rows.shape)
        np.put_along_axis(result, order, masses[places.reshape(-1)], axis=1)
        return result

    def _one(self, row: Floats, monotonic: bool) -> Floats:
        key = (monotonic, (row + 0.0).tobytes())
        found = self._cache.get(key)
        if found is None:
            self.evaluations += 1
            found = self._function(self.scores(row, monotonic=monotonic))
            self._cache[key] = found
        return found


def _instance(audited: Any, epsilon: Fraction | None) -> Any:
    """An instance of a class: made with the claim's ε where the class takes one."""
    if isinstance(audited, type):
        # Somebody else's class is given a float: it may know nothing of fractions.
        cost = epsilon if epsilon is None or issubclass(audited, Mechanism) else float(epsilon)
        try:
            return audited(epsilon=cost) if cost is not None else audited()
        except TypeError:
            try:
                return audited()
            except TypeError:
                raise ParameterError(
                    f"{audited.__name__} cannot be built from ⟨epsilon⟩ alone, nor from nothing: "
                    "give an instance"
                ) from None
    if hasattr(audited, "probabilities") or callable(audited):
        return audited
    raise ParameterError(
        f"{type(audited).__name__} cannot be audited: give a mechanism, an object with "
        "probabilities(scores), or a function of scores that returns probabilities"
    )


def _log_mass_function(audited: Any) -> Callable[[AuditedScores], Floats]:
    logarithms = getattr(audited, "log_probabilities", None)
    if callable(logarithms):
        return lambda scores: _checked_logs(logarithms(scores), len(scores))
    plain = raw_function(audited)
    return lambda scores: _logs(plain(scores), len(scores))


def raw_function(audited: Any) -> Callable[[AuditedScores], Any]:
    """The function from scores to probabilities, in whatever numbers the subject uses."""
    return getattr(audited, "probabilities", audited)  # type: ignore[no-any-return]  # checked by _instance


def _logs(given: Any, size: int) -> Floats:
    try:
        mass = np.array([float(part) for part in given], dtype=np.float64)
    except (TypeError, ValueError):
        mass = np.empty(0)
    if mass.shape != (size,) or not np.isfinite(mass).all() or (mass < 0).any():
        raise ParameterError(
            "the subject must return one finite probability, 0 or above, per candidate (what only "
            "samples is for statistical_audit, on the command line --sampled)"
        )
    if abs(float(mass.sum()) - 1) > 1e-6:
        raise ParameterError("the subject's probabilities must sum to one")
    # Unknown digits below the floor are read in the subject's favour, so that no underflow can look
    # like a loss.
    return np.log(np.maximum(mass, FLOOR))


def _checked_logs(given: Any, size: int) -> Floats:
    logs = np.array(given, dtype=np.float64)
    if logs.shape != (size,) or np.isnan(logs).any() or (logs > 1e-6).any():
        raise ParameterError(
            "the subject must return one log-probability, 0 or below, per candidate"
        )
    if abs(float(np.exp(logs).sum()) - 1) > 1e-6:
        raise ParameterError("the subject's probabilities must sum to one")
    return logs
