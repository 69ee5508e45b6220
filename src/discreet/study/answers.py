"""The answers of a study: as data, as a table, and as a report that can be printed."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._displays import counted, escape, markdown, page, visible
from discreet._exact.numbers.printing import figure, jsonable
from discreet.questions.answer import TableRelease
from discreet.questions.frames import columns_of, in_duckdb
from discreet.questions.read_back import release_from

if TYPE_CHECKING:
    from discreet.study.planned import StudyPlan

FILES = ("plan.json", "answers.json", "answers.csv", "answers.parquet", "report.md", "report.html")
"""The files that ``write`` writes."""
_FAILED = "The question failed while it read the data. Nothing was released, and its cost is not refunded."
_COLUMNS = ("question", "group", "level", "rank", "answer", "count", "gap", "people")


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One answer of a study.

    Attributes:
        name: the question's name in the study.
        kept: the answer as the ledger keeps it; None if the question failed after the payment.
        entry: the ledger's entry that paid for it.
        date: when it was stored.
    """

    name: str
    kept: Mapping[str, Any] | None = None
    entry: str = ""
    date: str = ""

    @property
    def release(self) -> TableRelease | None:
        """The answer, rebuilt from ``kept``; None if the question failed."""
        return None if self.kept is None else release_from(self.kept)


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyAnswers:
    """The result of running a study.

    Attributes:
        plan: the plan that was run.
        answered: the answers, in the order of the questions.

    Example:
        >>> import tempfile, polars as pl
        >>> from discreet.questions import Median
        >>> from discreet.study import Asked, Study
        >>> people = pl.DataFrame({"person": range(900), "age": [20 + i % 41 for i in range(900)]})
        >>> study = Study(
        ...     title="Ages",
        ...     dataset="clinic",
        ...     tables={"people": {"data": people, "user": "person"}},
        ...     questions=[Asked("age", "people", Median("age", bounds=(0, 120), epsilon=1))],
        ... )
        >>> from discreet import PureDP
        >>> from discreet.ledger import Ledger
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     budget = ledger.create("clinic", PureDP(1))
        ...     answers = study.run(ledger=ledger)
        >>> 35 < answers["age"].answer < 45, answers.conclusion
        (True, '1 question answered, for ε = 1 in all.')
    """

    plan: StudyPlan
    answered: tuple[Answered, ...]

    def __getitem__(self, name: str) -> TableRelease:
        """Return the answer to the question with this name; raise KeyError if it failed."""
        found = {each.name: each.release for each in self.answered}
        if found.get(name) is None:
            raise KeyError(name)
        return found[name]  # type: ignore[return-value]  # as tested

    @property
    def conclusion(self) -> str:
        """Sum up in a sentence how many questions were answered and what they cost."""
        plan = self.plan
        failed = sum(each.release is None for each in self.answered)
        words = f"{counted(len(self.answered) - failed, 'question')} answered"
        if failed:
            words += f", {failed} failed and stayed paid"
        return f"{words}, for {plan.symbol} = {figure(plan.total)} in all."

    def as_data(self) -> dict[str, Any]:
        """Return the plan, its hash and every answer as plain data."""
        return {
            "hash": self.plan.hash,
            "budget": self.plan.budget,
            "plan": self.plan.canonical,
            "answers": [
                {
                    "question": each.name,
                    "entry": each.entry,
                    "date": each.date,
                    "release": each.kept,
                }
                for each in self.answered
            ],
        }

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Return all answers as columns of one table of texts: a row for each question, group and item."""
        found: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        for each in self.answered:
            if each.release is None:
                continue
            own = columns_of(each.release)
            group = next((name for name in own if name not in _COLUMNS), "group")
            for place in range(len(own["answer"])):
                row = {name: values[place] for name, values in own.items()}
                row["group"] = row.pop(group, None)
                row["question"] = each.name
                for name, values in found.items():
                    value = row.get(name)
                    values.append(None if value is None else str(value))
        return {
            name: values
            for name, values in found.items()
            if any(each is not None for each in values)
        }

    def write(self, folder: str | Path) -> list[Path]:
        """Write the plan, the answers and the report into a folder; return the paths of the files."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        paths = [place / name for name in FILES]
        for path, text in zip(
            paths, (_json(self.plan.as_data()), _json(self.as_data())), strict=False
        ):
            path.write_text(text, encoding="utf-8")
        columns = self.columns
        with paths[2].open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([columns.keys(), *zip(*columns.values(), strict=True)])
        in_duckdb(columns).write_parquet(str(paths[3]))
        paths[4].write_text(self.in_markdown(), encoding="utf-8")
        paths[5].write_text(self.in_html(), encoding="utf-8")
        return paths

    # ---- the report -----------------------------------------------------------------------------

    def in_markdown(self) -> str:
        """Return the report: what was asked, what it cost, and each answer with its meaning."""
        plan = self.plan
        parts = [
            f"# {markdown(plan.study.title)}",
            markdown(self.conclusion),
            f"Plan: `{plan.hash}`",
        ]
        cards = {line.asked.name: line for line in plan.lines}
        for each in self.answered:
            parts.append(f"## {markdown(each.name)}")
            if each.release is None:
                parts.append(_FAILED)
                continue
            card = each.release.card
            lines = [f"**{markdown(line)}**" for line in str(card.answer).split("\n")]
            parts.append("  \n".join(lines))
            said = [f"{markdown(card.title)}, {markdown(card.price)}"]
            said.append(f"accuracy: {markdown(cards[each.name].accuracy)}")
            said.append(f"privacy: {markdown(str(card.privacy))}")
            said.append(f"ledger: {markdown(each.entry)}, {markdown(each.date)}")
            said += [markdown(rule) for rule in card.rules]
            parts.append("\n".join(f"- {line}" for line in said))
        return "\n\n".join(parts) + "\n"

    def in_html(self) -> str:
        """Return the report as a self-contained page that can also be printed."""
        parts = [
            f"<section><h2>{escape(each.name)}</h2>{self._card_in_html(each)}"
            f"<p><small>{escape(' · '.join(filter(None, (each.entry, each.date))))}</small></p></section>"
            for each in self.answered
        ]
        plan = f"<p>Plan: <code>{self.plan.hash}</code></p>"
        return page(self.plan.study.title, f"<p>{escape(self.conclusion)}</p>{plan}", *parts)

    def _card_in_html(self, each: Answered) -> str:
        if each.release is None:
            return f"<p>{escape(_FAILED)}</p>"
        # The plan knows how accurate an answer typically is; the stored answer has only the proved bound.
        planned = next(line.plan for line in self.plan.lines if line.asked.name == each.name)
        card = each.release.card
        return replace(card, accuracy=planned.accuracy if planned else card.accuracy).in_html()

    def _repr_html_(self) -> str:
        return "".join(
            f"<h4>{escape(each.name)}</h4>{self._card_in_html(each)}" for each in self.answered
        )

    def __repr__(self) -> str:
        lines = []
        for each in self.answered:
            answer = ["failed"] if each.release is None else each.release.in_lines().split("\n")
            name = visible(each.name)
            lines += (
                [f"{name}: {answer[0]}"]
                if len(answer) == 1
                else [f"{name}:", *(f"  {line}" for line in answer)]
            )
        return "\n".join(lines)


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(jsonable(data), indent=2, allow_nan=False, ensure_ascii=True) + "\n"
