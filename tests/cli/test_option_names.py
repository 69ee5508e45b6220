"""Errors speak of options on the command line, and what they quote stays as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.option_names import in_options, names_of
from discreet.cli.plain_help import PlainCommand
from discreet.numbers.exact import refuse

NAMES = {
    "user": "--user",
    "one_row_per_user": "--one-row-per-user",
    "n": "--n",
    "k": "--k",
    "where": "--where",
    "with_gap": "--with-gap",
    "scores": "SCORES",
}


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "either user= names the column, or one_row_per_user=True says that",
            "either --user names the column, or --one-row-per-user says that",
        ),
        (
            "user=3 is not allowed: user must be a name",
            "--user 3 is not allowed: it must be a name",
        ),
        ("give exactly one of scores and n=", "give exactly one of SCORES and --n"),
        ("n and k=(9, 9) is not allowed", "--n and --k (9, 9) is not allowed"),
        ("with_gap is not allowed with x", "--with-gap is not allowed with x"),
        ("with_gap=, user= and n=; no", "--with-gap, --user and --n; no"),
        ("where='user= 3 and n=4' is", "--where 'user= 3 and n=4' is"),
        ('where="it\'s n=4" is', '--where "it\'s n=4" is'),
        ("one person's rows, another person's n=3", "one person's rows, another person's --n 3"),
        ("epsilon=3 and x_y=4 are of no option here", "epsilon=3 and x_y=4 are of no option here"),
        ("ε = 3 of ε = 3 is spent", "ε = 3 of ε = 3 is spent"),
        ("a == b, n==3", "a == b, n==3"),
        ("no ledger at /data/user=3/one.db: make", "no ledger at /data/user=3/one.db: make"),
        ("no ledger at /data/with_gap/one.db", "no ledger at /data/with_gap/one.db"),
        ("with_gap.py:one_row_per_user failed", "with_gap.py:one_row_per_user failed"),
        ("give with_gap: it is one_row_per_user.", "give --with-gap: it is --one-row-per-user."),
    ],
)
def test_in_options(message: str, told: str) -> None:
    assert in_options(message, NAMES) == told


@given(value=st.text(max_size=40) | st.text("n='\" user", max_size=90))
def test_what_is_quoted_is_left_alone(value: str) -> None:
    told = in_options(str(refuse("where", value, "a condition")), NAMES)
    quoted = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."
    assert told == f"--where {quoted} is not allowed: it must be a condition"


@given(message=st.text())
def test_only_names_of_options_are_added(message: str) -> None:
    assert in_options(message, {}) == message
    told = in_options(message, NAMES)
    words = set(told.replace("=", " ").split()) - set(message.replace("=", " ").split())
    assert all(any(name in word for name in NAMES.values()) for word in words)


def test_aliases_and_names_that_differ_from_the_option() -> None:
    def parameter(name: str, *opts: str) -> Any:
        kind = "option" if opts else "argument"
        return type("Parameter", (), {"name": name, "opts": opts, "param_type_name": kind})

    found = names_of(
        [parameter("scores"), parameter("form", "--format"), parameter("k", "-k", "--k")]
    )
    assert found == {
        "scores": "SCORES",
        "file": "SCORES",
        "form": "--format",
        "format": "--format",
        "k": "--k",
    }


def test_an_error_that_is_not_a_sentence_passes() -> None:
    from discreet.errors import DiscreetError

    def fail() -> None:
        raise DiscreetError("n=1", 2)

    import typer

    command = PlainCommand("fail", callback=fail)
    with pytest.raises(DiscreetError) as raised:
        command.invoke(typer.Context(command))
    assert raised.value.args == ("n=1", 2)
