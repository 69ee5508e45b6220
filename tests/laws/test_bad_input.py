"""Any bad input gives one of our errors, without a score in it, and releases nothing."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import itertools
import math
import re
import traceback
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Scores
from discreet.errors import DiscreetError, ParameterError, ScoresError
from discreet.mechanisms import MECHANISMS

SENTINEL = 918273645
"""A score that must not appear in any error, in whole or as a recognisable part."""


def _cyclic() -> list[Any]:
    values: list[Any] = [SENTINEL]
    values.append(values)
    return values


def _failing() -> Iterator[int]:
    yield SENTINEL
    raise RuntimeError(f"row {SENTINEL} is broken")


class _Raises:
    def __iter__(self) -> Iterator[int]:
        raise ValueError(str(SENTINEL))


class _HugeLength:
    def __len__(self) -> int:
        return 1 << 70

    def __iter__(self) -> Iterator[int]:
        return iter([SENTINEL])


BAD_SCORES: dict[str, Any] = {
    "empty list": [],
    "empty mapping": {},
    "empty array": np.array([]),
    "nan": [SENTINEL, math.nan],
    "infinity": [float(SENTINEL), math.inf],
    "minus infinity": np.array([SENTINEL, -math.inf]),
    "nan in float16": np.array([1, math.nan], dtype=np.float16),
    "nan in float32": np.array([SENTINEL, math.nan], dtype=np.float32),
    "nan in long double": np.array([SENTINEL, math.nan], dtype=np.longdouble),
    "nan far along": np.where(np.arange(30_000) == 20_011, math.nan, SENTINEL),
    "infinities that cancel": np.array([math.inf, -math.inf, SENTINEL]),
    "decimal nan": [SENTINEL, decimal.Decimal("nan")],
    "decimal infinity": [decimal.Decimal("inf")],
    "decimal signalling": [decimal.Decimal("snan")],
    "decimal monster": [SENTINEL, decimal.Decimal("1e999999")],
    "none": [SENTINEL, None],
    "nothing": None,
    "masked": np.ma.array([SENTINEL, 1], mask=[False, True]),
    "masked constant": [SENTINEL, np.ma.masked],
    "masked objects": np.ma.array([SENTINEL, None], mask=[False, True], dtype=object),
    "text": str(SENTINEL),
    "bytes": str(SENTINEL).encode(),
    "list of text": [str(SENTINEL)],
    "array of text": np.array([str(SENTINEL)]),
    "complex": [complex(SENTINEL, 1)],
    "complex array": np.array([complex(SENTINEL, 1)]),
    "two dimensions": np.array([[SENTINEL, 1], [2, 3]]),
    "no dimension": np.array(SENTINEL),
    "a list of lists": [[SENTINEL], [1]],
    "a cycle": _cyclic(),
    "booleans": [True, False],
    "boolean array": np.array([True, False]),
    "boolean among numbers": [SENTINEL, True],
    "numpy boolean among numbers": [SENTINEL, np.True_],
    "dates": [datetime.date(2020, 1, 1)],
    "date array": np.array(["2020-01-01"], dtype="M8[D]"),
    "duration array": np.array([SENTINEL], dtype="m8[s]"),
    "records": np.array([(SENTINEL,)], dtype=[("a", np.int64)]),
    "raw memory": np.zeros(2, dtype="V8"),
    "a number": SENTINEL,
    "a numpy number": np.float64(SENTINEL),
    "a set": {SENTINEL, 1},
    "a frozen set": frozenset({SENTINEL, 1}),
    "a function": len,
    "a class": list,
    "objects": [SENTINEL, object()],
    "an iterator that fails": _failing(),
    "an iterable that fails": _Raises(),
    "an iterable of absurd length": _HugeLength(),
    "a mapping of text": {"a": str(SENTINEL)},
}

BAD_LABELS: dict[str, Any] = {
    "too few": ["a"],
    "too many": ["a", "b", "c"],
    "duplicates": ["a", "a"],
    "equal though different": [1, True],
    "text": "ab",
    "bytes": b"ab",
    "a number": 5,
    "a set": {"a", "b"},
    "unhashable": [["a"], ["b"]],
    "a matrix": np.array([[1, 2], [3, 4]]),
}

WRONG_NUMBERS: list[Any] = [
    0, 0.0, -1, -0.5, "-1", math.nan, math.inf, -math.inf, "nan", "inf", "", "abc", "1/0", True, False,
    1j, [], [1], {}, object(), b"1", np.array([1]), np.float64("nan"), np.longdouble(1),
    decimal.Decimal("nan"), decimal.Decimal("inf"), 10**5000, "1e999999999", "1e-999999999",
]  # fmt: skip


def _assert_discreet(error: DiscreetError) -> None:
    """Check that neither the message nor a traceback shows the score."""
    assert str(SENTINEL) not in "".join(traceback.format_exception_only(error))
    assert not re.search(r"9182|3645", str(error))
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


@pytest.mark.parametrize("name", BAD_SCORES)
def test_bad_scores_are_refused_by_rule(name: str) -> None:
    with pytest.raises(ScoresError) as caught:
        Scores(BAD_SCORES[name], sensitivity=1)
    _assert_discreet(caught.value)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_bad_columns_are_refused_by_rule(library: str) -> None:
    frames = pytest.importorskip(library)
    column = frames.array if library == "pyarrow" else frames.Series
    table = frames.table if library == "pyarrow" else frames.DataFrame
    bad = [
        column([SENTINEL, None]),
        column([float(SENTINEL), math.nan]),
        column([float(SENTINEL), math.inf]),
        column([str(SENTINEL), "x"]),
        column([True, False]),
        column([datetime.date(2020, 1, 1)]),
        column([[SENTINEL], [1]]),
        table({"a": [SENTINEL]}),
    ]
    if library == "pandas":
        bad += [
            column([SENTINEL, None], dtype="Int64"),
            column([True, False], dtype="boolean"),
            column([SENTINEL, 1], index=["a", "a"]),
            frames.NA,
            frames.NaT,
            [SENTINEL, frames.NA],
            [SENTINEL, frames.NaT],
        ]
    if library == "polars":
        bad += [frames.LazyFrame({"a": [SENTINEL]}), frames.col("a")]
    if library == "pyarrow":
        bad += [frames.scalar(SENTINEL), frames.nulls(2)]
    for values in bad:
        with pytest.raises(DiscreetError) as caught:
            Scores(values, sensitivity=1)
        _assert_discreet(caught.value)


@pytest.mark.parametrize("name", BAD_LABELS)
def test_bad_labels_are_refused(name: str) -> None:
    with pytest.raises(DiscreetError) as caught:
        Scores([SENTINEL, 1], candidates=BAD_LABELS[name], sensitivity=1)
    _assert_discreet(caught.value)


@pytest.mark.parametrize(
    "wrong",
    WRONG_NUMBERS,
    ids=lambda value: repr(value)[:20] if not isinstance(value, int) else "int",
)
def test_wrong_distances_are_refused_before_the_scores_are_read(wrong: Any) -> None:
    # Only the scores determine the right length of a list of sensitivities.
    listed = isinstance(wrong, list | np.ndarray)
    for name in ("range_distance",) if listed else ("sensitivity", "range_distance"):
        # The iterator would raise first, so the refusal shows that nothing was read.
        with pytest.raises(ParameterError, match=name) as caught:
            Scores(_failing(), **{name: wrong})
        _assert_discreet(caught.value)


def test_distances_are_given_exactly_once() -> None:
    for arguments in (
        {},
        {"sensitivity": None},
        {"sensitivity": 1, "range_distance": 2},
        {"range_distance": 2, "monotonic": True},
        {"sensitivity": 1, "monotonic": "yes"},
        {"sensitivity": 1, "monotonic": 1},
        {"sensitivity": 1, "monotonic": None},
    ):
        with pytest.raises(ParameterError):
            Scores([SENTINEL], **arguments)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(
    "wrong",
    WRONG_NUMBERS,
    ids=lambda value: repr(value)[:20] if not isinstance(value, int) else "int",
)
def test_wrong_mechanism_numbers_are_refused(name: str, wrong: Any) -> None:
    factory = MECHANISMS[name]
    with pytest.raises(ParameterError, match="epsilon"):
        factory(epsilon=wrong)
    if not (isinstance(wrong, int | float) and wrong == 0) or isinstance(wrong, bool):
        with pytest.raises(ParameterError, match="scale"):
            factory(scale=wrong)


@pytest.mark.parametrize("name", MECHANISMS)
def test_wrong_mechanism_options_are_refused(name: str) -> None:
    factory = MECHANISMS[name]
    for arguments in ({}, {"epsilon": 1, "scale": 1}, {"epsilon": None, "scale": None}):
        with pytest.raises(ParameterError, match="exactly one"):
            factory(**arguments)
    for optimize in ("maximum", "", None, 1, ["max"], np.array(["max", "min"])):
        with pytest.raises(ParameterError, match="optimize"):
            factory(epsilon=1, optimize=optimize)
    scores = Scores([SENTINEL, 1], sensitivity=1)
    size: Any
    for size in (-1, 1.5, "3", None, True):
        with pytest.raises(ParameterError, match="size"):
            factory(epsilon=1).sample(scores, size)
    randomness: Any
    for randomness in (42, "seed", np.random.default_rng(1), object()):
        with pytest.raises(ParameterError, match="randomness"):
            factory(epsilon=1).sample(scores, 3, randomness=randomness)


def test_wrong_words_are_refused() -> None:
    from discreet import ExponentialRandomizedResponse, NoisyMax, PermuteAndFlip
    from discreet.mechanisms import mechanism_named

    stranger: Any
    for stranger in ("gauss", None, 2, [], np.array(["a", "b"])):
        with pytest.raises(ParameterError, match="noise"):
            NoisyMax(epsilon=1, noise=stranger)
        with pytest.raises(ParameterError, match="variant"):
            ExponentialRandomizedResponse(epsilon=1, variant=stranger)
        with pytest.raises(ParameterError, match="mechanism"):
            mechanism_named(stranger, epsilon=1)
        with pytest.raises(ParameterError, match="steady"):
            PermuteAndFlip(epsilon=1, steady=stranger)
    for stranger in (-1, 2, "x", math.nan, None):
        with pytest.raises(ParameterError, match="truth"):
            ExponentialRandomizedResponse(epsilon=1, truth=stranger)


def test_an_array_that_goes_bad_after_validation_is_caught_at_the_release() -> None:
    """Scores are borrowed and their owner may still write to them, so each selection checks them again.

    Only an infinity on the losing side is accepted: it is the worst score and is never chosen.
    """
    for name, factory in MECHANISMS.items():
        for dtype, size in itertools.product((np.float64, np.float32, np.float16), (3, 40_000)):
            owned = np.zeros(size, dtype=dtype)
            scores = Scores(owned, sensitivity=1)
            for poison in (math.nan, math.inf, -math.inf):
                owned[size // 2] = poison
                for optimize in ("max", "min"):
                    mechanism = factory(epsilon=1, optimize=optimize)
                    losing = -math.inf if optimize == "max" else math.inf
                    if poison == losing:
                        if mechanism.private:
                            assert mechanism.select_index(scores) != size // 2
                        with contextlib.suppress(ScoresError):
                            assert size // 2 not in mechanism.sample(scores, 2)
                        continue
                    with pytest.raises(DiscreetError):
                        mechanism.select(scores)
                    with pytest.raises(ScoresError):
                        mechanism.sample(scores, 2)
                    with pytest.raises(ScoresError):
                        factory(scale=0, optimize=optimize).sample(scores, 2)
        assert name


# ---- fuzz --------------------------------------------------------------------------------------

_ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.just(np.ma.masked),
    st.sampled_from(
        [np.int8(1), np.uint64(2**64 - 1), np.float32("inf"), np.longdouble(2), np.nan]
    ),
    st.just(object()),
)
_ANYTHING = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=3), inner, max_size=4),
        st.lists(inner, max_size=4).map(iter),
        st.lists(inner, max_size=4).map(lambda values: np.array(values, dtype=object)),
        st.frozensets(st.integers(), max_size=3),
    ),
    max_leaves=8,
)


@given(_ANYTHING, st.one_of(st.none(), _ANYTHING))
@settings(max_examples=400)
def test_any_object_is_scores_or_one_of_our_errors(values: Any, candidates: Any) -> None:
    try:
        scores = Scores(values, candidates=candidates, sensitivity=1)
    except DiscreetError as error:
        assert error.__cause__ is None  # noqa: PT017
        return
    assert len(scores) == len(scores.candidates) >= 1
    assert all(isinstance(Fraction(value), Fraction) for value in scores.values.tolist())
    for factory in MECHANISMS.values():
        assert 0 <= int(factory(epsilon=1).sample(scores, 1)[0]) < len(scores)


@given(_ANYTHING, _ANYTHING, _ANYTHING)
@settings(max_examples=200)
def test_any_parameter_is_accepted_or_one_of_our_errors(
    epsilon: Any, sensitivity: Any, monotonic: Any
) -> None:
    for factory in MECHANISMS.values():
        for arguments in ({"epsilon": epsilon}, {"scale": epsilon}):
            try:
                mechanism = factory(**arguments)
            except DiscreetError:
                continue
            assert repr(mechanism)
    try:
        Scores([1, 2], sensitivity=sensitivity, monotonic=monotonic)
    except DiscreetError:
        return
