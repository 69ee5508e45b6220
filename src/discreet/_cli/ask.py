"""``discreet ask``, and the commands for single kinds of questions, such as ``mode`` and ``median``.

Each of these commands is built from the class of its question, which gives the name, the help text, the
example, and the fields that become options.
"""

from __future__ import annotations

import dataclasses
import json as json_format
import re
import sys
import typing
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from discreet._cli.commands import (
    HELP_ALL,
    Command,
    Decorator,
    argument,
    command,
    from_standard_input,
    option,
    stack,
)
from discreet._cli.output import as_json, deliver, opened_for_answer, progress, say, screen_width
from discreet._cli.shared_options import mechanism_names
from discreet._displays import transcribed, visible
from discreet.errors import DiscreetError, ParameterError
from discreet.questions import NeverMatchesWarning, OtherTableWarning, Question, TableRelease
from discreet.questions.frames import FILES, write_frame
from discreet.questions.kinds import kinds_by_name
from discreet.questions.periods import is_clock, is_range
from discreet.questions.plan import Watch
from discreet.questions.private_table import PrivateTable
from discreet.questions.question import fields_of
from discreet.questions.scoring import label_of

_FILE = re.compile(r"[/\\]|\.(?:txt|csv|tsv|json|jsonl|parquet)$", re.IGNORECASE)
_DATA, _QUESTION, _GROUPS, _BUDGET, _OUTPUT = "Data", "Question", "Groups", "Budget", "Output"

SOURCE = stack(
    argument(
        "DATA",
        "A CSV, Parquet or JSON lines file, a glob in quotes, a database's address, desk:TABLE, or - for CSV "
        "on standard input.",
        callback=from_standard_input,
    ),
    option("--table NAME", "With the address of a database: the table to ask.", section=_DATA),
    option("--user COLUMN", "The column that tells people apart.", section=_DATA),
    option(
        "--one-row-per-user", "Instead of --user: every row is a different person.", section=_DATA
    ),
    option(
        "--counted COLUMN",
        "Instead of --user, for a table of counts: the column with the number of people in a row.",
        section=_DATA,
        advanced=True,
    ),
    option(
        "--people COUNT",
        "About how many people there are, if that is public: accuracy is computed for this many.",
        section=_DATA,
    ),
    option(
        "--neighbours NAME",
        "add-remove one person, or replace one.",
        default="add-remove",
        section=_DATA,
        advanced=True,
    ),
    option(
        "--read-as NAME",
        "How a text file's column is read, if not as numbers: date, moment (date and time), time, "
        "span, decimal. For other columns, such as those in --where: visited=date,began=time.",
        section=_DATA,
        advanced=True,
    ),
    option(
        "--delimiter SIGN",
        "The separator of the fields in a CSV file, e.g. ';'.",
        section=_DATA,
        advanced=True,
    ),
    option(
        "--encoding NAME", "The encoding of a CSV file, e.g. cp1252.", section=_DATA, advanced=True
    ),
    option(
        "--ask-password",
        "Prompt for the database's password, if no file or variable has it.",
        section=_DATA,
        advanced=True,
    ),
    option(
        "--time-limit SECONDS",
        "Time limit for a database; after that nothing is released.",
        section=_DATA,
        advanced=True,
    ),
)
COUNTED = stack(
    option("--dataset NAME", "The data set's name in the budget ledger.", section=_BUDGET),
    option("--ledger ADDRESS", "A ledger other than the default one.", section=_BUDGET),
    option(
        "--no-ledger",
        "Run without a ledger: no budget is counted, and the answer says so.",
        section=_BUDGET,
    ),
)
DELIVERED = stack(
    option("--json", "Print everything as JSON.", section=_OUTPUT),
    option(
        "--out FILE",
        "Write the answer to this file as well, before it is printed; as a table if it is .csv or .parquet.",
        section=_OUTPUT,
    ),
    option(
        "--explain",
        "Show the rules: what is left out, moved, assigned or trusted.",
        section=_OUTPUT,
    ),
    option(
        "--keep-answer",
        "Keep the answer in the ledger, for `budget answers`.",
        section=_OUTPUT,
        advanced=True,
    ),
)


PLAN = option(
    "--plan",
    "Show what the question will cost and how accurate it will be; nothing is read or paid.",
    section=_OUTPUT,
)


def listed(text: str | None, *, least: int = 1) -> Any:
    """Split a comma-separated public list; return a file name, a range or None unchanged.

    Text is taken as a file name or a range if it looks like a file, has fewer than ``least`` parts, or is a
    single part with a colon.
    """
    if text is None or _FILE.search(text) or Path(text).is_file():
        return text
    parts = [part.strip() for part in text.split(",")]
    if len(parts) < least or (len(parts) == 1 and ":" in text):
        return text
    for part in parts if ":" in text else ():
        if is_range(part) and not is_clock(part):
            raise ParameterError(f"{part!r} is a range: give it alone, without commas")
    return parts


def _in_options(words: str) -> str:
    """Replace field names in angle brackets, such as ⟨time_limit⟩, with option names: --time-limit."""
    return re.sub("⟨([a-z_]+)⟩", lambda found: f"--{found[1].replace('_', '-')}", words)


def options_of(kind: type[Question]) -> Iterator[Decorator[Any]]:
    """Yield a Click option for each field marked as an option; the field's group is its help section."""
    types = typing.get_type_hints(kind)
    for each in fields_of(kind):
        facts = each.metadata
        if facts["option"]:
            yield _option(each, facts, types[each.name])


def _option(each: dataclasses.Field[Any], facts: Any, kind: Any) -> Decorator[Any]:
    named = f"--{each.name.replace('_', '-')}"
    if isinstance(facts["option"], str):
        named = facts["option"]
    elif len(each.name) == 1:
        named = f"-{each.name} {named}"
    settings: dict[str, Any] = {
        "section": facts["group"].capitalize(),
        "advanced": facts["advanced"],
    }
    takes, words = facts["takes"], _in_options(facts["description"])
    if each.default is dataclasses.MISSING or each.name == "column":
        settings["required"] = True
    elif not isinstance(each.default, bool) and each.default not in (None, 1):
        given = each.default
        settings["show_default"] = label_of(given) if isinstance(given, Fraction) else str(given)
    if kind is bool:
        # None if left out. Only for flags: Click would take it for the value of a required option.
        settings |= {"is_flag": True, "flag_value": not each.default, "default": None}
        words = _in_options(facts["off"]) if each.default else words
        return option(named, words, name=each.name, **settings)
    if takes == "LIST":
        least = 2 if each.name == "candidates" else 1
        settings["callback"] = lambda _context, _option, text: listed(text, least=least)
    elif takes == "NUMBERS":
        takes = "LIST"
        settings["callback"] = lambda _context, _option, text: (
            text and [part.strip() for part in text.split(",")]
        )
    elif each.name == "groups_per_person":
        takes = "NUMBER"
        settings["callback"] = lambda _context, _option, text: (
            int(text) if text and text.isdecimal() else text
        )
    if each.name == "mechanism":
        settings["shell_complete"] = mechanism_names
    return option(f"{named} {takes}", words, name=each.name, **settings)


class Ask(Command):
    """A command that asks about a local table, or about a table of a desk: ``desk:visits``."""

    kind: type[Question]

    def run(self, ctx: click.Context) -> Any:
        """If the table is named ``desk:...``, ask the desk; otherwise ask about the local table."""
        if not ctx.params["data"].startswith("desk:"):
            return super().run(ctx)
        from discreet._cli.desk import ask_desk

        return ask_desk(ctx, self.kind)


def ask_command(kind: type[Question], name: str, words: str, example: str) -> Command:
    """Make the command for one kind of question."""

    def ask(**given: Any) -> None:
        ask_table(kind, **given)

    ask.__doc__ = f"{words}\n\nExample: {example}"
    parts = stack(SOURCE, *options_of(kind), COUNTED, PLAN, DELIVERED, HELP_ALL)
    made = command(name, Ask)(parts(ask))
    assert isinstance(made, Ask)
    made.kind = kind
    return made


for _kind in kinds_by_name().values():
    if (_said := vars(_kind).get("command")) is not None:
        globals()[_said[0]] = ask_command(_kind, *_said)


@command("ask")
@stack(SOURCE, argument("QUESTION", "A file with the question as JSON, or - for standard input."))
@stack(COUNTED, PLAN, DELIVERED, HELP_ALL)
def ask(question: str, **given: Any) -> None:
    """Ask a question written as JSON, in the format of Question.to_dict and --plan --json.

    Example: discreet ask visits.parquet question.json --dataset clinic --user patient_id
    """
    try:
        text = sys.stdin.read() if question == "-" else Path(question).read_text(encoding="utf-8")
        written = json_format.loads(text)
    except OSError as error:
        problem = ParameterError(
            f"⟨question⟩{question!r} cannot be read ({error.strerror}): it must be a file with the question "
            "as JSON, or - for standard input"
        )
    except ValueError:
        problem = ParameterError("⟨question⟩ is not JSON")
    else:
        # A plan contains its question.
        inner = written.get("question", written) if isinstance(written, dict) else written
        asked = Question.from_dict(inner)
        if str(given["data"]).startswith("desk:"):
            _ask_desk(asked, **given)
        else:
            _ask(asked, **given)
        return
    raise problem


def _ask_desk(
    question: Question,
    *,
    data: str,
    plan: bool,
    json: bool,
    out: str | None,
    explain: bool,
    **others: Any,
) -> None:
    """Plan or ask a question about a table of a desk."""
    from discreet.desk import connect

    for name, value in others.items():
        if value not in (None, False, "add-remove"):
            raise ParameterError(f"⟨{name}⟩ is decided by the owner of a desk: leave it out")
    table = connect().table(data.removeprefix("desk:"))
    if plan:
        say(as_json(table.plan(question)))
        return
    file = opened_for_answer(out)
    show(table.ask(question), json=json, explain=explain, file=file)


def ask_table(kind: type[Question], **given: Any) -> None:
    """Plan or ask the question that the options describe."""
    named = {each.name for each in fields_of(kind)}
    stated = {name: each for name, each in given.items() if name in named and each is not None}
    _require_list(kind, stated)
    if kind.kind == "vote":
        stated["function"] = _function(stated["function"])
    _ask(kind(**stated), **{name: each for name, each in given.items() if name not in named})


def _ask(
    question: Question,
    *,
    data: Any,
    plan: bool,
    delimiter: str | None,
    encoding: str | None,
    ask_password: bool,
    read_as: str | None,
    **given: Any,
) -> None:
    """Plan or ask a question about a table."""
    is_text = any((delimiter, encoding, read_as))  # options for text files only
    data = _opening(data, ask_password=ask_password, is_file=is_text)
    if is_text:
        from discreet._tables import TextFile

        asked = str(getattr(question, "column", ""))
        parts = [part.rpartition("=") for part in (read_as or "").split(",") if part]
        spelled = {column.strip() or asked: kind.strip() for column, _, kind in parts}
        data = TextFile(data, delimiter=delimiter, encoding=encoding or "utf-8", read_as=spelled)
    terms = (
        "user",
        "one_row_per_user",
        "counted",
        "people",
        "neighbours",
        "table",
        "time_limit",
    )
    whose = {name: given.pop(name) for name in terms}
    if plan:
        with counting(*(given[name] for name in ("dataset", "ledger", "no_ledger"))) as counted:
            planned = PrivateTable(data=data, **whose, **counted).plan(question)
            say(
                as_json(planned.as_data())
                if given["json"]
                else planned.card.in_text(screen_width())
            )
        return
    answer(
        lambda watch, counted: PrivateTable(data=data, **whose, **counted).ask(
            question, watch=watch
        ),
        **given,
    )


def _function(named: str) -> Any:
    """Return a reference to the function FILE.py:NAME; the file is run only in an isolated process."""
    from discreet._isolated import FunctionInFile

    file, _, name = named.rpartition(":")
    if not file or not name.isidentifier():
        raise ParameterError(
            f"⟨function⟩{named} is not allowed: it must be a Python file and a function in it, such as "
            "models.py:best"
        )
    if not Path(file).is_file():
        raise ParameterError(f"⟨function⟩{named} is not allowed: there is no file {file}")
    if not _defines(Path(file), name):
        raise ParameterError(f"⟨function⟩{named} is not allowed: {file} defines no {name}")
    return FunctionInFile(str(Path(file).absolute()), name)


def _defines(file: Path, name: str) -> bool:
    """Return whether a file may define this name at its top level; the file is parsed and never run."""
    import symtable

    try:
        found = symtable.symtable(file.read_text(encoding="utf-8"), str(file), "exec")
    except (SyntaxError, ValueError):  # running it says what is wrong, with the line
        return True
    names = {
        each.get_name()
        for each in found.get_symbols()
        if each.is_assigned() or each.is_imported() or each.is_namespace()
    }
    return name in names or "import *" in file.read_text(encoding="utf-8")


def _require_list(kind: type[Question], stated: dict[str, Any]) -> None:
    """Raise an error if a question needs a public list, bounds, a period or δ, and none of them is given."""
    wanted = {each.name for each in fields_of(kind)}
    if "candidates" in wanted and not {"delta", "candidates", "bounds", "period"} & stated.keys():
        raise ParameterError(
            "--candidates must be given (a file that lists the possible answers), or --bounds. A list made "
            "from the data would reveal that somebody has each value on it. Without a public list give "
            "--delta; the answer may then be that nothing is safe to say"
        )


def _opening(data: str, *, ask_password: bool, is_file: bool) -> str:
    """Return the path or database address; with ``ask_password``, prompt for a password and add it.

    A password in the address itself is refused, because the shell's history would keep it.
    """
    from discreet._tables.databases import is_address

    if not is_address(data):
        if ask_password:
            raise ParameterError("--ask-password needs the address of a database")
        return data
    from discreet._tables.databases import with_password, without_password

    if is_file:
        raise ParameterError(
            "--delimiter, --encoding and --read-as can only be used with a text file"
        )
    if ":" in data.partition("://")[2].rpartition("@")[0] or "password" in data:
        raise ParameterError(
            f"leave the password out of the address ({without_password(data)}): use --ask-password, "
            f"or keep it in the environment (PGPASSWORD) or in the database's own file (~/.pgpass)"
        )
    if not ask_password:
        return data
    return with_password(data, click.prompt("Password", hide_input=True, err=True))


def answer(
    ask: Callable[[Watch, dict[str, Any]], TableRelease],
    *,
    json: bool,
    out: str | None,
    explain: bool,
    dataset: str | None,
    ledger: str | None,
    no_ledger: bool,
    keep_answer: bool,
) -> None:
    """Open the ledger unless ``no_ledger`` is set, ask the question, and deliver the release."""
    if keep_answer and no_ledger:
        raise ParameterError("--keep-answer stores the answer in a ledger: leave --no-ledger out")
    as_frame = out is not None and Path(out).suffix.lower() in FILES
    with counting(dataset, ledger, no_ledger) as counted:
        file = opened_for_answer(out)
        try:
            with _progress() as watch, warnings.catch_warnings():
                for told in (NeverMatchesWarning, OtherTableWarning):
                    warnings.simplefilter("always", told)
                warnings.showwarning = lambda message, *_, **__: say(
                    f"warning: {visible(message)}", err=True
                )
                release = ask(watch, counted)
        except KeyboardInterrupt as stopped:
            say(f"interrupted: {stopped}" if stopped.args else "interrupted", err=True)
            raise SystemExit(130) from None
        if keep_answer:
            counted["ledger"].keep(release.entry, release.as_data())
    if file is not None and as_frame:
        file.close()
        try:
            write_frame(release, file.name)
            lost = None
        except Exception:  # catch everything: the answer is paid for and must be printed
            lost = DiscreetError(
                f"the answer could not be written to {file.name}: it was only printed"
            )
        show(release, json=json, explain=explain, file=None)
        if lost is not None:
            raise lost
        return
    show(release, json=json, explain=explain, file=file)


def show(release: TableRelease, *, json: bool, explain: bool, file: Any) -> None:
    """Deliver a release: as JSON, as a card on a terminal, or as the bare answer in a pipe.

    In a pipe, the card without the answer goes to stderr.
    """
    if json:
        deliver(as_json(release.as_data(), indent=None), file)
        return
    card = release.card
    if (screen := screen_width()) is not None:
        text = card.in_text(screen, explain=explain)
        deliver(text, file, printed=for_terminal(text, card.answer or ""))
        return
    deliver(card.bare, file)
    if any(
        part is not None for part in (release.count, release.people, release.voted, release.gap)
    ):
        say(
            release.in_lines(), err=True
        )  # includes their errors, and whether a ledger counted the cost
    say(card.in_text(None, explain=explain, answer=False), err=True)


def for_terminal(text: str, answer: str) -> str:
    """Spell out symbols that the terminal lacks; return ``text`` unchanged if this would alter the answer."""
    encoding = sys.stdout.encoding
    return text if transcribed(answer, encoding) != answer else transcribed(text, encoding)


@contextmanager
def counting(dataset: str | None, ledger: str | None, no_ledger: bool) -> Iterator[dict[str, Any]]:
    """Open the ledger; yield it and the data set's name as keyword arguments for ``PrivateTable``."""
    if no_ledger and (dataset is not None or ledger is not None):
        raise ParameterError("--no-ledger runs without a ledger: leave --dataset and --ledger out")
    if no_ledger:
        yield {"ledger": None}
        return
    if dataset is None:
        raise ParameterError("give --dataset NAME to charge its budget, or --no-ledger")
    from discreet.ledger import Ledger

    with Ledger.open(ledger, create=False) as opened:
        yield {"ledger": opened, "dataset": dataset}


_BARS = {"voting": "blocks vote", "choosing": "choosing in each group"}


@contextmanager
def _progress() -> Iterator[Watch]:
    """Show a spinner with a clock while the engine works, then a progress bar over blocks or groups."""
    if not sys.stderr.isatty():  # saves the import of Rich
        yield lambda _doing, _done, _all: None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

    words = TextColumn("{task.description}")
    with progress(SpinnerColumn(), words, BarColumn(), TimeElapsedColumn()) as shown:
        task = shown.add_task("asking the table", total=None)

        def watch(doing: str, done: int, number: int) -> None:
            if doing in _BARS:
                shown.update(task, description=_BARS[doing], completed=done, total=number)

        yield watch
