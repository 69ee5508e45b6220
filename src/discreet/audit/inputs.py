"""Audits of what is not a vector of scores: the seam at which a kind of input joins, and the search over it.

A kind of input says which inputs are tried, which are neighbours and how to climb; the rest (answers of
any kind, losses, certificates, verdicts) is the same for all. Tables are one kind (:class:`Tables`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

import numpy as np

from discreet.audit.losses import Loss
from discreet.audit.subjects import Subject
from discreet.audit.verdicts import Stage

Couple = tuple[Any, Any]
"""Two neighbouring inputs, which are hashable values."""

_AT_ONCE = 256
_KEPT = 4
_WORTHWHILE = 1e-9


class Inputs(Protocol):
    """A kind of input: which are tried, which are neighbours."""

    relation: str
    """The neighbour relation in a word or two."""
    counted: str
    """What the size of an input counts, such as "rows"."""

    def stages(self, *, thorough: bool) -> Iterator[tuple[str, int, Iterable[Couple]]]:
        """What to try in turn: a name, the size of the inputs, and pairs of neighbours."""
        ...

    def around(self, couple: Couple) -> Iterable[Couple]:
        """Pairs of neighbours near this one, to climb to."""
        ...

    def contains(self, couple: Couple) -> bool:
        """Whether the two are neighbours, exactly."""
        ...

    def size(self, one: Any) -> int:
        """How large an input is."""
        ...

    def shown(self, one: Any) -> tuple[Any, ...]:
        """An input as a tuple that people can read."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """Two neighbouring inputs and their loss in floats."""

    value: float
    couple: Couple


@dataclass(slots=True)
class InputSearch:
    """One subject, one loss, one kind of input."""

    subject: Subject
    loss: Loss
    inputs: Inputs
    thorough: bool
    stages: list[Stage] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)

    def run(self, starts: int) -> Iterator[str]:
        """All stages, then a climb from each of the best pairs; yields the name of each as it begins."""
        for name, size, couples in self.inputs.stages(thorough=self.thorough):
            yield f"{name}, {size} {self.inputs.counted}"
            self._record(name, size, *self._best(couples))
        begin = sorted(self.found, key=lambda entry: -entry.value)[:starts]
        for number, start in enumerate(begin):
            yield f"climb {number + 1} of {len(begin)}"
            self._climb(start)

    def _best(self, couples: Iterable[Couple]) -> tuple[int, list[Found]]:
        count, kept = 0, list[Found]()
        stream = iter(couples)
        while batch := list(islice(stream, _AT_ONCE)):
            logs = self.subject.log_laws([one for couple in batch for one in couple])
            values = self.loss.values(logs[0::2], logs[1::2])
            count += len(batch)
            for place in np.argsort(-values, kind="stable")[:_KEPT].tolist():
                kept.append(Found(float(values[place]), batch[place]))
            kept = sorted(kept, key=lambda entry: -entry.value)[:_KEPT]
        return count, kept

    def _record(self, name: str, size: int, pairs: int, kept: list[Found]) -> None:
        self.stages.append(
            Stage(
                name=name,
                relation=self.inputs.relation,
                size=size,
                pairs=pairs,
                largest=kept[0].value if kept else 0.0,
            )
        )
        self.found += kept

    def _climb(self, best: Found) -> None:
        pairs, rounds = 0, 40 if self.thorough else 10
        while np.isfinite(best.value) and rounds:
            count, kept = self._best(self.inputs.around(best.couple))
            pairs, rounds = pairs + count, rounds - 1
            if not kept or kept[0].value <= best.value * (1 + _WORTHWHILE):
                break
            best = kept[0]
        self._record("climb", self.inputs.size(best.couple[0]), pairs, [best])
