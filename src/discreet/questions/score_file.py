"""Scores that somebody computed already, in a file: one candidate and one score on each line.

The candidates and the sensitivity are stated by whoever made the file. Errors name the rule that the file
breaks and never a score.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from discreet.numbers.exact import positive
from discreet.questions.answer import TableRelease
from discreet.questions.context import SelectionTerms
from discreet.questions.rules import about_scores
from discreet.questions.spending import Asker
from discreet.score_files import reader_of
from discreet.scores import Scores


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
