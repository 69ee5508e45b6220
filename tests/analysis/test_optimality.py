from __future__ import annotations

import itertools
import math
import sys
from typing import Any

import numpy as np
import pytest

from discreet import Exponential, NoisyMax, PermuteAndFlip, Scores
from discreet.analysis.optimality import (
    SHARP_THRESHOLD,
    THRESHOLD,
    all_neighbours,
    classes,
    lattice_error,
    optimal_mechanism,
    optimality_ratio,
    orders,
    permute_and_flip_dual,
    permute_and_flip_threshold,
    worst_neighbour,
)
from discreet.errors import MissingExtraError, ParameterError, ScoresError

linprog = pytest.importorskip("scipy.optimize").linprog


def real_epsilon(best: Any) -> float:
    """Return the largest log-ratio between neighbours on the lattice."""
    losses = []
    for (levels, level), chance in best.chances.items():
        for there in all_neighbours(levels, level, best.k):
            pair = (chance, best.chances[there])
            if max(pair) > 1e-12:
                losses.append(math.inf if min(pair) <= 1e-12 else abs(math.log(pair[0] / pair[1])))
    return max(losses)


def test_classes_count_every_vector_once() -> None:
    vectors = [q for q in itertools.product(range(4), repeat=4) if min(q) == 0]
    assert sum(map(orders, classes(4, 3))) == len(vectors)
    assert {tuple(sorted(q)) for q in vectors} == set(classes(4, 3))


def test_neighbours_on_the_lattice() -> None:
    for levels in classes(3, 3):
        for level in set(levels):
            there = set(all_neighbours(levels, level, 3))
            worst = worst_neighbour(levels, level, 3)
            assert worst is None or worst in there
            for other in there:
                assert (levels, level) in set(all_neighbours(*other, 3))


@pytest.mark.parametrize("neighbours", ["worst", "all"])
@pytest.mark.parametrize("epsilon", [0.2, 0.6, 1.3])
def test_the_reduced_program_agrees_with_the_full_one(epsilon: float, neighbours: str) -> None:
    # Without classes: one variable per vector and candidate, symmetry as equations, neighbours by definition.
    n, k = 3, 2
    vectors = [q for q in itertools.product(range(k + 1), repeat=n) if min(q) == 0]
    place = {(q, r): i for i, (q, r) in enumerate(itertools.product(vectors, range(n)))}
    inequalities, equations = [], []
    for (q, r), column in place.items():
        if neighbours == "worst":
            moved = [level - (s == r) for s, level in enumerate(q)]
            candidates = [moved]
        else:
            candidates = [list(np.add(q, z)) for z in itertools.product((0, 1), repeat=n)]
        for vector in candidates:
            shifted = tuple(int(level) - int(min(vector)) for level in vector)
            for here, there in (((q, r), (shifted, r)), ((shifted, r), (q, r))):
                if max(shifted) <= k and (neighbours == "all" or here == (q, r)):
                    row = np.zeros(len(place))
                    row[place[there]] += math.exp(-epsilon)
                    row[place[here]] -= 1
                    inequalities.append(row)
        for order in itertools.permutations(range(n)):
            row = np.zeros(len(place))
            row[column] += 1
            row[place[tuple(q[s] for s in order), order.index(r)]] -= 1
            equations.append((row, 0.0))
    for q in vectors:
        row = np.zeros(len(place))
        row[[place[q, r] for r in range(n)]] = 1
        equations.append((row, 1.0))
    cost = np.array([float(q[r]) for q, r in place])
    full = linprog(
        cost,
        A_ub=np.array(inequalities),
        b_ub=np.zeros(len(inequalities)),
        A_eq=np.array([row for row, _ in equations]),
        b_eq=np.array([value for _, value in equations]),
    )
    reduced = optimal_mechanism(epsilon=epsilon, n=n, k=k, neighbours=neighbours)
    assert reduced.error == pytest.approx(full.fun, rel=1e-7)


def test_permute_and_flip_is_optimal_from_the_threshold_on() -> None:
    assert pytest.approx(0.962424, abs=1e-6) == THRESHOLD
    for epsilon in (THRESHOLD, 1.5, 3.0):
        for n, k in ((2, 5), (3, 8), (4, 6)):
            assert optimality_ratio(PermuteAndFlip, epsilon=epsilon, n=n, k=k) == pytest.approx(
                1, abs=1e-8
            )


def test_the_dual_changes_sign_at_the_threshold() -> None:
    def least(epsilon: float) -> float:
        dual = permute_and_flip_dual(epsilon, n=3, k=30)
        return min(price for (_, level), price in dual.items() if level > 0)

    low, high = 0.5, 1.5
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if least(middle) < 0 else (low, middle)
    assert high == pytest.approx(THRESHOLD, abs=1e-8)


@pytest.mark.parametrize(("n", "k"), [(2, 5), (3, 1), (3, 4), (3, 8), (4, 6), (5, 3)])
@pytest.mark.parametrize("neighbours", ["worst", "all"])
def test_the_sharp_threshold_is_where_the_ratio_leaves_one(n: int, k: int, neighbours: str) -> None:
    threshold = permute_and_flip_threshold(n=n, k=k)
    assert threshold < SHARP_THRESHOLD
    for epsilon in (max(threshold, 0.05), 0.75):
        ratio = optimality_ratio(PermuteAndFlip, epsilon=epsilon, n=n, k=k, neighbours=neighbours)
        assert ratio == pytest.approx(1, abs=1e-8)
    if threshold:
        below = optimality_ratio(
            PermuteAndFlip, epsilon=threshold - 0.05, n=n, k=k, neighbours=neighbours
        )
        assert below > 1 + 1e-5


def test_the_largest_ratio_below_the_threshold() -> None:
    tried = ("0.24", "0.32", "0.34", "0.5")
    ratios = {e: optimality_ratio(PermuteAndFlip, epsilon=e, n=4, k=8) for e in tried}
    assert ratios["0.32"] == pytest.approx(1.01282, abs=2e-5)
    assert ratios["0.34"] == max(ratios.values()) == pytest.approx(1.01302, abs=2e-5)


def test_the_papers_program_is_a_relaxation_and_its_solution_is_not_private() -> None:
    paper = optimal_mechanism(epsilon="0.32", n=4, k=8)
    private = optimal_mechanism(epsilon="0.32", n=4, k=8, neighbours="all")
    assert real_epsilon(paper) > 1.2
    assert real_epsilon(private) == pytest.approx(0.32, abs=1e-7)
    assert paper.error < private.error
    ratio = optimality_ratio(PermuteAndFlip, epsilon="0.32", n=4, k=8, neighbours="all")
    assert ratio == pytest.approx(1.00823, abs=2e-5)


@pytest.mark.parametrize("neighbours", ["worst", "all"])
def test_the_dual_proves_the_optimum(neighbours: str) -> None:
    best = optimal_mechanism(epsilon="0.4", n=4, k=5, neighbours=neighbours)
    assert best.dual_error == pytest.approx(best.error, rel=1e-9)
    assert best.dual_error <= best.error * (1 + 1e-9)
    assert all(price > 0 for price in best.dual.values())


def test_the_exponential_mechanism_is_up_to_twice_as_bad() -> None:
    ratios = [optimality_ratio(Exponential, epsilon=e, n=4, k=8) for e in ("0.1", "1", "4", "8")]
    assert ratios == sorted(ratios)
    assert ratios[-1] == pytest.approx(2, abs=0.05)
    laplace = NoisyMax(epsilon=1, noise="laplace")
    assert optimality_ratio(laplace, epsilon=1, n=4, k=8) > 1.3


def test_six_candidates_and_eight_steps() -> None:
    assert optimality_ratio(PermuteAndFlip, epsilon="0.3", n=6, k=8) == pytest.approx(
        1.0084, abs=2e-4
    )


def test_probabilities_of_the_optimal_mechanism() -> None:
    best = optimal_mechanism(epsilon=2, n=3, k=4)
    scores = Scores([10, 4, 8], sensitivity=1)
    assert best.probabilities(scores) == pytest.approx(
        PermuteAndFlip(epsilon=2).probabilities(scores)
    )
    assert best.probabilities(scores).sum() == pytest.approx(1)
    for off in ([10, 5, 8], [10, 8], [10, 0, 0]):
        with pytest.raises(ScoresError, match="whole multiples"):
            best.probabilities(Scores(off, sensitivity=1))


def test_lattice_error_by_hand() -> None:
    chance = 1 / (1 + math.e)
    assert lattice_error(Exponential, epsilon=1, n=2, k=1) == pytest.approx(2 * chance)


@pytest.mark.parametrize(
    "bad",
    [{"n": 1}, {"n": 0}, {"k": 0}, {"epsilon": 0}, {"neighbours": "some"}, {"n": 40, "k": 40}],
)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(bad))):
        optimality_ratio(PermuteAndFlip, **{"epsilon": 1, "n": 3, "k": 3, **bad})


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[optimality\]'):
        optimal_mechanism(epsilon="0.123", n=2, k=2)
