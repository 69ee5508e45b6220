"""The first group in which many people are: which of ordered public groups reach a threshold?"""

from __future__ import annotations

from typing import Any, Unpack

from discreet.errors import ParameterError
from discreet.mechanisms.registry import STREAMS
from discreet.numbers.exact import finite, refuse
from discreet.questions.answer import TableRelease, about_threshold, about_types
from discreet.questions.candidates import public_candidates
from discreet.questions.context import Context, Terms
from discreet.questions.periods import is_range, periods
from discreet.questions.scoring import count_sensitivity, resting
from discreet.sampling import SecureBits
from discreet.tables import people_per_candidate
from discreet.tables.counts import Counts, people_with_any


def first_above(
    data: Any,
    column: str,
    *,
    above: object,
    epsilon: object,
    crossings: int | None = None,
    with_gap: bool = False,
    **terms: Unpack[Terms],
) -> TableRelease:
    """The first of the public ``groups`` of ``column`` that many people have, or none of them.

    The groups are asked in the order given: has this one ``above`` people, with noise, or more? A person
    counts once in each group in which any of their rows is. However many groups there are, ε is the same.
    The table is given as for ``mode``.

    Args:
        column: the column whose values are the groups.
        above: the public number of people to be reached.
        crossings: up to so many groups are named, in their order; by default the first one only, as
            itself and not in a tuple.
        with_gap: release by how many people, with noise, each of them passes the threshold, at no
            further cost.
        **terms: whose the rows are, who counts and which rows, see ``Terms``. Here ``groups`` are the
            ordered public groups of ``column``: a list, a file, an enum, or a range such as
            ``"2026-W01:2026-W52"``. ``mechanism`` may be ``"above-threshold-laplace"``, for comparison.

    Example:
        >>> import polars as pl
        >>> weeks = [f"2026-W{week:02}" for week in (1, 2, 3) for _ in range(300 * week)]
        >>> visits = pl.DataFrame({"patient": range(1800), "week": weeks})
        >>> release = first_above(visits, "week", groups="2026-W01:2026-W04", above=500, epsilon=1,
        ...                       user="patient")
        >>> release.answer, release.guarantee
        ('2026-W02', PureDP(1))
    """
    groups = terms.pop("groups", None)
    if terms.get("by") is not None or getattr(data, "by", None) is not None:
        raise ParameterError(
            "⟨by⟩ is not allowed here: ⟨groups⟩ are those of the column asked about"
        )
    if groups is None:
        raise ParameterError(
            "⟨groups⟩ must be given: the values of the column in their order, as a list, a file, or a range "
            "such as 2026-W01:2026-W52; read from the data they would show that somebody has that value"
        )
    asking = Context.of(data, terms).asking(column, epsilon)
    table, rows = asking.table, asking.rows
    named = asking.context.mechanism or "above-threshold"
    if not isinstance(named, str) or named not in STREAMS:
        raise refuse("mechanism", named, "one of " + ", ".join(STREAMS))
    moved = count_sensitivity(asking.inner)
    listed = periods(groups) if is_range(groups) else groups  # type: ignore[arg-type]  # a text, as tested
    public = public_candidates(listed, column=column, kind=table.kind(column), name="groups")
    rule = STREAMS[named](
        asking.epsilon_each,
        threshold=finite("above", above),
        sensitivity=moved.delta,
        crossings=1 if crossings is None else crossings,
        monotonic=moved.monotonic,
    )
    if rule.crossings > len(public):  # each would have less of ε, for nothing
        raise refuse("crossings", crossings, f"at most the number of groups, {len(public)}")

    def answer(people: Counts) -> dict[str, Any]:
        drawn = rule.draw(SecureBits())
        if with_gap:
            found: list[tuple[int, int]] = []
            for place, count in enumerate(people.tolist()):
                gap = drawn.gap(count, rule.sensitivity)
                if gap is not None:
                    found.append((place, gap))
                if len(found) == rule.crossings:
                    break
            places, gaps = [place for place, _ in found], tuple(gap for _, gap in found)
        else:
            places, gaps = drawn.crossings(people, rule.crossings), ()
        labels = tuple(public.labels[place] for place in places)
        said: dict[str, Any] = {"answer": labels}
        if with_gap:
            said["gap"] = gaps
        if crossings is None:
            said = {name: values[0] if values else None for name, values in said.items()}
        return said

    return asking.release(
        f"first above {rule.threshold}",
        parts=[(resting(rule.guarantee(), moved), 1)],
        mechanism=rule.name,
        read=lambda: people_per_candidate(table, rows, column=column, keys=public.keys),
        answer=answer,
        people=lambda: people_with_any(table, rows, column=column, keys=public.keys),
        rules=about_threshold(rule, len(public))
        + about_types(table, column, public, name="groups"),
        threshold=rule.threshold,
    )
