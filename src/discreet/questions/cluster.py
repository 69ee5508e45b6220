"""Choose the most common candidates in a Spark cluster, if there are too many for one machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from discreet._exact.sampling import Bits
from discreet._exact.sampling.keyed_noise import KeyedNoise
from discreet._tables import Rows, Table
from discreet._tables.engines import quietly
from discreet._tables.spark_selection import (
    public_frame,
    require_libraries,
    scored_in_cluster,
    select_in_cluster,
)
from discreet.errors import ParameterError
from discreet.guarantees import PureDP
from discreet.guarantees.claims import CLAIMS
from discreet.questions.asking import Asking
from discreet.questions.costs import Part
from discreet.questions.plan import Found, Plan
from discreet.questions.rules import Sentences, about_candidates
from discreet.questions.scoring import count_sensitivity

if TYPE_CHECKING:
    from discreet.questions.of_candidates import OfCandidates


def planned_in_cluster(
    question: OfCandidates,
    asking: Asking,
    what: str,
    *,
    part: Part,
    mechanism: str,
    k: int | None = None,
    ordered: bool | None = None,
    rules: Sentences = (),
) -> Plan:
    """Plan to choose ``k`` candidates (or one) from a public PySpark frame, with noise on each count."""
    besides = question.with_count or getattr(question, "with_gap", False)
    if (
        besides
        or question.bounds is not None
        or question.other is not None
        or asking.rows.by is not None
        or asking.epsilon_people
    ):
        raise ParameterError(
            "candidates in the cluster cannot be combined with ⟨by⟩, ⟨bounds⟩, ⟨other⟩, "
            "⟨with_count⟩, ⟨with_gap⟩ and "
            "⟨with_people⟩"
        )
    table, column, number = asking.table, question.column, k or 1
    if table.engine.name != "spark":
        raise ParameterError("candidates in a PySpark frame need data in a PySpark frame")
    require_libraries()
    scale = number * count_sensitivity(asking.inner).range_distance / asking.epsilon_each
    kind = table.kind(column)
    frame = quietly(
        lambda: public_frame(question.candidates, column=column, kind=kind, k=number),
        doing="checking candidates",
    )

    def scored(table: Table, rows: Rows) -> Any:
        def count() -> Any:
            counted = scored_in_cluster(table, rows, column=column, candidates=frame)
            return counted.where("false").collect() if table.is_trial else counted

        return quietly(count, doing="counting in the cluster", telling=table.is_trial)

    def choose(counted: Any, bits: Bits) -> Iterable[Found]:
        noise = KeyedNoise.fresh(bits)
        chosen = quietly(
            lambda: select_in_cluster(counted, scale=scale, noise=noise, count=number),
            doing="selecting in the cluster",
        )
        yield {"answer": chosen[0] if k is None else tuple(chosen if ordered else sorted(chosen))}

    promise, rounds = part
    whole = promise.to(PureDP).proof
    proof = whole and whole.then(CLAIMS["cluster", "PureDP"])
    return asking.plan(
        what,
        parts=[(promise.resting_on(proof, {"PureDP": proof} if proof else {}), rounds)],
        mechanism=mechanism,
        read=scored,
        choose=choose,
        rules=about_candidates() + rules,
        ordered=ordered,
    )
