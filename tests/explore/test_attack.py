from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.explore.attack import band, game, ratios

BROKEN = {
    "mechanism": "permute-and-flip",
    "claim": "pure",
    "epsilon": "1",
    "sensitivity": "1",
    "monotonic": False,
    "scores": [0, 4, 0],
    "moves": [1, -1, -1],
}


@pytest.mark.parametrize("epsilon", ["0.25", "1", "5"])
def test_the_best_strategy_is_as_good_as_computed_and_below_the_bound(epsilon: str) -> None:
    """Play 40,000 rounds; a deviation above 6.5 standard deviations happens once in 10^10 times."""
    amount = float(epsilon)
    told = [
        game({"mechanism": "permute-and-flip", "epsilon": epsilon, "rounds": 1000})
        for _ in range(40)
    ]
    best = 1 - math.exp(-amount / 2) / 2  # permute-and-flip on (8, 7): the two scores differ by d/2
    assert told[0]["best"] == pytest.approx(best, rel=1e-12)
    assert best < told[0]["bound"]
    assert told[0]["bound"] == pytest.approx(1 / (1 + math.exp(-amount)), rel=1e-9)
    rounds = 40_000
    right = sum(one["right"] for one in told)
    assert abs(right - rounds * best) < 6.5 * math.sqrt(rounds * best * (1 - best)) + 1
    votes = sum(turn["vote"] for one in told for turn in one["rounds"])
    assert abs(votes - rounds / 2) < 6.5 * math.sqrt(rounds) / 2


def test_without_a_pure_guarantee_nothing_bounds_the_attacker() -> None:
    assert game({"mechanism": "large-gap", "epsilon": "1"})["bound"] == 1


def test_a_true_claim_touches_the_band_and_never_leaves_it() -> None:
    rng = np.random.default_rng(5)
    states = {ratios(BROKEN)["state"]}
    for _ in range(300):
        size = int(rng.integers(2, 7))
        given = {
            **BROKEN,
            "scores": rng.integers(0, 9, size).tolist(),
            "moves": rng.integers(-1, 2, size).tolist(),
        }
        states.add(ratios(given)["state"])
    assert states == {"inside", "touches"}


def test_a_refuted_claim_leaves_it() -> None:
    seen = ratios({**BROKEN, "claim": "bounded-range", "scores": [0, 1], "moves": [1, -1]})
    assert seen["state"] == "outside"
    assert "1.664 apart; 1 is allowed" in seen["words"]
    same = {"scores": [0, 1], "moves": [1, -1], "claim": "bounded-range"}
    assert ratios({**BROKEN, **same, "mechanism": "exponential"})["state"] == "touches"


def test_an_answer_that_is_impossible_in_one_world_has_an_infinite_ratio() -> None:
    seen = band("pure", 1.0, [1.0, 0.0], [0.9, 0.1])
    assert seen["state"] == "outside"
    assert seen["telling"] == 1
    assert math.isfinite(seen["rows"][1]["ratio"])


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"moves": [2, 0, 0]}, "at most Δ"),
        ({"moves": [1, 0]}, "each score a move"),
        ({"monotonic": True}, "one direction"),
        ({"scores": [1]}, "two to six"),
        ({"scores": [1, math.inf, 0]}, "at most a million"),
        ({"claim": "zcdp"}, "one of pure, bounded-range"),
        ({"mechanism": "magic"}, "mechanism='magic'"),
        ({"epsilon": "0"}, "epsilon="),
        ({"epsilon": "1000"}, "between 0.0001 and 100"),
        ({"sensitivity": "-1"}, "sensitivity="),
    ],
)
def test_what_is_no_neighbour_is_refused(part: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        ratios({**BROKEN, **part})
    with pytest.raises(ParameterError, match="JSON object"):
        game([])
