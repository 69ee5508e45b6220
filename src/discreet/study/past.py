"""The ledger's record of earlier runs of the same study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.study.answers import Answered

if TYPE_CHECKING:
    from discreet.ledger import Entry, Ledger
    from discreet.study.planned import StudyPlan


@dataclass(frozen=True)
class Past:
    """The ledger's record of earlier runs of the same plan, by question name."""

    paid: dict[str, Entry]
    answers: dict[str, Answered]
    failed: set[str]

    @staticmethod
    def of(ledger: Ledger, plan: StudyPlan) -> Past:
        """Read from the ledger's history what earlier runs of this plan paid for and answered."""
        own = str(plan.budget)
        whole = own.partition("/")[0] if plan.study.shared else own
        paid: dict[int, tuple[str, Entry]] = {}
        past = Past({}, {}, set())
        for entry in ledger.history(whole):
            about = entry.details.get("about")
            if entry.kind == "spend" and _hash(entry) == plan.hash:
                paid[entry.sequence] = (str(entry.details["parameters"]["question"]), entry)
            elif entry.kind == "failed" and about in paid:
                past.failed.add(paid[about][0])
            elif entry.kind == "answer" and about in paid:
                name, spend = paid[about]
                past.answers[name] = Answered(
                    name=name,
                    kept=entry.details["release"],
                    entry=str(spend),
                    date=entry.time,
                )
        past.paid.update(
            (name, entry)
            for name, entry in paid.values()
            if entry.budget == own or name in past.answers
        )
        return past


def _hash(entry: Entry) -> Any:
    return (entry.details.get("parameters") or {}).get("study")
