"""Events: releases as frozen data, independent of how their costs are added up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet._exact.numbers.exact import refuse, whole
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP, Guarantee, Proof, PureDP
from discreet.mechanisms.mechanism import Mechanism
from discreet.neighbours import Neighbours
from discreet.release import Release
from discreet.scores import Scores

ADD_REMOVE, REPLACE = Neighbours
LONGEST_TEXT = 1_000

Parameter = str | int | bool


@dataclass(frozen=True, slots=True)
class Event:
    """One kind of past or planned release: its guarantee and how often it happens.

    An event holds no data and no random bits: its parameters can only be texts, whole numbers or booleans.

    Attributes:
        guarantee: the guarantee of each release, by the mechanism's own tightest proof.
        mechanism: the mechanism's name.
        count: the number of such releases.
        neighbours: the neighbour relation of the guarantee; ``"add-remove"`` or ``"replace"``, or another
            description, which is comparable only with itself.
        purpose: the releases' purpose, in the user's words. Ledgers store it, so it must contain no data.
        parameters: the mechanism's parameters.

    Example:
        >>> from discreet import PureDP
        >>> Event(PureDP("0.1"), mechanism="permute-and-flip", count=3).guarantee
        PureDP(0.1)
    """

    guarantee: Guarantee
    mechanism: str = field(default="unnamed", kw_only=True)
    count: int = field(default=1, kw_only=True)
    neighbours: str = field(default=ADD_REMOVE, kw_only=True)
    purpose: str = field(default="", kw_only=True)
    parameters: Mapping[str, Parameter] = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.guarantee, Guarantee):
            raise refuse("guarantee", self.guarantee, "PureDP, BoundedRange, ZCDP or ApproxDP")
        object.__setattr__(self, "count", whole("count", self.count))
        for name in ("mechanism", "neighbours", "purpose"):
            # Convert these to plain text, because an event is written to ledgers.
            object.__setattr__(
                self, name, str(text(name, getattr(self, name), empty=name == "purpose"))
            )
        if not isinstance(self.parameters, Mapping):
            raise refuse("parameters", self.parameters, "a mapping")
        plain = {
            text("parameter", name): _parameter(name, v) for name, v in self.parameters.items()
        }
        object.__setattr__(self, "parameters", plain)

    @staticmethod
    def of(thing: object) -> Event:
        """Make an event from an event, a guarantee, a release, or a (mechanism, scores) pair.

        Example:
            >>> from discreet import Exponential, Scores
            >>> Event.of((Exponential(epsilon=1), Scores([3, 1], sensitivity=1))).guarantee
            BoundedRange(1)
        """
        if isinstance(thing, Event):
            return thing
        if isinstance(thing, Guarantee):
            return Event(thing)
        if isinstance(thing, Release):
            # A release may explain its relation in brackets after the name.
            relation = thing.neighbours.partition(" (")[0]
            return Event(
                thing.guarantee,
                mechanism=thing.mechanism,
                neighbours=relation if relation in (ADD_REMOVE, REPLACE) else thing.neighbours,
            )
        if isinstance(thing, tuple) and len(thing) == 2:
            mechanism, scores = thing
            if isinstance(mechanism, Mechanism) and isinstance(scores, Scores):
                # The promise depends on the range distance only, never on a score.
                return Event(
                    mechanism.promise_for(scores),
                    mechanism=mechanism.name,
                    parameters=mechanism.parameters(),
                )
        raise ParameterError(
            f"expected an Event, a guarantee, a Release or a (mechanism, scores) pair, "
            f"got {type(thing).__name__}"
        )

    @staticmethod
    def of_each(
        mechanism: Mechanism,
        *,
        rows_per_person: int,
        sensitivity: object = None,
        monotonic: bool = False,
        range_distance: object = None,
        neighbours: str = ADD_REMOVE,
        purpose: str = "",
    ) -> Event:
        """Return the event of ``mechanism.select_each`` if each person has at most ``rows_per_person`` rows.

        Give the sensitivity for adding or removing a person, even with ``neighbours="replace"``. Adding or
        removing a person costs one release for each of their rows. Replacing a person costs the same number
        of releases, each at its price for two people (``docs/proofs/many-rows.md``). For any other relation,
        give the sensitivity and the number of rows that one step of that relation changes.

        Example:
            >>> from discreet import PermuteAndFlip, PureDP
            >>> each = {"sensitivity": 1, "monotonic": True, "rows_per_person": 2}
            >>> event = Event.of_each(PermuteAndFlip(epsilon="0.5"), **each,
            ...                       purpose="the most common diagnosis of each clinic")
            >>> event.count, event.guarantee.to(PureDP)
            (2, PureDP(0.5))
            >>> event = Event.of_each(PermuteAndFlip(epsilon="0.5"), **each, neighbours="replace")
            >>> event.count, event.guarantee.to(PureDP)
            (2, PureDP(1))
        """
        form = Scores(
            [0], sensitivity=sensitivity, monotonic=monotonic, range_distance=range_distance
        )
        added = replace(
            Event.of((mechanism, form)),
            count=whole("rows_per_person", rows_per_person),
            purpose=purpose,
        )
        return (
            added.under(REPLACE) if neighbours == REPLACE else replace(added, neighbours=neighbours)
        )

    def under(self, neighbours: str) -> Event:
        """Convert the event to another neighbour relation; raise an error if that is not possible.

        Replacing a person is removing one and adding one, so it costs as much as two people. A guarantee
        for replacement implies nothing about adding or removing a person.
        """
        if self.neighbours == neighbours:
            return self
        if (self.neighbours, neighbours) == (ADD_REMOVE, REPLACE):
            return replace(self, guarantee=self.guarantee.for_people(2), neighbours=REPLACE)
        raise ParameterError(
            f"a guarantee for neighbours {self.neighbours!r} says nothing for {neighbours!r}"
        )


def events_of(things: Iterable[object]) -> tuple[Event, ...]:
    """Convert guarantees and releases to events under one neighbour relation; refuse incompatible ones."""
    # Ten thousand equal guarantees share one event, which is built once.
    made: dict[tuple[Guarantee, Proof | None], Event] = {}

    def event(thing: object) -> Event:
        if not isinstance(thing, Guarantee):
            return Event.of(thing)
        known = thing, thing.proof
        if known not in made:
            made[known] = Event(thing)
        return made[known]

    events = tuple(map(event, things))
    relations = {event.neighbours for event in events}
    if relations == {ADD_REMOVE, REPLACE}:
        return tuple(event.under(REPLACE) for event in events)
    if len(relations) > 1:
        named = ", ".join(sorted(repr(relation) for relation in relations))
        raise ParameterError(f"guarantees for different neighbours cannot be added: {named}")
    return events


def text(name: str, value: object, *, empty: bool = False) -> str:
    """Return the text if it is printable and short enough; raise an error otherwise."""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or not (value or empty):
        raise refuse(name, value, f"a text of at most {LONGEST_TEXT} characters")
    if not value.isprintable():
        raise ParameterError(f"{name} must be printable, on one line")
    return value


def shortened(words: str) -> str:
    r"""Return a text in a form that ``text`` accepts: on one line, and cut off if it is too long.

    Example:
        >>> shortened("mode of code, where a = 1\nand b = 2")
        'mode of code, where a = 1\\nand b = 2'
    """
    line = "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in words
    )
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 4]} ..."


def _parameter(name: str, value: object) -> Parameter:
    if isinstance(value, bool | int):
        return value
    if isinstance(value, Fraction | float):
        return str(value)
    return text(name, value, empty=True)


def core(guarantee: Guarantee) -> Guarantee:
    """Return the ε-DP part of an (ε, δ) guarantee; return any other guarantee unchanged.

    This part holds outside an event of probability δ.
    """
    return PureDP(guarantee.exact[0]) if isinstance(guarantee, ApproxDP) else guarantee
