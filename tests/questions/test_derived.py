"""Everything that knows about questions reads their fields: a new kind or field appears everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from discreet import PureDP, questions, table
from discreet._cli.ask import ask_command
from discreet.desk.shapes import own_fields, request_of
from discreet.errors import UnknownParameterError
from discreet.questions import Mode, PrivateTable, Question, TableRelease
from discreet.questions.derived import asks, of_data
from discreet.questions.of_rows import Asking
from discreet.questions.plan import Plan
from discreet.questions.question import KINDS, field, fields_of, flag, value
from discreet.questions.scoring import choices, count_sensitivity
from tests.tools import stubs

VISITS = pl.DataFrame({"patient": range(300), "diagnosis": ["flu"] * 250 + ["cold"] * 50})


@pytest.fixture
def least() -> Iterator[type[Question]]:
    """A kind of question that costs one class: the candidate that fewest people have."""

    @value
    class Least(Mode, kind="least"):
        """The candidate that fewest people have, chosen privately."""

        completed_by = ("candidates", "bounds")
        loudly: bool = flag("Say it in capitals.", default=False, analyst=True)
        secretly: bool = flag("A field without a mark.", default=False)
        purely: str | None = field("Another one.", default=None)

        def planned(self, asking: Asking) -> Plan:
            """Plan one choice by how many people do not have a candidate."""
            chooser, moved = asking.chooser(asking.epsilon_each), count_sensitivity(asking.inner)
            contest = self.contest(asking.table)

            def pick(people: Any, bits: Any) -> Any:
                for index in choices(chooser, -people, moved.range_distance, bits):
                    label = contest.label(index)
                    yield [(label.upper() if self.loudly else label, 0)], {}

            return asking.plan(
                "least",
                **asking.naming(pick, (PureDP(asking.epsilon_each), 1)),
                mechanism=chooser.name,
                read=contest.count,
                people=contest.anybody,
                rules=contest.rules,
            )

    yield Least
    del KINDS["least"]


def test_a_new_kind_of_question_is_one_class(least: Any, tmp_path: Path) -> None:
    question = least("diagnosis", candidates=["flu", "cold"], epsilon=5, loudly=True)
    assert repr(question).startswith("Least('diagnosis', loudly=True, candidates=['flu', 'cold']")
    assert Question.from_dict(question.to_dict()) == question
    visits = table(VISITS, user="patient", ledger=None)
    assert visits.plan(question).guarantee == PureDP(5)
    assert visits.ask(question).answer == "COLD"
    assert visits.rehearse(question).invented
    # As a method, as a function, on the command line and at a desk: from the same fields.
    assert asks(least)(visits, "diagnosis", candidates=["flu", "cold"], epsilon=5).answer == "cold"
    ask = of_data(least, table, inspect.signature(table))
    assert (
        ask(VISITS, "diagnosis", candidates=["flu", "cold"], epsilon=5, user="patient").answer
        == "cold"
    )
    VISITS.write_parquet(tmp_path / "visits.parquet")
    done = CliRunner().invoke(
        ask_command("least", least, "The least.", "discreet least"),
        f"{tmp_path}/visits.parquet --no-ledger --user patient --column diagnosis "
        "--candidates flu,cold --epsilon 5 --loudly",
    )
    assert done.stdout == "COLD\n", done.output
    request: Any = request_of(least)
    sent = request(kind="least", table="visits", column="diagnosis", epsilon=1, loudly=True)
    assert sent.loudly is True


def test_a_field_without_a_mark_is_the_owners(least: Any) -> None:
    own = {each.name for each in own_fields(least)}
    assert "loudly" in own
    assert (
        not {"secretly", "purely", "candidates", "bounds", "groups", "mechanism", "purpose"} & own
    )
    with pytest.raises(TypeError, match="secretly"):
        request_of(least)(kind="least", table="t", column="c", epsilon=1, secretly=True)


def test_methods_and_functions_show_every_field_with_its_words() -> None:
    for kind in (Mode, questions.TopK, questions.Quantiles, questions.FirstAbove, questions.Bound):
        names = [each.name for each in fields_of(kind)]
        method, function = getattr(PrivateTable, kind.kind), getattr(questions, kind.kind)
        assert list(inspect.signature(method).parameters)[1:] == names
        assert list(inspect.signature(function).parameters)[1 : len(names) + 1] == names
        for shown in (inspect.getdoc(method), inspect.getdoc(function)):
            assert shown is not None
            assert all(f"\n    {name}: " in shown for name in names)
            assert "\n\nExample:\n    >>> " in shown  # whether Python strips docstrings or not


def test_the_stub_for_type_checkers_is_what_the_fields_say() -> None:
    assert stubs.FILE.read_text(encoding="utf-8") == stubs.stub()


def test_a_misspelt_parameter_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownParameterError, match="did you mean candidates="):
        questions.mode(VISITS, "diagnosis", candidate=["flu"], epsilon=1, user="patient")  # type: ignore[call-arg]


def test_the_method_answers_as_ask_does() -> None:
    visits = table(VISITS, user="patient", ledger=None)
    released: TableRelease = visits.mode("diagnosis", candidates=["flu", "cold"], epsilon=5)
    assert (
        released.answer
        == visits.ask(Mode("diagnosis", candidates=["flu", "cold"], epsilon=5)).answer
    )
