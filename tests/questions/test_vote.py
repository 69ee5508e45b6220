"""Votes of blocks: the law from rows to answer, the rows that blocks get, refusals, charges and plans."""

from __future__ import annotations

import datetime
import functools
import pickle
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import PureDP
from discreet._exact.sampling import SecureBits
from discreet._isolated import BlockLimits, BlockRunner, is_enclosed, server
from discreet._tables import Rows, dealing
from discreet._tables.in_spark import Spark
from discreet.accounting import compose
from discreet.audit import Tables, audit, unrolled
from discreet.audit.subjects import Failure
from discreet.errors import ParameterError, ScoresError
from discreet.ledger import Ledger
from discreet.questions import Question, Vote, recommended_blocks
from discreet.questions import vote as vote_module_function
from discreet.questions.plan import unwatched
from discreet.questions.run import answered
from discreet.questions.vote import RANGE_DISTANCE
from tests.tools.choices import let_choose

vote_module = __import__("discreet.questions.vote", fromlist=["Vote"])
assert vote_module_function.__name__ == "vote"
YES_NO = ["yes", "no"]


class InThisProcess:
    """A BlockRunner that calls the function in this process, for tests of everything around it."""

    rehearsed: ClassVar[list[Any]] = []
    seen: ClassVar[list[Any]] = []

    def __init__(self, function: bytes, *, candidates: Sequence[Any], limits: BlockLimits) -> None:
        self.function, self.candidates = pickle.loads(function), list(candidates)  # noqa: S301
        assert limits.seconds > 0

    def rehearse(self, rows: bytes, *, hint: str) -> int:
        assert ("invented" in hint) or not hint
        InThisProcess.rehearsed.append(server._rows(rows))
        return 0

    def votes(self, blocks: Sequence[Callable[[], bytes]], ended: Any) -> list[int | None]:
        votes = [self._vote(block) for block in blocks]
        ended(len(votes), len(votes))
        return votes

    def _vote(self, block: Callable[[], bytes]) -> int | None:
        rows = server._rows(block())
        InThisProcess.seen.append(rows)
        try:
            place = server._place(self.function(rows), self.candidates)
        except Exception:
            return None
        return None if place < 0 else place

    def close(self) -> None:
        pass


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[InThisProcess]]:
    monkeypatch.setattr(vote_module, "BlockRunner", InThisProcess)
    InThisProcess.rehearsed, InThisProcess.seen = [], []
    yield InThisProcess
    InThisProcess.rehearsed, InThisProcess.seen = [], []


# ---- the law, from rows to answer --------------------------------------------------------------------------

Choose = Callable[[Any], Any]
PATHS: list[Choose] = []


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch, here: type[InThisProcess]) -> None:
    """Replace every draw (choice, everyone's block, order of rows) by the next step of the current path."""
    assert here

    def blocks(_bits: Any, bound: int, *, count: int) -> Any:
        each = [Fraction(1, bound)] * bound
        return np.array([PATHS[-1](each) for _ in range(count)], dtype=np.int64)

    def order(count: int, _bits: Any) -> Any:
        orders = list(permutations(range(count)))
        return np.array(orders[PATHS[-1]([Fraction(1, len(orders))] * len(orders))], dtype=np.int64)

    let_choose(
        monkeypatch,
        lambda mechanism, scores: int(PATHS[-1](mechanism.ball_probabilities(scores))),
    )
    monkeypatch.setattr(dealing, "uniform_indices", blocks)
    monkeypatch.setattr(dealing, "_shuffled", order)
    # A table's rows are read once and dealt in every way, because reading does not depend on the coins.
    held, read = dealing.Dealer._held, dict[int, Any]()

    def once(dealer: Any) -> Any:
        if id(dealer) not in read:
            read[id(dealer)] = (dealer, held(dealer))
        return read[id(dealer)][1]

    monkeypatch.setattr(dealing.Dealer, "_held", once)


def law_of(
    function: Any, neighbours: str, *, by_user: bool = True, blocks: int = 2, epsilon: int = 1
) -> Any:
    """Return the law of the answer over all coins; each path does what ``ask`` does after the payment."""

    @functools.cache
    def planned(people: tuple[Any, ...]) -> tuple[Any, Any]:
        rows = [(number, value) for number, person in enumerate(people) for value in person]
        frame = pl.DataFrame(rows, schema={"person": pl.Int64, "value": pl.String}, orient="row")
        whose: dict[str, Any] = {"user": "person"} if by_user else {"one_row_per_user": True}
        table = discreet.table(frame, neighbours=neighbours, ledger=None, **whose)
        plan = table.plan(
            Vote(function, candidates=YES_NO, blocks=blocks, columns=["value"], epsilon=epsilon)
        )
        return plan, plan.read(SecureBits())

    def run(people: tuple[Any, ...], choose: Choose) -> Any:
        plan, reading = planned(people)
        PATHS.append(choose)
        try:
            return answered(plan, reading, SecureBits(), unwatched)[0]["answer"]
        finally:
            PATHS.pop()

    return unrolled(run)


def swayed(rows: pl.DataFrame) -> str:
    """The worst function: one person flips the vote of their block."""
    return "yes" if "x" in rows["value"].to_list() else "no"


def failing(rows: pl.DataFrame) -> str:
    if "x" in rows["value"].to_list():
        raise ValueError("a secret")
    return "yes"


def first(rows: pl.DataFrame) -> str | None:
    """Vote by the first row; the order of rows is drawn at random."""
    values = rows["value"].to_list()
    return None if not values else "yes" if values[0] == "x" else "no"


RELATIONS = ("add-remove", "replace")
X, Y, XX, XY = ("x",), ("y",), ("x", "x"), ("x", "y")
PEOPLE_FOR = {swayed: (X, Y, XX), first: (X, Y, XY)}
"""The people for each function: two rows could sway two blocks, or the order of two rows decides."""


def audited(law: Any, neighbours: str, people: Sequence[Any] = (X, Y)) -> Any:
    """Return the verdict on all tables of up to two people; larger tables would take hours."""
    tables = Tables(people, rows=2, most=2, neighbours=neighbours)
    return audit(law, PureDP(1), inputs=tables, effort="quick")


@pytest.mark.parametrize("neighbours", RELATIONS)
@pytest.mark.parametrize("function", [swayed, failing, first])
def test_one_person_changes_the_answer_by_no_more_than_epsilon(
    followed: None, neighbours: str, function: Any
) -> None:
    law = law_of(function, neighbours)
    verdict = audited(law, neighbours, PEOPLE_FOR.get(function, (X, Y)))
    assert verdict.holds, str(verdict)
    assert verdict.worst is not None
    assert not any(isinstance(answer, Failure) for answer in verdict.worst.answers)


@pytest.mark.parametrize("neighbours", RELATIONS)
def test_without_a_user_every_row_gets_a_coin_of_its_own(followed: None, neighbours: str) -> None:
    assert audited(law_of(swayed, neighbours, by_user=False), neighbours).holds


def test_the_price_is_not_far_too_high(followed: None) -> None:
    """With one block the coins hide nothing, and one person flips the only vote."""
    verdict = audited(law_of(swayed, "replace", blocks=1), "replace")
    assert verdict.holds
    assert verdict.measured > 0.8


def test_a_distance_of_one_is_refuted(followed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Votes look like counts, but a person may move a vote from one candidate to another."""
    monkeypatch.setattr(vote_module, "RANGE_DISTANCE", 1)
    monkeypatch.setattr(dealing, "uniform_indices", lambda _b, _n, *, count: np.zeros(count, int))
    assert not audited(law_of(swayed, "add-remove"), "add-remove").holds


# ---- functions that cheat, from rows to answer -------------------------------------------------------------

NOTES = ["discreet-cheats", "/tmp/discreet-cheats", "/dev/shm/discreet-cheats"]  # noqa: S108
SEEN_BEFORE: list[str] = []


def remembering(rows: pl.DataFrame) -> str:
    """Vote depending on the rows of earlier blocks."""
    SEEN_BEFORE.extend(rows["value"].to_list())
    return "yes" if "x" in SEEN_BEFORE else "no"


def communicating(rows: pl.DataFrame) -> str:
    """Vote depending on the rows of other blocks, learnt through a file, even while the blocks run."""
    import contextlib
    import os
    import time

    for note in NOTES if "x" in rows["value"].to_list() else ():
        with contextlib.suppress(OSError), open(note, "w") as file:
            file.write("x")
    time.sleep(0.05)
    return "yes" if any(map(os.path.exists, NOTES)) else "no"


def sleeping(rows: pl.DataFrame) -> str:
    import time

    if "x" in rows["value"].to_list():
        time.sleep(0.05)
        return "yes"
    return "no"


def without_notes() -> None:
    SEEN_BEFORE.clear()
    for note in NOTES:
        Path(note).unlink(missing_ok=True)


class InProcesses:
    """Real processes, with one server for all tables of an audit; equal blocks vote only once."""

    runners: ClassVar[dict[bytes, BlockRunner]] = {}
    rehearsed: ClassVar[set[bytes]] = set()
    cast: ClassVar[dict[Any, list[int | None]]] = {}

    def __init__(self, function: bytes, *, candidates: Sequence[Any], limits: BlockLimits) -> None:
        self.function = function
        if function not in self.runners:
            self.runners[function] = BlockRunner(function, candidates=candidates, limits=limits)

    def rehearse(self, rows: bytes, *, hint: str) -> None:
        if self.function not in self.rehearsed:
            self.runners[self.function].rehearse(rows, hint=hint)
            self.rehearsed.add(self.function)

    def votes(self, blocks: Sequence[Callable[[], bytes]], _ended: Any) -> list[int | None]:
        sent = tuple(block() for block in blocks)
        if (self.function, sent) not in self.cast:
            without_notes()
            pieces = [functools.partial(bytes, each) for each in sent]
            self.cast[self.function, sent] = self.runners[self.function].votes(pieces)
        return self.cast[self.function, sent]

    @classmethod
    def closed(cls) -> None:
        while cls.runners:
            cls.runners.popitem()[1].close()
        cls.cast.clear()
        cls.rehearsed.clear()


@pytest.mark.skipif(not is_enclosed(), reason="this kernel does not separate blocks")
@pytest.mark.parametrize("function", [remembering, communicating, failing, sleeping])
def test_a_function_that_cheats_learns_no_more_than_epsilon(
    followed: None, monkeypatch: pytest.MonkeyPatch, function: Any
) -> None:
    monkeypatch.setattr(vote_module, "BlockRunner", InProcesses)
    try:
        verdicts = [audited(law_of(function, each), each) for each in RELATIONS]
    finally:
        InProcesses.closed()
    for verdict in verdicts:
        assert verdict.holds, str(verdict)
        assert verdict.measured > 0.1, "the function is swayed by one person"


@pytest.mark.parametrize("function", [remembering, communicating])
def test_the_audit_sees_blocks_that_are_not_apart(
    followed: None, monkeypatch: pytest.MonkeyPatch, function: Any
) -> None:
    """If the same functions run in one process, one person moves every later vote, and ε is exceeded."""
    votes = InThisProcess.votes

    def one_release(*given: Any) -> Any:
        without_notes()
        return votes(*given)

    monkeypatch.setattr(InThisProcess, "votes", one_release)
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    monkeypatch.setattr(vote_module, "packed", lambda function: function)
    monkeypatch.setattr(pickle, "loads", lambda function: function)
    try:
        verdict = audited(law_of(function, "add-remove"), "add-remove")
    finally:
        without_notes()
    assert not verdict.holds


def test_a_partition_that_is_known_moves_two_votes_under_replacement(
    here: type[InThisProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without coins the new person may be in a different block: a lead changes by 4 instead of 2."""
    assert here

    def opposed(rows: pl.DataFrame) -> str:
        return "yes" if rows["value"].to_list() in (["x"], ["y", "y"]) else "no"

    def lead(values: str) -> int:
        known = np.array([int(value == "x") for value in values])
        monkeypatch.setattr(dealing, "uniform_indices", lambda *_, count: known[:count])
        frame = pl.DataFrame({"value": list(values)})
        table = discreet.table(frame, one_row_per_user=True, ledger=None)
        plan = table.plan(Vote(opposed, candidates=YES_NO, blocks=2, epsilon=1))
        yes, no = plan.read(SecureBits())()
        return int(yes - no)

    assert lead("xyy") - lead("xxy") == 4


def test_the_range_distance_is_that_of_the_page() -> None:
    assert RANGE_DISTANCE == 2


# ---- what blocks are sent ----------------------------------------------------------------------------------

PEOPLE = 40
DATA: dict[str, Any] = {
    "person": [number // 2 for number in range(2 * PEOPLE)],
    "age": [20 + number // 2 for number in range(2 * PEOPLE)],
    "name": [f"n{number // 2}" for number in range(2 * PEOPLE)],
}


def counting(rows: Any) -> str:
    return "yes" if len(rows) else "no"


def dealt(here: type[InThisProcess], data: Any, **terms: Any) -> list[dict[str, Any]]:
    """Return the rows that five blocks of a table get, as plain data."""
    fields = {name: terms.pop(name) for name in ("columns", "where") if name in terms}
    table = discreet.table(data, user="person", ledger=None, **terms)
    table.ask(Vote(counting, candidates=YES_NO, blocks=5, epsilon=1, **fields))
    assert len(here.seen) == 5
    together: list[dict[str, Any]] = []
    for rows in here.seen:
        assert isinstance(rows, type(data) if type(data) in KINDS else pa.Table)
        plain = KINDS.get(type(rows), pa.Table.to_pylist)(rows)
        people = {row["person"] for row in plain}
        assert all(sum(row["person"] == who for row in plain) == 2 for who in people)
        together += plain
    # The rehearsal uses invented rows of the same kind.
    assert all(isinstance(rows, type(here.seen[0])) for rows in here.rehearsed)
    return together


KINDS: dict[type, Callable[[Any], list[dict[str, Any]]]] = {
    pd.DataFrame: lambda frame: frame.to_dict("records"),
    pl.DataFrame: pl.DataFrame.to_dicts,
    pl.LazyFrame: lambda frame: frame.collect().to_dicts(),
}


@pytest.mark.skips_engines(spark="votes of blocks are refused in a cluster")
def test_every_person_is_in_one_block_with_all_of_their_rows(
    table_in: Any, here: type[InThisProcess]
) -> None:
    data = table_in(DATA)
    is_text = str(data).endswith((".csv", ".jsonl"))
    where = None if is_text else "age >= 30"
    together = dealt(here, data, columns=["person", "age", "name"], where=where)
    expected = sorted(
        (str(who), str(age), name)
        for who, age, name in zip(*DATA.values(), strict=True)
        if is_text or age >= 30
    )
    assert (
        sorted((str(row["person"]), str(row["age"]), row["name"]) for row in together) == expected
    )


def test_a_cluster_is_refused() -> None:
    """Uses only the engine's name, because Spark takes half a minute to start."""
    assert Spark.name == "spark"
    table: Any = SimpleNamespace(engine=SimpleNamespace(name="spark"))
    with pytest.raises(ParameterError, match="do not run in a cluster"):
        dealing.dealer(object(), table, Rows(), None)


TYPED: dict[str, list[Any]] = {
    "person": ["a", "a", "b", "b", "c", "c"],
    "n": [1, None, -(2**53) - 1, 4, 5, 6],
    "x": [0.5, -1e300, None, 4.25, 5.0, 6.0],
    "price": [Decimal("0.10"), Decimal("-3.25"), None, Decimal(4), Decimal(5), Decimal(6)],
    "ok": [True, False, None, True, True, False],
    "day": [datetime.date(1999, 12, 31), None, *[datetime.date(2024, 2, 29)] * 4],
    "moment": [datetime.datetime(2024, 2, 29, 23, 59, 59, 250_000), None]
    + [datetime.datetime(1969, 7, 20, 20, 17)] * 4,
}
DECLARED = (
    "person TEXT, n BIGINT, x DOUBLE PRECISION, price NUMERIC(10, 2), ok BOOLEAN, day DATE, "
    "moment TIMESTAMP"
)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgresql"])
def test_rows_of_a_database_come_in_the_types_that_it_declares(
    kind: str, tmp_path: Path, here: type[InThisProcess], request: pytest.FixtureRequest
) -> None:
    addresses = {
        "sqlite": f"sqlite:///{tmp_path / 'a.db'}",
        "duckdb": f"duckdb:///{tmp_path}/a.duckdb",
    }
    address = addresses.get(kind) or request.getfixturevalue("postgres")
    rows = list(zip(*TYPED.values(), strict=True))
    if kind == "postgresql":
        import psycopg

        with psycopg.connect(address) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE people ({DECLARED})")
            cursor.executemany(f"INSERT INTO people VALUES ({', '.join(['%s'] * 7)})", rows)  # noqa: S608
    else:
        import duckdb

        opened: Any = sqlite3 if kind == "sqlite" else duckdb
        connection = opened.connect(address.partition(":///")[2])
        connection.execute(f"CREATE TABLE people ({DECLARED})")
        if kind == "sqlite":
            rows = [
                tuple(
                    value if isinstance(value, str | int | float | None) else str(value)
                    for value in row
                )
                for row in rows
            ]
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * 7)})", rows)  # noqa: S608
        connection.commit()
        connection.close()
    together = dealt(here, address, table="people")
    floats = [None if price is None else float(price) for price in TYPED["price"]]
    expected = zip(*(TYPED | {"price": floats}).values(), strict=True)
    assert sorted(map(str, (tuple(row[name] for name in TYPED) for row in together))) == sorted(
        map(str, expected)
    )


@pytest.mark.parametrize("values", [list("abcdef"), np.arange(6)], ids=["list", "array"])
def test_a_list_is_dealt_value_by_value(values: Any, here: type[InThisProcess]) -> None:
    table = discreet.table(values, one_row_per_user=True, ledger=None)
    table.ask(Vote(counting, candidates=YES_NO, blocks=3, epsilon=1))
    assert sorted(value for rows in here.seen for value in rows) == sorted(values)
    assert all(isinstance(rows, type(values)) for rows in here.seen)


def test_nothing_but_its_own_rows_reaches_a_block() -> None:
    """An index, a list of categories, metadata and an order would reveal rows of other blocks."""
    frame = pd.DataFrame(
        {"name": pd.Categorical(["ann", "bob", "zoe"]), "any": ["t", 7, None], "age": [1, 2, 3]},
        index=[100, 200, 300],
    )
    frame.attrs["seen"] = "everybody"
    sent = server._rows(dealing._Held(frame, ["name", "any", "age"]).sent(np.array([1])))
    assert list(sent.index) == [0]
    assert list(sent["name"].cat.categories) == ["bob"]
    assert sent.attrs == {}
    assert sent["any"].tolist() == [None]
    table = pa.table({"name": pa.array(["ann", "bob"]).dictionary_encode()}, metadata={"a": "b"})
    raw = dealing._Held(table, ["name"]).sent(np.array([1]))
    assert b"ann" not in raw
    assert server._rows(raw).schema.metadata is None
    polars = pl.DataFrame({"name": ["ann", "bob"]}, schema={"name": pl.Categorical})
    assert b"ann" not in dealing._Held(polars, ["name"]).sent(np.array([1]))
    listed = dealing._Held(["ann", "bob"], ["value"]).sent(np.array([1]))
    assert b"ann" not in listed


def test_other_rows_decide_no_width_and_no_order() -> None:
    """NumPy makes room for the longest text of all; categories may be listed as they first occurred."""
    for kind, own in (("U", ["bob", "al"]), ("S", [b"bob", b"al"])):
        sent = [
            dealing._Held(np.array([*own, other], dtype=kind), ["value"]).sent(np.array([0, 1]))
            for other in (own[0], own[0] * 9)
        ]
        assert sent[0] == sent[1]
        assert server._rows(sent[0]).tolist() == own
    frames = [
        pd.DataFrame({"name": pd.Categorical(["x", "b", "a"], categories=order)})
        for order in (["x", "a", "b"], ["x", "b", "a"])
    ]
    first, second = (
        server._rows(dealing._Held(frame, ["name"]).sent(np.array([2, 1]))) for frame in frames
    )
    assert list(first["name"].cat.categories) == list(second["name"].cat.categories) == ["a", "b"]
    declared = pd.Categorical(["high", "low"], categories=["low", "mid", "high"], ordered=True)
    kept = server._rows(
        dealing._Held(pd.DataFrame({"name": declared}), ["name"]).sent(np.arange(2))
    )
    assert list(kept["name"].cat.categories) == ["low", "high"]


def test_the_order_of_rows_is_drawn() -> None:
    """All six orders of three rows occur in 600 draws; one is missing with probability below 10⁻⁴⁶."""
    bits = SecureBits()
    seen = {tuple(dealing._shuffled(3, bits).tolist()) for _ in range(600)}
    assert seen == set(permutations(range(3)))


def test_people_are_dealt_evenly() -> None:
    """With 4,000 people in four blocks, a count is off by 220 (8 σ) with probability below 10⁻¹⁴."""
    frame = pl.DataFrame({"value": range(4000)})
    table = discreet.table(frame, one_row_per_user=True, ledger=None)
    plan = table.plan(Vote(counting, candidates=YES_NO, blocks=4, epsilon=1))
    reading: Any = plan.read(SecureBits())
    sizes = [len(server._rows(piece())) for piece in reading.dealer.deal(4, SecureBits())]
    assert sum(sizes) == 4000
    assert all(abs(size - 1000) < 220 for size in sizes)


def test_odd_values_raise_nothing_after_the_payment(
    tmp_path: Path, here: type[InThisProcess]
) -> None:
    with sqlite3.connect(tmp_path / "odd.db") as connection:
        connection.execute(
            "CREATE TABLE odd (who INTEGER, day DATE, at TIMESTAMP, n INTEGER, x REAL)"
        )
        connection.executemany(
            "INSERT INTO odd VALUES (?, ?, ?, ?, ?)",
            [
                (1, "2024-02-31", "no", "many", "x"),
                (2, "2024-02-28", "2024-02-28 12:00:00", 2**62, 1e308),
                (None, "now", None, None, None),
                (3, b"\xff", b"\xff", b"\xff", b"\xff"),
            ],
        )
    connection.close()
    address = f"sqlite:///{tmp_path / 'odd.db'}"
    table = discreet.table(address, table="odd", user="who", ledger=None)
    table.ask(Vote(counting, candidates=YES_NO, blocks=1, epsilon=1))
    (rows,) = here.seen
    assert rows.num_rows == 3
    assert sorted(map(str, rows["n"].to_pylist())) == ["4611686018427387904", "None", "None"]


# ---- before the payment ------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Any]:
    with Ledger.open(str(tmp_path / "budget.db")) as opened:
        opened.create("people", PureDP(3))
        yield opened


def asked(ledger: Any, function: Any, **fields: Any) -> Any:
    table = discreet.table(
        pl.DataFrame(DATA), user="person", ledger=ledger, dataset="people", people=PEOPLE
    )
    stated: dict[str, Any] = {"candidates": YES_NO, "epsilon": 1, "blocks": 4} | fields
    return table.ask(Vote(function, **stated))


def test_an_answer_is_paid_once_and_the_function_runs_in_processes_of_its_own(ledger: Any) -> None:
    release = asked(ledger, counting, epsilon=2, with_voted=True)
    assert release.guarantee == PureDP(2)
    assert release.answer in YES_NO
    assert release.voted_within is not None
    assert ledger.show("people").left == "ε = 1"
    assert "votes of 4 blocks by counting" in str(ledger.history("people"))


def test_whoever_watches_is_told_of_every_block_that_has_ended() -> None:
    table = discreet.table(pl.DataFrame(DATA), user="person", ledger=None, people=PEOPLE)
    told: list[tuple[str, int, int]] = []
    question = Vote(counting, candidates=YES_NO, epsilon=1, blocks=3)
    table.ask(question, watch=lambda *each: told.append(each))
    assert [each for each in told if each[0] == "voting"] == [
        ("voting", done, 3) for done in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda rows: rows["no such column"], r"no such column(.|\n)*rehearse_on"),
        (lambda _rows: None, "returned None"),
        (lambda _rows: "purple", "not a candidate"),
    ],
)
def test_nothing_is_paid_before_the_function_has_voted_once(
    ledger: Any, function: Any, words: str
) -> None:
    with pytest.raises(ParameterError, match=words):
        asked(ledger, function)
    assert ledger.show("people").left == "ε = 3"


def test_a_budget_that_is_too_small_ends_the_clean_process(ledger: Any) -> None:
    with pytest.raises(discreet.errors.BudgetExceededError):
        asked(ledger, counting, epsilon=4)
    assert ledger.show("people").left == "ε = 3"


def test_a_function_is_rehearsed_on_the_askers_public_rows(here: type[InThisProcess]) -> None:
    public = pl.DataFrame({"person": [1], "age": [77], "name": ["public"]})
    table = discreet.table(pl.DataFrame(DATA), user="person", ledger=None)
    question = Vote(counting, candidates=YES_NO, blocks=2, epsilon=1, rehearse_on=public)
    table.ask(question)
    assert here.rehearsed[0]["age"].to_list() == [77]
    rehearsed = table.rehearse(question)
    assert rehearsed.invented
    assert all(set(rows["age"].to_list()) <= {77} for rows in here.seen[2:])


def test_listed_values_are_among_the_invented_ones(here: type[InThisProcess]) -> None:
    listed = {"name": ["ann", "bob"]}
    table = discreet.table(pd.DataFrame(DATA), user="person", ledger=None, listed=listed)
    table.ask(Vote(counting, candidates=YES_NO, blocks=2, epsilon=1))
    assert set(here.rehearsed[0]["name"]) == {"ann", "bob"}
    assert here.rehearsed[0]["age"].dtype == np.int64


FRAME = pd.DataFrame(DATA)
SEEN = np.arange(9)


def test_a_function_that_carries_rows_is_refused() -> None:
    table = discreet.table(FRAME, user="person", ledger=None)
    for function in (lambda rows: FRAME["age"][0], lambda rows: SEEN[0]):
        with pytest.raises(ParameterError, match="carries"):
            table.plan(Vote(function, candidates=YES_NO, epsilon=1))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"candidates": None}, "candidates"),
        ({"candidates": []}, "at least one"),
        ({"candidates": ["a", "a"]}, "candidate"),
        ({"function": "trend"}, "register"),
        ({"blocks": 0}, "blocks"),
        ({"columns": ["no such"]}, "no such"),
        ({"mechanism": "large-gap"}, "proved for them"),
    ],
)
def test_wrong_fields_are_refused_before_anything_is_read(
    fields: dict[str, Any], words: str
) -> None:
    given: dict[str, Any] = {"function": counting, "candidates": YES_NO, "epsilon": 1} | fields
    table = discreet.table(pl.DataFrame(DATA), user="person", ledger=None)
    with pytest.raises((ParameterError, ScoresError), match=words):
        table.plan(Vote(given.pop("function"), **given))


def test_a_counted_table_is_refused() -> None:
    table = discreet.table(pl.DataFrame({"n": [1], "x": ["a"]}), counted="n", ledger=None)
    with pytest.raises(ParameterError, match="counted"):
        table.plan(Vote(counting, candidates=YES_NO, epsilon=1))


def test_plain_data_names_a_registered_function_and_never_code() -> None:
    with pytest.raises(ParameterError, match="registered"):
        Vote(counting, candidates=YES_NO, epsilon=1).to_dict()
    named = Question.from_dict(
        {"kind": "vote", "function": "os:system", "epsilon": 1, "candidates": ["a"]}
    )
    table = discreet.table(pl.DataFrame(DATA), user="person", ledger=None)
    with pytest.raises(ParameterError, match="only the owner of a desk can register a name"):
        table.plan(named)


# ---- the plan ----------------------------------------------------------------------------------------------


def test_the_plan_says_how_large_a_lead_is_needed_and_how_sure_the_answer_is() -> None:
    table = discreet.table(pl.DataFrame(DATA), user="person", ledger=None, people=3000)
    plan = table.plan(Vote(counting, candidates=["a", "b", "c"], blocks=60, epsilon=1))
    words = str(plan)
    assert "A lead of 9 votes decides 19 times out of 20" in words
    assert "If seven of ten blocks agree" in words
    assert "about 50 into each" in words
    assert plan.accuracy is not None
    assert plan.accuracy.judgement == "useful"
    assert plan.guarantee.proof is not None
    assert plan.guarantee.proof.theorems == ("votes_pure_dp",)
    assert "no block learns" in str(plan.proof)


@pytest.mark.parametrize("mechanism", ["permute-and-flip", "exponential", "noisy-max-laplace"])
def test_one_theorem_covers_the_rho_of_votes_and_their_number(mechanism: str) -> None:
    table = discreet.table(pl.DataFrame(DATA), user="person", ledger=None, people=3000)
    asked = Vote(counting, candidates=["a", "b"], blocks=60, epsilon=1, mechanism=mechanism)
    in_rho = compose([table.plan(asked).event]).zcdp.proof
    assert in_rho is not None
    assert in_rho.theorems == ("votes_zcdp",)
    numbered = table.plan(replace(asked, with_voted=True)).guarantee.proof
    assert numbered is not None
    assert numbered.theorems == ("votes_with_number_pure_dp",)


def test_too_few_people_or_blocks_are_judged() -> None:
    table = discreet.table(pl.DataFrame(DATA), user="person", ledger=None, people=100)
    crowded = table.plan(Vote(counting, candidates=["a", "b"], blocks=50, epsilon=2)).accuracy
    few = table.plan(Vote(counting, candidates=["a", "b"], blocks=2, epsilon="0.1")).accuracy
    assert crowded is not None
    assert few is not None
    assert crowded.judgement == "doubtful"
    assert "too few to vote well" in str(crowded)
    assert few.judgement == "no better than guessing"


def test_both_relations_cost_the_same() -> None:
    prices = {
        discreet.table(pl.DataFrame(DATA), user="person", ledger=None, neighbours=relation)
        .plan(Vote(counting, candidates=["a", "b"], epsilon=1))
        .price
        for relation in RELATIONS
    }
    assert prices == {Fraction(1)}


def test_the_plan_says_where_nothing_is_enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vote_module, "is_enclosed", lambda: False)
    table = discreet.table(pl.DataFrame(DATA), user="person", ledger=None)
    assert "you have to trust" in str(table.plan(Vote(counting, candidates=YES_NO, epsilon=1)))


def test_the_least_epsilon_for_a_lead_is_found(here: type[InThisProcess]) -> None:
    assert here
    table = discreet.table(pl.DataFrame(DATA), user="person", ledger=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = table.plan(Vote(counting, candidates=YES_NO, blocks=40, error_at_most=10))
    assert plan.accuracy is not None
    assert plan.accuracy.worst is not None
    assert plan.accuracy.worst <= 10


def test_the_recommended_number_of_blocks() -> None:
    assert recommended_blocks(1, 3) == 41
    assert recommended_blocks("0.01", 3) == 100
    assert recommended_blocks(1, 3, people=178) == 17
    assert recommended_blocks(1, 3, people=30) == 3
    assert recommended_blocks(1, 3, people=5) == 2
    more = [recommended_blocks(epsilon, 3, people=10**6) for epsilon in (4, 1, "0.25")]
    assert more == sorted(more)
