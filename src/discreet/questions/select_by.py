"""Selection by a custom score: any function of the data, with a sensitivity that can be checked.

Scores can also be read from a file, with one candidate and one score on each line. Errors name the rule that
the file breaks, never a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from discreet._exact.numbers.exact import (
    Number,
    non_negative_distance,
    positive_distance,
    refuse,
    shown,
    whole,
)
from discreet._exact.sampling import Bits
from discreet._tables.engines import quietly
from discreet._tables.score_files import LabelsAndValues, reader_of, sensitivities_of
from discreet.accounting import Event
from discreet.errors import ParameterError, ScoresError
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.registry import mechanism_at
from discreet.mechanisms.unequal import distance_of, shortfall_of_ratios, ways_for
from discreet.neighbours import ADD_REMOVE, Neighbours
from discreet.questions.accuracy import Accuracy, proved_bound
from discreet.questions.answer import TableRelease
from discreet.questions.candidates import WHY_PUBLIC
from discreet.questions.costs import guarantee_of
from discreet.questions.plan import Found, Plan, Reading, Setting
from discreet.questions.question import Labels, Question, field, flag, labels, one_of, value
from discreet.questions.rules import Sentences, about_scores, about_unequal_scores
from discreet.questions.run import AnyLedger, run
from discreet.questions.sensitivity_check import check_sensitivity
from discreet.scores import LARGEST, RATIOS, Scores

_OPTIMIZE = {"max": "large scores are good", "min": "small scores are good"}


def one_or_several(name: str, given: Any) -> Fraction | tuple[Fraction, ...]:
    """Check one sensitivity, or a list with one for each candidate; return exact numbers."""
    if not isinstance(given, list | tuple):
        return positive_distance(name, given)
    Scores([0] * len(given) or [0], sensitivity=given)
    return tuple(non_negative_distance(name, each) for each in given)


@value
class SelectBy(Question, kind="select_by", label="Best by the score"):
    """The candidate with the best ``score(data, candidate)``, chosen privately.

    The guarantee is only as good as the stated sensitivity. With ``example_rows``, the sensitivity is first
    checked on all small data sets made of these rows. If they contradict it, the question is refused and
    nothing is spent. If the score function raises an error on the data, the error's message is withheld,
    because it may quote the data: try the function on made-up data first. The function gets the whole table,
    so ``where`` is not allowed.

    Price: one choice at ε, with noise for the stated sensitivity; the mechanism's own theorem covers it.

    Example:
        >>> from discreet.questions import select_by
        >>> ages = [31, 45, 52, 38, 29] * 40
        >>> def near(data, age):
        ...     return sum(abs(age - other) <= 5 for other in data)
        >>> select_by(ages, candidates=range(20, 70, 10), score=near, sensitivity=1, monotonic=True,
        ...           epsilon=1, example_rows=[{"age": a} for a in (25, 35)],
        ...           make=lambda rows: [row["age"] for row in rows]).answer in (30, 40, 50)
        True
    """

    candidates: Labels = field("The public candidates.", default=None, check=labels, takes="LIST")
    score: Any = field(
        "The score of a candidate, a function of the data and the candidate. A whole number or an exact "
        "fraction is best: a sum of floats depends on the order of the rows, and can exceed the stated "
        "sensitivity. At a desk: the name of a registered one.",
        analyst=True,
        option=False,
    )
    sensitivity: Any = field(
        "The most by which one person changes any one score, or a list with one for each candidate.",
        default=None,
        check=one_or_several,
        takes="NUMBER",
    )
    monotonic: bool = flag("Whether one person moves all scores in one direction.", default=False)
    unequal: str | None = field(
        'With a list of sensitivities: "ratios" or "largest"; by default the one that the plan recommends.',
        default=None,
        check=one_of({RATIOS: "leads in units of sensitivities", LARGEST: "one distance for all"}),
        takes="NAME",
        advanced=True,
    )
    optimize: str = field(
        '"max" if large scores are good, "min" if small ones are.',
        default="max",
        check=one_of(_OPTIMIZE),
        takes="NAME",
    )
    mechanism: Any = field(
        "A mechanism other than permute-and-flip, such as exponential.",
        default=None,
        takes="NAME",
        advanced=True,
    )
    example_rows: Any = field(
        "Made-up rows with which the stated sensitivity is checked first.",
        default=None,
        option=False,
    )
    user: str | None = field(
        "For the check: the column that identifies people.", default=None, option=False
    )
    rows_per_person: int = field(
        "For the check: how many rows a person may have.", default=1, check=whole, option=False
    )
    make: Any = field(
        "For the check: turns a list of rows into a data set; by default one of the data's type.",
        default=None,
        option=False,
    )

    completed_by: ClassVar[tuple[str, ...]] = ("score",)

    @property
    def title(self) -> str:
        """The question in a few words."""
        return f"best by {self.score}" if isinstance(self.score, str) else "best by a custom score"

    def plan(self, setting: Setting) -> Plan:
        """Plan one choice by the scores; first check the stated sensitivity on any example rows."""
        if setting.where is not None:
            raise ParameterError("a custom score reads the whole table: leave ⟨where⟩ out")
        return self.planned(setting.data, setting.neighbours)

    def planned(self, data: Any, neighbours: str) -> Plan:
        """Plan the question for any data that the score accepts."""
        if self.candidates is None:
            raise ParameterError(WHY_PUBLIC)
        if not isinstance(self.candidates, tuple) or not self.candidates:
            raise refuse("candidates", self.candidates, "a list of at least one")
        if not callable(self.score):
            raise refuse("score", self.score, "a function of the data and a candidate")
        if self.sensitivity is None:
            raise refuse("sensitivity", None, "the most by which one person changes any one score")
        chooser = mechanism_at(self.mechanism, self.total, optimize=self.optimize)
        stated: dict[str, Any] = {"sensitivity": self.sensitivity, "monotonic": self.monotonic}
        # Build the scores with zeros now, so that wrong parameters are refused before anything is spent.
        form = Scores(
            [0] * len(self.candidates),
            candidates=self.candidates,
            unequal=self.unequal,
            **stated,
        )
        if self.example_rows is not None:
            verdict = check_sensitivity(
                self.score,
                candidates=self.candidates,
                rows=self.example_rows,
                neighbours=neighbours,
                user=self.user,
                rows_per_person=self.rows_per_person,
                make=_maker(data) if self.make is None else self.make,
                **stated,
            )
            if not verdict.holds:
                stated_as = self.sensitivity
                if isinstance(stated_as, Fraction):
                    stated_as = shown(stated_as)
                raise ParameterError(f"⟨sensitivity⟩{stated_as} is too low. {verdict.in_words()}")

        def read(_table: Any) -> Scores:
            values = quietly(
                lambda: [self.score(data, label) for label in self.candidates],
                doing="computing scores",
                foreign=True,
            )
            return Scores(values, candidates=self.candidates, unequal=self.unequal, **stated)

        return plan_by_scores(
            self,
            chooser,
            form,
            "selection by a custom score",
            neighbours=neighbours,
            read=read,
            rules=_about(form, self.total, checked=self.example_rows is not None),
        )


def plan_by_scores(
    question: Question,
    chooser: Mechanism,
    form: Scores,
    words: str,
    *,
    neighbours: str,
    read: Callable[[Any], Scores],
    rules: Sentences,
    bounded: bool = True,
) -> Plan:
    """Plan one choice among scores; ``form`` has the same sensitivities, but zeros as scores.

    If ``bounded`` is False, the number of scores is known only once they are read, and ``form`` has just one.
    """

    def choose(scores: Scores, bits: Bits) -> Iterable[Found]:
        yield {"answer": scores.candidates[chooser._choose(scores, bits)]}

    level = Fraction(question.with_probability)
    worst = None
    if bounded:
        scale = distance_of(form) / question.total
        worst = proved_bound(chooser, scale, len(form), level)
    if worst is not None and form.unequal == RATIOS:
        worst = shortfall_of_ratios(form, chooser.epsilon, worst)
    event = Event(chooser.promise_for(form), mechanism=chooser.name, neighbours=neighbours)
    return Plan(
        question=question,
        title=words,
        words=words,
        event=event,
        guarantee=guarantee_of(event),
        read=lambda _bits: Reading(read),
        choose=choose,
        rules=rules,
        accuracy=Accuracy(
            worst,
            level,
            ("point", "points"),
            "how far the answer's score is from the best",
            "",
        ),
    )


def _about(form: Scores, epsilon: Fraction, *, checked: bool = False) -> Sentences:
    """Describe what was stated about the scores and, if sensitivities differ, both ways to compare them."""
    if not isinstance(form.sensitivity, tuple):
        return about_scores(form.range_distance, checked=checked)
    ways = ways_for(form.sensitivity, epsilon=epsilon, monotonic=form.monotonic)
    return about_unequal_scores(form.sensitivity, str(form.unequal), str(ways), checked=checked)


def _maker(data: Any) -> Callable[[list[dict[str, Any]]], Any]:
    """Return a function that makes data sets with the type and columns of ``data``; no row is read."""
    module = type(data).__module__.partition(".")[0]
    if module == "polars" and hasattr(data, "collect_schema"):
        import polars as pl

        schema, lazy = data.collect_schema(), type(data).__name__ == "LazyFrame"

        def polars(rows: list[dict[str, Any]]) -> Any:
            kept = {name: kind for name, kind in schema.items() if not rows or name in rows[0]}
            frame = pl.DataFrame(rows, schema=kept)
            return frame.lazy() if lazy else frame

        return polars
    if module == "pandas":
        types = dict(data.dtypes)

        def pandas(rows: list[dict[str, Any]]) -> Any:
            import pandas as pd

            columns = list(types) if not rows else [name for name in types if name in rows[0]]
            frame = pd.DataFrame(rows, columns=columns)
            return frame.astype({name: types[name] for name in columns})

        return pandas
    if isinstance(data, list | tuple):
        return list
    raise ParameterError(
        f"⟨make⟩ is needed to check a score on data of type {type(data).__name__}: it turns rows "
        f"into such data"
    )


@value
class FromScores(Question):
    """The candidate with the best precomputed score; this question needs a file of scores, not a table."""

    def plan(self, setting: Setting) -> Plan:  # noqa: ARG002 - same as others
        """Raise an error: precomputed scores come from a file, not from a table."""
        raise ParameterError("precomputed scores cannot be asked of a table")

    def planned(
        self,
        read: Callable[[], LabelsAndValues],
        *,
        chooser: Mechanism,
        neighbours: str,
        stated: Mapping[str, Any],
        steps: Sequence[Any] | None = None,
    ) -> Plan:
        """Plan one choice among the labels and scores that ``read`` returns.

        ``steps`` are the public sensitivities in the file; None if the sensitivity is in ``stated``.
        """
        if steps is not None:
            stated = {**stated, "sensitivity": steps}
        elif stated["unequal"] is not None:
            raise ParameterError("⟨unequal⟩ can only be used with the sensitivities of the file")
        form = Scores([0] if steps is None else [0] * len(steps), **stated)

        def scores(_table: Any) -> Scores:
            found, values, sensitivities = read()
            if steps is not None and sensitivities != steps:
                raise ScoresError("the sensitivities are not those of the plan")
            return Scores(values, candidates=found, **stated)

        return plan_by_scores(
            self,
            chooser,
            form,
            "selection from computed scores",
            neighbours=neighbours,
            read=scores,
            rules=_about(form, self.total),
            # Without a public column of sensitivities, the number of scores is not known yet.
            bounded=steps is not None,
        )


def select_from_file(
    path: str | Path,
    *,
    epsilon: Number,
    sensitivity: object = None,
    range_distance: object = None,
    monotonic: bool = False,
    unequal: str | None = None,
    candidate_column: str | None = None,
    score_column: str | None = None,
    optimize: str = "max",
    neighbours: str = ADD_REMOVE,
    mechanism: object = None,
    ledger: AnyLedger | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
) -> TableRelease:
    r"""Choose the candidate with the largest score in a file, privately.

    With ``optimize="min"`` the smallest score wins, which suits mistakes, distances or costs. Without
    ``sensitivity`` and ``range_distance``, the file must have a column ``sensitivity`` with a value for each
    candidate. This column is public and read before anything is paid; ``unequal`` then determines how scores
    are compared. The file is read by :mod:`discreet._tables.score_files`, as in ``compare``, ``plan`` and the
    explorer.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "scores.csv"
        ...     _ = file.write_text("candidate,score\nflu,412\ncold,98\n")
        ...     select_from_file(file, sensitivity=1, monotonic=True, epsilon=1).answer
        'flu'
    """
    question = FromScores(epsilon=epsilon, purpose=purpose)
    columns = {"candidate_column": candidate_column, "score_column": score_column}
    read = reader_of(path, **columns, tell_lines=False)
    plan = question.planned(
        read,
        chooser=mechanism_at(mechanism, question.total, optimize=optimize),
        neighbours=Neighbours.named(neighbours),
        stated={
            "sensitivity": sensitivity,
            "range_distance": range_distance,
            "monotonic": monotonic,
            "unequal": unequal,
        },
        steps=sensitivities_of(path, **columns) if sensitivity is range_distance is None else None,
    )
    return run(plan, ledger=ledger, dataset=dataset)
