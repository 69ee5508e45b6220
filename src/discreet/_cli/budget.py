"""``discreet budget``: create, show, plan, divide, check and close budgets."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from discreet._cli import shared_options as shared
from discreet._cli.commands import Group, argument, command, option, stack
from discreet._cli.output import say, say_either, say_json, say_table
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.ledger import Budget, Ledger

_DATASET = argument("DATASET", "The data set's name, or a part of its budget: visits/alice.")
_GROUP = option("--group NAME", "One of the groups declared disjoint.")
_LEDGER = stack(
    option(
        "--ledger ADDRESS",
        "A path, sqlite:///path or postgresql://...; default: $DISCREET_LEDGER, or your own.",
    ),
    shared.JSON,
)


@command("create")
@argument("DATASET", "A name for the data set.")
@shared.GUARANTEE
@option(
    "--accountant NAME", "epsilon, rho, rho-delta or epsilon-delta; by default it follows the cap."
)
@option(
    "--period NAME",
    "Renew each day, week, month, quarter or year (UTC). The guarantee is then per period.",
)
@shared.NEIGHBOURS
@option(
    "--group NAME",
    "A group of people, declared disjoint from the others. May be repeated.",
    multiple=True,
)
@option(
    "--delta-for-releases NUMBER",
    "How much of δ is reserved for releases with their own δ; half by default.",
)
@_LEDGER
def create(
    dataset: str,
    *,
    accountant: str | None,
    period: str | None,
    neighbours: str,
    group: Sequence[str],
    delta_for_releases: str | None,
    ledger: str | None,
    json: bool,
    **figure: str | None,
) -> None:
    """Give a data set a budget. The cap and the accountant never change afterwards.

    Example: discreet budget create visits --epsilon 3

    Example: discreet budget create visits --epsilon 3 --delta 1e-6 --period year
    """
    from discreet.neighbours import Neighbours

    with _opened(ledger, create=True) as opened:
        made = opened.create(
            dataset,
            shared.guarantee_of(**figure),
            period,
            accountant=accountant,
            neighbours=Neighbours.named(neighbours),
            groups=group,
            delta_for_releases=delta_for_releases,
        )
    print_budgets([made], json)


@command("list")
@_LEDGER
def list_budgets(*, ledger: str | None, json: bool) -> None:
    """List every data set's budget, with the amount spent and the amount left.

    Example: discreet budget list
    """
    with _opened(ledger) as opened:
        print_budgets(opened.budgets(), json)


@command("show")
@_DATASET
@_LEDGER
def show(dataset: str, *, ledger: str | None, json: bool) -> None:
    """Show how much of one budget, and of its parts, is spent and how much is left.

    Example: discreet budget show visits
    """
    with _opened(ledger) as opened:
        whole = opened.show(dataset)
        listed = [whole, *(opened.show(part) for part in whole.parts)]
    print_budgets(listed, json)


@command("history")
@_DATASET
@_LEDGER
def history(dataset: str, *, ledger: str | None, json: bool) -> None:
    """List every entry in a budget's history, oldest first.

    Example: discreet budget history visits --json
    """
    with _opened(ledger) as opened:
        entries = opened.history(dataset)
    data = [entry.as_data() for entry in entries]
    say_table(entries.columns, entries.rows, data, json=json)


@command("answers")
@_DATASET
@_LEDGER
def answers(dataset: str, *, ledger: str | None, json: bool) -> None:
    """Show the answers kept with --keep-answer, oldest first. Costs nothing.

    Example: discreet budget answers visits
    """
    from discreet.questions.read_back import release_from

    with _opened(ledger) as opened:
        kept = opened.answers(dataset)
    if json:
        say_json([{"entry": str(entry), "time": entry.time, **release} for entry, release in kept])
        return
    if not kept:
        say(f"no answer is kept in {dataset}: --keep-answer keeps one", err=True)
    for entry, release in kept:
        read = release_from(release)
        purpose = entry.details["purpose"]
        say(f"{entry.time}  {purpose}\n{read}\n", holding=f"{purpose}{read.answer}")


@command("plan")
@_DATASET
@shared.GUARANTEE
@option(
    "--mechanism NAME",
    "With --epsilon: count it by this mechanism's own proof, e.g. exponential.",
    shell_complete=shared.mechanism_names,
)
@option("--count COUNT", "How many such releases.", default=1)
@shared.NEIGHBOURS
@_GROUP
@_LEDGER
def plan(
    dataset: str,
    *,
    mechanism: str | None,
    count: int,
    neighbours: str,
    group: str | None,
    ledger: str | None,
    json: bool,
    **figure: str | None,
) -> None:
    """Show what more releases would cost, and whether they fit in the budget.

    Spends nothing. For the cost of a question about a table, use --plan with the command that asks it.

    Example: discreet budget plan visits --epsilon 0.1 --mechanism permute-and-flip --count 10
    """
    from discreet.accounting import Event
    from discreet.neighbours import Neighbours

    event = Event(
        shared.guarantee_of(**figure, mechanism=mechanism),
        mechanism=mechanism or "unnamed",
        neighbours=Neighbours.named(neighbours),
    )
    with _opened(ledger) as opened:
        planned = opened.plan(dataset, event, count=count, group=group)
    say_either(planned, planned.as_data(), json=json)


@command("allot")
@argument("PART", "visits/alice: a part of visits, for alice.")
@shared.GUARANTEE
@option("--share NUMBER", "Instead of an amount: a fraction of the whole, e.g. 1/4.")
@_GROUP
@_LEDGER
def allot(
    part: str,
    *,
    share: str | None,
    group: str | None,
    ledger: str | None,
    json: bool,
    **figure: str | None,
) -> None:
    """Reserve part of a budget for an analyst, until the part is revoked.

    Example: discreet budget allot visits/alice --epsilon 0.5
    """
    if (share is None) == (set(figure.values()) == {None}):
        raise ParameterError("give --epsilon, --rho, --epsilon with --delta, or --share")
    limit = shared.guarantee_of(**figure) if share is None else None
    with _opened(ledger) as opened:
        made = opened.allot(part, limit, share=share, group=group)
    print_budgets([made], json)


@command("revoke")
@_DATASET
@option("--purpose TEXT", "The reason, for the history.", default="", show_default=False)
@_LEDGER
def revoke(dataset: str, *, purpose: str, ledger: str | None, json: bool) -> None:
    """Close a budget and its parts. The unspent amount of a part goes back to the whole budget.

    Example: discreet budget revoke visits/alice --purpose "left the team"
    """
    with _opened(ledger) as opened:
        closed = opened.revoke(dataset, purpose=purpose)
    print_budgets([closed], json)


@command("verify")
@argument("[DATASET]", "One data set; all by default.")
@option("--head TEXT", "A head kept elsewhere, as `discreet budget head` printed it.")
@_LEDGER
def verify(dataset: str | None, *, head: str | None, ledger: str | None, json: bool) -> None:
    """Check the hash chain of the history, and every total. Exit status 1 if something is wrong.

    To check a decision record against the ledger, use discreet verify.

    Example: discreet budget verify visits --head "$(cat visits.head)"
    """
    with _opened(ledger) as opened:
        if dataset is None and head is not None:
            raise ParameterError("--head needs the name of one data set")
        names = [found.name for found in opened.budgets()] if dataset is None else [dataset]
        results = [opened.verify(name, head=head) for name in names]
    words = "\n".join(map(str, results))
    say_either(words, [result.as_data() for result in results], json=json)
    if not all(result.holds for result in results):
        raise SystemExit(1)


@command("head")
@_DATASET
@_LEDGER
def head(dataset: str, *, ledger: str | None, json: bool) -> None:
    """Print the head of the history. A copy kept elsewhere exposes any later rewriting of the history.

    Example: discreet budget head visits > visits.head
    """
    with _opened(ledger) as opened:
        found = opened.head(dataset)
    data = {"dataset": found.dataset, "sequence": found.sequence, "hash": found.hash}
    say_either(found, data, json=json)


@command("accept-clock")
@_DATASET
@option("--purpose TEXT", "What happened to the clock, for the history.", required=True)
@_LEDGER
def accept_clock(dataset: str, *, purpose: str, ledger: str | None, json: bool) -> None:
    """Accept the current time after a clock ran ahead and was set back.

    No period of the budget starts a second time.

    Example: discreet budget accept-clock visits --purpose "the server's battery was replaced"
    """
    with _opened(ledger) as opened:
        entry = opened.accept_clock(dataset, purpose=purpose)
    say_either(f"{entry}: {entry.time}", entry.as_data(), json=json)


def _opened(address: str | None, *, create: bool = False) -> AbstractContextManager[Ledger]:
    from discreet.ledger import Ledger

    return Ledger.open(address, create=create)


budget = Group("budget", help="A budget that survives the process and cannot be overspent.")
for _each in (
    create,
    list_budgets,
    show,
    history,
    answers,
    plan,
    allot,
    revoke,
    verify,
    head,
    accept_clock,
):
    budget.add_command(_each)


def print_budgets(budgets: Sequence[Budget], json: bool) -> None:
    """Print budgets as a table or as JSON."""
    columns = ["budget", "spent", "left", "cap", "lasts", "neighbours", "entries"]
    data = [found.as_data() for found in budgets]
    say_table(columns, [_budget_row(found) for found in budgets], data, json=json)


def _budget_row(found: Budget) -> list[str]:
    from discreet.accounting.accountants import cap_in_short, in_short

    return [
        found.name,
        in_short(found.spent, up=True),
        "revoked" if found.revoked else in_short(found.left, up=False),
        cap_in_short(found.cap),
        f"a {found.period}" if found.period else "for good",
        found.neighbours,
        str(found.head.sequence),
    ]
