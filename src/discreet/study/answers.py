"""The answers of a study: as data, as a table, and as a report that can be printed."""

from __future__ import annotations

import csv
import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._displays import counted, escape, visible
from discreet._exact.numbers.printing import figure, jsonable
from discreet.questions.answer import TableRelease
from discreet.questions.frames import columns_of, in_duckdb
from discreet.questions.read_back import release_from

if TYPE_CHECKING:
    from discreet.study.planned import StudyPlan

FILES = ("plan.json", "answers.json", "answers.csv", "answers.parquet", "report.md", "report.html")
"""What ``write`` writes."""
_FAILED = (
    "The question failed while it read the data. Nothing was released, and what it cost stays paid."
)
_COLUMNS = ("question", "group", "level", "rank", "answer", "count", "gap", "people")
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
       color: #1f2328; background: #fff; }
table { border-collapse: collapse; width: 100%; } td, th { vertical-align: top; }
h2 { margin-top: 2rem; font-size: 1.1rem; } code { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117; } }
@media print { body { margin: 0; max-width: none; color: #000; background: #fff; }
               section { break-inside: avoid; } details > * { display: block; } }
"""


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One answer of a study.

    Attributes:
        name: the question's name in the study.
        kept: the answer as the ledger keeps it; None where the question failed after it was paid.
        entry: the ledger's entry that paid for it.
        date: when it was stored.
    """

    name: str
    kept: Mapping[str, Any] | None = None
    entry: str = ""
    date: str = ""

    @property
    def release(self) -> TableRelease | None:
        """The answer, read back."""
        return None if self.kept is None else release_from(self.kept)


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyAnswers:
    """What a run of a study gives.

    Attributes:
        plan: the plan that was run.
        answered: the answers, in the order of the questions.
    """

    plan: StudyPlan
    answered: tuple[Answered, ...]

    def __getitem__(self, name: str) -> TableRelease:
        """The answer to the question of this name."""
        found = {each.name: each.release for each in self.answered}
        if found.get(name) is None:
            raise KeyError(name)
        return found[name]  # type: ignore[return-value]  # as tested

    @property
    def conclusion(self) -> str:
        """How much was answered and what it cost, in a sentence."""
        plan = self.plan
        failed = sum(each.release is None for each in self.answered)
        words = f"{counted(len(self.answered) - failed, 'question')} answered"
        if failed:
            words += f", {failed} failed and stayed paid"
        return f"{words}, for {plan.symbol} = {figure(plan.total)} in all."

    def as_data(self) -> dict[str, Any]:
        """Plain data: the hash, the plan and every answer."""
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
        """All answers in one table: a row for each question, group and thing named; as texts."""
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
        """Write plan, answers and report into a folder."""
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
        """The report: what was asked, what it cost, each answer with what it means."""
        plan = self.plan
        parts = [f"# {_plain(plan.study.title)}", _plain(self.conclusion), f"Plan: `{plan.hash}`"]
        cards = {line.asked.name: line for line in plan.lines}
        for each in self.answered:
            parts.append(f"## {_plain(each.name)}")
            if each.release is None:
                parts.append(_FAILED)
                continue
            card = each.release.card
            lines = [f"**{_plain(line)}**" for line in str(card.answer).split("\n")]
            parts.append("  \n".join(lines))
            said = [f"{_plain(card.title)}, {_plain(card.price)}"]
            said.append(f"accuracy: {_plain(cards[each.name].accuracy)}")
            said.append(f"privacy: {_plain(str(card.privacy))}")
            said.append(f"ledger: {_plain(each.entry)}, {_plain(each.date)}")
            said += [_plain(rule) for rule in card.rules]
            parts.append("\n".join(f"- {line}" for line in said))
        return "\n\n".join(parts) + "\n"

    def in_html(self) -> str:
        """The report as a page that needs nothing else, made to be printed too."""
        plan = self.plan
        parts = []
        for each in self.answered:
            body = (
                f"<p>{escape(_FAILED)}</p>" if each.release is None else each.release.card.in_html()
            )
            told = " · ".join(filter(None, (each.entry, each.date)))
            parts.append(
                f"<section><h2>{escape(each.name)}</h2>{body}<p><small>{escape(told)}</small></p></section>"
            )
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(plan.study.title)}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
            f"<h1>{escape(plan.study.title)}</h1><p>{escape(self.conclusion)}</p>"
            f"<p>Plan: <code>{plan.hash}</code></p>{''.join(parts)}</html>\n"
        )

    def _repr_html_(self) -> str:
        return "".join(
            f"<h4>{escape(each.name)}</h4>"
            + (escape(_FAILED) if each.release is None else each.release.card.in_html())
            for each in self.answered
        )

    def __repr__(self) -> str:
        lines = []
        for each in self.answered:
            answer = (
                "failed" if each.release is None else each.release.in_lines().replace("\n", ", ")
            )
            lines.append(f"{each.name}: {answer}")
        return "\n".join(map(visible, lines))


def _plain(text: object) -> str:
    """Text that Markdown takes for nothing else."""
    shown = html.escape(visible(text), quote=False)
    return "".join(f"\\{sign}" if sign in "\\`*_[]#|~" else sign for sign in shown)


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(jsonable(data), indent=2, allow_nan=False, ensure_ascii=True) + "\n"
