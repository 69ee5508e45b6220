"""The OpenDP adapter, against the real package: types, maps, refusals, chains and frequencies."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from discreet.errors import DiscreetError, ParameterError
from discreet.opendp import (
    make_exponential,
    make_noisy_max_laplace,
    make_permute_and_flip,
    then_exponential,
    then_noisy_max_laplace,
    then_permute_and_flip,
)

dp = pytest.importorskip("opendp.prelude")

Maker = Callable[..., Any]
MAKERS: list[Maker] = [make_permute_and_flip, make_exponential, make_noisy_max_laplace]
ENDINGS: list[Maker] = [then_permute_and_flip, then_exponential, then_noisy_max_laplace]
INTEGERS = ["i32", "i64", "u32", "u64", "usize"]
FLOATS = ["f32", "f64"]
SOURCES = str(Path(__file__).parents[1] / "src")


@pytest.fixture(autouse=True)
def _features() -> Iterator[None]:
    from opendp.mod import GLOBAL_FEATURES

    features = ("contrib", "honest-but-curious")
    added = [feature for feature in features if feature not in GLOBAL_FEATURES]
    dp.enable_features(*features)
    yield
    dp.enable_features(*features)
    dp.disable_features(*added)


def _space(atom: str = "i64", *, monotonic: bool = False, **vector: Any) -> tuple[Any, Any]:
    atoms = dp.atom_domain(T=atom, nan=False) if atom in FLOATS else dp.atom_domain(T=atom)
    return dp.vector_domain(atoms, **vector), dp.linf_distance(T=atom, monotonic=monotonic)


# ---- what is made ------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("atom", INTEGERS + FLOATS)
def test_a_genuine_measurement(make: Maker, atom: str) -> None:
    domain, metric = _space(atom)
    measurement = make(domain, metric, scale=2.0)
    assert type(measurement) is dp.Measurement
    assert measurement.input_domain == domain
    assert measurement.input_metric == metric
    assert measurement.output_measure == dp.max_divergence()
    one = 1.0 if atom in FLOATS else 1
    values = [5 * one, 100 * one, 7 * one]
    assert measurement(values) == 1
    assert type(measurement(values)) is int
    assert make(domain, metric, scale=2.0, optimize="min")([90 * one, 100 * one, one]) == 2
    assert measurement.map(one) == 1.0
    assert measurement.check(one, 1.0)
    assert not measurement.check(one, 0.999)


def test_sized_and_bounded_domains_and_numpy_input() -> None:
    sized = make_permute_and_flip(*_space(size=3), scale=1.0)
    assert sized([1, 2, 100]) == 2
    assert sized(np.array([1, 2, 100])) == 2
    bounded = dp.vector_domain(dp.atom_domain(T="i64", bounds=(0, 200)))
    assert make_permute_and_flip(bounded, dp.linf_distance(T="i64"), scale=1.0)([1, 2, 100]) == 2
    largest = make_permute_and_flip(*_space("u64"), scale=1.0)
    assert largest([2**64 - 1, 2**64 - 200]) == 0


# ---- privacy maps ------------------------------------------------------------------------------

SCALES = [0.1, 1.0, 3.0, 1e-300, 1e300, 5e-324]
DISTANCES = [0.0, 0.1, 0.3, 1.0, 7.0, 1e-300, 1e300]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_map_is_never_below_the_exact_cost(make: Maker, monotonic: bool) -> None:
    for scale in SCALES:
        measurement = make(*_space("f64", monotonic=monotonic), scale=scale)
        for distance in DISTANCES:
            exact = (1 if monotonic else 2) * Fraction(distance) / Fraction(scale)
            mapped = measurement.map(distance)
            assert mapped >= exact
            assert mapped == math.inf or mapped <= exact * (1 + Fraction(1, 10**15)) + 5e-324
    whole = make(*_space("i64", monotonic=monotonic), scale=2.0)
    assert [whole.map(d) for d in (0, 1, 4)] == [0.0, *((0.5, 2.0) if monotonic else (1.0, 4.0))]


def _rho(make: Maker, epsilon: Any) -> Any:
    laplace = epsilon + (-epsilon).exp() - 1
    if make is make_noisy_max_laplace:
        return laplace
    width = epsilon
    if make is make_permute_and_flip:
        width = 2 * (2 * (epsilon / 2).exp() - 1).log()
    ratio = width / (1 - (-width).exp())
    ranged = ratio - 1 - ratio.log()
    return ranged if make is make_exponential or ranged < laplace else laplace


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("monotonic", [False, True])
def test_the_concentrated_map_is_never_below_the_exact_cost(make: Maker, monotonic: bool) -> None:
    space = _space("f64", monotonic=monotonic)
    for scale in (0.1, 1.0, 3.0, 1e6):
        measurement = make(*space, dp.zero_concentrated_divergence(), scale=scale)
        assert measurement.output_measure == dp.zero_concentrated_divergence()
        assert measurement.map(0.0) == 0.0
        for distance in (0.1, 1.0, 7.0):
            epsilon = (1 if monotonic else 2) * Fraction(distance) / Fraction(scale)
            mapped = Fraction(measurement.map(distance))
            with ctx.workprec(1000):
                truth = _rho(make, arb(fmpq(epsilon.numerator, epsilon.denominator)))
                ours = arb(fmpq(mapped.numerator, mapped.denominator))
                assert not ours < truth
                assert not ours > truth * (1 + arb(10) ** -14)


@pytest.mark.parametrize("make", MAKERS)
def test_monotonic_scores_cost_half(make: Maker) -> None:
    general, monotonic = (make(*_space("f64", monotonic=flag), scale=3.0) for flag in (False, True))
    for distance in (0.5, 1.0, 8.0):
        assert monotonic.map(2 * distance) == general.map(distance)


@pytest.mark.parametrize("make", MAKERS)
def test_scale_zero_promises_nothing_unless_nothing_moves(make: Maker) -> None:
    for measure in (dp.max_divergence(), dp.zero_concentrated_divergence()):
        measurement = make(*_space(), measure, scale=0.0)
        assert measurement.map(0) == 0.0
        assert measurement.map(1) == math.inf
        assert {measurement([3, 1, 3]) for _ in range(100)} == {0, 2}


@pytest.mark.parametrize("make", MAKERS)
def test_numbers_are_read_as_binary(make: Maker) -> None:
    """OpenDP reads 0.1 as the float it is; a Decimal or a string is what it says."""
    assert make(*_space(), scale=0.1).map(1) >= 2 / Fraction(0.1)
    assert make(*_space(), scale="0.1").map(1) == 20.0
    measurement = make(*_space("f64"), scale=1.0)
    assert Fraction(measurement.map(0.1)) == 2 * Fraction(0.1)


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
def test_domains_that_are_nullable_or_no_numbers_are_refused(make: Maker) -> None:
    for domain in (
        dp.vector_domain(dp.atom_domain(T="f64")),  # NaN is allowed unless it is said otherwise
        dp.vector_domain(dp.atom_domain(T="f64", nan=True)),
        dp.vector_domain(dp.atom_domain(T="f32", nan=True)),
        dp.vector_domain(dp.atom_domain(T="String")),
        dp.vector_domain(dp.atom_domain(T="bool")),
        dp.atom_domain(T="i64"),
        dp.option_domain(dp.atom_domain(T="i64")),
        None,
        "VectorDomain",
    ):
        with pytest.raises(ParameterError, match="input_domain"):
            make(domain, dp.linf_distance(T="f64"), scale=1.0)


@pytest.mark.parametrize("make", MAKERS)
def test_other_metrics_measures_and_scales_are_refused(make: Maker) -> None:
    domain, metric = _space()
    for other in (
        dp.l1_distance(T="i64"),
        dp.l2_distance(T="f64"),
        dp.symmetric_distance(),
        "LInfDistance(T=i64)",
        None,
    ):
        with pytest.raises(ParameterError, match="input_metric"):
            make(domain, other, scale=1.0)
    for other in (dp.smoothed_max_divergence(), dp.renyi_divergence(), "MaxDivergence", 1):
        with pytest.raises(ParameterError, match="output_measure"):
            make(domain, metric, other, scale=1.0)
    for scale in (-1.0, -1e-300, math.nan, math.inf, "x", None, True):
        with pytest.raises(ParameterError, match="scale"):
            make(domain, metric, scale=scale)
    with pytest.raises(ParameterError, match="optimize"):
        make(domain, metric, scale=1.0, optimize="best")
    with pytest.raises(TypeError):
        make(domain, metric, dp.max_divergence(), 1.0)


@pytest.mark.parametrize("make", MAKERS)
def test_bad_data_and_distances_end_in_an_error_without_a_score(make: Maker) -> None:
    floats = make(*_space("f64"), scale=1.0)
    for bad in ([918273645.0, math.inf], [918273645.0, math.nan], []):
        with pytest.raises(dp.OpenDPException) as caught:
            floats(bad)
        assert "918273645" not in str(caught.value)
    for distance in (-1.0, math.nan, math.inf):
        with pytest.raises(dp.OpenDPException):
            floats.map(distance)


def test_features_are_never_switched_on_for_the_user() -> None:
    """In a process of its own: the error names the line to add, and nothing is switched on."""
    script = """
import opendp.prelude as dp
from opendp.mod import GLOBAL_FEATURES
from discreet.errors import DiscreetError
from discreet.opendp import make_permute_and_flip
assert not GLOBAL_FEATURES
dp.enable_features("contrib")
space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
dp.disable_features("contrib")
for features in ((), ("contrib",), ("honest-but-curious",), ("contrib", "honest-but-curious")):
    dp.enable_features(*features)
    try:
        print("made", make_permute_and_flip(*space, scale=2.0).map(1))
    except DiscreetError as error:
        print("refused", error)
    assert set(GLOBAL_FEATURES) == set(features)
    dp.disable_features(*features)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PYTHONPATH": SOURCES, "PATH": ""},
    )
    *refused, made = done.stdout.splitlines()
    assert made == "made 1.0"
    assert len(refused) == 3
    line = 'opendp.prelude.enable_features("contrib", "honest-but-curious")'
    assert all(text.startswith("refused") and line in text for text in refused)


def test_the_error_for_missing_features_is_ours() -> None:
    space = _space()
    dp.disable_features("honest-but-curious")
    with pytest.raises(DiscreetError, match="honest-but-curious"):
        make_permute_and_flip(*space, scale=1.0)


# ---- chains ------------------------------------------------------------------------------------


def _counts() -> Any:
    """A table of words to the counts of three of them: one person more or less moves them one way."""
    words = ["flu", "cold", "asthma"]
    return dp.t.make_user_transformation(
        dp.vector_domain(dp.atom_domain(T="String")),
        dp.symmetric_distance(),
        *_space("i64", monotonic=True),
        lambda rows: [rows.count(word) for word in words],
        lambda distance: distance,
    )


@pytest.mark.parametrize("make", MAKERS)
def test_a_measurement_ends_a_chain(make: Maker) -> None:
    counts = _counts()
    chain = counts >> make(counts.output_domain, counts.output_metric, scale=1.0)
    assert type(chain) is dp.Measurement
    assert chain(["cold"] * 90 + ["flu"] * 3) == 1
    assert chain.map(1) == 1.0
    assert chain.map(3) == 3.0
    mismatched = make(*_space("i64"), scale=1.0)
    with pytest.raises(dp.OpenDPException):
        assert counts >> mismatched


@pytest.mark.parametrize(("make", "then"), list(zip(MAKERS, ENDINGS, strict=True)))
def test_a_partial_constructor_is_completed_by_the_chain(make: Maker, then: Maker) -> None:
    counts = _counts()
    concentrated = dp.zero_concentrated_divergence()
    for options in ({"scale": 2.0}, {"output_measure": concentrated, "scale": 3.0}):
        space = counts.output_domain, counts.output_metric
        whole = make(*space, **options)
        for part in (counts >> then(**options), space >> then(**options)):
            assert type(part) is dp.Measurement
            assert part.map(1) == whole.map(1)
            assert part.output_measure == whole.output_measure
    assert (counts >> then(scale=1.0, optimize="min"))(["cold"] * 90 + ["flu"] * 90) == 2
    with pytest.raises(ParameterError, match="scale"):
        counts >> then(scale=-1.0)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("atom", "distance"), [("i64", "f64"), ("f64", "i64"), ("i32", "i64")])
def test_a_metric_of_another_type_than_the_domain_is_refused(
    make: Maker, atom: str, distance: str
) -> None:
    with pytest.raises(ParameterError, match=rf"input_metric.*linf_distance\(T='{atom}'\)"):
        make(_space(atom)[0], dp.linf_distance(T=distance), scale=1.0)


@pytest.mark.parametrize("make", MAKERS)
def test_measurements_compose(make: Maker) -> None:
    measurement = make(*_space(), scale=2.0)
    pair = dp.c.make_composition([measurement, dp.c.make_composition([measurement])])
    assert pair.map(1) == 2.0
    assert pair([1, 200]) == [1, [1]]
    adaptive = dp.c.make_adaptive_composition(
        *_space(), dp.max_divergence(), d_in=1, d_mids=[1.0, 1.0]
    )
    queryable = adaptive([1, 200])
    assert [queryable(measurement), queryable(measurement)] == [1, 1]
    with pytest.raises(dp.OpenDPException):
        queryable(measurement)
    concentrated = make(*_space(), dp.zero_concentrated_divergence(), scale=2.0)
    curve = dp.c.make_zCDP_to_approxDP(concentrated).map(1)
    assert 0 < curve.epsilon(1e-6) < 6
    assert dp.c.make_pureDP_to_zCDP(measurement).map(1) >= concentrated.map(1)


# ---- the same law as OpenDP's own --------------------------------------------------------------

DRAWS = 3000
FALSE_ALARM = 1e-9
"""Of each of the four comparisons below."""


@pytest.mark.parametrize("optimize", ["max", "min"])
@pytest.mark.parametrize(
    ("make", "measure"),
    [
        (make_permute_and_flip, dp.max_divergence),
        (make_exponential, dp.zero_concentrated_divergence),
    ],
)
def test_frequencies_agree_with_opendp(make: Maker, measure: Any, optimize: str) -> None:
    """By Hoeffding, two frequencies of n draws differ by sqrt(ln(2/α)/n) with probability below α.

    The power: the limit is 0.086. The wrong end moves a frequency by 0.46 or more and is always seen; a
    scale off by a factor of two moves it by 0.109 to 0.150, which is seen in about 96 of 100 runs or more.
    Permute-and-flip and the exponential mechanism differ by 0.085: this test cannot tell them apart.
    """
    theirs = dp.m.make_noisy_max(*_space(), measure(), scale=1.0, negate=optimize == "min")
    ours = make(*_space(), measure(), scale=1.0, optimize=optimize)
    values = [0, 1]
    tallies = [
        np.bincount([measurement(values) for _ in range(DRAWS)], minlength=len(values)) / DRAWS
        for measurement in (ours, theirs)
    ]
    limit = math.sqrt(math.log(2 * len(values) / FALSE_ALARM) / DRAWS)
    assert np.abs(tallies[0] - tallies[1]).max() <= limit
    assert ours.map(1) <= theirs.map(1)
