"""The owner's file: the tables to ask about, their public facts, and how much each analyst may spend."""

from __future__ import annotations

import ipaddress
import re
import tomllib
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from discreet._exact.numbers.exact import echo, positive
from discreet.errors import ParameterError
from discreet.questions.candidates import named_candidates
from discreet.questions.periods import is_range
from discreet.questions.question import KINDS
from discreet.questions.select_by import one_or_several


def _kind(value: Any) -> Any:
    known = [name for name, kind in KINDS.items() if kind.completed_by]
    if value not in known:
        raise ParameterError(f"it must be one of {', '.join(known)}")
    return value


Kind = Annotated[str, BeforeValidator(_kind)]
"""The kinds of question that a desk answers; the owner sets a slot for each."""

_SLOT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m)?")
_UNITS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60)}
_LONGEST_SLOT = 3600


def _seconds(value: Any) -> Any:
    found = _SLOT.fullmatch(str(value).strip())
    seconds = Fraction(found[1]) * _UNITS[found[2] or "s"] if found else Fraction(0)
    if not 0 < seconds <= _LONGEST_SLOT:
        raise ParameterError('it must be a duration such as "2s" or "500ms", an hour at most')
    return float(seconds)


def _amount(value: Any) -> Any:
    try:
        return positive("epsilon", value)
    except ParameterError:
        raise ParameterError("it must be a finite number above 0") from None


Seconds = Annotated[float, BeforeValidator(_seconds)]
Amount = Annotated[Fraction, BeforeValidator(_amount)]
Sensitivity = Annotated[Any, BeforeValidator(partial(one_or_several, "sensitivity"))]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Value = str | bool | int | Decimal | datetime | date | time


class _Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, strict=True
    )


class Column(_Section):
    """The public facts about a column: its candidates, its bounds, or both.

    Attributes:
        candidates: the possible answers in the owner's order, or the file that lists them; also the groups,
            if ``by`` names this column.
        bounds: the smallest and the largest value, for medians and quantiles.
        step: the distance between grid points.
    """

    candidates: str | list[Value] | None = None
    bounds: list[Value] | None = Field(default=None, min_length=2, max_length=2)
    step: Value = 1

    @model_validator(mode="after")
    def _something_public(self) -> Self:
        if self.candidates is None and self.bounds is None:
            raise ParameterError(
                "it must have candidates or bounds, the public facts about the column"
            )
        return self

    def listed(self) -> list[Value]:
        """Return the list of candidates; a file that lists them must have been read before."""
        assert not isinstance(self.candidates, str)
        return self.candidates or []


class _Registered(_Section):
    """A function in one of the owner's files, and its public list of candidates."""

    file: str
    function: str
    candidates: str | list[Value]

    def listed(self) -> list[Value]:
        """Return the list of candidates; a file that lists them must have been read before."""
        assert not isinstance(self.candidates, str)
        return self.candidates


class RegisteredScore(_Registered):
    """A score function of the owner: analysts may ask which candidate scores best, but cannot change it.

    Attributes:
        file: the Python file that has the function; a relative path starts in the folder of the owner's file.
        function: its name; it is called with the table's source and a candidate.
        candidates: the possible answers, or the file that lists them.
        sensitivity: the most by which one person changes any one score, or a list with one number for each
            candidate.
        monotonic: whether one person moves all scores in the same direction.
        optimize: ``"max"``, or ``"min"`` if the smallest score is the best.
    """

    sensitivity: Sensitivity
    monotonic: bool = False
    optimize: Literal["max", "min"] = "max"


class RegisteredVote(_Registered):
    """An owner's function that computes the vote of a block: analysts may use it, but cannot change it.

    Attributes:
        file: the Python file that has the function; a relative path starts in the folder of the owner's file.
        function: its name; it is called with the rows of one block, an Arrow table.
        candidates: the possible answers, or the file that lists them.
        blocks: how many blocks vote; by default the number recommended for ε, the candidates and the people.
        seconds: how many seconds of processor time a block may use.
        gigabytes: how many gigabytes of memory a block may use.
        columns: the columns that the function needs; by default all.
        rehearse_on: a file of public rows on which the function is tried before every payment; by default,
            invented rows are used.
    """

    blocks: int | None = Field(default=None, ge=1)
    seconds: int = Field(default=10, ge=1, le=_LONGEST_SLOT)
    gigabytes: int = Field(default=4, ge=1)
    columns: list[str] | None = None
    rehearse_on: str | None = None


class SharedTable(_Section):
    """A table that analysts may ask about.

    Attributes:
        source: a file, a glob, or a database address; a relative path starts in the folder of the
            owner's file.
        table: the table's name in a database.
        user: the column that identifies people.
        one_row_per_user: set this instead of ``user`` if every row is a different person.
        dataset: the budget's name in the ledger.
        neighbours: the neighbour relation for which the budget's guarantee holds.
        slot: for each kind of question, the seconds after which its answer is sent; five by default.
        where: the columns that a condition may use.
        column: the columns that may be asked about.
        score: the owner's own scores that may be asked about.
        vote: the owner's own functions that compute the vote of a block of people.
        engine: ``spark`` if a cluster reads the files.
        people: about how many people the table has, if that is public; plans use it to estimate accuracy.
    """

    source: str
    table: str | None = None
    user: str | None = None
    one_row_per_user: bool = False
    dataset: str
    neighbours: Literal["add-remove", "replace"] = "add-remove"
    slot: dict[Kind, Seconds] = {}
    where: list[str] = []
    column: dict[str, Column] = {}
    score: dict[str, RegisteredScore] = {}
    vote: dict[str, RegisteredVote] = {}
    engine: str | None = None
    people: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _whose(self) -> Self:
        if (self.user is None) == (not self.one_row_per_user):
            raise ParameterError(
                "either user names the column that tells people apart, or one_row_per_user = true says that "
                "no person has two rows"
            )
        return self

    def terms(self, kind: str) -> dict[str, Any]:
        """Return the arguments of ``discreet.table`` for a kind of question."""
        facts: dict[str, Any] = {
            "user": self.user,
            "one_row_per_user": self.one_row_per_user,
            "neighbours": self.neighbours,
            "engine": self.engine,
            "people": self.people,
            "listed": {
                name: column.listed() for name, column in self.column.items() if column.candidates
            },
        }
        if self.table is not None:  # a database stops at the end of the slot too
            facts |= {"table": self.table, "time_limit": self.seconds(kind)}
        return facts

    def seconds(self, kind: str) -> float:
        """Return the length of the slot for a kind of question, in seconds."""
        return {str(name): seconds for name, seconds in self.slot.items()}.get(kind, 5.0)


class Analyst(_Section):
    """An analyst: which tables they may ask about, and how much they may spend.

    Attributes:
        tables: the tables that they may ask about.
        epsilon: their part of each data set's budget.
        subject: their identity at the sign-on provider, exactly as in the claim ``sub`` of its tokens.
        least_per_question: the smallest ε of one question, by default a hundredth of their part; this limits
            how many questions they can ask.
        most_per_question: the largest ε of one question, by default all of their part.
    """

    tables: list[str] = Field(min_length=1)
    epsilon: Amount
    subject: str | None = Field(default=None, min_length=1, max_length=255)
    least_per_question: Amount | None = None
    most_per_question: Amount | None = None

    @property
    def least(self) -> Fraction:
        """The smallest ε allowed for one question."""
        return self.least_per_question or self.epsilon / 100

    @property
    def most(self) -> Fraction:
        """The largest ε allowed for one question."""
        return self.most_per_question or self.epsilon

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.least <= self.most <= self.epsilon:
            raise ParameterError("least_per_question ≤ most_per_question ≤ epsilon must hold")
        return self


class TlsFiles(_Section):
    """The files of a TLS certificate and its key."""

    certificate: str
    key: str


def is_safe_address(address: str) -> bool:
    """Return whether an address is reached by https, or is on this machine."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    host = parts.hostname or ""
    return bool(host) and (
        parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))
    )


class SignOn(_Section):
    """Single sign-on (OpenID Connect), in addition to tokens; it contacts only the provider named here.

    Attributes:
        issuer: the provider's address, exactly as it appears in its tokens.
        client_id: the name under which the provider knows this desk.
        client_secret_file: a file with the desk's secret, if the provider gave it one.
        audience: the audience that a program's token must name; the ``client_id`` by default.
        algorithms: the allowed signature algorithms.
        skew: by how many seconds the clocks of the desk and the provider may differ.
        introspection: whether to ask the provider about each token, in case it was revoked.
        session: for how many seconds the page stays signed in.
    """

    issuer: str
    client_id: str = Field(min_length=1)
    client_secret_file: str | None = None
    audience: str = ""
    algorithms: list[Literal["RS256", "RS512", "PS256", "ES256", "ES384", "EdDSA"]] = ["RS256"]
    skew: int = Field(default=60, ge=0, le=300)
    introspection: bool = False
    session: Seconds = 3600.0

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if not is_safe_address(self.issuer):
            raise ParameterError("issuer must be an https address, or one on this machine")
        if not self.algorithms:
            raise ParameterError("algorithms must list at least one")
        return self


class _AtAnAddress(_Section):
    """A server's address and port."""

    listen: str

    @model_validator(mode="after")
    def _address_and_port(self) -> Self:
        host, _, port = self.listen.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65535:
            raise ParameterError('listen must be an address and a port, such as "127.0.0.1:8443"')
        return self

    @property
    def address(self) -> tuple[str, int]:
        """The host and the port to listen on."""
        host, _, port = self.listen.rpartition(":")
        return host.strip("[]"), int(port)


def in_url(host: str, port: int) -> str:
    """Return a host and a port as written in a URL, with an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Metrics(_AtAnAddress):
    """Metrics about the desk for its owner (Prometheus), on a separate address.

    Attributes:
        listen: an address and a port, on this machine.
        per_analyst: whether figures name the analyst; by default they do not.
    """

    per_analyst: bool = False

    @model_validator(mode="after")
    def _on_this_machine(self) -> Self:
        if not _is_loopback(self.address[0]):
            raise ParameterError('listen must be on this machine, such as "127.0.0.1:9464"')
        return self


class _Ledger(_Section):
    place: str


class Listening(_AtAnAddress):
    """The desk's address and its limits.

    Attributes:
        listen: an address and a port.
        tls: the certificate, if the desk handles TLS itself.
        behind_proxy: whether a proxy in front of the desk handles TLS.
        hosts: the host names under which the desk is reached, besides the address that it listens on.
        store: the desk's own file: hashes of tokens, questions asked, released answers.
        workers: how many questions are worked on at once.
        queue: how many unpaid questions may wait for a worker.
        patience: for how many seconds a question may wait.
        failures_allowed: an analyst is blocked after this many paid questions that missed their slot.
        requests_per_minute: the most requests that one analyst may send in a minute.
        token_days: for how many days a token is valid.
        sign_on: the settings of single sign-on, if the desk uses it.
        metrics: figures about the desk, for its owner.
        log: a file to which each request adds a line of JSON, without answers or tokens.
    """

    listen: str = "127.0.0.1:8443"
    tls: TlsFiles | None = None
    behind_proxy: bool = False
    hosts: list[str] = []
    store: str | None = None
    workers: int = Field(default=2, ge=1, le=64)
    queue: int = Field(default=32, ge=0, le=10_000)
    patience: Seconds = 20.0
    failures_allowed: int = Field(default=3, ge=1, le=1000)
    requests_per_minute: int = Field(default=120, ge=1, le=100_000)
    token_days: int = Field(default=90, ge=1, le=3650)
    sign_on: SignOn | None = None
    metrics: Metrics | None = None
    log: str | None = None

    @model_validator(mode="after")
    def _in_the_clear(self) -> Self:
        if _is_loopback(self.address[0]):
            return self
        if self.tls is None and not self.behind_proxy:
            raise ParameterError(
                f"listen = {self.listen!r} is not on the loopback interface: tokens and answers would cross "
                "the network unencrypted. Add tls = {certificate = ..., key = ...}, or behind_proxy = true "
                "where a proxy in front speaks TLS"
            )
        if not self.hosts:
            raise ParameterError(
                'beyond the loopback interface, hosts must list the names, such as ["desk.example.org"], '
                "under which the desk is reached"
            )
        return self

    @property
    def secure(self) -> bool:
        """Whether browsers reach the desk by https."""
        return self.tls is not None or self.behind_proxy


class OwnerFile(_Section):
    """The checked contents of the owner's file: everything that the owner of the data decides.

    Attributes:
        ledger: the location of the ledger.
        desk: the desk's address and its limits.
        table: the tables.
        analyst: the analysts.
    """

    ledger: _Ledger
    desk: Listening = Field(default_factory=Listening)
    table: dict[Name, SharedTable] = {}
    analyst: dict[Name, Analyst] = {}

    @model_validator(mode="after")
    def _tables_known(self) -> Self:
        for name, analyst in self.analyst.items():
            for table in analyst.tables:
                if table not in self.table:
                    raise ParameterError(
                        f"analyst.{name}.tables names {table!r}, which is not a table of this file"
                    )
        subjects = [each.subject for each in self.analyst.values() if each.subject is not None]
        if len(set(subjects)) < len(subjects):
            raise ParameterError("two analysts have the same subject")
        if subjects and self.desk.sign_on is None:
            raise ParameterError("subject needs [desk.sign_on]")
        return self

    def datasets(self, analyst: str) -> list[str]:
        """Return the data sets whose budgets pay for an analyst's questions."""
        return sorted({self.table[table].dataset for table in self.analyst[analyst].tables})

    def parts(self) -> dict[str, Fraction]:
        """Return the ε of each analyst's part of each budget, by the name of the part."""
        return {
            part_of(self.table[table].dataset, name): analyst.epsilon
            for name, analyst in self.analyst.items()
            for table in analyst.tables
        }


Listed = TypeVar("Listed", Column, RegisteredScore, RegisteredVote)


def part_of(dataset: str, analyst: str) -> str:
    """Return the name of an analyst's part of a budget."""
    return f"{dataset}/{analyst}"


def read_owner_file(path: str | Path) -> OwnerFile:
    """Read and check an owner's file; an error names the entry and what is allowed.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "clinic.toml"
        >>> _ = file.write_text('''
        ... [ledger]
        ... place = "budget.db"
        ... [table.visits]
        ... source = "visits.parquet"
        ... user = "patient_id"
        ... dataset = "clinic"
        ... slot = {mode = "2s"}
        ... [table.visits.column.age]
        ... bounds = [0, 120]
        ... [analyst.epidemiology]
        ... tables = ["visits"]
        ... epsilon = 0.1
        ... ''')
        >>> owner = read_owner_file(file)
        >>> owner.table["visits"].column["age"].bounds, owner.table["visits"].seconds("mode")
        ([0, 120], 2.0)
        >>> owner.parts()
        {'clinic/epidemiology': Fraction(1, 10)}
    """
    place = Path(path).absolute()
    try:
        # Numbers as they are written: 0.1 is one tenth.
        given = tomllib.loads(place.read_text(encoding="utf-8"), parse_float=Decimal)
        return _placed(OwnerFile.model_validate(given), place)
    except (OSError, UnicodeDecodeError):
        raise ParameterError(
            f"{str(path)!r}: there is no such file, or it is not UTF-8 text"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{str(path)!r} is not valid TOML: {error}") from None
    except ValidationError as error:
        raise ParameterError(f"{str(path)!r}: " + "; ".join(map(_said, error.errors()))) from None


def _placed(owner: OwnerFile, file: Path) -> OwnerFile:
    """Return the owner's file with absolute paths, and with the candidates read from their files."""

    def place(text: str) -> str:
        scheme, colon, path = text.rpartition(":///")
        if scheme in ("sqlite", "duckdb"):
            return f"{scheme}{colon}{file.parent / path}"
        return text if "://" in text else str(file.parent / text)

    def listed(label: str, facts: Listed) -> Listed:
        if not isinstance(facts.candidates, str):
            return facts
        given = facts.candidates
        found = named_candidates(given if is_range(given) else place(given), column=label)
        return facts.model_copy(update={"candidates": found})

    tables = {}
    for name, table in owner.table.items():
        columns = {label: listed(label, column) for label, column in table.column.items()}
        scores = {
            label: listed(label, score.model_copy(update={"file": place(score.file)}))
            for label, score in table.score.items()
        }
        votes = {}
        for label, vote in table.vote.items():
            given = {"file": place(vote.file)}
            if vote.rehearse_on is not None:
                given["rehearse_on"] = place(vote.rehearse_on)
            votes[label] = listed(label, vote.model_copy(update=given))
        placed = {"source": place(table.source), "column": columns, "score": scores, "vote": votes}
        tables[name] = table.model_copy(update=placed)
    desk: dict[str, Any] = {"store": place(owner.desk.store or f"{file.stem}.desk.db")}
    if owner.desk.log is not None:
        desk["log"] = place(owner.desk.log)
    if owner.desk.sign_on is not None:
        terms = owner.desk.sign_on
        secret = terms.client_secret_file
        desk["sign_on"] = terms.model_copy(
            update={
                "audience": terms.audience or terms.client_id,
                "client_secret_file": None if secret is None else place(secret),
            }
        )
    if owner.desk.tls is not None:
        files = {name: place(text) for name, text in owner.desk.tls.model_dump().items()}
        desk["tls"] = owner.desk.tls.model_copy(update=files)
    return owner.model_copy(
        update={
            "ledger": _Ledger(place=place(owner.ledger.place)),
            "desk": owner.desk.model_copy(update=desk),
            "table": tables,
        }
    )


def _said(error: Any) -> str:
    """Return one of pydantic's errors as text: where it is, what was given, and what is allowed."""
    where = ".".join(map(str, error["loc"]))
    what = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        return f"{where} is not a known entry here"
    if error["type"] == "missing":
        return f"{where} is missing"
    simple = not isinstance(error["input"], dict | list | BaseModel)
    return f"{where} = {echo(error['input'])}: {what}" if simple else f"{where}: {what}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
