"""``discreet mode``, ``median``, ``quantiles`` and ``top``: ask a table."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.asking import answer, listed, mechanism_names, require_candidates

Data = Annotated[
    str, typer.Argument(help="A CSV, Parquet or JSON lines file, or a glob in quotes.")
]
Column = Annotated[str, typer.Option(help="The column to ask about.")]
Epsilon = Annotated[str, typer.Option(help="What the whole question costs.")]
User = Annotated[str | None, typer.Option(help="The column that tells people apart.")]
OneRow = Annotated[
    bool, typer.Option("--one-row-per-user", help="In place of --user: nobody has two rows.")
]
Neighbours = Annotated[str, typer.Option(help="add-remove one person, or replace one.")]
Mechanism = Annotated[
    str | None,
    typer.Option(
        help="Another mechanism than permute-and-flip, e.g. exponential.",
        autocompletion=mechanism_names,
    ),
]
Dataset = Annotated[str | None, typer.Option(help="The data set's name in the budget ledger.")]
LedgerAddress = Annotated[
    str | None, typer.Option("--ledger", help="Another ledger than the usual one.")
]
NoLedger = Annotated[bool, typer.Option("--no-ledger", help="Say that nobody counts the budget.")]
Where = Annotated[
    str | None, typer.Option(help='Only rows for which this holds, e.g. "age >= 18".')
]
By = Annotated[str | None, typer.Option(help="One answer for each of the --groups of this column.")]
Groups = Annotated[
    str | None, typer.Option(help="With --by: the public groups, with commas, or a file of them.")
]
GroupsPerPerson = Annotated[
    int,
    typer.Option(help="A person counts in so many groups at most, drawn from theirs; ε is shared."),
]
Engine = Annotated[
    str | None, typer.Option(help="Who reads the file: duckdb, polars, pandas or spark.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the release as JSON.")]
Purpose = Annotated[
    str | None, typer.Option(help="What for, as the ledger is to say it: words without data.")
]
Out = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write the answer to this file too, and first.")
]
CandidatesFile = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="The public candidates, with commas, or a file: one on each line, or a CSV column.",
    ),
]
Delta = Annotated[
    str | None, typer.Option(help="Without --candidates: how likely the guarantee may fail.")
]
Considered = Annotated[
    int, typer.Option(help="Without --candidates: how many values compete at most.")
]
WithCount = Annotated[
    bool, typer.Option("--with-count", help="Also a noisy count, for a part of epsilon.")
]
CountShare = Annotated[str, typer.Option(help="The part of epsilon that counts get.")]
WithPeople = Annotated[
    bool,
    typer.Option(
        "--with-people",
        help="Also a noisy number of the people who counted, for a part of epsilon.",
    ),
]
PeopleShare = Annotated[str, typer.Option(help="The part of epsilon that --with-people gets.")]
Bounds = Annotated[str, typer.Option(help="Public bounds, such as 0:120.")]
Step = Annotated[str, typer.Option(help="The distance between grid points.")]
PerPerson = Annotated[
    str,
    typer.Option(
        help="What a person with several values counts with: least, largest, random or mean."
    ),
]
Outside = Annotated[
    str, typer.Option(help="Values outside the bounds: clamp (to the nearer bound) or drop.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("mode")(mode)
    app.command("median")(median)
    app.command("quantiles")(quantiles)
    app.command("top")(top)


def mode(
    data: Data,
    *,
    column: Column,
    epsilon: Epsilon,
    candidates: CandidatesFile = None,
    bounds: Annotated[
        str | None, typer.Option(help="In place of --candidates: public bounds of a grid.")
    ] = None,
    step: Step = "1",
    user: User = None,
    one_row_per_user: OneRow = False,
    dataset: Dataset = None,
    ledger: LedgerAddress = None,
    no_ledger: NoLedger = False,
    neighbours: Neighbours = "add-remove",
    mechanism: Mechanism = None,
    delta: Delta = None,
    considered: Considered = 100,
    where: Where = None,
    by: By = None,
    groups: Groups = None,
    groups_per_person: GroupsPerPerson = 1,
    with_count: WithCount = False,
    count_share: CountShare = "0.25",
    with_gap: Annotated[
        bool, typer.Option("--with-gap", help="Also the noisy lead, at no cost.")
    ] = False,
    with_people: WithPeople = False,
    people_share: PeopleShare = "0.1",
    engine: Engine = None,
    purpose: Purpose = None,
    json: Json = False,
    out: Out = None,
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
        data,
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
    data: Data,
    *,
    column: Column,
    bounds: Bounds,
    epsilon: Epsilon,
    step: Step = "1",
    user: User = None,
    one_row_per_user: OneRow = False,
    dataset: Dataset = None,
    ledger: LedgerAddress = None,
    no_ledger: NoLedger = False,
    neighbours: Neighbours = "add-remove",
    mechanism: Mechanism = None,
    per_person: PerPerson = "least",
    outside: Outside = "clamp",
    where: Where = None,
    by: By = None,
    groups: Groups = None,
    groups_per_person: GroupsPerPerson = 1,
    with_people: WithPeople = False,
    people_share: PeopleShare = "0.1",
    engine: Engine = None,
    purpose: Purpose = None,
    json: Json = False,
    out: Out = None,
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
        data,
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
    data: Data,
    *,
    column: Column,
    at: Annotated[str, typer.Option(help="The levels, with commas: 0.1,0.5,0.9.")],
    bounds: Bounds,
    epsilon: Epsilon,
    step: Step = "1",
    user: User = None,
    one_row_per_user: OneRow = False,
    dataset: Dataset = None,
    ledger: LedgerAddress = None,
    no_ledger: NoLedger = False,
    neighbours: Neighbours = "add-remove",
    mechanism: Mechanism = None,
    per_person: PerPerson = "least",
    outside: Outside = "clamp",
    where: Where = None,
    by: By = None,
    groups: Groups = None,
    groups_per_person: GroupsPerPerson = 1,
    with_people: WithPeople = False,
    people_share: PeopleShare = "0.1",
    engine: Engine = None,
    purpose: Purpose = None,
    json: Json = False,
    out: Out = None,
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
        data,
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
    data: Data,
    *,
    column: Column,
    k: Annotated[int, typer.Option("-k", "--k", help="How many.")],
    epsilon: Epsilon,
    candidates: CandidatesFile = None,
    user: User = None,
    one_row_per_user: OneRow = False,
    dataset: Dataset = None,
    ledger: LedgerAddress = None,
    no_ledger: NoLedger = False,
    neighbours: Neighbours = "add-remove",
    mechanism: Mechanism = None,
    method: Annotated[str, typer.Option(help="peeling, or one-shot.")] = "peeling",
    unordered: Annotated[
        bool, typer.Option("--unordered", help="Do not release the order.")
    ] = False,
    delta: Delta = None,
    considered: Considered = 100,
    where: Where = None,
    by: By = None,
    groups: Groups = None,
    groups_per_person: GroupsPerPerson = 1,
    with_count: WithCount = False,
    count_share: CountShare = "0.25",
    with_people: WithPeople = False,
    people_share: PeopleShare = "0.1",
    engine: Engine = None,
    purpose: Purpose = None,
    json: Json = False,
    out: Out = None,
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
        data,
        json=json,
        out=out,
        purpose=purpose,
        dataset=dataset,
        ledger=ledger,
        no_ledger=no_ledger,
        **options,
    )
