"""Random questions about a small table, to compare the price in the plan with the charge in the ledger.

``python -m tests.tools.random_questions 2000`` compares 2,000 questions with every accountant.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet import ZCDP, ApproxDP, PureDP, questions
from discreet.accounting.accountants import ACCOUNTANTS, amount_of_data, exact_cost
from discreet.errors import ParameterError
from discreet.guarantees import Guarantee
from discreet.ledger import Ledger
from discreet.questions import (
    Bound,
    FirstAbove,
    Median,
    Mode,
    PrivateTable,
    Quantile,
    Quantiles,
    Question,
    TopK,
)

VISITS = pl.DataFrame(
    {
        "person": [1, 1, 2, 3, 4, 5],
        "code": ["flu", "cold", "flu", None, "gout", "flu"],
        "clinic": ["north", "south", "north", "south", "east", None],
        "age": [31, 31, 45, 52, None, 7],
    }
)
CAPS: dict[str, Guarantee] = {
    "epsilon": PureDP(10**6),
    "rho": ZCDP(10**6),
    "rho-delta": ApproxDP(10**5, "0.9"),
    "epsilon-delta": ApproxDP(10**6, "0.9"),
}
_GROUPS: list[dict[str, Any]] = [
    {},
    {},
    {},
    {"by": "clinic", "groups": ["north", "south", "east"]},
    {"by": "clinic", "groups": ["north", "south", "east"], "groups_per_person": 2},
    {"by": "clinic", "groups": ["north", "south", "east"], "groups_per_person": "choose"},
    {"by": "clinic", "delta": "1e-9"},
    {"by": "clinic", "delta": "1e-9", "groups_per_person": 3, "groups_share": "0.3"},
]
_WITH_PEOPLE: list[dict[str, Any]] = [
    {},
    {},
    {"with_people": True},
    {"with_people": True, "people_share": "1/3"},
]
_MECHANISMS: list[dict[str, Any]] = [
    {"mechanism": name}
    for name in (None, None, "exponential", "noisy-max-laplace", "noisy-max-gumbel", "large-gap")
]
_COUNTED: list[dict[str, Any]] = [
    {},
    {},
    {"with_count": True},
    {"with_count": True, "count_share": "1/3"},
    {"with_count": True, "count_share": "0.11"},
]
_LISTED: list[dict[str, Any]] = [
    {"column": "code", "candidates": ["flu", "cold", "gout", "rash"]},
    {"column": "code", "candidates": ["flu", "cold", "gout", "rash"]},
    {"column": "code", "delta": "1e-9"},
    {"column": "code", "delta": "1/3000000"},
]
_AGES: list[list[dict[str, Any]]] = [
    [{"column": "age", "bounds": (0, 100)}],
    [{"per_person": name} for name in ("least", "random", "mean")],
    _MECHANISMS,
]
_OWN: dict[type[Question], list[list[dict[str, Any]]]] = {
    Mode: [_LISTED, _COUNTED, _MECHANISMS],
    TopK: [
        _LISTED,
        _COUNTED,
        _MECHANISMS,
        [{"k": k} for k in (1, 2, 3, 4)],
        [{"method": method} for method in (None, "peeling", "one-shot", "joint")],
    ],
    Median: _AGES,
    Quantile: [*_AGES, [{"at": level} for level in ("0.5", "1/3", "0.99")]],
    Quantiles: [
        *_AGES,
        [
            {"at": [Fraction(place, number + 1) for place in range(1, number + 1)]}
            for number in (2, 3, 5, 7, 9)
        ],
    ],
    Bound: [[{"column": "age"}], [{"covers": level} for level in ("0.9", "0.999")]],
    FirstAbove: [
        [{"column": "code", "groups": ["flu", "cold", "gout"], "above": 2}],
        [{"crossings": number} for number in (None, 1, 2, 3)],
    ],
}


def random_questions(seed: str) -> Iterator[tuple[Question, str]]:
    """Yield questions that can be planned, each with a neighbour relation; the same for the same seed."""
    made = random.Random(seed)  # noqa: S311 - which questions there are
    while True:
        kind = made.choice(list(_OWN))
        given: dict[str, Any] = {"epsilon": _epsilon(made)}
        for options in _OWN[kind]:
            given |= made.choice(options)
        if kind is not FirstAbove:
            given |= made.choice(_GROUPS)
        given |= made.choice(_WITH_PEOPLE)
        relation = made.choice(["add-remove", "add-remove", "replace"])
        try:
            question = kind(**given)
            _table(None, None, relation).plan(question)
        except ParameterError:  # some options cannot be combined
            continue
        yield question, relation


def _epsilon(made: random.Random) -> Any:
    """Draw an ε: a round figure, a fraction, or a figure with more digits than the ledger's grid."""
    return made.choice(
        [
            made.choice(["0.1", "0.3", 1, 2, 3]),
            Fraction(made.randrange(1, 50), made.randrange(1, 50)),
            Fraction(made.randrange(1, 10**15), 10**15),
            f"0.{made.randrange(1, 10**14)}",
        ]
    )


def _table(ledger: Ledger | None, dataset: str | None, relation: str) -> PrivateTable:
    return questions.table(
        VISITS, user="person", neighbours=relation, ledger=ledger, dataset=dataset
    )


def compared(folder: Path, number: int, seed: str) -> dict[str, int]:
    """Compare price and charge on every accountant; return how many questions each could count."""
    counted = dict.fromkeys(CAPS, 0)
    assert set(CAPS) == set(ACCOUNTANTS)
    with Ledger.open(folder / "budget.db") as ledger:
        for relation in ("add-remove", "replace"):
            for name, cap in CAPS.items():
                ledger.create(f"{name} {relation}", cap, accountant=name, neighbours=relation)
        asked = random_questions(seed)
        for _ in range(number):
            question, relation = next(asked)
            for name in CAPS:
                counted[name] += _agree(ledger, name, relation, question)
    return counted


def _agree(ledger: Ledger, name: str, relation: str, question: Question) -> bool:
    """Check that the accountant charges what the plan says; return whether it can count the question."""
    dataset = f"{name} {relation}"
    table = _table(ledger, dataset, relation)
    before = ledger.show(dataset)
    try:
        plan = table.plan(question)
    except ParameterError as refused:
        words = str(refused)
        with pytest.raises(ParameterError, match=re.escape(words)):
            table.ask(question)
        assert ledger.show(dataset).total == before.total, question
        return False
    assert plan.fits is True, question
    release = table.ask(question)
    after = ledger.show(dataset)
    charged = amount_of_data(release.entry.details["spent"])
    assert plan.price == exact_cost(charged.cost) == exact_cost((after.total - before.total).cost)
    assert (after.total - before.total).delta == charged.delta, question
    assert plan.guarantee == release.guarantee, question
    assert release.meter is not None
    assert plan.meter is not None
    assert release.meter == plan.meter, question
    return True


def main() -> None:
    """Compare as many questions as requested."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        print(compared(Path(folder), number, "price and charge"))


if __name__ == "__main__":
    main()
