"""The k most common values: by peeling, or with one noise for each candidate."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from discreet.errors import ParameterError
from discreet.gaps import Gaps
from discreet.guarantees import PureDP
from discreet.mechanisms import Mechanism, PermuteAndFlip
from discreet.numbers.exact import refuse, whole
from discreet.questions.answer import TableRelease
from discreet.questions.candidates import contest_of
from discreet.questions.context import Context, Terms
from discreet.questions.scoring import count_scores, count_sensitivity, resting, share_of
from discreet.questions.spending import Part, mechanism_at
from discreet.questions.unknown_domain import CONSIDERED, unknown_top
from discreet.sampling import Bits, SecureBits
from discreet.sampling.noisy_order import noisy_first
from discreet.scores import Scores
from discreet.tables.counts import Counts

PEELING = "peeling"
ONE_SHOT = "one-shot"

Chooser = Callable[[Scores], list[int]]


def top_k(
    data: Any,
    column: str,
    *,
    k: int,
    candidates: object = None,
    bounds: object = None,
    step: object = 1,
    epsilon: object,
    method: str = PEELING,
    ordered: bool = True,
    delta: object = None,
    considered: int = CONSIDERED,
    with_count: bool = False,
    count_share: object = "0.25",
    **terms: Unpack[Terms],
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
        bounds: in place of ``candidates``, as for ``mode``.
        step: with ``bounds``: the distance between grid points.
        epsilon: what the whole question costs.
        delta: only without candidates: the probability with which the guarantee may fail.
        considered: only without candidates: how many values compete at most.
        method: ``"peeling"`` or ``"one-shot"``.
        ordered: whether the order is part of the answer.
        with_count: release noisy counts of the answers as well, for ``count_share`` of ε.
        count_share: the part of ε that the counts get.
        **terms: what every question is told, see ``Terms``; the mechanism is for peeling.

    Example:
        >>> import polars as pl
        >>> pages = ["home"] * 300 + ["news"] * 200 + ["help"] * 100 + ["legal"]
        >>> visits = pl.DataFrame({"person": range(601), "page": pages})
        >>> top_k(visits, column="page", k=2, candidates=["home", "news", "help", "legal"], epsilon=2,
        ...       user="person").answer
        ('home', 'news')
    """
    asking = Context.of(data, terms).asking(column, epsilon)
    number = whole("k", k)
    what = f"top {number}"
    share = share_of(with_count, count_share)
    if candidates is None and bounds is None and delta is not None:
        if method != PEELING or not ordered:
            raise ParameterError("an unknown domain is peeled, and the order is part of the answer")
        most = max(whole("considered", considered), number)
        return unknown_top(asking, what, delta=delta, considered=most, share=share, k=number)
    contest = contest_of(asking, candidates, bounds=bounds, step=step, delta=delta)
    if number > len(contest):
        raise refuse("k", k, f"at most the number of candidates, {len(contest)}")
    moved = count_sensitivity(asking.inner)
    choose, (promise, rounds), name = way_to_choose(
        method,
        asking.context.mechanism,
        asking.epsilon_each * (1 - share),
        number,
        Fraction(moved.range_distance),
        besides="with_count" if with_count else None,
    )

    def chosen(people: Counts) -> tuple[list[tuple[Any, int]], dict[str, Any]]:
        indices = choose(count_scores(people, neighbours=asking.inner))
        return contest.named(indices if ordered else sorted(indices), people), {}

    return asking.named(
        what,
        part=(resting(promise, moved), rounds),
        mechanism=name,
        read=contest.count,
        choose=chosen,
        people=contest.anybody,
        rules=contest.rules,
        share=share,
        k=number,
        ordered=ordered,
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
