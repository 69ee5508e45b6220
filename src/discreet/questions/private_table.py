"""A private table: its person column and its ledger are set once, and questions are methods."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet._displays import card, visible
from discreet._displays import table as html_table
from discreet._exact.sampling import SecureBits
from discreet._tables.databases import is_address, without_password
from discreet.accounting.events import Event, shortened
from discreet.errors import ParameterError
from discreet.neighbours import ADD_REMOVE, Neighbours
from discreet.questions.answer import TableRelease
from discreet.questions.kinds import ByName
from discreet.questions.plan import Plan, Setting, Watch, plan_of, unwatched
from discreet.questions.question import Question
from discreet.questions.rehearsal import invented_rows
from discreet.questions.run import (
    AnyLedger,
    meter_of,
    opened,
    require_counted,
    run,
)


class OtherTableWarning(UserWarning):
    """A budget is charged for a table with a different name than before.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("error", OtherTableWarning)  # to stop before anything is spent
    """


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivateTable(Setting, ByName):
    """A table that only answers private questions; ``discreet.table`` makes it.

    ``plan`` shows what a question will cost and how good its answer will be, ``ask`` asks it, and every kind
    of question has a method. Its printed form is public: the declared columns, never a row or a count.

    Example:
        >>> import polars as pl, discreet
        >>> people = pl.DataFrame({"person": range(900), "age": [20 + i % 41 for i in range(900)]})
        >>> table = discreet.table(people, user="person", ledger=None)
        >>> 35 < table.median("age", bounds=(0, 120), epsilon=5).answer < 45
        True
        >>> table.columns
        {'person': 'integer', 'age': 'integer'}
    """

    ledger: AnyLedger | None = None
    dataset: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counted(self.ledger, self.dataset)

    # ---- before and after the payment ----------------------------------------------------------

    def plan(self, question: Question) -> Plan:
        """Show what a question will cost and how accurate it will be; no row is read and nothing is paid."""
        with opened(self.ledger) as ledger:
            plan, budget = self._planned(question, ledger)
            plan = replace(plan, table=self)
            if budget is None:
                return plan
            plan = replace(
                plan, event=self._named(plan), rules=plan.rules + self._elsewhere(ledger)
            )
            return replace(
                plan,
                meter=meter_of(budget, plan.event, paid=False),
                left=str(budget.left),
                fits=ledger.plan(self.dataset, plan.event).fits,
            )

    def ask(self, question: Question, *, watch: Watch = unwatched) -> TableRelease:
        """Ask a question: pay for it, then read the table, choose an answer and release it.

        ``watch`` is called with the current step, how much of it is done, and its total. Seeing when each
        block of a vote ends reveals something about its rows that the budget does not cover.
        """
        with opened(self.ledger) as ledger:
            plan, budget = self._planned(question, ledger)
            if ledger is not None:
                remarks = self._elsewhere(ledger)
                for remark in remarks:
                    warnings.warn(remark, OtherTableWarning, stacklevel=3)
                plan = replace(plan, event=self._named(plan), rules=plan.rules + remarks)
            return run(plan, ledger=ledger, dataset=self.dataset, watch=watch, budget=budget)

    def _planned(self, question: Question, ledger: Any) -> tuple[Plan, Any]:
        budget = ledger.show(self.dataset) if hasattr(ledger, "show") else None
        accountant = None if budget is None else budget.accountant
        _require_question(question)
        return plan_of(question, self._setting(accountant)), budget

    def rehearse(self, question: Question) -> TableRelease:
        """Ask a question about invented rows, at no cost, with the code that answers real questions.

        The rows are made from the declared columns and the question's public facts; the answer is marked as
        invented and says nothing about the data.

        Example:
            >>> import discreet, polars as pl
            >>> from discreet.questions import Mode
            >>> visits = pl.DataFrame({"patient": [1], "diagnosis": ["gout"]})
            >>> table = discreet.table(visits, user="patient", ledger=None)
            >>> rehearsed = table.rehearse(Mode("diagnosis", candidates=["flu", "cold"], epsilon=10))
            >>> rehearsed.answer, rehearsed.invented
            ('flu', True)
        """
        _require_question(question)
        setting = self._setting(None)
        rows = question.public_rows(setting, SecureBits())
        if rows is None:
            rows = invented_rows(question, setting, SecureBits())
        doubts = plan_of(question, setting).doubts  # the invented rows have types of their own
        setting = replace(
            setting, data=rows, engine=None, table=None, read_as=None, time_limit=None, kept={}
        )
        release = run(replace(plan_of(question, setting), doubts=doubts), ledger=None, dataset=None)
        return replace(release, invented=True)

    def _setting(self, accountant: str | None) -> Setting:
        """Return all that a plan may use: the table without its ledger. The table is opened only once."""
        facts = {each.name: getattr(self, each.name) for each in fields(Setting)}
        return Setting(**facts | {"accountant": accountant, "kept": {}})

    def _named(self, plan: Plan) -> Event:
        """Return the plan's event with the table's name, if it has one, for the ledger to record."""
        if self.name is None:
            return plan.event
        return replace(plan.event, parameters={**plan.event.parameters, "table": self.name})

    def _elsewhere(self, ledger: Any) -> tuple[str, ...]:
        """Return a warning if the budget has so far been charged for other tables only."""
        if self.name is None or not hasattr(ledger, "tables"):
            return ()
        known = ledger.tables(self.dataset)
        if not known or self.name in known:
            return ()
        others = ", ".join(map(repr, known))
        return (
            f"Until now the budget {self.dataset!r} has paid for questions about {others}; this one is about "
            f"{self.name!r}. Share a budget only between tables about the same people.",
        )

    # ---- what is public about it ---------------------------------------------------------------

    @property
    def columns(self) -> Mapping[str, str]:
        """The declared columns and their kinds; for JSON lines, only the columns in this table's settings."""
        table = self.opened()
        return {**table.kinds, **table.read_as}

    @cached_property
    def name(self) -> str | None:
        """The file's name without folder and ending, or the database table's name; None if in memory."""
        if self.table is not None:
            return shortened(self.table)
        if isinstance(self.data, str | Path) and not is_address(str(self.data)):
            name = shortened(Path(self.data).stem)
            return None if name in ("", "standard-input") else name
        return None

    @property
    def left(self) -> str | None:
        """The data set's remaining budget, such as ``"ε = 2"``; None without a ledger."""
        with opened(self.ledger) as ledger:
            return None if ledger is None else str(ledger.show(self.dataset).left)

    def _facts(self) -> dict[str, str]:
        facts = {
            "columns": ", ".join(f"{name} ({kind})" for name, kind in self.columns.items()),
            "people": f"counted in {self.counted}"
            if self.counted is not None
            else "one row each"
            if self.user is None
            else f"told apart by {self.user}",
            "where": self.where,
            "neighbours": f"{self.neighbours} ({Neighbours(self.neighbours).in_words})",
            "counted by": "no ledger" if self.ledger is None else f"ledger, {self.dataset}",
        }
        return {name: visible(fact) for name, fact in facts.items() if fact is not None}

    def __repr__(self) -> str:
        lines = (f"{name}: {fact}" for name, fact in self._facts().items())
        return "\n  ".join((f"Private table: {self._source()}", *lines))

    def _repr_html_(self) -> str:
        return card(f"Private table: {self._source()}", html_table(("", ""), self._facts().items()))

    def _source(self) -> str:
        if isinstance(self.data, str) and is_address(self.data):
            return visible(f"{self.table} at {without_password(self.data)}")
        if isinstance(self.data, str | Path):
            return visible(self.data)
        return f"{type(self.data).__module__.partition('.')[0]} {type(self.data).__name__}"


def _require_question(given: object) -> None:
    if not isinstance(given, Question):
        kind = (
            given.__name__
            if isinstance(given, type)
            else f"an object of type {type(given).__name__}"
        )
        raise ParameterError(
            f"a question is needed, and this is {kind}: write one such as "
            'Mode("diagnosis", candidates=["flu", "cold"], epsilon=1)'
        )


def table(
    data: Any,
    *,
    ledger: AnyLedger | None = None,
    dataset: str | None = None,
    user: str | None = None,
    one_row_per_user: bool = False,
    counted: str | None = None,
    neighbours: str = ADD_REMOVE,
    where: str | None = None,
    engine: str | None = None,
    table: str | None = None,
    read_as: str | None = None,
    time_limit: object = None,
    people: int | None = None,
    listed: Mapping[str, Sequence[Any]] | None = None,
) -> PrivateTable:
    """Make a private table, which answers questions about ``data`` with differential privacy.

    No row is read before a question is paid for; the columns named here are checked immediately.

    Args:
        data: a path or glob (CSV, Parquet, JSON lines), a DuckDB relation, a Polars, pandas or PySpark frame,
            an Arrow table or data set, an Ibis table, or the address of a database or a SQLAlchemy engine
            with ``table``; an array or a list is one column, ``value``; a list holds texts unless ``read_as``
            states another type.
        ledger: the ledger that counts the budget of ``dataset``, or its address. Without one no budget is
            counted, and the table and every answer say so.
        dataset: the data set's name in the ledger.
        user: the column that tells people apart.
        one_row_per_user: instead of ``user``: every row is a different person.
        counted: instead of ``user``, for a table of counts: the column with the number of people that a row
            stands for. You state that each person counts in one row only.
        neighbours: ``"add-remove"`` (default) if neighbours differ by adding or removing one person, or
            ``"replace"`` if by replacing one.
        where: a condition that is checked on each row by itself, such as ``"age >= 18 and clinic in ('north',
            'south')"``.
        engine: ``spark`` reads a path in a cluster; by default every table is read where it is.
        table: with the address of a database, or a SQLAlchemy engine: the table's name, ``schema.name`` if
            it has a schema.
        read_as: the type of a list, or of an array of objects: ``text`` (default), ``integer``, ``number``,
            ``decimal``, ``boolean``, ``date``, ``moment`` (a date with a time), ``time`` (of day), ``span``.
            Values of another type count as missing.
        time_limit: how many seconds a database may take; after that nothing is released.
        people: about how many people the table has, if that is public; typical errors are computed for this
            number. It changes no answer and no cost.
        listed: public lists of columns' values, by column: ``{"clinic": ["north", "south"]}``.
            Candidates, groups and values in conditions that are not listed cause a warning before the
            payment.

    Example:
        >>> import tempfile, discreet, polars as pl
        >>> from discreet.ledger import Ledger
        >>> data = pl.DataFrame({"patient": range(200), "diagnosis": ["flu"] * 180 + ["cold"] * 20})
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     _ = ledger.create("clinic", discreet.PureDP(3))
        ...     visits = discreet.table(data, user="patient", ledger=ledger, dataset="clinic")
        ...     print(visits.mode("diagnosis", candidates=["flu", "cold"], epsilon=1).answer)
        ...     print(visits.left)
        flu
        ε = 2
    """
    made = PrivateTable(
        data=data,
        ledger=ledger,
        dataset=dataset,
        user=user,
        one_row_per_user=one_row_per_user,
        counted=counted,
        neighbours=neighbours,
        where=where,
        engine=engine,
        table=table,
        read_as=read_as,
        time_limit=time_limit,
        people=people,
        listed=listed or {},
    )
    made.opened()
    return made
