"""The papers' algorithms: draws follow the stated distributions, and these are correct."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from discreet._exact.distribution.reference import permute_and_flip_ball
from discreet._exact.sampling import uniform_below
from discreet.papers.algorithms import ALGORITHMS
from discreet.papers.noisy_max.algorithms import chance_of_largest, largest_noisy
from discreet.papers.opendp_proof import bernoulli_exponential, shuffle, shuffle_distribution
from discreet.papers.problems import Algorithm, Problem, balls, rational
from discreet.papers.randomized_response.algorithms import (
    READINGS,
    chain,
    interval,
    naive,
    prose,
)
from discreet.testing import scripted

NAMES = [f"{algorithm.paper}: {algorithm.number}" for algorithm in ALGORITHMS]

PERMUTE_AND_FLIP = {
    ("permute-and-flip", "Algorithm 1"),
    ("permute-and-flip", "Algorithm 3"),
    *(("noisy-max", f"Algorithm {number}") for number in (1, 2, 3, 4)),
    ("opendp-proof", "Algorithm 1"),
    ("opendp-proof", "Algorithm 2"),
}
"""The algorithms that are permute-and-flip in one form or another."""

# The 0.9999999 quantile of chi-square with three degrees of freedom is 36.2. The bits are scripted, so
# results never change; with random bits a right sampler would exceed the bound once in ten million runs.
CHI_SQUARE_BOUND = 36.2
DRAWS = 4000


def test_all_algorithms_of_the_papers_are_there() -> None:
    counts = Counter(algorithm.paper for algorithm in ALGORITHMS)
    assert counts == {
        "permute-and-flip": 3,
        "noisy-max": 4,
        "exponential-randomized-response": 3,
        "opendp-proof": 2,
    }


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_draws_follow_the_stated_law(algorithm: Algorithm) -> None:
    problem = Problem((5, 4, 3, 3), epsilon=Fraction(3, 2))
    expected = [float(chance) for chance in algorithm.distribution(problem)]
    bits = scripted(f"{algorithm.paper} {algorithm.number}")
    seen = Counter(algorithm.draw(problem, bits) for _ in range(DRAWS))
    statistic = sum((seen[r] - DRAWS * p) ** 2 / (DRAWS * p) for r, p in enumerate(expected))
    assert statistic < CHI_SQUARE_BOUND


def test_the_draws_would_show_a_wrong_law() -> None:
    """On this problem, 4000 draws distinguish permute-and-flip from the exponential mechanism."""
    problem = Problem((5, 4, 3, 3), epsilon=Fraction(3, 2))
    bits = scripted("power")
    seen = Counter(ALGORITHMS[0].draw(problem, bits) for _ in range(DRAWS))
    wrong = [float(chance) for chance in ALGORITHMS[1].distribution(problem)]
    assert (
        sum((seen[r] - DRAWS * p) ** 2 / (DRAWS * p) for r, p in enumerate(wrong))
        > CHI_SQUARE_BOUND
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)
def test_every_law_sums_to_one(algorithm: Algorithm) -> None:
    for scores in product(range(3), repeat=3):
        law = algorithm.distribution(Problem(scores, unit_coin=rational("1/3")))
        assert sum(law, rational(0)) == 1
        assert min(law) > 0


def test_balls_agree_with_the_library() -> None:
    problem = Problem((9, 7, 4, 4, 0), epsilon=Fraction(1, 3))
    gaps = [problem.gap(r) for r in range(5)]
    with balls():
        for algorithm in ALGORITHMS:
            if (algorithm.paper, algorithm.number) in PERMUTE_AND_FLIP:
                for ours, theirs in zip(
                    algorithm.distribution(problem), permute_and_flip_ball(gaps), strict=True
                ):
                    assert ours.overlaps(theirs)


def test_rational_and_ball_forms_agree() -> None:
    """Values of exp(−ε/2) just below and above 1/2 bracket the exact distribution at 1/2."""
    scores = (3, 1, 0)
    exact = ALGORITHMS[0].distribution(Problem(scores, unit_coin=rational("1/2")))
    near = ALGORITHMS[0].distribution(
        Problem(scores, epsilon=Fraction("1.386294361119890618834464"))
    )
    for one, other in zip(exact, near, strict=True):
        assert abs(float(Fraction(int(one.p), int(one.q))) - float(other)) < 1e-15


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((5, 4, 1), {"naive": (0,), "chain": (0, 1), "interval": (0, 1), "prose": (0, 1, 2)}),
        ((6, 4, 1), {"naive": (0,), "chain": (0,), "interval": (0, 1), "prose": (0, 1, 2)}),
        ((5, 2, 1), {"naive": (0,), "chain": (0,), "interval": (0,), "prose": (0, 1, 2)}),
        ((5, 5, 1), {"naive": (0, 1), "chain": (0, 1), "interval": (0, 1), "prose": (0,)}),
    ],
)
def test_readings_of_the_top_set(
    scores: tuple[int, ...], expected: dict[str, tuple[int, ...]]
) -> None:
    problem = Problem(scores, epsilon=Fraction(1))
    found = {"naive": naive(problem), "chain": chain(problem)}
    found |= {"interval": interval(problem), "prose": prose(problem)}
    assert found == expected
    assert set(READINGS) == {"chain", "interval", "prose"}


def test_the_chance_of_the_largest_noise_is_uniform() -> None:
    assert [chance_of_largest(count) for count in range(1, 9)] == [
        Fraction(1, k) for k in range(1, 9)
    ]


def test_largest_noisy_prefers_the_larger_offset() -> None:
    bits = scripted("offset")
    wins = sum(largest_noisy([Fraction(0), Fraction(-40)], bits) == 0 for _ in range(200))
    assert wins == 200  # e^-40/2 each: a loss in 200 has probability below 10^-15


def test_shuffle_and_factory_draw_from_their_laws() -> None:
    bits = scripted("shuffle")
    orders = Counter(shuffle([uniform_below(bits, 3), uniform_below(bits, 2)]) for _ in range(3000))
    assert set(orders) == set(shuffle_distribution(3))
    assert sum((count - 500) ** 2 / 500 for count in orders.values()) < 45  # chi-square, 5 degrees
    heads = sum(bernoulli_exponential(Fraction(7, 5), bits) for _ in range(4000))
    assert abs(heads - 4000 * 0.246597) < 5.3 * (4000 * 0.2466 * 0.7534) ** 0.5
