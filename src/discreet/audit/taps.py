"""Watch the steps that a pipeline takes in NumPy, other libraries, discreet's mechanisms and user code.

A tap replaces a function while a recording runs. It reads the input and the stated parameters of the step.
The library still makes the draw.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial, wraps
from types import ModuleType
from typing import Any

import numpy as np

from discreet._exact.sampling.seeding import replaced
from discreet.audit.numpy_taps import numpy_generators, watched
from discreet.audit.traces import CURRENT, Step, Tap
from discreet.errors import ParameterError

Watching = AbstractContextManager[Any]
Read = Callable[..., Step]
"""A function that converts the arguments of a call into a step."""


def _tapped(function: Callable[..., Any], read: Read) -> Callable[..., Any]:
    @wraps(function)
    def stand_in(*given: Any, **named: Any) -> Any:
        trace = CURRENT.get()
        if trace is None:
            return function(*given, **named)
        return trace.take(read(*given, **named), partial(function, *given, **named))

    return stand_in


def _module(name: str) -> ModuleType | None:
    """Import a module and return it; None if it cannot be imported."""
    if name in sys.modules:
        return sys.modules[name]
    try:
        return importlib.import_module(name)
    except Exception:
        return None  # a pipeline cannot call a library that cannot be imported


def _methods(place: str, read: Read, *methods: str) -> Watching | None:
    """Watch these methods in every class of a module; return None if the module cannot be imported."""
    module = _module(place)
    if module is None:
        return None
    stack = ExitStack()
    for kind in {each for each in vars(module).values() if isinstance(each, type)}:
        for method in methods:
            if callable(vars(kind).get(method)):
                tapped = _tapped(vars(kind)[method], read)
                stack.enter_context(replaced(kind, method, tapped))
    return stack


def _number(thing: Any, *names: str) -> float | None:
    for name in names:
        value = getattr(thing, name, None)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None


def _diffprivlib() -> Watching | None:
    def step(self: Any, value: Any = None) -> Step:
        name, selects = type(self).__name__, hasattr(self, "utility")
        stated, cost = _number(self, "sensitivity"), _number(self, "epsilon")
        told = {part: _number(self, part) for part in ("epsilon", "delta", "lower", "upper")}
        return Step(
            name=f"diffprivlib.{name}",
            value=_numeric(self.utility if selects else value),
            stated=stated,
            norm="linf" if selects else "l2" if "Gaussian" in name else "l1",
            pure=cost / stated if cost and stated and not _number(self, "delta") else None,
            parameters={**told, "sensitivity": stated},
        )

    return _methods("diffprivlib.mechanisms", step, "randomise")


def _numeric(value: Any) -> Any:
    """Return a value as an array of floats; None if it is not numeric, such as a label."""
    try:
        return np.asarray(value, dtype=np.float64) if value is not None else None
    except (TypeError, ValueError):
        return None


def _adding(place: str, library: str) -> Watching | None:
    """Watch mechanisms that add noise to a value and know their sensitivity (PyDP, PipelineDP)."""

    def step(self: Any, *given: Any, **named: Any) -> Step:
        name, (value, *_) = type(self).__name__, (*given, *named.values())
        stated = _number(self, "sensitivity", "l2_sensitivity")
        width = _number(self, "diversity", "noise_parameter", "std")
        gaussian = "Gaussian" in name
        return Step(
            name=f"{library}.{name}",
            value=_numeric(value),
            stated=stated,
            norm="l2" if gaussian else "l1",
            pure=None if gaussian or not width else 1 / width,
            concentrated=1 / (2 * width**2) if gaussian and width else None,
            parameters={"sensitivity": stated, "scale": width},
        )

    return _methods(place, step, "add_noise", "noised_value_above_threshold")


def _opendp() -> Watching | None:
    module = _module("opendp.mod")

    def step(self: Any, value: Any) -> Step:
        metric, measure, cost = str(self.input_metric), str(self.output_measure), _map_of(self)
        norm = "linf" if "LInf" in metric else "l2" if "L2" in metric else "l1"
        trace = CURRENT.get()
        if trace is not None:
            trace.notes["what happens inside an OpenDP measurement is not seen"] = None
        if any(kind in metric for kind in _OF_TABLES):
            norm = "rows"
        return Step(
            name="opendp.Measurement",
            value=_counted(value) if norm == "rows" else _numeric(value),
            norm=norm,
            pure=cost if "MaxDivergence" in measure and isinstance(cost, float) else None,
            parameters={"metric": metric, "measure": measure, "map": cost},
        )

    if module is None:
        return None
    stack, kind = ExitStack(), module.Measurement
    for name in ("__call__", "invoke"):
        stack.enter_context(replaced(kind, name, _tapped(getattr(kind, name), step)))
    return stack


_OF_TABLES = ("Symmetric", "InsertDelete", "ChangeOne", "Hamming")
"""OpenDP metrics that count rows."""


def _counted(table: Any) -> Any:
    """Count how often each row occurs in a table; None if its rows cannot be counted."""
    return Counter(map(repr, table)) if isinstance(table, list | tuple | np.ndarray) else None


def _map_of(measurement: Any) -> Any:
    """Return the privacy loss that an OpenDP measurement states for distance 1; None if it states none."""
    for one in (1, 1.0):
        try:
            return measurement.map(one)
        except Exception:  # noqa: S112  # the map takes another type
            continue
    return None


def _ours() -> Watching:
    from discreet.mechanisms.mechanism import Mechanism

    def step(self: Any, scores: Any, _bits: Any) -> Step:
        bound = scores.sensitivity
        return Step(
            name=f"discreet.{type(self).__name__}",
            value=scores.values.astype(np.float64),
            stated=float(scores.range_distance if bound is None else np.max(bound)),
            norm="linf",
            pure=None if self.epsilon is None or not bound else float(self.epsilon / np.max(bound)),
            parameters={"mechanism": repr(self), "candidates": list(scores.candidates)},
        )

    return replaced(Mechanism, "_choose", _tapped(Mechanism._choose, step))


TAPS: tuple[Tap, ...] = (
    numpy_generators,
    _diffprivlib,
    partial(_adding, "pipeline_dp.dp_computations", "pipeline_dp"),
    partial(_adding, "pydp.algorithms.numerical_mechanisms", "pydp"),
    _opendp,
    _ours,
)
"""The taps used by every recording."""


def step_at(
    place: str,
    *,
    value: str = "value",
    sensitivity: str | float | None = "sensitivity",
    norm: str = "l1",
    scale: str | None = None,
) -> Tap:
    """Describe a noise or selection step in your own code, for the ``steps`` of a recording.

    Args:
        place: a function or method, as in ``"package.module:Class.method"``; or a NumPy generator in a
            module, as in ``"package.module:rng"``.
        value: the name of the argument that holds the value to make noisy, or the scores to select from.
        sensitivity: the name of the argument or attribute that holds the stated sensitivity; or a number.
        norm: the norm for distances: "l1", "l2" or "linf".
        scale: the name of the argument or attribute that holds the scale of Laplace noise, if there is one.

    Example:
        >>> step_at("statistics:fmean", value="data", sensitivity=None)() is not None
        True
    """
    module_name, colon, path = place.partition(":")
    *above, last = path.split(".")
    if not (module_name and colon and last):
        raise ParameterError(f"⟨place⟩{place!r} is not allowed: write it as package.module:name")

    def tap() -> Watching:
        owner: Any = importlib.import_module(module_name)
        for name in above:
            owner = getattr(owner, name)
        found = getattr(owner, last)
        if hasattr(found, "bit_generator") or hasattr(found, "get_state"):
            return replaced(owner, last, watched(found))
        signature = inspect.signature(found)

        def read(*given: Any, **named: Any) -> Step:
            told = signature.bind(*given, **named)
            told.apply_defaults()

            def stated(name: str | float | None) -> float | None:
                if name is None or not isinstance(name, str):
                    return name
                if name in told.arguments:
                    return float(told.arguments[name])
                return _number(given[0], name) if given else None

            width = stated(scale)
            return Step(
                name=place,
                value=_numeric(told.arguments[value]),
                stated=stated(sensitivity),
                norm=norm,
                pure=1 / width if width else None,
                parameters={"sensitivity": stated(sensitivity), "scale": width},
            )

        return replaced(owner, last, _tapped(found, read))

    return tap
