"""``discreet mode``, ``median``, ``quantiles`` and ``top``: ask a table."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import question_options as option
from discreet.cli.asking import (
    answer,
    listed,
    require_candidates,
    table_file,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("mode")(mode)
    app.command("median")(median)
    app.command("quantiles")(quantiles)
    app.command("top")(top)


def mode(
    data: option.Data,
    *,
    column: option.Column,
    epsilon: option.Epsilon,
    candidates: option.CandidatesFile = None,
    bounds: Annotated[
        str | None, typer.Option(help="In place of --candidates: public bounds of a grid.")
    ] = None,
    step: option.Step = "1",
    user: option.User = None,
    one_row_per_user: option.OneRow = False,
    dataset: option.Dataset = None,
    ledger: option.LedgerAddress = None,
    no_ledger: option.NoLedger = False,
    neighbours: option.Neighbours = "add-remove",
    mechanism: option.Mechanism = None,
    delta: option.Delta = None,
    considered: option.Considered = 100,
    where: option.Where = None,
    by: option.By = None,
    groups: option.Groups = None,
    groups_per_person: option.GroupsPerPerson = 1,
    with_count: option.WithCount = False,
    count_share: option.CountShare = "0.25",
    with_gap: Annotated[
        bool, typer.Option("--with-gap", help="Also the noisy lead, at no cost.")
    ] = False,
    with_people: option.WithPeople = False,
    people_share: option.PeopleShare = "0.1",
    engine: option.Engine = None,
    delimiter: option.Delimiter = None,
    encoding: option.Encoding = None,
    purpose: option.Purpose = None,
    json: option.Json = False,
    out: option.Out = None,
) -> None:
    """The most common value of a column.

    Where no row matches, the answer is a random candidate: --with-people tells, for a part of epsilon,
    how many people counted.

    Example: discreet mode visits.parquet --dataset clinic --column diagnosis --user patient_id
    --candidates icd10.txt --epsilon 1
    """
    from discreet import questions
    from discreet.errors import ParameterError

    require_candidates(delta, candidates, bounds)
    if bounds is not None and candidates is not None:
        raise ParameterError("give --candidates or --bounds, not both")
    answer(
        questions.mode,
        table_file(data, delimiter, encoding),
        json=json,
        out=out,
        purpose=purpose,
        dataset=dataset,
        ledger=ledger,
        no_ledger=no_ledger,
        column=column,
        epsilon=epsilon,
        candidates=listed(candidates, least=2)
        if bounds is None
        else questions.Grid.between(bounds, step=step),
        user=user,
        one_row_per_user=one_row_per_user,
        neighbours=neighbours,
        mechanism=mechanism,
        delta=delta,
        considered=considered,
        where=where,
        by=by,
        groups=listed(groups),
        groups_per_person=groups_per_person,
        with_count=with_count,
        count_share=count_share,
        with_gap=with_gap,
        with_people=with_people,
        people_share=people_share,
        engine=engine,
    )


def median(
    data: option.Data,
    *,
    column: option.Column,
    bounds: option.Bounds,
    epsilon: option.Epsilon,
    step: option.Step = "1",
    user: option.User = None,
    one_row_per_user: option.OneRow = False,
    dataset: option.Dataset = None,
    ledger: option.LedgerAddress = None,
    no_ledger: option.NoLedger = False,
    neighbours: option.Neighbours = "add-remove",
    mechanism: option.Mechanism = None,
    per_person: option.PerPerson = "least",
    outside: option.Outside = "clamp",
    where: option.Where = None,
    by: option.By = None,
    groups: option.Groups = None,
    groups_per_person: option.GroupsPerPerson = 1,
    with_people: option.WithPeople = False,
    people_share: option.PeopleShare = "0.1",
    engine: option.Engine = None,
    delimiter: option.Delimiter = None,
    encoding: option.Encoding = None,
    purpose: option.Purpose = None,
    json: option.Json = False,
    out: option.Out = None,
) -> None:
    """The median of a column, on a public grid.

    Where no row matches, the answer is a random grid point: --with-people tells, for a part of epsilon,
    how many people counted.

    Example: discreet median people.csv --dataset staff --column age --user person_id --bounds 0:120
    --epsilon 0.5
    """
    from discreet import questions

    answer(
        questions.median,
        table_file(data, delimiter, encoding),
        json=json,
        out=out,
        purpose=purpose,
        dataset=dataset,
        ledger=ledger,
        no_ledger=no_ledger,
        column=column,
        bounds=bounds,
        epsilon=epsilon,
        step=step,
        user=user,
        one_row_per_user=one_row_per_user,
        neighbours=neighbours,
        mechanism=mechanism,
        per_person=per_person,
        outside=outside,
        where=where,
        by=by,
        groups=listed(groups),
        groups_per_person=groups_per_person,
        with_people=with_people,
        people_share=people_share,
        engine=engine,
    )


def quantiles(
    data: option.Data,
    *,
    column: option.Column,
    at: Annotated[str, typer.Option(help="The levels, with commas: 0.1,0.5,0.9.")],
    bounds: option.Bounds,
    epsilon: option.Epsilon,
    step: option.Step = "1",
    user: option.User = None,
    one_row_per_user: option.OneRow = False,
    dataset: option.Dataset = None,
    ledger: option.LedgerAddress = None,
    no_ledger: option.NoLedger = False,
    neighbours: option.Neighbours = "add-remove",
    mechanism: option.Mechanism = None,
    per_person: option.PerPerson = "least",
    outside: option.Outside = "clamp",
    where: option.Where = None,
    by: option.By = None,
    groups: option.Groups = None,
    groups_per_person: option.GroupsPerPerson = 1,
    with_people: option.WithPeople = False,
    people_share: option.PeopleShare = "0.1",
    engine: option.Engine = None,
    delimiter: option.Delimiter = None,
    encoding: option.Encoding = None,
    purpose: option.Purpose = None,
    json: option.Json = False,
    out: option.Out = None,
) -> None:
    """Several quantiles of a column at once, on a public grid.

    Where no row matches, the answers are random grid points: --with-people tells, for a part of epsilon,
    how many people counted.

    Example: discreet quantiles pay.parquet --dataset staff --column salary --user person_id
    --at 0.1,0.5,0.9 --bounds 0:500000 --step 1000 --epsilon 1
    """
    from discreet import questions

    answer(
        questions.quantiles,
        table_file(data, delimiter, encoding),
        json=json,
        out=out,
        purpose=purpose,
        dataset=dataset,
        ledger=ledger,
        no_ledger=no_ledger,
        column=column,
        at=[level.strip() for level in at.split(",")],
        bounds=bounds,
        epsilon=epsilon,
        step=step,
        user=user,
        one_row_per_user=one_row_per_user,
        neighbours=neighbours,
        mechanism=mechanism,
        per_person=per_person,
        outside=outside,
        where=where,
        by=by,
        groups=listed(groups),
        groups_per_person=groups_per_person,
        with_people=with_people,
        people_share=people_share,
        engine=engine,
    )


def top(
    data: option.Data,
    *,
    column: option.Column,
    k: Annotated[int, typer.Option("-k", "--k", help="How many.")],
    epsilon: option.Epsilon,
    candidates: option.CandidatesFile = None,
    user: option.User = None,
    one_row_per_user: option.OneRow = False,
    dataset: option.Dataset = None,
    ledger: option.LedgerAddress = None,
    no_ledger: option.NoLedger = False,
    neighbours: option.Neighbours = "add-remove",
    mechanism: option.Mechanism = None,
    method: Annotated[str, typer.Option(help="peeling, or one-shot.")] = "peeling",
    unordered: Annotated[
        bool, typer.Option("--unordered", help="Do not release the order.")
    ] = False,
    delta: option.Delta = None,
    considered: option.Considered = 100,
    where: option.Where = None,
    by: option.By = None,
    groups: option.Groups = None,
    groups_per_person: option.GroupsPerPerson = 1,
    with_count: option.WithCount = False,
    count_share: option.CountShare = "0.25",
    with_people: option.WithPeople = False,
    people_share: option.PeopleShare = "0.1",
    engine: option.Engine = None,
    delimiter: option.Delimiter = None,
    encoding: option.Encoding = None,
    purpose: option.Purpose = None,
    json: option.Json = False,
    out: option.Out = None,
) -> None:
    """The k most common values of a column.

    Where no row matches, the answers are random candidates: --with-people tells, for a part of epsilon,
    how many people counted.

    Example: discreet top visits.parquet --dataset clinic --column page --user patient_id -k 10
    --candidates pages.csv --epsilon 2
    """
    from discreet import questions

    require_candidates(delta, candidates)
    options: dict[str, Any] = {
        "column": column,
        "k": k,
        "epsilon": epsilon,
        "candidates": listed(candidates, least=2),
        "user": user,
        "one_row_per_user": one_row_per_user,
        "neighbours": neighbours,
        "mechanism": mechanism,
        "method": method,
        "ordered": not unordered,
        "delta": delta,
        "considered": considered,
        "where": where,
        "by": by,
        "groups": listed(groups),
        "groups_per_person": groups_per_person,
        "with_count": with_count,
        "count_share": count_share,
        "with_people": with_people,
        "people_share": people_share,
        "engine": engine,
    }
    answer(
        questions.top_k,
        table_file(data, delimiter, encoding),
        json=json,
        out=out,
        purpose=purpose,
        dataset=dataset,
        ledger=ledger,
        no_ledger=no_ledger,
        **options,
    )
