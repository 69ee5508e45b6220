"""Upper bounds in ball arithmetic: never below the truth, and tight."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from discreet._exact.numbers.balls import ball_of, precision, upper_bound, upper_end


def _pure(e: Any) -> Any:
    return e * (e / 2).tanh()


def _laplace(e: Any) -> Any:
    return e + (-e).expm1()


EPSILONS = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**4),
    st.integers(min_value=-900, max_value=300).map(lambda power: Fraction(10) ** power),
)


@pytest.mark.parametrize("formula", [_pure, _laplace, lambda e: e.exp(), lambda e: e.log()])
@given(epsilon=EPSILONS)
def test_an_upper_bound_is_above_and_near_the_truth(formula: Any, epsilon: Fraction) -> None:
    if epsilon > 1000 and formula not in (_pure, _laplace):
        epsilon = Fraction(1000)  # larger exponents leave the range of reported numbers
    bound = upper_bound(formula, epsilon)
    assert isinstance(bound, Fraction)
    with ctx.workprec(8000):
        truth = formula(ball_of(epsilon))
        reported = arb(fmpq(bound.numerator, bound.denominator))
        assert not (reported < truth)
        assert not (abs(reported - truth) > abs(truth) * arb(2) ** -60)


def test_cancellation_is_undone_at_the_least_epsilon() -> None:
    tiny = Fraction(1, 10**320)
    bound = upper_bound(_laplace, tiny)
    assert tiny**2 / 2 * (1 - Fraction(1, 10**15)) < bound < tiny**2 / 2 * (1 + Fraction(1, 10**15))


def test_a_bound_that_is_nowhere_found_is_infinite() -> None:
    assert upper_bound(lambda e: e.log(), Fraction(-1)) == math.inf
    assert upper_bound(lambda e: 1 / (e - e), Fraction(1, 3)) == math.inf


def test_beyond_the_range_the_end_is_infinite_or_a_coarser_number_and_quick() -> None:
    started = time.process_time()
    assert upper_bound(lambda e: e.exp(), Fraction(10) ** 300) == math.inf
    small = upper_bound(lambda e: (-e).exp(), Fraction(10) ** 300)
    assert isinstance(small, Fraction)
    assert 0 < small < Fraction(1, 10**4000)
    assert upper_bound(lambda e: -e.exp(), Fraction(10) ** 300) == 0
    assert time.process_time() - started < 1


def test_exact_balls_give_themselves() -> None:
    assert upper_bound(lambda e: e, Fraction(3, 4)) == Fraction(3, 4)
    assert upper_bound(lambda e: e - e, Fraction(3, 4)) == 0
    assert upper_end(arb(5)) == 5
    with ctx.workprec(53):
        assert upper_end(arb(1, "1e-3")) >= 1 + Fraction(1, 1000)


def test_no_thread_finds_the_precision_of_another() -> None:
    """Each thread holds the lock while its precision is set; without the lock the two would interfere."""
    met = threading.Barrier(2, timeout=0.2)
    wrong: list[int] = []

    def compute(bits: int) -> None:
        for _ in range(3):
            with precision(bits), precision(bits + 1), precision(bits):
                with contextlib.suppress(threading.BrokenBarrierError):
                    met.wait()
                if ctx.prec != bits:
                    wrong.append(bits)

    threads = [threading.Thread(target=compute, args=(bits,)) for bits in (100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
