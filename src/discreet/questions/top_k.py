"""The k most common values: chosen at once, with one noise for each candidate, or by peeling."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from discreet.displays import counted
from discreet.errors import ParameterError
from discreet.gaps import Gaps
from discreet.guarantees import ApproxDP, PureDP
from discreet.guarantees.conversions import Proof
from discreet.mechanisms import Exponential, Mechanism, PermuteAndFlip
from discreet.neighbours import ADD_REMOVE
from discreet.numbers.exact import probability, refuse, whole
from discreet.questions.answer import TableRelease, about_kept, about_method
from discreet.questions.candidates import contest_of, in_the_cluster
from discreet.questions.cluster import released_in_cluster
from discreet.questions.context import Asking, Context, Terms
from discreet.questions.found_groups import in_groups
from discreet.questions.scoring import (
    PAGE,
    Sensitivity,
    choices,
    count_scores,
    count_sensitivity,
    resting,
    share_of,
)
from discreet.questions.spending import Part, mechanism_at
from discreet.questions.unknown_domain import (
    CONSIDERED,
    limits_for,
    require_values,
    step_limits,
    unknown_top,
)
from discreet.sampling import Bits, SecureBits
from discreet.sampling.joint_top_k import joint_first
from discreet.sampling.keeping import Keeping, kept
from discreet.sampling.noisy_order import noisy_first
from discreet.scores import Scores
from discreet.tables.counts import Counts, people_per_group, people_with_any

PEELING = "peeling"
ONE_SHOT = "one-shot"
JOINT = "joint"
_PAGE = "docs/proofs/top-k.md"
_KEPT = "docs/proofs/groups-from-the-data.md"

Chooser = Callable[[Scores], list[int]]


@in_groups
def top_k(
    data: Any,
    column: str = "value",
    *,
    k: int,
    candidates: object = None,
    bounds: object = None,
    step: object = 1,
    other: str | None = None,
    epsilon: object,
    method: str | None = None,
    ordered: bool = True,
    delta: object = None,
    considered: int = CONSIDERED,
    with_count: bool = False,
    count_share: object = "0.25",
    **terms: Unpack[Terms],
) -> TableRelease:
    """The ``k`` candidates that most people have, the most common first, chosen privately.

    ``epsilon`` is the total, however the k are chosen. *Joint* chooses all of them at once, by how far the
    worst of them falls short. *One-shot* adds one exponential noise of scale k·d/ε to each count and takes
    the k largest. *Peeling* chooses k times, each time among those left, at ε/k. Which one is used when none
    is named depends on k, the relation and what the budget adds up, and on no data: joint for k above 4,
    and for less one-shot; where the ledger adds up ρ, joint for k above 16, and for less peeling by the
    exponential mechanism, which then costs k times less (``docs/proofs/top-k.md``). All three release the
    order; ``ordered=False`` forgets it (the answer is then in the order of the candidates), at the same cost.

    The other arguments are those of ``mode``.

    Args:
        k: how many.
        candidates: the public candidates, as for ``mode``; those in a PySpark frame are chosen in the
            cluster, by one-shot noise. None with ``delta`` for an unknown domain, where fewer than k may
            come back.
        method: ``"joint"``, ``"one-shot"`` or ``"peeling"``.
        ordered: whether the order is part of the answer.
        with_count: release noisy counts of the answers as well, for ``count_share`` of ε.
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
    if method not in (None, JOINT, ONE_SHOT, PEELING):
        raise refuse("method", method, f'"{JOINT}", "{ONE_SHOT}" or "{PEELING}"')
    what = f"top {number}"
    share = share_of(with_count, count_share)
    if candidates is None and bounds is None and delta is not None:
        if other is not None:
            raise ParameterError("⟨other⟩ needs public candidates")
        if method not in (None, PEELING) or not ordered:
            raise ParameterError("an unknown domain is peeled, and the order is part of the answer")
        most = max(whole("considered", considered), number)
        keeping = keeping_for(asking, delta, most, number, share)
        if keeping is not None:
            return top_of_kept(asking, what, keeping, delta=delta, share=share, k=number)
        return unknown_top(asking, what, delta=delta, considered=most, share=share, k=number)
    moved = count_sensitivity(asking.inner)
    if delta is None and in_the_cluster(candidates):
        if method not in (None, ONE_SHOT):
            raise refuse("method", method, f'"{ONE_SHOT}", for candidates in the cluster')
        _, (promise, rounds), name = way_to_choose(
            ONE_SHOT,
            asking.context.mechanism,
            asking.epsilon_each,
            number,
            Fraction(moved.range_distance),
        )
        return released_in_cluster(
            asking,
            what,
            candidates,
            k=number,
            part=(resting(promise, moved), rounds),
            mechanism=name,
            answer=lambda chosen: {"answer": tuple(chosen if ordered else sorted(chosen))},
            besides=with_count or bounds is not None or other is not None,
            rules=about_method(ONE_SHOT, in_cluster=True),
            ordered=ordered,
        )
    contest = contest_of(asking, candidates, bounds=bounds, step=step, delta=delta, other=other)
    if number > len(contest):
        raise refuse("k", k, f"at most the number of candidates, {len(contest)}")
    epsilon_each = asking.epsilon_each * (1 - share)
    mechanism, by_rule = (
        asking.context.mechanism,
        method is None and asking.context.mechanism is None,
    )
    if by_rule:
        concentrated = asking.context.adds_up_rho
        joint, _ = joint_distance(number, asking.inner, one_value=asking.rows.user is None)
        method = best_method(number, moved.range_distance, joint, concentrated=concentrated)
        mechanism = Exponential if method == PEELING and concentrated else None
    if method == JOINT:
        choose, part, name = jointly(asking, mechanism, epsilon_each, number)
    else:
        choose, (promise, rounds), name = way_to_choose(
            PEELING if method is None else method,
            mechanism,
            epsilon_each,
            number,
            Fraction(moved.range_distance),
            besides="with_count" if with_count else None,
        )
        part = resting(promise, moved), rounds

    def choose_each(people: Counts) -> Iterable[tuple[Counts, list[int]]]:
        if method in (None, PEELING) and len(people) > 1:
            chooser = mechanism_at(mechanism, epsilon_each / number)
            return zip(people, peel_each(people, chooser, number, moved), strict=True)
        return ((row, choose(count_scores(row, neighbours=asking.inner))) for row in people)

    def chosen(drawn: tuple[Counts, list[int]]) -> tuple[list[tuple[Any, int]], dict[str, Any]]:
        people, indices = drawn
        return contest.named(indices if ordered else sorted(indices), people), {}

    return asking.release(
        what,
        **asking.naming(part, chosen, share=share, k=number),
        mechanism=name,
        read=contest.count,
        choose_each=choose_each,
        people=contest.anybody,
        rules=contest.rules + (about_method(str(method)) if by_rule else ()),
        ordered=ordered,
    )


def keeping_for(
    asking: Asking, delta: object, considered: int, k: int, share: Fraction
) -> Keeping | None:
    """The rule that keeps values, where it names smaller ones than the margin does; it looks at no data.

    Where each person has one value, half of ε pays for keeping and half for choosing among those kept.
    """
    if k == 1 or asking.rows.user is not None or asking.rows.by is not None:
        return None
    epsilon, neighbours = asking.epsilon_each * (1 - share), asking.context.neighbours
    limits, failing = limits_for(
        epsilon=epsilon,
        delta=delta,
        rounds=k,
        considered=considered,
        one_row_each=True,
        neighbours=neighbours,
    )
    keeping = Keeping(*step_limits(epsilon / 2, failing, neighbours))
    return keeping if keeping.turn < limits.margin else None


def top_of_kept(
    asking: Asking, what: str, keeping: Keeping, *, delta: object, share: Fraction, k: int
) -> TableRelease:
    """The k commonest of the values that may be named, fewer if there are fewer."""
    column, rows = asking.column, asking.rows
    epsilon = asking.epsilon_each * (1 - share)
    asking.table.require_told_apart(column, name="column")
    require_values(asking.table, column)
    if asking.context.mechanism is not None:
        raise ParameterError(
            "values from the data are chosen by a way of their own: leave ⟨mechanism⟩ out"
        )

    def choose(counted: list[tuple[Any, int]]) -> tuple[list[tuple[Any, int]], dict[str, Any]]:
        people = np.array([number for _, number in counted], dtype=np.int64)
        named = kept(people, keeping=keeping, bits=SecureBits()).nonzero()[0]
        if not len(named):
            return [], {}
        places = min(k, len(named))
        scores = count_scores(people[named], neighbours=asking.inner)
        distance = count_sensitivity(asking.inner).range_distance
        joint, _ = joint_distance(places, asking.inner, one_value=asking.rows.user is None)
        if best_method(places, distance, joint, concentrated=False) == JOINT:
            indices = jointly(asking, None, epsilon / 2, places)[0](scores)
        else:
            indices = one_shot(scores, epsilon / 2, places)
        return [counted[named[index]] for index in indices], {}

    promise = ApproxDP(epsilon, probability("delta", delta)).resting_on(Proof(_KEPT))
    release = asking.release(
        what,
        **asking.naming((promise, 1), choose, share=share, k=k),
        mechanism="values kept by the best rule, then chosen among those",
        read=lambda: [people_per_group(asking.table, replace(rows, by=column))],
        people=lambda: people_with_any(asking.table, rows, column=column),
        ordered=True,
    )
    return replace(release, rules=release.rules + about_kept(k, len(release.answer)))


def joint_distance(k: int, neighbours: str, *, one_value: bool) -> tuple[int, Proof]:
    """How far one person moves the joint scores of two tuples apart, and what proves it.

    Example:
        >>> [joint_distance(2, "replace", one_value=each)[0] for each in (True, False)]
        [3, 4]
    """
    counted = Proof(PAGE, "counts_add_remove")
    if neighbours == ADD_REMOVE:
        return 1 if k == 1 else 2, counted.then(Proof(_PAGE, "joint_top_k_add_remove"))
    if one_value and k > 1:
        # That a person with one value moves from one candidate to another, or in or out, is on paper.
        return 3, Proof((PAGE, _PAGE))
    return 2 if k == 1 else 4, counted.then(Proof(_PAGE, "joint_top_k_replace"))


def best_method(k: int, distance: int, joint: int, *, concentrated: bool) -> str:
    """The method that falls short least, by the noise that each needs; it looks at no data.

    With one noise for each of k choices the scale is k·d/ε, jointly d'/ε; where ρ is added up, √k times less
    than k for the same cost. Jointly the losses of k places add up in the exponent, and the two are about
    even where that scale is half of the other: ``benchmarks/results/top_k.md``.
    """
    if concentrated:
        return JOINT if k * distance**2 > 4 * joint**2 else PEELING
    return JOINT if k * distance > 2 * joint else ONE_SHOT


def jointly(
    asking: Asking, mechanism: object, epsilon: Fraction, k: int
) -> tuple[Chooser, Part, str]:
    """All at once, by the exponential mechanism over ordered tuples of k candidates."""
    if mechanism is not None:
        raise ParameterError(
            "⟨mechanism⟩ goes with peeling; the joint choice is an exponential mechanism of its own"
        )
    distance, proof = joint_distance(k, asking.inner, one_value=asking.rows.user is None)
    promise = Exponential(epsilon=epsilon).promise_at(Fraction(distance))
    assert promise.proof is not None
    scale = distance / epsilon

    def choose(scores: Scores) -> list[int]:
        return joint_first(scores.values, k, scale=scale, bits=SecureBits())

    return (
        choose,
        (promise.resting_on(promise.proof.then(proof)), 1),
        "joint exponential mechanism",
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
        return (lambda scores: peel(scores, made, k)), part, f"{made.name}, {counted(k, 'time')}"
    if method == ONE_SHOT:
        noise = mechanism_at(mechanism, epsilon, besides="one-shot noise")
        if noise.facts.law is not PermuteAndFlip.facts.law:
            raise ParameterError(
                "⟨mechanism⟩ goes with peeling; one-shot noise is exponential, as in permute-and-flip"
            )
        return (
            (lambda scores: one_shot(scores, epsilon, k)),
            (PureDP(epsilon).resting_on(Proof(_PAGE, "one_shot_pure_dp")), 1),
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


def peel_each(
    people: Counts, mechanism: Mechanism, k: int, sensitivity: Sensitivity
) -> list[list[int]]:
    """As ``peel``, in every row of counts at once."""
    left = np.tile(np.arange(people.shape[1]), (len(people), 1))
    rows, rounds = np.arange(len(people)), []
    for _ in range(k):
        places = choices(mechanism, people, sensitivity)
        rounds.append(left[rows, places])
        others = np.ones(left.shape, dtype=np.bool_)
        others[rows, places] = False
        left = left[others].reshape(len(rows), -1)
        people = people[others].reshape(len(rows), -1)
    found: list[list[int]] = np.column_stack(rounds).tolist()
    return found


def one_shot(scores: Scores, epsilon: Fraction, k: int, *, bits: Bits | None = None) -> list[int]:
    """The ``k`` largest scores after one exponential noise of scale k·d/ε each, in order."""
    gaps = Gaps(scores.values, scale=k * scores.range_distance / epsilon)
    return noisy_first(gaps, k, SecureBits() if bits is None else bits)
