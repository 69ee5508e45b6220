"""The audit of streams: mechanisms that answer value after value, "below", "above", or with a number.

For each list of answers up to six values long, every pair of neighbours on a lattice around the threshold is
compared: the losses of all pairs are one minimum filter over the lattice. Longer lists are searched as blocks
of equal values, the best finds climb off the lattice, and what decides is certified in balls
(docs/proofs/auditing.md).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from discreet._exact.numbers.balls import precision
from discreet._exact.numbers.exact import float_up, refuse, whole
from discreet.audit.losses import as_float, exceeds
from discreet.audit.relations import Floats
from discreet.audit.search import Progress
from discreet.audit.verdicts import Stage, Verdict, Witness, plain
from discreet.errors import ParameterError
from discreet.guarantees import Guarantee, PureDP

Answer: TypeAlias = bool | Fraction
"""False for below, True for above, or the number that was released in place of "above"."""

LENGTHS = (1, 2, 3, 4, 5, 6)
BLOCKS = (10, 30, 100, 300)
"""How many equal values a block of a longer list has."""

_BITS = 100
_KEPT = 4
_CLIMB = 16
_DIGITS = 9
_FAINTEST = -345.0
"""Lists of answers less likely than e^this on the first data set are left out: nobody could read them."""

_STEPS = (-2, -1, 0, 1, 2, 3)


@runtime_checkable
class StreamSubject(Protocol):
    """What is audited: the law of a stream's answers, in floats for the search and in balls to be certain.

    Example:
        >>> from discreet.mechanisms import CrossingRule
        >>> isinstance(CrossingRule(epsilon=1, threshold=0, sensitivity=1), StreamSubject)
        True
    """

    @property
    def sensitivity(self) -> Fraction:
        """Δ: the most by which one person changes any one value."""

    @property
    def middle(self) -> Fraction:
        """Where the threshold is: values are tried around it."""

    @property
    def crossings(self) -> int | None:
        """How many answers "above" end the stream; None if it never ends."""

    def sequence_logs(self, rows: Floats, answers: Sequence[Any], times: Sequence[int]) -> Floats:
        """Logarithms of the probabilities of these answers to each row of values, each ``times`` in a row."""

    def sequence_ball(
        self, values: Any, answers: Sequence[Any], times: Sequence[int] | None = None, *, bits: int
    ) -> Any:
        """A ball around the probability of these answers; zero only if it is zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamWitness(Witness):
    """Two neighbouring streams and the answers whose probabilities show the loss.

    Attributes:
        scores: the values of one stream.
        neighbour: the values of the other.
        answers: what was said, in order.
        times: how often in a row each value was asked.
        outcome: zero, since these answers are the one outcome that is looked at.

    Example:
        >>> from discreet.audit import audit
        >>> from discreet.mechanisms import CrossingRule
        >>> rule = CrossingRule(epsilon=1, threshold=0, sensitivity=1)
        >>> print(audit(rule, PureDP("0.9"), n=2).witness.answers)
        ('below', 'above')
    """

    answers: tuple[str, ...] = ()
    times: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The witness as plain values; its answers are told in order, so that none stands out."""
        told = Witness.as_dict(self)
        del told["outcome"]
        return told

    def __str__(self) -> str:
        def row(values: Sequence[Any]) -> str:
            parts = (
                f"{value:.6g}" + (f" ({often} times)" if often > 1 else "")
                for value, often in zip(values, self.times, strict=True)
            )
            return ", ".join(parts)

        return (
            f"values {row(self.scores)} and {row(self.neighbour)} ({self.relation}): the answers "
            f"{', '.join(self.answers)} have probability {self.probability:.6g} and "
            f"{self.neighbour_probability:.6g}"
        )


@dataclass(frozen=True, slots=True)
class _Find:
    """A pair of neighbours, the answers, and the loss that floats see; moves are multiples of Δ."""

    value: float
    values: tuple[float, ...]
    moves: tuple[int, ...]
    answers: tuple[Answer, ...]
    times: tuple[int, ...]


def audit_stream(
    subject: StreamSubject,
    claim: Guarantee,
    *,
    monotonic: bool | None = None,
    lengths: int | Iterable[int] | None = None,
    blocks: bool | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Search all lists of answers and all neighbours for a pair that refutes ``PureDP``.

    Args:
        subject: a rule such as ``CrossingRule``, or anything with ``sequence_logs`` and ``sequence_ball``.
        claim: ``PureDP``.
        monotonic: whether all values move in one direction; None takes what the subject says of itself.
        lengths: how many values, a number or several; None tries one to six.
        blocks: whether to try blocks of up to 300 equal values; None does so unless lengths are given.
        progress: called with the stage and the fraction done.
    """
    began = time.perf_counter()
    if not isinstance(claim, PureDP):
        raise ParameterError(f"⟨claim⟩{claim!r} is not allowed for a stream: give PureDP")
    if monotonic is None:
        monotonic = bool(getattr(subject, "monotonic", False))
    if not isinstance(monotonic, bool):
        raise refuse("monotonic", monotonic, "True, False or None")
    sizes = _sizes(lengths)
    search = _Search(subject, monotonic)
    plans = [("lattice", size, *plan) for size in sizes for plan in search.lists(size)]
    if blocks or (blocks is None and lengths is None):
        plans += [("blocks", sum(plan[1]), *plan) for plan in search.blocks()]
    for place, (stage, size, answers, times) in enumerate(plans):
        if progress is not None:
            progress(f"{stage}, {size} values", place / len(plans))
        search.look(stage, size, answers, times)
    search.climb()
    worst, refuted = search.certified(claim)
    proof = None if refuted or worst.value > claim.epsilon else _proof(subject, claim, monotonic)
    return Verdict(
        subject=getattr(subject, "title", None) or repr(subject),
        claim=repr(claim),
        status="refuted" if refuted else "proved" if proof else "not refuted",
        measured=worst.value,
        claimed=float_up(claim.exact),
        symbol="ε",
        witness=worst if refuted else None,
        worst=worst,
        proof=proof,
        stages=tuple(search.stages),
        evaluations=search.evaluations,
        seconds=time.perf_counter() - began,
        covered=(
            f"{sum(stage.pairs for stage in search.stages):,} pairs of neighbours "
            f"({search.relation}) for {len(plans)} lists of answers of up to "
            f"{max(size for _, size, *_ in plans)} values, {search.evaluations:,} probabilities evaluated"
        ),
    )


def _sizes(lengths: int | Iterable[int] | None) -> tuple[int, ...]:
    if lengths is None:
        return LENGTHS
    given = (lengths,) if isinstance(lengths, int) else tuple(lengths)
    if not given or max(given) > 8:
        raise refuse("n", lengths, "one or more lengths of at most 8 values")
    return tuple(sorted({whole("n", size) for size in given}))


def _proof(subject: StreamSubject, claim: PureDP, monotonic: bool) -> str | None:
    """What proves the subject's own guarantee, if that is within this claim under this relation."""
    guarantee = getattr(subject, "guarantee", None)
    if guarantee is None or (getattr(subject, "monotonic", False) and not monotonic):
        return None
    own = guarantee()
    covered = isinstance(own, PureDP) and own.proof is not None and own.exact <= claim.exact
    return str(own.proof) if covered else None


class _Search:
    """The losses of one subject under one relation, and the largest of them."""

    def __init__(self, subject: StreamSubject, monotonic: bool) -> None:
        self.subject = subject
        self.monotonic = monotonic
        self.relation = "monotonic" if monotonic else "general"
        self.step = float(subject.sensitivity)
        self.stages: list[Stage] = []
        self.evaluations = 0
        self.found: list[_Find] = []
        # A number near the threshold in place of "above", where the subject releases one.
        released = getattr(subject, "releases_numbers", False)
        middle, step = subject.middle, subject.sensitivity
        self.above: tuple[Answer, ...] = (middle, middle + step) if released else (True,)

    def lists(self, size: int) -> Iterator[tuple[tuple[Answer, ...], tuple[int, ...]]]:
        """All lists of answers to so many values, up to their order where that does not matter."""
        seen = set()
        for answers in product((False, *self.above), repeat=size):
            ended = [place for place, answer in enumerate(answers) if answer is not False]
            most = self.subject.crossings
            if most is not None and (
                len(ended) > most or (len(ended) == most and ended[-1] != size - 1)
            ):
                continue
            if getattr(self.subject, "exchangeable", False):
                key = tuple(sorted(map(str, answers)))
                if key in seen:
                    continue
                seen.add(key)
            yield answers, (1,) * size

    def blocks(self) -> Iterator[tuple[tuple[Answer, ...], tuple[int, ...]]]:
        """Long lists: many "below" and then as many "above" as there may be, or one after another."""
        most = self.subject.crossings
        for many in BLOCKS:
            ends = many if most is None else min(most, many)
            for above in self.above:
                yield (False, above), (many, ends)
                yield (False, False, above), (many, 1, ends)
                yield (False, above), (1, ends)

    def look(
        self, stage: str, size: int, answers: tuple[Answer, ...], times: tuple[int, ...]
    ) -> None:
        """Every pair of neighbours on the lattice, for one list of answers."""
        places = len(answers)
        steps = np.array(_STEPS if places <= 4 else _STEPS[1:5] if places <= 6 else _STEPS[2:5])
        lattice = float(self.subject.middle) + self.step * steps
        rows = np.array(list(product(lattice, repeat=places)))
        logs = self._logs(rows, answers, times).reshape((len(steps),) * places)
        directions = ((0, 1), (0, -1)) if self.monotonic else ((-1, 0, 1),)
        largest = -math.inf
        for moves in directions:
            least, taken = _least_nearby(logs, moves)
            with np.errstate(invalid="ignore"):
                losses = np.where(logs < _FAINTEST, -np.inf, logs - least)
            best = int(np.argmax(losses.round(_DIGITS)))  # of equal ones the first, on any machine
            place = np.unravel_index(best, logs.shape)
            largest = max(largest, float(losses[place]))
            moved = tuple(taken[(slice(None), *place)].tolist())
            self._keep(_Find(float(losses[place]), tuple(rows[best]), moved, answers, times))
        pairs = len(rows) * sum(len(moves) ** places for moves in directions)
        self.stages.append(
            Stage(name=stage, relation=self.relation, size=size, pairs=pairs, largest=largest)
        )

    def climb(self) -> None:
        """Move the values of the best finds by halves of a step, as long as the loss grows."""
        for find in list(self.found):
            if find.value == math.inf:
                continue
            values, best, step = np.array(find.values), find.value, self.step / 2
            for _ in range(_CLIMB):
                tried = np.array(
                    [
                        values + step * np.array(way)
                        for way in product((-1, 0, 1), repeat=len(values))
                    ]
                    if len(values) <= 3
                    else [
                        values + sign * step * unit
                        for unit in np.eye(len(values))
                        for sign in (-1, 1)
                    ]
                )
                both = np.concatenate([tried, tried + self.step * np.array(find.moves)])
                logs = self._logs(both, find.answers, find.times)
                losses = logs[: len(tried)] - logs[len(tried) :]
                place = int(np.argmax(losses.round(_DIGITS)))
                if losses[place] > best + 1e-6:
                    values, best = tried[place], float(losses[place])
                else:
                    step /= 2
            self._keep(_Find(best, tuple(values), find.moves, find.answers, find.times))

    def certified(self, claim: PureDP) -> tuple[StreamWitness, bool]:
        """The largest loss found, in balls; a pair that certainly exceeds the claim goes first."""
        best: tuple[StreamWitness, bool] | None = None
        for find in self.found:
            witness, refutes = self._certify(find, claim)
            if best is None or (refutes, round(witness.value, _DIGITS)) > (
                best[1],
                round(best[0].value, _DIGITS),
            ):
                best = witness, refutes
        assert best is not None
        return best

    def _certify(self, find: _Find, claim: PureDP) -> tuple[StreamWitness, bool]:
        first = [Fraction(value) for value in find.values]
        if max(map(abs, find.moves)) > 1 or (self.monotonic and {-1, 1} <= set(find.moves)):
            raise AssertionError("the search left the neighbour relation")
        step = self.subject.sensitivity
        second = [value + step * move for value, move in zip(first, find.moves, strict=True)]
        balls = [
            self.subject.sequence_ball(values, find.answers, find.times, bits=_BITS)
            for values in (first, second)
        ]
        with precision(2 * _BITS):
            # A zero is exactly zero: whatever has a probability there has an infinite loss.
            value = None if balls[1].is_zero() and balls[0] > 0 else (balls[0] / balls[1]).log()
            refutes = exceeds(value, claim.exact)
        return (
            StreamWitness(
                scores=plain(find.values),
                neighbour=plain(float(value) for value in second),
                relation=self.relation,
                outcome=0,
                probability=float(balls[0]),
                neighbour_probability=float(balls[1]),
                value=as_float(value),
                certainty="ball arithmetic",
                answers=tuple(map(_said, find.answers)),
                times=find.times,
            ),
            refutes,
        )

    def _keep(self, find: _Find) -> None:
        self.found = sorted([*self.found, find], key=lambda other: -round(other.value, _DIGITS))[
            :_KEPT
        ]

    def _logs(self, rows: Floats, answers: tuple[Answer, ...], times: tuple[int, ...]) -> Floats:
        self.evaluations += len(rows)
        return self.subject.sequence_logs(rows, answers, times)


def _said(answer: Answer) -> str:
    return (
        f"{float(answer):g}" if isinstance(answer, Fraction) else ("above" if answer else "below")
    )


def _least_nearby(logs: Floats, moves: Sequence[int]) -> tuple[Floats, Any]:
    """The least value among the neighbours of each place, and the moves that lead there, axis by axis."""
    least = logs
    taken = np.zeros((logs.ndim, *logs.shape), dtype=np.int64)
    for axis in range(logs.ndim):
        shifted = []
        for move in moves:
            rolled, came = np.roll(least, -move, axis), np.roll(taken, -move, axis + 1).copy()
            # What rolled over the edge is no neighbour.
            edge = [slice(None)] * logs.ndim
            edge[axis] = slice(-move, None) if move > 0 else slice(0, -move)
            if move:
                rolled = rolled.copy()
                rolled[tuple(edge)] = np.inf
            came[axis] = move
            shifted.append((rolled, came))
        stack = np.stack([rolled for rolled, _ in shifted])
        choice = np.argmin(stack, axis=0)
        least = np.take_along_axis(stack, choice[None], axis=0)[0]
        taken = np.choose(choice[None], np.stack([came for _, came in shifted]))
    return least, taken
