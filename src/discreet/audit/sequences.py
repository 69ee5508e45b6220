"""The audit of streams: mechanisms that answer each value in turn with "below", "above" or a number.

For each list of up to six answers, the audit compares every pair of neighbours on a lattice around the
threshold. A minimum filter over the lattice gives the losses of all pairs at once. Longer lists are searched
as blocks of equal values. From the worst pairs found, the search climbs off the lattice. The decisive pairs
are certified in interval arithmetic (docs/proofs/auditing.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from discreet._exact.numbers.balls import precision
from discreet._exact.numbers.exact import refuse, whole
from discreet.audit.losses import as_float, exceeds
from discreet.audit.relations import Floats
from discreet.audit.search import Batch, Kind, Progress, verdict_on
from discreet.audit.verdicts import Stage, Verdict, Witness, plain
from discreet.errors import ParameterError
from discreet.guarantees import Guarantee, PureDP

Answer: TypeAlias = bool | Fraction
"""False for "below", True for "above", or the number released instead of "above"."""

LENGTHS = (1, 2, 3, 4, 5, 6)
BLOCKS = (10, 30, 100, 300)
"""The sizes of the blocks of equal values in longer lists."""

_BITS = 100
_DIGITS = 9
_FAINTEST = -345.0
"""Lists of answers with a lower log-probability than this on the first data set are skipped."""

_STEPS = (-2, -1, 0, 1, 2, 3)


@runtime_checkable
class StreamSubject(Protocol):
    """The distribution of a stream's answers, in floats for the search and in intervals for certification.

    Example:
        >>> from discreet.mechanisms import CrossingRule
        >>> isinstance(CrossingRule(epsilon=1, threshold=0, sensitivity=1), StreamSubject)
        True
    """

    @property
    def sensitivity(self) -> Fraction:
        """Δ, the most by which one person can change any value."""

    @property
    def middle(self) -> Fraction:
        """The threshold; the audit tries values around it."""

    @property
    def crossings(self) -> int | None:
        """The number of "above" answers after which the stream ends; None if it never ends."""

    def sequence_logs(self, rows: Floats, answers: Sequence[Any], times: Sequence[int]) -> Floats:
        """Return the answers' joint log-probability for each row, repeating value i ``times[i]`` times."""

    def sequence_ball(
        self, values: Any, answers: Sequence[Any], times: Sequence[int] | None = None, *, bits: int
    ) -> Any:
        """Return an interval that contains the answers' joint probability; only impossible answers get 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamWitness(Witness):
    """Two neighbouring streams and the answers whose probabilities show the loss.

    Attributes:
        scores: the values of one stream.
        neighbour: the values of the other.
        answers: the answers, in order.
        times: the number of times in a row that each value occurs.
        outcome: always 0, because the list of answers is the only outcome considered.

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
        """Return the witness as plain values, without ``outcome``."""
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


class _Find(NamedTuple):
    """A stream and a list of answers; adding Δ times ``moves`` to the values gives the neighbour."""

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
    effort: str = "usual",
    progress: Progress | None = None,
) -> Verdict:
    """Search all lists of answers and all neighbours for a pair that refutes ``PureDP``.

    Args:
        subject: a rule such as ``CrossingRule``, or anything with ``sequence_logs`` and ``sequence_ball``.
        claim: ``PureDP``.
        monotonic: whether all values move in the same direction; None uses the subject's own attribute.
        lengths: one or more numbers of values; None tries one to six.
        blocks: whether to try blocks of up to 300 equal values; None tries them unless lengths are given.
        effort: how thorough the search is: ``"quick"``, ``"usual"`` or ``"thorough"``.
        progress: called with the stage and the fraction done.
    """
    if not isinstance(claim, PureDP):
        raise ParameterError(f"⟨claim⟩{claim!r} is not allowed for a stream: give PureDP")
    if monotonic is None:
        monotonic = bool(getattr(subject, "monotonic", False))
    if not isinstance(monotonic, bool):
        raise refuse("monotonic", monotonic, "True, False or None")
    sizes = _sizes(lengths)
    long = BLOCKS if blocks or (blocks is None and lengths is None) else ()
    streams = Streams(subject, claim, monotonic, sizes, long)

    def covered(stages: list[Stage]) -> str:
        looked = [stage for stage in stages if stage.name != "climb"]
        return (
            f"{sum(stage.pairs for stage in stages):,} pairs of neighbours ({streams.relation}) for "
            f"{len(looked)} lists of answers of up to {max(stage.size for stage in looked)} values, "
            f"{streams.evaluations:,} probabilities evaluated"
        )

    return verdict_on(
        [streams],
        subject=getattr(subject, "title", None) or repr(subject),
        claim=claim,
        claimed=claim.exact,
        symbol="ε",
        evaluations=lambda: streams.evaluations,
        proof=lambda: _proof(subject, claim, monotonic),
        effort=effort,
        progress=progress,
        covered=covered,
    )


def _sizes(lengths: int | Iterable[int] | None) -> tuple[int, ...]:
    if lengths is None:
        return LENGTHS
    given = (lengths,) if isinstance(lengths, int) else tuple(lengths)
    if not given or max(given) > 8:
        raise refuse("n", lengths, "one or more lengths of at most 8 values")
    return tuple(sorted({whole("n", size) for size in given}))


def _proof(subject: StreamSubject, claim: PureDP, monotonic: bool) -> str | None:
    """Return the proof of the subject's own guarantee, if that implies the claim under this relation."""
    guarantee = getattr(subject, "guarantee", None)
    if guarantee is None or (getattr(subject, "monotonic", False) and not monotonic):
        return None
    own = guarantee()
    covered = isinstance(own, PureDP) and own.proof is not None and own.exact <= claim.exact
    return str(own.proof) if covered else None


class Streams(Kind):
    """The neighbouring streams of one subject, as a kind of input for the search."""

    finest, patience = 2.0**-16, 1000

    def __init__(
        self,
        subject: StreamSubject,
        claim: PureDP,
        monotonic: bool,
        sizes: tuple[int, ...],
        blocks: tuple[int, ...],
    ) -> None:
        self.subject = subject
        self.claim = claim
        self.monotonic = monotonic
        self.evaluations = 0
        self._sizes = sizes
        self._blocks = blocks
        self._step = float(subject.sensitivity)
        # If the subject releases numbers, try numbers near the threshold instead of "above".
        released = getattr(subject, "releases_numbers", False)
        middle, step = subject.middle, subject.sensitivity
        self._above: tuple[Answer, ...] = (middle, middle + step) if released else (True,)

    @property
    def relation(self) -> str:
        """The neighbour relation in one word."""
        return "monotonic" if self.monotonic else "general"

    def stages(self) -> Iterator[tuple[str, int, Iterable[Batch]]]:
        """Yield one stage for each list of answers."""
        for size in self._sizes:
            for answers in self._lists(size):
                yield "lattice", size, [self._nearby(answers, (1,) * size)]
        for answers, times in self._long_lists():
            yield "blocks", sum(times), [self._nearby(answers, times)]

    def _lists(self, size: int) -> Iterator[tuple[Answer, ...]]:
        """Yield all possible lists of ``size`` answers; if order does not matter, only one order of each."""
        seen = set()
        for answers in product((False, *self._above), repeat=size):
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
            yield answers

    def _long_lists(self) -> Iterator[tuple[tuple[Answer, ...], tuple[int, ...]]]:
        """Yield long lists of answers in compressed form: a tuple of answers, and how often each is repeated.

        Each list is a run of "below", then as many "above" as are allowed.
        """
        most = self.subject.crossings
        for many in self._blocks:
            ends = many if most is None else min(most, many)
            for above in self._above:
                yield (False, above), (many, ends)
                yield (False, False, above), (many, 1, ends)
                yield (False, above), (1, ends)

    def _nearby(self, answers: tuple[Answer, ...], times: tuple[int, ...]) -> Batch:
        """Return the worst pairs of neighbours on the lattice, for one list of answers."""
        places = len(answers)
        steps = np.array(_STEPS if places <= 4 else _STEPS[1:5] if places <= 6 else _STEPS[2:5])
        lattice = float(self.subject.middle) + self._step * steps
        rows = np.array(list(product(lattice, repeat=places)))
        logs = self._logs(rows, answers, times).reshape((len(steps),) * places)
        directions = ((0, 1), (0, -1)) if self.monotonic else ((-1, 0, 1),)
        losses, finds = list[float](), list[_Find]()
        for moves in directions:
            least, taken = _least_nearby(logs, moves)
            with np.errstate(invalid="ignore"):
                found = np.where(logs < _FAINTEST, -np.inf, logs - least)
            best = int(np.argmax(found.round(_DIGITS)))  # the same choice on every machine
            place = np.unravel_index(best, logs.shape)
            moved = tuple(taken[(slice(None), *place)].tolist())
            losses.append(float(found[place]))
            finds.append(_Find(tuple(rows[best].tolist()), moved, answers, times))
        pairs = len(rows) * sum(len(moves) ** places for moves in directions)
        return Batch(np.array(losses), finds.__getitem__, pairs)

    def around(self, pair: _Find, step: float) -> Iterator[Batch]:
        """Yield pairs with values moved by a step: up to three in all combinations, more than that singly."""
        values = np.array(pair.values)
        ways = np.concatenate([np.eye(len(values)), -np.eye(len(values))])
        if len(values) <= 3:
            ways = np.array(list(product((-1, 0, 1), repeat=len(values))))
        tried = values + step * self._step * ways
        both = np.concatenate([tried, tried + self._step * np.array(pair.moves)])
        logs = self._logs(both, pair.answers, pair.times)
        with np.errstate(invalid="ignore"):
            losses = np.nan_to_num(logs[: len(tried)] - logs[len(tried) :], posinf=np.inf)
        losses = np.where(logs[: len(tried)] < _FAINTEST, -np.inf, losses).round(_DIGITS)

        def moved(place: int) -> _Find:
            return pair._replace(values=tuple(tried[place].tolist()))

        yield Batch(losses, moved, len(tried))

    def size(self, pair: _Find) -> int:
        """Return the number of values."""
        return sum(pair.times)

    def certified(self, pair: _Find) -> tuple[StreamWitness, bool]:
        """Return the pair with its certified loss, and whether the loss certainly exceeds the claim."""
        first = [Fraction(value) for value in pair.values]
        if max(map(abs, pair.moves)) > 1 or (self.monotonic and {-1, 1} <= set(pair.moves)):
            raise AssertionError("the search left the neighbour relation")
        step = self.subject.sensitivity
        second = [value + step * move for value, move in zip(first, pair.moves, strict=True)]
        balls = [
            self.subject.sequence_ball(values, pair.answers, pair.times, bits=_BITS)
            for values in (first, second)
        ]
        with precision(2 * _BITS):
            # A zero here is exact, so a positive probability against zero is an infinite loss.
            value = None if balls[1].is_zero() and balls[0] > 0 else (balls[0] / balls[1]).log()
            refutes = exceeds(value, self.claim.exact)
        return (
            StreamWitness(
                scores=plain(pair.values),
                neighbour=plain(float(value) for value in second),
                relation=self.relation,
                outcome=0,
                probability=float(balls[0]),
                neighbour_probability=float(balls[1]),
                value=as_float(value),
                certainty="ball arithmetic",
                answers=tuple(map(_said, pair.answers)),
                times=pair.times,
            ),
            refutes,
        )

    def _logs(self, rows: Floats, answers: tuple[Answer, ...], times: tuple[int, ...]) -> Floats:
        self.evaluations += len(rows)
        return self.subject.sequence_logs(rows, answers, times)


def _said(answer: Answer) -> str:
    return (
        f"{float(answer):g}" if isinstance(answer, Fraction) else ("above" if answer else "below")
    )


def _least_nearby(logs: Floats, moves: Sequence[int]) -> tuple[Floats, Any]:
    """Return the smallest value among each lattice point's neighbours, and the moves to that neighbour."""
    least = logs
    taken = np.zeros((logs.ndim, *logs.shape), dtype=np.int64)
    for axis in range(logs.ndim):
        shifted = []
        for move in moves:
            rolled, came = np.roll(least, -move, axis), np.roll(taken, -move, axis + 1).copy()
            # Values that were rolled over the edge are not neighbours.
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
