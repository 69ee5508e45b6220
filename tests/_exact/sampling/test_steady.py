"""The steady sampler reads the same number of bits and flips the same coins, whatever the scores."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from flint import arb, ctx

from discreet._exact.gaps import Gaps
from discreet._exact.sampling import ScriptedBits, steady, steady_head
from discreet._exact.sampling.bits import Words
from discreet._exact.sampling.steady import steady_chances


class CountingBits(ScriptedBits):
    """Scripted bits that record every request."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.requests: list[tuple[str, int]] = []

    def words(self, count: int, *, width: int = 64) -> Words:
        self.requests.append(("words", count * width))
        return super().words(count, width=width)

    def integer(self, width: int) -> int:
        self.requests.append(("integer", width))
        return super().integer(width)


def _shapes(size: int) -> list[Any]:
    rng = np.random.default_rng(1)
    lonely = np.zeros(size)
    lonely[size // 2] = 1e6
    return [
        lonely,
        np.zeros(size),
        rng.uniform(0, 40, size),
        rng.normal(0, 1e300, size),
        np.arange(size, dtype=np.float64),
    ]


@pytest.mark.parametrize("size", [1, 1000, 70_000])
def test_the_bits_read_do_not_depend_on_the_scores(size: int) -> None:
    accounts = set()
    for values in _shapes(size):
        for seed in range(3):
            bits = CountingBits(seed)
            steady_head(Gaps(values, scale=Fraction(2)), bits)
            accounts.add(tuple(bits.requests))
    assert len(accounts) == 1


def test_coins_are_flipped_in_stretches_of_the_same_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, int]] = []
    right = Gaps.steady_stretch

    def stretch(self: Gaps, start: int, stop: int) -> Any:
        asked.append((start, stop))
        return right(self, start, stop)

    monkeypatch.setattr(Gaps, "steady_stretch", stretch)
    monkeypatch.setattr(steady, "_STRETCH", 10)
    for values in _shapes(25):
        asked.clear()
        steady_head(Gaps(values, scale=Fraction(2)), ScriptedBits(1))
        assert asked == [(0, 10), (10, 20), (20, 25)]


def test_stretches_merge_to_the_same_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    # Fixed bits: 4000 draws over 7 equal candidates in chunks of 3; five standard deviations.
    monkeypatch.setattr(steady, "_STRETCH", 3)
    bits = ScriptedBits(4)
    drawn = [steady_head(Gaps(np.zeros(7), scale=Fraction(1)), bits) for _ in range(4_000)]
    counts = np.bincount(drawn, minlength=7)
    assert float(np.abs(counts - 4_000 / 7).max()) < 5 * (4_000 * 6 / 49) ** 0.5


def test_chances_are_within_the_error_that_lemma_15_states() -> None:
    """This also covers the ends of the range of gaps, and the points where the number of halvings changes."""
    rng = np.random.default_rng(2)
    gammas = np.concatenate(
        [
            rng.uniform(0, 150, 4000),
            rng.uniform(0, 1, 1000),
            np.log(2) * (np.arange(216) + 0.5),
            np.log(2) * np.arange(1, 217),
            [2.0**-100, 150.0],
        ]
    )
    chances = steady_chances(gammas.copy())
    with ctx.workprec(128):
        for gamma, chance in zip(gammas.tolist(), chances.tolist(), strict=True):
            assert abs(arb(chance) / (-arb(gamma)).exp() - 1) < arb(2) ** -49


class _Watched(np.ndarray):
    """An array that records every operation on it, with the operands."""

    account: ClassVar[list[tuple[str, str]]] = []
    normal_only: ClassVar[bool] = True

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(each) if isinstance(each, _Watched) else each for each in inputs]
        target = options.pop("out", None)
        if target is not None:
            options["out"] = tuple(np.asarray(each) for each in target)
        for each in plain:
            if self.normal_only and ufunc is np.multiply and np.asarray(each).dtype.kind == "f":
                sizes = np.abs(each)
                assert np.all((sizes == 0) | (sizes >= 2.0**-1022) & (sizes < np.inf))
        self.account.append((ufunc.__name__, method))
        found = getattr(ufunc, method)(*plain, **options)
        return target[0] if target is not None else np.asarray(found).view(_Watched)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "uint8"])
@pytest.mark.parametrize("scale", [Fraction(2), Fraction(1, 10**290), Fraction(10**290)])
def test_the_arithmetic_does_not_depend_on_the_scores(
    kind: str, scale: Fraction, largest: bool
) -> None:
    """The operations and their order are the same for all scores, and `exp` is not among them.

    At scales within 2^±900 no product has a subnormal or infinite operand, whose time may differ.
    """
    accounts = set()
    _Watched.normal_only = scale == 2
    with np.errstate(all="ignore"):
        shapes = [*_shapes(50), np.full(50, 1.7e308) * np.tile([1, -1], 25), np.full(50, 1e-310)]
    for values in shapes:
        with np.errstate(all="ignore"):
            cast = np.clip(values, -1e38, 1e38) if kind == "float32" else values
            cast = np.clip(values, 0, 200) if kind[0] in "iu" else cast
            scores = cast.astype(kind).view(_Watched)
            gaps = Gaps(scores, scale=scale, largest_is_best=largest)
            assert np.isfinite(gaps.best)
            _Watched.account = []
            assert np.all(np.asarray(steady_chances(gaps.steady_stretch(0, 50))) <= 1)
        accounts.add(tuple(_Watched.account))
    assert len(accounts) == 1
    assert "exp" not in {name for name, _ in accounts.pop()}
