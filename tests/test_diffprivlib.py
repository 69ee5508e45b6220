"""The diffprivlib adapter: the same calls, the exact distribution, and no seeds."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import random
import secrets
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from discreet import PureDP, Scores, mechanisms
from discreet._exact.sampling import in_proportion_to
from discreet.diffprivlib import Exponential, PermuteAndFlip
from discreet.errors import DiscreetError, ParameterError, ScoresError
from discreet.testing import scripted

BOTH: list[type[Any]] = [PermuteAndFlip, Exponential]
CALL: dict[str, Any] = {"epsilon": 1, "sensitivity": 1, "utility": [3, 1000, 5]}


@pytest.mark.parametrize("adapted", BOTH)
def test_the_call_of_diffprivlib_works_unchanged(adapted: type[Any]) -> None:
    """The keywords are those of diffprivlib 0.6."""
    full = adapted(**CALL, monotonic=False, candidates=["a", "b", "c"], random_state=None)
    assert full.randomise() == "b"
    assert full.randomise(None) == "b"
    assert adapted(**CALL).randomise() == 1
    assert adapted(**CALL, monotonic=True).randomise() == 1
    for missing in CALL:
        with pytest.raises(TypeError):
            adapted(**{name: value for name, value in CALL.items() if name != missing})
    with pytest.raises(TypeError):
        adapted(1, 1, [3, 1000, 5])
    assert list(inspect.signature(adapted.randomise).parameters) == ["self", "value"]


def test_only_the_exponential_mechanism_takes_a_measure() -> None:
    assert Exponential(**CALL, measure=[1, 1, 1]).randomise() == 1
    assert Exponential(**CALL, measure=None).randomise() == 1
    with pytest.raises(TypeError, match="measure"):
        PermuteAndFlip(**CALL, measure=[1, 1, 1])


@pytest.mark.parametrize("adapted", BOTH)
@pytest.mark.parametrize(
    "seed", [0, 1, 42, np.random, "seed", False, [1, 2]], ids=lambda seed: type(seed).__name__
)
def test_a_seed_is_refused_and_told_what_to_write(adapted: type[Any], seed: object) -> None:
    with pytest.raises(ParameterError, match=r"not private; write random_state=None.*scripted"):
        adapted(**CALL, random_state=seed)


@pytest.mark.parametrize("adapted", BOTH)
@pytest.mark.parametrize(
    "generator",
    [
        None,
        secrets.SystemRandom(),
        random.Random(1),  # noqa: S311 - drawn from by nobody
        np.random.RandomState(1),
        np.random.default_rng(1),
    ],
    ids=lambda generator: type(generator).__name__,
)
def test_a_generator_is_accepted_and_never_drawn_from(adapted: type[Any], generator: Any) -> None:
    """diffprivlib's own models pass a generator. Two series of 99 draws agree with probability 2⁻⁹⁹."""
    has_state = type(generator) is not random.SystemRandom
    before = pickle.dumps(generator) if has_state else b""
    even: dict[str, Any] = {"epsilon": 1, "sensitivity": 1, "utility": [7, 7]}
    draws = []
    for _ in range(2):
        again = copy.deepcopy(generator) if has_state else generator
        made = adapted(**even, random_state=again)
        assert made.random_state is again
        draws.append([made.randomise() for _ in range(99)])
    assert draws[0] != draws[1]
    assert (pickle.dumps(again) if has_state else b"") == before


@pytest.mark.parametrize("adapted", BOTH)
def test_attributes_are_read_and_never_set(adapted: type[Any]) -> None:
    """In diffprivlib, setting an attribute later changes the mechanism or is ignored; here it is refused."""
    made = adapted(**CALL, candidates=["a", "b", "c"])
    assert (made.epsilon, made.delta, made.sensitivity) == (1.0, 0.0, 1)
    assert (made.utility, made.candidates, made.monotonic) == ([3, 1000, 5], ["a", "b", "c"], False)
    for name in [*vars(made), "a_new_one"]:
        with pytest.raises(AttributeError, match=f"{name} is fixed.*make another one"):
            setattr(made, name, 2)
    with pytest.raises(AttributeError, match="epsilon is fixed"):
        del made.epsilon
    assert copy.deepcopy(made).randomise() == "b"


@pytest.mark.parametrize("adapted", BOTH)
def test_the_repr_tells_all_but_the_utilities(adapted: type[Any]) -> None:
    shown = repr(adapted(epsilon=1, sensitivity=2, utility=[918273645, 0], candidates=["a", "b"]))
    assert shown.startswith(f"{adapted.__name__}(epsilon=1.0, sensitivity=2, utility=<2 values")
    assert "candidates=['a', 'b']" in shown
    assert "918273645" not in shown
    assert "measure=[1, 2]" in repr(Exponential(**{**CALL, "utility": [1, 2]}, measure=[1, 2]))


@pytest.mark.parametrize("adapted", BOTH)
@pytest.mark.parametrize("figure", ["bias", "variance", "mse"])
def test_a_choice_has_no_bias_as_in_diffprivlib(adapted: type[Any], figure: str) -> None:
    with pytest.raises(NotImplementedError, match="expected_error"):
        getattr(adapted(**CALL), figure)(None)


@pytest.mark.parametrize("adapted", BOTH)
def test_the_cost_is_known_and_fixed(adapted: type[Any]) -> None:
    mechanism = adapted(**{**CALL, "epsilon": "1/3"})
    assert mechanism.guarantee == PureDP("1/3")
    assert Fraction(mechanism.epsilon) >= Fraction(1, 3)
    with pytest.raises(AttributeError):
        mechanism.epsilon = 0.1


@pytest.mark.parametrize("adapted", BOTH)
def test_bad_input_is_refused(adapted: type[Any]) -> None:
    for change in (
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": math.inf},
        {"epsilon": math.nan},
        {"sensitivity": 0},
        {"sensitivity": -1},
        {"sensitivity": "x"},
        {"monotonic": "yes"},
        {"candidates": ["a", "b"]},
        {"candidates": ["a", "a", "b"]},
    ):
        with pytest.raises(DiscreetError):
            adapted(**{**CALL, **change})
    for utility in ([], [918273645, math.inf], [918273645, None], "12", [True, False]):
        with pytest.raises(ScoresError) as caught:
            adapted(epsilon=1, sensitivity=1, utility=utility)
        assert "918273645" not in str(caught.value)
    with pytest.raises(ParameterError, match="value must be None"):
        adapted(**CALL).randomise(3)


def test_bad_measures_are_refused() -> None:
    for measure in ([1, 1], [1, 1, 1, 1], [1, -1, 1], [0, 0, 0], [1, math.nan, 1], "abc", 5, []):
        with pytest.raises(ParameterError, match="measure"):
            Exponential(**CALL, measure=measure)


@pytest.mark.parametrize("adapted", BOTH)
def test_large_utilities_are_no_trouble(adapted: type[Any]) -> None:
    assert adapted(epsilon=1, sensitivity=1, utility=[1.7e308, -1.7e308]).randomise() == 0
    assert adapted(epsilon=1, sensitivity=1, utility=[10**400, 0]).randomise() == 0


def test_a_weight_of_zero_is_never_chosen_and_extreme_weights_work() -> None:
    flat = {"epsilon": 1, "sensitivity": 1, "utility": [0, 0, 0]}
    never = Exponential(**flat, measure=[1, 0, 1])
    assert {never.randomise() for _ in range(100)} == {0, 2}
    # The best candidate has no weight, and all others are far behind it; the law is still exact.
    behind = Exponential(epsilon=1, sensitivity=1, utility=[10**9, 0, -(10**9)], measure=[0, 1, 1])
    assert behind.randomise() == 1
    wide = Exponential(**flat, measure=[Fraction(1, 10**400), 10**400, Fraction(1, 3)])
    assert wide.randomise() == 1


def test_the_weighted_law_is_exact() -> None:
    """The bits are scripted; with random bits this chi-square test would give a false alarm once in 10⁹."""
    scores = Scores([2, 0, 1, 1], sensitivity=1)
    weights = [Fraction(1), Fraction(5), Fraction(1, 2), Fraction(0)]
    gaps = mechanisms.Exponential(epsilon=1).gaps(scores)
    bits = scripted("weights")
    drawn = [in_proportion_to(gaps, weights, bits) for _ in range(2000)]
    masses = np.array([float(w) for w in weights]) * np.exp(np.array([2, 0, 1, 1]) / 2)
    hopes = masses / masses.sum() * len(drawn)
    counts = np.bincount(drawn, minlength=4)
    assert counts[3] == 0
    statistic = float(((counts[:3] - hopes[:3]) ** 2 / hopes[:3]).sum())
    assert statistic <= chi2.isf(1e-9, 2)


@pytest.mark.parametrize("adapted", BOTH)
def test_the_law_is_that_of_the_mechanism(adapted: type[Any]) -> None:
    """Equal candidates are chosen equally often, to within 6.5 standard deviations.

    A false alarm has probability below 10⁻⁹ (Hoeffding); a bias of 0.15 would be seen.
    """
    fair = adapted(epsilon=1, sensitivity=1, utility=[4, 4])
    share = sum(fair.randomise() for _ in range(1000)) / 1000
    assert abs(share - 0.5) < math.sqrt(math.log(2e9) / 2000)


def test_every_difference_on_the_page_is_one() -> None:
    """These are the differences that diffprivlib's own tests find, in the order of the table."""
    page = (Path(__file__).parents[1] / "docs" / "tutorials" / "moving-over.md").read_text(
        encoding="utf-8"
    )
    rows = page.partition("| in diffprivlib |")[2].partition("\n\n")[0].count("\n|") - 1
    assert rows == 10
    for adapted in BOTH:
        for wrong in (
            {"epsilon": math.inf},
            {"sensitivity": 0},
            {"monotonic": ""},
            {"monotonic": [1]},
            {"epsilon": 1j},
            {"utility": [1j]},
            {"random_state": 42},
        ):
            with pytest.raises((ParameterError, ScoresError)) as caught:
                adapted(**CALL | wrong)
            assert isinstance(caught.value, ValueError)
            assert "infinity" not in str(caught.value), "which is not allowed either"
        made = adapted(**CALL | {"epsilon": "1", "random_state": np.random.RandomState(1)})
        assert made.guarantee == PureDP(1)
        with pytest.raises(AttributeError):
            made.delta = 0.1
        assert repr(made).startswith(f"{adapted.__name__}(epsilon=1.0, ")
        assert "1000" not in repr(made)
        assert adapted.__mro__[-1] is object
        assert not any(part.__module__.startswith("diffprivlib") for part in adapted.__mro__)
