"""The release that answers a question, and a meter of the budget that paid for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet._displays import counted, visible
from discreet._exact.numbers.exact import float_up
from discreet._exact.numbers.printing import figure
from discreet.neighbours import Neighbours
from discreet.questions.rules import of_people
from discreet.release import Release

if TYPE_CHECKING:
    from discreet.questions.accuracy import Accuracy
    from discreet.questions.card import Card

NOTHING = "nothing is safe to say"
"""The text printed instead of None, if the candidates come from the data."""
NONE_OF_THEM = "none of them"
"""The text printed instead of None, if no group reaches the threshold."""
_BESIDES = ("count", "gap", "people", "voted")
INVENTED = "INVENTED ROWS: this answer says nothing about the data"
"""The mark on a rehearsed answer."""


@dataclass(frozen=True, slots=True)
class Meter:
    """The state of a budget at one payment: the amount spent before, the cost, and the amount left.

    Example:
        >>> meter = Meter(Fraction(1), Fraction(1, 2), Fraction(3, 2))
        >>> meter.cap, meter.as_data()
        (Fraction(3, 1), {'spent': '1', 'this': '0.5', 'left': '1.5', 'cap': '3', 'symbol': 'ε'})
    """

    spent: Fraction
    this: Fraction
    left: Fraction
    symbol: str = "ε"

    @property
    def cap(self) -> Fraction:
        """The whole budget."""
        return self.spent + self.this + self.left

    def as_data(self) -> dict[str, str]:
        """Return the meter as plain data, in decimals."""
        return {
            "spent": figure(self.spent),
            "this": figure(self.this),
            "left": figure(max(self.left, Fraction(0)), up=False),
            "cap": figure(self.cap, up=False),
            "symbol": self.symbol,
        }

    @staticmethod
    def from_data(data: Mapping[str, str]) -> Meter:
        """Make a meter from the rounded figures of ``as_data``; ``spent`` is computed from the others."""
        this, left, cap = (Fraction(data[name]) for name in ("this", "left", "cap"))
        return Meter(cap - this - left, this, left, data["symbol"])


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRelease(Release):
    """A private answer to a question about a table.

    Attributes:
        count: with ``with_count``, the noisy number of people who have each answer (it may be negative);
            shaped like ``answer``.
        count_within: with probability 95 % a noisy count is at most this far from the true one; a public
            figure, which follows from ε alone.
        people: with ``with_people``, the noisy number of people who were counted at all; one number per
            group.
        people_within: the same bound as ``count_within``, for ``people``.
        voted: with ``with_voted``, the noisy number of blocks that voted.
        voted_within: with probability 95 % that number is at most this far from the true one.
        gap: with ``with_gap``, a noisy lower bound on the winner's lead, in people.
        assigned: whether people were assigned to groups at random; counts then cover only those assigned.
        ordered: for several answers, whether their order was released.
        labels: a label for each of several answers, such as the level of a quantile.
        threshold: for ``FirstAbove``, the threshold; a gap is then measured from it.
        rules: what was left out, moved, assigned or taken on trust, in sentences.
        by: the column of the groups, if each group has its own answer.
        engine: the library whose frame ``frame()`` returns; DuckDB for a file or a database.
        title: the question in words.
        accuracy: the accuracy of the answer, from public facts.
        meter: the budget after the payment.
        invented: whether the rows were invented; the answer then says nothing about any data.

    Example:
        >>> from discreet import PureDP
        >>> release = TableRelease(answer="flu", guarantee=PureDP(1), mechanism="permute-and-flip",
        ...                        neighbours="add-remove", count=412, count_within=12)
        >>> release.answer, release.count
        ('flu', 412)
    """

    count: Any = None
    count_within: int | None = None
    people: Any = None
    people_within: int | None = None
    voted: int | None = None
    voted_within: int | None = None
    gap: Any = None
    assigned: bool | None = None
    ordered: bool | None = None
    labels: tuple[str, ...] | None = None
    threshold: Fraction | None = None
    rules: tuple[str, ...] = ()
    by: str | None = None
    engine: str | None = None
    title: str | None = None
    accuracy: Accuracy | None = None
    meter: Meter | None = None
    invented: bool = False

    @property
    def card(self) -> Card:
        """The answer as people see it, with its accuracy, privacy and cost."""
        from discreet.questions.card import Card

        return Card.of_release(self)

    def _repr_html_(self) -> str:
        return self.card.in_html()

    def frame(self) -> Any:
        """Return the answer as a frame of the table's kind, with a row for each value in each group.

        The columns are the group (named like ``by``), ``rank`` or ``level``, ``answer``, and what was
        released with it. For a file the frame is a DuckDB relation.

        Example:
            >>> import polars as pl
            >>> from discreet.questions import mode
            >>> visits = pl.DataFrame({"patient": range(400), "clinic": ["north"] * 200 + ["south"] * 200,
            ...                        "diagnosis": ["flu"] * 200 + ["cold"] * 200})
            >>> mode(visits, "diagnosis", candidates=["flu", "cold"], epsilon=1, user="patient", by="clinic",
            ...      groups=["north", "south"]).frame().rows()
            [('north', 'flu'), ('south', 'cold')]
        """
        from discreet.questions.frames import frame_of

        return frame_of(self)

    def __str__(self) -> str:
        counted = (
            "Nothing was spent"
            if self.invented
            else "No ledger counted this release"
            if self.entry is None
            else f"Ledger: {self.entry}"
        )
        order = {None: "", True: " In order.", False: " In no particular order."}[self.ordered]
        neighbours = self.neighbours
        if neighbours in tuple(Neighbours):
            neighbours = f"{neighbours} ({Neighbours(neighbours).in_words})"
        chosen = f"Chosen by {self.mechanism}.{order} Neighbours: {neighbours}. {counted}."
        judged = () if self.accuracy is None else (visible(f"Accuracy: {self.accuracy}."),)
        said = "\n".join((*judged, visible(chosen), *(f"- {visible(rule)}" for rule in self.rules)))
        marked = f"{INVENTED}\n" if self.invented else ""
        return f"{marked}{self._answers()}{self._counted()}\n{self.guarantee.in_words()}\n{said}"

    def in_lines(self) -> str:
        """Return the answer and everything released with it, one item per line."""
        return f"{self._answers()}{self._counted()}"

    def in_tabs(self) -> str:
        """Return the answer and what was released with it, for programs: one tab-separated line per value.

        After the group, the level and the answer come the count, the gap, the people and the blocks that
        voted, in this order. Fields after the last one that was released are left out; a field before it that
        was not released is empty.
        """
        from discreet.questions.frames import columns_of

        columns = columns_of(self)
        columns.pop("rank", None)
        nothing = NOTHING if self.threshold is None else NONE_OF_THEM
        if not columns.get("answer"):
            return nothing
        columns["answer"] = [nothing if each is None else each for each in columns["answer"]]
        last = max((place for place, name in enumerate(_BESIDES) if name in columns), default=-1)
        blank = [None] * len(columns["answer"])
        columns |= {name: columns.pop(name, blank) for name in _BESIDES[: last + 1]}
        return "\n".join(
            "\t".join("" if part is None else visible(part) for part in row)
            for row in zip(*columns.values(), strict=True)
        )

    def _answers(self) -> str:
        if isinstance(self.answer, Mapping):
            mark = ": " if self.labels is None else ", "
            lines = (
                f"{visible(group)}{mark if isinstance(answer, tuple) else ': '}{line}"
                for group, answer in self.answer.items()
                for line in self._one(answer, _of(self.count, group), _of(self.gap, group)).split(
                    "\n"
                )
            )
            return "\n".join(lines) or NOTHING
        return self._one(self.answer, self.count, self.gap)

    def _people(self, number: int) -> str:
        words = of_people(number)
        return words.replace(" ", " assigned ") if self.assigned else words

    def _perhaps_nobody(self, people: int) -> bool:
        return people <= (self.people_within or 0)

    @property
    def judged_accuracy(self) -> Accuracy | None:
        """The accuracy; it is judged at best doubtful if the released number of people may be only noise."""
        if self.accuracy is None or self.people is None:
            return self.accuracy
        released = self.people.values() if isinstance(self.people, Mapping) else [self.people]
        if not any(map(self._perhaps_nobody, released)):
            return self.accuracy
        return replace(self.accuracy, caution="perhaps no one counted")

    def _counted(self) -> str:
        """Describe how many blocks voted or people were counted; warn if there may have been no people."""
        if self.voted is not None:
            return f"\n{counted(self.voted, 'block')} voted, {_give_or_take(self.voted_within)}"
        if self.people is None:
            return ""
        by_group = self.people if isinstance(self.people, Mapping) else {None: self.people}
        lines = []
        for group, people in by_group.items():
            where = "" if group is None else f" in {visible(group)}"
            line = f"{self._people(people)} counted{where}, {_give_or_take(self.people_within)}"
            if self._perhaps_nobody(people):
                line += ": perhaps no one counted, so the answer may be noise; do the values match?"
            lines.append("\n" + line)
        return "".join(lines)

    def _one(self, answer: Any, count: Any, gap: Any) -> str:
        if answer is None or answer == ():
            return NOTHING if self.threshold is None else NONE_OF_THEM
        if isinstance(answer, tuple):
            counts, gaps = (
                given if isinstance(given, tuple) else (None,) * len(answer)
                for given in (count, gap)
            )
            lines = (self._one(*parts) for parts in zip(answer, counts, gaps, strict=True))
            if self.labels is not None:
                lines = (f"{label}: {line}" for label, line in zip(self.labels, lines, strict=True))
            return "\n".join(lines)
        words = visible(answer)
        if count is not None:
            words += f": {self._people(count)}, {_give_or_take(self.count_within)}"
        if gap is not None and self.threshold is not None:
            words += f" (with noise, {gap} or more above {self.threshold})"
        elif gap is not None:
            words += f" (noisy lead over the runner-up: {gap} or more)"
        return words

    def as_data(self) -> dict[str, Any]:
        """Return the release as plain data, for ``--json``."""
        proof = self.guarantee.proof
        data: dict[str, Any] = {
            "answer": _plain(self.answer),
            "guarantee": {
                "measure": type(self.guarantee).__name__,
                "words": self.guarantee.in_words(),
                "proof": None if proof is None else str(proof),
                "rests_on": None
                if proof is None
                else {name: list(texts) for name, texts in asdict(proof).items()},
            },
            "mechanism": self.mechanism,
            "neighbours": self.neighbours,
            "entry": None if self.entry is None else str(self.entry),
        }
        for name, number in self.guarantee.figures.items():
            data["guarantee"][name] = float_up(number)
        for name in TableRelease.__annotations__:
            value = getattr(self, name)
            if name == "accuracy" and value is not None:
                data[name] = value.proved()  # the typical error is slow to get; the plan shows it
            elif hasattr(value, "as_data"):
                data[name] = value.as_data()
            elif value is not None and (name != "invented" or value):
                data[name] = _plain(value)
        return data


def _give_or_take(within: int | None) -> str:
    return f"give or take {within} (19 times out of 20)"


def _of(values: Any, group: Any) -> Any:
    return values[group] if isinstance(values, Mapping) else None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
