"""A selection by the user's own score: any function of the data, with a sensitivity that can be checked.

Or by scores that somebody computed already, in a file: one candidate and one score on each line. Errors name
the rule that the file breaks and never a score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from discreet.errors import ParameterError
from discreet.numbers.exact import positive, refuse
from discreet.questions.answer import TableRelease, about_scores
from discreet.questions.candidates import WHY_PUBLIC
from discreet.questions.context import SelectionTerms, stated
from discreet.questions.sensitivity_check import check_sensitivity
from discreet.questions.spending import Asker
from discreet.score_files import reader_of
from discreet.scores import Scores
from discreet.tables.engines import quietly


def select_by(
    data: Any,
    *,
    candidates: Sequence[Any],
    score: Callable[[Any, Any], Any],
    sensitivity: object,
    epsilon: object,
    monotonic: bool = False,
    optimize: str = "max",
    example_rows: Sequence[Mapping[str, Any]] | None = None,
    user: str | None = None,
    rows_per_person: int = 1,
    make: Callable[[list[dict[str, Any]]], Any] | None = None,
    **terms: Unpack[SelectionTerms],
) -> TableRelease:
    """The candidate with the best ``score(data, candidate)``, chosen privately.

    The guarantee is only as good as the stated sensitivity. With ``example_rows`` the statement is checked
    first, over all small data sets made of them, and refused if one of those breaks it; nothing is spent
    then. An error of the score function on the data is replaced, because it may quote the data: try the
    function on made-up data first.

    Args:
        data: whatever ``score`` takes; a path stays a path.
        candidates: the public candidates.
        score: the score of a candidate; a whole number or an exact fraction is best (a sum of floats depends
            on the order of the rows, and can exceed the stated sensitivity).
        sensitivity: Δ, the most by which one person changes any one score.
        example_rows: made-up rows for ``check_sensitivity``.
        user: for the check: the column that numbers people.
        rows_per_person: for the check: how many rows a person may have.
        make: for the check: makes a data set of a list of rows; by default one of the type of ``data``.
        **terms: who counts, the mechanism, the relation for which the sensitivity is stated: see ``Terms``.

    Example:
        >>> ages = [31, 45, 52, 38, 29] * 40
        >>> def near(data, age):
        ...     return sum(abs(age - other) <= 5 for other in data)
        >>> select_by(ages, candidates=range(20, 70, 10), score=near, sensitivity=1, monotonic=True,
        ...           epsilon=1, example_rows=[{"age": a} for a in (25, 35)],
        ...           make=lambda rows: [row["age"] for row in rows]).answer in (30, 40, 50)
        True
    """
    total = positive("epsilon", epsilon)
    asker, data = stated(data, terms)
    if candidates is None:
        raise ParameterError(WHY_PUBLIC)
    if isinstance(candidates, str) or not isinstance(candidates, Sequence) or not candidates:
        raise refuse("candidates", candidates, "a list of at least one")
    labels = tuple(candidates)
    if not callable(score):
        raise refuse("score", score, "a function of the data and a candidate")
    # Made now so that a wrong statement is refused before anything is spent.
    form = Scores(
        [0] * len(labels), candidates=labels, sensitivity=sensitivity, monotonic=monotonic
    )
    chooser = asker.chooser(total, optimize=optimize)
    if example_rows is not None:
        verdict = check_sensitivity(
            score,
            candidates=labels,
            rows=example_rows,
            sensitivity=sensitivity,
            monotonic=monotonic,
            neighbours=asker.neighbours,
            user=user,
            rows_per_person=rows_per_person,
            make=_maker(data) if make is None else make,
        )
        if not verdict.holds:
            raise ParameterError(f"⟨sensitivity⟩{sensitivity!r} is too low. {verdict.in_words()}")

    def work() -> Any:
        values = quietly(lambda: [score(data, label) for label in labels], doing="computing scores")
        scores = Scores(values, sensitivity=sensitivity, monotonic=monotonic)
        return labels[chooser.select_index(scores)]

    rules = about_scores(form.range_distance, checked=example_rows is not None)
    return asker.release(chooser, form, "selection by a score of one's own", work, rules)


def _maker(data: Any) -> Callable[[list[dict[str, Any]]], Any]:
    """Makes data sets of the type of ``data``, with its declared columns; no row is looked at."""
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
        f"⟨make⟩ is needed to check a score on data of type {type(data).__name__}: it makes such data of rows"
    )


def select_from_file(
    path: str | Path,
    *,
    epsilon: object,
    sensitivity: object = None,
    range_distance: object = None,
    monotonic: bool = False,
    candidate_column: str | None = None,
    score_column: str | None = None,
    optimize: str = "max",
    **terms: Unpack[SelectionTerms],
) -> TableRelease:
    r"""The candidate with the largest score of a file, chosen privately.

    With ``optimize="min"`` it is the smallest: mistakes, distances, costs. The file is read as
    :mod:`discreet.score_files` says, which ``compare``, ``plan`` and the explorer use as well.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "scores.csv"
        ...     _ = file.write_text("candidate,score\nflu,412\ncold,98\n")
        ...     select_from_file(file, sensitivity=1, monotonic=True, epsilon=1).answer
        'flu'
    """
    total = positive("epsilon", epsilon)
    asker = Asker(**terms)
    statement: dict[str, Any] = {
        "sensitivity": sensitivity,
        "range_distance": range_distance,
        "monotonic": monotonic,
    }
    form = Scores([0], **statement)
    chooser = asker.chooser(total, optimize=optimize)
    read = reader_of(
        path, candidate_column=candidate_column, score_column=score_column, tell_lines=False
    )

    def work() -> Any:
        labels, values = read()
        return chooser.select(Scores(values, candidates=labels, **statement))

    rules = about_scores(form.range_distance)
    return asker.release(chooser, form, "selection from computed scores", work, rules)
