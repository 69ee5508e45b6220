"""Record and replay: compare the inputs of each noise or selection step on neighbouring tables.

The first run is recorded. The second run gets the first run's noisy answers, so both take the same path. Any
remaining difference is due to the person who differs. The distance between the inputs of a step must not
exceed the sensitivity that the pipeline states. Parameters, steps and answers must not differ at all
(docs/proofs/auditing.md, record and replay).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet._exact.numbers.printing import jsonable, measured
from discreet._exact.sampling.seeding import seeded
from discreet.audit.neighbouring import tables_of
from discreet.audit.traces import Step, Tap, Trace
from discreet.errors import ParameterError
from discreet.guarantees import ZCDP, Guarantee, PureDP
from discreet.neighbours import ADD_REMOVE

_CONTROLS = 32
"""The number of replays of the first table against itself before a new kind of finding is believed."""

_ROUNDING = 1e-9
"""The relative difference that can come from summing floats in a different order."""

_NORMS: dict[str, Callable[[Any], Any]] = {
    "l1": lambda moved: np.abs(moved).sum(),
    "l2": lambda moved: math.sqrt(float((moved * moved).sum())),
    "linf": lambda moved: np.abs(moved).max(initial=0.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A forbidden difference between the runs on two neighbouring tables.

    Attributes:
        what: "distance", "parameters", "steps", "fails", "answer" or "total".
        step: the name of the step, with its number.
        stated: the expected value: a distance, a number of steps, or the claimed loss.
        found: the value found instead.
        words: the finding in words, without any value from the data.
        rows: the two tables; None if they must not be shown.
        values: the values that differ; None if they must not be shown.
    """

    what: str
    step: str
    stated: float | None
    found: float | None
    words: str
    rows: tuple[Any, Any] | None = None
    values: tuple[Any, Any] | None = None

    def __str__(self) -> str:
        lines = [f"{self.step}: {self.words}"]
        if self.values is not None:
            lines.append(f"values     {_short(self.values[0])} and {_short(self.values[1])}")
        if self.rows is not None:
            lines.append(f"rows       {_short(self.rows[0])} and {_short(self.rows[1])}")
        return "\n    ".join(lines)

    @property
    def in_a_sentence(self) -> str:
        """The finding in one sentence, with the values and the rows in brackets."""
        named = (("values", self.values), ("rows", self.rows))
        shown = [
            f"{name} {_short(pair[0])} and {_short(pair[1])}"
            for name, pair in named
            if pair is not None
        ]
        evidence = f" ({'; '.join(shown)})" if shown else ""
        return f"{self.step[0].upper()}{self.step[1:]}: {self.words}{evidence}."

    @property
    def excess(self) -> float:
        """Return ``found`` divided by ``stated``; infinite if either is missing or ``stated`` is zero."""
        if self.stated is None or self.found is None or not self.stated:
            return math.inf
        return self.found / self.stated


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The result of running a pipeline on pairs of neighbouring tables.

    Attributes:
        subject: the pipeline.
        relation: the neighbour relation.
        pairs: the number of pairs of tables.
        steps: the names of the steps seen.
        findings: the worst finding of each kind at each step; empty if there are none.
        notes: remarks about parts that could not be watched.
        seconds: the running time.

    Example:
        >>> from discreet.audit import Schema
        >>> print(recording(len, Schema(age=(0, 120)), effort="quick").summary)
        len on 25 pairs of neighbouring tables (add-remove): 1 finding
    """

    subject: str
    relation: str
    pairs: int
    steps: tuple[str, ...]
    findings: tuple[Difference, ...]
    notes: tuple[str, ...]
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    @property
    def status(self) -> str:
        """The status, in the words of a verdict: "refuted" or "not refuted"."""
        return "not refuted" if self.holds else "refuted"

    @property
    def summary(self) -> str:
        """The result in one sentence."""
        many = len(self.findings)
        found = f"{many} finding{'s'[: many != 1]}" if many else "nothing found"
        return f"{self.subject} on {self.pairs} pairs of neighbouring tables ({self.relation}): {found}"

    def as_dict(self) -> dict[str, Any]:
        """Return the recording as plain values for JSON; rows are included only if they may be shown."""
        told = [
            {
                "what": one.what,
                "step": one.step,
                "stated": jsonable(one.stated),
                "found": jsonable(one.found),
                "words": one.words,
                **({} if one.rows is None else {"rows": [_short(rows) for rows in one.rows]}),
            }
            for one in self.findings
        ]
        plain = {name: getattr(self, name) for name in ("subject", "status", "relation", "pairs")}
        notes = {"steps": list(self.steps), "findings": told, "notes": list(self.notes)}
        return {**plain, **notes, "seconds": round(self.seconds, 3)}

    def to_json(self) -> str:
        """Return the recording as JSON."""
        return json.dumps(self.as_dict(), allow_nan=False)

    def __str__(self) -> str:
        lines = [self.summary, *(f"  {one}" for one in self.findings)]
        lines.append(f"  steps seen: {', '.join(self.steps) or 'none'}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _short(value: Any) -> str:
    told = repr(_plain(value))
    return told if len(told) <= 400 else f"{told[:200]} … {told[-180:]}"


def _plain(value: Any) -> Any:
    """Convert NumPy arrays and numbers within a value to Python lists and numbers, which print shorter."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if type(value) is dict:
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if type(value) is list else value


def recording(
    pipeline: Callable[[Any], Any],
    tables: Any,
    claim: Guarantee | None = None,
    *,
    neighbours: str = ADD_REMOVE,
    user: Any = None,
    sensitivity: float | Mapping[str, float] | None = None,
    steps: Iterable[Tap] = (),
    effort: str = "usual",
    seed: int | None = None,
    show: bool | None = None,
) -> Recording:
    """Run a pipeline on neighbouring tables and check the sensitivity that it states for each step.

    The recording watches NumPy's generators, the mechanisms of diffprivlib, PipelineDP, PyDP and
    discreet, and OpenDP's measurements called from Python. It cannot see the steps inside a compiled chain of
    OpenDP. The pipeline must draw its noise during the call. If it uses a generator that a module created
    earlier, name that generator with ``steps=[step_at("package.module:rng")]``.

    Args:
        pipeline: a function of a table.
        tables: a :class:`Schema` to make tables from, or a table: list of rows, NumPy array or data frame.
        claim: the claim of the whole pipeline, ``PureDP`` or ``ZCDP``. It is compared with the sum of the
            losses of all steps, as if each noisy vector were released as a whole. If only the largest entry
            is released, leave the claim out.
        neighbours: ``"add-remove"`` or ``"replace"``.
        user: the column that identifies the person of each row; by default every row is a person.
        sensitivity: a number for all steps that state none, or a mapping from step names to numbers.
        steps: further steps to watch, from :func:`step_at`.
        effort: ``"quick"``, ``"usual"`` or ``"thorough"``; sets the size of made-up tables.
        seed: a seed for the generators of Python and NumPy, to make the recording repeatable.
        show: whether rows and values may be shown; by default only those of made-up tables.

    Example:
        >>> def mean_age(rows):                                # its bounds come from the data
        ...     ages = [row["age"] for row in rows] or [0]
        ...     scale = (max(ages) - min(ages)) / len(ages)
        ...     return sum(ages) / len(ages) + np.random.default_rng().laplace(scale=scale)
        >>> from discreet.audit import Schema
        >>> found = recording(mean_age, Schema(age=(0, 120)), effort="quick")
        >>> found.status, {finding.what for finding in found.findings} >= {"parameters"}
        ('refuted', True)
    """
    from discreet.audit.taps import TAPS

    began = time.perf_counter()
    if claim is not None and not isinstance(claim, PureDP | ZCDP):
        raise ParameterError(f"⟨claim⟩{claim!r} is not allowed: give PureDP or ZCDP, or none")
    source = tables_of(tables)
    shown = source.generated if show is None else show
    seen, notes = dict[str, None](), dict[str, None]()
    worst: dict[tuple[str, str], Difference] = {}
    pairs, failures = 0, list[str]()
    checked, chance = set[str](), set[str]()
    with ExitStack() as stack:
        if seed is not None:
            stack.enter_context(seeded(seed))
        for tap in (*TAPS, *steps):
            watching = tap()
            if watching is not None:
                stack.enter_context(watching)
        for couple in source.pairs(user=user, neighbours=neighbours, effort=effort):
            pairs += 1
            if pairs == 1:
                Trace().run(
                    pipeline, couple[1]
                )  # warm-up run, so imports and caches are not recorded
            first = Trace().run(pipeline, couple[0])
            second = Trace(first).run(pipeline, couple[1])
            failures += [run.failure for run in (first, second) if run.failure is not None]
            seen |= dict.fromkeys(step.name for step in (*first.steps, *second.steps))
            notes |= first.notes | second.notes
            differences = list(_compared(first, second, sensitivity, claim))
            kinds = {finding.what for finding, _ in differences} - chance
            for _ in range((1 if kinds <= checked else _CONTROLS) if kinds else 0):
                again = Trace(first).run(pipeline, couple[0])
                chance |= {one.what for one, _ in _compared(first, again, sensitivity, claim)}
            checked |= kinds
            for finding, values in differences:
                key = finding.what, finding.step
                if key not in worst or finding.excess > worst[key].excess:
                    worst[key] = _told(finding, couple if shown else None, values)
    _require_checked(pipeline, tables, pairs, failures)
    if chance:
        kept_back = ", ".join(sorted(chance))
        notes[f"some noise could not be watched, so no finding about {kept_back} is reported"] = (
            None
        )
    if not seen:
        notes["no noise and no selection was seen"] = None
    believed = [one for one in worst.values() if one.what not in chance]
    return Recording(
        subject=_name(pipeline),
        relation=neighbours,
        pairs=pairs,
        steps=tuple(seen),
        findings=tuple(sorted(believed, key=lambda one: -one.excess)),
        notes=tuple(notes),
        seconds=time.perf_counter() - began,
    )


def _require_checked(pipeline: Any, tables: Any, pairs: int, failures: list[str]) -> None:
    """Raise an error if there were no pairs, or if the pipeline failed on every table."""
    if not pairs:
        raise ParameterError(
            f"no neighbouring tables could be made from a table of type {type(tables).__name__}, so nothing "
            "was checked: give a Schema, a list of rows, a NumPy array, or a frame of pandas or Polars"
        )
    if failures and len(failures) == 2 * pairs:
        raise ParameterError(
            f"{_name(pipeline)} failed on every table ({', '.join(dict.fromkeys(failures))})"
        )


def _name(pipeline: Any) -> str:
    return str(getattr(pipeline, "__name__", None) or type(pipeline).__name__)


def _told(finding: Difference, couple: tuple[Any, Any] | None, values: Any) -> Difference:
    return finding if couple is None else replace(finding, rows=couple, values=values)


def _compared(
    first: Trace, second: Trace, sensitivity: Any, claim: Guarantee | None
) -> Iterator[tuple[Difference, Any]]:
    """Compare two runs; yield each finding with the two values that differ, or with None."""

    def finding(what: str, step: str, words: str, **told: Any) -> Difference:
        return Difference(
            **{"what": what, "step": step, "words": words, "stated": None, "found": None} | told
        )

    if first.failure != second.failure:
        kinds = first.failure or "no error", second.failure or "no error"
        words = f"one of the two fails ({kinds[0]} and {kinds[1]})"
        yield finding("fails", "the pipeline", words), None
        return
    total = 0.0
    for place, (one, two) in enumerate(zip(first.steps, second.steps, strict=False)):
        name = f"step {place + 1}, {one.name}"
        if one.name != two.name or np.shape(one.value) != np.shape(two.value):
            what = (
                f"the other run is at {two.name}" if one.name != two.name else "the other is wider"
            )
            if one.name == two.name and np.size(two.value) < np.size(one.value):
                what = "the other is narrower"
            yield finding("steps", name, f"which step comes next depends on the data: {what}"), None
            return
        differing = sorted(k for k in one.parameters if one.parameters[k] != two.parameters.get(k))
        if differing:
            words = f"its parameters depend on the data: {', '.join(differing)}"
            told = tuple({k: step.parameters.get(k) for k in differing} for step in (one, two))
            yield finding("parameters", name, words), told
        if one.value is None:
            continue
        distance = _distance(one, two)
        stated = one.stated
        if stated is None:
            by_name = isinstance(sensitivity, Mapping)
            stated = sensitivity.get(one.name) if by_name else sensitivity
        if distance == math.inf or (stated is not None and distance > stated):
            far = f"{distance:.6g}" if distance < math.inf else "infinitely far"
            words = f"the inputs are {far} apart ({one.norm})"
            words += "" if stated is None else f", and {float(stated):.6g} is stated"
            told = one.value, two.value
            bound = None if stated is None else float(stated)
            yield finding("distance", name, words, stated=bound, found=distance), told
        total += _loss(one, distance, claim)
    many = len(first.steps), len(second.steps)
    if many[0] != many[1]:
        words = f"the number of steps depends on the data: {many[0]} and {many[1]}"
        yield finding("steps", "the pipeline", words, stated=many[0], found=many[1]), None
        return
    if claim is not None:
        allowed = float(claim.epsilon if isinstance(claim, PureDP) else claim.rho)  # type: ignore[attr-defined]  # ZCDP
        if total > allowed * (1 + 1e-6):
            words = f"the steps add up to {measured(total, digits=6)}, and {claim!r} is claimed"
            yield finding("total", "the pipeline", words, stated=allowed, found=total), None
    if not (first.blind or second.blind) and not _alike(first.answer, second.answer):
        words = "the answers differ although all noise is the same: some data bypasses the noise"
        yield finding("answer", "the pipeline", words), (first.answer, second.answer)


def _distance(one: Step, two: Step) -> float:
    """Return the distance between the two steps' inputs, ignoring rounding errors."""
    if one.norm == "rows":
        return float(((one.value - two.value) + (two.value - one.value)).total())
    here, there = (np.asarray(step.value, dtype=np.float64) for step in (one, two))
    with np.errstate(all="ignore"):
        # The same infinity, or NaN, on both sides has distance zero.
        same = (here == there) | (np.isnan(here) & np.isnan(there))
        moved = np.where(same, 0.0, here - there)
        size = np.abs(here) + np.abs(there)
        moved = np.where(np.abs(moved) <= _ROUNDING * size, 0.0, moved)
        distance = float(_NORMS[one.norm](moved))
    # If only one side is NaN, no bound holds.
    return math.inf if math.isnan(distance) else distance * (1 - _ROUNDING)


def _loss(step: Step, distance: float, claim: Guarantee | None) -> float:
    """Return the loss of the step at this distance, in the measure of the claim."""
    if distance == 0 or claim is None:
        return 0.0
    if isinstance(claim, PureDP):
        # A step without pure DP has no finite ε.
        return (
            math.inf if step.pure is None and step.concentrated else (step.pure or 0.0) * distance
        )
    if step.concentrated is not None:
        return step.concentrated * distance**2
    return ((step.pure or 0.0) * distance) ** 2 / 2


def _alike(one: Any, other: Any) -> bool:
    try:
        np.testing.assert_equal(one, other)
    except AssertionError:
        return False
    except Exception:
        return type(one) is type(other)  # answers that cannot be compared
    return True
