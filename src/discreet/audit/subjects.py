"""What is audited: a mechanism, anything with ``probabilities``, or a function, and how it is evaluated.

A subject answers with probabilities of positions, or with a mapping from answers of any kind (labels,
tuples, sets, a winner with a count) to their probabilities. An exception or a NaN is an answer like any
other: whoever waits for the result sees it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.numbers.balls import ball_of
from discreet.audit.audited_scores import AuditedScores
from discreet.audit.relations import Floats
from discreet.errors import ParameterError
from discreet.mechanisms.mechanism import Mechanism, facts_of

TOLERANCE = 1e-9
"""Relative error that a float probability from somebody else's code is allowed to have."""

FLOOR = 1e-290
"""Below this a float probability may have lost its digits: only "at most this" is believed."""

BITS = 200
BALLS = "ball arithmetic"
EXACT = "exact probabilities from the subject"
FLOATS = f"floats, each trusted to a relative error of {TOLERANCE:g}"

PATIENCE = 100
"""What fails on so many inputs, and has answered none, is taken to be broken."""

_LARGE_CROWD = 4096
"""Laws of so many candidates or more are not remembered."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What was seen in place of an answer.

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
    """The audited thing, evaluated on inputs and remembered.

    Our own mechanisms depend on the sorted gaps only (which ``Regular()`` audits without this
    shortcut), so vectors that differ by an order or a shift are evaluated once.
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
        # Where sensitivities differ, the search sees each score in units of its own.
        self.steps = steps
        self._units = None if steps is None else np.array(list(map(_short, steps)))
        self.evaluations = 0
        # Whether the law may depend on how neighbours move.
        self.sees_relation = False
        self._templates: dict[tuple[int, bool], AuditedScores] = {}
        self._answered = False
        self._cache: dict[Hashable, Floats] = {}
        self._answers: dict[int, dict[Hashable, int]] = {}
        facts = facts_of(self.audited)
        # A subclass of a mechanism inherits its logarithms and its balls, and may have another law.
        self._ours = facts is not None
        self.canonical = facts is not None and facts.symmetric and steps is None
        self.largest_is_best = getattr(self.audited, "optimize", "max") != "min"

    @property
    def name(self) -> str:
        """How the subject is called in a report."""
        if isinstance(self.audited, Mechanism):
            return repr(self.audited)
        given = getattr(self.audited, "__name__", None)
        if callable(self.audited) and not hasattr(self.audited, "probabilities") and given:
            return str(given)
        return type(self.audited).__name__

    @property
    def mechanism(self) -> Mechanism | None:
        """The subject if it is one of the library's kind of mechanism."""
        return self.audited if isinstance(self.audited, Mechanism) else None

    def scores(self, values: Sequence[float] | Floats, *, monotonic: bool) -> AuditedScores:
        """These values as the scores that the subject is given."""
        row = self.in_scores(values)
        template = self._templates.get((len(row), monotonic))
        if template is None:
            template = self._templates[len(row), monotonic] = AuditedScores(
                np.zeros(len(row)), sensitivity=self.steps or self.sensitivity, monotonic=monotonic
            )
        return template.with_values(row)

    def in_scores(self, values: Sequence[float] | Floats) -> Floats:
        """A row of the search as scores."""
        row = np.asarray(values, dtype=np.float64)
        return row if self._units is None else row * self._units

    def answers(self, size: int) -> list[Hashable]:
        """The answers seen so far on inputs of this size, in the order of the columns."""
        return list(self._columns(size))

    def log_masses(self, rows: Floats, *, monotonic: bool, plainly: bool = False) -> Floats:
        """Log-probabilities, one row per row of scores; ``plainly`` without the shortcut."""
        if not self.canonical or plainly:
            return stacked([self._one(row, monotonic) for row in rows])
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

    def log_blocks(self, values: Floats, counts: Sequence[int], *, monotonic: bool) -> Floats:
        """Log-probabilities of one candidate of each block, for a subject that sees sorted gaps only."""
        best = values.max() if self.largest_is_best else values.min()
        totals: dict[float, int] = {}
        for value, count in zip((values - best).tolist(), counts, strict=True):
            totals[value] = totals.get(value, 0) + count
        levels = sorted(totals)
        key = (monotonic, tuple(levels), tuple(totals[level] for level in levels))
        found = self._cache.get(key)
        if found is None:
            row = np.repeat(levels, key[2])
            logs = self._logs(self.scores(row, monotonic=monotonic), len(row))
            found = self._cache[key] = logs[np.cumsum(key[2]) - 1]
        places = np.searchsorted(levels, values - best)
        return np.asarray(found[places])

    def _one(self, row: Floats, monotonic: bool) -> Floats:
        if len(row) >= _LARGE_CROWD:
            return self._logs(self.scores(row, monotonic=monotonic), len(row))
        key = (monotonic, (row + 0.0).tobytes())
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._logs(self.scores(row, monotonic=monotonic), len(row))
        return found

    def log_laws(self, inputs: Sequence[Hashable]) -> Floats:
        """Log-probabilities on inputs of any other kind, one row each."""
        for given in inputs:
            if given not in self._cache:
                self._cache[given] = self._logs(given, 0)
        return stacked([self._cache[given] for given in inputs])

    # ---- one evaluation ------------------------------------------------------------------------

    def _columns(self, size: int) -> dict[Hashable, int]:
        # Positions come first, so that a column is its own answer.
        return self._answers.setdefault(size, {place: place for place in range(size)})

    def _logs(self, given: Any, size: int) -> Floats:
        self.evaluations += 1
        if self._tells_logs:
            told = self._told(self.audited.log_probabilities, given)
            if not isinstance(told, Failure):
                told = self._well_formed(_checked_logs(told, len(given)))
            if not isinstance(told, Failure):
                return np.asarray(told, dtype=np.float64)
            return self._placed({told: 0.0}, size)
        law = self.law(given, size)
        if isinstance(law, np.ndarray):
            # Unknown digits below the floor are read in the subject's favour, so that no underflow can
            # look like a loss.
            return np.log(np.maximum(law, FLOOR))
        return self._placed({answer: _log(part) for answer, part in law.items()}, size)

    @property
    def _tells_logs(self) -> bool:
        told = callable(getattr(self.audited, "log_probabilities", None))
        return told and (self.mechanism is None or self._ours)

    def _placed(self, logs: Mapping[Hashable, float], size: int) -> Floats:
        columns = self._columns(size)
        for answer in logs:
            columns.setdefault(answer, len(columns))
        row = np.full(len(columns), -np.inf)
        row[[columns[answer] for answer in logs]] = list(logs.values())
        return row

    def law(self, given: Any, size: int) -> Mapping[Hashable, Any] | Floats:
        """The possible answers on this input with their probabilities in the subject's own numbers.

        Floats for positions come as an array, the rest as a mapping.
        """
        told = self._told(getattr(self.audited, "probabilities", self.audited), given)
        if not isinstance(told, Failure):
            told = self._well_formed(_checked_law(told, size))
        return {told: 1} if isinstance(told, Failure) else told

    def _told(self, function: Callable[[Any], Any], given: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
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
        """What was told, or a failure; a subject that has never answered properly is refused."""
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
        """Balls around the probabilities of all answers, by column, and what makes them certain."""
        from flint import arb

        own = getattr(self.audited, "ball_probabilities", None)
        if callable(own) and (self.mechanism is None or self._ours):
            return list(own(given, bits=BITS)), BALLS
        if self._tells_logs:
            return [_ball_of_log(float(part)) for part in self._logs(given, size)], FLOATS
        law = self.law(given, size)
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
    """A sensitivity in 16 bits, rounded down: multiples of it by the search's numbers are exact."""
    if not step:
        return 0.0
    power = Fraction(2) ** (16 - step.numerator.bit_length() + step.denominator.bit_length())
    return float(int(step * power) / power)


def stacked(rows: Sequence[Floats]) -> Floats:
    """Rows of one width; what an earlier row does not know has probability zero there."""
    width = max(map(len, rows))
    result = np.full((len(rows), width), -np.inf)
    for place, row in enumerate(rows):
        result[place, : len(row)] = row
    return result


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


def _is_ball(value: Any) -> bool:
    return type(value).__name__ == "arb"


def _is_exact(value: Any) -> bool:
    return _is_ball(value) or isinstance(value, int | Fraction)


def _float(part: Any) -> float:
    if _is_ball(part):
        # The middle of a ball below the range of floats is no number to NumPy; it is next to nothing.
        middle = float(part.mid())
        return 0.0 if math.isnan(middle) and part.is_finite() else middle
    return float(part)


def _checked_law(told: Any, size: int) -> Any:
    """A mapping from answers to probabilities, ``NAN``, or the error that says what is wrong."""
    usual = isinstance(told, np.ndarray) and told.shape == (size,) and told.dtype == np.float64
    if usual and abs(float(told.sum()) - 1) <= 1e-6 and told.min() >= 0:
        return told  # what is not finite does not sum to one
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
