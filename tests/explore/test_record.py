"""A decision record: its budget covers exactly the agreed releases, and any change is detected."""

from __future__ import annotations

import copy
import json
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from discreet._cli import app
from discreet.accounting import Event
from discreet.errors import BudgetExceededError, ParameterError
from discreet.explore.choices import choices_from
from discreet.explore.record import digest, entries, problems, record_of
from discreet.explore.seen_scores import SeenScores
from discreet.explore.uploads import ScoreFile, UploadStore
from discreet.ledger import Ledger
from discreet.mechanisms import mechanism_named


def _record(state: dict[str, Any], *, with_scores: bool = True, **parts: Any) -> dict[str, Any]:
    choices = choices_from({**state, **parts}, UploadStore())
    written = {"purpose": "mode", "people": "A. Officer", "dataset": "visits"}
    return record_of(choices, SeenScores(choices.values), written=written, with_scores=with_scores)


def _agrees(checked: list[tuple[str, str]]) -> bool:
    return not any(wrong for _, wrong in checked)


def _verify(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["verify", *arguments])


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"choice": "exponential", "releases": 40, "monotonic": False},
        {"choice": "large-gap", "releases": 3},
        {"choice": "exponential-randomized-response"},
        {"source": "example:salaries", "edits": {"3": 2.5}, "delta": "0", "tolerance": "0"},
    ],
)
def test_a_record_survives_json_and_agrees_with_itself(
    state: dict[str, Any], parts: dict[str, Any]
) -> None:
    record = json.loads(json.dumps(_record(state, **parts), allow_nan=False))
    assert _agrees(problems(record))
    listed = dict(entries(record))
    assert listed["Hash of the record"] == digest(record)
    assert ("Budget" in listed) == record["guarantee"]["private"]
    # A promise names its proof; a record of an older version does not.
    rests = {term: text for term, text in listed.items() if term.startswith("What ")}
    assert bool(rests) == record["guarantee"]["private"]
    assert all(text.startswith("docs/proofs/") for text in rests.values())
    older = {name: part for name, part in record.items() if name != "proof"}
    assert not rests.keys() & dict(entries(older)).keys()
    assert sum(term.startswith("Rejected") for term in listed) >= 2


def test_the_decision_says_whether_the_risk_is_tolerated(state: dict[str, Any]) -> None:
    def decision(**parts: Any) -> str:
        return dict(entries(_record(state, **parts)))["Decision"]

    assert decision().endswith("at most 92.5% sure. That is more than the 90% tolerated.")
    assert decision(risk="0.95").endswith("92.5% sure. That is within the 95% tolerated.")
    assert decision(choice="large-gap").endswith("That is more than the 90% tolerated.")
    assert "tolerated" not in decision(choice="exponential-randomized-response-naive")
    older = _record(state)
    del older["choices"]["risk"]
    assert dict(entries(older))["Decision"] == older["verdict"]


def test_any_change_shows(state: dict[str, Any]) -> None:
    record = _record(state)
    changed = copy.deepcopy(record)
    changed["purpose"] = "another"
    assert dict(problems(changed))["hash"]
    # If someone also writes a new hash, the figures give it away.
    for part, name, value in (
        ("figures", "expected_error", 0.1),
        ("budget", "epsilon", "25"),
        ("choices", "epsilon", "0.3"),
    ):
        forged = copy.deepcopy(record)
        forged[part][name] = value
        forged["hash"] = digest(forged)
        checked = dict(problems(forged))
        assert not checked["hash"]
        assert any(checked.values())


def test_without_scores_they_must_be_given(state: dict[str, Any]) -> None:
    record = _record(state, with_scores=False)
    assert record["scores"]["values"] is None
    with pytest.raises(ParameterError, match="--scores"):
        problems(record)
    choices = choices_from(state, UploadStore())
    assert _agrees(problems(record, scores=ScoreFile("a.csv", choices.labels, choices.values)))
    other = ScoreFile("b.csv", choices.labels, choices.values[::-1] * 2)
    assert not _agrees(problems(record, scores=other))


@pytest.mark.parametrize("damage", [[], {}, {"format": "discreet decision record 1"}, None])
def test_what_is_no_record_is_refused(damage: object) -> None:
    with pytest.raises(ParameterError):
        problems(damage)


@pytest.mark.parametrize(
    ("choice", "epsilon", "releases"),
    [
        ("permute-and-flip", "0.25", 10),
        ("permute-and-flip", "1/3", 3),  # which the ledger rounds up at each payment
        ("exponential", "0.25", 40),
        ("large-gap", "0.25", 3),
        ("large-gap", "1/3", 3),
    ],
)
def test_the_budget_pays_for_what_was_decided_and_no_more(
    state: dict[str, Any], tmp_path: Path, choice: str, epsilon: str, releases: int
) -> None:
    record = _record(state, choice=choice, epsilon=epsilon, releases=releases)
    (tmp_path / "record.json").write_text(json.dumps(record))
    path, ledger = str(tmp_path / "record.json"), str(tmp_path / "budget.db")
    Ledger.open(ledger).close()
    missing = _verify(path, "--ledger", ledger)
    assert missing.exit_code == 1
    assert "no budget" in missing.output
    command = [*shlex.split(record["command"])[1:], "--ledger", ledger]
    assert CliRunner().invoke(app, command).exit_code == 0
    extra = {"delta": Fraction("1e-6") / releases} if choice == "large-gap" else {}
    mechanism = mechanism_named(choice, epsilon=Fraction(epsilon), **extra)
    event = Event(
        mechanism.promise_at(Fraction(1)),
        mechanism=choice,
        parameters={"epsilon": str(Fraction(epsilon))},
    )
    with Ledger.open(ledger) as opened:
        for _ in range(releases):
            opened.spend("visits", event, purpose="as decided")
        with pytest.raises(BudgetExceededError):
            opened.spend("visits", event, purpose="one too many")
    fine = _verify(path, "--ledger", ledger, "--json")
    assert fine.exit_code == 0, fine.output
    assert json.loads(fine.output)["holds"]


def test_the_ledger_is_held_against_the_record(state: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text(json.dumps(_record(state)))
    path, ledger = str(tmp_path / "record.json"), str(tmp_path / "budget.db")
    create = ["budget", "create", "visits", "--epsilon", "3", "--ledger", ledger]
    assert CliRunner().invoke(app, create).exit_code == 0
    promise = mechanism_named("exponential", epsilon="0.5").promise_at(Fraction(1))
    with Ledger.open(ledger) as opened:
        opened.spend("visits", Event(promise, mechanism="exponential"), purpose="otherwise")
    said = _verify(path, "--ledger", ledger)
    assert said.exit_code == 1
    assert "the cap is epsilon 3, but epsilon 2.5 was decided" in said.output
    assert "entry 2 is by exponential" in said.output
    assert "hash: agrees" in said.output


def test_a_wrong_file_is_an_error_in_words(tmp_path: Path) -> None:
    for content, words in (("[]", "not a decision record"), ("{", "not JSON")):
        (tmp_path / "record.json").write_text(content)
        done = _verify(str(tmp_path / "record.json"))
        assert isinstance(done.exception, ParameterError)
        assert words in str(done.exception)
    assert "cannot be read" in str(_verify(str(tmp_path / "none.json")).exception)
