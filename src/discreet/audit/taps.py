"""Where the steps of a pipeline are watched: NumPy, other libraries, our own mechanisms, and one's own code.

A tap stands in for a function while a recording runs. It reads what the step is given and what it states, and
leaves the drawing to the library.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial, wraps
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from discreet.audit.recording import CURRENT, Step, Tap, Trace
from discreet.errors import ParameterError

Watching = AbstractContextManager[Any]
Read = Callable[..., Step]
"""From the arguments of a call to the step that it is."""


def _tapped(function: Callable[..., Any], read: Read) -> Callable[..., Any]:
    @wraps(function)
    def stand_in(*given: Any, **named: Any) -> Any:
        trace = CURRENT.get()
        if trace is None:
            return function(*given, **named)
        return trace.take(read(*given, **named), partial(function, *given, **named))

    return stand_in


def _module(name: str) -> ModuleType | None:
    """A module that somebody has imported, or that can be; None where the library is not installed."""
    if name in sys.modules:
        return sys.modules[name]
    try:
        return importlib.import_module(name)
    except Exception:
        return None  # a library that fails to import cannot be called either


def _methods(module: ModuleType, method: str, read: Callable[[Any, str], Read]) -> Watching:
    """Every class of a module that defines this method itself."""
    stack = ExitStack()
    for kind in {each for each in vars(module).values() if isinstance(each, type)}:
        if callable(vars(kind).get(method)) and not inspect.isabstract(kind):
            tapped = _tapped(vars(kind)[method], read(kind, kind.__name__))
            stack.enter_context(patch.object(kind, method, tapped))
    return stack


def _number(thing: Any, *names: str) -> float | None:
    for name in names:
        value = getattr(thing, name, None)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None


# ---- NumPy ----------------------------------------------------------------------------------------

_CENTRED = {"laplace": "l1", "normal": "l2", "gumbel": "linf", "logistic": "l1"}
"""Noise that has a centre, and how the distance of what it is added to is measured."""

_OTHERS = (
    "exponential",
    "geometric",
    "standard_normal",
    "standard_exponential",
    "poisson",
    "binomial",
)
_BLIND = (
    "random",
    "uniform",
    "integers",
    "randint",
    "rand",
    "random_sample",
    "permutation",
    "shuffle",
)
"""Draws from which any answer may be made: what they were compared with is not seen."""


class Noise(np.ndarray[Any, Any]):
    """Noise that notes what it is added to; scaled by plain numbers it is noise still."""

    step: Step | None
    seen_by: Trace | None

    def __array_finalize__(self, made_from: Any) -> None:
        self.step = getattr(made_from, "step", None)
        self.seen_by = getattr(made_from, "seen_by", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(part) if isinstance(part, Noise) else part for part in inputs]
        value = getattr(ufunc, method)(*plain, **options)
        if method != "__call__" or self.step is None or self.seen_by is None:
            return value
        others = [part for part in inputs if not isinstance(part, Noise)]
        if ufunc in (np.add, np.subtract) and len(others) == 1:
            total = np.broadcast_to(np.asarray(others[0], dtype=np.float64), np.shape(value))
            step = Step(**{**_fields(self.step), "value": total.copy()})
            return self.seen_by.take(step, lambda: value)
        if ufunc is np.negative:
            return self._scaled(value, 1.0)
        if ufunc in (np.multiply, np.divide) and len(others) == 1 and np.ndim(others[0]) == 0:
            factor = abs(float(others[0]))
            if isinstance(inputs[0], Noise) or ufunc is np.multiply:
                return self._scaled(value, factor if ufunc is np.multiply else 1 / factor)
        return value

    def _scaled(self, value: Any, factor: float) -> Noise:
        assert self.step is not None
        scaled: Noise = np.asarray(value).view(Noise)
        told = {**self.step.parameters, "scale": self.step.parameters["scale"] * factor}
        fields = _fields(self.step) | {"parameters": told}
        if factor:
            for name, power in (("pure", 1), ("concentrated", 2)):
                cost = fields[name]
                fields[name] = None if cost is None else cost / factor**power
        scaled.step, scaled.seen_by = Step(**fields), self.seen_by
        return scaled

    def __getitem__(self, place: Any) -> Any:
        part = np.asarray(self)[place].view(Noise) if np.ndim(self) else np.asarray(self)[place]
        if np.ndim(part) == 0:
            part = np.asarray(part).view(Noise)
        part.step, part.seen_by = self.step, self.seen_by
        return part

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self)))

    def __round__(self, digits: int = 0) -> Any:
        return round(float(self), digits)


def _fields(step: Step) -> dict[str, Any]:
    return {name: getattr(step, name) for name in Step.__slots__}


def _drawn(function: Callable[..., Any], name: str, *, skip: int = 0) -> Callable[..., Any]:
    """A draw of a generator: with a centre that is the step, else where it is added to something.

    Of the arguments the first ``skip`` are not the draw's.
    """
    signature = _signature(name)

    @wraps(function)
    def draw(*given: Any, **named: Any) -> Any:
        trace = CURRENT.get()
        if trace is None or trace.inside:
            return function(*given, **named)
        told = signature.bind(*given[skip:], **named)
        centre, scale = told.arguments.get("loc"), told.arguments.get("scale", 1.0)
        size = told.arguments.get("size")
        if name in _BLIND or (name == "choice" and told.arguments.get("p") is None):
            trace.blind = True
            trace.notes[f"numpy's {name} was drawn, which answers may depend on in any way"] = None
            return trace.take(Step(name=f"numpy.{name}"), partial(function, *given, **named))
        if name == "choice":
            with np.errstate(divide="ignore"):
                logs = np.log(np.asarray(told.arguments["p"], dtype=np.float64))
            step = Step(name="numpy.choice", value=logs, norm="linf", pure=1.0)
            return trace.take(step, partial(function, *given, **named))
        step, drawn = _noise(name, scale, size), partial(function, *given, **named)
        if centre is None:
            answer = drawn()
        else:
            around = np.array(centre, dtype=np.float64)
            answer = trace.take(Step(**(_fields(step) | {"value": around})), drawn)
            if around.any():
                return answer
        # Noise around zero is a step where it is added to something.
        noise: Noise = np.array(answer, dtype=np.float64).view(Noise)
        noise.step, noise.seen_by = step, trace
        return noise

    return draw


def _noise(name: str, scale: Any, size: Any) -> Step:
    width = float(np.min(scale)) if np.size(scale) else 0.0
    pure = concentrated = None
    if width > 0 and name in ("laplace", "gumbel", "exponential"):
        # One of several noisy scores is chosen: two of them can move apart.
        pure = (1.0 if name == "laplace" else 2.0) / width
    if width > 0 and name == "normal":
        concentrated = 1 / (2 * width**2)
    return Step(
        name=f"numpy.{name}",
        norm=_CENTRED.get(name, "linf"),
        pure=pure,
        concentrated=concentrated,
        parameters={
            "scale": scale if np.ndim(scale) == 0 else np.asarray(scale).tolist(),
            "size": size,
        },
    )


def _signature(name: str) -> inspect.Signature:
    """Arguments of a draw by their names; those of compiled functions cannot be asked for."""
    orders = {
        "choice": "a size replace p axis shuffle",
        "exponential": "scale size",
        **dict.fromkeys(_CENTRED, "loc scale size"),
    }
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    fixed = {"loc": 0.0, "scale": 1.0}
    parts = [
        inspect.Parameter(part, kind, default=fixed.get(part))
        for part in orders.get(name, "").split()
    ]
    if not parts:
        parts = [
            inspect.Parameter("given", inspect.Parameter.VAR_POSITIONAL),
            inspect.Parameter("named", inspect.Parameter.VAR_KEYWORD),
        ]
    return inspect.Signature(parts)


_DRAWS = (*_CENTRED, *_OTHERS, *_BLIND, "choice")


def watched(generator: Any) -> Any:
    """A generator of NumPy that draws what this one would, and is watched."""
    place = importlib.import_module("numpy.random")
    if hasattr(generator, "bit_generator"):
        return _watched_kind(place.Generator)(generator.bit_generator)
    made = _watched_kind(place.RandomState)()
    made.set_state(generator.get_state())
    return made


def _watched_kind(kind: Any) -> Any:
    draws = {
        name: _drawn(getattr(kind, name), name, skip=1) for name in _DRAWS if hasattr(kind, name)
    }
    return type(kind.__name__, (kind,), draws)


def _numpy() -> Watching:
    place = importlib.import_module("numpy.random")
    started = place.default_rng
    stack = ExitStack()
    for name in _DRAWS:
        if hasattr(place, name):
            stack.enter_context(patch.object(place, name, _drawn(getattr(place, name), name)))
    stack.enter_context(
        patch.object(place, "default_rng", lambda *seed, **named: watched(started(*seed, **named)))
    )
    for name in ("Generator", "RandomState"):
        stack.enter_context(patch.object(place, name, _watched_kind(getattr(place, name))))
    return stack


# ---- libraries --------------------------------------------------------------------------------------


def _diffprivlib() -> Watching | None:
    module = _module("diffprivlib.mechanisms")

    def read(_kind: Any, name: str) -> Read:
        def step(self: Any, value: Any = None) -> Step:
            stated, cost = _number(self, "sensitivity"), _number(self, "epsilon")
            selects = hasattr(self, "utility")
            gaussian = "Gaussian" in name
            told = {part: _number(self, part) for part in ("epsilon", "delta", "lower", "upper")}
            return Step(
                name=f"diffprivlib.{name}",
                value=_numeric(self.utility if selects else value),
                stated=stated,
                norm="linf" if selects else "l2" if gaussian else "l1",
                pure=cost / stated if cost and stated and not _number(self, "delta") else None,
                parameters={**told, "sensitivity": stated},
            )

        return step

    return None if module is None else _methods(module, "randomise", read)


def _numeric(value: Any) -> Any:
    """A value as numbers; None where it is none, such as a label."""
    try:
        return np.asarray(value, dtype=np.float64) if value is not None else None
    except (TypeError, ValueError):
        return None


def _adding(module_name: str, library: str) -> Callable[[], Watching | None]:
    """Mechanisms with ``add_noise(value)`` that know their sensitivity: those of PyDP and PipelineDP."""

    def read(_kind: Any, _name: str) -> Read:
        def step(self: Any, value: Any, *_more: Any, **_named: Any) -> Step:
            name = type(self).__name__
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

        return step

    def tap() -> Watching | None:
        module = _module(module_name)
        return None if module is None else _methods(module, "add_noise", read)

    return tap


def _opendp() -> Watching | None:
    module = _module("opendp.mod")

    def step(self: Any, value: Any) -> Step:
        return Step(
            name="opendp.Measurement",
            value=_numeric(value),
            norm="linf"
            if "LInf" in str(self.input_metric)
            else "l2"
            if "L2" in str(self.input_metric)
            else "l1",
            parameters={
                "metric": str(self.input_metric),
                "measure": str(self.output_measure),
                "map": _map_of(self),
            },
        )

    if module is None:
        return None
    return patch.object(module.Measurement, "__call__", _tapped(module.Measurement.__call__, step))


def _map_of(measurement: Any) -> Any:
    """The loss at distance 1, as the measurement states it: it must not depend on the data."""
    for one in (1, 1.0):
        try:
            return measurement.map(one)
        except Exception:  # noqa: S112  # it takes another type, or another metric
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

    return patch.object(Mechanism, "_choose", _tapped(Mechanism._choose, step))


TAPS: tuple[Tap, ...] = (
    _numpy,
    _diffprivlib,
    _adding("pipeline_dp.dp_computations", "pipeline_dp"),
    _adding("pydp.algorithms.numerical_mechanisms", "pydp"),
    _opendp,
    _ours,
)
"""What every recording watches."""


def step_at(
    place: str,
    *,
    value: str = "value",
    sensitivity: str | float | None = "sensitivity",
    norm: str = "l1",
    scale: str | None = None,
) -> Tap:
    """Name a noise or selection step of one's own, for the ``steps`` of a recording.

    Args:
        place: a function or method, as in ``"package.module:Class.method"``; or a generator of NumPy that
            a module keeps, as in ``"package.module:rng"``.
        value: the argument with what is made noisy, or with the scores.
        sensitivity: the argument or the attribute of the object with the stated sensitivity; or a number.
        norm: how distances are measured: "l1", "l2" or "linf".
        scale: the argument or attribute with the scale of Laplace noise, where there is one.

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
            return patch.object(owner, last, watched(found))
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

        return patch.object(owner, last, _tapped(found, read))

    return tap
