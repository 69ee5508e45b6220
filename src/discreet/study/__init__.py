"""A study: many questions under one budget, planned as a whole, signed, run, and written up.

Example:
    >>> import polars as pl
    >>> from discreet import Study
    >>> from discreet.questions import Median, Mode
    >>> from discreet.study import Asked
    >>> visits = pl.DataFrame({"patient": [1, 2], "diagnosis": ["flu", "cold"], "age": [30, 40]})
    >>> study = Study(
    ...     title="Winter",
    ...     dataset="clinic",
    ...     tables={"visits": {"data": visits, "user": "patient"}},
    ...     questions=[
    ...         Asked("diagnosis", "visits", Mode("diagnosis", candidates=["flu", "cold"], epsilon=1)),
    ...         Asked("age", "visits", Median("age", bounds=(0, 120), error_at_most=20)),
    ...     ],
    ... )
    >>> plan = study.plan()
    >>> [line.asked.name for line in plan.lines], float(plan.total)
    (['diagnosis', 'age'], 1.3898)
"""

from discreet.study.answers import StudyAnswers
from discreet.study.planned import StudyPlan
from discreet.study.study import Asked, Study, StudyError

__all__ = ["Asked", "Study", "StudyAnswers", "StudyError", "StudyPlan"]
