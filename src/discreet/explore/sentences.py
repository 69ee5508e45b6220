"""The page's sentences: what a chart shows, for those who do not see it, and the decision record."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction
from typing import Any

from discreet.explore.budget import total
from discreet.explore.choices import Choices
from discreet.explore.settings import is_private, mechanism_at
from discreet.mechanisms import mechanism_named
from discreet.numbers.printing import measured, percent, rounded


def title(name: str) -> str:
    """A mechanism's name in words."""
    return mechanism_named(name, epsilon=1).facts.title


def series(name: str) -> str:
    """What the charts call a mechanism: as the command line does."""
    return name if is_private(name) else f"{name} (not private)"


def figure(value: float) -> str:
    """Four significant digits, as people write them."""
    if 0 < abs(value) < 1e-4:
        return measured(value, digits=2).replace("e-0", "e-")
    return measured(value) if abs(value) < 1e4 or math.isinf(value) else f"{value:,.0f}"


def exact(value: Fraction) -> str:
    """A setting as it was typed: a short decimal if it is one."""
    return f"{float(value):.12g}"


def aim(choices: Choices) -> str:
    """What "accurate enough" means at present."""
    if choices.tolerance == 0:
        return f"the best candidate in {percent(float(choices.level))} of all releases"
    return f"{percent(float(choices.level))} within {exact(choices.tolerance)} of the best score"


def alternatives(choices: Choices, result: dict[str, Any]) -> dict[str, str]:
    """One or two sentences for each chart."""
    return {
        "probabilities": _probabilities(choices, result),
        "error": _error(choices, result),
        "tail": _tail(choices, result),
        "budget": _budget(choices, result["budget"]),
        "risk": _risk(choices, result["risk"]),
    }


def _probabilities(choices: Choices, result: dict[str, Any]) -> str:
    parts = []
    for name in choices.mechanisms:
        rows = [row for row in result["probabilities"] if row["mechanism"] == series(name)]
        top = max(rows, key=lambda row: row["probability"])
        parts.append(f"{title(name)} most often {top['candidate']} ({percent(top['probability'])})")
    return f"At ε = {exact(choices.epsilon)}: " + "; ".join(parts) + "."


def _error(choices: Choices, result: dict[str, Any]) -> str:
    parts = [f"{title(row['mechanism'])} {figure(row['expected_error'])}" for row in result["now"]]
    return (
        f"Expected error at ε = {exact(choices.epsilon)}: {', '.join(parts)}. "
        "It falls as ε grows; less is better."
    )


def _tail(choices: Choices, result: dict[str, Any]) -> str:
    worse = (
        "a wrong answer" if choices.tolerance == 0 else f"an error above {exact(choices.tolerance)}"
    )
    parts = [f"{title(row['mechanism'])} {percent(row['beyond'])}" for row in result["now"]]
    return f"Chance of {worse} at ε = {exact(choices.epsilon)}: {', '.join(parts)}."


def _budget(choices: Choices, found: dict[str, Any]) -> str:
    rival = figure(rounded(found["rival_epsilon"], up=True))
    same = (
        f"For the accuracy of permute-and-flip at ε = {exact(choices.epsilon)} "
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
        f"{same} Up to {found['crossover'] - 1:,} releases permute-and-flip is the cheaper one {at}; "
        f"from {found['crossover']:,} on it is the exponential mechanism."
    )


def _risk(choices: Choices, found: dict[str, Any]) -> str:
    if not found["private"]:
        return (
            f"{title(choices.choice).capitalize()} has no privacy guarantee: nothing bounds what an "
            "answer can reveal."
        )
    if not found["bounded"]:
        return (
            f"{title(choices.choice).capitalize()} promises (ε, δ): except for an event of probability δ "
            "its answers reveal no more than those of an ε-DP mechanism; in that event they may reveal all."
        )
    text = (
        f"An attacker who holds {choices.worlds:,} data sets equally possible ({percent(found['before'])} "
        f"each) is at most {percent(found['one'], up=True)} sure after one release"
    )
    if choices.releases > 1:
        text += f", and at most {percent(found['all'], up=True)} after {choices.releases:,}"
    text += "."
    if found["epsilon_for_tolerated"] is not None:
        text += (
            f" To keep it at {percent(found['tolerated'])} after one release, "
            f"ε may be at most "
            f"{figure(rounded(found['epsilon_for_tolerated'], up=False, digits=3))}."
        )
    return text


def record(choices: Choices) -> dict[str, Any]:
    """What the printed decision record says of the guarantee."""
    mechanism = mechanism_at(choices.choice, choices.setting.delta, epsilon=choices.epsilon)
    promise = mechanism.promise_at(choices.range_distance)
    together = total(choices.choice, choices.epsilon, choices.releases, choices.delta)
    everything = together.pure if together.pure.epsilon < math.inf else together.approx
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "mechanism": title(choices.choice),
        "private": mechanism.private,
        "one": promise.in_words(),
        "household": promise.in_words(people=4),
        "all": everything.in_words(),
        "neighbours": (
            "one person moves every score in the same direction, each by at most Δ"
            if choices.monotonic
            else "one person moves each score by at most Δ, in any direction"
        ),
    }
