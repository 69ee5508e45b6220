"""The accuracy that a plan states, compared with drawn answers and exact distributions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet import PermuteAndFlip, Scores, table
from discreet._exact.sampling.bits import ScriptedBits
from discreet.analysis import error_bound, threshold_errors
from discreet.errors import ParameterError
from discreet.mechanisms import CrossingRule
from discreet.mechanisms.registry import MECHANISMS, mechanism_named
from discreet.questions import (
    Bound,
    FirstAbove,
    Median,
    Mode,
    Plan,
    Quantiles,
    SelectBy,
    TopK,
    Vote,
)
from discreet.questions.accuracy import (
    DOUBTFUL,
    GUESSING,
    USEFUL,
    Accuracy,
    Errors,
    exactly,
    least_epsilon,
    nearly_equal_counts,
    proved_bound,
)

LISTED = [f"value {number}" for number in range(40)]
PEOPLE = table(pl.DataFrame({"person": [1], "code": ["x"], "age": [1]}), user="person")


def worst_of(plan: Plan) -> int:
    assert plan.accuracy is not None
    assert plan.accuracy.worst is not None
    return math.ceil(plan.accuracy.worst)


@pytest.mark.parametrize("k", [2, 12])
def test_the_first_k_fall_short_by_no_more(k: int) -> None:
    """Two are chosen by one-shot noise and twelve jointly, on counts that are easy to confuse.

    If the bound is true, 20 of 400 answers may fall short by more; 60 do with probability below 10⁻¹². The
    bits are scripted.
    """
    plan = PEOPLE.plan(TopK("code", k=k, candidates=LISTED, epsilon=1))
    counts = np.array([1000] * k + [1000 - worst_of(plan) - 1] * (40 - k))
    bits = ScriptedBits(f"top {k}")

    def is_short() -> bool:
        (found,) = plan.choose((counts[None, :], []), bits)
        return any(LISTED.index(label) >= k for label in found["answer"])

    assert sum(is_short() for _ in range(400)) < 60


@pytest.mark.parametrize(("k", "ways", "moved"), [(2, 40, 2), (12, math.perm(40, 12), 2)])
def test_the_bound_is_of_the_method_that_will_be_used(k: int, ways: int, moved: int) -> None:
    bound = error_bound(1, ways, with_probability="0.95", sensitivity=moved, monotonic=True)
    plan = PEOPLE.plan(TopK("code", k=k, candidates=LISTED, epsilon=1))
    assert worst_of(plan) == math.ceil(bound)


def test_counts_beside_the_answer_leave_less_for_the_choice() -> None:
    """A quarter of ε pays for the winner's count, a tenth for the number of people."""
    alone = PEOPLE.plan(Mode("code", candidates=LISTED, epsilon="0.27"))
    beside = Mode("code", candidates=LISTED, epsilon="0.4", with_count=True, with_people=True)
    assert worst_of(PEOPLE.plan(beside)) == worst_of(alone)


def test_a_first_crossing_is_right_with_such_a_margin() -> None:
    margin = worst_of(PEOPLE.plan(FirstAbove("code", groups=LISTED, above=500, epsilon=1)))
    rule = CrossingRule(epsilon=1, threshold=500, sensitivity=1, monotonic=True)
    assert threshold_errors(rule, n=40, margin=margin).wrong <= 0.05
    assert threshold_errors(rule, n=40, margin=margin - 2).wrong > 0.05


@pytest.mark.parametrize("groups", [1, 2, 40])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_no_group_is_named_if_all_are_that_far_below(groups: int, neighbours: str) -> None:
    asked = table(PEOPLE.data, user="person", neighbours=neighbours)
    question = FirstAbove("code", groups=LISTED[:groups], above=500, epsilon=1)
    plan = asked.plan(question)
    assert plan.accuracy is not None
    assert plan.accuracy.worst is not None
    monotonic = neighbours == "add-remove"
    rule = CrossingRule(epsilon=1, threshold=500, sensitivity=1, monotonic=monotonic)
    assert 1 - rule.probabilities([500 - plan.accuracy.worst] * groups)[-1] <= 0.05 + 1e-9


def test_one_group_may_be_asked_at_a_level_that_any_epsilon_reaches() -> None:
    question = FirstAbove("code", groups=LISTED[:1], above=500, epsilon=1, with_probability="0.1")
    assert worst_of(PEOPLE.plan(question)) == 0


def test_every_kind_of_question_has_its_accuracy() -> None:
    questions: list[Any] = [
        Mode("code", candidates=LISTED, epsilon=1),
        FirstAbove("code", groups=LISTED, above=500, epsilon=1),
        Median("age", bounds="0:120", epsilon=1),
        Quantiles("age", at=["0.5"], bounds="0:120", epsilon=1),
        Quantiles("age", at=["0.25", "0.5", "0.75"], bounds="0:120", epsilon=1),
    ]
    for question in questions:
        found = PEOPLE.plan(question).accuracy
        assert found is not None
        assert found.typical is not None
        assert found.worst is not None
        assert found.typical <= found.worst
        assert "19 times out of 20" in str(found)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("whose", [{"user": "person"}, {"one_row_per_user": True}])
def test_values_from_the_data_are_judged_by_what_is_named(k: int, whose: Any) -> None:
    """With a large ε the most common values are named; with a small one none is, which counts as no people.

    Counts are proportional to 1/i over a hundred values: the most common value has 1,927 of 10,000 people.
    """
    held = table(pl.DataFrame({"person": [1], "code": ["x"]}), people=10_000, **whose)

    def judged(epsilon: str) -> Accuracy:
        found = held.plan(TopK("code", k=k, delta="1e-6", epsilon=epsilon)).accuracy
        assert found is not None
        assert found.worst is None  # for some data nothing is named
        return found

    assert (judged("40").typical, judged("40").judgement) == (0, USEFUL)
    assert (judged("1e-4").typical, judged("1e-4").judgement) == (1927, GUESSING)
    assert "over 100 values" in judged("1").assumed


def test_a_first_crossing_is_judged_on_rising_groups() -> None:
    def judged(epsilon: int | str, above: int = 500) -> Accuracy:
        question = FirstAbove("code", groups=LISTED, above=above, epsilon=epsilon)
        found = PEOPLE.plan(question).accuracy
        assert found is not None
        return found

    # The groups are 1000/39 people apart, so the first above the threshold exceeds it by 12 people.
    assert (judged(40).typical, judged(40).judgement) == (0, USEFUL)
    assert judged("0.0001").judgement == GUESSING
    # No data has this many people; the proved margin is the same.
    assert judged(1, above=10**300).typical is None
    assert judged(1, above=10**300).worst == judged(1).worst


def test_the_typical_error_of_a_mode_is_that_of_its_exact_law() -> None:
    """Compare with probabilities computed here, on counts proportional to 1, 1/2, 1/3, ..."""
    plan = PEOPLE.plan(Mode("code", candidates=LISTED[:6], epsilon="0.02"))
    shares = 1 / np.arange(1, 7)
    counts = np.floor(1000 * shares / shares.sum()).astype(int)
    chances = PermuteAndFlip(epsilon="0.02").probabilities(
        Scores(counts, sensitivity=1, monotonic=True)
    )
    reached, level = 0.0, None
    for place in range(6):
        reached += chances[place]
        if level is None and reached >= 0.95:
            level = counts[0] - counts[place]
    assert plan.accuracy is not None
    assert plan.accuracy.typical == level


@pytest.mark.parametrize(
    ("mean", "guessing", "judged"),
    [(0, 0, USEFUL), (1, 10, USEFUL), (1.1, 10, DOUBTFUL), (5, 10, DOUBTFUL), (5.1, 10, GUESSING)],
)
def test_the_judgement_compares_means(mean: float, guessing: float, judged: str) -> None:
    errors = Errors(np.array([mean]), np.array([1.0]), guessing)
    accuracy = Accuracy(None, Fraction(19, 20), ("point", "points"), "", "", lambda: errors)
    assert accuracy.judgement == judged


def _said(question: Any, people: int | None = None) -> str:
    rows = pl.DataFrame({"person": [1], "code": ["x"], "age": [1]})
    return str(table(rows, user="person", people=people).plan(question).accuracy)


WEEKS = [f"2024-W{week:02}" for week in range(1, 53)]


def test_what_nobody_stated_is_said_with_the_typical_error() -> None:
    for question in (
        Mode("code", candidates=LISTED, epsilon=1),
        Mode("code", delta="1e-6", epsilon=1),
        Median("age", bounds="0:120", epsilon=1),
        Bound("age", covers="0.9", epsilon=1),
        TopK("code", k=2, candidates=LISTED, epsilon=1),
        Vote(_first, candidates=LISTED, epsilon=1),
    ):
        assert " off (assuming 1,000 people), " in _said(question)
        assert "assuming" not in _said(question, people=1000)
    grouped = Mode("code", candidates=LISTED, epsilon=1, by="age", groups=[1, 2])
    assert " (assuming 1,000 people in 2 groups)" in _said(grouped)
    # How many of the people meet a condition is not public.
    some = Mode("code", candidates=LISTED, epsilon=1, where="age > 3")
    assert " (assuming 1,000 people who meet the condition)" in _said(some)
    assert " (assuming that everybody meets the condition)" in _said(some, people=1000)


@pytest.mark.parametrize(
    ("candidates", "epsilon", "people"),
    [(3, "0.01", None), (52, "0.1", 2000), (10, "0.1", 400), (100, "0.1", None)],
)
def test_a_typical_error_of_zero_is_not_enough_to_be_useful(
    candidates: int, epsilon: str, people: int | None
) -> None:
    """On nearly equal counts these answers are no better than guessing."""
    question = Mode(
        "code", candidates=(LISTED + WEEKS + list("abcdefgh"))[:candidates], epsilon=epsilon
    )
    said = _said(question, people)
    assert said.startswith("doubtful: typically 0 people off")
    assert said.endswith("; no better than guessing if the counts are nearly equal")
    assert _said(question.changed(epsilon=1), people).startswith("useful: ")


def test_nearly_equal_counts_differ_as_much_as_chance_makes_them() -> None:
    """Compare with 2000 people who each choose one of 52 weeks at random, drawn a thousand times."""
    found = nearly_equal_counts(2000, 52)
    drawn = np.random.default_rng(1).multinomial(2000, [1 / 52] * 52, size=1000)
    assert found.max() - found.mean() == pytest.approx(
        (drawn.max(axis=1) - 2000 / 52).mean(), rel=0.1
    )
    assert found.std() == pytest.approx(drawn.std(axis=1).mean(), rel=0.1)
    # On a list longer than a tenth of the people, the others have nobody.
    assert np.count_nonzero(nearly_equal_counts(1000, 10_000)) == 100
    assert nearly_equal_counts(5, 3).tolist() == [5, 0, 0]
    assert nearly_equal_counts(10**9, 10**6).min() > 0


def test_a_bound_as_large_as_everybody_is_not_useful() -> None:
    none, unit = Errors(np.array([0.0]), np.array([1.0]), 10.0), ("person", "people")

    def accuracy(worst: float, **more: Any) -> Accuracy:
        return Accuracy(worst, Fraction(19, 20), unit, "", "", lambda: none, among=1000, **more)

    assert accuracy(999).judgement == USEFUL
    assert accuracy(999.1).judgement == DOUBTFUL
    assert str(accuracy(1000)).endswith("out of 20; a bound this large says nothing")
    assert str(accuracy(1000, most=1000)).endswith("; no bound below 1,000 people is proved")
    assert accuracy(1, caution="for a reason").judgement == DOUBTFUL


def test_an_answer_that_perhaps_no_one_counted_for_is_not_called_useful() -> None:
    """The released number of people is public, so a remark about it reveals nothing more."""
    question = Mode("code", candidates=LISTED, epsilon=10, with_people=True)
    held = {
        number: table(
            pl.DataFrame({"code": LISTED[:1] * number}, schema={"code": pl.String}),
            one_row_per_user=True,
        )
        for number in (0, 500)
    }
    assert "accuracy: useful: " in held[500].ask(question).card.in_text(None)
    none = held[0].ask(question).card
    assert none.accuracy is not None
    assert none.accuracy.judgement == DOUBTFUL
    assert "; perhaps no one counted\n" in none.in_text(None)


def test_a_figure_is_rounded_up_in_its_unit() -> None:
    accuracy = Accuracy(7.01, Fraction(19, 20), ("person", "people"), "", "")
    assert str(accuracy) == "at worst 8 people off, 19 times out of 20"
    assert accuracy.in_units(1.0) == "1 person"


def test_a_bound_that_no_answer_can_exceed_is_not_shown_as_one() -> None:
    """A bound of 2,485 people says nothing about a table of 2,000."""
    rows = pl.DataFrame({"person": [1], "code": ["x"]})
    question = Mode("code", candidates=LISTED, epsilon="0.003")
    bound = worst_of(PEOPLE.plan(question))
    for people, shown in ((bound, False), (bound + 1, True)):
        stated = table(rows, user="person", people=people)
        accuracy = stated.plan(question).accuracy
        assert accuracy is not None
        assert (f"at worst {bound:,} people off" in str(accuracy)) == shown
        assert (f"; no bound below {people:,} people is proved" in str(accuracy)) != shown
        assert ("at worst" in str(Accuracy.from_data(accuracy.proved()))) == shown


def test_the_exact_law_is_weighed_by_the_mechanism() -> None:
    scores = Scores([3, 0], sensitivity=1, monotonic=True)
    mechanism = PermuteAndFlip(epsilon=1)
    errors = exactly(mechanism, scores, [0, 3])
    assert errors.mean == pytest.approx(3 * mechanism.probabilities(scores)[1])
    assert errors.guessing == 1.5


def test_an_error_that_is_good_enough_takes_the_least_epsilon() -> None:
    plan = PEOPLE.plan(Mode("code", candidates=LISTED, error_at_most=20))
    assert worst_of(plan) <= 20
    less = plan.question.changed(epsilon=Fraction(plan.price) * Fraction(99, 100))
    assert worst_of(PEOPLE.plan(less)) > 20
    typical = PEOPLE.plan(Mode("code", candidates=LISTED, error_at_most=20, typical=True))
    assert typical.price < plan.price
    with pytest.raises(ParameterError, match="error_at_most= is not allowed here"):
        PEOPLE.plan(Mode("code", delta="1e-6", error_at_most=20))


@pytest.mark.parametrize("error", [15, 60])
def test_an_epsilon_found_for_an_error_reaches_it(error: int) -> None:
    """The typical error of several quantiles comes from other draws at each ε, so it does not always fall."""
    question = Quantiles(
        "age", at=["0.25", "0.5", "0.75"], bounds="0:120", error_at_most=error, typical=True
    )
    accuracy = PEOPLE.plan(question).accuracy
    assert accuracy is not None
    assert accuracy.typical is not None
    assert accuracy.typical <= error


@pytest.mark.parametrize("error", [1, 3, 7, 20])
def test_the_search_returns_no_epsilon_that_misses(error: int) -> None:
    """With errors up to a tenth off the curve 10/ε, both neighbours on the grid of four digits may miss."""
    for seed in range(50):

        def at(epsilon: Fraction, seed: int = seed) -> Accuracy:
            bits = ScriptedBits(f"{seed} {epsilon}")
            off = 0.9 + 0.2 * float(bits.words(1)[0]) / 2**64
            return Accuracy(
                10 / float(epsilon) * off, Fraction(19, 20), ("person", "people"), "", ""
            )

        found = least_epsilon(at, error=Fraction(error), typical=False)
        worst = at(found).worst
        assert worst is not None
        assert worst <= error
        assert 8 / error <= found <= 12 / error


def test_a_plan_of_very_many_is_made_in_seconds() -> None:
    """With 2000 positions, the number of tuples has more than 4000 digits; fewer answers are drawn then."""
    listed = [f"value {number}" for number in range(5000)]
    plan = PEOPLE.plan(TopK("code", k=2000, candidates=listed, epsilon=1))
    assert plan.accuracy is not None
    assert plan.accuracy.worst == pytest.approx(
        error_bound(
            1, math.perm(5000, 2000), with_probability="0.95", sensitivity=2, monotonic=True
        )
    )
    law = plan.accuracy._law
    assert law is not None
    assert len(law.sizes) == 100


@pytest.mark.parametrize(
    "question",
    [
        Mode("code", candidates=["x", "y"], epsilon=1),
        Median("age", bounds="0:9", epsilon=1),
        Bound("age", covers="0.9", epsilon=1),
        FirstAbove("code", groups=["x", "y"], above=1, epsilon=1),
    ],
    ids=lambda question: question.kind,
)
def test_one_is_a_person(question: Any) -> None:
    alone = table(pl.DataFrame({"code": ["x"], "age": [1]}), one_row_per_user=True, people=1)
    shown = str(alone.plan(question))
    assert "1 person " in shown
    assert " 1 people" not in shown


def test_a_proved_bound_holds_where_it_is_tightest() -> None:
    level, unbounded = Fraction(19, 20), set()
    for name in MECHANISMS:
        chooser = mechanism_named(name, epsilon=1)
        for ways in (2, 10, 1000):
            bound = proved_bound(chooser, Fraction(1), ways, level)
            if bound is None:
                unbounded.add(name)
                continue
            scores = Scores([0, *[-bound - 1e-9] * (ways - 1)], range_distance=1)
            assert 1 - chooser.probabilities(scores)[0] <= 1 - level, name
    assert {"noisy-max-laplace", "large-gap"} <= unbounded
    assert "noisy-max-gumbel" not in unbounded


def _first(_rows: object) -> Any:
    return LISTED[0]


def _zero(_data: object, _label: object) -> int:
    return 0


@pytest.mark.parametrize(
    "question",
    [
        Mode("code", candidates=LISTED, epsilon=1, mechanism="noisy-max-laplace"),
        Median("age", bounds="0:120", epsilon=1, mechanism="noisy-max-laplace"),
        SelectBy(
            candidates=LISTED,
            score=_zero,
            sensitivity=1,
            epsilon=1,
            mechanism="noisy-max-laplace",
        ),
        Vote(_first, candidates=LISTED, epsilon=1, mechanism="noisy-max-laplace"),
    ],
)
def test_laplace_noise_is_given_no_bound(question: Any) -> None:
    plan = PEOPLE.plan(question)
    assert plan.accuracy is not None
    assert plan.accuracy.worst is None
    assert not any("19 times out of 20" in str(rule) for rule in plan.rules)


def test_a_single_candidate_is_an_answer_that_is_known_without_asking() -> None:
    said = _said(Mode("code", candidates=["x"], epsilon=1))
    assert said.startswith("doubtful: ")
    assert said.endswith("; there is only one candidate, so the answer is known without asking")
