"""The attack view: guess from an answer which world is real, or search for neighbours that break a claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._exact.numbers.exact import refuse
from discreet._exact.numbers.printing import jsonable, percent
from discreet._exact.sampling import SecureBits
from discreet.analysis.disclosure import disclosure_bound
from discreet.errors import ParameterError
from discreet.explore.choices import Wanted
from discreet.explore.settings import Terms, mechanism_at
from discreet.guarantees import PureDP

ROUNDS = 20
_MOST_ROUNDS = 1_000
# All others voted seven to seven, so one person's vote decides.
_WORLDS = ((8, 7), (7, 8))
_VOTE = Terms(Fraction(1), monotonic=False, delta=Fraction(1, 10**6))
_TOUCH = 1e-6
"""Ratios this close to the edge of the band count as touching it, because floats are not more precise."""


def game(given: object) -> dict[str, Any]:
    """Play the attacker's game: each round, a fair coin decides one vote and the mechanism picks a winner."""
    asked = Wanted(given)
    epsilon = asked.epsilon()
    rounds = asked.get("rounds", ROUNDS)
    if rounds not in (ROUNDS, _MOST_ROUNDS):
        raise refuse("rounds", rounds, f"{ROUNDS} or {_MOST_ROUNDS}")
    mechanism = mechanism_at(asked.mechanism(), _VOTE.delta, epsilon=epsilon)
    worlds = [_VOTE.scores(np.array(scores)) for scores in _WORLDS]
    drawn = [mechanism.sample(scores, rounds) for scores in worlds]
    coins = SecureBits().integer(rounds)
    votes = [coins >> place & 1 for place in range(rounds)]
    answers = [int(drawn[vote][place]) for place, vote in enumerate(votes)]
    first, second = (mechanism.probabilities(scores) for scores in worlds)
    bounded = mechanism.promise_at(_VOTE.range_distance).to(PureDP).epsilon < math.inf
    bound = disclosure_bound(epsilon, worlds=2) if bounded else 1.0
    return {
        "rounds": [{"vote": v, "answer": a} for v, a in zip(votes, answers, strict=True)],
        # The success rate of guessing the likelier world; no strategy does better.
        "best": float(np.maximum(first, second).sum()) / 2,
        "bound": bound,
        "luck": luck(rounds, bound),
        "right": sum(v == a for v, a in zip(votes, answers, strict=True)),
        "factor": math.exp(float(epsilon)) if bounded else "inf",
    }


def luck(rounds: int, chance: float) -> tuple[int, int]:
    """Return the 95 % range of the number of right guesses, if each is right with probability ``chance``.

    Example:
        >>> luck(20, 0.5), luck(20, 1.0)
        ((6, 14), (20, 20))
    """
    law = [
        math.comb(rounds, right) * chance**right * (1 - chance) ** (rounds - right)
        for right in range(rounds + 1)
    ]
    low = next(place for place in range(rounds + 1) if sum(law[: place + 1]) > 0.025)
    high = next(place for place in range(rounds, -1, -1) if sum(law[place:]) > 0.025)
    return low, high


def ratios(given: object) -> dict[str, Any]:
    """Return each answer's log-ratio between two neighbouring score vectors, and the band that is allowed."""
    asked = Wanted(given)
    claim = asked.one_of("claim", ("pure", "bounded-range"))
    monotonic, sensitivity = asked.flag("monotonic"), asked.sensitivity()
    scores, moves = (_numbers(name, asked) for name in ("scores", "moves"))
    if len(scores) != len(moves):
        raise ParameterError("give each score a move")
    if any(abs(move) > 1 for move in moves):
        raise ParameterError("a neighbour moves a score by at most Δ")
    if monotonic and min(moves) < 0 < max(moves):
        raise ParameterError("monotonic neighbours move all scores in one direction")
    setting = Terms(sensitivity, monotonic, Fraction(1, 10**6))
    epsilon = asked.epsilon()
    mechanism = mechanism_at(asked.mechanism(), setting.delta, epsilon=epsilon)
    here = np.array(scores)
    there = here + np.array(moves) * float(sensitivity)
    chances = [mechanism.probabilities(setting.scores(values)).tolist() for values in (here, there)]
    return band(claim, float(epsilon), *chances)


def band(
    claim: str, allowed: float, chances: Sequence[float], others: Sequence[float]
) -> dict[str, Any]:
    """Return each answer's log-ratio, the allowed band, and whether these two distributions break the claim.

    Example:
        >>> seen = band("pure", 1.0, [0.5, 0.5], [0.9, 0.1])
        >>> seen["state"], seen["telling"], round(seen["rows"][1]["ratio"], 3)
        ('outside', 1, 1.609)
    """
    logs = [_log_ratio(one, other) for one, other in zip(chances, others, strict=True)]
    least, most = min(logs), max(logs)
    if claim == "bounded-range":
        spread = most - least
        low, high = (least, least + allowed) if math.isfinite(least) else (most - allowed, most)
        telling = logs.index(most)
        what = f"the log-ratios of the answers lie {_shown(spread)} apart; {_shown(allowed)} is allowed"
    else:
        spread, low, high = max(-least, most), -allowed, allowed
        telling = max(range(len(logs)), key=lambda place: abs(logs[place]))
        what = (
            f"answer {telling} is {_shown(math.exp(min(spread, 700)))} times as likely in one world as in "
            f"the other; {_shown(math.exp(min(allowed, 700)))} times is allowed"
        )
    state = "inside"
    if abs(spread - allowed) <= _TOUCH * max(1.0, allowed):
        state = "touches"
    elif spread > allowed:
        state = "outside"
    words = {
        "inside": "Within the band",
        "touches": "At the edge of the band, and no further",
        "outside": "Outside the band, so the claim is false",
    }[state]
    edge = 3 * allowed + 1 if math.isinf(spread) else spread
    rows = [
        {
            "answer": str(place),
            "ratio": max(-edge, min(edge, log)),
            "probability": float(one),
            "neighbour": float(other),
            "label": f"{_chance(one)}\nand {_chance(other)}",
            "telling": "telling answer" if place == telling else "other answers",
        }
        for place, (log, one, other) in enumerate(zip(logs, chances, others, strict=True))
    ]
    seen = {"rows": rows, "band": [{"low": low, "high": high}], "telling": telling}
    found: dict[str, Any] = jsonable({**seen, "state": state, "words": f"{words}: {what}."})
    return found


def _log_ratio(one: float, other: float) -> float:
    if one == other:
        return 0.0
    return math.inf if other == 0 else -math.inf if one == 0 else math.log(one / other)


def _chance(value: float) -> str:
    return f"{value:.2g}" if 0 < value < 0.001 else percent(value)


def _shown(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.4g}"


def _numbers(name: str, asked: Wanted) -> list[float]:
    given = asked.get(name)
    if not isinstance(given, list) or not 2 <= len(given) <= 6:
        raise ParameterError(f"{name} must be a list of two to six numbers")
    numbers = [float(one) for one in given if isinstance(one, int | float) and abs(one) <= 1e6]
    if len(numbers) != len(given):
        raise ParameterError(f"{name} must be numbers of at most a million")
    return numbers
