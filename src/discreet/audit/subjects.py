"""Subjects of an audit: a mechanism, any object with ``probabilities``, or a function.

A subject returns probabilities of positions, or a mapping from answers of any kind (labels, tuples, sets, a
winner with a count) to their probabilities. An exception or a NaN counts as an answer, because the caller
sees it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from discreet._exact.numbers.balls import ball_of
from discreet.audit.audited_scores import AuditedScores
from discreet.audit.relations import Floats
from discreet.errors import ParameterError
from discreet.mechanisms.mechanism import Mechanism, facts_of

TOLERANCE = 1e-9
"""The allowed relative error of a float probability from other code."""

FLOOR = 1e-290
"""A float probability below this may have lost its digits, so it means "at most this"."""

BITS = 200
BALLS = "ball arithmetic"
EXACT = "exact probabilities from the subject"
FLOATS = f"floats, each trusted to a relative error of {TOLERANCE:g}"

_TOGETHER = 64
"""Rows of at most this many candidates are evaluated together."""

PATIENCE = 100
"""A subject that fails on this many inputs without a single answer is considered broken."""

_LARGE_CROWD = 4096
"""Distributions over at least this many candidates are not cached."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An error or NaN, recorded as an answer.

    Example:
        >>> Failure("raises ValueError")
        raises ValueError
    """

    what: str

    def __repr__(self) -> str:
        return self.what


NAN = Failure("not a number")
MALFORMED = Failure("no distribution")


class Subject:
    """The audited subject, with cached evaluations.

    Our own mechanisms depend only on the sorted gaps, so vectors that differ only in order or by a shift are
    evaluated once. An audit of ``Regular()`` checks this property without the shortcut.
    """

    def __init__(
        self,
        audited: Any,
        *,
        sensitivity: Fraction,
        epsilon: Fraction | None,
        steps: tuple[Fraction, ...] | None = None,
    ) -> None:
        self.audited = _instance(audited, epsilon)
        self.sensitivity = sensitivity
        # If sensitivities differ, the search measures each score in units of its own sensitivity.
        self.steps = steps
        self._units = None if steps is None else np.array(list(map(_short, steps)))
        self.evaluations = 0
        # Whether the distribution may depend on the neighbour relation.
        self.sees_relation = False
        self._templates: dict[tuple[int, bool], AuditedScores] = {}
        self._answered = False
        self._cache: dict[Hashable, Floats] = {}
        self._answers: dict[int, dict[Hashable, int]] = {}
        facts = facts_of(self.audited)
        # A subclass inherits the mechanism's probabilities, but may behave differently.
        self._ours = facts is not None
        self._function: Callable[[Any], Any] = getattr(self.audited, "probabilities", self.audited)
        own = getattr(self.audited, "log_probabilities", None)
        usable = callable(own) and (self.mechanism is None or self._ours)
        self._own_logs: Callable[[Any], Any] | None = own if usable else None
        self.canonical = facts is not None and facts.symmetric and steps is None
        self.largest_is_best = getattr(self.audited, "optimize", "max") != "min"

    @property
    def name(self) -> str:
        """The subject's name in a report."""
        if isinstance(self.audited, Mechanism):
            return repr(self.audited)
        given = getattr(self.audited, "__name__", None)
        if callable(self.audited) and not hasattr(self.audited, "probabilities") and given:
            return str(given)
        return type(self.audited).__name__

    @property
    def mechanism(self) -> Mechanism | None:
        """The subject if it is a ``Mechanism``, else None."""
        return self.audited if isinstance(self.audited, Mechanism) else None

    def scores(self, values: Sequence[float] | Floats, *, monotonic: bool) -> AuditedScores:
        """Return the ``Scores`` to pass to the subject, with these values from the search."""
        row = self.in_scores(values)
        return self._template(len(row), monotonic).with_values(row)

    def _template(self, size: int, monotonic: bool) -> AuditedScores:
        known = self._templates.get((size, monotonic))
        if known is None:
            known = self._templates[size, monotonic] = AuditedScores(
                np.zeros(size), sensitivity=self.steps or self.sensitivity, monotonic=monotonic
            )
        return known

    def in_scores(self, values: Sequence[float] | Floats) -> Floats:
        """Convert the search's values to scores: multiply by each candidate's sensitivity if these differ."""
        row = np.asarray(values, dtype=np.float64)
        return row if self._units is None else row * self._units

    def answers(self, size: int) -> list[Hashable]:
        """Return the answers seen so far on inputs of this size, in column order."""
        return list(self._columns(size))

    def log_masses(self, rows: Floats, *, monotonic: bool, plainly: bool = False) -> Floats:
        """Return log-probabilities, one row per row of scores; ``plainly`` skips sorting the scores."""
        if plainly or not self.canonical or rows.shape[1] > _TOGETHER:
            return stacked(self._each(rows, monotonic))
        signed = rows if self.largest_is_best else -rows
        order = np.argsort(-signed, axis=1, kind="stable")
        ranked = np.take_along_axis(signed, order, axis=1)
        ranked -= ranked[:, :1]
        sign = 1.0 if self.largest_is_best else -1.0
        result = np.empty(rows.shape)
        masses = np.array(self._each(sign * ranked, monotonic, together=True))
        np.put_along_axis(result, order, masses, axis=1)
        return result

    def log_blocks(self, rows: Floats, counts: Sequence[int], *, monotonic: bool) -> Floats:
        """Return log-probabilities of each crowd's levels, and then of the answers that are not positions.

        A crowd has many candidates but few distinct scores (its levels); a level's probability is that of all
        its members together. If members of a level have different probabilities, because the subject is not
        symmetric, every member is listed instead.
        """
        rows, back = np.unique(rows, axis=0, return_inverse=True)
        logs = self.log_masses(np.repeat(rows, counts, axis=1), monotonic=monotonic)
        members, others = np.split(logs, [sum(counts)], axis=1)
        starts = [0, *accumulate(counts[:-1])]
        levels = np.minimum.reduceat(members, starts, axis=1)
        if (levels == np.maximum.reduceat(members, starts, axis=1)).all():
            logs = np.concatenate([levels + np.log(counts), others], axis=1)
        return logs[back.reshape(-1)]

    def _together(self, rows: Floats, monotonic: bool) -> Floats | None:
        """Return the log-probabilities of all rows at once; None if the mechanism cannot compute them."""
        mechanism = self.mechanism
        if mechanism is None:
            return None
        logs = mechanism.log_masses(rows, self.sensitivity * (1 if monotonic else 2))
        if logs is None or not _are_logs(logs):
            return None
        self.evaluations += len(rows)
        self.sees_relation = self._answered = True
        return logs

    def _each(self, rows: Floats, monotonic: bool, *, together: bool = False) -> list[Floats]:
        """Return log-probabilities of each row, evaluating each distinct row once."""
        size = rows.shape[1]
        if size >= _LARGE_CROWD:
            return [self._logs(self.scores(row, monotonic=monotonic), size) for row in rows]
        rows = rows + 0.0
        keys: list[Hashable] = [(monotonic, row.tobytes()) for row in rows]
        unknown = {key: n for n, key in enumerate(keys) if key not in self._cache}
        new = rows[list(unknown.values())]
        logs = self._together(new, monotonic) if together and unknown else None
        laws: Iterable[Floats] = (
            (self._logs(self.scores(row, monotonic=monotonic), size) for row in new)
            if logs is None
            else logs
        )
        self._cache.update(zip(unknown, laws, strict=True))
        return [self._cache[key] for key in keys]

    def log_laws(self, inputs: Sequence[Hashable]) -> Floats:
        """Return log-probabilities on inputs that are not score vectors, one row for each input."""
        for given in inputs:
            if given not in self._cache:
                self._cache[given] = self._logs(given, 0)
        return stacked([self._cache[given] for given in inputs])

    # ---- one evaluation ------------------------------------------------------------------------

    def _columns(self, size: int) -> dict[Hashable, int]:
        # Positions come first, so the column of a position is the position itself.
        return self._answers.setdefault(size, {place: place for place in range(size)})

    def _logs(self, given: Any, size: int) -> Floats:
        return self._read(self._answer(given), size or len(given) if self._own_logs else size)

    def _answer(self, given: Any) -> Any:
        """Return the subject's result for this input, as log-probabilities if the subject provides them."""
        self.evaluations += 1
        return self._told(self._own_logs or self._function, given)

    def _read(self, told: Any, size: int) -> Floats:
        """Convert the subject's result to log-probabilities by column."""
        if self._own_logs:
            if not isinstance(told, Failure):
                told = self._well_formed(_checked_logs(told, size))
            if not isinstance(told, Failure):
                return np.asarray(told, dtype=np.float64)
            return self._placed({told: 0.0}, size)
        law = self._checked(told, size)
        if isinstance(law, np.ndarray):
            # Digits below the floor are unknown and read in the subject's favour, so that underflow cannot
            # look like a loss.
            return np.log(np.maximum(law, FLOOR))
        return self._placed({answer: _log(part) for answer, part in law.items()}, size)

    def _placed(self, logs: Mapping[Hashable, float], size: int) -> Floats:
        columns = self._columns(size)
        for answer in logs:
            columns.setdefault(answer, len(columns))
        row = np.full(len(columns), -np.inf)
        row[[columns[answer] for answer in logs]] = list(logs.values())
        return row

    def _checked(self, told: Any, size: int) -> Mapping[Hashable, Any] | Floats:
        """Return the answers with their probabilities, in the subject's own type of number.

        Floats for positions are returned as an array, everything else as a mapping.
        """
        if not isinstance(told, Failure):
            told = self._well_formed(_checked_law(told, size))
        return {told: 1} if isinstance(told, Failure) else told

    def _told(self, function: Callable[[Any], Any], given: Any) -> Any:
        try:
            told = function(given)
            return told if isinstance(told, np.ndarray | Mapping) else list(told)
        except Exception as error:
            if not self._answered and self.evaluations >= PATIENCE:
                raise
            if isinstance(error, TypeError) and not self._answered and self.evaluations == 1:
                raise ParameterError(_CONTRACT) from error
            return Failure(f"raises {type(error).__name__}")
        finally:
            self.sees_relation |= getattr(given, "looked", True)

    def _well_formed(self, told: Any) -> Any:
        """Return the subject's result or a failure; raise if it has never returned a valid result."""
        if isinstance(told, ParameterError):
            if not self._answered:
                raise told
            return MALFORMED
        if isinstance(told, Mapping):
            self._answered |= any(not isinstance(answer, Failure) for answer in told)
        else:
            self._answered |= not isinstance(told, Failure)
        if not self._answered and self.evaluations >= PATIENCE:
            raise ParameterError(_CONTRACT)
        return told

    def balls(self, given: Any, size: int) -> tuple[list[Any], str]:
        """Return intervals for the probabilities of the answers, by column, and the reason to trust them."""
        from flint import arb

        own = getattr(self.audited, "ball_probabilities", None)
        if callable(own) and (self.mechanism is None or self._ours):
            return list(own(given, bits=BITS)), BALLS
        if self._own_logs:
            return [_ball_of_log(float(part)) for part in self._logs(given, size)], FLOATS
        law = self._checked(self._told(self._function, given), size)
        if isinstance(law, np.ndarray):
            return [_ball(part) for part in law.tolist()], FLOATS
        columns = self._columns(size)
        result = [arb(0)] * len(columns)
        for answer, part in law.items():
            result[columns[answer]] = _ball(part)
        exact = all(map(_is_exact, law.values()))
        return result, EXACT if exact else FLOATS


_CONTRACT = (
    "the subject must return one finite probability, 0 or above, per candidate, or a mapping from "
    "answers to probabilities (what only samples is for statistical_audit, on the command line --sampled)"
)


def _short(step: Fraction) -> float:
    """Round a sensitivity down to 16 bits; its multiples in the search are then exact."""
    if not step:
        return 0.0
    power = Fraction(2) ** (16 - step.numerator.bit_length() + step.denominator.bit_length())
    return float(int(step * power) / power)


def stacked(rows: Sequence[Floats]) -> Floats:
    """Pad rows to the same width and stack them; answers missing from a row have probability zero."""
    width = max(map(len, rows))
    result = np.full((len(rows), width), -np.inf)
    for place, row in enumerate(rows):
        result[place, : len(row)] = row
    return result


def _instance(audited: Any, epsilon: Fraction | None) -> Any:
    """Return an instance of a class, built with the claim's ε if possible; return instances unchanged."""
    if isinstance(audited, type):
        # Pass a float to another library's class, which may not accept fractions.
        cost = epsilon if epsilon is None or issubclass(audited, Mechanism) else float(epsilon)
        try:
            return audited(epsilon=cost) if cost is not None else audited()
        except TypeError:
            try:
                return audited()
            except TypeError:
                raise ParameterError(
                    f"{audited.__name__} cannot be built from ⟨epsilon⟩ alone, nor without arguments: "
                    "give an instance"
                ) from None
    if hasattr(audited, "probabilities") or callable(audited):
        return audited
    raise ParameterError(
        f"{type(audited).__name__} cannot be audited: give a mechanism, an object with "
        "probabilities(scores), or a function of scores that returns probabilities"
    )


def _is_ball(value: Any) -> bool:
    return type(value).__name__ == "arb"


def _is_exact(value: Any) -> bool:
    return _is_ball(value) or isinstance(value, int | Fraction)


def _float(part: Any) -> float:
    if _is_ball(part):
        # An interval below the range of floats has NaN as its middle; the value is nearly zero.
        middle = float(part.mid())
        return 0.0 if math.isnan(middle) and part.is_finite() else middle
    return float(part)


def _checked_law(told: Any, size: int) -> Any:
    """Return the probabilities if they are valid; otherwise return ``NAN`` or a ``ParameterError``."""
    usual = isinstance(told, np.ndarray) and told.shape == (size,) and told.dtype == np.float64
    if usual and abs(float(told.sum()) - 1) <= 1e-6 and told.min() >= 0:
        return told  # probabilities that are not finite do not sum to one
    positions = not isinstance(told, Mapping)
    parts = told if positions else list(told.values())
    try:
        mass = np.array(
            told if isinstance(told, np.ndarray) else [_float(part) for part in parts],
            dtype=np.float64,
        )
    except (TypeError, ValueError):
        return ParameterError(_CONTRACT)
    if not mass.size or mass.ndim != 1 or (size and positions and len(mass) != size):
        return ParameterError(_CONTRACT)
    if not np.isfinite(mass).all():
        return NAN
    if (mass < 0).any():
        return ParameterError(_CONTRACT)
    if abs(float(mass.sum()) - 1) > 1e-6:
        return ParameterError("the subject's probabilities must sum to one")
    if positions and size and not any(map(_is_exact, parts[:1])):
        return mass
    return told if not positions else dict(enumerate(told))


def _checked_logs(given: Any, size: int) -> Any:
    logs = np.array(given, dtype=np.float64)
    if logs.shape == (size,) and np.isnan(logs.sum()):
        return NAN
    if logs.shape != (size,) or logs.max() > 1e-6:
        return ParameterError(
            "the subject must return one log-probability, 0 or below, per candidate"
        )
    if abs(float(np.exp(logs).sum()) - 1) > 1e-6:
        return ParameterError("the subject's probabilities must sum to one")
    return logs


def _are_logs(logs: Floats) -> bool:
    """Return whether each row contains logarithms of probabilities that sum to one."""
    sums = np.exp(logs).sum(axis=1)
    return bool(logs.max() <= 1e-6 and (np.abs(sums - 1) <= 1e-6).all())


def _log(part: Any) -> float:
    if _is_exact(part) and part == 0:
        return -math.inf
    if _is_ball(part):
        return max(float(part.log().mid()), -1e300) if part > 0 else math.log(FLOOR)
    return math.log(max(float(part), FLOOR))


def _ball(part: Any) -> Any:
    from flint import arb

    if _is_ball(part):
        return part
    if isinstance(part, int | Fraction):
        return ball_of(Fraction(part))
    value = float(part)
    return arb(FLOOR / 2, FLOOR / 2) if value <= FLOOR else arb(value, value * TOLERANCE)


def _ball_of_log(value: float) -> Any:
    from flint import arb

    return (
        arb(0) if value == -math.inf else arb(value, TOLERANCE * max(1.0, abs(value) / 1000)).exp()
    )
