"""The page's sentences: the two verdicts, and a text alternative for each chart."""

from __future__ import annotations

import math
from typing import Any

from discreet._exact.numbers.printing import measured, percent, rounded
from discreet.analysis.charts.style import TITLES, titled
from discreet.explore.choices import Choices
from discreet.explore.recipes import short
from discreet.explore.settings import is_private

MISSES, CERTAINTY = "answers that miss by too much", "how sure an attacker can become"
"""The names of the two lines in the first chart."""
CERTAIN = 0.999
"""Above this chance an attacker is called all but certain."""


def series(name: str) -> str:
    """Return a mechanism's name in the charts."""
    return titled(name, private=is_private(name))


def figure(value: float) -> str:
    """Return a number as text, usually with four significant digits, and with commas if it is large."""
    if 0 < abs(value) < 1e-4:
        return measured(value, digits=2).replace("e-0", "e-")
    return measured(value) if abs(value) < 1e4 or math.isinf(value) else f"{value:,.0f}"


def aim(choices: Choices) -> str:
    """Return the current meaning of "accurate enough" in words."""
    if choices.tolerance == 0:
        return f"the best candidate in {percent(float(choices.level))} of all releases"
    return f"{percent(float(choices.level))} within {short(choices.tolerance)} of the best score"


_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def counted(number: int, thing: str) -> str:
    """Return a count with its noun; small numbers are spelled out.

    Example:
        >>> counted(10, "release"), counted(1, "release"), counted(1000, "release")
        ('ten releases', 'one release', '1,000 releases')
    """
    amount = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{amount} {thing}{'' if number == 1 else 's'}"


def verdicts(choices: Choices, result: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return a sentence and a colour for accuracy and for privacy, by the rules stated on the page.

    Accuracy is good if answers miss the tolerance no more often than allowed. It is fair if they miss at most
    twice as often, and no more than half of the time; otherwise it is bad. Privacy is good if no attacker can
    be surer than tolerated after all releases. It is fair if this holds after one release, and no attacker is
    all but certain after all of them. Otherwise, or without a bound, it is bad. The colour for accuracy is
    computed from the scores, and the page says so.
    """
    row = next(row for row in result["now"] if row["mechanism"] == choices.choice)
    return {
        "accuracy": {"state": _reached(choices, row["beyond"]), "text": _accuracy(choices, row)},
        "privacy": {
            "state": _kept(choices, result["risk"]),
            "text": _attacker(choices, result["risk"]) + _limit(choices, result["risk"]),
        },
    }


def in_one(choices: Choices, result: dict[str, Any]) -> str:
    """Return the verdicts on accuracy and privacy as one text, for the decision record."""
    if not result["risk"]["private"]:
        return f"{_begun(choices)} is not private at any ε."
    row = next(row for row in result["now"] if row["mechanism"] == choices.choice)
    return f"{_accuracy(choices, row)} {_attacker(choices, result['risk'])}"


def _reached(choices: Choices, beyond: float) -> str:
    allowed = float(1 - choices.level)
    if beyond <= allowed:
        return "good"
    return "fair" if beyond <= min(2 * allowed, 0.5) else "bad"


def _kept(choices: Choices, risk: dict[str, Any]) -> str:
    if not risk["bounded"]:
        return "bad"
    if risk["all"] <= choices.tolerated:
        return "good"
    return "fair" if risk["one"] <= choices.tolerated and risk["all"] <= CERTAIN else "bad"


def _accuracy(choices: Choices, row: dict[str, Any]) -> str:
    epsilon, need = short(choices.epsilon), row["need"]
    goal = (
        "are the best candidate"
        if choices.tolerance == 0
        else f"are within {short(choices.tolerance)} of the best"
    )
    level = percent(float(choices.level))
    if row["beyond"] <= float(1 - choices.level):
        text = f"ε = {epsilon} is enough: {level} of answers {goal}"
        if need == 0:
            return f"{text}, and would be at any ε."
        less = need is not None and need < float(choices.epsilon)
        return f"{text}; {figure(need)} would do." if less else f"{text}."
    share = percent(1 - row["beyond"], up=False)
    text = f"ε = {epsilon} is not enough: only {share} of answers {goal}"
    if need is None:
        return f"{text}. {row['need_words'] or ''}".strip()
    return f"{text}; {level} need ε = {figure(need)}."


def _attacker(choices: Choices, risk: dict[str, Any]) -> str:
    if not risk["private"]:
        return f"{_begun(choices)} is not private at any ε."
    after = f"After {counted(choices.releases, 'release')}"
    if not risk["bounded"]:
        return (
            f"{after} nothing is promised in an event of probability {figure(float(choices.delta))}: "
            "no bound holds for every answer."
        )
    who = (
        "who was undecided"
        if choices.worlds == 2
        else f"who considered {choices.worlds:,} data sets equally likely"
    )
    # Saved records hold this sentence, and verifying one writes it again: its words stay.
    return f"{after} an attacker {who} {'may' if risk['all'] > CERTAIN else 'can'} be {sure(risk['all'])}."


def sure(chance: float) -> str:
    """Return how sure an attacker can be, in words.

    Example:
        >>> sure(0.9241), sure(0.9999)
        ('at most 92.5% sure', 'all but certain')
    """
    return "all but certain" if chance > CERTAIN else f"at most {percent(chance, up=True)} sure"


def _limit(choices: Choices, risk: dict[str, Any]) -> str:
    tolerated, most = percent(risk["tolerated"]), risk["epsilon_for_tolerated"]
    if not risk["bounded"] or risk["all"] <= choices.tolerated:
        return f" You tolerate {tolerated}." if risk["bounded"] else ""
    if most is None:
        return f" A blind guess already reaches the {tolerated} that you tolerate."
    return f" For {tolerated}, use ε = {figure(rounded(most, up=False, digits=3))} or less."


def _begun(choices: Choices) -> str:
    name = TITLES[choices.choice]
    return name[0].upper() + name[1:]


def alternatives(choices: Choices, result: dict[str, Any]) -> dict[str, str]:
    """Return a text alternative for each chart, in one or two sentences."""
    return {
        "balance": _balance(choices, result),
        "probabilities": _probabilities(choices, result),
        "error": _error(choices, result),
        "tail": _tail(choices, result),
        "budget": _budget(choices, result["budget"]),
        "risk": _risk(choices, result["risk"]),
    }


def _balance(choices: Choices, result: dict[str, Any]) -> str:
    row = next(row for row in result["now"] if row["mechanism"] == choices.choice)
    risk = result["risk"]
    error = (
        f"At ε = {short(choices.epsilon)}, {percent(row['beyond'], up=True)} of answers miss by too much "
        f"({percent(float(1 - choices.level))} allowed)"
    )
    if not risk["bounded"]:
        return f"{error}; nothing bounds how sure an attacker can become."
    return (
        f"{error}, and an attacker can be {sure(risk['all'])} "
        f"({percent(risk['tolerated'])} tolerated). Errors fall as ε grows, and the risk rises."
    )


def _probabilities(choices: Choices, result: dict[str, Any]) -> str:
    parts = []
    for name in choices.mechanisms:
        rows = [row for row in result["probabilities"] if row["mechanism"] == series(name)]
        top = max(rows, key=lambda row: row["probability"])
        parts.append(
            f"{TITLES[name]} most often {top['candidate']} ({percent(top['probability'])})"
        )
    return f"At ε = {short(choices.epsilon)}: " + "; ".join(parts) + "."


def _error(choices: Choices, result: dict[str, Any]) -> str:
    parts = [f"{TITLES[row['mechanism']]} {figure(row['expected_error'])}" for row in result["now"]]
    return (
        f"Expected error at ε = {short(choices.epsilon)}: {', '.join(parts)}. "
        "It falls as ε grows; less is better."
    )


def _tail(choices: Choices, result: dict[str, Any]) -> str:
    worse = (
        "a wrong answer" if choices.tolerance == 0 else f"an error above {short(choices.tolerance)}"
    )
    parts = [f"{TITLES[row['mechanism']]} {percent(row['beyond'])}" for row in result["now"]]
    return f"Chance of {worse} at ε = {short(choices.epsilon)}: {', '.join(parts)}."


def _budget(choices: Choices, found: dict[str, Any]) -> str:
    rival = figure(rounded(found["rival_epsilon"], up=True))
    same = (
        f"For the accuracy of permute-and-flip at ε = {short(choices.epsilon)} "
        f"the exponential mechanism needs ε = {rival}."
    )
    if choices.delta == 0:
        return (
            f"{same} Without any δ the sum of ε counts, and permute-and-flip stays the cheaper one."
        )
    at = f"at δ = {figure(float(choices.delta))}"
    if found["crossover"] is None:
        return f"{same} Permute-and-flip stays the cheaper one {at}, up to a million releases."
    if found["crossover"] == 1:
        return (
            f"{same} The exponential mechanism is the cheaper one {at} from the first release on."
        )
    return (
        f"{same} Up to {counted(found['crossover'] - 1, 'release')} permute-and-flip is the cheaper one "
        f"{at}; from {found['crossover']:,} on it is the exponential mechanism."
    )


def _risk(choices: Choices, found: dict[str, Any]) -> str:
    if not found["private"]:
        return (
            f"{_begun(choices)} has no privacy guarantee: nothing bounds what an answer can reveal."
        )
    if not found["bounded"]:
        return (
            f"{_begun(choices)} promises (ε, δ): except for an event of probability δ "
            "its answers reveal no more than those of an ε-DP mechanism; in that event they may reveal all."
        )
    text = (
        f"An attacker who considers {choices.worlds:,} data sets equally likely ({percent(found['before'])} "
        f"each) is {sure(found['one'])} after one release"
    )
    if choices.releases > 1:
        text += f", and {sure(found['all'])} after {choices.releases:,}"
    text += "."
    if found["epsilon_for_tolerated"] is not None:
        text += (
            f" To keep it at {percent(found['tolerated'])} after all of them, each may have an ε of at most "
            f"{figure(rounded(found['epsilon_for_tolerated'], up=False, digits=3))}."
        )
    return text
