"""``discreet budget``: make, watch, plan, divide, check and close budgets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.asking import mechanism_names
from discreet.cli.budget_figures import guarantee_of, relation_named
from discreet.cli.budget_tables import print_budgets, print_history
from discreet.cli.output import say, say_json
from discreet.cli.plain_help import PlainGroup, Shelf

if TYPE_CHECKING:
    from discreet.ledger import Ledger

Dataset = Annotated[
    str, typer.Argument(help="The data set's name, or a part of its budget: visits/alice.")
]
Address = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        help="A path, sqlite:///path or postgresql://...; else $DISCREET_LEDGER, or your own.",
    ),
]
Epsilon = Annotated[str | None, typer.Option(help="ε; with --delta, an (ε, δ) figure.")]
Rho = Annotated[str | None, typer.Option(help="ρ of zero-concentrated privacy.")]
Delta = Annotated[str | None, typer.Option(help="δ, with --epsilon.")]
Group = Annotated[str | None, typer.Option(help="One of the groups declared disjoint.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

budget = Shelf(
    name="budget",
    cls=PlainGroup,
    help="A budget that survives the process and cannot be overspent.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def register(app: typer.Typer) -> None:
    """Add the command group."""
    app.add_typer(budget)


@budget.command()
def create(
    dataset: Annotated[str, typer.Argument(help="A name for the data set.")],
    *,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    accountant: Annotated[
        str | None,
        typer.Option(
            help="epsilon, rho, rho-delta or epsilon-delta; by default it follows the cap."
        ),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(
            help="Renew each day, week, month, quarter or year (UTC). The promise is then per period."
        ),
    ] = None,
    neighbours: Annotated[
        str, typer.Option(help="add-remove one person, or replace one.")
    ] = "add-remove",
    group: Annotated[
        list[str] | None,
        typer.Option(help="A group of people; nobody is in two. Give it once for each group."),
    ] = None,
    delta_for_releases: Annotated[
        str | None,
        typer.Option(
            help="How much of δ is kept for releases that have a δ of their own; half if not given."
        ),
    ] = None,
    ledger: Address = None,
    json: Json = False,
) -> None:
    """Give a data set a budget. The cap and the way of counting never change afterwards.

    Example: discreet budget create visits --epsilon 3

    Example: discreet budget create visits --epsilon 3 --delta 1e-6 --period year
    """
    with _opened(ledger, create=True) as opened:
        made = opened.create(
            dataset,
            guarantee_of(epsilon, rho, delta),
            period,
            accountant=accountant,
            neighbours=relation_named(neighbours),
            groups=group or (),
            delta_for_releases=delta_for_releases,
        )
    print_budgets([made], json)


@budget.command()
def show(
    dataset: Annotated[
        str | None, typer.Argument(help="One data set or part; all data sets if not given.")
    ] = None,
    ledger: Address = None,
    json: Json = False,
) -> None:
    """What is spent and what is left.

    Example: discreet budget show visits
    """
    with _opened(ledger) as opened:
        if dataset is None:
            listed = list(opened.budgets())
        else:
            whole = opened.show(dataset)
            listed = [whole, *(opened.show(part) for part in whole.parts)]
    print_budgets(listed, json)


@budget.command()
def history(dataset: Dataset, ledger: Address = None, json: Json = False) -> None:
    """Every entry, oldest first.

    Example: discreet budget history visits --json
    """
    with _opened(ledger) as opened:
        entries = opened.history(dataset)
    if json:
        say_json([entry.as_data() for entry in entries])
        return
    print_history(entries)


@budget.command()
def plan(
    dataset: Dataset,
    *,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="With --epsilon: count it by this mechanism's own proof, e.g. exponential.",
            autocompletion=mechanism_names,
        ),
    ] = None,
    count: Annotated[int, typer.Option(help="How many such releases.")] = 1,
    neighbours: Annotated[
        str, typer.Option(help="add-remove one person, or replace one.")
    ] = "add-remove",
    group: Group = None,
    ledger: Address = None,
    json: Json = False,
) -> None:
    """What more releases would cost. Spends nothing.

    Example: discreet budget plan visits --epsilon 0.1 --mechanism permute-and-flip --count 10
    """
    from discreet.accounting import Event

    event = Event(
        guarantee_of(epsilon, rho, delta, mechanism),
        mechanism=mechanism or "unnamed",
        count=count,
        neighbours=relation_named(neighbours),
    )
    with _opened(ledger) as opened:
        planned = opened.plan(dataset, event, group=group)
    if json:
        say_json(planned.as_data())
    else:
        say(str(planned))


@budget.command()
def allot(
    part: Annotated[str, typer.Argument(help="visits/alice: a part of visits, for alice.")],
    *,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Delta = None,
    share: Annotated[
        str | None, typer.Option(help="In place of a figure: a fraction of the whole, e.g. 1/4.")
    ] = None,
    group: Group = None,
    ledger: Address = None,
    json: Json = False,
) -> None:
    """Set a part of a budget aside for an analyst, until it is revoked.

    Example: discreet budget allot visits/alice --epsilon 0.5
    """
    from discreet.errors import ParameterError

    if (share is None) == ((epsilon, rho, delta) == (None,) * 3):
        raise ParameterError("give --epsilon, --rho, --epsilon with --delta, or --share")
    figure = guarantee_of(epsilon, rho, delta) if share is None else None
    with _opened(ledger) as opened:
        made = opened.allot(part, figure, share=share, group=group)
    print_budgets([made], json)


@budget.command()
def revoke(
    dataset: Dataset,
    purpose: Annotated[str, typer.Option(help="Why, for the history.")] = "",
    ledger: Address = None,
    json: Json = False,
) -> None:
    """Close a budget and its parts; what a part has not spent goes back to the whole.

    Example: discreet budget revoke visits/alice --purpose "left the team"
    """
    with _opened(ledger) as opened:
        closed = opened.revoke(dataset, purpose=purpose)
    print_budgets([closed], json)


@budget.command()
def verify(
    dataset: Annotated[str | None, typer.Argument(help="One data set; all if not given.")] = None,
    head: Annotated[
        str | None,
        typer.Option(help="A head kept elsewhere, as `discreet budget head` printed it."),
    ] = None,
    ledger: Address = None,
    json: Json = False,
) -> None:
    """Check the history's chain and every total. Exit status 1 if something is wrong.

    Example: discreet budget verify visits --head "$(cat visits.head)"
    """
    from discreet.errors import ParameterError

    with _opened(ledger) as opened:
        if dataset is None and head is not None:
            raise ParameterError("--head goes with one data set")
        names = [found.name for found in opened.budgets()] if dataset is None else [dataset]
        results = [opened.verify(name, head=head) for name in names]
    if json:
        say_json([result.as_data() for result in results])
    else:
        for result in results:
            say(str(result))
    if not all(result.holds for result in results):
        raise typer.Exit(1)


@budget.command("head")
def print_head(dataset: Dataset, ledger: Address = None, json: Json = False) -> None:
    """Print where the history stands, to keep elsewhere: it shows any later rewriting.

    Example: discreet budget head visits > visits.head
    """
    with _opened(ledger) as opened:
        found = opened.head(dataset)
    if json:
        say_json({"dataset": found.dataset, "sequence": found.sequence, "hash": found.hash})
    else:
        say(str(found))


@budget.command("accept-clock")
def accept_clock(
    dataset: Dataset,
    purpose: Annotated[str, typer.Option(help="What happened to the clock, for the history.")],
    ledger: Address = None,
    json: Json = False,
) -> None:
    """Accept the present time after a clock ran ahead and was put back. No period begins again.

    Example: discreet budget accept-clock visits --purpose "the server's battery was replaced"
    """
    with _opened(ledger) as opened:
        entry = opened.accept_clock(dataset, purpose=purpose)
    if json:
        say_json(entry.as_data())
    else:
        say(f"{entry}: {entry.time}")


@contextmanager
def _opened(address: str | None, *, create: bool = False) -> Iterator[Ledger]:
    from discreet.ledger import Ledger

    with Ledger.open(address, create=create) as opened:
        yield opened
