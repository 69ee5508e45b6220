"""Guarantees as values: parameters, comparison, and what they mean for a household."""

from __future__ import annotations

import copy
import inspect
import itertools
import math
import pickle
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError, ParameterError
from discreet.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    AveragedRange,
    BoundedRange,
    FlippedCoins,
    Guarantee,
    LaplaceDominated,
    PureDP,
)
from discreet.guarantees.conversions import Proof
from tests.tools.rounding import assert_rounded_up, ball_of

ONE_NUMBER: list[type[Any]] = [PureDP, BoundedRange, LaplaceDominated, FlippedCoins, ZCDP]


@pytest.mark.parametrize("measure", ONE_NUMBER)
@pytest.mark.parametrize("wrong", [-1, math.nan, "x", None, True, [1]])
def test_a_wrong_cost_is_refused(measure: type[Any], wrong: object) -> None:
    with pytest.raises(DiscreetError):
        measure(wrong)
    with pytest.raises(DiscreetError):
        ApproxDP(wrong, 0)
    with pytest.raises(DiscreetError):
        ApproxDP(1, wrong)


def test_reported_figures_are_rounded_up() -> None:
    third = Fraction(1, 3)
    for measure, name in ((PureDP, "epsilon"), (BoundedRange, "epsilon"), (ZCDP, "rho")):
        reported = getattr(measure(third), name)
        assert isinstance(reported, float)
        assert third <= Fraction(reported) < third * (1 + Fraction(1, 10**15))
    both = ApproxDP(third, third)
    assert Fraction(both.epsilon) >= third
    assert Fraction(both.delta) >= third
    assert PureDP("1e400").epsilon == math.inf
    assert PureDP("1e-400").epsilon == 5e-324


@pytest.mark.parametrize("measure", ONE_NUMBER)
def test_one_number_guarantees_are_values(measure: type[Any]) -> None:
    small, large, unlimited = measure("0.1"), measure(0.2), measure(math.inf)
    assert small < large < unlimited
    assert sorted([unlimited, large, small]) == [small, large, unlimited]
    assert small == measure(Fraction(1, 10))
    assert hash(small) == hash(measure(0.1))
    assert small != large
    assert small != Fraction(1, 10)
    for promise in (small, large, unlimited):
        for again in (pickle.loads(pickle.dumps(promise)), copy.deepcopy(promise)):  # noqa: S301
            assert type(again) is measure
            assert again == promise
    with pytest.raises(AttributeError, match="frozen"):
        small._exact = Fraction(0)
    with pytest.raises(AttributeError):
        small.anything = 1
    assert repr(small) == f"{measure.__name__}(0.1)"
    assert repr(unlimited) == f"{measure.__name__}(inf)"


def test_different_measures_are_neither_equal_nor_ordered() -> None:
    for one, other in itertools.permutations(ONE_NUMBER, 2):
        assert one(1) != other(1)
        with pytest.raises(TypeError):
            assert one(1) < other(1)
    with pytest.raises(TypeError):
        assert ApproxDP(1, 0) <= PureDP(1)


def test_approximate_guarantees_are_values() -> None:
    promise = ApproxDP(1, "1e-6")
    assert promise == ApproxDP(Fraction(1), Fraction(1, 10**6))
    assert hash(promise) == hash(ApproxDP(1, 1e-6))
    assert promise <= ApproxDP(2, "1e-6")
    assert not promise <= ApproxDP(2, "1e-7")
    assert promise != PureDP(1)
    assert pickle.loads(pickle.dumps(promise)) == promise  # noqa: S301
    assert repr(promise) == "ApproxDP(1, 1e-06)"
    with pytest.raises(AttributeError, match="frozen"):
        promise.anything = 1


def test_households() -> None:
    assert PureDP("0.1").for_people(4) == PureDP("0.4")
    assert BoundedRange("0.1").for_people(4) == BoundedRange("0.4")
    assert ZCDP("0.1").for_people(4) == ZCDP("1.6")
    assert ApproxDP(0, "0.1").for_people(4) == ApproxDP(0, "0.4")
    assert ApproxDP(0, "0.3").for_people(4) == ApproxDP(0, 1)
    assert ApproxDP(1, 0).for_people(4) == ApproxDP(4, 0)
    assert PureDP(math.inf).for_people(2) == PureDP(math.inf)
    for promise in (PureDP(1), ZCDP(1), ApproxDP(1, "1e-6")):
        assert promise.for_people(1) == promise
        for wrong in (0, -1, 1.5, "2", True, None):
            with pytest.raises(ParameterError, match="people"):
                promise.for_people(wrong)  # type: ignore[arg-type]  # this is the point


@pytest.mark.parametrize("epsilon", ["1e-320", "0.01", "1", "3", "1e300"])
def test_a_households_delta_adds_up_person_by_person(epsilon: str) -> None:
    delta = Fraction(1, 10**9)
    reported = ApproxDP(epsilon, delta).for_people(4)
    assert reported.exact[0] == 4 * Fraction(epsilon)
    with ctx.workprec(6000):
        factor, total = ball_of(Fraction(epsilon)).exp(), arb(0)
        for _ in range(4):
            total = factor * total + ball_of(delta)
        assert_rounded_up(reported.exact[1], total if total < 1 else arb(1))


def test_a_households_delta_may_be_longer_than_what_a_user_may_write() -> None:
    tiny = ApproxDP(1, Fraction(1, 10**3900)).for_people(3)
    assert tiny.delta == 5e-324
    assert tiny.exact[1] >= Fraction(11, 10**3900)


IN_WORDS: list[type[Any]] = [PureDP, BoundedRange, LaplaceDominated, FlippedCoins, ZCDP]
ONE_PERSON = "One person's data changes the probability of any answer"
FOUR_PEOPLE = "Four people together change the probability of any answer"


@pytest.mark.parametrize(
    ("promise", "people", "words"),
    [
        (PureDP(1), 1, f"{ONE_PERSON} by a factor of at most 2.719 (ε = 1)."),
        (PureDP("0.1"), 1, f"{ONE_PERSON} by a factor of at most 1.106 (ε = 0.1)."),
        (PureDP(0), 1, f"{ONE_PERSON} by a factor of at most 1 (ε = 0)."),
        (PureDP(1), 4, f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4)."),
        (PureDP("0.1"), 4, f"{FOUR_PEOPLE} by a factor of at most 1.492 (4ε = 0.4)."),
        (PureDP(3), 4, f"{FOUR_PEOPLE} by a factor of at most 162800 (4ε = 12)."),
        (PureDP(300), 4, f"{FOUR_PEOPLE} by a factor of at most e^1200 (4ε = 1200)."),
        (PureDP(math.inf), 1, f"{ONE_PERSON} without any limit (ε = ∞)."),
        (
            BoundedRange(1),
            4,
            f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4); nor do any two answers move apart "
            "by more than that (bounded range).",
        ),
        (BoundedRange(math.inf), 4, f"{FOUR_PEOPLE} without any limit (4ε = ∞)."),
        (LaplaceDominated(1), 4, f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4)."),
        (
            ZCDP(1),
            4,
            f"{FOUR_PEOPLE} by a factor of at most e^44.29, up to one chance in a million "
            "(16ρ = 16).",
        ),
        (
            ApproxDP(1, "1e-6"),
            1,
            f"{ONE_PERSON} by a factor of at most 2.719 (ε = 1), except for an event of probability "
            "at most 1e-6 (δ).",
        ),
        (
            ApproxDP(1, "1e-6"),
            4,
            f"{FOUR_PEOPLE} by a factor of at most 54.6 (4ε = 4), except for an event of probability "
            "at most 3.12e-5 (δ).",
        ),
    ],
)
def test_in_words(promise: Guarantee, people: int, words: str) -> None:
    assert promise.in_words(people) == words
    if people == 1:
        assert str(promise) == words


@pytest.mark.parametrize("number", ["1e-400", "1e-320", "0.5", "1e40", "1e300", "1e400", 0])
def test_words_exist_for_every_size(number: object) -> None:
    for promise in [*(measure(number) for measure in IN_WORDS), ApproxDP(number, "0.001")]:
        for people in (1, 2, 7, 1000):
            words = promise.in_words(people)
            assert words.endswith(".")
            assert "nan" not in words
    assert "7 people together change" in PureDP(1).in_words(7)
    with pytest.raises(ParameterError, match="people"):
        PureDP(1).in_words(0)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=30))
@settings(max_examples=60)
def test_figures_in_words_are_never_too_small(epsilon: Fraction) -> None:
    words = PureDP(epsilon).in_words()
    figure = Fraction(words.rpartition("= ")[2].rstrip(").").rstrip())
    assert epsilon <= figure <= epsilon * Fraction(1002, 1000)


@pytest.mark.parametrize(
    "promise", [*(measure(1) for measure in ONE_NUMBER), ApproxDP(1, "0.01")], ids=repr
)
def test_the_sentence_is_for_one_person_unless_another_number_is_given(promise: Guarantee) -> None:
    assert promise.in_words() == promise.in_words(1) != promise.in_words(2)
    assert inspect.signature(Guarantee.in_words).parameters["people"].default == 1


@pytest.mark.parametrize("measure", ONE_NUMBER)
def test_another_measure_is_another_promise(measure: type[Any]) -> None:
    for other in {*ONE_NUMBER} - {measure}:
        assert (measure(1) == other(1)) is False
    assert (measure(1) == 1) is False
    assert (ApproxDP(1, 0) == measure(1)) is False
    with pytest.raises(TypeError):
        assert measure(1) < 2


def test_a_promise_in_its_own_measure_rests_on_the_same_proof() -> None:
    proof = Proof("docs/proofs/exponential.md", "exponential_pure_dp")
    for promise in (PureDP(1), BoundedRange(1), ZCDP(1)):
        assert promise.resting_on(proof).to(type(promise)).proof == proof
    assert ApproxDP(1, "0.1").resting_on(proof).to(ApproxDP, delta="0.1").proof is not None


def test_what_follows_from_epsilon_and_delta_has_the_same_proof_with_a_rho() -> None:
    """The ρ is an addition; the proof is of (ε, δ) first."""
    proof = Proof("docs/proofs/groups-from-the-data.md")
    plain = ApproxDP("0.5", "1e-7").resting_on(proof)
    more = ApproxZCDP("0.5", "1e-7", "0.03", "5e-8").resting_on(proof)
    assert more.to(ApproxDP).proof == proof
    for delta in (None, "1e-7", "1e-6"):
        ours, theirs = more.to(ApproxDP, delta=delta), plain.to(ApproxDP, delta=delta)
        assert (ours, ours.proof) == (theirs, theirs.proof)
    assert more.for_people(3) == plain.for_people(3)
    assert more.for_people(3).proof == plain.for_people(3).proof
    assert more.for_people(3).proof is not None
    assert more.for_people(1).proof == proof


@pytest.mark.parametrize("promise", [PureDP(1), ApproxDP("0.5", "1e-7")])
def test_a_card_tells_the_other_measures_and_a_household(promise: Guarantee) -> None:
    card = promise._repr_html_()
    assert repr(promise.to(ApproxDP, delta="1e-6")) in card
    assert repr(promise.for_people(4)) in card
    assert repr(promise.to(ZCDP)) in card


def test_a_larger_delta_buys_a_smaller_epsilon() -> None:
    """The additional δ lowers ε as it would for pure ε-DP (``docs/proofs/conversions.md``)."""
    own, target = Fraction(1, 10), Fraction(1, 5)
    bought = ApproxDP(1, own).to(ApproxDP, delta=target).exact[0]
    assert bought == PureDP(1).to(ApproxDP, delta=(target - own) / (1 - own)).exact[0]
    assert 0 < bought < 1
    assert ApproxDP(1, own).to(ApproxDP, delta=own).exact == (1, own)
    assert ApproxDP(1, 1).to(ApproxDP, delta=1) == ApproxDP(1, 1)
    assert ApproxDP(1, own).to(ApproxDP, delta=Fraction(1, 20)).exact[0] == math.inf
    assert ApproxDP(0, own).for_people(3) == ApproxDP(0, 3 * own)


def test_an_equal_epsilon_or_delta_is_no_larger() -> None:
    assert ApproxDP(1, "0.1") <= ApproxDP(1, "0.2")
    assert ApproxDP(1, "0.1") <= ApproxDP(2, "0.1")
    assert not ApproxDP(1, "0.2") <= ApproxDP(1, "0.1")
    assert ApproxDP(1, "0.1") != ApproxDP(2, "0.1")
    assert ApproxDP(1, "0.1") != ApproxDP(1, "0.2")


FIGURES: dict[type[Any], int] = {
    **dict.fromkeys([*ONE_NUMBER, AveragedRange], 1),
    ApproxDP: 2,
    ApproxZCDP: 4,
}
PROMISES = [
    kind(*numbers)
    for kind, count in FIGURES.items()
    for numbers in itertools.product([0, "0.01", 1], repeat=count)
]


def _kinds(kind: type[Any]) -> set[type[Any]]:
    below = {each for sub in kind.__subclasses__() for each in _kinds(sub)}
    return below if inspect.isabstract(kind) else below | {kind}


def test_a_promise_is_at_most_another_only_if_it_implies_all_of_it() -> None:
    assert {kind for kind in _kinds(Guarantee) if kind.__module__.startswith("discreet.")} == set(
        FIGURES
    )
    measures = (PureDP, BoundedRange, ZCDP)
    implied = {
        id(promise): [
            *(promise.exact_in(measure) for measure in measures),
            *(promise.to(ApproxDP, delta=delta).exact[0] for delta in (0, "1e-6", "0.02", 1)),
        ]
        for promise in PROMISES
    }
    for one, other in itertools.product(PROMISES, repeat=2):
        same = type(one) is type(other)
        if not same and not (isinstance(one, ApproxDP) and isinstance(other, ApproxDP)):
            with pytest.raises(TypeError):
                assert one <= other
            continue
        # Larger figures promise less, and what states no ρ promises none.
        implies = all(one.figures.get(name, math.inf) <= n for name, n in other.figures.items())
        assert (one <= other) is (other >= one) is implies, (one, other)
        if implies:
            assert all(a <= b for a, b in zip(implied[id(one)], implied[id(other)], strict=True))
        assert (one == other) is (same and one.figures == other.figures)
