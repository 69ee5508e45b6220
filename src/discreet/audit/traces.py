"""One run of a pipeline: its noise and selection steps, recorded or replayed."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One noise or selection step of a run.

    Attributes:
        name: the library's name for the step.
        value: the value that noise is added to, or the scores to select from; None if it is not visible.
        stated: the sensitivity that the pipeline states, or None.
        norm: the norm for distances: "l1", "l2", "linf", or "rows" for tables, which are compared by counts.
        pure: ε per unit of distance, if the step satisfies pure DP.
        concentrated: ρ per squared unit of distance.
        parameters: the step's other parameters, which must not depend on the data.
    """

    name: str
    value: Any = None
    stated: float | None = None
    norm: str = "l1"
    pure: float | None = None
    concentrated: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


class Trace:
    """One run of a pipeline: its steps and their answers."""

    def __init__(self, first: Trace | None = None) -> None:
        self.steps: list[Step] = []
        self.notes: dict[str, None] = {}
        self.answer: Any = None
        self.failure: str | None = None
        self.blind = False
        self._outputs: list[Any] = []
        self._first = first
        self.inside = False

    def take(self, step: Step, draw: Callable[[], Any]) -> Any:
        """Record a step; return the first run's answer if that run took a similar step, else a new draw."""
        if self.inside:
            return draw()  # a step inside another step belongs to the library
        place = len(self.steps)
        self.steps.append(step)
        first = self._first
        if first is not None and place < len(first.steps):
            known, output = first.steps[place], first._outputs[place]
            alike = known.name == step.name and np.shape(known.value) == np.shape(step.value)
            # An answer that can be queried further has a state, so each run needs its own copy.
            if alike and not callable(output):
                self._outputs.append(output)
                return copy.copy(output)
        self.inside = True
        try:
            self._outputs.append(draw())
        finally:
            self.inside = False
        output = self._outputs[-1]
        return output if callable(output) else copy.copy(output)

    def run(self, pipeline: Callable[[Any], Any], table: Any) -> Trace:
        """Run the pipeline on a copy of the table; record its answer, or the type of its exception."""
        token = CURRENT.set(self)
        try:
            with np.errstate(all="ignore"):
                self.answer = pipeline(copy.deepcopy(table))
        except Exception as error:
            self.failure = type(error).__name__
        finally:
            CURRENT.reset(token)
        return self


CURRENT: ContextVar[Trace | None] = ContextVar("trace", default=None)

Tap = Callable[[], Any]
"""A function that starts watching some steps.

It returns a context manager, or None if the library is not installed.
"""
