"""Gaps of many shapes, each as a float plus a correction, and their errors against ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from flint import arb, ctx

Floats = npt.NDArray[np.float64]


def _halton(index: int, base: int) -> Fraction:
    """Return a scattered but fixed sequence in [0, 1), without random numbers."""
    result, scale = Fraction(0), Fraction(1, base)
    while index:
        index, digit = divmod(index, base)
        result += digit * scale
        scale /= base
    return result


def scattered(size: int, spread: Fraction) -> list[Fraction]:
    """Return exact, distinct gaps scattered over [0, spread] in no order; the first is 0."""
    third = Fraction(1, 3)  # not a float: every gap then needs its correction
    return [Fraction(0)] + [
        (_halton(k, 2) + third * _halton(k, 3)) * spread for k in range(1, size)
    ]


SHAPES: dict[str, Callable[[int], list[Fraction]]] = {
    "one unit": lambda n: scattered(n, Fraction(1)),
    "three units": lambda n: scattered(n, Fraction(3)),
    "thirty units": lambda n: scattered(n, Fraction(30)),
    "down to 1e-300": lambda n: scattered(n, Fraction(515)),
    "all equal": lambda n: [Fraction(0)] * n,
    "one best, others equal": lambda n: [Fraction(0)] + [Fraction(25, 3)] * (n - 1),
    "one best, others far": lambda n: (
        [Fraction(0)] + [600 + g for g in scattered(n - 1, Fraction(9))]
    ),
    "pairs a hair apart": lambda n: [
        g + (k % 2) * Fraction(1, 10**12)
        for k, g in enumerate([Fraction(j // 2, 5) for j in range(n)])
    ],
    "two heaps": lambda n: [
        g / 100 + (40 if k % 2 else 0) for k, g in enumerate(scattered(n, Fraction(1)))
    ],
    "geometric": lambda n: [Fraction(0)] + [Fraction(11, 10) ** (k - 60) for k in range(1, n)],
}


@dataclass(frozen=True, slots=True)
class Shape:
    """Exact gaps, each with its two floats."""

    exact: list[Fraction]
    gaps: Floats
    correction: Floats


def split(exact: Sequence[Fraction]) -> Shape:
    gaps = np.array([float(gap) for gap in exact])
    low = [float(gap - Fraction(high)) for gap, high in zip(exact, gaps.tolist(), strict=True)]
    return Shape(list(exact), gaps, np.array(low))


def relative_error(found: Floats, balls: Sequence[Any]) -> float:
    with ctx.workprec(250):
        errors = [
            float(abs(arb(value) / ball - 1).upper())
            for value, ball in zip(found.tolist(), balls, strict=True)
        ]
    return max(errors)


def log_error(found: Floats, balls: Sequence[Any]) -> float:
    """Return the error of logarithms: absolute up to 1, relative beyond."""
    with ctx.workprec(250):
        errors = [
            float((abs(arb(value) - ball.log()) / max(1.0, abs(value))).upper())
            for value, ball in zip(found.tolist(), balls, strict=True)
        ]
    return max(errors)


@pytest.fixture(params=sorted(SHAPES))
def shape_of_size(request: pytest.FixtureRequest) -> Callable[[int], Shape]:
    return lambda size: split(SHAPES[request.param](size))


@pytest.fixture(
    params=["one unit", "thirty units", "one best, others equal", "pairs a hair apart", "two heaps"]
)
def thousand(request: pytest.FixtureRequest) -> Shape:
    """Return a thousand gaps of a shape that ball arithmetic handles within a second or two."""
    return split(SHAPES[request.param](1000))


@pytest.fixture
def errors() -> tuple[Callable[..., float], Callable[..., float]]:
    return relative_error, log_error


@pytest.fixture
def splitter() -> Callable[[Sequence[Fraction]], Shape]:
    return split
