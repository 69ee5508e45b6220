"""``discreet desk``: commands for the owner of a desk. Analysts ask over HTTP."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from discreet._cli import shared_options as shared
from discreet._cli.commands import Group, argument, command, option
from discreet._cli.output import (
    bare_stdout,
    opened_for_answer,
    print_table,
    say,
    say_either,
    say_json,
    say_table,
)
from discreet.errors import ParameterError, missing_extra

if TYPE_CHECKING:
    from click import Context

    from discreet.desk.owner_file import OwnerFile
    from discreet.desk.store import DeskStore
    from discreet.questions import Question

_FILE = argument("FILE", "The owner's file, such as clinic.toml.")
_ANALYST = argument("ANALYST", "An analyst of the file.")


@command("check")
@_FILE
@shared.JSON
def check(file: str, *, json: bool) -> None:
    """Check an owner's file: show what each analyst could ask, and what could go wrong.

    Reads no row and spends nothing. It warns about settings that an attacker could use, and about time slots
    that are more than half over before a row is read.

    Example: discreet desk check clinic.toml
    """
    from discreet._exact.numbers.printing import figure

    owner = owner_file_at(file)
    from discreet.desk.serving import problems, short_slots, weak_points

    found = problems(owner)
    doubts = [*weak_points(owner), *([] if found else short_slots(owner))]
    rows = [
        (
            name,
            table,
            figure(analyst.epsilon, up=False),
            f"{figure(analyst.least)} to {figure(analyst.most, up=False)}",
            ", ".join(owner.table[table].column),
        )
        for name, analyst in owner.analyst.items()
        for table in analyst.tables
    ]
    columns = ("analyst", "table", "ε", "a question", "columns")
    rights = [dict(zip(columns, row, strict=True)) for row in rows]
    say_table(
        columns,
        rows,
        {"may_ask": rights, "problems": found, "warnings": doubts},
        json=json,
        after="\n".join(
            [
                *(f"problem: {each}" for each in found),
                *(f"warning: {each}" for each in doubts),
                *([] if found else ["No problems found."]),
            ]
        ),
    )
    if found:
        raise SystemExit(2)


@command("token")
@_FILE
@argument("[ANALYST]", "An analyst of the file.")
@option("--metrics", "Instead of an analyst: a token of the owner's, for the desk's figures.")
@option(
    "--days COUNT", "The number of days for which it is valid; by default the file's token_days."
)
def token(file: str, analyst: str | None, *, metrics: bool, days: int | None) -> None:
    """Print a new token for an analyst. It is shown only once; the desk stores only its hash.

    Example: discreet desk token clinic.toml epidemiology
    """
    from discreet.desk.store import OWNER

    if (analyst is None) != metrics:
        raise ParameterError("name an analyst, or give --metrics")
    owner = owner_file_at(file)
    if days is not None and not 0 < days <= 3650:
        raise ParameterError(f"--days {days} is not allowed: it must be from 1 to 3650")
    with _store(owner, analyst) as store:
        say(store.new_token(analyst or OWNER, days=days or owner.desk.token_days))
    say("Hand it over safely: it is shown only now.", err=True)


@command("revoke")
@_FILE
@_ANALYST
@shared.JSON
def revoke(file: str, analyst: str, *, json: bool) -> None:
    """Revoke all tokens of an analyst immediately.

    Example: discreet desk revoke clinic.toml epidemiology
    """
    with _store(owner_file_at(file), analyst) as store:
        ended = store.revoke(analyst)
    say_either(f"{ended} token(s) of {analyst} ended.", {"ended": ended}, json=json)


@command("allow")
@_FILE
@_ANALYST
@shared.JSON
def allow(file: str, analyst: str, *, json: bool) -> None:
    """Unblock an analyst after too many missed time slots.

    Each missed slot revealed something about the data. Make the slots longer first.

    Example: discreet desk allow clinic.toml epidemiology
    """
    with _store(owner_file_at(file), analyst) as store:
        failures = store.failures(analyst)
        store.forgive(analyst)
    say_either(f"{analyst} may ask again.", {"forgiven": failures}, json=json)


@command("log")
@_FILE
@option("--analyst NAME", "Only the questions of this analyst.")
@option("--most COUNT", "How many questions to show at most, newest first.", default=1000)
@shared.JSON
def log(file: str, *, analyst: str | None, most: int, json: bool) -> None:
    """Show who asked what and when, what it cost, and, if it failed, the reason. Never shows an answer.

    Each line has the number that the analyst sees for the question, and its entry number in the ledger.

    Example: discreet desk log clinic.toml --analyst epidemiology
    """
    owner = owner_file_at(file)
    from discreet.desk.shapes import SUBJECTS

    with _store(owner, analyst) as store:
        asked = store.asked(analyst, most=most)
    rows = [
        {
            "time": _when(each.began),
            "analyst": each.analyst,
            "question": each.asked["kind"],
            "table": each.asked["table"],
            "column": next((each.asked[name] for name in SUBJECTS if name in each.asked), None),
            "where": each.asked.get("where"),
            "epsilon": each.asked["epsilon"],
            "number": each.number,
            "entry": each.entry,
            "state": each.state,
            "reason": each.reason,
        }
        for each in reversed(asked)
    ]
    names = (
        *("time", "analyst", "question", "table", "column", "epsilon"),
        *("number", "entry", "state", "reason"),
    )
    shown = [["" if row[name] is None else row[name] for name in names] for row in rows]
    say_table(names, shown, rows, json=json)


@command("status")
@_FILE
@shared.JSON
def status(file: str, *, json: bool) -> None:
    """Show each analyst's tokens, failures and remaining budget.

    Example: discreet desk status clinic.toml
    """
    from discreet.desk.owner_file import part_of
    from discreet.ledger import Ledger

    owner = owner_file_at(file)
    with _store(owner) as store, Ledger.open(owner.ledger.place, create=False) as ledger:
        until: dict[str, list[str]] = {}
        for holder, _, expires in store.tokens():
            until.setdefault(holder, []).append(_when(expires)[:10])
        rows: list[dict[str, Any]] = []
        for name in owner.analyst:
            for dataset in owner.datasets(name):
                part = part_of(dataset, name)
                handed_out = part in ledger.show(dataset).parts
                rows.append(
                    {
                        "analyst": name,
                        "budget": part,
                        "left": ledger.show(part).left if handed_out else "not set aside yet",
                        "tokens until": ", ".join(until.get(name, [])) or "none",
                        "failures": f"{store.failures(name)} of {owner.desk.failures_allowed}",
                    }
                )
    if json:
        say_json(rows)
    elif rows:
        print_table(tuple(rows[0]), [tuple(row.values()) for row in rows])


@command("report")
@_FILE
@option("--month TEXT", "The month to report, such as 2026-11; the present one by default.")
@option("--csv", "Print CSV.")
@shared.JSON
def report(file: str, *, month: str | None, csv: bool, json: bool) -> None:
    """Report each analyst's questions in a month, their cost, the remaining budget, and when budgets renew.

    Example: discreet desk report clinic.toml --month 2026-11
    """
    from discreet.desk.report import monthly

    owner = owner_file_at(file)
    with _store(owner) as store:
        rows = monthly(owner, store, month)
    if not rows and not json:
        say(
            "nothing to report: no analyst has a part of a budget until the desk is served",
            err=True,
        )
        return
    names = tuple(rows[0]) if rows else ()
    if csv:
        lines = [dict(zip(names, names, strict=True)), *rows]
        text = "\n".join(",".join(_cell(row[name]) for name in names) for row in lines)
        say(text, holding=text)
        return
    say_table(names, [[row[name] for name in names] for row in rows], rows, json=json)


def _cell(value: object) -> str:
    """Return a CSV cell that a spreadsheet reads as text, even if it looks like a formula."""
    text = str(value)
    safe = f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
    return '"' + safe.replace('"', '""') + '"' if any(sign in safe for sign in ',"\r\n') else safe


@command("serve")
@_FILE
@shared.JSON
def serve(file: str, *, json: bool) -> None:
    """Serve the desk until it is stopped with Ctrl-C.

    Parts of a budget that are in the file but not yet in the ledger are reserved first.

    Example: discreet desk serve clinic.toml
    """
    owner = owner_file_at(file)
    from discreet.desk.serving import DeskServer

    server = DeskServer(owner)
    for part in server.allotted:
        say(f"set aside: {part}", err=True)
    say_either(server.url, {"url": server.url}, json=json)
    say("Stop it with Ctrl-C. Questions that are still running are not refunded.", err=True)
    server.run()


@command("demo")
@option("--browser/--no-browser", "Open the page in the browser.", default=True)
def demo(*, browser: bool) -> None:
    """Run a desk for an invented clinic with two analysts, and open its page.

    All its files are deleted when it stops.

    Example: discreet desk demo
    """
    import tempfile
    import threading
    import webbrowser
    from pathlib import Path

    from discreet.demo_data import write_clinic
    from discreet.guarantees import PureDP
    from discreet.ledger import Ledger

    with tempfile.TemporaryDirectory(prefix="discreet-desk-") as folder:
        write_clinic(folder)
        file = Path(folder) / "clinic.toml"
        file.write_text(_CLINIC, encoding="utf-8")
        with Ledger.open(Path(folder) / "budget.db") as ledger:
            ledger.create("clinic", PureDP(3))
        owner = owner_file_at(str(file))
        from discreet.desk.serving import DeskServer

        server = DeskServer(owner)
        say(f"An invented clinic, served to two analysts at {server.url}")
        for analyst in owner.analyst:
            token = server.desk.store.new_token(analyst, days=1)
            say(f"  {analyst:<13} {token}")
        say("Sign in with one of the tokens. Stop it with Ctrl-C.", err=True)
        if browser:
            threading.Timer(1.0, webbrowser.open, [server.url]).start()
        server.run()


_CLINIC = """
[ledger]
place = "budget.db"
[desk]
listen = "127.0.0.1:0"
[table.visits]
source = "visits.csv"
user = "patient_id"
people = 2000
dataset = "clinic"
where = ["clinic"]
[table.visits.slot]
mode = "2s"
top_k = "3s"
[table.visits.column.diagnosis]
candidates = "icd10.txt"
[table.visits.column.clinic]
candidates = "clinics.txt"
[table.people]
source = "people.csv"
user = "person_id"
people = 2000
dataset = "clinic"
where = ["clinic"]
[table.people.slot]
median = "2s"
[table.people.column.age]
bounds = [0, 120]
[analyst.epidemiology]
tables = ["visits", "people"]
epsilon = 2
most_per_question = 0.5
[analyst.planning]
tables = ["people"]
epsilon = 0.5
"""


@command("mcp")
def mcp() -> None:
    """Connect an assistant to a desk, using the Model Context Protocol on standard input and output.

    $DISCREET_DESK is the desk's address, $DISCREET_DESK_TOKEN the analyst's token. A question that spends
    budget must state its ε.

    Example: discreet desk mcp
    """
    from discreet.desk import connect

    try:
        from discreet.desk.assistant import assistant_server
    except ImportError:
        raise missing_extra("assistants need the mcp library", extra="desk") from None
    bare_stdout()
    assistant_server(connect()).run("stdio")


def ask_desk(ctx: Context, kind: type[Question]) -> None:
    """Ask about a table of the desk named in the environment; the options describe the question."""
    from click.core import ParameterSource

    from discreet._cli.ask import show
    from discreet.desk import connect
    from discreet.questions.question import KINDS, fields_of

    given = {
        name: value
        for name, value in ctx.params.items()
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    table = given.pop("data").removeprefix("desk:")
    as_data, explain = given.pop("json", False), given.pop("explain", False)
    file = opened_for_answer(given.pop("out", None))
    own = [each.name for each in fields_of(kind) if each.metadata["analyst"]]
    for name in given:
        if name not in own:
            raise ParameterError(f"⟨{name}⟩ is decided by the owner of a desk: leave it out")
    if not kind.completed_by:
        known = ", ".join(name for name, each in KINDS.items() if each.completed_by)
        raise ParameterError(f"a desk does not answer {kind.kind}; it answers {known}")
    release = getattr(connect().table(table), kind.kind)(**given)
    show(release, json=as_data, explain=explain, file=file)


def owner_file_at(file: str) -> OwnerFile:
    """Read and check an owner's file."""
    try:
        from discreet.desk.owner_file import read_owner_file
    except ImportError:
        raise missing_extra(
            "the desk needs pydantic, Starlette and Uvicorn", extra="desk"
        ) from None
    return read_owner_file(file)


def _store(owner: OwnerFile, analyst: str | None = None) -> DeskStore:
    from discreet.desk.store import DeskStore

    if analyst is not None and analyst not in owner.analyst:
        known = ", ".join(owner.analyst) or "none"
        raise ParameterError(f"{analyst!r} is not an analyst in this file: {known}")
    return DeskStore(str(owner.desk.store))


def _when(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, tz=datetime.UTC).strftime("%Y-%m-%d %H:%M:%SZ")


desk = Group("desk", help="A server for analysts, who ask questions but never see rows.")
for _each in (check, token, serve, status, report, log, allow, revoke, mcp, demo):
    desk.add_command(_each)
