"""The k most common values: chosen jointly, by one-shot noise on the counts, or by peeling."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from discreet._displays import counted
from discreet._exact.gaps import Gaps
from discreet._exact.numbers.exact import refuse, whole
from discreet._exact.sampling import Bits
from discreet._exact.sampling.joint_sets import joint_set
from discreet._exact.sampling.joint_top_k import joint_first
from discreet._exact.sampling.keeping import Keeping, kept
from discreet._exact.sampling.noisy_order import noisy_first
from discreet._exact.sampling.weighing import Weighings, weighings_at
from discreet._tables import Rows, Table
from discreet._tables.counts import (
    Counts,
    people_per_group,
    people_with_any,
)
from discreet.analysis import error_bound
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP, ApproxZCDP, PureDP
from discreet.guarantees.claims import CLAIMS, SCORES
from discreet.mechanisms import Exponential, Mechanism, PermuteAndFlip
from discreet.mechanisms.registry import mechanism_at
from discreet.neighbours import ADD_REMOVE
from discreet.questions.accuracy import drawn
from discreet.questions.asking import Asking
from discreet.questions.candidates import in_the_cluster
from discreet.questions.cluster import planned_in_cluster
from discreet.questions.costs import ANSWER, IN_ANSWERS, IN_RHO, Part, concentrated
from discreet.questions.of_candidates import OfCandidates, set_shortfall, shortfall
from discreet.questions.of_rows import NO_MATCH, of_one_person
from discreet.questions.plan import Found, Plan
from discreet.questions.question import field, flag, value
from discreet.questions.rules import (
    Sentences,
    about_kept,
    about_method,
    about_order,
    about_values_each,
)
from discreet.questions.scoring import (
    Sensitivity,
    choices,
    count_sensitivity,
    resting,
)
from discreet.questions.unknown_domain import (
    BY_WEIGHTS,
    KEPT,
    KEPT_BY,
    WEIGHED,
    GroupShares,
    PeopleByShare,
    accuracy_of_named,
    keeping_at,
    kept_by_weights,
    limits_for,
    planned_from_the_data,
    read_shares,
    require_named,
)

PEELING = "peeling"
ONE_SHOT = "one-shot"
JOINT = "joint"
SET = "set"

Chooser = Callable[[Counts, Bits], Iterable[list[int]]]
"""A function from counts, one row per group, and random bits to the indices chosen in each row."""


def method_named(name: str, given: Any) -> str:
    """Check the name of a method that chooses several values."""
    if given not in (JOINT, SET, ONE_SHOT, PEELING):
        raise refuse(name, given, f'"{JOINT}", "{SET}", "{ONE_SHOT}" or "{PEELING}"')
    return str(given)


@value
class TopK(OfCandidates, kind="top_k", label="Several most common values"):
    """The ``k`` candidates that most people have, the most common first, chosen privately.

    ``epsilon`` is the total, whichever method is used. *Joint* chooses all k values at once, comparing lists
    by their largest shortfall in any place. *One-shot* adds exponential noise of scale k·d/ε to each count
    once and takes the k largest. *Peeling* makes k choices at ε/k, each among the values that are left. The
    default depends on k, the relation and the ledger's unit, never on the data: joint for k above 4 (above 3
    under replacement with one row for each person), otherwise one-shot. If the ledger adds up ρ and nothing
    else is released (no counts, no number of people, no groups from the data), the default for every k is
    peeling by the exponential mechanism. Its ρ is then 1/k of the ρ of a single choice at the same ε; at √k
    times that ε, it costs as much as the single choice (``docs/proofs/top-k.md``). All three methods release
    the order. ``ordered=False`` is more accurate at the same cost: instead of a joint choice it chooses a
    *set* among all sets of k candidates, and the answer is in the order of the candidates. Candidates in a
    PySpark frame are chosen in the cluster, by one-shot noise; without candidates and with ``delta``, the
    answer may have fewer than k values.

    Price: counts move as in ``Mode``. One-shot noise is added once to each count, at a scale that pays for k
    choices (``top_k_one_shot_pure_dp``). Adding or removing a person moves two joint scores apart by at most
    two; replacing a person moves them apart by at most four, or three if nobody has two values
    (``top_k_joint_pure_dp``). ``answer_pure_dp`` covers sets, counts and peeling.

    Example:
        >>> import discreet, polars as pl
        >>> pages = ["home"] * 300 + ["news"] * 200 + ["help"] * 100 + ["legal"]
        >>> visits = pl.DataFrame({"person": range(601), "page": pages})
        >>> table = discreet.table(visits, user="person", ledger=None)
        >>> table.ask(TopK("page", k=2, candidates=["home", "news", "help", "legal"], epsilon=2)).answer
        ('home', 'news')
    """

    completed_by: ClassVar[tuple[str, ...]] = ("candidates",)
    command: ClassVar[tuple[str, str, str] | None] = (
        "top",
        f"The k most common values of a column.\n\n{NO_MATCH.format('a list of random candidates')}",
        "discreet top visits.parquet --dataset clinic --column page --user patient_id -k 10 "
        "--candidates pages.csv --epsilon 2",
    )

    k: int = field("How many.", check=whole, takes="COUNT", example="3", analyst=True)
    method: str | None = field(
        "joint, set, one-shot or peeling; by default the best for ⟨k⟩.",
        default=None,
        check=method_named,
        takes="NAME",
        advanced=True,
    )
    values_per_person: int | None = field(
        "Without candidates: each person counts with at most this many of their values, drawn at "
        "random. If people have several values each, a bound lets rarer values be named.",
        default=None,
        check=of_one_person,
        takes="COUNT",
        advanced=True,
    )
    ordered: bool = flag(
        "Put the values in order. Without the order the answer is more accurate.",
        default=True,
        analyst=True,
        option="--unordered",
        off="Do not put the values in order; the answer is then more accurate.",
    )

    def _require(self) -> None:
        super()._require()
        if self.names_values and (self.method not in (None, PEELING) or not self.ordered):
            raise ParameterError(
                "values from the data are chosen one after the other, so the "
                "order is part of the answer"
            )
        if self.method == SET and self.ordered:
            raise ParameterError('⟨method⟩"set" has no order: it needs ⟨ordered⟩False')
        if self.values_per_person is not None and (not self.names_values or self.by is not None):
            raise ParameterError(
                "⟨values_per_person⟩ needs ⟨delta⟩, and cannot be combined with candidates or ⟨by⟩"
            )

    @property
    def title(self) -> str:
        """The question in a few words."""
        return f"{self.k} most common values of {self.column}"

    def planned(self, asking: Asking) -> Plan:
        """Plan k choices among the candidates, by the given method or the best one."""
        k, what, inner = self.k, f"top {self.k}", asking.inner
        if self.names_values:
            keeping = keeping_for(self, asking)
            if keeping is not None:
                return planned_of_kept(self, asking, what, keeping)
            return planned_from_the_data(self, asking, what, k=k)
        moved = count_sensitivity(inner)
        if in_the_cluster(self.candidates):
            if self.method not in (None, ONE_SHOT):
                raise refuse("method", self.method, f'"{ONE_SHOT}", for candidates in the cluster')
            _, part, name = way_to_choose_by_counts(
                ONE_SHOT, self.mechanism, asking.epsilon_each, k, moved
            )
            return planned_in_cluster(
                self,
                asking,
                what,
                k=k,
                part=part,
                mechanism=name,
                rules=about_method(ONE_SHOT, in_cluster=True),
                ordered=self.ordered,
            )
        contest = self.contest(asking.table, listed=asking.listed)
        if k > len(contest):
            raise refuse("k", k, f"at most the number of candidates, {len(contest)}")
        epsilon = asking.epsilon_each * (1 - self.counting_share)
        one_value = not asking.several_rows
        method, mechanism = self.method, self.mechanism
        by_rule = method is None and mechanism is None
        if by_rule:
            # If something else is released with the choice, the ledger charges one ε for all of it.
            alone = not self.with_count and not asking.epsilon_people
            concentrated = alone and asking.setting.adds_up_rho
            joint = joint_distance(k, inner, one_value=one_value)
            method = best_method(k, moved.range_distance, joint, concentrated=concentrated)
            method = SET if method == JOINT and not self.ordered else method
            mechanism = Exponential if method == PEELING and concentrated else None
        # With one-shot noise no rank falls short by more than the largest noise. With peeling the bound must
        # hold in each of the k choices.
        ways = len(contest) * (1 if method == ONE_SHOT else k)
        distance = k * moved.range_distance
        if method in (JOINT, SET):
            sets = method == SET
            draw, part, name = jointly(mechanism, epsilon, k, inner, one_value=one_value, sets=sets)
            # One choice among all k-tuples or sets; one person moves their scores apart by ``distance``.
            ways = (math.comb if sets else math.perm)(len(contest), k)
            distance = joint_distance(k, inner, one_value=one_value)
        else:
            draw, part, name = way_to_choose_by_counts(
                method or PEELING,
                mechanism,
                epsilon,
                k,
                moved,
                besides="with_count" if self.with_count else None,
            )

        order: Sentences = ()
        if by_rule and method == JOINT:
            level = Fraction(self.with_probability)
            order = about_order(
                *(
                    error_bound(
                        epsilon,
                        number(len(contest), k),
                        with_probability=level,
                        sensitivity=distance,
                        monotonic=True,
                    )
                    for number in (math.perm, math.comb)
                )
            )

        def pick(people: Counts, bits: Bits) -> Iterable[tuple[list[tuple[Any, int]], Found]]:
            for row, indices in zip(people, draw(people, bits), strict=True):
                yield contest.named(indices if self.ordered else sorted(indices), row), {}

        return self.plan_among(
            asking,
            contest,
            what,
            **asking.naming(pick, part, share=self.counting_share, k=k),
            mechanism=name,
            rules=(about_method(str(method)) if by_rule else ()) + order,
            ordered=self.ordered,
            accuracy=self.accuracy(
                asking,
                epsilon,
                ways=ways,
                distance=distance,
                size=len(contest),
                chooser=mechanism_at(mechanism, epsilon) if method in (None, PEELING) else None,
                errors=lambda like: drawn(
                    like, draw, shortfall if self.ordered else set_shortfall, k
                ),
                meaning="how many fewer people a value in the answer has than the one that belongs "
                "in its place",
            ),
        )


def keeping_for(question: TopK, asking: Asking) -> Keeping | Weighings | None:
    """Return a rule for keeping values if it can name rarer values than limited-domain selection, else None.

    No data is used. Half of ε pays for keeping values and half for choosing among those kept. If each person
    has one value, values are kept by their number of people; if people have several, up to a bound, values
    are kept by weights.
    """
    most = question.values_per_person
    if question.k == 1 or asking.rows.by is not None or (asking.several_rows and most is None):
        return None
    epsilon = asking.epsilon_each * (1 - question.counting_share)
    delta, neighbours = Fraction(question.delta or 0), asking.setting.neighbours
    limits = limits_for(
        epsilon=epsilon,
        delta=delta,
        rounds=question.k,
        considered=max(question.considered, question.k),
        one_row_each=not asking.several_rows,
        neighbours=neighbours,
    )
    if most is not None and asking.several_rows:
        if not asking.table.engine.finds_groups:
            raise ParameterError("in a database ⟨values_per_person⟩ is not allowed: leave it out")
        weighings = weighings_at(epsilon / 2, delta, most, neighbours)
        return weighings if weighings.people(most) <= limits.margin else None
    keeping = keeping_at(epsilon / 2, delta, neighbours)
    return keeping if keeping.turn < limits.margin else None


def planned_of_kept(
    question: TopK, asking: Asking, what: str, keeping: Keeping | Weighings
) -> Plan:
    """Plan to name the k most common of the values that are kept; if fewer than k are kept, name them all."""
    column, k, inner = question.column, question.k, asking.inner
    share = question.counting_share
    epsilon = asking.epsilon_each * (1 - share)
    require_named(asking.table, column)
    if question.mechanism is not None:
        raise ParameterError("values from the data have their own mechanism: leave ⟨mechanism⟩ out")

    weighed = isinstance(keeping, Weighings)
    most = question.values_per_person or 1

    def safe(
        values: list[tuple[Any, int]], shares: GroupShares, bits: Bits
    ) -> list[tuple[Any, int]]:
        """Return the values that may be named, with their numbers of people."""
        if isinstance(keeping, Weighings):
            numbers = dict(values)
            # In the second round, people may add weight to values other than the ones they count for here.
            named = sorted(kept_by_weights(shares, keeping, bits))
            return [(label, numbers.get(label, 0)) for label in named]
        sizes = np.array([number for _, number in values], dtype=np.int64)
        return [values[place] for place in kept(sizes, keeping=keeping, bits=bits).nonzero()[0]]

    def pick(counted: Any, bits: Bits) -> Iterable[tuple[list[tuple[Any, int]], Found]]:
        for values, shares in counted:
            named = safe(values, shares, bits)
            if not named:
                yield [], {}
                continue
            places = min(k, len(named))
            moved = count_sensitivity(inner)
            joint = joint_distance(places, inner, one_value=not weighed)
            method = best_method(places, moved.range_distance, joint, concentrated=False)
            if method == JOINT:
                draw, _, _ = jointly(None, epsilon / 2, places, inner, one_value=not weighed)
            else:
                draw, _, _ = way_to_choose(
                    ONE_SHOT, None, epsilon / 2, places, moved.range_distance
                )
            people = np.array([[number for _, number in named]], dtype=np.int64)
            yield [named[index] for index in next(iter(draw(people, bits)))], {}

    def read(table: Table, rows: Rows) -> list[tuple[list[tuple[Any, int]], GroupShares]]:
        """Count the people of each value; if values are weighed, also read the weighting rule's input."""
        asked = replace(rows, by=column, groups_per_person=most)
        if not weighed:
            return [(people_per_group(table, asked), GroupShares([], lambda _named: []))]
        shares = read_shares(table, asked)
        people: dict[Any, int] = {}
        for (label, _), number in shares.all:
            people[label] = people.get(label, 0) + number
        return [(list(people.items()), shares)]

    def pick_stated(
        counted: list[list[tuple[Any, int]]], bits: Bits
    ) -> Iterable[tuple[list[tuple[Any, int]], Found]]:
        """Pick from assumed counts, as if everybody counted with as many values as allowed in both rounds."""

        def stated(values: list[tuple[Any, int]], named: Collection[Any] = ()) -> PeopleByShare:
            return [((label, most), number) for label, number in values if label not in named]

        return pick(
            [(values, GroupShares(stated(values), partial(stated, values))) for values in counted],
            bits,
        )

    proof = WEIGHED if weighed else KEPT
    promise = ApproxDP(epsilon, Fraction(question.delta or 0))
    if isinstance(keeping, Weighings):
        kept_values = ApproxZCDP(epsilon / 2, promise.exact[1], keeping.rho, keeping.unsafe)
        promise = concentrated(promise, [(kept_values, 1), (PureDP(epsilon / 2), 1)])
    promise = promise.resting_on(proof, {"then": proof})
    how = BY_WEIGHTS if weighed else KEPT_BY[asking.setting.neighbours]
    return asking.plan(
        what,
        **asking.naming(pick, (promise, 1), share=share, k=k),
        mechanism=f"values {how}, then chosen among those",
        read=read,
        rules=about_values_each(most) if weighed else (),
        people=lambda table, rows: people_with_any(table, rows, column=column),
        rules_after=lambda answer: about_kept(k, len(answer)),
        ordered=True,
        accuracy=accuracy_of_named(question, asking, pick_stated, k),
    )


def joint_distance(k: int, neighbours: str, *, one_value: bool) -> int:
    """Return how far apart one person moves the joint scores of two tuples, or of two sets.

    Example:
        >>> [joint_distance(2, "replace", one_value=each) for each in (True, False)]
        [3, 4]
    """
    moved = 1 if k == 1 else 2
    if neighbours == ADD_REMOVE:
        return moved
    return 3 if one_value and k > 1 else 2 * moved


def best_method(k: int, distance: int, joint: int, *, concentrated: bool) -> str:
    """Return the most accurate method, judged by the noise that each method needs; no data is used.

    One-shot noise has the scale k·d/ε; the joint choice has the scale d'/ε. In the joint choice the losses of
    k ranks add up in the exponent, and both methods are about equally accurate if the joint scale is half of
    the one-shot scale. If the ledger adds up ρ, peeling at the same cost needs a scale of only √k·d/ε and is
    rarely less accurate, with or without the order: ``benchmarks/results/top_k.md``.
    """
    if concentrated:
        return PEELING
    return JOINT if k * distance > 2 * joint else ONE_SHOT


def jointly(
    mechanism: object,
    epsilon: Fraction,
    k: int,
    neighbours: str,
    *,
    one_value: bool,
    sets: bool = False,
) -> tuple[Chooser, Part, str]:
    """Return a function that chooses all k at once by the exponential mechanism, its guarantee and its name.

    It chooses among ordered tuples of k candidates or, with ``sets``, among sets of k.
    """
    if mechanism is not None:
        raise ParameterError(
            "⟨mechanism⟩ needs peeling; the joint choice is an exponential mechanism of its own"
        )
    distance = joint_distance(k, neighbours, one_value=one_value)
    promise = Exponential(epsilon=epsilon).promise_at(Fraction(distance))
    scale = distance / epsilon

    def draw(people: Counts, bits: Bits) -> Iterable[list[int]]:
        choose = joint_set if sets else joint_first
        return (choose(row, k, scale=scale, bits=bits) for row in people)

    proof = ANSWER if sets or distance == 3 else CLAIMS["joint", "PureDP"]
    whole = promise.resting_on(
        CLAIMS["joint", "BoundedRange"], {"PureDP": proof, **IN_ANSWERS, **IN_RHO}
    )
    return draw, (whole, 1), "joint exponential mechanism" + (" over sets" if sets else "")


def way_to_choose(
    method: object,
    mechanism: object,
    epsilon: Fraction,
    k: int,
    distance: int | Fraction,
    *,
    besides: str | None = None,
) -> tuple[Chooser, Part, str]:
    """Return the function that chooses, its guarantee for each round, the number of rounds, and its name."""
    if method == PEELING:
        made = mechanism_at(mechanism, epsilon / k, besides=besides)
        part = made.promise_at(Fraction(distance)), k
        name = f"{made.name}, {counted(k, 'time')}"
        return (lambda people, bits: peeled(people, made, k, distance, bits)), part, name
    if method != ONE_SHOT:
        raise refuse("method", method, f'"{ONE_SHOT}" or "{PEELING}"')
    noise = mechanism_at(mechanism, epsilon, besides="one-shot noise")
    if noise.facts.law is not PermuteAndFlip.facts.law:
        raise ParameterError(
            "⟨mechanism⟩ needs peeling; one-shot noise is exponential, as in permute-and-flip"
        )
    return (
        (lambda people, bits: (one_shot(row, epsilon, k, distance, bits) for row in people)),
        (PureDP(epsilon).resting_on(CLAIMS["one-shot", "scores"].assuming(SCORES)), 1),
        "one-shot exponential noise",
    )


def way_to_choose_by_counts(
    method: object,
    mechanism: object,
    epsilon: Fraction,
    k: int,
    moved: Sensitivity,
    *,
    besides: str | None = None,
) -> tuple[Chooser, Part, str]:
    """Return the same as ``way_to_choose``, for counts of people, with a proof that starts from the table."""
    draw, (promise, rounds), name = way_to_choose(
        method, mechanism, epsilon, k, moved.range_distance, besides=besides
    )
    if method == ONE_SHOT:
        whole = promise.resting_on(CLAIMS["one-shot", "PureDP"], IN_ANSWERS | IN_RHO)
        return draw, (whole, rounds), name
    return draw, (resting(promise, moved), rounds), name


def peeled(
    people: Counts, mechanism: Mechanism, k: int, distance: int | Fraction, bits: Bits
) -> list[list[int]]:
    """Choose ``k`` times in every row, each time by ``mechanism`` among the candidates left in that row."""
    left = np.tile(np.arange(people.shape[1]), (len(people), 1))
    rows, rounds = np.arange(len(people)), []
    for _ in range(k):
        places = choices(mechanism, people, distance, bits)
        rounds.append(left[rows, places])
        others = np.ones(left.shape, dtype=np.bool_)
        others[rows, places] = False
        left = left[others].reshape(len(rows), -1)
        people = people[others].reshape(len(rows), -1)
    found: list[list[int]] = np.column_stack(rounds).tolist()
    return found


def one_shot(
    people: Counts, epsilon: Fraction, k: int, distance: int | Fraction, bits: Bits
) -> list[int]:
    """Return the indices of the ``k`` largest counts in order, after exponential noise of scale k·d/ε."""
    return noisy_first(Gaps(people, scale=k * distance / epsilon), k, bits)
