"""List what each default answer rests on, in ε and in ρ, for the page about Coq: part of ``make pages``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any


def asked() -> Iterator[tuple[str, Any, bool]]:
    """What people ask by default, in words, as a question, and whether one row is one person."""
    from discreet.questions import Bound, FirstAbove, Median, Mode, Quantile, Quantiles, TopK, Vote

    codes: dict[str, Any] = {"candidates": ["a", "b", "c", "d", "e", "f"], "epsilon": 1}
    ages: dict[str, Any] = {"bounds": (0, 120), "epsilon": 1}
    sites: dict[str, Any] = {"by": "site", "groups": ["north", "south"]}
    unlisted: dict[str, Any] = {"delta": "1e-6", "epsilon": 1}
    yield "the most common value", Mode("code", **codes), False
    yield "with its lead", Mode("code", **codes, with_gap=True), False
    yield "with a noisy count", Mode("code", **codes, with_count=True), False
    yield "with a number of people", Mode("code", **codes, with_people=True), False
    yield "by group", Mode("code", **codes, **sites), False
    yield (
        "by group, with a lead, a noisy count and a number of people",
        Mode("code", **codes, **sites, with_gap=True, with_count=True, with_people=True),
        False,
    )
    yield (
        "by group, with a chosen bound",
        Mode("code", **codes, **sites | {"groups_per_person": "choose"}),
        False,
    )
    yield "in groups found in the data", Mode("code", **codes, by="site", delta="1e-6"), False
    yield "without a list of values", Mode("code", **unlisted), False
    yield (
        "with a noisy count, without a list of values",
        Mode("code", **unlisted, with_count=True),
        False,
    )
    yield "the median", Median("age", **ages), False
    yield "by group", Median("age", **ages, **sites), False
    yield (
        "of one value per person, drawn at random",
        Median("age", **ages, per_person="random"),
        False,
    )
    yield "in groups found in the data", Median("age", **ages, by="site", delta="1e-6"), False
    yield "a quantile", Quantile("age", at="0.9", **ages), False
    yield "several quantiles", Quantiles("age", at=[0.25, 0.5, 0.75], **ages), False
    yield (
        "by group, with a number of people",
        Quantiles("age", at=[0.25, 0.5, 0.75], **ages, **sites, with_people=True),
        False,
    )
    yield "the 2 most common values", TopK("code", k=2, **codes), False
    yield "the 5 most common values", TopK("code", k=5, **codes), False
    yield "where nobody has two rows", TopK("code", k=5, **codes), True
    yield "without their order", TopK("code", k=5, **codes, ordered=False), False
    yield "by group, with counts", TopK("code", k=5, **codes, **sites, with_count=True), False
    yield "in groups found in the data", TopK("code", k=5, **codes, by="site", delta="1e-6"), False
    yield "the 2 most common values, without a list of values", TopK("code", k=2, **unlisted), False
    yield "where nobody has two rows", TopK("code", k=2, **unlisted), True
    yield (
        "the first group above a threshold",
        FirstAbove("code", groups=["a", "b"], above=100, epsilon=1),
        False,
    )
    yield "a bound on a column", Bound("age", epsilon=1), False
    yield "the candidate with the most votes of blocks", Vote(len, **codes), False


def others() -> Iterator[tuple[str, Any]]:
    """What else promises something: in words, and the guarantee."""
    from discreet import ZCDP, AboveThreshold, PermuteAndFlip, PureDP, Scores
    from discreet.tuning import Fixed, Geometric, Poisson, cost_of_tuning

    scores = Scores([0, 0], sensitivity=1)
    watch = AboveThreshold(epsilon=1, threshold=0, sensitivity=1)
    for measure in (PureDP, ZCDP):
        own = PermuteAndFlip(epsilon=1).guarantee(scores, measure)
        yield "a choice among your own scores", own
        yield "a watch over a stream", watch.guarantee(measure)
    run = PermuteAndFlip(epsilon=1).guarantee(scores)
    for name, runs in (
        ("a geometric number of", Geometric(mean=5)),
        ("a Poisson number of", Poisson(mean=5)),
        ("5", Fixed(5)),
    ):
        yield f"the best of {name} runs", cost_of_tuning(run, runs=runs)
    first = cost_of_tuning(run, runs=Geometric(mean=5), target=True)
    yield "the first of a geometric number of runs to reach a target", first


def proofs() -> Iterator[tuple[str, str, Any]]:
    """Every default answer, its measure and its proof, the same under both neighbour relations."""
    import polars as pl

    from discreet import ZCDP, table
    from discreet.accounting import compose

    rows = pl.DataFrame({"person": [1], "code": ["a"], "age": [30], "site": ["north"]})
    before = ""
    for words, question, alone in asked():
        whose: dict[str, Any] = {"one_row_per_user": True} if alone else {"user": "person"}
        plan, other = (
            table(rows, ledger=None, neighbours=relation, **whose).plan(question)
            for relation in ("add-remove", "replace")
        )
        if None in (plan.proof, other.proof) or plan.proof.checked != other.proof.checked:
            raise ValueError(f"{words} is not proved alike under both relations")
        starts = words.split()[0] in ("the", "a", "several")
        before = words if starts else before
        said = words if starts else f"{before}, {words}"
        yield said, type(plan.guarantee).__name__, plan.proof
        total, replaced = (compose([each.event]).zcdp for each in (plan, other))
        if total < ZCDP(float("inf")):
            if total.proof.checked != replaced.proof.checked:
                raise ValueError(f"the ρ of {words} is not proved alike under both relations")
            assumed = dict.fromkeys((*total.proof.assumes, *plan.proof.assumes))
            yield said, "ZCDP", total.proof.assuming(*assumed)
    for words, guarantee in others():
        yield words, type(guarantee).__name__, guarantee.proof


def table_of_defaults() -> str:
    """The rows of the page; an error for a row that no one theorem covers."""
    lines = [
        "| answer | measure | theorem | page | assumes that |",
        "|---|---|---|---|---|",
    ]
    for words, measure, proof in proofs():
        if not proof.checked:
            raise ValueError(f"{words} in {measure} rests on no one theorem: {proof}")
        [theorem], [page] = proof.theorems, map(Path, proof.pages)
        lines.append(
            f"| {words} | {measure} | `{theorem}` | [{page.stem}]({page.name}) | "
            f"{'; '.join(proof.assumes) or '–'} |"
        )
    return "\n".join(lines)
