"""Requirements for every registered mechanism. A new line in the registry is tested without changes here."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from discreet import ZCDP, ApproxDP, BoundedRange, ExponentialRandomizedResponse, PureDP, Scores
from discreet.errors import DiscreetError, NotPrivateError, ParameterError
from discreet.mechanisms import MECHANISMS, Mechanism, PermuteAndFlip, mechanism_named
from discreet.testing import scripted

ROOT = Path(__file__).parents[2]
NAMES = list(MECHANISMS)
PRIVATE = [name for name, factory in MECHANISMS.items() if factory(epsilon=1).private]
NOT_PRIVATE = [name for name in NAMES if name not in PRIVATE]
PURE = [
    name
    for name in PRIVATE
    if MECHANISMS[name](epsilon=1).guarantee(Scores([0], sensitivity=1)) == PureDP(1)
]
"""The mechanisms that promise a pure ε; the others promise only (ε, δ)."""
MEASURES: list[type[Any]] = [PureDP, BoundedRange, ZCDP, ApproxDP]

EXACT_SCORES = st.lists(
    st.one_of(
        st.integers(min_value=-8, max_value=8),
        st.floats(min_value=-8, max_value=8),
        st.fractions(min_value=-8, max_value=8, max_denominator=50),
    ),
    min_size=1,
    max_size=6,
)
EPSILON = st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=100)

FALSE_ALARM = 1e-9
"""The false-alarm rate of each chi-square test with random scripts; with the fixed script the outcome is
fixed.
"""


def _assert_same_law(drawn: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    """Compare draws with a distribution by chi-square; cells that expect fewer than ten draws are merged."""
    counts = np.bincount(drawn, minlength=len(expected)).astype(float)
    hopes = expected * len(drawn)
    assert not counts[expected == 0].any()
    rare = hopes < 10
    counts = np.append(counts[~rare], counts[rare].sum())
    hopes = np.append(hopes[~rare], hopes[rare].sum())
    if hopes[-1] < 10:
        # Too rare for chi-square: Markov's inequality for e^count gives the same false-alarm rate.
        assert counts[-1] <= 1.72 * hopes[-1] - math.log(FALSE_ALARM)
        counts, hopes = counts[:-1], hopes[:-1]
    statistic = float(((counts - hopes) ** 2 / hopes).sum())
    assert statistic <= chi2.isf(FALSE_ALARM, max(1, len(hopes) - 1))


# ---- the registry ------------------------------------------------------------------------------


def test_the_registry_names_its_mechanisms() -> None:
    assert set(PRIVATE) >= {"permute-and-flip", "exponential", "noisy-max-laplace"}
    assert all("randomized-response" in name for name in NOT_PRIVATE)
    for name in NAMES:
        assert mechanism_named(name, epsilon=1) == MECHANISMS[name](epsilon=1)
    with pytest.raises(ParameterError, match="permute-and-flip"):
        mechanism_named("no such mechanism", epsilon=1)


@pytest.mark.parametrize("name", NAMES)
def test_names_proofs_and_docstrings(name: str) -> None:
    mechanism = MECHANISMS[name](epsilon=1)
    assert mechanism.name == name
    assert (ROOT / mechanism.proof).is_file()
    document = inspect.getdoc(type(mechanism)) or ""
    for part in ("Distribution:", "Guarantee", "docs/proofs/", "Example:"):
        assert part in document


@pytest.mark.parametrize("name", NAMES)
def test_there_is_no_seed_and_no_way_round(name: str) -> None:
    mechanism = MECHANISMS[name](epsilon=1)
    for method in (mechanism.select, mechanism.select_index):
        assert list(inspect.signature(method).parameters) == ["scores"]
    assert set(inspect.signature(mechanism.release).parameters) == {"scores", "neighbours"}
    allowed = {"epsilon", "scale", "optimize", "steady", "noise", "truth", "variant", "delta"}
    assert set(inspect.signature(type(mechanism)).parameters) <= allowed
    kinds = [p.kind for p in inspect.signature(type(mechanism)).parameters.values()]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind in kinds[1:])


# ---- a mechanism is a value --------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_mechanism_is_a_frozen_value(name: str) -> None:
    factory = MECHANISMS[name]
    one: Mechanism = factory(epsilon="0.1")
    assert one == factory(epsilon=0.1)
    assert hash(one) == hash(factory(epsilon=Fraction(1, 10)))
    different = [factory(epsilon=1), factory(scale="0.1"), factory(epsilon="0.1", optimize="min")]
    assert all(one != other for other in different)
    assert len({one, *different, factory(epsilon=0.1)}) == 4
    for mechanism in (one, *different):
        for again in (pickle.loads(pickle.dumps(mechanism)), copy.deepcopy(mechanism)):  # noqa: S301
            assert again == mechanism
            assert repr(again) == repr(mechanism)
        assert type(mechanism)(**mechanism.parameters()) == mechanism
    for attribute in ("_epsilon", "_scale", "_optimize", "anything"):
        with pytest.raises(AttributeError, match="frozen"):
            setattr(one, attribute, 1)
    assert repr(factory(epsilon="1/3")).startswith(f"{type(one).__name__}(epsilon=1/3")
    assert repr(factory(epsilon="1e2000"))
    assert one.epsilon == Fraction(1, 10)
    assert one.scale is None
    assert factory(scale=2).scale == 2
    assert factory(scale=2).epsilon is None
    assert factory(scale=2).with_epsilon(3) == factory(epsilon=3)


# ---- distributions -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@given(values=EXACT_SCORES, epsilon=EPSILON)
@settings(max_examples=15)
def test_probabilities_are_a_distribution(name: str, values: list[Any], epsilon: Fraction) -> None:
    mechanism, scores = MECHANISMS[name](epsilon=epsilon), Scores(values, sensitivity=1)
    mass, logs = mechanism.probabilities(scores), mechanism.log_probabilities(scores)
    assert mass.shape == logs.shape == (len(scores),)
    assert mass.dtype == logs.dtype == np.float64
    assert (mass >= 0).all()
    assert abs(math.fsum(mass) - 1) < 1e-12
    assert np.allclose(np.exp(logs), mass, rtol=1e-11, atol=1e-300)
    order = sorted(range(len(values)), key=lambda place: Fraction(values[place]))
    # A better score is never chosen less often, and equal scores are equally likely.
    assert (np.diff(mass[order]) >= -1e-14).all()


@pytest.mark.parametrize("name", NAMES)
@given(values=EXACT_SCORES, epsilon=EPSILON)
@settings(max_examples=15)
def test_least_is_largest_of_the_negated(name: str, values: list[Any], epsilon: Fraction) -> None:
    factory = MECHANISMS[name]
    least = factory(epsilon=epsilon, optimize="min").probabilities(Scores(values, sensitivity=1))
    negated = Scores([-value for value in values], sensitivity=1)
    assert np.allclose(least, factory(epsilon=epsilon).probabilities(negated), rtol=1e-13, atol=0)


@pytest.mark.parametrize("name", NAMES)
@given(
    values=EXACT_SCORES, epsilon=EPSILON, delta=st.fractions(min_value=Fraction(1, 9), max_value=9)
)
@settings(max_examples=8)
def test_the_same_distance_said_differently_is_the_same(
    name: str, values: list[Any], epsilon: Fraction, delta: Fraction
) -> None:
    spellings: list[tuple[dict[str, Any], dict[str, Any]]]
    if name in NOT_PRIVATE:
        # Its chain depends on Δ itself; only the pair below has the same Δ.
        spellings = [({"sensitivity": delta}, {"range_distance": 2 * delta})]
    else:
        spellings = [
            ({"sensitivity": delta}, {"range_distance": 2 * delta}),
            ({"sensitivity": delta, "monotonic": True}, {"range_distance": delta}),
            ({"sensitivity": 2 * delta, "monotonic": True}, {"sensitivity": delta}),
        ]
    for one, other in spellings:
        left, right = Scores(values, **one), Scores(values, **other)
        scale = left.range_distance / epsilon
        mechanisms = MECHANISMS[name](epsilon=epsilon), MECHANISMS[name](scale=scale)
        masses = [
            mechanism.probabilities(scores) for mechanism in mechanisms for scores in (left, right)
        ]
        draws = [
            mechanism.sample(scores, 20, randomness=scripted(1))
            for mechanism in mechanisms
            for scores in (left, right)
        ]
        for mass, drawn in zip(masses[1:], draws[1:], strict=True):
            assert np.array_equal(mass, masses[0])
            assert np.array_equal(drawn, draws[0])
        for measure in MEASURES:
            spent = "1e-3" if measure is ApproxDP else None
            costs = {
                mechanism.guarantee(scores, measure, spent)
                for mechanism in mechanisms
                for scores in (left, right)
            }
            assert len(costs) == 1


SHAPES: dict[str, Any] = {
    "integers": [3, 1, 2, 3, 0],
    "floats": [0.25, -1.5, 0.1, 0.3],
    "thirds": [Fraction(1, 3), Fraction(2, 3), Fraction(0), Fraction(5, 3)],
    "beyond 64 bits": [10**30, 10**30 - 1, 10**30 - 3],
    "hundred": np.arange(100) % 17,
    "narrow": np.array([250, 255, 0], dtype=np.uint8),
    "half floats": np.array([0.5, 1.5, 0.25], dtype=np.float16),
    "one": [7],
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_samples_follow_the_probabilities(name: str, shape: str, optimize: str) -> None:
    scores = Scores(SHAPES[shape], sensitivity=1)
    mechanism = MECHANISMS[name](epsilon=2, optimize=optimize)
    drawn = mechanism.sample(scores, 8000, randomness=scripted(f"{name} {shape} {optimize}"))
    assert drawn.dtype == np.int64
    _assert_same_law(drawn, mechanism.probabilities(scores))


@pytest.mark.parametrize(
    "factory",
    [*(MECHANISMS[name] for name in PRIVATE), lambda **given: PermuteAndFlip(steady=True, **given)],
    ids=[*PRIVATE, "steady"],
)
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_single_releases_follow_the_probabilities(
    factory: Callable[..., Mechanism], optimize: str
) -> None:
    mechanism = factory(epsilon=2, optimize=optimize)
    bits = scripted(f"single {mechanism.name} {optimize}")
    for values in ([3, 1, 2, 3, 0], [0.25, -1.5, 0.1], [Fraction(1, 3), Fraction(2, 3), 10**30]):
        scores = Scores(values, sensitivity=1)
        if getattr(mechanism, "steady", False) and scores.values.dtype == object:
            with pytest.raises(ParameterError, match="steady selection needs"):
                mechanism.select(scores)
            continue
        drawn = np.array([mechanism._choose(scores, bits) for _ in range(1000)])
        _assert_same_law(drawn, mechanism.probabilities(scores))


@pytest.mark.parametrize("name", PRIVATE)
def test_the_chi_square_notices_a_wrong_law(name: str) -> None:
    """The check above can distinguish ε from 1.25·ε with the same number of draws."""
    scores = Scores([3, 1, 2, 3, 0], sensitivity=1)
    drawn = MECHANISMS[name](epsilon=2).sample(scores, 8000, randomness=scripted(name))
    with pytest.raises(AssertionError):
        _assert_same_law(drawn, MECHANISMS[name](epsilon="2.5").probabilities(scores))


@pytest.mark.parametrize("name", NAMES)
def test_scripts_repeat_and_secure_draws_do_not(name: str) -> None:
    mechanism, scores = MECHANISMS[name](epsilon=1), Scores(range(50), sensitivity=1000)
    first, second = (mechanism.sample(scores, 200, randomness=scripted(3)) for _ in range(2))
    assert np.array_equal(first, second)
    # Two secure samples of 200 draws from 50 nearly uniform values agree with probability below 10⁻³⁰⁰.
    assert not np.array_equal(mechanism.sample(scores, 200), mechanism.sample(scores, 200))
    assert len(mechanism.sample(scores, 0)) == 0


# ---- many rows at once -------------------------------------------------------------------------

ROWS = [[3, 1, 3, 0], [0], [5, 5], [2, 7, 6, 6, 1, 7], [1, 0, -4]]
OFFSETS = [0, *np.cumsum([len(row) for row in ROWS]).tolist()]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [np.int64, np.float64, np.int8, object])
@pytest.mark.parametrize(
    "parameters", [{"epsilon": 2}, {"scale": 0}, {"scale": 2, "optimize": "min"}]
)
def test_each_row_has_the_law_of_a_single_release(
    name: str, kind: Any, parameters: dict[str, Any]
) -> None:
    mechanism: Mechanism = MECHANISMS[name](**parameters)
    values = np.array([score for row in ROWS for score in row], dtype=kind)
    # Every row 400 times; exact numbers are drawn row by row, so there are fewer of them.
    times = 400 if kind is not object else 40
    repeated = np.tile(values, times)
    offsets = np.append(
        (np.arange(times)[:, None] * len(values) + OFFSETS[:-1]).ravel(), len(repeated)
    )
    drawn = mechanism.sample_each(
        repeated, 5, offsets=offsets, sensitivity=1, randomness=scripted("each")
    )
    assert drawn.shape == (times * len(ROWS), 5)
    for number, row in enumerate(ROWS):
        mine = drawn[number :: len(ROWS)].ravel()
        _assert_same_law(mine, mechanism.probabilities(Scores(row, sensitivity=1)))


@pytest.mark.parametrize("name", PRIVATE)
def test_one_position_for_each_row(name: str) -> None:
    mechanism: Mechanism = MECHANISMS[name](epsilon=1)
    table = [[10**6, 0, 0], [0, 0, 10**6], [0, 10**6, 0]]
    kinds: list[Any] = [np.array(table), np.array(table, dtype=np.float32), table]
    kinds.append([[Fraction(score) for score in row] for row in table])
    kinds.append([[score * 10**30 for score in row] for row in table])
    kinds.append(np.array(table) * 1e300)
    for values in kinds:
        assert mechanism.select_each(values, sensitivity=1, monotonic=True).tolist() == [0, 2, 1]
    flat = np.array(table).ravel()
    for stretches in (flat, flat.astype(np.float64)):
        drawn = mechanism.select_each(stretches, offsets=[0, 1, 6, 9], sensitivity=1)
        assert drawn.tolist() == [0, 4, 1]
    least = MECHANISMS[name](epsilon=1, optimize="min")
    assert least.select_each(-np.array(table), sensitivity=1).tolist() == [0, 2, 1]
    assert mechanism.select_each(np.empty((0, 3)), sensitivity=1).tolist() == []
    assert mechanism.select_each(np.ones((4, 1)), sensitivity=1).tolist() == [0] * 4
    long = np.zeros((2, 200_000))
    long[0, 7] = long[1, 199_999] = 10**6
    assert mechanism.select_each(long, sensitivity=1).tolist() == [7, 199_999]
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(DiscreetError, match="finite") as caught:
            mechanism.select_each(np.array([[918273645.0, 1.0], [1.0, wrong]]), sensitivity=1)
        assert "918273645" not in str(caught.value)
    assert "randomness" not in inspect.signature(mechanism.select_each).parameters


# ---- releases ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRIVATE)
def test_a_release_returns_the_label(name: str) -> None:
    scores = Scores({("flu", 1): 10**6, "cold": 0, None: -5}, sensitivity=1)
    mechanism = MECHANISMS[name](epsilon=1)
    assert mechanism.select(scores) == ("flu", 1)
    assert mechanism.select_index(scores) == 0
    assert type(mechanism.select_index(scores)) is int
    release = mechanism.release(scores)
    assert release.answer == ("flu", 1)
    assert release.guarantee == (PureDP(1) if name in PURE else ApproxDP(1, "1e-6"))
    assert release.mechanism == name
    least = MECHANISMS[name](epsilon=1, optimize="min")
    assert least.select(Scores({"a": 10**6, "b": 0}, sensitivity=1)) == "b"
    spread = Scores([0, 0, 0], candidates=["x", "y", "z"], sensitivity=1)
    # Each label is missing from 200 uniform draws with probability (2/3)²⁰⁰ < 10⁻³⁵.
    assert {mechanism.select(spread) for _ in range(200)} == {"x", "y", "z"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("parameter", ["epsilon", "scale"])
def test_raw_numbers_are_refused_with_a_hint(name: str, parameter: str) -> None:
    mechanism: Any = MECHANISMS[name](**{parameter: 1})
    methods = [
        mechanism.probabilities,
        mechanism.log_probabilities,
        mechanism.guarantee,
        mechanism.gaps,
        lambda scores: mechanism.sample(scores, 3),
    ]
    if mechanism.private:
        methods += [mechanism.select, mechanism.select_index, mechanism.release]
    for method in methods:
        for raw in ([918273645, 2], {"a": 918273645}, np.array([918273645]), None, "scores"):
            with pytest.raises(ParameterError, match=r"Scores\(values, sensitivity=") as caught:
                method(raw)
            assert "918273645" not in str(caught.value)


# ---- scale zero --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("optimize", ["max", "min"])
def test_scale_zero_returns_a_best_candidate_and_promises_nothing(name: str, optimize: str) -> None:
    values = [3, 1, 3, 1, 2]
    best = [0, 2] if optimize == "max" else [1, 3]
    scores = Scores(values, sensitivity="0.1")
    mechanism = MECHANISMS[name](scale=0, optimize=optimize)
    mass = mechanism.probabilities(scores)
    assert mass.tolist() == [0.5 if place in best else 0.0 for place in range(5)]
    logs = mechanism.log_probabilities(scores)
    assert np.isneginf(logs[mass == 0]).all()
    assert np.allclose(logs[mass > 0], -math.log(2))
    drawn = mechanism.sample(scores, 2000, randomness=scripted(1))
    _assert_same_law(drawn, mass)
    for measure in (PureDP, BoundedRange, ZCDP):
        assert mechanism.guarantee(scores, measure).exact == math.inf
    assert mechanism.guarantee(scores, ApproxDP, "0.5").epsilon == math.inf
    assert mechanism.privacy_map(1) == math.inf
    assert mechanism.privacy_map(0) == 0
    if mechanism.private:
        assert {mechanism.select_index(scores) for _ in range(100)} == set(best)


# ---- guarantees --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize("epsilon", ["1e-320", "0.1", "1", "1e300"])
def test_the_guarantee_depends_on_the_distance_alone(name: str, epsilon: str) -> None:
    mechanism = MECHANISMS[name](epsilon=epsilon)
    assert mechanism.guarantee(Scores([1], sensitivity=1)) == PureDP(epsilon)
    for measure in MEASURES:
        delta = "1e-6" if measure is ApproxDP else None
        promises = {
            mechanism.guarantee(Scores(values, sensitivity=distance), measure, delta)
            for values in ([1], [5, 3, 1e308])
            for distance in (1, "1e-9", 10**9)
        }
        assert len(promises) == 1
        promise = promises.pop()
        assert isinstance(promise, measure)
        own = mechanism.promise_at(Fraction(1))
        assert own.to(measure, delta=delta) == promise
        # The mechanism's own proof is never weaker than what pure privacy alone gives.
        generic = PureDP(epsilon).to(measure, delta=delta)
        ours, theirs = (g.exact[0] if measure is ApproxDP else g.exact for g in (promise, generic))
        assert ours <= theirs


@pytest.mark.parametrize("name", PURE)
def test_the_privacy_map(name: str) -> None:
    mechanism = MECHANISMS[name](scale=2)
    assert mechanism.privacy_map(1) == 1.0
    assert mechanism.privacy_map(1, monotonic=True) == 0.5
    assert mechanism.privacy_map(0) == 0.0
    assert mechanism.privacy_map("1/3") >= Fraction(1, 3)
    # A float distance means the larger of its binary value and its shortest decimal.
    assert Fraction(MECHANISMS[name](scale=1).privacy_map(0.1)) >= 2 * Fraction(0.1)
    distances = [0, "1e-320", "0.1", 1, 5, "1e300", "1e400"]
    mapped = [mechanism.privacy_map(distance) for distance in distances]
    assert mapped == sorted(mapped)
    assert mapped[-1] == math.inf
    for distance in (-1, math.nan, math.inf, "x", None, True):
        with pytest.raises(ParameterError, match="distance"):
            mechanism.privacy_map(distance)
    monotonic: Any
    for monotonic in ("no", 1, None):
        with pytest.raises(ParameterError, match="monotonic"):
            mechanism.privacy_map(1, monotonic=monotonic)
    with pytest.raises(ParameterError, match="scale="):
        MECHANISMS[name](epsilon=1).privacy_map(1)
    assert mechanism.guarantee(Scores([1, 2], sensitivity=3)) == PureDP(3)


# ---- mechanisms without a proof ----------------------------------------------------------------


@pytest.mark.parametrize("name", NOT_PRIVATE)
@pytest.mark.parametrize("parameters", [{"epsilon": 1}, {"scale": 1}, {"scale": 0}])
def test_what_is_not_private_refuses_to_release(name: str, parameters: dict[str, Any]) -> None:
    mechanism, scores = MECHANISMS[name](**parameters), Scores([5, 3, 1], sensitivity=1)
    for method in (mechanism.select, mechanism.select_index, mechanism.release):
        for given_scores in (scores, None, [1, 2]):
            with pytest.raises(NotPrivateError, match=r"proof is wrong.*audit"):
                mechanism.select_each([[1, 2]], sensitivity=1)
            with pytest.raises(NotPrivateError, match=r"proof is wrong.*audit"):
                method(given_scores)  # type: ignore[arg-type]  # it refuses before it looks
    for measure in MEASURES:
        delta = "0.999" if measure is ApproxDP else None
        promise = mechanism.guarantee(scores, measure, delta)
        assert (promise.exact[0] if measure is ApproxDP else promise.exact) == math.inf
    if "scale" in parameters:
        assert mechanism.privacy_map("1e-300") == math.inf
    assert mechanism.probabilities(scores).sum() == pytest.approx(1)
    assert len(mechanism.sample(scores, 5)) == 5


def test_randomized_response_answers_from_its_top_set() -> None:
    scores = Scores([5, 3, 4, 1, 5], sensitivity=1)
    complete = ExponentialRandomizedResponse(epsilon=1, truth="0.75")
    naive = ExponentialRandomizedResponse(epsilon=1, truth="0.75", variant="naive")
    assert complete.top_set(scores).tolist() == [True, True, True, False, True]
    assert naive.top_set(scores).tolist() == [True, False, False, False, True]
    lowest = ExponentialRandomizedResponse(epsilon=1, optimize="min")
    assert lowest.top_set(scores).tolist() == [False, False, False, True, False]
    # The chain compares exactly: it includes a gap of Δ, but no larger gap.
    for extra, linked in ((Fraction(0), True), (Fraction(1, 10**30), False)):
        edge = Scores([Fraction(1) + extra, Fraction(0)], sensitivity=1)
        assert complete.top_set(edge).tolist() == [True, linked]
    always = ExponentialRandomizedResponse(epsilon=1, truth=1).probabilities(scores)
    assert always.tolist() == [0.25, 0.25, 0.25, 0.0, 0.25]
    never = ExponentialRandomizedResponse(epsilon=1, truth=0).probabilities(scores)
    assert np.allclose(never, MECHANISMS["exponential"](epsilon=1).probabilities(scores))
    published = ExponentialRandomizedResponse(epsilon="0.1", truth="0.75")
    pair = [published.probabilities(Scores(v, sensitivity=1))[1] for v in ([5, 3, 1], [5, 4, 1])]
    assert [round(float(p), 3) for p in pair] == [0.083, 0.461]


def test_a_mechanism_of_monstrous_truth_can_still_be_shown() -> None:
    truth = Fraction(1, 10**5000)
    assert "truth=5e-324" in repr(ExponentialRandomizedResponse(epsilon=1, truth=truth))


def test_every_error_here_has_one_root() -> None:
    assert issubclass(NotPrivateError, DiscreetError)
    assert issubclass(ParameterError, DiscreetError)
