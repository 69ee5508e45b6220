"""``discreet verify``: check a decision record, or a study's answers, against the ledger."""

from __future__ import annotations

import json as json_format
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._cli.commands import argument, command, option
from discreet._cli.output import say_either
from discreet._cli.shared_options import JSON
from discreet.errors import NoBudgetError, ParameterError

if TYPE_CHECKING:
    from discreet.explore.uploads import ScoreFile
    from discreet.ledger import Entry


@command("verify")
@argument(
    "RECORD",
    "A decision record, as the page saves it, or the answers.json of a study.",
    name="path",
)
@option("--scores FILE", "The scores, if the record was saved without them.")
@option("--ledger ADDRESS", "Compare it with this ledger; a study, by default, with your own.")
@option("--dataset NAME", "The data set in the ledger, if the record does not name it.")
@JSON
def verify(
    path: str, *, scores: str | None, ledger: str | None, dataset: str | None, json: bool
) -> None:
    """Check a decision record: its hash, its recomputed numbers, and the ledger's budget and history.

    For a study, compare its plan, its answers and the ledger. To check a ledger alone, use discreet budget
    verify.

    Exit status 1 if something differs. The hash detects accidental or manual changes. To detect a forged
    record, compare its hash with the one on the signed paper.

    Example: discreet verify record.json --ledger budget.db
    """
    from discreet.explore.record import problems

    record = _read(path)
    if "answers" in record:
        checked = _of_study(record, ledger)
    else:
        checked = problems(record, scores=None if scores is None else _scores(scores))
        if ledger is not None:
            checked += _against(record, ledger, dataset or record.get("dataset") or "")
    lines = [f"{name}: {wrong or 'agrees'}" for name, wrong in checked]
    data = {
        "holds": not any(wrong for _, wrong in checked),
        "hash": record.get("hash"),
        "checks": [{"part": name, "problem": wrong or None} for name, wrong in checked],
    }
    say_either("\n".join([*lines, f"hash of the record: {record.get('hash')}"]), data, json=json)
    if not data["holds"]:
        raise SystemExit(1)


def _read(path: str) -> dict[str, Any]:
    try:
        record = json_format.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        problem = ParameterError(f"{path!r} cannot be read: {error.strerror}")
    except ValueError:
        problem = ParameterError(f"{path!r} is not JSON")
    else:
        if isinstance(record, dict):
            return record
        problem = ParameterError(f"{path!r} is not a decision record")
    raise problem


def _of_study(record: dict[str, Any], address: str | None) -> list[tuple[str, str]]:
    from discreet.ledger import Ledger
    from discreet.study.verification import problems

    with Ledger.open(address, create=False) as ledger:
        return problems(record, ledger)


def _scores(path: str) -> ScoreFile:
    from discreet._tables.score_files import scores_from_file
    from discreet.explore.uploads import score_file

    return score_file(path, scores_from_file(path, sensitivity=1))


def _against(record: dict[str, Any], address: str, dataset: str) -> list[tuple[str, str]]:
    """Compare the ledger with the decision; return each check with its problem, or an empty text if none."""
    from discreet.ledger import Ledger

    if not dataset:
        raise ParameterError("the record names no data set: give --dataset")
    with Ledger.open(address, create=False) as ledger:
        try:
            budget = ledger.show(dataset)
        except NoBudgetError:
            return [("ledger", f"there is no budget for {dataset!r}")]
        history = ledger.history(dataset)
        chain = ledger.verify(dataset)
    cap = {name: value for name, value in budget.cap.items() if name != "measure"}
    decided = {**(record.get("budget") or {})}
    decided.pop("accountant", None)
    equal = cap.keys() == decided.keys() and all(
        Fraction(value) == Fraction(decided[name]) for name, value in cap.items()
    )
    spends = [entry for entry in history if entry.kind == "spend"]
    return [
        ("ledger's chain", "; ".join(chain.problems)),
        (
            "ledger's budget",
            "" if equal else f"the cap is {_words(cap)}, but {_words(decided)} was decided",
        ),
        ("ledger's releases", _releases(record, spends)),
    ]


def _releases(record: dict[str, Any], spends: list[Entry]) -> str:
    choices = record["choices"]
    made = sum(int(entry.details["count"]) for entry in spends)
    if made > choices["releases"]:
        return f"{made} were made, but {choices['releases']} were decided"
    for entry in spends:
        if entry.details["mechanism"] != choices["choice"]:
            return f"entry {entry.sequence} is by {entry.details['mechanism']}"
        epsilon = (entry.details.get("parameters") or {}).get("epsilon")
        if epsilon is None or Fraction(epsilon) > Fraction(choices["epsilon"]):
            return f"entry {entry.sequence} has a different ε than {choices['epsilon']}"
    return ""


def _words(cap: dict[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in cap.items()) or "none"
