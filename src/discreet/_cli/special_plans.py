"""The output of ``discreet plan`` and ``discreet recommend`` for quantiles and thresholds."""

from __future__ import annotations

from typing import Any

from discreet._cli.output import draw, say_table
from discreet.errors import ParameterError


def plan_quantiles(
    at: str, points: int, at_most: str, with_probability: str, *, json: bool
) -> None:
    """Print an ε at which, with this probability, every quantile is off by at most ``at_most`` people.

    For one quantile this holds on any data; for several, it holds if no two people share a place on the grid
    (docs/proofs/quantiles.md).
    """
    from discreet._exact.numbers.printing import rounded
    from discreet.analysis import epsilon_for_rank_error

    levels = [level.strip() for level in at.split(",")]
    needed = {
        relation: epsilon_for_rank_error(
            levels,
            points=points,
            at_most=at_most,
            with_probability=with_probability,
            neighbours=relation,
        )
        for relation in ("add-remove", "replace")
    }
    data = [{"neighbours": relation, "epsilon": each} for relation, each in needed.items()]
    shown = {relation: rounded(each, up=True, digits=3) for relation, each in needed.items()}
    which, data_held = "the quantile is", "whatever the data"
    if len(levels) > 1:
        which = f"each of the {len(levels)} quantiles is"
        data_held = "on data in which no two people share a place (docs/proofs/quantiles.md)"
    before = (
        f"Use ε = {shown['add-remove']:g}, or {shown['replace']:g} if a person may be replaced: {which} "
        f"at most {at_most} people off with probability {with_probability}, {data_held}.\n"
    )
    rows = [list(row) for row in shown.items()]
    say_table(["neighbours", "ε enough"], rows, data, json=json, before=before)


def _threshold_terms(**where: Any) -> dict[str, Any]:
    """Return the arguments for the analysis of thresholds; raise an error if a file or a gap is given."""
    if "n" not in where or where["gap"] is not None:
        raise ParameterError("--margin needs --n, and cannot be combined with a file or --gap")
    return {name: where[name] for name in ("n", "sensitivity", "monotonic")}


def plan_threshold(margin: str, with_probability: str, *, json: bool, **where: Any) -> None:
    """Print the smallest ε at which each mechanism gives the right answer with this probability."""
    from discreet._exact.numbers.printing import rounded
    from discreet.analysis import epsilon_for_threshold
    from discreet.mechanisms import STREAMS

    terms = _threshold_terms(**where)
    found = {
        name: epsilon_for_threshold(name, margin=margin, with_probability=with_probability, **terms)
        for name in STREAMS
    }
    data = [{"mechanism": name, "epsilon": epsilon} for name, epsilon in found.items()]
    shown = {name: rounded(epsilon, up=True, digits=3) for name, epsilon in found.items()}
    best = min(found, key=lambda name: found[name])
    named = (
        f"names the first value above the threshold, or none, with probability {with_probability}, if every "
        f"value is at least {margin} away from it.\n"
    )
    before = f"Use {best} at ε = {shown[best]:g}: it {named}"
    if found[best] == 0:
        before = f"Any ε is enough: {best} {named}"
    rows = [list(row) for row in shown.items()]
    say_table(["mechanism", "ε needed"], rows, data, json=json, before=before)


def recommend_threshold(
    margin: str, epsilon: str, *, chart: str | None, json: bool, **where: Any
) -> None:
    """Print the best mechanism for a threshold, and how often each mechanism is wrong."""
    from discreet._exact.numbers.printing import rounded
    from discreet.analysis import recommend_threshold as recommended

    terms = _threshold_terms(**where)
    advice = recommended(epsilon, margin=margin, **terms)
    if chart is not None:
        from discreet.analysis.charts import split_chart

        draw(split_chart(epsilon, monotonic=terms["monotonic"]), chart)
    rows = [
        [
            option.mechanism,
            rounded(option.false_alarm, up=True),
            rounded(option.miss, up=True),
            rounded(option.false_alarm_if_none, up=True),
            "all values at once" if option.at_once else "a stream",
        ]
        for option in advice.options
    ]
    data = {"mechanism": advice.best.mechanism, "options": advice.records()}
    columns = ["mechanism", "false alarm", "miss", "none above", "needs"]
    cases = (
        "\nFalse alarm and miss: if only the last value is above the threshold. None above: a false alarm "
        "if no value is above it."
    )
    say_table(columns, rows, data, json=json, before=f"{advice.advice}\n", after=cases)
