"""What ``discreet plan`` and ``discreet recommend`` say about a threshold."""

from __future__ import annotations

from typing import Any

from discreet.cli.output import print_table, say, say_json
from discreet.errors import ParameterError


def _threshold_terms(**where: Any) -> dict[str, Any]:
    """What the analysis of thresholds takes; it reads no scores."""
    if "n" not in where or where["gap"] is not None:
        raise ParameterError("--margin goes with --n, without a file and without --gap")
    return {name: where[name] for name in ("n", "sensitivity", "monotonic")}


def plan_threshold(margin: str, with_probability: str, *, json: bool, **where: Any) -> None:
    """The least ε at which the answer about a threshold is right often enough."""
    from discreet.analysis import epsilon_for_threshold
    from discreet.mechanisms import STREAMS
    from discreet.numbers.printing import rounded

    terms = _threshold_terms(**where)
    found = {
        name: epsilon_for_threshold(name, margin=margin, with_probability=with_probability, **terms)
        for name in STREAMS
    }
    if json:
        say_json([{"mechanism": name, "epsilon": epsilon} for name, epsilon in found.items()])
        return
    rows = [[name, rounded(epsilon, up=True)] for name, epsilon in found.items()]
    print_table(["mechanism", "ε needed"], rows)


def recommend_threshold(
    margin: str, epsilon: str, *, chart: str | None, json: bool, **where: Any
) -> None:
    """Who answers best about a threshold, and how often each is wrong."""
    from discreet.analysis import recommend_threshold as recommended
    from discreet.numbers.printing import rounded

    terms = _threshold_terms(**where)
    advice = recommended(epsilon, margin=margin, **terms)
    if chart is not None:
        from discreet.analysis.charts import save_chart, split_chart

        say(
            f"chart written to {save_chart(split_chart(epsilon, monotonic=terms['monotonic']), chart)}",
            err=True,
        )
    if json:
        say_json({"mechanism": advice.best.mechanism, "options": advice.records()})
        return
    say(f"{advice.advice}\n")
    print_table(
        ["mechanism", "false alarm", "miss", "needs"],
        [
            [
                option.mechanism,
                rounded(option.false_alarm, up=True),
                rounded(option.miss, up=True),
                "all values at once" if option.at_once else "a stream",
            ]
            for option in advice.options
        ],
    )
