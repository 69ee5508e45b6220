"""The search for the worst pair of neighbours, with one loop for all kinds of input.

A kind of input (score vectors, crowds of equal scores, tables, streams, changes that test regularity)
proposes pairs of neighbours in batches, with their losses in floats, and lists the pairs near a given one.
The loop keeps the worst pairs, climbs from them, and certifies the decisive ones in interval arithmetic.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from discreet._exact.numbers.balls import precision
from discreet._exact.numbers.exact import Exact, float_up, refuse
from discreet.audit.losses import Loss, as_float, exceeds
from discreet.audit.relations import Floats
from discreet.audit.subjects import BITS, FLOATS, Subject
from discreet.audit.verdicts import Stage, Verdict, Witness

Progress = Callable[[str, float], None]

EFFORTS = {"quick": 1, "usual": 6, "thorough": 18}
"""The number of climbs for each kind of input, for each effort."""

_CERTIFIED = 5
_WORTHWHILE = 1e-9


def silent(_stage: str, _share: float) -> None:
    """Ignore progress reports."""


def checked_effort(effort: object) -> str:
    """Return the effort; raise an error if it is not one of ``EFFORTS``."""
    if effort not in EFFORTS:
        raise refuse("effort", effort, " or ".join(f'"{each}"' for each in EFFORTS))
    return str(effort)


class Batch(NamedTuple):
    """Pairs of neighbours with their losses, computed in floats."""

    losses: Floats
    pair: Callable[[int], Any]
    """A function from a position to the pair there, a hashable value specific to the kind of input."""
    compared: int
    """The number of pairs compared, which may exceed the number listed."""
    magnitude: float = 0.0
    """The largest score in these pairs."""


class Kind(Protocol):
    """A kind of input: it proposes pairs of neighbours, and nearby pairs if the search can climb."""

    finest: float = 1.0
    """The smallest step of a climb, in units of the sensitivity; 1 if there is only one step."""
    patience: int = 0
    """The number of pairs that a climb compares before it stops; 0 for no climbs."""
    part: int = 1
    """A divisor of the number of climbs, such as 3 if evaluating a pair is slow."""
    kept: int = 4
    """The number of pairs kept from each stage; fewer than are certified, so that every stage gets a turn."""

    @property
    def relation(self) -> str:
        """The neighbour relation in a word or two."""

    def stages(self) -> Iterator[tuple[str, int, Iterable[Batch]]]:
        """Yield the stages to try: a name, the size of the inputs, and pairs of neighbours."""

    def around(self, pair: Any, step: float) -> Iterable[Batch]:  # noqa: ARG002 (without climbs)
        """Yield pairs of neighbours near this pair."""
        return ()

    def size(self, pair: Any) -> int:
        """Return the size of the inputs of a pair."""


class Certain(Kind, Protocol):
    """A kind of input whose losses can be certified."""

    def certified(self, pair: Any) -> tuple[Witness, bool]:
        """Return the pair with its certified loss, and whether the loss certainly exceeds the claim."""


class Found(NamedTuple):
    """A pair of neighbours and its loss, computed in floats."""

    value: float
    pair: Any
    kind: Any


@dataclass(slots=True)
class Search:
    """A search over one or more kinds of input: the stages tried and the pairs found so far."""

    effort: str = "usual"
    tell: Progress = silent
    stages: list[Stage] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)

    def run(self, kind: Kind, *, begun: float, share: float) -> None:
        """Run all stages of a kind, then climb from each of the worst pairs."""
        found = list[Found]()
        for many, (name, size, batches) in enumerate(kind.stages()):
            self.tell(f"{name}, size {size:,}, {kind.relation}", begun + share * (1 - 0.9**many))
            found += self._record(kind, name, size, _worst(kind, batches))
        climbs = max(1, EFFORTS[self.effort] // kind.part) if kind.patience else 0
        starts = _different(kind, found)[:climbs]
        for number, start in enumerate(starts):
            self.tell(f"climb {number + 1} of {len(starts)}, {kind.relation}", begun + share)
            found += self._climb(start)
        self.found += found

    def _climb(self, start: Found) -> list[Found]:
        """Climb from a pair: move to the worst nearby pair while the loss grows, else use smaller steps."""
        kind, best, step, total, largest = start.kind, start, 0.5, 0, 0.0
        patience = kind.patience * (4 if self.effort == "thorough" else 1)
        while np.isfinite(best.value) and step >= kind.finest and total < patience:
            kept, compared, magnitude = _worst(kind, kind.around(best.pair, step))
            total, largest = total + compared, max(largest, magnitude)
            if kept and kept[0].value > best.value * (1 + _WORTHWHILE):
                # Larger steps help if the loss approaches its supremum only far away.
                best, step = kept[0], min(2 * step, 4.0)
            else:
                step /= 4
        return self._record(kind, "climb", kind.size(best.pair), ([best], total, largest))

    def _record(
        self, kind: Kind, name: str, size: int, worst: tuple[list[Found], int, float]
    ) -> list[Found]:
        kept, pairs, magnitude = worst
        stage = Stage(
            name=name,
            relation=kind.relation,
            size=size,
            pairs=pairs,
            largest=kept[0].value if kept else 0.0,
            magnitude=magnitude,
        )
        self.stages.append(stage)
        return kept


def _worst(kind: Kind, batches: Iterable[Batch]) -> tuple[list[Found], int, float]:
    """Return the pairs with the largest losses, the number of pairs compared, and the largest score tried."""
    kept, compared, magnitude = list[Found](), 0, 0.0
    for batch in batches:
        compared, magnitude = compared + batch.compared, max(magnitude, batch.magnitude)
        # Among pairs with equal loss, keep the first.
        for place in np.argsort(-batch.losses, kind="stable")[: kind.kept].tolist():
            value = float(batch.losses[place])
            if len(kept) == kind.kept and not value > kept[-1].value * (1 + _WORTHWHILE):
                break
            kept = _ranked([*kept, Found(value, batch.pair(place), kind)])[: kind.kept]
    return kept, compared, magnitude


def _ranked(found: Iterable[Found]) -> list[Found]:
    return sorted(found, key=lambda one: -one.value)


def _different(kind: Kind, found: list[Found]) -> list[Found]:
    """Return the pairs without duplicates, worst first: the worst pair of each size, then all others."""
    ranked = list({one.pair: one for one in _ranked(found)}.values())
    first = {kind.size(one.pair): one for one in reversed(ranked)}
    leaders = _ranked(first.values())
    return leaders + [one for one in ranked if one not in leaders]


@np.errstate(all="ignore")  # an overflow is visible in the answers
def verdict_on(
    kinds: Iterable[Certain],
    *,
    subject: str,
    claim: object,
    claimed: Exact,
    symbol: str,
    evaluations: Callable[[], int],
    proof: Callable[[], str | None],
    effort: str = "usual",
    progress: Progress | None = None,
    counted: str = "candidates",
    covered: Callable[[list[Stage]], str] = lambda _stages: "",
    dust: float = 0.0,
) -> Verdict:
    """Search all kinds of input and return the verdict.

    ``proof`` is called only if no loss above the claim was found. An excess of up to ``dust`` is ignored,
    because rounding can turn a loss of zero into such a value.
    """
    began = time.perf_counter()
    search = Search(effort, progress or silent)
    for number, kind in enumerate(kinds):
        search.run(kind, begun=1 - 0.5**number, share=0.5 ** (number + 1))
    search.tell("certificate", 1.0)
    # Certify several pairs, because rounding in floats can swap the first and the second.
    checked = [one.kind.certified(one.pair) for one in _doubtful(search.found, claimed)]
    worst, refuted = max(checked, key=lambda pair: (pair[1], pair[0].value), default=(None, False))
    allowed = float_up(claimed)
    # If the loss is above the claim, even uncertainly, the verdict names no proof.
    above = refuted or (worst is not None and worst.value > allowed + dust)
    named = None if above else proof()
    return Verdict(
        subject=subject,
        claim=repr(claim),
        status="refuted" if refuted else "proved" if named else "not refuted",
        measured=0.0 if worst is None else worst.value,
        claimed=allowed,
        symbol=symbol,
        witness=worst if refuted else None,
        worst=worst,
        proof=named,
        stages=tuple(search.stages),
        evaluations=evaluations(),
        seconds=time.perf_counter() - began,
        counted=counted,
        covered=covered(search.stages),
    )


def _doubtful(found: list[Found], claimed: Exact) -> list[Found]:
    """Return the pairs to check in interval arithmetic, largest float loss first.

    Only pairs whose float loss exceeds the claim, or equals it up to rounding, can change the verdict. If
    there are none, the pair with the largest loss is returned. Among pairs with the same loss, smaller ones
    come first, because they are easier to read and to certify.
    """
    edge, beyond = (float(claimed) * (1 + part) for part in (-1e-12, 1e-12))

    def order(one: Found) -> tuple[bool, bool, float, int, float]:
        # Floats cannot tell whether a loss between ``edge`` and ``beyond`` exceeds the claim.
        above, near = one.value > beyond, one.value >= edge
        return not above, not near, -float(f"{one.value:.6g}"), one.kind.size(one.pair), -one.value

    # The same pair may have a larger loss under one relation than under another, so both are kept.
    different = {(one.pair, one.kind.relation): one for one in sorted(found, key=order)}
    ranked = list(different.values())[:_CERTIFIED]
    return [one for one in ranked if one.value >= edge] or ranked[:1]


def certified(
    subject: Subject,
    loss: Loss,
    logs: Floats,
    given: Iterable[Any],
    *,
    size: int,
    shown: Sequence[tuple[Any, ...]],
    relation: str,
) -> tuple[Witness, bool]:
    """Return a witness with its certified loss, and whether the loss certainly exceeds the claim."""
    from flint import arb

    detail = loss.detail(logs[0], logs[1])
    with precision(BITS):
        balls = [subject.balls(one, size) for one in given]
        width = max(logs.shape[1], *(len(part) for part, _ in balls))
        first, second = (part + [arb(0)] * (width - len(part)) for part, _ in balls)
        way = (second, first) if detail.swapped else (first, second)
        value = loss.ball(*way, detail)
        refutes = exceeds(value, loss.claimed)
    middles = [_middles(part) for part in (first, second)]
    answers = tuple(subject.answers(size))
    return (
        Witness(
            scores=shown[0],
            neighbour=shown[1],
            relation=relation,
            outcome=detail.outcome,
            probability=middles[0][detail.outcome],
            neighbour_probability=middles[1][detail.outcome],
            value=as_float(value),
            certainty=FLOATS if FLOATS in (balls[0][1], balls[1][1]) else balls[0][1],
            probabilities=middles[0],
            neighbour_probabilities=middles[1],
            other=detail.other,
            order=detail.order,
            event=detail.event,
            answers=() if answers == tuple(range(size)) else answers,
        ),
        refutes,
    )


def _middles(balls: Sequence[Any]) -> tuple[float, ...]:
    """Return the middle of each interval for display; zero if the interval contains zero."""
    # Equal members of a crowd share one interval, which is converted once.
    different = {id(ball): ball for ball in balls}
    shown = {key: float(ball.mid()) if ball > 0 else 0.0 for key, ball in different.items()}
    return tuple(shown[id(ball)] for ball in balls)
