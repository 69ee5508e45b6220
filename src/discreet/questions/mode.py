"""The most common value: which candidate do most people have?"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.guarantees import PureDP
from discreet.neighbours import ADD_REMOVE
from discreet.numbers.exact import refuse, whole
from discreet.questions.answer import TableRelease
from discreet.questions.asking import AnyLedger, Asking, mechanism_at, prepare, sentence
from discreet.questions.candidates import public_candidates
from discreet.questions.cluster_mode import cluster_mode
from discreet.questions.counting import noisy_count, require_gap, share_of, winner_and_gap, within
from discreet.questions.rules import about_candidates, about_types
from discreet.questions.scoring import count_scores, count_sensitivity
from discreet.questions.unknown_domain import CONSIDERED, unknown_top
from discreet.tables import Grid, people_per_candidate
from discreet.tables.counts import Counts, people_per_interval, people_with_any
from discreet.tables.spark_selection import is_spark_frame


def mode(
    data: Any,
    *,
    column: str,
    candidates: object = None,
    epsilon: object,
    user: str | None = None,
    one_row_per_user: bool = False,
    neighbours: str = ADD_REMOVE,
    mechanism: object = None,
    ledger: AnyLedger | None = None,
    dataset: str | None = None,
    delta: object = None,
    considered: int = CONSIDERED,
    where: str | None = None,
    by: str | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    with_count: bool = False,
    count_share: object = "0.25",
    with_gap: bool = False,
    with_people: bool = False,
    people_share: object = "0.1",
    engine: str | None = None,
    purpose: str | None = None,
) -> TableRelease:
    """The candidate that most people have in ``column``, chosen privately.

    A person counts once for each candidate that any of their rows has. Values that are not candidates are
    ignored, candidates without rows have score zero, and an empty table gets an answer too.

    Args:
        data: a path or glob (CSV, Parquet, JSON lines), a DuckDB relation, or a Polars, pandas or PySpark
            frame.
        column: the column to ask about.
        candidates: the public candidates: a list, a file (one on each line, or a CSV column), an ``Enum``,
            ``polars.Enum`` or ``pandas.CategoricalDtype``, or a ``Grid`` of numbers (a value then counts for
            the grid point at or below it). A PySpark frame of candidates keeps the selection in the cluster,
            however many there are. None, with ``delta``: see ``docs/proofs/unknown-domain.md``.
        epsilon: what the whole question costs, whatever else is asked with it.
        user: the column that tells people apart.
        one_row_per_user: in place of ``user``: nobody has two rows.
        neighbours: ``"add-remove"`` one person, or ``"replace"`` one.
        mechanism: a registered name or a mechanism; permute-and-flip by default.
        ledger: who counts the budget of ``dataset``; None if nobody does.
        dataset: the data set's name in the ledger.
        delta: only without candidates: the probability with which the guarantee may fail.
        considered: only without candidates: how many values compete at most.
        where: a condition on single rows, such as ``"age >= 18 and clinic in ('north', 'south')"``.
        by: one answer for each of the public ``groups`` of this column.
        groups: the public groups.
        groups_per_person: a person counts in so many groups at most, drawn at random from those of their
            rows, and the budget is shared out accordingly.
        with_count: release a noisy count of the answer as well, for ``count_share`` of ε.
        count_share: the part of ε that the count gets.
        with_gap: release the noisy lead of the winner, at no further cost.
        with_people: release a noisy number of the people who counted as well, for ``people_share`` of ε:
            near zero it says that the answer is noise, because no row matched.
        people_share: the part of ε that this number gets; the rest is what is shared out otherwise.
        engine: who reads a path: ``duckdb`` (default), ``polars``, ``pandas`` or ``spark``.
        purpose: what the ledger writes down; by default the question in words.

    Example:
        >>> import polars as pl
        >>> visits = pl.DataFrame({"patient": list(range(200)), "diagnosis": ["flu"] * 180 + ["cold"] * 20})
        >>> release = mode(visits, column="diagnosis", candidates=["flu", "cold", "asthma"], epsilon=1,
        ...                user="patient")
        >>> release.answer, release.guarantee, release.neighbours
        ('flu', PureDP(1), 'add-remove')
    """
    asking = prepare(
        data,
        columns=[column],
        epsilon=epsilon,
        user=user,
        one_row_per_user=one_row_per_user,
        neighbours=neighbours,
        ledger=ledger,
        dataset=dataset,
        where=where,
        by=by,
        groups=groups,
        groups_per_person=groups_per_person,
        with_people=with_people,
        people_share=people_share,
        engine=engine,
    )
    reason = purpose or sentence({"mode of": column, "by": by, "where": where})
    kind = asking.table.kind(column)
    if candidates is None and delta is not None:
        if with_gap:
            raise ParameterError("⟨with_gap⟩ needs public candidates")
        return unknown_top(
            asking,
            column,
            rounds=1,
            delta=delta,
            mechanism=mechanism,
            considered=whole("considered", considered),
            purpose=reason,
            with_count=with_count,
            count_share=count_share,
            single=True,
        )
    if delta is not None:
        raise refuse("delta", delta, "left out with public candidates: a mechanism brings its own")
    if is_spark_frame(candidates):
        if by is not None or with_count or with_gap or with_people:
            raise ParameterError(
                "candidates in the cluster go without ⟨by⟩, ⟨with_count⟩, ⟨with_gap⟩ and ⟨with_people⟩"
            )
        return cluster_mode(
            asking, column, candidates=candidates, mechanism=mechanism, purpose=reason
        )
    labels, count, anybody, said = _counter(asking, column, kind, candidates)
    share = share_of(with_count, count_share)
    for_choice, for_count = asking.epsilon_each * (1 - share), asking.epsilon_each * share
    besides = "with_gap" if with_gap else "with_count" if with_count else None
    chooser = mechanism_at(mechanism, for_choice, besides=besides)
    if with_gap:
        require_gap(chooser, len(labels))

    def answer_one(people: Counts) -> tuple[Any, int | None, int | None]:
        scores = count_scores(people, neighbours=asking.inner)
        gap = None
        if with_gap:
            index, gap = winner_and_gap(scores, for_choice)
        else:
            index = chooser.select_index(scores)
        number = noisy_count(int(people[index]), for_count) if with_count else None
        return labels(index), number, gap

    promise = chooser.promise_at(Fraction(count_sensitivity(asking.inner).range_distance))
    parts = [(PureDP(for_choice) if with_gap else promise, 1)]
    if with_count:
        parts.append((PureDP(for_count), 1))
    event = asking.event(*parts, mechanism=chooser.name)
    found, terms = asking.released(
        event, reason, lambda: [answer_one(people) for people in count()], people=anybody
    )
    return TableRelease(
        answer=asking.shaped([answer for answer, _, _ in found]),
        **terms,
        count=asking.shaped([number for _, number, _ in found]) if with_count else None,
        count_within=within(for_count) if with_count else None,
        gap=asking.shaped([gap for _, _, gap in found]) if with_gap else None,
        rules=asking.rules + said,
    )


class _Labels:
    """The candidate at an index, and how many there are."""

    def __init__(self, labels: Any, size: int) -> None:
        self._labels, self._size = labels, size

    def __call__(self, index: int) -> Any:
        return self._labels(index)

    def __len__(self) -> int:
        return self._size


def _counter(
    asking: Asking, column: str, kind: str, candidates: object
) -> tuple[_Labels, Callable[[], Counts], Callable[[], Counts], tuple[str, ...]]:
    """The labels, the functions that count people, per candidate and at all, and the rules by which."""
    table, rows = asking.table, asking.rows
    if isinstance(candidates, Grid):
        table.require_number(column)
        grid = candidates
        return (
            _Labels(grid.label, len(grid)),
            lambda: people_per_interval(table, rows, column=column, grid=grid),
            lambda: people_with_any(table, rows, column=column, grid=grid),
            about_candidates(grid),
        )
    public = public_candidates(candidates, column=column, kind=kind)
    return (
        _Labels(public.labels.__getitem__, len(public)),
        lambda: people_per_candidate(table, rows, column=column, keys=public.keys),
        lambda: people_with_any(table, rows, column=column, keys=public.keys),
        about_candidates() + about_types(table, column, public, name="candidates"),
    )
