"""An error uses the caller's name for a parameter and quotes its value unchanged."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet._exact.numbers.exact import refuse
from discreet.errors import NoBudgetError, ParameterError

NAMES = {"user": "--user", "one_row_per_user": "--one-row-per-user", "n": "--n", "file": "SCORES"}


@pytest.mark.parametrize(
    ("message", "python", "shell"),
    [
        ("either ⟨user⟩ names it", "either user= names it", "either --user names it"),
        (
            "or ⟨one_row_per_user=True⟩ says so",
            "or one_row_per_user=True says so",
            "or --one-row-per-user says so",
        ),
        ("⟨user⟩3 is not allowed", "user=3 is not allowed", "--user 3 is not allowed"),
        ("⟨n⟩, ⟨user⟩ (or ⟨n⟩)", "n=, user= (or n=)", "--n, --user (or --n)"),
        ("⟨file⟩'n=4' is not there", "file='n=4' is not there", "SCORES 'n=4' is not there"),
        ("⟨delta⟩3 is of no option", "delta=3 is of no option", "delta=3 is of no option"),
        ("a == b, n=3, ⟨ ⟩, ⟨", "a == b, n=3,  =, ⟨", "a == b, n=3,  =, ⟨"),
    ],
)
def test_names(message: str, python: str, shell: str) -> None:
    error = ParameterError(message)
    assert (str(error), error.worded({}), error.worded(NAMES)) == (python, python, shell)


def test_the_names_are_a_field_and_survive_a_process() -> None:
    error = pickle.loads(pickle.dumps(NoBudgetError("⟨n⟩3 goes with ⟨one_row_per_user=True⟩")))  # noqa: S301
    assert error.parameters == ("n", "one_row_per_user")
    assert str(error) == "n=3 goes with one_row_per_user=True"


@given(value=st.text(max_size=40) | st.text("⟨n⟩= '\" user", max_size=90))
def test_what_is_quoted_names_nothing(value: str) -> None:
    error = refuse("where", value, "a condition")
    shown = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."
    shown = shown.replace("⟨", r"\u27e8")
    assert error.parameters == ("where",)
    assert error.worded(NAMES | {"where": "--where"}) == (
        f"--where {shown} is not allowed: it must be a condition"
    )


def test_every_message_marks_the_parameters_that_it_names() -> None:
    plain = re.compile(r"[^\w(⟨][a-z_]+=(?!\.\.\.)(?:[ ,;.\")]|True\b|\{)")
    messages = re.compile(r"ParameterError\(((?:\s*f?(?:\"[^\"\n]*\"|'[^'\n]*'))+)")
    source = Path(__file__).parents[1] / "src/discreet"
    for path in source.rglob("*.py"):
        if path.name == "errors.py":
            continue
        for message in messages.findall(path.read_text()):
            assert not plain.search(message), f"{path}: {message}"
