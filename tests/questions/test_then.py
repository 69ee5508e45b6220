"""Groups without a public list: the exact law over all small tables, the single charge, and odd data."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from discreet import ZCDP, ApproxDP, PureDP
from discreet._exact.numbers.balls import precision
from discreet._exact.sampling.weighing import UNIT, Weighing, weighings_at
from discreet._tables import Rows, Table, open_table
from discreet._tables.counts import (
    people_per_group,
    people_per_group_and_share,
    people_per_number_of_groups,
)
from discreet.accounting.accountants import ACCOUNTANTS, spent
from discreet.errors import ParameterError, TableError
from discreet.guarantees import ApproxZCDP
from discreet.ledger import Ledger
from discreet.mechanisms import LargeGap
from discreet.questions import Mode, TopK, median, mode, table, top_k
from discreet.questions.then import FoundGroups
from discreet.questions.unknown_domain import keeping_at, weights_of
from tests.tools.engines import TableMaker

CITIES = ["basel"] * 600 + ["bern"] * 300 + ["uri"] * 2 + [None] * 20 + [" "] * 78
VISITS = {
    "person": list(range(1000)),
    "city": CITIES,
    "code": (["flu"] * 9 + ["cold"]) * 100,
    "age": [20 + i % 41 for i in range(1000)],
}


# ---- the law ---------------------------------------------------------------------------------------


def law(people: dict[str, int], chance: Any) -> dict[frozenset[str], float]:
    """Return the probability of each set of kept groups, from the coins of all groups."""
    groups = sorted(people)
    found: dict[frozenset[str], float] = {}
    for answer in itertools.product((False, True), repeat=len(groups)):
        probability = 1.0
        for group, is_kept in zip(groups, answer, strict=True):
            probability *= chance(people[group]) if is_kept else 1 - chance(people[group])
        named = frozenset(g for g, is_kept in zip(groups, answer, strict=True) if is_kept)
        found[named] = found.get(named, 0.0) + probability
    return found


def delta_between(one: dict[Any, float], other: dict[Any, float], epsilon: float) -> float:
    answers = one.keys() | other.keys()
    return sum(max(0.0, one.get(a, 0.0) - math.exp(epsilon) * other.get(a, 0.0)) for a in answers)


def worst_delta(epsilon: Fraction, delta: Fraction, relation: str, *, raised: float = 0.0) -> float:
    """Return the largest δ at ε between all tables of up to six people in three groups."""
    keeping = keeping_at(epsilon, delta, relation)

    def chance(people: int) -> float:
        with precision(128):
            return min(1.0, float(keeping.ball(people).mid()) + raised * (people > 0))

    def counted(rows: tuple[str, ...]) -> dict[str, int]:
        frame = pl.DataFrame({"city": list(rows)}, schema={"city": pl.String})
        return dict(people_per_group(open_table(frame, needed=["city"]), Rows(by="city")))

    laws = {
        rows: law(counted(rows), chance)
        for size in range(7)
        for rows in itertools.combinations_with_replacement("abc", size)
    }
    worst = 0.0
    for rows, one in laws.items():
        for place in range(len(rows)):
            less = rows[:place] + rows[place + 1 :]
            near = (
                [less] if relation == "add-remove" else [tuple(sorted((*less, c))) for c in "abc"]
            )
            for other in near:
                worst = max(
                    worst,
                    delta_between(one, laws[other], float(epsilon)),
                    delta_between(laws[other], one, float(epsilon)),
                )
    return worst


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(Fraction(1), Fraction(1, 100)), (Fraction(2), Fraction(1, 5))]
)
def test_the_law_of_kept_groups(epsilon: Fraction, delta: Fraction, relation: str) -> None:
    found = worst_delta(epsilon, delta, relation)
    assert found <= float(delta) * (1 + 1e-9)
    assert found > 0.45 * float(delta)  # not far below the charge
    assert worst_delta(epsilon, delta, relation, raised=0.7 * float(delta)) > float(delta)


SETS = [frozenset(each) for size in range(4) for each in itertools.combinations("abc", size)]


People = tuple[frozenset[str], ...]


def in_order(people: Any) -> People:
    return tuple(sorted((each for each in people if each), key=sorted))


@cache
def weights_in(people: People) -> dict[str, int]:
    """Return the weight of each group, by the real counting; the key of the draw is fixed."""
    rows = [(f"{sorted(s)} {i}", g) for i, s in enumerate(people) for g in s]
    frame = pl.DataFrame(rows, schema={"person": pl.String, "city": pl.String}, orient="row")
    opened = open_table(frame, needed=["person", "city"])
    asked = Rows(user="person", by="city", groups_per_person=3, key=5)
    return dict(weights_of(people_per_group_and_share(opened, asked)))


def worst_weighed_delta(
    epsilon: Fraction, delta: Fraction, relation: str, *, raised: tuple[float, float] = (0, 0)
) -> float:
    """Return the largest δ at ε between tables of up to three people in up to three groups each.

    The outcome distinguishes the groups named in the first round from those named in the second. The second
    round uses the table without the named groups, as another test shows.
    """
    both = weighings_at(epsilon, delta, 3, relation)

    @cache
    def chance(rule: Weighing, weight: int, more: float) -> float:
        with precision(128):
            return min(1.0, float(rule.ball(weight).mid()) + more)

    @cache
    def law_of(people: People) -> dict[Any, float]:
        found: dict[Any, float] = {}
        first = law(weights_in(people), lambda weight: chance(both.first, weight, raised[0]))
        for named, probability in first.items():
            left = in_order(each - named for each in people)
            second = law(weights_in(left), lambda weight: chance(both.last, weight, raised[1]))
            found |= {(named, more): probability * other for more, other in second.items()}
        return found

    worst = 0.0
    for people in itertools.chain.from_iterable(
        itertools.combinations_with_replacement(SETS[1:], size) for size in range(4)
    ):
        for place in range(len(people)):
            less = people[:place] + people[place + 1 :]
            near = SETS if relation == "replace" else SETS[:1]
            for other in {in_order((*less, new)) for new in near}:
                laws = law_of(in_order(people)), law_of(other)
                worst = max(
                    worst, *(delta_between(*pair, float(epsilon)) for pair in (laws, laws[::-1]))
                )
    return worst


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_law_of_groups_kept_by_weights(relation: str) -> None:
    """A person's three new groups are named with probability at most δ, and the thresholds use most of it."""
    epsilon, delta = Fraction(2), Fraction(1, 5)
    found = worst_weighed_delta(epsilon, delta, relation)
    assert found <= float(delta)
    assert found > 0.2 * float(delta)
    for raised in ((0.15, 0.0), (0.0, 0.15)):
        assert worst_weighed_delta(epsilon, delta, relation, raised=raised) > float(delta)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_rho_of_groups_kept_by_weights(relation: str) -> None:
    """Outside an event of the stated probability, the law of common groups has the stated ρ, at every order.

    In that event, a group is named that only one of the two neighbours has.
    """
    both = weighings_at(Fraction(2), Fraction(1, 5), 3, relation)
    rho, beyond = float(both.rho), float(both.unsafe)

    @cache
    def chance(rule: Weighing, weight: int) -> float:
        with precision(128):
            return float(rule.ball(weight).mid())

    def law_of(people: People, common: frozenset[str]) -> tuple[dict[Any, float], float]:
        """Return the law of both rounds among common groups, and the chance that they name no other."""

        def law_in(people: People, rule: Weighing) -> tuple[dict[frozenset[str], float], float]:
            weights = weights_in(people)
            here = {group: weight for group, weight in weights.items() if group in common}
            alone = math.prod(
                1 - chance(rule, weight) for group, weight in weights.items() if group not in here
            )
            return law(here, lambda weight: chance(rule, weight)), alone

        first, alone = law_in(people, both.first)
        found: dict[Any, float] = {}
        least = 1.0
        for named, probability in first.items():
            second, still = law_in(in_order(each - named for each in people), both.last)
            found |= {(named, more): probability * other for more, other in second.items()}
            least = min(least, alone * still)
        return found, least

    largest, rarest = 0.0, 1.0
    for rest in itertools.combinations_with_replacement(SETS[1:], 2):
        for one, other in itertools.product(SETS[1:], SETS if relation == "replace" else SETS[:1]):
            others = frozenset().union(*rest)
            common = others | (one & other)
            (p, safe), (q, also) = (law_of(in_order((*rest, new)), common) for new in (one, other))
            rarest = min(rarest, safe, also)
            for order in (1.01, 2, 5, 20):
                for here, there in ((p, q), (q, p)):
                    moment = sum(here[a] ** order * there[a] ** (1 - order) for a in here)
                    largest = max(largest, math.log(moment) / (order - 1) / order)
    assert rho / 4 < largest <= rho
    assert 1 - beyond <= rarest < 1 - beyond / 4


# ---- the questions -----------------------------------------------------------------------------------


@pytest.mark.skips_engines(
    ibis_duckdb="groups must be listed",
    ibis_sqlite="groups must be listed",
    ibis_postgres="groups must be listed",
)
def test_groups_come_from_the_data(table_in: TableMaker) -> None:
    """Two groups of two people are named with probability at most δ, 10⁻⁹. Blank texts are not groups."""
    asked: dict[str, Any] = {"user": "person", "by": "city", "epsilon": 8, "delta": "1e-9"}
    visits = table_in(VISITS)
    release = mode(visits, "code", candidates=["cold", "flu"], **asked)
    assert release.answer == {"basel": "flu", "bern": "flu"}
    assert release.guarantee == ApproxDP(8, "1e-9")
    assert "docs/proofs/groups-from-the-data.md" in str(release.guarantee.proof)
    assert any("come" in rule or "groups are those of city" in rule for rule in release.rules)
    assert mode(visits, "code", **asked).answer == {"basel": "flu", "bern": "flu"}
    ages = median(visits, "age", bounds=(0, 120), neighbours="replace", **asked).answer
    assert set(ages) == {"basel", "bern"}
    assert all(25 < age < 55 for age in ages.values())


def test_several_groups_each_count_once_to_find_them() -> None:
    """A person in three groups is drawn into one, which depends only on the person."""
    rows = {"person": [i for i in range(300) for _ in range(3)], "city": ["a", "b", "c"] * 300}
    opened = open_table(pl.DataFrame(rows), needed=["person", "city"])
    found = dict(people_per_group(opened, Rows(user="person", by="city", key=7)))
    assert sum(found.values()) == 300
    assert min(found.values()) > 40  # 100 expected, standard deviation 8
    counted = Rows(user="person", by="city", groups=("a", "b", "d"))
    assert people_per_number_of_groups(opened, counted).tolist() == [0, 300, 0]


@pytest.mark.skips_engines(
    ibis_duckdb="groups must be listed",
    ibis_sqlite="groups must be listed",
    ibis_postgres="groups must be listed",
)
def test_people_and_in_how_many_groups_they_count(table_in: TableMaker) -> None:
    """A person in five groups counts in three, whatever others do; an extra row changes nothing."""
    rows = [(i, g) for i in range(90) for g in "abcde"[: 1 + i % 5]] * 2
    visits = {"person": [i for i, _ in rows], "city": [g for _, g in rows]}
    opened = open_table(table_in(visits), needed=["person", "city"])
    found = people_per_group_and_share(
        opened, Rows(user="person", by="city", groups_per_person=3, key=7)
    )
    by_share = dict.fromkeys(range(1, 6), 0)
    for (_, share), people in found:
        by_share[share] += people
    assert by_share == {1: 18, 2: 36, 3: 3 * 54, 4: 0, 5: 0}
    few = dict(found)
    assert (few["a", 1], few["a", 2], few["b", 2]) == (18, 18, 18)
    weights = dict(weights_of(found))
    assert weights["a"] > 36 * 0.7 * UNIT
    assert all(0 < weights[group] < 90 * UNIT for group in "abcde")
    # Leaving out two groups has the same effect as if they had no rows.
    rest = [(i, g) for i, g in rows if g not in "ad"]
    fewer = {"person": [i for i, _ in rest], "city": [g for _, g in rest]}
    asked = Rows(user="person", by="city", groups_per_person=2, key=7)
    left = people_per_group_and_share(opened, asked, without=["d", "a", "not there"])
    alone = open_table(table_in(fewer), needed=["person", "city"])
    assert left == people_per_group_and_share(alone, asked)
    assert sum(people for _, people in left) > 18


def test_weights_are_used_where_public_facts_favour_them() -> None:
    """Each of thirty groups has eighty people; at this ε its weight is 14 deviations above the threshold."""
    rows = [(person, (person + step) % 30) for person in range(240) for step in range(10)]
    frame = pl.DataFrame(rows, schema=["person", "item"], orient="row")
    opened = table(frame, user="person", ledger=None)
    options: dict[str, Any] = {"epsilon": 4, "delta": "1e-6"}
    plan = opened.plan(FoundGroups("item", groups_per_person=10, **options))
    assert plan.event.mechanism == "groups kept by the weights of their people"
    assert plan.guarantee == ApproxDP(4, "1e-6")
    assert "1/√t" in plan.rules[0]
    assert opened.ask(plan.question).answer == tuple(range(30))
    two = opened.plan(FoundGroups("item", groups_per_person=2, epsilon=1, delta="1e-5"))
    assert two.event.mechanism == "groups kept by the best rule"
    alone = table(frame, one_row_per_user=True, ledger=None)
    assert "best rule" in alone.plan(FoundGroups("item", **options)).event.mechanism
    asked = mode(
        frame,
        "person",
        candidates=range(240),
        by="item",
        groups_per_person=10,
        user="person",
        epsilon=8,
        delta="1e-6",
    )
    assert list(asked.answer) == list(range(30))
    assert asked.guarantee == ApproxDP(8, "1e-6")


def test_one_group_nobody_and_a_bound_far_above_the_groups() -> None:
    """Two hundred people in one group weigh 200, and T is below 30; blanks and nulls are not groups."""
    rows: dict[str, Any] = {"person": list(range(200)), "city": ["bern"] * 200}
    rows = {name: values + values[:2] for name, values in rows.items()}
    frame = pl.DataFrame(rows | {"city": [*rows["city"][:200], " ", None]})
    asked = FoundGroups("city", epsilon=1, delta="1e-9", groups_per_person=10**9)
    opened = table(frame, user="person", ledger=None)
    assert "weights" in opened.plan(asked).event.mechanism
    assert opened.ask(asked).answer == ("bern",)
    assert table(frame.head(0), user="person", ledger=None).ask(asked).answer == ()
    for wrong in (0, -1, 1.5, float("nan"), "many", True, 2**40 + 1, 10**30):
        with pytest.raises(ParameterError, match="groups_per_person"):
            asked.changed(groups_per_person=wrong)
    most = asked.changed(groups_per_person=2**40)
    assert opened.plan(most).fits is None
    listed = Mode("city", candidates=["bern"], by="city", delta="1e-9", epsilon=1)
    with pytest.raises(ParameterError, match="1,000,000"):
        opened.plan(listed.changed(groups_per_person=10**6 + 1))


def test_one_entry_pays_for_both(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", ApproxDP(3, "1e-6"), accountant="epsilon-delta")
        visits = table(pl.DataFrame(VISITS), user="person", ledger=ledger, dataset="clinic")
        with pytest.raises(ParameterError, match="bounds"):
            visits.median("age", bounds=(5, 1), by="city", epsilon=1, delta="1e-7")
        with pytest.raises(ParameterError, match="delta"):
            visits.median("age", bounds=(0, 120), by="city", epsilon=1)
        with pytest.raises(ParameterError, match="delta"):
            visits.median("age", bounds=(0, 120), epsilon=1, delta="1e-7")
        with pytest.raises(ParameterError, match="column of texts"):
            mode(
                pl.DataFrame({"p": [1], "x": [0.5]}), "p", by="x", epsilon=1, delta="0.1", user="p"
            )
        assert len(ledger.history("clinic")) == 1  # its creation
        release = visits.quantiles(
            "age", at=[0.25, 0.75], bounds=(0, 120), by="city", epsilon=2, delta="1e-7"
        )
        assert set(release.answer) == {"basel", "bern"}
        spent = ledger.history("clinic")[-1]
        assert release.entry == spent
        assert visits.left == "ε = 1, δ = 9e-7"


def test_a_budget_of_rho_charges_the_rho_of_the_noise(tmp_path: Path) -> None:
    """The noise is normal, and its ρ is far below the ρ of its ε. The later steps are charged by their ε."""
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", ApproxDP(3, "1e-6"))
        visits = table(pl.DataFrame(VISITS), user="person", ledger=ledger, dataset="clinic")
        rule = weighings_at(Fraction(1, 2), Fraction(1, 10**7), 10, "add-remove")
        found = visits.plan(FoundGroups("city", groups_per_person=10, epsilon="0.5", delta="1e-7"))
        assert found.event.guarantee == ApproxZCDP("0.5", "1e-7", rule.rho, rule.unsafe)
        assert found.guarantee == ApproxDP("0.5", "1e-7")
        assert type(found.guarantee) is ApproxDP
        assert found.price == spent(rule.rho).cost / Fraction(10**12) < Fraction(1, 150)
        asked: dict[str, Any] = {"by": "city", "groups_per_person": 10, "delta": "1e-7"}
        mode_of = visits.plan(Mode("code", candidates=["flu", "cold"], epsilon=1, **asked))
        following = PureDP("0.5").exact_in(ZCDP)
        assert mode_of.price == spent(rule.rho + following).cost / Fraction(10**12)
        listed = visits.plan(TopK("code", k=10, epsilon=1, delta="1e-7", values_per_person=10))
        assert listed.event.guarantee == ApproxZCDP(1, "1e-7", rule.rho + following, rule.unsafe)
        visits.ask(found.question)
        [*_, entry] = ledger.history("clinic")
        assert entry.details["spent"]["delta"] == "5e-8"
        assert entry.details["guarantee"]["measure"] == "ApproxZCDP"
        assert ledger.verify("clinic")
        # For two steps only (ε, δ) is known.
        twice = ACCOUNTANTS["rho-delta"].amount(found.event.under("replace"))
        assert twice.cost == spent(PureDP(1).exact_in(ZCDP)).cost


@pytest.mark.parametrize("people", [0, 1])
def test_nothing_is_safe_to_say_of_nobody(people: int) -> None:
    few = pl.DataFrame(VISITS).head(people)
    release = mode(
        few, "code", candidates=["flu"], by="city", epsilon=1, delta="1e-12", user="person"
    )
    assert release.answer == {}
    assert str(release).startswith("nothing is safe to say")


def test_a_bound_that_is_chosen() -> None:
    """Nine of ten people are in two groups; the bound is 2, except with probability about e^(−0.5·100)."""
    rows = [(i, g) for i in range(1000) for g in ("abc" if i % 20 == 0 else "ab")]
    frame = pl.DataFrame(rows, schema=["person", "city"], orient="row").with_columns(
        code=pl.lit("flu")
    )
    asked: dict[str, Any] = {"candidates": ["flu", "cold"], "by": "city", "user": "person"}
    release = mode(
        frame, "code", groups=list("abcd"), groups_per_person="choose", epsilon=5, **asked
    )
    assert release.guarantee == PureDP(5)
    assert any("at most 2 groups: chosen privately, for ε = 0.5" in rule for rule in release.rules)
    assert list(release.answer) == list("abcd")
    with pytest.raises(ParameterError, match="groups_per_person"):
        mode(frame, "code", groups_per_person="choose", delta="1e-9", epsilon=5, **asked)
    with pytest.raises(ParameterError, match="groups_share"):
        mode(frame, "code", groups=["a"], groups_share="0.5", epsilon=5, **asked)


def test_each_answer_of_a_person_has_its_own_failure() -> None:
    """A mechanism's δ is charged for each group in which a person counts, and twice under replacement."""
    asked: dict[str, Any] = {
        "candidates": ["cold", "flu"],
        "user": "person",
        "by": "city",
        "mechanism": LargeGap(epsilon=1, delta="1e-5"),
    }
    frame = pl.DataFrame(VISITS)

    def delta(**how: Any) -> float:
        release = mode(frame, "code", **asked, **how)
        assert isinstance(release.guarantee, ApproxDP)
        assert release.guarantee.epsilon == how["epsilon"]
        return release.guarantee.delta

    assert delta(epsilon=8, groups_per_person=1, delta="1e-9") == pytest.approx(1e-5 + 1e-9)
    assert delta(epsilon=8, groups_per_person=20, delta="1e-9") == pytest.approx(20e-5 + 1e-9)
    cities = {"groups": ["basel", "bern", "uri"], "groups_per_person": "choose"}
    assert delta(epsilon=8, **cities) == pytest.approx(3e-5)
    # Under replacement, one answer at ε/2 has a larger δ than three at ε/6 together; both cases are possible.
    one = 1e-5 * (1 + math.exp(0.9 * 10 / 2))
    assert one > 3e-5 * (1 + math.exp(0.9 * 10 / 6))
    assert delta(epsilon=10, neighbours="replace", **cities) == pytest.approx(one)
    found = {"groups_per_person": 20, "delta": "1e-9", "neighbours": "replace"}
    one, twenty = (1e-5 * m * (1 + math.exp(0.5 * 10 / 2 / m)) for m in (1, 20))
    assert twenty > one
    assert delta(epsilon=10, **found) == pytest.approx(twenty + 1e-9)


def test_values_that_nobody_listed_where_each_person_has_one() -> None:
    """Ten values with 90 people each are named at ε = 1 and δ = 10⁻⁹; the margin would need 232 people."""
    values = [f"v{i}" for i in range(10) for _ in range(90)] + ["rare"]
    asked: dict[str, Any] = {"k": 10, "epsilon": 1, "delta": "1e-9", "one_row_per_user": True}
    release = top_k(pl.DataFrame({"v": values}), "v", **asked)
    assert sorted(release.answer) == [f"v{i}" for i in range(10)]
    assert release.guarantee == ApproxDP(1, "1e-9")
    assert "values kept by the best rule, then" in release.mechanism
    replaced = top_k(pl.DataFrame({"v": values}), "v", **asked, neighbours="replace")
    assert "values kept by their number of people, then" in replaced.mechanism
    assert top_k(pl.DataFrame({"v": values}).head(0), "v", **asked).answer == ()
    one = top_k(pl.DataFrame({"v": values}), "v", **{**asked, "k": 1})
    assert "limited domain" in one.mechanism


def test_other_gathers_what_is_no_candidate(table_in: TableMaker) -> None:
    visits = table_in({**VISITS, "code": ["flu"] * 100 + ["x", "y", "z"] * 290 + [None] * 30})
    asked: dict[str, Any] = {"epsilon": 20, "user": "person", "with_count": True}
    release = mode(visits, "code", candidates=["flu", "cold"], other="another", **asked)
    assert release.answer == "another"
    assert abs(release.count - 870) < 10  # noise of scale 1/5
    with pytest.raises(ParameterError, match="other='flu'"):
        mode(visits, "code", candidates=["flu"], other="flu", **asked)
    with pytest.raises(ParameterError, match="other"):
        mode(visits, "age", bounds=(0, 9), other="more", **asked)
    assert top_k(visits, "code", k=3, candidates=["flu", "cold"], other="o", **asked).answer == (
        "o",
        "flu",
        "cold",
    )


def test_a_failure_while_reading_says_once_what_stays_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(asked: Table, *_: Any, **__: Any) -> Any:
        if not asked.is_trial:
            raise ValueError("a secret value")

    monkeypatch.setattr("discreet.questions.candidates.people_per_candidate", fails)
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", ApproxDP(9, "1e-6"), accountant="epsilon-delta")
        visits = table(pl.DataFrame(VISITS), user="person", ledger=ledger, dataset="clinic")
        with pytest.raises(TableError) as raised:
            visits.mode("code", candidates=["flu"], by="city", epsilon=8, delta="1e-7")
        assert str(raised.value).count("spent") == 1
        assert "stays spent: clinic, entry 2" in str(raised.value)
        assert "secret" not in str(raised.value)
        assert ledger.history("clinic")[-1].kind == "failed"


@pytest.mark.parametrize("names", [("2024-01", "2024-02"), ("2024-01-05", "2024-01-06 10:00")])
@pytest.mark.parametrize("kind", ["csv", "object"])
def test_groups_that_were_found_are_values_and_no_periods(
    kind: str, names: tuple[str, str], tmp_path: Path
) -> None:
    """Labels are not interpreted after the payment; that used to raise, or count nobody."""
    rows = {
        "person": list(range(400)),
        "g": [names[i % 2] for i in range(400)],
        "code": ["flu"] * 400,
    }
    if kind == "csv":
        pl.DataFrame(rows).write_csv(tmp_path / "rows.csv")
        data: Any = str(tmp_path / "rows.csv")
    else:
        data = pd.DataFrame(rows)
        data["g"] = data["g"].astype(object)
    question = Mode("code", candidates=["flu", "x"], by="g", delta="1e-6", epsilon=20)
    found = table(data, user="person").ask(question)
    assert found.answer == dict.fromkeys(names, "flu")


def test_one_group_that_was_found_may_look_like_a_range() -> None:
    rows = {"person": list(range(200)), "g": ["1:5"] * 200, "code": ["flu"] * 200}
    question = Mode("code", candidates=["flu", "x"], by="g", delta="1e-6", epsilon=20)
    assert table(pl.DataFrame(rows), user="person").ask(question).answer == {"1:5": "flu"}
