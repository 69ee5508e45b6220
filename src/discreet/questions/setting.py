"""The setting of a question: the declared table, its person column, the relation, and the accountant.

A setting is public: it has no ledger and no randomness, and nothing in it comes from a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from discreet._exact.numbers.exact import positive, refuse, whole
from discreet._tables import Table, open_table
from discreet._tables.compared import require_condition
from discreet._tables.where import Condition, comparisons, parse
from discreet.errors import ParameterError
from discreet.neighbours import ADD_REMOVE, Neighbours

USUAL_PEOPLE = 1000
"""The default number of people for which a typical error is computed."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Setting:
    """A table and the facts about it that its owner states once, under the names of ``discreet.table``.

    The ledger stays outside: a plan knows only its ``accountant``, which adds up the budget, or None without
    a ledger. With ``kept`` each table is opened once: for one question, or while plans are compared.
    """

    data: Any
    user: str | None = None
    one_row_per_user: bool = False
    counted: str | None = None
    neighbours: str = ADD_REMOVE
    where: str | None = None
    engine: str | None = None
    table: str | None = None
    read_as: str | None = None
    time_limit: object = None
    people: int | None = None
    listed: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    accountant: str | None = None
    kept: dict[Any, Table] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.neighbours, Neighbours):
            object.__setattr__(self, "neighbours", Neighbours.named(self.neighbours))
        if not isinstance(self.one_row_per_user, bool):
            raise refuse("one_row_per_user", self.one_row_per_user, "True or False")
        if [self.user is not None, self.one_row_per_user, self.counted is not None].count(
            True
        ) != 1:
            raise ParameterError(
                "say which person a row belongs to: ⟨user⟩ names the column that tells people "
                "apart, ⟨one_row_per_user=True⟩ says that no person has two rows, or ⟨counted⟩ "
                "names the column with the number of people that a row stands for"
            )
        if self.time_limit is not None:
            positive("time_limit", self.time_limit)
        for column, values in self.listed.items():
            if isinstance(values, str) or not isinstance(values, Sequence):
                raise refuse("listed", values, f"a list of the values of {column!r}")
        if self.people is not None:
            object.__setattr__(self, "people", whole("people", self.people))

    @property
    def adds_up_rho(self) -> bool:
        """Whether the budget adds up ρ, which makes many small costs cheaper than adding their ε."""
        return self.accountant in ("rho", "rho-delta")

    @cached_property
    def condition(self) -> Condition | None:
        """The condition on rows, parsed."""
        return None if self.where is None else parse(self.where)

    @property
    def several_rows(self) -> bool:
        """Whether a person may have several rows."""
        return self.user is not None

    @property
    def assumes(self) -> tuple[str, ...]:
        """What is taken on trust: which rows belong to whom, which only the owner of the table knows."""
        if self.user is not None:
            return (f"the column {self.user} tells people apart",)
        return ("nobody has two rows" if self.counted is None else "nobody counts in two rows",)

    def narrowed(self, where: str | None) -> Self:
        """Return the same setting with a further condition on rows."""
        if where is None:
            return self
        both = where if self.where is None else f"({self.where}) and ({where})"
        return replace(self, where=both)

    def opened(self, *columns: str | None, tells_apart: Iterable[str | None] = ()) -> Table:
        """The table with the columns that a question needs; no row is read."""
        tells_apart = tuple(tells_apart)
        key = (id(self.data), columns, tells_apart, self.where)
        if self.kept is not None and key in self.kept:
            return self.kept[key]
        condition = self.condition
        used = [
            name for name in (*columns, self.user, self.counted, *tells_apart) if name is not None
        ]
        if condition is not None:
            used += [comparison.column for comparison in comparisons(condition)]
        table = open_table(
            self.data, needed=used, engine=self.engine, table=self.table, read_as=self.read_as
        )
        table.require_time_limit(self.time_limit)
        if self.user is not None:
            table.require_told_apart(self.user, name="user")
        for by in tells_apart:
            if by is not None:
                table.require_told_apart(by, name="by")
        if self.counted is not None:
            table.require_number(self.counted)
        if condition is not None:
            require_condition(table, condition)
        if self.kept is not None:
            self.kept[key] = table
        return table

    @property
    def seconds(self) -> float | None:
        """The time limit as a float."""
        return None if self.time_limit is None else float(positive("time_limit", self.time_limit))
