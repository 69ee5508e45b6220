"""The most common value: which candidate do most people have?"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from discreet.errors import ParameterError
from discreet.guarantees import PureDP
from discreet.questions.answer import TableRelease
from discreet.questions.candidates import contest_of, in_the_cluster
from discreet.questions.cluster import released_in_cluster
from discreet.questions.context import Context, Terms
from discreet.questions.found_groups import in_groups
from discreet.questions.scoring import (
    choices,
    count_scores,
    count_sensitivity,
    require_gap,
    resting,
    share_of,
    winner_and_gap,
)
from discreet.questions.unknown_domain import CONSIDERED, unknown_top
from discreet.tables.counts import Counts


@in_groups
def mode(
    data: Any,
    column: str = "value",
    *,
    candidates: object = None,
    bounds: object = None,
    step: object = 1,
    other: str | None = None,
    epsilon: object,
    delta: object = None,
    considered: int = CONSIDERED,
    with_count: bool = False,
    count_share: object = "0.25",
    with_gap: bool = False,
    **terms: Unpack[Terms],
) -> TableRelease:
    """The candidate that most people have in ``column``, chosen privately.

    A person counts once for each candidate that any of their rows has. Values that are not candidates are
    ignored, candidates without rows have score zero, and an empty table gets an answer too.

    Args:
        data: a path or glob (CSV, Parquet, JSON lines), a DuckDB relation, a Polars, pandas or PySpark frame,
            an Arrow table or data set, a table of Ibis, or the address of a database or a SQLAlchemy engine
            with ``table``; an array or a list is one column, ``value``.
        column: the column to ask about.
        candidates: the public candidates: a list, a file (one on each line, or a CSV column), an ``Enum``,
            ``polars.Enum`` or ``pandas.CategoricalDtype``, or a ``Grid`` of numbers (a value then counts for
            the grid point at or below it). A PySpark frame of candidates keeps the selection in the cluster,
            however many there are. None, with ``delta``: see ``docs/proofs/unknown-domain.md``.
        bounds: in place of ``candidates``: the public bounds of a grid of numbers, decimals, dates, times or
            time spans, as for ``quantile``; a value counts for the grid point at or below it.
        step: with ``bounds``: the distance between grid points, ``"1d"`` or ``"15min"`` for dates and times.
        other: with ``candidates``: a label for one more candidate, whatever is none of them.
        epsilon: what the whole question costs, whatever else is asked with it.
        delta: only without candidates: the probability with which the guarantee may fail.
        considered: only without candidates: how many values compete at most.
        with_count: release a noisy count of the answer as well, for ``count_share`` of ε.
        count_share: the part of ε that the count gets.
        with_gap: release the noisy lead of the winner, at no further cost.
        **terms: whose the rows are, who counts, which rows and groups: what every question is told, see
            ``Terms``.

    Example:
        >>> import polars as pl
        >>> visits = pl.DataFrame({"patient": list(range(200)), "diagnosis": ["flu"] * 180 + ["cold"] * 20})
        >>> release = mode(visits, column="diagnosis", candidates=["flu", "cold", "asthma"], epsilon=1,
        ...                user="patient")
        >>> release.answer, release.guarantee, release.neighbours
        ('flu', PureDP(1), 'add-remove')
    """
    asking = Context.of(data, terms).asking(column, epsilon)
    share = share_of(with_count, count_share)
    if candidates is None and bounds is None and delta is not None:
        if other is not None:
            raise ParameterError("⟨other⟩ needs public candidates")
        if with_gap:
            raise ParameterError("⟨with_gap⟩ needs public candidates")
        return unknown_top(asking, "mode", delta=delta, considered=considered, share=share)
    in_cluster = delta is None and in_the_cluster(candidates)
    for_choice = asking.epsilon_each * (1 - share)
    beside = {
        "with_gap": with_gap,
        "with_count": with_count,
        "candidates in the cluster": in_cluster,
    }
    chooser = asking.context.chooser(
        for_choice, besides=next((name for name, said in beside.items() if said), None)
    )
    moved = count_sensitivity(asking.inner)
    promise = resting(chooser.promise_at(Fraction(moved.range_distance)), moved)
    if in_cluster:
        if not chooser.facts.merges:
            raise ParameterError(
                "a selection in the cluster is permute-and-flip: leave ⟨mechanism⟩ out"
            )
        return released_in_cluster(
            asking,
            "mode",
            candidates,
            k=1,
            part=(promise, 1),
            mechanism=chooser.name,
            answer=lambda chosen: {"answer": chosen[0]},
            besides=with_count or with_gap or bounds is not None or other is not None,
        )
    contest = contest_of(asking, candidates, bounds=bounds, step=step, delta=delta, other=other)
    if with_gap:
        require_gap(chooser, len(contest))

    def choose_each(people: Counts) -> Iterable[tuple[list[tuple[Any, int]], dict[str, Any]]]:
        if with_gap:
            for row in people:
                index, gap = winner_and_gap(count_scores(row, neighbours=asking.inner), for_choice)
                yield contest.named([index], row), {"gap": gap}
            return
        indices = choices(chooser, people, moved)
        counts = people[np.arange(len(people)), indices].tolist()
        for label, count in zip(map(contest.label, indices), counts, strict=True):
            yield [(label, count)], {}

    part = PureDP(for_choice) if with_gap else promise, 1
    return asking.release(
        "mode",
        **asking.naming(part, lambda chosen: chosen, share=share),
        mechanism=chooser.name,
        read=contest.count,
        choose_each=choose_each,
        people=contest.anybody,
        rules=contest.rules,
    )
