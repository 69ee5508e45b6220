"""The options that questions share, each described once."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.asking import mechanism_names

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
Delimiter = Annotated[
    str | None, typer.Option(metavar="SIGN", help="What parts the fields of a CSV file, e.g. ';'.")
]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="How a CSV file is encoded, e.g. cp1252.")
]
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
