"""Everything about questions is derived from their fields: a new kind or field appears everywhere."""

from __future__ import annotations

import inspect

import polars as pl
import pytest

from discreet import questions, table
from discreet.errors import UnknownParameterError
from discreet.questions import Mode, PrivateTable, TableRelease
from discreet.questions.question import fields_of
from tests.tools import stubs

VISITS = pl.DataFrame({"patient": range(300), "diagnosis": ["flu"] * 250 + ["cold"] * 50})


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
