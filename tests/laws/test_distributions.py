"""Theoretical properties of every distribution, tried on inputs from Hypothesis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet._exact.distribution import exponential, noisy_max_laplace, permute_and_flip
from discreet.errors import ScoresError
from discreet.papers.permute_and_flip.supplement import sum_over_subsets

Floats = npt.NDArray[np.float64]
Distribution = Callable[..., Floats]

ALL = pytest.mark.parametrize("distribution", [permute_and_flip, exponential, noisy_max_laplace])
# A few ulps, for rounding errors in exact equalities and inequalities.
SLACK = 1e-14

one_gap = st.one_of(
    st.floats(0, 8), st.floats(0, 900), st.integers(0, 5).map(float), st.floats(0, 1e-6)
)
gap_lists = st.lists(one_gap, min_size=1, max_size=40).map(lambda g: np.array(g) - min(g))


@ALL
@settings(max_examples=80, deadline=None)
@given(gaps=gap_lists)
def test_sums_to_one_and_logarithms_agree(distribution: Distribution, gaps: Floats) -> None:
    found = distribution(gaps)
    assert math.fsum(found.tolist()) == pytest.approx(1, abs=SLACK)
    assert found.min() >= 0
    assert found.max() <= 1
    logs = distribution(gaps, log=True)
    assert np.isfinite(logs).all()
    usual = found > 1e-290
    np.testing.assert_allclose(logs[usual], np.log(found[usual]), rtol=SLACK, atol=SLACK)


@ALL
@settings(max_examples=60, deadline=None)
@given(gaps=gap_lists, data=st.data())
def test_symmetry(distribution: Distribution, gaps: Floats, data: st.DataObject) -> None:
    order = np.array(data.draw(st.permutations(range(gaps.size))))
    np.testing.assert_allclose(
        distribution(gaps[order], log=True),
        distribution(gaps, log=True)[order],
        rtol=SLACK,
        atol=SLACK,
    )


@ALL
@settings(max_examples=60, deadline=None)
@given(gaps=gap_lists)
def test_a_better_score_is_never_less_likely(distribution: Distribution, gaps: Floats) -> None:
    logs = distribution(np.sort(gaps), log=True)
    assert np.all(np.diff(logs) <= SLACK * np.maximum(1, np.abs(logs[1:])))


@ALL
@settings(max_examples=60, deadline=None)
@given(gaps=gap_lists, data=st.data())
def test_raising_one_score_helps_it_and_hurts_the_others(
    distribution: Distribution, gaps: Floats, data: st.DataObject
) -> None:
    raised = data.draw(st.integers(0, gaps.size - 1))
    scores = -gaps
    scores[raised] += data.draw(st.floats(0, 5))
    before = distribution(gaps, log=True)
    after = distribution(scores.max() - scores, log=True)
    slack = SLACK * np.maximum(1, np.maximum(np.abs(before), np.abs(after)))
    change = after - before
    assert change[raised] >= -slack[raised]
    assert np.all(np.delete(change, raised) <= np.delete(slack, raised))


@settings(max_examples=150, deadline=None)
@given(gaps=gap_lists)
def test_permute_and_flip_beats_the_exponential_mechanism_at_every_tail(gaps: Floats) -> None:
    """This is theorem 2 of the permute-and-flip paper; expected errors differ by a factor of at most two."""
    order = np.argsort(-gaps)
    ours = np.cumsum(permute_and_flip(gaps)[order])
    theirs = np.cumsum(exponential(gaps)[order])
    assert np.all(ours <= theirs + SLACK * np.maximum(theirs, 1e-300))
    error, other_error = (float(p @ gaps) for p in (permute_and_flip(gaps), exponential(gaps)))
    assert error * (1 - SLACK) <= other_error <= 2 * error * (1 + SLACK)


@settings(max_examples=60, deadline=None)
@given(gaps=st.lists(st.floats(0, 12), min_size=1, max_size=6))
def test_permute_and_flip_matches_the_paper(gaps: list[float]) -> None:
    """Use rational coins near exp(−γ), and the gaps of exactly those coins."""
    coins = [Fraction(1), *(Fraction(math.exp(-gap)) for gap in gaps)]
    exact = [float(probability) for probability in sum_over_subsets(coins)]
    as_gaps = np.array([-math.log(coin) for coin in coins]) + 0.0
    np.testing.assert_allclose(permute_and_flip(as_gaps), exact, rtol=1e-14)


@settings(max_examples=25, deadline=None)
@given(gaps=st.lists(st.floats(0, 8), min_size=1, max_size=8).map(sorted))
def test_permute_and_flip_is_noisy_max_with_exponential_noise(gaps: list[float]) -> None:
    """Compute ∫ f(y − q_r) Π F(y − q_t) dy by panels."""
    values = [0.0, *gaps]
    found = permute_and_flip(values)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    # Noise is non-negative, so the largest sum is at least the best score: only y ≥ 0 counts.
    edges = np.linspace(0.0, 48.0, 97)
    for r, gap in enumerate(values):
        total = 0.0
        for low, high in itertools.pairwise(edges):
            y = (low + high) / 2 + (high - low) / 2 * nodes
            integrand = np.exp(-(y + gap))
            for t, other in enumerate(values):
                if t != r:
                    integrand = integrand * -np.expm1(-(y + other))
            total += (high - low) / 2 * float(weights @ integrand)
        assert total == pytest.approx(found[r], rel=1e-11)


@settings(max_examples=40, deadline=None)
@given(gaps=st.lists(st.floats(0, 8), min_size=1, max_size=8))
def test_exponential_is_noisy_max_with_gumbel_noise(gaps: list[float]) -> None:
    """Compute ∫ e^{−x−e^{−x}} Π exp(−e^{−(x+γ_t−γ_r)}) dx by the trapezoidal rule, which converges fast."""
    values = np.array([0.0, *gaps])
    x = np.linspace(-12.0, 48.0, 6001)
    for r, gap in enumerate(values):
        others = np.exp(-(x[:, None] - gap + values)).sum(axis=1)
        total = float(np.exp(-x - others).sum()) * (x[1] - x[0])
        assert total == pytest.approx(exponential(values)[r], rel=1e-10)


@ALL
@pytest.mark.parametrize("size", [1, 2, 3, 5, 30, 40, 300])
@pytest.mark.parametrize("log", [False, True])
def test_rows_of_a_matrix_are_laws_of_their_own(
    distribution: Distribution, size: int, log: bool
) -> None:
    """With ties, gaps from 1e-9 to 1000 and mixtures, each row has the same law as alone."""
    places = np.arange(size)
    shapes = [
        places * 0.0,
        np.minimum(places, 1) * 8.0,
        places * 0.25 % 3.0,
        (places * 0.6180339887 % 1.0) * 1000.0,
        places % 2 * 1e-9,
        places // 2 * 40.0,
    ]
    rows = np.array([row - row.min() for row in shapes])
    low = rows * 1e-17
    expected = [distribution(row, rest, log=log) for row, rest in zip(rows, low, strict=True)]
    np.testing.assert_allclose(
        distribution(rows, low, log=log), expected, rtol=SLACK, atol=SLACK if log else 0
    )
    alone = [distribution(row, log=log) for row in rows]
    np.testing.assert_allclose(
        distribution(rows, log=log), alone, rtol=SLACK, atol=SLACK if log else 0
    )


@ALL
def test_a_row_without_a_best_candidate_is_refused(distribution: Distribution) -> None:
    for second in ([0.5, 1.0], [0.0, np.nan], [0.0, -1.0]):
        with pytest.raises(ScoresError):
            distribution(np.array([[0.0, 1.0], second]))


def test_rows_with_a_certain_loser_are_laws_too() -> None:
    rows = np.array([[0.0, np.inf, 1.0], [0.0, 2.0, 1.0]])
    alone = np.array([noisy_max_laplace(row) for row in rows])
    np.testing.assert_allclose(noisy_max_laplace(rows), alone, rtol=SLACK)
