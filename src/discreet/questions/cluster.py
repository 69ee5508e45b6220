"""The most common values when even the candidates are too many for one machine: all of it in the cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.errors import ParameterError
from discreet.questions.answer import Sentences, TableRelease, about_candidates
from discreet.questions.context import Asking
from discreet.questions.scoring import count_sensitivity
from discreet.questions.spending import Part
from discreet.sampling.keyed_noise import KeyedNoise
from discreet.tables.engines import quietly
from discreet.tables.spark_selection import (
    public_frame,
    require_libraries,
    scored_in_cluster,
    select_in_cluster,
)


def released_in_cluster(
    asking: Asking,
    what: str,
    candidates: Any,
    *,
    k: int,
    part: Part,
    mechanism: str,
    answer: Callable[[list[Any]], dict[str, Any]],
    besides: bool,
    rules: Sentences = (),
    ordered: bool | None = None,
) -> TableRelease:
    """The first ``k`` of a PySpark frame of public candidates by one noise each, with nothing ``besides``."""
    if besides or asking.rows.by is not None or asking.epsilon_people:
        raise ParameterError(
            "candidates in the cluster go without ⟨by⟩, ⟨bounds⟩, ⟨other⟩, ⟨with_count⟩, ⟨with_gap⟩ and "
            "⟨with_people⟩"
        )
    if asking.table.engine != "pyspark":
        raise ParameterError("candidates in a PySpark frame need data in a PySpark frame")
    require_libraries()
    column, table = asking.column, asking.table
    scale = k * count_sensitivity(asking.inner).range_distance / asking.epsilon_each
    kind = table.kind(column)
    frame = quietly(
        lambda: public_frame(candidates, column=column, kind=kind, k=k), doing="checking candidates"
    )

    def select() -> list[Any]:
        scored = scored_in_cluster(table, asking.rows, column=column, candidates=frame)
        return select_in_cluster(scored, scale=scale, noise=KeyedNoise.fresh(), count=k)

    return asking.release(
        what,
        parts=[part],
        mechanism=mechanism,
        read=lambda: [quietly(select, doing="selecting in the cluster")],
        answer=answer,
        rules=about_candidates() + rules,
        ordered=ordered,
    )
