"""What a question gives back: a release that may also carry a noisy count and the gap to the runner-up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.displays import visible
from discreet.neighbours import Neighbours
from discreet.release import Release

NOTHING = "nothing is safe to say"
"""How the answer None of an unknown domain is printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRelease(Release):
    """A private answer to a question about a table.

    Attributes:
        count: with ``with_count``, the noisy number of people of each answer (it may be negative); shaped
            like ``answer``.
        count_within: with probability 95 % a noisy count is at most this far from the true one; a public
            figure, which follows from ε alone.
        people: with ``with_people``, the noisy number of people who counted at all; one for each group.
        people_within: how far that may be from the true one, as ``count_within``.
        gap: with ``with_gap``, by how many people at least the noisy winner led.
        assigned: whether people were drawn into groups, so that counts are of those assigned to each.
        ordered: for several answers, whether their order was released.
        labels: what each of several answers is, such as the level of a quantile.
        rules: what was left out, moved, assigned or taken on trust, in sentences.

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
    gap: Any = None
    assigned: bool | None = None
    ordered: bool | None = None
    labels: tuple[str, ...] | None = None
    rules: tuple[str, ...] = ()

    def __str__(self) -> str:
        counted = "No ledger counts this release" if self.entry is None else f"Ledger: {self.entry}"
        order = {None: "", True: " In order.", False: " In no particular order."}[self.ordered]
        neighbours = self.neighbours
        if neighbours in tuple(Neighbours):
            neighbours = f"{neighbours} ({Neighbours(neighbours).in_words})"
        chosen = f"Chosen by {self.mechanism}.{order} Neighbours: {neighbours}. {counted}."
        said = "\n".join((visible(chosen), *(f"- {visible(rule)}" for rule in self.rules)))
        return f"{self._answers()}{self._counted()}\n{self.guarantee.in_words()}\n{said}"

    def _further(self) -> tuple[str, ...]:
        lines = f"{self._answers()}{self._counted()}".splitlines()
        return (*(lines if lines != [visible(self.answer)] else ()), *self.rules)

    def _answers(self) -> str:
        if isinstance(self.answer, Mapping):
            return "\n".join(
                f"{visible(group)}: {self._one(answer, _of(self.count, group), _of(self.gap, group))}"
                for group, answer in self.answer.items()
            )
        return self._one(self.answer, self.count, self.gap)

    @property
    def _people(self) -> str:
        return "assigned people" if self.assigned else "people"

    def _counted(self) -> str:
        """Who counted at all, and whether that is more than noise; both public once released."""
        if self.people is None:
            return ""
        by_group = self.people if isinstance(self.people, Mapping) else {None: self.people}
        lines = []
        for group, people in by_group.items():
            where = "" if group is None else f" in {visible(group)}"
            line = f"{people} {self._people} counted{where}, {_give_or_take(self.people_within)}"
            if people <= self.people_within:
                line += ": perhaps nobody, and then the answer is noise; do the values match the column's?"
            lines.append("\n" + line)
        return "".join(lines)

    def _one(self, answer: Any, count: Any, gap: Any) -> str:
        if answer is None or answer == ():
            return NOTHING
        if isinstance(answer, tuple):
            counts = count if isinstance(count, tuple) else (None,) * len(answer)
            lines = (self._one(*pair, None) for pair in zip(answer, counts, strict=True))
            if self.labels is not None:
                lines = (f"{label}: {line}" for label, line in zip(self.labels, lines, strict=True))
            return "\n".join(lines)
        words = visible(answer)
        if count is not None:
            words += f": {count} {self._people}, {_give_or_take(self.count_within)}"
        if gap is not None:
            words += f" (noisy lead over the runner-up: {gap} or more)"
        return words

    def as_data(self) -> dict[str, Any]:
        """The release as plain data, for ``--json``."""
        data: dict[str, Any] = {
            "answer": _plain(self.answer),
            "guarantee": {
                "measure": type(self.guarantee).__name__,
                "words": self.guarantee.in_words(),
                "proof": None if self.guarantee.proof is None else str(self.guarantee.proof),
            },
            "mechanism": self.mechanism,
            "neighbours": self.neighbours,
            "entry": None if self.entry is None else str(self.entry),
        }
        for name in ("epsilon", "rho", "delta"):
            if hasattr(self.guarantee, name):
                data["guarantee"][name] = getattr(self.guarantee, name)
        for name in TableRelease.__annotations__:
            if getattr(self, name) is not None:
                data[name] = _plain(getattr(self, name))
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
