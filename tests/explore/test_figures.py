"""Every figure on the page equals the result of the library function that defines it."""

from __future__ import annotations

import json
import math
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import PureDP, Scores
from discreet.accounting import Event, compose
from discreet.analysis import epsilon_for, error_quantile, error_tail, expected_error
from discreet.analysis.charts.style import TITLES
from discreet.analysis.disclosure import disclosure_bound
from discreet.errors import ParameterError
from discreet.explore import budget
from discreet.explore.bars import MOST_BARS, bars_of, summed
from discreet.explore.choices import Choices, choices_from
from discreet.explore.examples import examples
from discreet.explore.figures import figures
from discreet.explore.seen_scores import SeenScores, Studies, after, least_positive_root
from discreet.explore.uploads import ScoreFile, UploadStore
from discreet.mechanisms import MECHANISMS, mechanism_named

NAMES = {TITLES[name]: name for name in MECHANISMS}
STUDIES, UPLOADS = Studies(), UploadStore()


def _complete(given: dict[str, Any]) -> tuple[Choices, dict[str, Any]]:
    choices = choices_from(given, UPLOADS)
    for _ in range(200):
        found = figures(choices, STUDIES.of(choices.values))
        if found["complete"]:
            return choices, found
    raise AssertionError("the figures are never complete")


def _held(values: list[float]) -> str:
    """Return the source for scores that the server holds."""
    labels = tuple(f"c{place}" for place in range(len(values)))
    return f"file:{UPLOADS.put(ScoreFile('scores.csv', labels, np.array(values)))}"


def _scores(choices: Choices) -> Scores:
    return Scores(choices.values, sensitivity=choices.sensitivity, monotonic=choices.monotonic)


@pytest.mark.parametrize("key", examples())
def test_the_figures_at_the_chosen_epsilon(state: dict[str, Any], key: str) -> None:
    example = examples()[key]
    given = {
        **state,
        "source": f"example:{key}",
        "epsilon": example.epsilon,
        "tolerance": example.tolerance,
        "monotonic": example.monotonic,
        "mechanisms": list(MECHANISMS),
    }
    choices, found = _complete(given)
    scores = _scores(choices)
    json.dumps(found, allow_nan=False)
    for row in found["now"]:
        extra = {"delta": choices.setting.delta} if row["mechanism"] == "large-gap" else {}
        mechanism = mechanism_named(row["mechanism"], epsilon=choices.epsilon, **extra)
        assert row["expected_error"] == pytest.approx(expected_error(mechanism, scores), rel=1e-9)
        assert row["error_quantile"] == error_quantile(mechanism, scores, choices.level)
        assert (row["proof"] is None) == (not row["private"])
        if row["private"]:
            own = mechanism.promise_at(scores.range_distance)
            assert row["proof"] == str(own.to(PureDP).proof or own.proof)
        above = float(choices.tolerance) + 1e-9
        assert row["beyond"] == pytest.approx(
            error_tail(mechanism, scores, above), rel=1e-9, abs=1e-15
        )


@pytest.mark.parametrize("name", ["permute-and-flip", "exponential", "noisy-max-laplace"])
@pytest.mark.parametrize("key", ["clinic", "salaries", "worst-case"])
def test_the_epsilon_needed_is_the_planned_one_rounded_up(
    state: dict[str, Any], key: str, name: str
) -> None:
    given = {
        **state,
        "source": f"example:{key}",
        "mechanisms": [name],
        "choice": name,
        "tolerance": "5",
        "monotonic": False,
    }
    choices, found = _complete(given)
    planned = epsilon_for(name, _scores(choices), error_at_most="5", with_probability="0.95")
    shown = found["now"][0]["need"]
    assert planned <= shown <= planned * 1.012
    assert f"{shown:.4g}" in found["now"][0]["need_words"]


def test_curves_pass_through_the_figures(state: dict[str, Any]) -> None:
    choices, found = _complete({**state, "mechanisms": list(MECHANISMS)})
    scores = _scores(choices)
    for row in found["error"][::7]:
        name = NAMES[row["mechanism"].removesuffix(" (not private)")]
        extra = {"delta": choices.setting.delta} if name == "large-gap" else {}
        mechanism = mechanism_named(name, epsilon=row["epsilon"], **extra)
        assert row["expected_error"] == pytest.approx(expected_error(mechanism, scores), rel=1e-6)
    for row in found["tail"][::7]:
        name = NAMES[row["mechanism"].removesuffix(" (not private)")]
        extra = {"delta": choices.setting.delta} if name == "large-gap" else {}
        mechanism = mechanism_named(name, epsilon=row["epsilon"], **extra)
        assert row["beyond"] == pytest.approx(
            error_tail(mechanism, scores, 10.5), rel=1e-6, abs=1e-14
        )


def test_probabilities_add_up_and_many_candidates_are_grouped(state: dict[str, Any]) -> None:
    _, found = _complete({**state, "source": "example:pages", "epsilon": "0.05"})
    assert found["scores"]["grouped"]
    assert found["scores"]["count"] == 1000
    assert len(found["scores"]["bars"]) <= MOST_BARS
    for name in state["mechanisms"]:
        rows = [row for row in found["probabilities"] if NAMES[row["mechanism"]] == name]
        chances = [row["probability"] for row in rows]
        assert math.fsum(chances) == pytest.approx(1, abs=1e-12)


def test_bars_cover_every_candidate_once() -> None:
    rng = np.random.default_rng(3)
    for count in (1, 2, 40, 41, 60, 1000, 12_345):
        study = SeenScores(rng.integers(0, 50, count))
        bars = bars_of(study, tuple(map(str, range(count))))
        assert len(bars) <= MOST_BARS
        ranks = sorted(rank for bar in bars for rank in range(bar.start, bar.stop))
        assert ranks == list(range(count))
        assert math.fsum(summed(bars, np.full(count, 1 / count))) == pytest.approx(1)


def test_composition_is_the_accountants(state: dict[str, Any]) -> None:
    choices, found = _complete({**state, "releases": 37})
    for row in found["now"]:
        mechanism = mechanism_named(row["mechanism"], epsilon=choices.epsilon)
        event = Event(mechanism.promise_at(Fraction(1)), count=37)
        composed = compose([event], delta="1e-6")
        assert row["total_pure"] == composed.pure.epsilon
        assert row["total_rho"] == composed.zcdp.rho
        assert row["total_approx"] == composed.approx.epsilon
    for name in (budget.REFERENCE, budget.RIVAL):
        for count in (1, 7, 300):
            quick = budget.cheapest(name, choices.epsilon, count, choices.delta)
            assert quick == budget.total(name, choices.epsilon, count, choices.delta).approx.epsilon


def test_the_crossover_is_where_the_cheaper_one_changes(state: dict[str, Any]) -> None:
    choices, found = _complete(state)
    rival = Fraction(found["budget"]["rival_epsilon"])
    here = found["budget"]["crossover"]
    assert here is not None
    assert here > 1

    def cost(name: str, epsilon: Fraction, count: int) -> float:
        return budget.cheapest(name, epsilon, count, choices.delta)

    before, after = here - 1, here + 1
    assert cost(budget.RIVAL, rival, before) >= cost(budget.REFERENCE, choices.epsilon, before)
    assert cost(budget.RIVAL, rival, after) < cost(budget.REFERENCE, choices.epsilon, after)
    # At the rival's ε both are equally accurate.
    scores = _scores(choices)
    wanted = expected_error(mechanism_named(budget.REFERENCE, epsilon=choices.epsilon), scores)
    reached = expected_error(mechanism_named(budget.RIVAL, epsilon=rival), scores)
    assert reached == pytest.approx(wanted, rel=1e-3)
    assert reached <= wanted * (1 + 1e-9)


def test_without_delta_permute_and_flip_stays_ahead(state: dict[str, Any]) -> None:
    _, found = _complete({**state, "delta": "0"})
    assert found["budget"]["crossover"] is None
    assert "permute-and-flip stays the cheaper one" in found["text"]["budget"]


def test_disclosure_risk(state: dict[str, Any]) -> None:
    choices, found = _complete({**state, "worlds": 201, "missing": True})
    assert found["risk"]["one"] == disclosure_bound(choices.epsilon, worlds=201, steps=2)
    assert found["risk"]["real"]["risk"] <= found["risk"]["real"]["bound"] + 1e-12
    _, unsafe = _complete({**state, "choice": "exponential-randomized-response"})
    assert "no privacy guarantee" in unsafe["text"]["risk"]
    assert unsafe["risk"]["one"] == 1
    _, approximate = _complete({**state, "choice": "large-gap"})
    assert "(ε, δ)" in approximate["text"]["risk"]


def test_a_mechanism_without_a_proof_is_marked(state: dict[str, Any]) -> None:
    name = "exponential-randomized-response"
    _, found = _complete({**state, "mechanisms": [name], "choice": name})
    assert found["verdicts"]["privacy"]["state"] == "bad"
    row = found["now"][0]
    assert row["private"] is False
    assert row["total_pure"] == "inf"
    assert "not private" in row["need_words"]


@pytest.mark.parametrize(
    "values", [[5], [3, 3, 3], [0, 0], [1e15, -1e15], [-5, -7.5], [0.1, 0.1, 0.2]]
)
def test_odd_scores_give_figures(state: dict[str, Any], values: list[float]) -> None:
    _, found = _complete({**state, "source": _held(values), "tolerance": "0"})
    json.dumps(found, allow_nan=False)
    assert all(row["need_words"] for row in found["now"])


def test_an_unreachable_aim_is_said(state: dict[str, Any]) -> None:
    _, found = _complete({**state, "source": _held([1, 1, 0]), "tolerance": "0"})
    assert "You need" in found["now"][0]["need_words"] or "Any ε" in found["now"][0]["need_words"]
    _, easy = _complete({**state, "tolerance": "1000"})
    assert "Any ε is enough" in easy["now"][0]["need_words"]


def test_the_root_is_on_the_safe_side() -> None:
    found = least_positive_root(lambda x: 1 / x - 0.3, 0.1, 100.0)
    assert found is not None
    assert 1 / 0.3 <= found <= 1 / 0.3 * 1.001
    assert least_positive_root(lambda x: -x, 1.0, 2.0) == 1.0
    assert least_positive_root(lambda x: x, 1.0, 2.0) is None


def test_every_call_gets_further_however_slow_the_machine(state: dict[str, Any]) -> None:
    study = SeenScores(np.arange(50))
    choices = choices_from(state, UPLOADS)
    for calls in range(1, 4):
        known = study.curves(("exponential",), [0, 1, 2], choices.setting, after(-1.0))
        assert len(known["exponential"]) == calls


@pytest.mark.parametrize(("count", "limit"), [(1_000, 0.1), (100_000, 0.3)])
def test_a_slider_move_is_quick(state: dict[str, Any], count: int, limit: float) -> None:
    """Measure the time of this thread only, because the machine may be busy."""
    rng = np.random.default_rng(1)
    for values in ((rng.pareto(1.5, count) * 200).astype(int), rng.uniform(0, 100, count)):
        key = UPLOADS.put(ScoreFile("many.csv", tuple(map(str, range(count))), values))
        base = {**state, "source": f"file:{key}"}
        _complete(base)
        moves: list[dict[str, Any]] = [
            {"epsilon": "0.31"},
            {"epsilon": "0.29"},
            {"sensitivity": "1.1"},
            {"releases": 11},
            {"delta": "1e-7"},
            {"tolerance": "11"},
        ]
        quickest: dict[str, float] = {}
        for repeat in range(3):
            for move in moves:
                (name, value), *_ = move.items()
                # Another value each time, so nothing comes from a cache.
                larger = (
                    value + repeat
                    if isinstance(value, int)
                    else f"{float(value) * (1 + repeat / 50)}"
                )
                moved = {name: larger}
                given = choices_from({**base, **moved}, UPLOADS)
                began = time.thread_time()
                json.dumps(figures(given, STUDIES.of(given.values)))
                took = time.thread_time() - began
                quickest[name] = min(quickest.get(name, math.inf), took)
        assert max(quickest.values()) < limit, quickest


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (
            {},
            "ε = 0.25 is enough: 95% of answers are within 10 of the best; 0.14 would do. After ten releases "
            "an attacker who was undecided can be at most 92.5% sure.",
        ),
        (
            {"epsilon": "0.1"},
            "ε = 0.1 is not enough: only 90.3% of answers are within 10 of the best; 95%",
        ),
        ({"epsilon": "0.1"}, "95% need ε = 0.14."),
        ({"tolerance": "0"}, "only 69.7% of answers are the best candidate"),
        ({"tolerance": "1000"}, "and would be at any ε."),
        ({"releases": 100}, "may be all but certain"),
        ({"worlds": 5, "releases": 1}, "After one release an attacker who considered 5 data sets"),
        ({"choice": "large-gap"}, "nothing is promised in an event of probability 1e-6"),
    ],
)
def test_the_verdict_is_a_sentence(state: dict[str, Any], part: dict[str, Any], words: str) -> None:
    _, found = _complete({**state, **part})
    assert words in found["in_one"]


def test_no_sentence_says_at_most_above(state: dict[str, Any]) -> None:
    _, found = _complete({**state, "epsilon": "1"})
    assert "can be all but certain (90% tolerated)" in found["text"]["balance"]
    assert "at most above" not in json.dumps(found, default=str)


@pytest.mark.parametrize(
    ("part", "accuracy", "privacy"),
    [
        ({"epsilon": "0.2"}, "good", "good"),
        ({}, "good", "fair"),  # one release stays below 90%, ten do not
        ({"epsilon": "0.1"}, "fair", "good"),  # 9.7% miss, 5% are allowed
        ({"epsilon": "0.01"}, "bad", "good"),
        ({"epsilon": "3"}, "good", "bad"),
        ({"epsilon": "1"}, "good", "bad"),  # 73.2% after one release, but all but certain after ten
        ({"choice": "large-gap"}, "good", "bad"),
    ],
)
def test_each_verdict_has_its_own_colour(
    state: dict[str, Any], part: dict[str, Any], accuracy: str, privacy: str
) -> None:
    _, found = _complete({**state, **part})
    states = {name: one["state"] for name, one in found["verdicts"].items()}
    assert states["privacy"] == privacy
    assert states["accuracy"] == accuracy or "choice" in part


def test_one_candidate_far_ahead_is_said_and_not_an_empty_plot(state: dict[str, Any]) -> None:
    _, found = _complete({**state, "source": _held([1_000_000, 3, 1])})
    assert "far ahead" in found["empty"]["error"]


def test_an_empty_chart_says_why(state: dict[str, Any]) -> None:
    _, found = _complete({**state, "source": _held([3, 3, 3])})
    assert found["error"] == []
    assert "same score" in found["empty"]["error"]


def test_the_cut_is_the_last_error_within_the_tolerance() -> None:
    study = SeenScores(np.array([9, 9, 5, 2]))
    assert study.cut_errors.tolist() == [0.0, 4.0, 7.0]
    assert [study.cut_at(tolerance) for tolerance in (0.0, 3.9, 4.0, 99.0)] == [0, 0, 1, 2]
    for wrong in (-0.1, math.nan):
        with pytest.raises(ParameterError, match="tolerance"):
            study.cut_at(wrong)
