"""The most common value when even the candidates are too many for one machine: all of it in the cluster."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.questions.answer import TableRelease
from discreet.questions.asking import Asking, mechanism_at
from discreet.questions.rules import about_candidates
from discreet.questions.scoring import count_sensitivity
from discreet.sampling.keyed_coins import KeyedCoins, require_scale
from discreet.tables.quiet import quietly
from discreet.tables.spark_selection import (
    public_frame,
    require_libraries,
    scored_in_cluster,
    select_in_cluster,
)


def cluster_mode(
    asking: Asking, column: str, *, candidates: Any, mechanism: object, purpose: str
) -> TableRelease:
    """Permute-and-flip over a PySpark frame of public candidates."""
    if asking.table.engine != "pyspark":
        raise ParameterError("candidates in a PySpark frame need data in a PySpark frame")
    require_libraries()
    chooser = mechanism_at(mechanism, asking.epsilon, besides="candidates in the cluster")
    if not chooser.facts.merges:
        raise ParameterError(
            "a selection in the cluster is permute-and-flip: leave ⟨mechanism⟩ out"
        )
    distance = Fraction(count_sensitivity(asking.neighbours).range_distance)
    scale = distance / asking.epsilon
    require_scale(scale)
    kind = asking.table.kind(column)
    frame = quietly(
        lambda: public_frame(candidates, column=column, kind=kind), doing="checking candidates"
    )

    def work() -> Any:
        def select() -> Any:
            scored = scored_in_cluster(asking.table, asking.rows, column=column, candidates=frame)
            return select_in_cluster(scored, scale=scale, coins=KeyedCoins.fresh())

        return quietly(select, doing="selecting in the cluster")

    event = asking.event((chooser.promise_at(distance), 1), mechanism=chooser.name)
    answer, terms = asking.asker.spending(event, purpose, work)
    return TableRelease(
        answer=answer,
        **terms,
        rules=asking.rules + about_candidates(),
    )
