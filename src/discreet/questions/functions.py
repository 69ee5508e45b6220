"""Every kind of question as a function of data: ``mode(data, column, ..., user=..., ledger=...)``.

Each function does the same as ``table(data, ...).ask(...)``. ``functions.pyi`` gives type checkers the full
signatures; a test compares it with the functions made here.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from discreet.neighbours import ADD_REMOVE, Neighbours
from discreet.questions.answer import TableRelease
from discreet.questions.derived import of_data, require_known
from discreet.questions.kinds import SelectBy, kinds_by_name
from discreet.questions.private_table import PrivateTable, table
from discreet.questions.run import AnyLedger, run

_TERMS = signature(table)
_OWN = tuple(signature(SelectBy).parameters)


def _unopened(data: Any, *, listed: Any = None, **terms: Any) -> PrivateTable:
    """Make a private table without opening it; the question opens it."""
    return PrivateTable(data=data, listed=listed or {}, **terms)


__all__ = list(kinds_by_name())
for _name, _kind in kinds_by_name().items():
    if _kind is not SelectBy:
        globals()[_name] = of_data(_kind, _unopened, _TERMS)


def select_by(
    data: Any,
    *,
    neighbours: str = ADD_REMOVE,
    ledger: AnyLedger | None = None,
    dataset: str | None = None,
    **fields: Any,
) -> TableRelease:
    """Ask ``SelectBy`` about any data that ``score`` accepts; a path is passed to ``score`` unopened.

    Args:
        data: anything that ``score`` accepts.
        neighbours: the relation for which the sensitivity is stated.
        ledger: the ledger that counts the budget of ``dataset``, or its address.
        dataset: the data set's name in the ledger.
        **fields: the fields of ``SelectBy``.

    Example:
        >>> def shorter(names, length):
        ...     return sum(len(name) < length for name in names)
        >>> select_by(["Ann", "Bob", "Carla"] * 99, candidates=[2, 4, 6], score=shorter, sensitivity=1,
        ...           monotonic=True, epsilon=1).answer
        6
    """
    require_known(fields, [*_OWN, "neighbours", "ledger", "dataset"])
    plan = SelectBy(**fields).planned(data, Neighbours.named(neighbours))
    return run(plan, ledger=ledger, dataset=dataset)
