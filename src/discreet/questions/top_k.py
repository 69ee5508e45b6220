"""The k most common values: by peeling, or with one noise for each candidate."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.gaps import Gaps
from discreet.guarantees import PureDP
from discreet.mechanisms import Mechanism, PermuteAndFlip
from discreet.neighbours import ADD_REMOVE
from discreet.numbers.exact import refuse, whole
from discreet.questions.answer import TableRelease
from discreet.questions.asking import AnyLedger, mechanism_at, prepare, sentence
from discreet.questions.candidates import public_candidates
from discreet.questions.counting import noisy_count, share_of, within
from discreet.questions.promise import Part
from discreet.questions.rules import about_candidates, about_types
from discreet.questions.scoring import count_scores, count_sensitivity
from discreet.questions.unknown_domain import CONSIDERED, unknown_top
from discreet.sampling import Bits, SecureBits
from discreet.sampling.noisy_order import noisy_first
from discreet.scores import Scores
from discreet.tables import people_per_candidate
from discreet.tables.counts import Counts, people_with_any

PEELING = "peeling"
ONE_SHOT = "one-shot"

Chooser = Callable[[Scores], list[int]]


def top_k(
    data: Any,
    *,
    column: str,
    k: int,
    candidates: object = None,
    epsilon: object,
    user: str | None = None,
    one_row_per_user: bool = False,
    neighbours: str = ADD_REMOVE,
    mechanism: object = None,
    method: str = PEELING,
    ordered: bool = True,
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
    with_people: bool = False,
    people_share: object = "0.1",
    engine: str | None = None,
    purpose: str | None = None,
) -> TableRelease:
    """The ``k`` candidates that most people have, the most common first, chosen privately.

    ``epsilon`` is the total. *Peeling* chooses k times, each time among those left, at ε/k. *One-shot* adds
    one exponential noise of scale k·d/ε to each count and takes the k largest; it is another distribution
    with its own proof, and needs one pass (``docs/proofs/top-k.md``). Both release the order;
    ``ordered=False`` forgets it (the answer is then in the order of the candidates) and costs the same.

    Args:
        data: a path or glob, a DuckDB relation, or a Polars, pandas or PySpark frame.
        column: the column to ask about.
        k: how many.
        candidates: the public candidates, as for ``mode``; None with ``delta`` for an unknown domain, where
            fewer than k may come back.
        epsilon: what the whole question costs.
        user: the column that tells people apart.
        one_row_per_user: in place of ``user``: nobody has two rows.
        neighbours: ``"add-remove"`` one person, or ``"replace"`` one.
        mechanism: for peeling: a registered name or a mechanism; permute-and-flip by default.
        method: ``"peeling"`` or ``"one-shot"``.
        ordered: whether the order is part of the answer.
        ledger: who counts the budget of ``dataset``; None if nobody does.
        dataset: the data set's name in the ledger.
        delta: only without candidates: the probability with which the guarantee may fail.
        considered: only without candidates: how many values compete at most.
        where: a condition on single rows.
        by: one answer for each of the public ``groups`` of this column.
        groups: the public groups.
        groups_per_person: a person counts in so many groups at most.
        with_count: release noisy counts of the answers as well, for ``count_share`` of ε.
        count_share: the part of ε that the counts get.
        with_people: release a noisy number of the people who counted as well, for ``people_share`` of ε.
        people_share: the part of ε that this number gets.
        engine: who reads a path.
        purpose: what the ledger writes down.

    Example:
        >>> import polars as pl
        >>> pages = ["home"] * 300 + ["news"] * 200 + ["help"] * 100 + ["legal"]
        >>> visits = pl.DataFrame({"person": range(601), "page": pages})
        >>> top_k(visits, column="page", k=2, candidates=["home", "news", "help", "legal"], epsilon=2,
        ...       user="person").answer
        ('home', 'news')
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
    number = whole("k", k)
    kind = asking.table.kind(column)
    reason = purpose or sentence({f"top {number} of": column, "by": by, "where": where})
    if candidates is None and delta is not None:
        if method != PEELING or not ordered:
            raise ParameterError("an unknown domain is peeled, and the order is part of the answer")
        return unknown_top(
            asking,
            column,
            rounds=number,
            delta=delta,
            mechanism=mechanism,
            considered=max(whole("considered", considered), number),
            purpose=reason,
            with_count=with_count,
            count_share=count_share,
        )
    if delta is not None:
        raise refuse("delta", delta, "left out with public candidates: a mechanism brings its own")
    public = public_candidates(candidates, column=column, kind=kind)
    if number > len(public):
        raise refuse("k", k, f"at most the number of candidates, {len(public)}")
    said = about_candidates() + about_types(asking.table, column, public, name="candidates")
    share = share_of(with_count, count_share)
    for_choice = asking.epsilon_each * (1 - share)
    choose, part, name = way_to_choose(
        method,
        mechanism,
        for_choice,
        number,
        Fraction(count_sensitivity(asking.inner).range_distance),
        besides="with_count" if with_count else None,
    )
    each = asking.epsilon_each * share / number

    def answer_one(people: Counts) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        indices = choose(count_scores(people, neighbours=asking.inner))
        indices = indices if ordered else sorted(indices)
        counts = (
            tuple(noisy_count(int(people[index]), each) for index in indices) if with_count else ()
        )
        return tuple(public.labels[index] for index in indices), counts

    def work() -> list[tuple[tuple[Any, ...], tuple[int, ...]]]:
        counted = people_per_candidate(asking.table, asking.rows, column=column, keys=public.keys)
        return [answer_one(people) for people in counted]

    counted = [(PureDP(each), number)] if with_count else []
    event = asking.event(part, *counted, mechanism=name)
    found, terms = asking.released(
        event,
        reason,
        work,
        people=lambda: people_with_any(asking.table, asking.rows, column=column, keys=public.keys),
    )
    return TableRelease(
        answer=asking.shaped([labels for labels, _ in found]),
        **terms,
        count=asking.shaped([counts for _, counts in found]) if with_count else None,
        count_within=within(each) if with_count else None,
        ordered=ordered,
        rules=asking.rules + said,
    )


def way_to_choose(
    method: object,
    mechanism: object,
    epsilon: Fraction,
    k: int,
    distance: Fraction,
    *,
    besides: str | None = None,
) -> tuple[Chooser, Part, str]:
    """How to choose, what each round promises and how many there are, and its name."""
    if method == PEELING:
        made = mechanism_at(mechanism, epsilon / k, besides=besides)
        part = made.promise_at(distance), k
        return (lambda scores: peel(scores, made, k)), part, f"{made.name}, {k} times"
    if method == ONE_SHOT:
        noise = mechanism_at(mechanism, epsilon, besides="one-shot noise")
        if noise.facts.law is not PermuteAndFlip.facts.law:
            raise ParameterError(
                "⟨mechanism⟩ goes with peeling; one-shot noise is exponential, as in permute-and-flip"
            )
        return (
            (lambda scores: one_shot(scores, epsilon, k)),
            (PureDP(epsilon), 1),
            "one-shot exponential noise",
        )
    raise refuse("method", method, f'"{PEELING}" or "{ONE_SHOT}"')


def peel(scores: Scores, mechanism: Mechanism, k: int) -> list[int]:
    """``k`` choices without replacement, each by ``mechanism`` among those left."""
    left = np.arange(len(scores))
    chosen: list[int] = []
    for _ in range(k):
        remaining = Scores(
            scores.values[left], sensitivity=scores.sensitivity, monotonic=scores.monotonic
        )
        place = mechanism.select_index(remaining)
        chosen.append(int(left[place]))
        left = np.delete(left, place)
    return chosen


def one_shot(scores: Scores, epsilon: Fraction, k: int, *, bits: Bits | None = None) -> list[int]:
    """The ``k`` largest scores after one exponential noise of scale k·d/ε each, in order."""
    gaps = Gaps(scores.values, scale=k * scores.range_distance / epsilon)
    return noisy_first(gaps, k, SecureBits() if bits is None else bits)
