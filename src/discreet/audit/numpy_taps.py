"""Watch NumPy's generators: record their draws, and the values that noise is added to, as steps."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import numpy as np

from discreet._exact.sampling.seeding import replaced
from discreet.audit.traces import CURRENT, Step, Trace

_CENTRED = {"laplace": "l1", "normal": "l2", "gumbel": "linf", "logistic": "l1"}
"""Noise with a centre parameter, and the norm in which its sensitivity is measured."""

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
"""Draws that a pipeline may use in any way; a recording cannot see what they are compared with.

They are not recorded as steps. Their number may depend on the data, for example if the pipeline samples each
person's rows, but the answers do not show that number.
"""


_ORDERS = {
    "choice": ("a", "size", "replace", "p", "axis", "shuffle"),
    "exponential": ("scale", "size"),
    **dict.fromkeys(_CENTRED, ("loc", "scale", "size")),
}
"""The argument names of each draw; compiled functions have no signature to inspect."""


class WatchedNoise(np.ndarray[Any, Any]):
    """Noise that records the value it is added to, even after being multiplied by a plain number."""

    step: Step | None
    seen_by: Trace | None

    def __array_finalize__(self, made_from: Any) -> None:
        self.step = getattr(made_from, "step", None)
        self.seen_by = getattr(made_from, "seen_by", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(part) if isinstance(part, WatchedNoise) else part for part in inputs]
        value = getattr(ufunc, method)(*plain, **options)
        if method != "__call__" or self.step is None or self.seen_by is None:
            return value
        others = [part for part in inputs if not isinstance(part, WatchedNoise)]
        if ufunc in (np.add, np.subtract) and len(others) == 1:
            total = np.broadcast_to(np.asarray(others[0], dtype=np.float64), np.shape(value))
            return self.seen_by.take(replace(self.step, value=total.copy()), lambda: value)
        if ufunc is np.negative:
            return self._scaled(value, np.float64(1))
        if ufunc in (np.multiply, np.divide) and len(others) == 1 and np.ndim(others[0]) == 0:
            factor = np.abs(np.float64(others[0]))
            if isinstance(inputs[0], WatchedNoise) or ufunc is np.multiply:
                return self._scaled(value, factor if ufunc is np.multiply else 1 / factor)
        return value

    def _scaled(self, value: Any, factor: Any) -> WatchedNoise:
        assert self.step is not None
        pure, concentrated, told = self.step.pure, self.step.concentrated, self.step.parameters
        scaled: WatchedNoise = np.asarray(value).view(WatchedNoise)
        scaled.seen_by = self.seen_by
        # Noise times zero protects nothing: its cost is infinite.
        scaled.step = replace(
            self.step,
            pure=None if pure is None else float(pure / factor),
            concentrated=None if concentrated is None else float(concentrated / factor**2),
            parameters={**told, "scale": np.multiply(told["scale"], factor).tolist()},
        )
        return scaled

    def __getitem__(self, place: Any) -> Any:
        part = (
            np.asarray(self)[place].view(WatchedNoise) if np.ndim(self) else np.asarray(self)[place]
        )
        if np.ndim(part) == 0:
            part = np.asarray(part).view(WatchedNoise)
        part.step, part.seen_by = self.step, self.seen_by
        return part

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self)))

    def __round__(self, digits: int = 0) -> Any:
        return round(float(self), digits)


def _drawn(function: Callable[..., Any], name: str, *, skip: int = 0) -> Callable[..., Any]:
    """Return a version of the function that records its draws as steps.

    Noise with a centre is a step when it is drawn. Noise without a centre, or with centre 0, is a step when
    it is added to a value. The first ``skip`` arguments, such as ``self``, do not belong to the draw.
    """
    order = _ORDERS.get(name, ())

    @wraps(function)
    def draw(*given: Any, **named: Any) -> Any:
        trace = CURRENT.get()
        if trace is None or trace.inside:
            return function(*given, **named)
        told = dict(zip(order, given[skip:], strict=False)) | named
        centre, scale, size = told.get("loc"), told.get("scale", 1.0), told.get("size")
        if name in _BLIND or (name == "choice" and told.get("p") is None):
            trace.blind = True
            trace.notes[f"numpy's {name} was drawn, and answers may depend on it in any way"] = None
            return function(*given, **named)
        if name == "choice":
            with np.errstate(divide="ignore"):
                logs = np.log(np.asarray(told["p"], dtype=np.float64))
            step = Step(name="numpy.choice", value=logs, norm="linf", pure=1.0)
            return trace.take(step, partial(function, *given, **named))
        step, drawn = _noise(name, scale, size), partial(function, *given, **named)
        if centre is None:
            answer = drawn()
        else:
            around = np.array(centre, dtype=np.float64)
            answer = trace.take(replace(step, value=around), drawn)
            if around.any():
                return answer
        # Noise around zero becomes a step when it is added to a value.
        noise: WatchedNoise = np.array(answer, dtype=np.float64).view(WatchedNoise)
        noise.step, noise.seen_by = step, trace
        return noise

    return draw


def _noise(name: str, scale: Any, size: Any) -> Step:
    width = float(np.min(scale)) if np.size(scale) else 0.0
    pure = concentrated = None
    if width > 0 and name in ("laplace", "gumbel", "exponential"):
        # Gumbel and exponential noise are used to choose one of several scores. One person can move two
        # scores apart, so the loss is twice as large.
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


_DRAWS = (*_CENTRED, *_OTHERS, *_BLIND, "choice")


def watched(generator: Any) -> Any:
    """Return a watched generator that makes the same draws as this one."""
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


def numpy_generators() -> ExitStack:
    """Watch ``numpy.random`` and every generator created from now on, until the returned stack is closed."""
    place = importlib.import_module("numpy.random")
    started = place.default_rng
    stack = ExitStack()
    for name in _DRAWS:
        if hasattr(place, name):
            stack.enter_context(replaced(place, name, _drawn(getattr(place, name), name)))
    stack.enter_context(
        replaced(place, "default_rng", lambda *seed, **named: watched(started(*seed, **named)))
    )
    for name in ("Generator", "RandomState"):
        stack.enter_context(replaced(place, name, _watched_kind(getattr(place, name))))
    return stack
