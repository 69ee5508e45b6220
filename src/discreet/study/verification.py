"""Check that a study's plan, its answers and the ledger agree."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet._exact.numbers.printing import jsonable
from discreet.accounting.accountants import ACCOUNTANTS
from discreet.errors import NoBudgetError
from discreet.ledger import Ledger
from discreet.study.planned import hash_of


def problems(record: Mapping[str, Any], ledger: Ledger) -> list[tuple[str, str]]:
    """Return the name of each check with the problem that it found; the problem is empty if it passed.

    ``record`` is the output of ``StudyAnswers.as_data``.
    """
    plan, answers = record.get("plan"), record.get("answers")
    if not isinstance(plan, Mapping) or not isinstance(answers, list):
        return [("record", "it is not a record of a study's answers")]
    signed = hash_of(plan)
    checked = [("plan's hash", "" if record.get("hash") == signed else f"it is {signed}")]
    budget = str(record.get("budget"))
    if plan["shared"]:
        budget = str(plan["dataset"])
    try:
        history, chain = ledger.history(budget), ledger.verify(budget.partition("/")[0])
    except NoBudgetError:
        return [*checked, ("ledger", f"there is no budget {budget!r}")]
    checked.append(("ledger's chain", "; ".join(chain.problems)))
    spends = {
        entry.sequence: entry
        for entry in history
        if entry.kind == "spend" and (entry.details["parameters"] or {}).get("study") == signed
    }
    kept = {
        entry.details["about"]: entry.details["release"]
        for entry in history
        if entry.kind == "answer" and entry.details["about"] in spends
    }
    paid: dict[str, list[Any]] = {}
    for entry in spends.values():
        paid.setdefault(str(entry.details["parameters"]["question"]), []).append(entry)
    told = {each["question"]: each for each in answers}
    symbol = ACCOUNTANTS[plan["accountant"]].symbol
    for question in plan["questions"]:
        name, found = question["name"], paid.get(question["name"], [])
        wrong = []
        if len(found) != 1:
            wrong.append(f"it was paid for {len(found)} times")
        for entry in found:
            cost = entry.details["spent"]["cost"]
            if Fraction(cost) != Fraction(question["cost"]):
                wrong.append(f"it cost {symbol} = {cost}, but {question['cost']} was planned")
        if name not in told:
            wrong.append("it has no answer")
        elif found and jsonable(told[name]["release"]) != jsonable(kept.get(found[0].sequence)):
            wrong.append("its answer is not the one that the ledger keeps")
        checked.append((f"question {name!r}", "; ".join(wrong)))
    unplanned = sorted(paid.keys() - {each["name"] for each in plan["questions"]})
    checked.append(("nothing else", f"paid besides: {', '.join(unplanned)}" if unplanned else ""))
    return checked
