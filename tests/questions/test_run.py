"""The runner: check, pay, read, choose, release; and what errors may reveal at each step."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
import traceback
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from discreet import Exponential, PureDP
from discreet.accounting import Event
from discreet.errors import (
    BudgetExceededError,
    DiscreetError,
    LedgerError,
    NotPrivateError,
    ParameterError,
    TableError,
)
from discreet.ledger import Ledger
from discreet.questions import first_above, median, mode, quantile, quantiles, select_by, top_k
from discreet.questions.run import paid
from tests.tools.forking import forked
from tests.tools.waiting import until

VISITS = pl.DataFrame(
    {
        "person": range(300),
        "code": ["a"] * 200 + ["b"] * 100,
        "age": [i % 90 for i in range(300)],
        "clinic": ["u", "v"] * 150,
        "price": [Decimal(i) for i in range(300)],
    }
)
OPTIONS: dict[str, Any] = {"column": "code", "candidates": ["a", "b", "c"], "user": "person"}


class Notebook:
    """A ledger that records what it is given."""

    def __init__(self) -> None:
        self.spends: list[tuple[str, Event, str]] = []
        self.failures: list[int] = []

    def spend(self, dataset: str, event: Event, *, purpose: str) -> int:
        self.spends.append((dataset, event, purpose))
        return len(self.spends)

    def fail(self, entry: int) -> None:
        self.failures.append(entry)


def test_a_spend_comes_before_the_data_is_read() -> None:
    ledger = Notebook()
    release = mode(VISITS, epsilon=1, ledger=ledger, dataset="visits", where="age > 3", **OPTIONS)
    ((dataset, event, purpose),) = ledger.spends
    assert (dataset, purpose, release.entry) == ("visits", "mode of code, where age > 3", 1)
    assert event.guarantee.to(PureDP) == PureDP(1)
    assert (event.mechanism, event.neighbours, event.count) == ("permute-and-flip", "add-remove", 1)
    assert not ledger.failures


def test_wrong_parameters_spend_nothing() -> None:
    ledger = Notebook()
    numeric: dict[str, Any] = {"column": "age", "bounds": "0:100", "user": "person"}
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (mode, {**OPTIONS, "epsilon": float("inf")}, "epsilon=inf"),
        (mode, {**OPTIONS, "epsilon": 0}, "epsilon=0"),
        (mode, {**OPTIONS, "column": "nope"}, "'nope'"),
        (mode, {**OPTIONS, "user": "nope"}, "'nope'"),
        (mode, {**OPTIONS, "user": None}, "which person a row belongs to"),
        (mode, {**OPTIONS, "one_row_per_user": True}, "which person a row belongs to"),
        (mode, {**OPTIONS, "one_row_per_user": 1}, "True or False"),
        (mode, {**OPTIONS, "candidates": None}, "only values with enough people"),
        (mode, {**OPTIONS, "neighbours": "twins"}, "twins"),
        (mode, {**OPTIONS, "mechanism": "guess"}, "guess"),
        (mode, {**OPTIONS, "mechanism": 3}, "mechanism=3"),
        (mode, {**OPTIONS, "mechanism": Exponential(epsilon=1, optimize="min")}, "optimize"),
        (mode, {**OPTIONS, "by": "age"}, "by= needs groups="),
        (mode, {**OPTIONS, "groups": ["a"]}, "needs by="),
        (mode, {**OPTIONS, "by": "age", "groups": ["x"]}, "groups has 'x'"),
        (mode, {**OPTIONS, "groups_per_person": 2}, "needs by= and user="),
        (mode, {**OPTIONS, "where": "age >"}, "where="),
        (mode, {**OPTIONS, "with_count": True, "count_share": 1}, "count_share=1"),
        (mode, {**OPTIONS, "with_gap": True, "mechanism": "exponential"}, "with_gap"),
        (mode, {**OPTIONS, "with_gap": True, "candidates": ["a"]}, "two candidates"),
        (median, {**numeric, "column": "code"}, "needs numbers"),
        (median, {**numeric, "per_person": "any"}, "per_person='any'"),
        (median, {**numeric, "bounds": "9:1"}, "bounds=9:1"),
        (quantile, {**numeric, "at": 1}, "at=1"),
        (quantile, {**numeric, "at": "0.12345678"}, "six"),
        (quantiles, {**numeric, "at": "0.5"}, "list of levels"),
        (quantiles, {**numeric, "at": [0.5, 0.1]}, "increase"),
        (quantiles, {**numeric, "at": ["1/999983", "1/2"]}, "denominator"),
    ]
    for ask, options, words in wrong:
        with pytest.raises(ParameterError, match=words):
            ask(VISITS, ledger=ledger, dataset="visits", **{"epsilon": 1, **options})
    with pytest.raises(NotPrivateError):
        mode(
            VISITS,
            ledger=ledger,
            dataset="visits",
            epsilon=1,
            mechanism="exponential-randomized-response",
            **OPTIONS,
        )
    with pytest.raises(ParameterError, match="go together"):
        mode(VISITS, ledger=ledger, epsilon=1, **OPTIONS)
    assert not ledger.spends


def test_a_failure_after_the_spend_keeps_it_and_says_nothing() -> None:
    relation = duckdb.connect().sql(
        "SELECT CASE WHEN i = 7 THEN error('secret ' || i) ELSE 'a' END AS code, "
        "i AS person FROM range(9) t(i)"
    )
    ledger = Notebook()
    with pytest.raises(TableError) as caught:
        mode(relation, epsilon=1, ledger=ledger, dataset="visits", **OPTIONS)
    assert ledger.failures == [1]
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_a_real_ledger_refuses_what_does_not_fit(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("visits", PureDP(2))
        first = mode(VISITS, epsilon=1, ledger=ledger, dataset="visits", **OPTIONS)
        assert first.entry is not None
        assert "Ledger: visits #2" in str(first)
        with pytest.raises(BudgetExceededError):
            mode(VISITS, epsilon=2, ledger=ledger, dataset="visits", **OPTIONS)
        # A pure budget has no δ.
        with pytest.raises(DiscreetError):
            mode(
                VISITS,
                column="code",
                user="person",
                epsilon="0.5",
                delta="1e-6",
                ledger=ledger,
                dataset="visits",
            )
        assert ledger.show("visits").left == "ε = 1"


def test_a_release_holds_no_score() -> None:
    release = mode(VISITS, epsilon=1, **OPTIONS)
    assert "200" not in repr(release)
    assert release.count is None
    assert release.gap is None


@pytest.mark.parametrize("error", [ValueError("Zoë"), TableError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize("broken", [False, True])
def test_every_failure_after_the_spend_says_what_stays_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, broken: bool
) -> None:
    def work() -> None:
        raise error

    with Ledger.open(tmp_path / "budget.db") as ledger:
        ledger.create("clinic", PureDP(3))
        if broken:  # even the entry about the failure cannot be written
            monkeypatch.setattr(ledger, "fail", lambda _: ledger.show("nobody"))
        event = Event(PureDP(1), mechanism="permute-and-flip")
        with pytest.raises((TableError, KeyboardInterrupt)) as caught:
            paid(event, "mode", work, ledger=ledger, dataset="clinic")
    assert str(caught.value).endswith("ε = 1 stays spent: clinic, entry 2")
    assert "Zoë" not in str(caught.value)
    assert caught.value.__context__ is None
    with pytest.raises(
        (TableError, KeyboardInterrupt), match="no ledger is in use: treat ε = 1 as spent"
    ):
        paid(event, "mode", work, ledger=None, dataset=None)


def _endless(in_sqlite: bool, folder: Path) -> Any:
    """A database whose view ``many`` takes forever to count."""
    if in_sqlite:
        with sqlite3.connect(folder / "visits.db") as connection:
            connection.execute("CREATE TABLE visits (person bigint, code text)")
            values = ((person, "a") for person in range(9999))
            connection.executemany("INSERT INTO visits VALUES (?, ?)", values)
            connection.execute(
                "CREATE VIEW many AS SELECT a.person, a.code FROM visits a, visits b, visits c, visits d"
            )
        return f"sqlite:///{folder}/visits.db"
    with duckdb.connect(folder / "visits.db") as connection:
        source = "SELECT range % 99 AS person, 'a' AS code FROM range(1000000000000000)"
        connection.execute(f"CREATE VIEW many AS {source}")
    return f"duckdb:///{folder}/visits.db"


@pytest.mark.parametrize("in_sqlite", [False, True], ids=["duckdb", "sqlite"])
def test_an_interrupt_is_not_an_error_of_the_engine(tmp_path: Path, in_sqlite: bool) -> None:
    """DuckDB would turn an interrupt into its own error, and SQLite would notice it only after counting."""

    def interrupt(ledger: Ledger) -> None:
        until(lambda: len(list(ledger.history("clinic"))) > 1, "the payment")
        paid_at = time.process_time()
        until(lambda: time.process_time() > paid_at + 0.2, "the engine works")
        os.kill(os.getpid(), signal.SIGINT)

    def ask() -> bytes:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with Ledger.open(tmp_path / "budget.db") as ledger:
            ledger.create("clinic", PureDP(3))
            database = _endless(in_sqlite, tmp_path)
            threading.Thread(target=interrupt, args=(ledger,), daemon=True).start()
            with pytest.raises(KeyboardInterrupt, match="stays spent: clinic, entry 2"):
                mode(database, table="many", epsilon=1, ledger=ledger, dataset="clinic", **OPTIONS)
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            return " ".join(entry.kind for entry in ledger.history("clinic")).encode()

    assert forked(ask) == (0, b"create spend failed")


@pytest.mark.parametrize("ask", [mode, median, top_k, first_above, select_by])
def test_an_unknown_parameter_is_named_as_it_was_written(ask: Any) -> None:
    every: dict[Any, dict[str, Any]] = {
        mode: {"candidates": ["a"]},
        median: {"bounds": (0, 9)},
        top_k: {"candidates": ["a"], "k": 1},
        first_above: {"groups": ["a"], "above": 3},
        select_by: {"candidates": ["a"], "score": lambda *_: 0, "sensitivity": 1},
    }
    where = {} if ask is select_by else {"column": "code", "user": "person"}
    for wrong, guess in (("neighbors", r"did you mean neighbours=\?"), ("flavour", "lists them")):
        with pytest.raises(
            ParameterError, match=f"^{wrong}= is not a parameter.*{guess}"
        ) as caught:
            ask(VISITS, epsilon=1, **every[ask], **where, **{wrong: "x"})
        assert isinstance(caught.value, TypeError), "as Python has it for an unknown keyword"


def test_a_ledger_is_named_by_its_address(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    with Ledger.open(place) as ledger:
        ledger.create("clinic", PureDP(10))
    addresses: list[Path | str] = [place, str(place), f"sqlite:///{place}"]
    for number, address in enumerate(addresses, start=2):
        release = mode(VISITS, epsilon=1, ledger=address, dataset="clinic", **OPTIONS)
        assert release.entry.sequence == number
    with pytest.raises(LedgerError, match="there is no ledger"):
        mode(VISITS, epsilon=1, ledger=str(tmp_path / "no.db"), dataset="clinic", **OPTIONS)
    assert not (tmp_path / "no.db").exists()
    with pytest.raises(ParameterError, match="a ledger, or the address of one"):
        mode(VISITS, epsilon=1, ledger=7, dataset="clinic", **OPTIONS)  # type: ignore[arg-type]


STRANGE = {
    "huge": "1e400",
    "beyond floats": 10**400,
    "tiny": Fraction(1, 10**400),
    "beyond printing": 10**5000,
    "not a number": Decimal("NaN"),
    "signalling": Decimal("sNaN"),
    "astronomic": Decimal("1E+300000"),
}
"""Numbers that some arithmetic, or some ``repr``, trips over."""

_BY: dict[str, Any] = {"by": "clinic", "groups": ["u", "v"], "with_people": True}
ASKED: dict[str, Any] = {
    "epsilon": lambda x: mode(VISITS, epsilon=x, with_count=True, **OPTIONS, **_BY),
    "epsilon, replaced": lambda x: mode(VISITS, epsilon=x, neighbours="replace", **OPTIONS, **_BY),
    "epsilon, unknown": lambda x: top_k(
        VISITS, column="code", user="person", k=2, delta="1e-6", epsilon=x, with_count=True
    ),
    "epsilon, quantiles": lambda x: quantiles(
        VISITS, column="age", user="person", at=[0.1, 0.5], bounds="0:100", epsilon=x, **_BY
    ),
    "epsilon, large gap": lambda x: top_k(VISITS, k=2, epsilon=x, mechanism="large-gap", **OPTIONS),
    "delta": lambda x: mode(VISITS, column="code", user="person", epsilon=1, delta=x),
    "bounds": lambda x: median(VISITS, column="age", user="person", bounds=(0, x), epsilon=1),
    "step": lambda x: median(
        VISITS, column="age", user="person", bounds=(0, 10), step=x, epsilon=1
    ),
    "at": lambda x: quantile(VISITS, column="age", user="person", bounds="0:9", at=x, epsilon=1),
    "k": lambda x: top_k(VISITS, k=x, epsilon=1, **OPTIONS),
    "groups_per_person": lambda x: mode(VISITS, epsilon=1, groups_per_person=x, **OPTIONS, **_BY),
    "count_share": lambda x: mode(VISITS, epsilon=1, with_count=True, count_share=x, **OPTIONS),
    "candidates of texts": lambda x: mode(
        VISITS, column="code", user="person", candidates=["a", x], epsilon=1
    ),
    "candidates of numbers": lambda x: mode(
        VISITS, column="age", user="person", candidates=[1, x], epsilon=1
    ),
    "candidates of decimals": lambda x: mode(
        VISITS, column="price", user="person", candidates=[1, x], epsilon=1
    ),
    "sensitivity": lambda x: select_by(
        [1], candidates=[1, 2], score=lambda _, c: c, sensitivity=x, epsilon=1
    ),
}


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.filterwarnings("ignore::discreet.questions.NeverMatchesWarning")
def test_a_strange_number_is_used_or_refused(asked: str, strange: str) -> None:
    with suppress(DiscreetError):
        release = ASKED[asked](STRANGE[strange])
        assert str(release)
        assert release.as_data()


MANY = ["'a'"] * 2000


@pytest.mark.parametrize("where", [f"code in ({', '.join(MANY)})", "code = 'a'\n or\tcode = 'b'"])
def test_a_condition_may_be_longer_than_what_the_ledger_writes_down(
    where: str, tmp_path: Path
) -> None:
    """The condition may also have several lines: discreet, not the user, writes the ledger's purpose."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.create("d", PureDP(2))
        counted: dict[str, Any] = {"ledger": ledger, "dataset": "d", "epsilon": 1}
        assert mode(VISITS, **OPTIONS, **counted, where=where).answer in ("a", "b", "c")
        written = ledger.history("d")[-1].details["purpose"]
        assert written.startswith("mode of code, where code ")
        assert len(written) <= 1000
        with pytest.raises(ParameterError, match="purpose='xxx"):
            mode(VISITS, **OPTIONS, **counted, purpose="x" * 1001)
