"""A table in hand: whose the rows are and who counts is said once, and every question is a method."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from discreet.displays import card, visible
from discreet.displays import table as html_table
from discreet.neighbours import Neighbours
from discreet.questions.bound import bound
from discreet.questions.context import Context, TableTerms
from discreet.questions.first_above import first_above
from discreet.questions.mode import mode
from discreet.questions.quantiles import median, quantile, quantiles
from discreet.questions.select_by import select_by
from discreet.questions.spending import AnyLedger
from discreet.questions.top_k import top_k
from discreet.tables.files import is_address


class PrivateTable(Context):
    """A table that is asked by private questions only; ``discreet.table`` makes it.

    Its questions are the functions of ``discreet.questions`` with the table left out. A question may have a
    ``where`` of its own (both hold then), ``by`` and ``groups``, a ``mechanism`` and a ``purpose``. What it
    shows of itself is public: the declared columns, never a row or a count.

    Example:
        >>> import polars as pl, discreet
        >>> people = pl.DataFrame({"person": range(900), "age": [20 + i % 41 for i in range(900)]})
        >>> table = discreet.table(people, user="person", ledger=None)
        >>> 35 < table.median("age", bounds=(0, 120), epsilon=5).answer < 45
        True
        >>> table.columns
        {'person': 'integer', 'age': 'integer'}
    """

    mode = mode
    bound = bound
    median = median
    quantile = quantile
    quantiles = quantiles
    top_k = top_k
    first_above = first_above
    select_by = select_by

    @property
    def columns(self) -> Mapping[str, str]:
        """The declared columns and what kind each is; a JSON lines file declares only those asked for."""
        opened = self.opened()
        return {**opened.kinds, **opened.read_as}

    def _facts(self) -> dict[str, str]:
        facts = {
            "columns": ", ".join(f"{name} ({kind})" for name, kind in self.columns.items()),
            "people": f"counted in {self.counted}"
            if self.counted is not None
            else "one row each"
            if self.user is None
            else f"told apart by {self.user}",
            "where": self.where,
            "by": self.by,
            "neighbours": f"{self.neighbours} ({Neighbours(self.neighbours).in_words})",
            "counted by": "nobody (no ledger)"
            if self.ledger is None
            else f"ledger, {self.dataset}",
        }
        return {name: visible(fact) for name, fact in facts.items() if fact is not None}

    def __repr__(self) -> str:
        lines = (f"{name}: {fact}" for name, fact in self._facts().items())
        return "\n  ".join((f"Private table: {self._source()}", *lines))

    def _repr_html_(self) -> str:
        return card(f"Private table: {self._source()}", html_table(("", ""), self._facts().items()))

    def _source(self) -> str:
        if isinstance(self.data, str) and is_address(self.data):
            from discreet.tables.databases import without_password

            return visible(f"{self.table} at {without_password(self.data)}")
        if isinstance(self.data, str | Path):
            return visible(self.data)
        return f"{type(self.data).__module__.partition('.')[0]} {type(self.data).__name__}"


def table(data: Any, *, ledger: AnyLedger | None, **terms: Unpack[TableTerms]) -> PrivateTable:
    """A table to ask, with whose its rows are and who counts said once.

    No row is read before a question is paid for; the columns named here are looked for at once. What a
    table may be is told for ``mode``.

    Args:
        ledger: who counts the budget of ``dataset``: a ledger, or the address of one. None says that nobody
            does; it is not assumed.
        **terms: ``user`` or ``one_row_per_user=True``, ``dataset``, and what else every question is told,
            see ``discreet.questions.Terms``.

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
    made = PrivateTable(data=data, ledger=ledger, **terms)
    made.opened()
    return made
