"""Audit a whole question, from its rows to its answer, with tables as inputs.

A table is a multiset of people. Each person has one of a few values: a label, a number, or the tuple of all
rows of that person. Neighbours differ by one person, who is added or removed, or replaced, depending on the
relation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, islice
from typing import Any

from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.numbers.exact import whole
from discreet.audit.losses import Loss
from discreet.audit.search import Batch, Kind, certified
from discreet.audit.subjects import BITS, Failure, Subject
from discreet.audit.verdicts import Witness
from discreet.errors import ParameterError
from discreet.neighbours import ADD_REMOVE, Neighbours

Couple = tuple[tuple[Hashable, ...], tuple[Hashable, ...]]
"""Two neighbouring tables."""

_AT_ONCE = 256


Choose = Callable[[Any], Any]
"""A function that makes one random choice: a position from probabilities, or a key from a mapping."""


class Tables:
    """The tables that an audit tries: all tables of a few people, then larger ones found by climbing.

    Args:
        values: the values that a person can have.
        rows: all tables with up to this many people are tried.
        most: the largest number of people in a table during a climb.
        neighbours: ``"add-remove"`` or ``"replace"``.

    Example:
        >>> from fractions import Fraction
        >>> from discreet import PureDP
        >>> from discreet.audit import audit
        >>> def says_whether_ill(table):                     # with a lie one time in three
        ...     chance = Fraction(2, 3) if "ill" in table else Fraction(1, 3)
        ...     return {"somebody is ill": chance, "nobody is": 1 - chance}
        >>> audit(says_whether_ill, PureDP("0.7"), inputs=Tables(["ill", "well"])).status
        'not refuted'
        >>> verdict = audit(says_whether_ill, PureDP("0.69"), inputs=Tables(["ill", "well"]))
        >>> verdict.status, verdict.witness.scores, verdict.witness.neighbour
        ('refuted', ('ill',), ())
    """

    def __init__(
        self,
        values: Iterable[Hashable],
        *,
        rows: int = 3,
        most: int = 12,
        neighbours: str = ADD_REMOVE,
    ) -> None:
        self._values = tuple(dict.fromkeys(values))
        if not self._values:
            raise ParameterError("⟨values⟩ must name at least one value that a person can have")
        self._rank = {value: place for place, value in enumerate(self._values)}
        self._rows = whole("rows", rows)
        self._most = whole("most", most, least=self._rows)
        self.relation = Neighbours.named(neighbours)

    def small(self, *, thorough: bool) -> Iterator[tuple[int, Iterable[Couple]]]:
        """Yield each size with all pairs of neighbours whose larger table has that size."""
        for size in range(1, self._rows + 1 + thorough):
            yield size, self._all(size)

    def _all(self, size: int) -> Iterator[Couple]:
        for table in combinations_with_replacement(self._values, size):
            for one in dict.fromkeys(table):
                rest = self._without(table, one)
                if self.relation == ADD_REMOVE:
                    yield table, rest
                else:
                    # Each pair is yielded once: the new value comes later in the list than the old one.
                    for other in self._values[self._rank[one] + 1 :]:
                        yield table, self._with(rest, other)

    def around(self, couple: Couple) -> Iterator[Couple]:
        """Yield nearby pairs: the same person is added, removed, changed or repeated in both tables."""
        first, second = couple
        both = [one for one in dict.fromkeys(first) if one in second]
        changed: list[Couple] = [
            (self._with(first, value), self._with(second, value)) for value in self._values
        ]
        for one in both:
            rest = self._without(first, one), self._without(second, one)
            changed.append(rest)
            changed += [
                (self._with(rest[0], value), self._with(rest[1], value)) for value in self._values
            ]
            for many in (2, 4, 8):
                extra = (one,) * many
                changed.append((self._with(first, *extra), self._with(second, *extra)))
        yield from (pair for pair in changed if max(map(len, pair)) <= self._most)

    def contains(self, couple: Couple) -> bool:
        """Return whether the two tables differ by one person."""
        first, second = map(list, couple)
        for one in list(first):
            if one in second:
                first.remove(one)
                second.remove(one)
        left = len(first), len(second)
        return left in ((0, 1), (1, 0)) if self.relation == ADD_REMOVE else left == (1, 1)

    def _with(self, table: tuple[Hashable, ...], *more: Hashable) -> tuple[Hashable, ...]:
        return tuple(sorted((*table, *more), key=self._rank.__getitem__))

    @staticmethod
    def _without(table: tuple[Hashable, ...], one: Hashable) -> tuple[Hashable, ...]:
        place = table.index(one)
        return table[:place] + table[place + 1 :]


@dataclass(slots=True)
class OfTables(Kind):
    """The search among tables for one subject and one loss."""

    subject: Subject
    loss: Loss
    tables: Tables
    thorough: bool
    finest, patience = 0.5, 2000

    @property
    def relation(self) -> str:
        """The neighbour relation of the tables."""
        return self.tables.relation

    def stages(self) -> Iterator[tuple[str, int, Iterable[Batch]]]:
        """Yield a stage for each size: all pairs of neighbours whose larger table has that size."""
        for size, couples in self.tables.small(thorough=self.thorough):
            yield "all tables", size, self._batches(couples)

    def around(self, pair: Couple, _step: float) -> Iterator[Batch]:
        """Yield pairs in which both tables are changed in the same way."""
        return self._batches(self.tables.around(pair))

    def size(self, pair: Couple) -> int:
        """Return the number of people in the first table."""
        return len(pair[0])

    def certified(self, pair: Couple) -> tuple[Witness, bool]:
        """Return the pair with its certified loss, and whether the loss certainly exceeds the claim."""
        if not self.tables.contains(pair):
            raise AssertionError("the search left the neighbour relation")
        logs = self.subject.log_laws(pair)
        return certified(
            self.subject, self.loss, logs, pair, size=0, shown=pair, relation=self.relation
        )

    def _batches(self, couples: Iterable[Couple]) -> Iterator[Batch]:
        stream = iter(couples)
        while batch := list(islice(stream, _AT_ONCE)):
            logs = self.subject.log_laws([one for couple in batch for one in couple])
            losses = self.loss.values(logs[0::2], logs[1::2])
            yield Batch(losses, batch.__getitem__, len(batch))


def unrolled(run: Callable[[Any, Choose], Hashable]) -> Callable[[Any], dict[Hashable, Any]]:
    """Turn a program that draws only through ``choose`` into a function that returns its exact distribution.

    ``run(given, choose)`` runs once for every path of choices. ``choose`` takes probabilities (fractions
    and intervals stay exact) and returns a position, or takes a mapping and returns a key. If a path raises,
    its answer is a ``Failure`` that names the type of the exception.

    Example:
        >>> from fractions import Fraction
        >>> def two_coins(_, choose):
        ...     return choose([Fraction(1, 2)] * 2) + choose([Fraction(1, 2)] * 2)
        >>> {heads: str(part) for heads, part in sorted(unrolled(two_coins)(None).items())}
        {0: '1/4', 1: '1/2', 2: '1/4'}
    """

    def law(given: Any) -> dict[Hashable, Any]:
        found: dict[Hashable, Any] = {}
        pending: list[tuple[int, ...]] = [()]
        while pending:
            path = _Path(pending.pop())
            with precision(BITS):
                try:
                    answer: Hashable = run(given, path.choose)
                except Exception as error:
                    answer = Failure(f"raises {type(error).__name__}")
                known = found.get(answer)
                found[answer] = path.probability if known is None else known + path.probability
            pending += path.turned_aside
        return found

    law.__name__ = getattr(run, "__name__", law.__name__)
    return law


class _Path:
    """One run of a program: the choices fixed in advance, the choices made, and their joint probability."""

    def __init__(self, forced: tuple[int, ...]) -> None:
        self.probability: Any = 1
        self.turned_aside: list[tuple[int, ...]] = []
        self._forced = forced
        self._taken: tuple[int, ...] = ()

    def choose(self, probabilities: Mapping[Hashable, Any] | Sequence[Any]) -> Any:
        keys: Sequence[Any] = range(len(probabilities))
        if isinstance(probabilities, Mapping):
            keys, probabilities = list(probabilities), list(probabilities.values())
        possible = [place for place, part in enumerate(probabilities) if not _impossible(part)]
        depth = len(self._taken)
        if depth < len(self._forced):
            place = self._forced[depth]
        else:
            place = possible[0]
            self.turned_aside += [(*self._taken, other) for other in possible[1:]]
        self._taken = (*self._taken, place)
        part = probabilities[place]
        self.probability = _product(self.probability, part)
        return keys[place]


def _product(first: Any, second: Any) -> Any:
    # An ``arb`` cannot be multiplied by a Fraction.
    if isinstance(first, Fraction) and not isinstance(second, int | float | Fraction):
        return ball_of(first) * second
    if isinstance(second, Fraction) and not isinstance(first, int | float | Fraction):
        return first * ball_of(second)
    return first * second


def _impossible(part: Any) -> bool:
    # For an interval that contains zero, == and != are both False.
    return bool(part == 0)
