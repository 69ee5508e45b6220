"""A study: its tables, its questions, and the most that it may cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._displays import counted
from discreet._exact.numbers.exact import positive, refuse
from discreet.errors import ParameterError
from discreet.questions import Question
from discreet.questions.run import AnyLedger

if TYPE_CHECKING:
    from discreet.study.answers import StudyAnswers
    from discreet.study.planned import StudyPlan
    from discreet.study.running import Watch

LEAST, WEAKEST = "least", "weakest"
SPLITS = {
    LEAST: "the least that reaches every accuracy",
    WEAKEST: "all of it, so that the question that is worst off is as good as it can be",
}
DESK = "desk:"
"""The prefix of a source that is a table at a desk."""


_MOST_LISTED = 20


class StudyError(ParameterError):
    """A study is invalid; the message lists up to 20 problems, one per line.

    Attributes:
        problems: all problems, each with its line or its field.

    Example:
        >>> print(StudyError(["line 3, epsilon is missing", "line 9, ask is missing"]))
        2 problems:
        - line 3, epsilon is missing
        - line 9, ask is missing
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        found = "; ".join(problems) if len(problems) == 1 else ""
        listed = [f"- {each}" for each in problems[:_MOST_LISTED]]
        if len(problems) > _MOST_LISTED:
            listed.append(f"- and {len(problems) - _MOST_LISTED:,} more")
        super().__init__(found or f"{counted(len(problems), 'problem')}:\n" + "\n".join(listed))


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a study.

    Attributes:
        name: the question's name in the study.
        table: the name of the table that it is about.
        question: the question, with ``epsilon`` or ``error_at_most``.
        weight: how much its accuracy matters relative to that of other questions.
        shares: whether its ε is a share, by weight, of the cost that is left after the questions that state
            ``epsilon`` or ``error_at_most``.

    Example:
        >>> from discreet.questions import Median
        >>> Asked("age", "people", Median("age", bounds=(0, 120), epsilon=1)).weight
        Fraction(1, 1)
    """

    name: str
    table: str
    question: Question
    weight: Fraction = Fraction(1)
    shares: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Many questions under one budget.

    Attributes:
        title: the study's title.
        dataset: the budget's name in the ledger; None for a desk, which has its own ledger.
        tables: the arguments of ``discreet.table`` for each table, by the table's name in the study.
        questions: the questions, in order.
        most: the most that the study may cost, in the budget's unit; None for no limit.
        split: ``least`` spends the least that reaches every accuracy; ``weakest`` spends all of ``most``, so
            that the question furthest from its requested accuracy is as good as it can be.
        shared: whether anyone who later runs the same signed study gets the stored answers.
        file: the file that it was read from, if any.
        stated: the tables as the file states them, with sources relative to the file.
        places: the line of each table and question in the file, by name.

    Example:
        >>> import polars as pl
        >>> from discreet.questions import Median
        >>> people = pl.DataFrame({"person": [1, 2], "age": [30, 40]})
        >>> study = Study(
        ...     title="Ages",
        ...     dataset="clinic",
        ...     tables={"people": {"data": people, "user": "person"}},
        ...     questions=[Asked("age", "people", Median("age", bounds=(0, 120), epsilon=1))],
        ... )
        >>> print(study.plan().conclusion)
        1 question costs ε = 1 in all. There is no budget 'clinic' to pay from yet.
    """

    title: str
    dataset: str | None = None
    tables: Mapping[str, Mapping[str, Any]]
    questions: Sequence[Asked]
    most: Fraction | None = None
    split: str = LEAST
    shared: bool = False
    file: Path | None = None
    stated: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.most is not None:
            object.__setattr__(self, "most", positive("most", self.most))
        if self.split not in SPLITS:
            raise refuse("split", self.split, " or ".join(SPLITS))
        problems = []
        names = [asked.name for asked in self.questions]
        if not names:
            problems.append("a study asks at least one question")
        problems += [
            f"two questions are called {name!r}"
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        ]
        for asked in self.questions:
            if asked.table not in self.tables:
                problems.append(
                    f"{asked.name!r} asks {asked.table!r}, which is not a table of the study"
                )
            if asked.shares and self.most is None:
                problems.append(
                    f"{asked.name!r} has neither epsilon nor error_at_most, so the study must say what "
                    "it may cost in total"
                )
        at_desk = [str(facts.get("data", "")).startswith(DESK) for facts in self.tables.values()]
        if any(at_desk) and not all(at_desk):
            problems.append(
                "your own tables and tables at a desk have different budgets: make two studies"
            )
        if not any(at_desk) and self.dataset is None:
            problems.append("dataset is missing: the name of the budget in the ledger")
        if problems:
            raise StudyError(problems)

    @staticmethod
    def read(path: str | Path) -> Study:
        """Read a study from its file; all problems are reported at once, with line and field."""
        from discreet.study.file import read_study

        return read_study(path)

    @property
    def at_a_desk(self) -> bool:
        """Whether the questions are sent to a desk."""
        return any(str(facts["data"]).startswith(DESK) for facts in self.tables.values())

    def plan(self, *, ledger: AnyLedger | None = None, part: str | None = None) -> StudyPlan:
        """Plan every question: its cost and its accuracy. No row is read and nothing is paid.

        Args:
            ledger: the ledger with the budget, or its address; without one, costs are in ε.
            part: the analyst whose part of the budget pays.
        """
        from discreet.study.planning import plan_study

        return plan_study(self, ledger=ledger, part=part)

    def run(
        self,
        *,
        ledger: AnyLedger | None = None,
        part: str | None = None,
        signed: str | None = None,
        watch: Watch | None = None,
    ) -> StudyAnswers:
        """Pay for each question and ask it, one after the other; no question is paid for twice.

        Args:
            ledger: the ledger that counts the budget, or its address; a desk has its own.
            part: the analyst whose part of the budget pays.
            signed: the hash of the plan that was signed; another plan is refused before anything is paid.
            watch: called with the current question, the number answered, and the total number.
        """
        from discreet.study.running import run_study

        return run_study(self, ledger=ledger, part=part, signed=signed, watch=watch)


def placed(study: Study, name: str, problem: ParameterError) -> str:
    """Describe a problem with a table or question, starting with its line if the study is from a file."""
    line = f"line {study.places[name]}, " if name in study.places else ""
    return f"{line}{name!r}: {problem}"
