"""The most common value when even the candidates are too many for one machine: all of it in the cluster."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.questions.answer import TableRelease, about_candidates
from discreet.questions.context import Asking
from discreet.questions.scoring import count_sensitivity
from discreet.sampling.keyed_coins import KeyedCoins, require_scale
from discreet.tables.engines import quietly
from discreet.tables.spark_selection import (
    public_frame,
    require_libraries,
    scored_in_cluster,
    select_in_cluster,
)


def cluster_mode(asking: Asking, candidates: Any, *, besides: bool) -> TableRelease:
    """Permute-and-flip over a PySpark frame of public candidates, with nothing ``besides``."""
    if besides or asking.rows.by is not None or asking.epsilon_people:
        raise ParameterError(
            "candidates in the cluster go without ⟨by⟩, ⟨with_count⟩, ⟨with_gap⟩ and ⟨with_people⟩"
        )
    if asking.table.engine != "pyspark":
        raise ParameterError("candidates in a PySpark frame need data in a PySpark frame")
    require_libraries()
    column, epsilon = asking.column, asking.epsilon_each
    chooser = asking.context.chooser(epsilon, besides="candidates in the cluster")
    if not chooser.facts.merges:
        raise ParameterError(
            "a selection in the cluster is permute-and-flip: leave ⟨mechanism⟩ out"
        )
    distance = Fraction(count_sensitivity(asking.inner).range_distance)
    scale = distance / epsilon
    require_scale(scale)
    kind = asking.table.kind(column)
    frame = quietly(
        lambda: public_frame(candidates, column=column, kind=kind), doing="checking candidates"
    )

    def select() -> Any:
        scored = scored_in_cluster(asking.table, asking.rows, column=column, candidates=frame)
        return select_in_cluster(scored, scale=scale, coins=KeyedCoins.fresh())

    return asking.release(
        "mode",
        parts=[(chooser.promise_at(distance), 1)],
        mechanism=chooser.name,
        read=lambda: [quietly(select, doing="selecting in the cluster")],
        answer=lambda chosen: {"answer": chosen},
        rules=about_candidates(),
    )
