"""Run a desk: set aside the parts of the budgets, listen, and serve until stopped."""

from __future__ import annotations

import asyncio
import contextlib
import glob
import math
import ssl
from functools import partial
from pathlib import Path

from discreet._exact.numbers.printing import figure
from discreet._web import LocalServer
from discreet.accounting.accountants import ACCOUNTANTS
from discreet.desk.admission import Desk, fixed_parts, longest_dry_run
from discreet.desk.application import DeskApplication
from discreet.desk.connections import ARRIVAL, MOST, PER_ADDRESS, STRANGERS, Connection, Places
from discreet.desk.operations import Figures, Journal, MetricsServer
from discreet.desk.owner_file import (
    Listening,
    Metrics,
    OwnerFile,
    SharedTable,
    TlsFiles,
    in_url,
)
from discreet.errors import DiscreetError, NoBudgetError, ParameterError
from discreet.guarantees import PureDP
from discreet.ledger import Ledger
from discreet.questions.candidates import candidates_of
from discreet.questions.ordered import column_grid
from discreet.questions.plan import Setting


def problems(owner: OwnerFile) -> list[str]:
    """Return what is wrong with an owner's file: missing files and columns, budgets missing or too small.

    Declared columns are public, so they are looked up; no row is read.
    """
    found: list[str] = []
    for name, table in owner.table.items():
        found += [f"table.{name}: {problem}" for problem in _table_problems(table)]
    if not owner.analyst:
        found.append("no analyst is declared, so no one can ask a question")
    try:
        with Ledger.open(owner.ledger.place, create=False) as ledger:
            for dataset in sorted({table.dataset for table in owner.table.values()}):
                found += _budget_problems(owner, ledger, dataset)
    except DiscreetError as error:
        found.append(f"ledger: {error}")
    return found


def short_slots(owner: OwnerFile) -> list[str]:
    """Measure how long questions take before they read a row; return a warning for slots under twice that.

    A dry run that fails, crashes, or is stopped because it does not end, gives a warning too. Nothing
    is spent and no row of a table is read: queries run on no rows or on a few invented ones.
    """
    found = []
    for (name, kind), outcome in asyncio.run(fixed_parts(owner)).items():
        slot, seconds = owner.table[name].seconds(kind), outcome.seconds
        if seconds is None:
            found.append(
                f"table.{name}: a dry run of {kind}, which reads no row, failed, so analysts may get no "
                f"answer to such a question: {outcome.reason}"
            )
        elif seconds == math.inf:
            found.append(
                f"table.{name}: a dry run of {kind}, which reads no row, crashed or was stopped after "
                f"{longest_dry_run(owner, name, kind):g} s, so no further kind of question was tried. Check "
                "that the source can be reached and that the owner's functions end"
            )
        elif 2 * seconds > slot:
            found.append(
                f"table.{name}.slot: {kind} has {slot:g} s, and {seconds:.2g} s of it pass before a row is "
                "read. A question that does not finish in its slot gets no answer and no refund. Set "
                f'{kind} = "{math.ceil(4 * seconds)}s" or more'
            )
    return found


def weak_points(owner: OwnerFile) -> list[str]:
    """Return a warning for each setting that is allowed but helps an attacker."""
    found = []
    listening = owner.desk
    if listening.behind_proxy and listening.tls is None:
        found.append(
            "desk.behind_proxy: traffic from the proxy to the desk is not encrypted; keep both on one machine"
        )
    if listening.failures_allowed > 10:
        found.append(
            f"desk.failures_allowed = {listening.failures_allowed}: each question that misses its slot tells "
            "a bit about the data that no ε covers; 3 is the default"
        )
    if listening.sign_on is not None and not listening.sign_on.introspection:
        found.append(
            "desk.sign_on: a token that the provider revokes stays valid until it expires; "
            "introspection = true asks the provider each time"
        )
    for name, table in owner.table.items():
        short = [kind for kind, seconds in table.slot.items() if seconds < 1]
        if short:
            found.append(
                f"table.{name}.slot: {', '.join(short)} below a second: a busy machine will "
                "miss it, and each "
                "missed slot reveals a little about the data"
            )
    return found


def _table_problems(table: SharedTable) -> list[str]:
    from discreet import table as open_table

    if "://" not in table.source and not glob.glob(table.source):
        return [f"there is no file {table.source}"]
    try:
        context = open_table(
            table.source,
            ledger=None,
            user=table.user,
            one_row_per_user=table.one_row_per_user,
            table=table.table,
        )
        columns = context.columns
    except DiscreetError as error:
        return [str(error)]
    named = dict.fromkeys([*table.column, *table.where])
    missing = [f"there is no column {name!r}" for name in named if name not in columns]
    files = [score.file for score in table.score.values()]
    files += [vote.file for vote in table.vote.values()]
    files += [vote.rehearse_on for vote in table.vote.values() if vote.rehearse_on is not None]
    missing += [f"there is no file {file}" for file in files if not Path(file).is_file()]
    opened = context.opened()
    if opened.engine.hides_every_row():
        missing.append(
            "row-level security is on and no policy lets this user read a row: every answer would be about "
            "an empty table (CREATE POLICY, or ask as a user with BYPASSRLS)"
        )
    return missing or _column_problems(table, context)


def _column_problems(table: SharedTable, context: Setting) -> list[str]:
    """Return the problems that would make every question about a column fail."""
    found = []
    for label, column in table.column.items():
        try:
            opened = context.opened(label)
            if column.bounds is not None:
                column_grid(opened, label, bounds=tuple(column.bounds), step=column.step)
            if column.candidates is not None:
                candidates_of(opened, column.listed(), column=label)
        except DiscreetError as error:
            found.append(f"column.{label}: {error}")
    return found


def _budget_problems(owner: OwnerFile, ledger: Ledger, dataset: str) -> list[str]:
    try:
        budget = ledger.show(dataset)
    except NoBudgetError as error:
        return [f"{error}: discreet budget create {dataset} --epsilon NUMBER"]
    if budget.accountant not in ("epsilon", "epsilon-delta"):
        return [
            f"the budget of {dataset!r} adds up {budget.accountant}; a desk can only divide "
            "budgets that add up ε"
        ]
    # Under another relation a question is refused, or costs twice what the plan says.
    found = [
        f"table.{name}: neighbours = {table.neighbours!r}, and the budget {dataset!r} is for "
        f"{budget.neighbours!r}"
        for name, table in owner.table.items()
        if table.dataset == dataset and table.neighbours != budget.neighbours
    ]
    missing = {
        part: epsilon
        for part, epsilon in owner.parts().items()
        if part.rpartition("/")[0] == dataset and part not in budget.parts
    }
    for part, epsilon in owner.parts().items():
        if part in budget.parts:
            given = ledger.show(part)
            if given.revoked:
                found.append(f"the part {part!r} was revoked: use another name for the analyst")
            elif given.limit != ACCOUNTANTS[given.accountant].limits(PureDP(epsilon)):
                found.append(
                    f"the part {part!r} has another size in the ledger than ε = {figure(epsilon)}: "
                    "a part never changes; revoke it and use another name for the analyst"
                )
    if missing and not ledger.plan(dataset, PureDP(sum(missing.values()))).fits:
        total = figure(sum(missing.values()))
        found.append(
            f"the analysts' parts of {dataset!r} need ε = {total}, and only {budget.left} is left"
        )
    return found


def allot_parts(owner: OwnerFile) -> list[str]:
    """Set aside each analyst's part of a budget unless the ledger has it; return the new parts' names."""
    made = []
    with Ledger.open(owner.ledger.place, create=False) as ledger:
        for part, epsilon in owner.parts().items():
            if part not in ledger.show(part.rpartition("/")[0]).parts:
                ledger.allot(part, PureDP(epsilon))
                made.append(part)
    return made


class DeskServer(LocalServer):
    """The web server of one desk."""

    def __init__(self, owner: OwnerFile) -> None:
        wrong = problems(owner)
        if wrong:
            raise ParameterError("; ".join(wrong))
        tls = None if owner.desk.tls is None else _tls(owner.desk.tls)
        self.allotted = allot_parts(owner)
        listening = owner.desk
        host, port = listening.address
        super().__init__(
            host,
            port,
            taken=f"{listening.listen} cannot be used: is another program listening there?",
        )
        bound = listening.model_copy(update={"listen": f"{host}:{self.port}"})
        self.owner = owner.model_copy(update={"desk": bound})
        self._journal: Journal | None = None
        self.metrics: MetricsServer | None = None
        try:
            self.desk = Desk(self.owner)
            if listening.log is not None:
                self._journal = Journal(listening.log)
            figures = self._figures(listening.metrics)
        except DiscreetError:
            self._socket.close()
            raise
        self._serve(
            DeskApplication(self.desk, figures=figures, journal=self._journal).application(),
            date_header=False,
            proxy_headers=listening.behind_proxy,  # otherwise a client could claim any address
            http=partial(Connection, places=_places(listening), tls=tls),
            timeout_keep_alive=ARRIVAL,
            limit_concurrency=MOST,
            h11_max_incomplete_event_size=32 * 1024,
        )

    def _figures(self, asked: Metrics | None) -> Figures | None:
        if asked is None:
            return None
        figures = Figures(self.desk, per_analyst=asked.per_analyst)
        self.desk.observe = figures.asked
        self.metrics = MetricsServer(self.desk, figures, asked)
        return figures

    def run(self) -> None:
        """Serve until interrupted, together with the owner's metrics."""
        try:
            with contextlib.nullcontext() if self.metrics is None else self.metrics.in_background():
                super().run()
        finally:
            if self._journal is not None:
                self._journal.close()

    @property
    def url(self) -> str:
        """The desk's address."""
        return f"http{'s' if self.owner.desk.tls else ''}://{in_url(*self.owner.desk.address)}"


def _tls(files: TlsFiles) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(files.certificate, files.key)
    except (OSError, ValueError):
        raise ParameterError(
            f"tls: {files.certificate} and {files.key} cannot be read as a certificate and its key"
        ) from None
    return context


def _places(listening: Listening) -> Places:
    """Return the limits on connections: in total, and per address unless a proxy hides the addresses."""
    per_address = STRANGERS if listening.behind_proxy else PER_ADDRESS
    return Places(strangers=STRANGERS, per_address=per_address)
