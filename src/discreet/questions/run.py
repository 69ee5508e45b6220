"""The only code that spends budget: it pays, reads, chooses and releases.

An error before the payment costs nothing. After a later error the payment stays, the entry is marked as
failed, nothing is released, and the error reveals nothing about the data.
"""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TypeAlias, TypeVar

from discreet._exact.numbers.exact import refuse
from discreet._exact.numbers.printing import figure
from discreet._exact.sampling import Bits, SecureBits
from discreet.accounting import Event
from discreet.accounting.accountants import ACCOUNTANTS, exact_cost
from discreet.accounting.events import shortened
from discreet.errors import DiscreetError, LedgerError, ParameterError, TableError
from discreet.guarantees import Guarantee
from discreet.questions.answer import Meter, TableRelease
from discreet.questions.costs import guarantee_of
from discreet.questions.plan import Found, Plan, Reading, Watch, unwatched

T = TypeVar("T")


class NeverMatchesWarning(UserWarning):
    """The declared type of a column rules out the values asked for, so the answer may be noise.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("error", NeverMatchesWarning)  # to stop before anything is spent
    """


class SpendingLedger(Protocol):
    """The methods of a ledger that a question uses."""

    def spend(self, dataset: str, event: Event, *, purpose: str) -> Any:
        """Commit a spend and return its entry for the release; raise if it cannot be committed."""

    def fail(self, entry: Any) -> Any:
        """Mark the release of this entry as failed; its cost stays spent."""


AnyLedger: TypeAlias = SpendingLedger | str | Path
"""An open ledger, or the address of one to open for the question."""


@dataclass(frozen=True, slots=True)
class Resuming:
    """A release that can be resumed after an interruption, because its answer is stored before it is shown.

    Attributes:
        entry: the ledger entry of an earlier run that paid for this release; None if no run has paid.
    """

    entry: Any = None


@contextmanager
def opened(ledger: AnyLedger | None) -> Iterator[Any]:
    """Yield the ledger, opened first if it is given as an address; yield None without a ledger."""
    if not isinstance(ledger, str | Path):
        yield ledger
        return
    from discreet.ledger import Ledger  # without a ledger its database library is not needed

    with Ledger.open(ledger, create=False) as found:
        yield found


def require_counted(ledger: AnyLedger | None, dataset: str | None) -> None:
    """Raise an error if only one of a ledger and a data set's name is given."""
    known = ledger is None or isinstance(ledger, str | Path)
    if not known and not hasattr(ledger, "spend"):
        raise refuse("ledger", ledger, "a ledger, or the address of one")
    if (ledger is None) != (dataset is None):
        raise ParameterError(
            "⟨ledger⟩ and ⟨dataset⟩ go together: a ledger keeps the budget of a named data set"
        )


def run(
    plan: Plan,
    *,
    ledger: AnyLedger | None,
    dataset: str | None,
    watch: Watch = unwatched,
    resuming: Resuming | None = None,
    budget: Any = None,
) -> TableRelease:
    """Pay for a plan, then read, choose and release; ``budget`` is the ledger's state before the payment."""
    for doubt in plan.doubts:
        warnings.warn(doubt, NeverMatchesWarning, stacklevel=4)
    bits = SecureBits()
    reading = plan.read(bits)
    try:
        reading.try_out()
        (said, rules), terms = paid(
            plan.event,
            plan.question.purpose or shortened(plan.words),
            lambda: answered(plan, reading, bits, watch),
            ledger=ledger,
            dataset=dataset,
            guarantee=plan.guarantee,
            resuming=resuming,
        )
    finally:
        reading.close()
    meter = None if terms["entry"] is None else _meter(ledger, dataset, plan.event, budget)
    return TableRelease(
        **terms, **said, rules=rules, title=plan.title, accuracy=plan.accuracy, meter=meter
    )


def _meter(ledger: Any, dataset: str | None, event: Event, before: Any) -> Meter | None:
    """Return the meter after the payment; None on any error, because an error must not lose a paid answer."""
    with suppress(Exception), opened(ledger) as open_ledger:
        if before is not None:
            return meter_of(before, event, paid=False)
        return meter_of(open_ledger.show(dataset), event, paid=True)
    return None


def meter_of(budget: Any, event: Event, *, paid: bool) -> Meter:
    """Return the meter of a payment; with ``paid``, ``budget`` already includes the payment."""
    this = ACCOUNTANTS[budget.accountant].amount(event.under(budget.neighbours)).cost
    left = budget.remaining.cost - (0 if paid else this)
    spent = budget.total.cost - (this if paid else 0)
    symbol = ACCOUNTANTS[budget.accountant].symbol
    return Meter(exact_cost(spent), exact_cost(this), exact_cost(left), symbol)


def answered(
    plan: Plan, reading: Reading, bits: Bits, watch: Watch
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Run a paid plan and any plan that follows from its answer; return the release's fields and rules."""
    watch("reading", 0, 1)
    counted = reading(watch)
    found: list[Found] = []
    for each in plan.choose(counted, bits):
        found.append(each)
        watch("choosing", len(found), plan.answers)
    if plan.then is None:
        said = plan.said(found)
        return said, plan.rules + plan.rules_after(said["answer"])
    answer = found[0]["answer"]
    following, own = plan.then(answer), plan.rules + plan.rules_after(answer)
    if following is None:
        return {"answer": {}}, own
    said, rules = answered(following, following.read(bits), bits, watch)
    return said, rules + own


def paid(
    event: Event,
    purpose: str,
    work: Callable[[], T],
    *,
    ledger: AnyLedger | None,
    dataset: str | None,
    guarantee: Guarantee | None = None,
    resuming: Resuming | None = None,
) -> tuple[T, dict[str, Any]]:
    """Pay for an event, then call ``work``; return its result and the release's fields about the payment."""
    require_counted(ledger, dataset)
    guarantee = guarantee or guarantee_of(event)
    entry = None if resuming is None else resuming.entry
    with opened(ledger) as open_ledger:
        if open_ledger is not None and entry is None:
            try:
                entry = open_ledger.spend(dataset, event, purpose=purpose)
            except KeyboardInterrupt as stopped:
                stopped.args = (f"the history of {dataset!r} shows whether it was spent",)
                raise
        failure: BaseException
        try:
            with _heeding_interrupts() as heard:
                return work(), {
                    "guarantee": guarantee,
                    "mechanism": event.mechanism,
                    "neighbours": event.neighbours,
                    "entry": entry,
                }
        except (DiscreetError, KeyboardInterrupt, SystemExit) as error:
            failure = error
        except BaseException:
            # The original message may quote the data.
            failure = TableError("the question failed while it read the data; nothing is released")
        if heard and not isinstance(failure, SystemExit):
            # An engine may turn an interrupt into an error of its own, as DuckDB does.
            failure = KeyboardInterrupt("the question was stopped; nothing is released")
        if resuming is not None and isinstance(failure, KeyboardInterrupt):
            pass  # nothing was shown, so the next run draws again
        elif open_ledger is not None:
            # The spend stays and the failure is reported, even if the failure cannot be recorded.
            with suppress(LedgerError):
                open_ledger.fail(entry)
    if not isinstance(failure, SystemExit):
        failure.args = (
            "; ".join([*map(str, failure.args), _stays_spent(guarantee, entry, dataset)]),
        )
    # Raise this outside the handlers, without a cause or context that could quote an engine's message.
    failure.__cause__ = failure.__context__ = None
    raise failure.with_traceback(None)


@contextmanager
def _heeding_interrupts() -> Iterator[list[int]]:
    """Record interrupts that arrive inside the block; each still has its usual effect."""
    before, heard = signal.getsignal(signal.SIGINT), list[int]()
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield heard
        return

    def heed(number: int, frame: FrameType | None) -> Any:
        heard.append(number)
        return before(number, frame)

    signal.signal(signal.SIGINT, heed)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, before)


def _stays_spent(guarantee: Guarantee, entry: Any, dataset: str | None) -> str:
    """State what a failed release cost, and where to look that up."""
    symbols = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
    figures = ", ".join(
        f"{symbols[name]} = {figure(number)}" for name, number in guarantee.figures.items()
    )
    if entry is None:
        return f"no ledger is in use: treat {figures} as spent"
    return f"{figures} stays spent: {dataset}, entry {getattr(entry, 'sequence', entry)}"
