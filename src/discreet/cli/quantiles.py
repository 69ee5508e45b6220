"""``discreet plan --at``: the ε for quantiles that are off by so many people at most."""

from __future__ import annotations

from discreet.cli.output import print_table, say_json


def plan_quantiles(
    at: str, points: int, at_most: str, with_probability: str, *, as_data: bool
) -> None:
    """The ε that keeps every quantile's rank within so many people, whatever the data."""
    from discreet.analysis import epsilon_for_rank_error
    from discreet.numbers.printing import rounded

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
    if as_data:
        say_json([{"neighbours": relation, "epsilon": each} for relation, each in needed.items()])
        return
    rows = [[relation, rounded(each, up=True)] for relation, each in needed.items()]
    print_table(["neighbours", "ε enough"], rows)
