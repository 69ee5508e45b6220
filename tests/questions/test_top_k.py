"""Top-k: the exact law of ordered answers, its privacy for n ≤ 5 and k ≤ 3, and the samplers."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import ZCDP, BoundedRange, Exponential, PermuteAndFlip, PureDP
from discreet._exact.gaps import Gaps
from discreet._exact.sampling.noisy_order import noisy_first
from discreet.accounting import Event
from discreet.accounting.accountants import ACCOUNTANTS, exact_cost
from discreet.errors import ParameterError
from discreet.guarantees import AveragedRange
from discreet.ledger import Ledger
from discreet.questions import TopK, table, top_k
from discreet.questions.scoring import count_sensitivity
from discreet.questions.top_k import joint_distance, one_shot, peeled
from discreet.testing import scripted
from tests.tools.engines import TableMaker
from tests.tools.sampling.joint_law import joint_law
from tests.tools.sampling.one_shot_law import one_shot_law, times
from tests.tools.sampling.set_law import set_law

Law = dict[tuple[int, ...], Fraction]


def peeling_law(weights: list[Fraction], k: int) -> Law:
    """Return the exact law of repeated permute-and-flip among the remaining candidates."""
    law: Law = {}
    for order in itertools.permutations(range(len(weights)), k):
        left = list(range(len(weights)))
        chance = Fraction(1)
        for r in order:
            chance *= _permute_and_flip([weights[t] for t in left])[left.index(r)]
            left.remove(r)
        law[order] = chance
    return law


def _permute_and_flip(weights: list[Fraction]) -> list[Fraction]:
    coins = [w / max(weights) for w in weights]
    answer = []
    for r, coin in enumerate(coins):
        product = [Fraction(1)]
        for t, other in enumerate(coins):
            if t != r:
                product = times(product, [Fraction(1), -other])
        answer.append(coin * sum(c / (i + 1) for i, c in enumerate(product)))
    return answer


def test_the_example_that_tells_them_apart() -> None:
    weights = [Fraction(1), Fraction(math.exp(-0.5)), Fraction(math.exp(-1.5))]
    assert float(one_shot_law(weights, 2)[0, 1]) == pytest.approx(0.5354, abs=1e-4)
    assert float(peeling_law(weights, 2)[0, 1]) == pytest.approx(0.5143, abs=1e-4)


@pytest.mark.parametrize("law", [one_shot_law, peeling_law])
def test_laws_sum_to_one(law: object) -> None:
    weights = [Fraction(1), Fraction(1, 2), Fraction(1, 2), Fraction(1, 7)]
    assert callable(law)
    for k in (1, 2, 3):
        assert sum(law(weights, k).values()) == 1


@pytest.mark.parametrize("law", [one_shot_law, peeling_law])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 2), (4, 2), (4, 3), (5, 2), (5, 3)])
def test_the_privacy_of_ordered_answers(law: object, n: int, k: int) -> None:
    """In exact rationals with e^{d/s} = 2, no ordered answer's probability changes by more than 2^k.

    A neighbour has one more person, who adds one to any subset of the candidates.
    """
    assert callable(law)
    base = Fraction(2)
    largest = 3 if n < 5 else 2
    laws: dict[tuple[int, ...], Law] = {}

    def law_of(vector: tuple[int, ...]) -> Law:
        """Compute the law once per multiset, because the numbering of candidates does not matter."""
        ranks = sorted(range(n), key=lambda r: vector[r])
        common = tuple(vector[r] for r in ranks)
        if common not in laws:
            laws[common] = law([base**q for q in common], k)
        return {tuple(ranks[r] for r in order): chance for order, chance in laws[common].items()}

    worst = Fraction(0)
    for scores in itertools.combinations_with_replacement(range(largest), n):
        for grown in itertools.product((0, 1), repeat=n):
            after = tuple(q + g for q, g in zip(scores, grown, strict=True))
            later = law_of(after)
            for order, before in law_of(scores).items():
                ratio = later[order] / before
                worst = max(worst, ratio, 1 / ratio)
    assert worst <= base**k
    assert worst > base ** (k - 1)  # so the scale is not larger than necessary


def _agrees(counts: Counter[tuple[int, ...]], law: Law, draws: int) -> None:
    """Check that each frequency is within about 5.5 standard deviations; all false alarms are under 1e−6."""
    for order, chance in law.items():
        p = float(chance)
        assert abs(counts[order] / draws - p) < 5.5 * math.sqrt(p * (1 - p) / draws) + 2 / draws


def test_the_one_shot_sampler_draws_its_law() -> None:
    weights = [
        Fraction(1),
        Fraction(math.exp(-0.5)),
        Fraction(math.exp(-1.5)),
        Fraction(math.exp(-3.0)),
    ]
    gaps = Gaps(np.array([0.0, -0.5, -1.5, -3.0]), scale=Fraction(1))
    bits = scripted("one-shot")
    _agrees(
        Counter(tuple(noisy_first(gaps, 2, bits)) for _ in range(4000)),
        one_shot_law(weights, 2),
        4000,
    )
    # Three bits at a time: most decisions are made in ball arithmetic, after more bits.
    drawn = Counter(tuple(noisy_first(gaps, 2, bits, word=3)) for _ in range(1500))
    _agrees(drawn, one_shot_law(weights, 2), 1500)


def test_one_shot_and_peeling_find_the_obvious() -> None:
    people, bits = np.array([5, 900, 300, 2000, 0]), scripted("the obvious")
    moved = count_sensitivity("add-remove").range_distance
    assert one_shot(people, Fraction(2), 3, moved, bits) == [3, 1, 2]
    rows = np.array([people, people[::-1]])
    assert peeled(rows, PermuteAndFlip(epsilon=1), 3, moved, bits) == [[3, 1, 2], [1, 3, 2]]
    assert sorted(one_shot(people, Fraction(2), 5, moved, bits)) == [0, 1, 2, 3, 4]


def test_far_scores_keep_their_order() -> None:
    values = np.array([0, 10**15, 3, 2 * 10**15, 1])
    assert noisy_first(Gaps(values, scale=Fraction(1)), 2, scripted(1)) == [3, 1]
    assert noisy_first(Gaps(values, scale=Fraction(1, 10**6)), 4, scripted(1)) == [3, 1, 2, 4]


PAGES = pl.DataFrame({"person": range(700), "page": ["a"] * 400 + ["b"] * 200 + ["c"] * 100})


@pytest.mark.parametrize("method", ["peeling", "one-shot", "joint"])
def test_the_question(table_in: TableMaker, method: str) -> None:
    pages = table_in(PAGES.to_dict(as_series=False))
    release = top_k(
        pages,
        column="page",
        k=2,
        candidates=["c", "b", "a", "z"],
        epsilon=4,
        user="person",
        method=method,
    )
    assert release.answer == ("a", "b")
    assert release.guarantee.to(type(release.guarantee)).epsilon == 4  # type: ignore[attr-defined]  # PureDP
    assert release.ordered is True
    assert "In order" in str(release)
    unordered = top_k(
        pages,
        column="page",
        k=2,
        candidates=["c", "b", "a", "z"],
        epsilon=4,
        user="person",
        method=method,
        ordered=False,
        with_count=True,
    )
    assert unordered.answer == ("b", "a")
    assert "no particular order" in str(unordered)
    assert (
        abs(unordered.count[1] - 400) < 60
    )  # noise of scale 2 exceeds this with probability under 1e-12


def test_refusals() -> None:
    common = {"column": "page", "candidates": ["a", "b"], "epsilon": 1, "user": "person"}
    with pytest.raises(ParameterError, match="k=3"):
        top_k(PAGES, k=3, **common)  # type: ignore[arg-type]  # options of several types
    with pytest.raises(ParameterError, match="k=0"):
        top_k(PAGES, k=0, **common)  # type: ignore[arg-type]  # options of several types
    with pytest.raises(ParameterError, match="method='guess'"):
        top_k(PAGES, k=1, method="guess", **common)  # type: ignore[arg-type]  # options of several types
    with pytest.raises(ParameterError, match="needs peeling"):
        top_k(PAGES, k=1, method="joint", mechanism=Exponential, **common)  # type: ignore[arg-type]  # as above
    with pytest.raises(ParameterError, match="needs peeling"):
        top_k(PAGES, k=1, method="one-shot", mechanism=Exponential, **common)  # type: ignore[arg-type]  # as above


# ---- joint choices -----------------------------------------------------------------------------------


def changes(n: int, relation: str, *, one_value: bool) -> list[tuple[int, ...]]:
    """Return all changes that one person can make to the counts of n candidates."""
    if one_value:
        values = [
            tuple(int(r == v) for r in range(n)) for v in range(n + 1)
        ]  # the last is not a candidate
    else:
        values = list(itertools.product((0, 1), repeat=n))
    if relation == "add-remove":
        return values
    return [
        tuple(b - a for a, b in zip(before, after, strict=True))
        for before in values
        for after in values
    ]


def widest(n: int, k: int, relation: str, *, one_value: bool, law: object = joint_law) -> Fraction:
    """Return the largest range of probability ratios between neighbours: base^d for the right distance d."""
    assert callable(law)
    base, worst = Fraction(2), Fraction(1)
    moves = set(changes(n, relation, one_value=one_value))
    for counts in itertools.combinations_with_replacement(range(3), n):
        before = law(counts, k, base)
        for change in moves:
            after = tuple(c + m for c, m in zip(counts, change, strict=True))
            if min(after) >= 0:
                later = law(after, k, base)
                ratios = [later[chosen] / chance for chosen, chance in before.items()]
                worst = max(worst, max(ratios) / min(ratios))
    return worst


SIZES = [(2, 1), (3, 1), (3, 2), (3, 3), (4, 2), (4, 3), (5, 2)]


@pytest.mark.parametrize("law", [joint_law, set_law])
@pytest.mark.parametrize(("n", "k"), SIZES)
@pytest.mark.parametrize("one_value", [True, False])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_range_of_the_joint_choice(
    law: object, n: int, k: int, one_value: bool, relation: str
) -> None:
    """In exact rationals with e^{1/s} = 2, the range is at most 2^d, and equal for enough candidates."""
    if relation == "replace" and not one_value and n > 4:
        return  # 60,000 laws of 20 tuples each add nothing to the case of four candidates
    distance = joint_distance(k, relation, one_value=one_value)
    worst = widest(n, k, relation, one_value=one_value, law=law)
    assert worst <= Fraction(2) ** distance
    if n >= 4 and (law is joint_law or n >= 2 * k):
        assert worst == Fraction(2) ** distance


def test_a_defect_in_the_joint_score_is_seen() -> None:
    """A loss without its floor at zero moves twice as far, and a distance smaller by one is too small."""

    def unfloored(counts: tuple[int, ...], k: int, base: Fraction) -> Law:
        best = sorted(counts, reverse=True)
        differences = {
            chosen: [best[i] - counts[r] for i, r in enumerate(chosen)]
            for chosen in itertools.permutations(range(len(counts)), k)
        }
        weights = {chosen: base ** -(max(each) - min(each)) for chosen, each in differences.items()}
        return {chosen: weight / sum(weights.values()) for chosen, weight in weights.items()}

    distance = joint_distance(3, "add-remove", one_value=False)
    assert widest(4, 3, "add-remove", one_value=False, law=unfloored) > Fraction(2) ** distance
    assert widest(4, 3, "add-remove", one_value=False) > Fraction(2) ** (distance - 1)


MANY = [f"page {i}" for i in range(40)]


def test_the_order_is_what_costs() -> None:
    """At the same ε, the proved bound and the typical error are smaller without the order."""
    held = discreet.table(PAGES, user="person", people=5000)
    plans = [
        held.plan(TopK("page", k=12, candidates=MANY, epsilon=1, ordered=each))
        for each in (True, False)
    ]
    ordered, unordered = (plan.accuracy for plan in plans)
    assert [
        any("Releasing the order costs accuracy" in rule for rule in plan.rules) for plan in plans
    ] == [
        True,
        False,
    ]
    assert ordered is not None
    assert unordered is not None
    assert unordered.worst < ordered.worst  # type: ignore[operator]  # both are proved
    assert unordered.typical <= ordered.typical  # type: ignore[operator]


def test_a_set_has_no_order() -> None:
    with pytest.raises(ParameterError, match="needs ordered=False"):
        TopK("page", k=3, candidates=MANY, epsilon=1, method="set")
    named = top_k(PAGES, "page", k=40, candidates=MANY, epsilon=1, user="person", ordered=False)
    assert named.answer == tuple(MANY)
    kept = top_k(
        PAGES, "page", k=6, candidates=MANY, epsilon=1, user="person", ordered=False, method="joint"
    )
    assert kept.mechanism == "joint exponential mechanism"


@pytest.mark.parametrize(
    ("k", "terms", "method"),
    [
        (1, {}, "one-shot"),
        (3, {}, "one-shot"),
        (4, {}, "one-shot"),
        (5, {}, "joint"),
        (40, {}, "joint"),
        (4, {"neighbours": "replace"}, "one-shot"),
        (5, {"neighbours": "replace"}, "joint"),
        (4, {"neighbours": "replace", "one_row_per_user": True}, "joint"),
        (4, {"ordered": False}, "one-shot"),
        (5, {"ordered": False}, "over sets"),
        (4, {"ordered": False, "neighbours": "replace", "one_row_per_user": True}, "over sets"),
        (3, {"mechanism": "exponential"}, "times"),
        (9, {"mechanism": "exponential"}, "times"),
    ],
)
def test_the_method_that_nobody_named(k: int, terms: dict[str, object], method: str) -> None:
    terms = terms if "one_row_per_user" in terms else {**terms, "user": "person"}
    release = top_k(PAGES, column="page", k=k, candidates=MANY, epsilon=1, **terms)  # type: ignore[arg-type]  # options of several types
    assert method in release.mechanism
    assert release.guarantee == PureDP(1)
    assert ("mechanism" in terms) != any("follows from k" in rule for rule in release.rules)


def test_a_budget_of_rho_is_spent_where_it_lasts(tmp_path: Path) -> None:
    """Seventeen choices cost a seventeenth of the ρ of one choice among tuples or sets."""
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("visits", ZCDP(10))
        common: dict[str, Any] = {"candidates": MANY, "epsilon": 1, "user": "person"}
        for ordered in (True, False):
            release = top_k(
                PAGES, "page", k=17, ordered=ordered, ledger=ledger, dataset="visits", **common
            )
            assert release.mechanism == "exponential, 17 times"
            paid = float(ledger.history("visits")[-1].details["spent"]["cost"])
            assert paid == pytest.approx(17 * BoundedRange("1/17").to(ZCDP).rho, rel=1e-6)
        named = top_k(
            PAGES, "page", k=17, method="joint", ledger=ledger, dataset="visits", **common
        )
        assert named.mechanism == "joint exponential mechanism"


CHARGED = [
    # k, the other options, the method used, and how many of its choices one person affects
    (3, {}, "exponential, 3 times", Event(BoundedRange(1), count=3)),
    (3, {"by": "place"}, "exponential, 3 times", Event(AveragedRange(1), count=3)),
    (10, {"neighbours": "replace", "one_row_per_user": True}, "exponential, 10 times", None),
    (40, {"neighbours": "replace"}, "exponential, 40 times", None),
    (40, {"ordered": False}, "exponential, 40 times", None),
    (3, {"with_count": True}, "one-shot", Event(PureDP(3))),
    (3, {"with_people": True}, "one-shot", Event(PureDP(3))),
    (5, {"with_count": True, "by": "place"}, "joint exponential", Event(PureDP(3))),
]


@pytest.mark.parametrize(("k", "terms", "method", "event"), CHARGED)
def test_the_method_follows_what_a_budget_of_rho_is_charged(
    k: int, terms: dict[str, Any], method: str, event: Event | None, tmp_path: Path
) -> None:
    """In groups the exponential mechanism is charged its own ρ of 0.370 instead of 1.386 for pure ε."""
    if "by" in terms:
        terms = {**terms, "groups": ["x", "y"]}
    if "one_row_per_user" not in terms:
        terms = {**terms, "user": "person"}
    pages = PAGES.with_columns(place=pl.lit("x"))
    relation = terms.get("neighbours", "add-remove")
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("visits", ZCDP(10), neighbours=relation)
        release = top_k(
            pages, "page", k=k, candidates=MANY, epsilon=3, ledger=ledger, dataset="visits", **terms
        )
        assert method in release.mechanism
        assert release.guarantee == PureDP(3)
        paid = ledger.show("visits").total
    if event is not None:
        assert paid == ACCOUNTANTS["rho"].amount(event)
    if method == "exponential, 3 times":
        assert float(exact_cost(paid.cost)) == pytest.approx(0.370, abs=5e-4)


@pytest.mark.parametrize("people", [0, 1, 700])
def test_joint_answers_for_any_data(people: int) -> None:
    """Try no people, one person, everyone equal, and as many positions as candidates."""
    table = pl.DataFrame({"person": range(people), "page": ["a"] * people}, schema=PAGES.schema)
    release = top_k(
        table,
        column="page",
        k=4,
        candidates=["a", "b", "c", "d"],
        epsilon=3,
        user="person",
        method="joint",
    )
    assert sorted(release.answer) == ["a", "b", "c", "d"]
    assert people < 700 or release.answer[0] == "a"
    proof = release.guarantee.proof
    assert proof is not None
    assert proof.theorems == ("top_k_joint_pure_dp",)


def test_texts_that_are_not_quite_unicode_do_not_add_up_for_one_person() -> None:
    """One person's 400 different invalid strings are one label; if all counted, it would be named."""
    bad = [b"\xff" + bytes([1 + i % 127, 1 + i // 127]) for i in range(400)]
    offsets = pa.array([0, *np.cumsum([len(each) for each in bad])], pa.int32())
    column = pa.StringArray.from_buffers(400, offsets.buffers()[1], pa.py_buffer(b"".join(bad)))
    rows = pa.table({"person": pa.array([1] * 400), "value": column})
    question = TopK("value", k=100, delta="1e-5", epsilon=4, values_per_person=400)
    assert table(rows, user="person").ask(question).answer == ()
