"""Engines: their SQL, their declared types, and how they run a statement.

Every question is one SQL statement (``query``). An engine whose syntax differs overrides methods that are
defined here. Values are compared exactly: texts by their bytes, independent of collation, and wide numbers in
their own type. Keys are the values on a public list. They are sent in the column's own type, and only their
positions come back: a returned value would pass through other types, and its count could go to another
candidate.
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from discreet._tables.query import Query
from discreet.errors import DiscreetError, ParameterError, TableError

T = TypeVar("T")
Columns = dict[str, Any]
Fits = Callable[[Any], bool]
Places = Sequence[tuple[str, int]]
"""Keys as words (see ``Engine.word``), each with its position in the public list."""

KEY_BITS = 128
"""The size of a draw's key, in bits. The key is new for each release; the same key gives the same draw.

The quality of an engine's hash affects only how even a draw is; privacy does not rest on it, nor on the key
being secret (docs/proofs/question-sensitivities.md, "Drawn at random, independently of the data").
"""


def quietly(
    work: Callable[[], T], *, doing: str, telling: bool = False, foreign: bool = False
) -> T:
    """Return the result of ``work``; if it fails, raise a ``TableError`` without the engine's message.

    With ``telling``, the error includes the engine's message; this is only for work that reads no row. With
    ``foreign``, the work is a caller's own function, and messages of discreet's own errors are withheld too.

    The ``TableError`` is raised after the handler has ended, so that it has neither a cause nor a context: a
    traceback would show both. Warnings are silenced, because they may quote the data as well.

    Example:
        >>> quietly(lambda: 1 + 1, doing="adding")
        2
        >>> quietly(lambda: 1 / 0, doing="adding")
        Traceback (most recent call last):
        discreet.errors.TableError: the engine failed while adding; its message is withheld, ...
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        if isinstance(error, DiscreetError) and not foreign:
            raise
        # Catch BaseException, because a panic in Polars is not an Exception, and quotes the value that caused
        # it. The message is kept only if it may be shown, because a debugger shows a frame's variables.
        said = f"{type(error).__name__}: {error}" if telling else None
    if said is not None:
        raise TableError(
            f"the engine failed while {doing}, before any row was read or anything was spent: {said}"
        )
    who = "function" if foreign else "engine"
    raise TableError(
        f"the {who} failed while {doing}; its message is withheld, because it may quote the data"
    )


def is_encodable(text: str) -> bool:
    """Return whether a text can be encoded in UTF-8; a lone surrogate cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def quoted(name: str) -> str:
    """Quote an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def require_names(columns: Sequence[str], *, place: str = "") -> None:
    """Raise an error if two column names are equal or differ only in letter case, which engines ignore."""
    folded = [name.casefold() for name in columns]
    twice = next((name for name in columns if folded.count(name.casefold()) > 1), None)
    if twice is not None:
        raise ParameterError(
            f"{place}two columns are named {twice!r} (letter case does not count): rename one of them"
        )


# ---- declared types --------------------------------------------------------------------------------------

_DECIMAL = re.compile(r"(?:decimal|numeric)\((\d+),\s*(-?\d+)\)")
MOST_DIGITS = 76
"""The most digits of a decimal that can be compared; such decimals are far within the range of float64."""

_KINDS = {
    r"varchar.*|character.*|char.*|text|string.*|enum.*|uuid|bpchar|citext": "text",
    r"u?tinyint|u?smallint|u?integer|int|u?bigint|u?hugeint": "integer",
    r"float|real|double|double precision": "float",
    r"bool(ean)?": "boolean",
    r"date": "date",
    r"timestamp.*": "moment",
    r"time(\(\d\))?( without time zone)?|time_ns": "time",
    r"interval( day to second)?": "span",
}
_BITS = {"tinyint": 8, "smallint": 16, "integer": 32, "int": 32, "bigint": 64, "hugeint": 128}


def kind_of(declared: str) -> str:
    """Return the kind of a declared type, given its name in SQL; unknown types are ``other``.

    Example:
        >>> kind_of("VARCHAR"), kind_of("DECIMAL(9,2)"), kind_of("timestamp without time zone")
        ('text', 'decimal', 'moment')
        >>> kind_of("numeric"), kind_of("INTEGER[]")
        ('other', 'other')
    """
    name = declared.lower()
    digits = _DECIMAL.fullmatch(name)
    if digits is not None:
        return "decimal" if int(digits[1]) <= MOST_DIGITS else "other"
    if name.endswith("]"):
        return "other"
    return next((kind for known, kind in _KINDS.items() if re.fullmatch(known, name)), "other")


def range_of(declared: str) -> tuple[int, int, int] | None:
    """Return (smallest, largest, n) for an integer or decimal type, both in units of 1/n; else None.

    Example:
        >>> range_of("UTINYINT"), range_of("DECIMAL(4,2)"), range_of("DOUBLE")
        ((0, 255, 1), (-9999, 9999, 100), None)
    """
    name = declared.lower()
    digits, bits = _DECIMAL.fullmatch(name), _BITS.get(name.removeprefix("u"))
    if digits is not None:
        return 1 - 10 ** int(digits[1]), 10 ** int(digits[1]) - 1, 10 ** int(digits[2])
    if bits is None:
        return None
    return (
        (0, (1 << bits) - 1, 1)
        if name[0] == "u"
        else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1, 1)
    )


def fitting(declared: str) -> Fits:
    """Return a function that tests whether a column of this type can hold a key exactly.

    Example:
        >>> fits = fitting("DECIMAL(4,2)")
        >>> fits(99), fits(100), fits("0.005")
        (True, False, False)
    """
    if declared.lower() in ("float", "real"):
        return lambda key: bool(float(np.float32(key)) == key)
    held = range_of(declared)
    if held is None:
        # The values of an enumeration are not checked: its author may have taken them from the rows.
        return lambda _key: True
    least, most, parts = held

    def fits(key: Any) -> bool:
        # Use exact fractions, because Decimal's own arithmetic keeps 28 digits.
        number = key if isinstance(key, int) and parts == 1 else Fraction(key) * parts
        return bool(number.denominator == 1 and least <= number <= most)

    return fits


_LARGEST = float(np.finfo(np.float64).max)


# ---- an engine -------------------------------------------------------------------------------------------


class Engine(ABC):
    """One table in an engine. Most engines understand the SQL written here; the others override methods.

    Attributes:
        name: ``duckdb``, ``spark``, ``postgres`` or ``sqlite``.
        source: the table, as written after FROM.
        types: the columns, each with its declared type as the engine writes it.
        kinds: the kind of each column.
        known_as: the columns' types as the table's owner knows them.
        zones: the declared time zones of columns of moments, by column.
    """

    name = ""
    double = "DOUBLE"
    encoding = "utf-8"
    keeps_time = False
    counts_distinct = False
    """Whether a distinct count is faster than two groupings."""
    finds_groups = True
    """Whether unlisted groups can be drawn for each person."""

    def __init__(self, source: str, types: Mapping[str, str]) -> None:
        self.source = source
        self.types = dict(types)
        self.kinds = {name: kind_of(declared) for name, declared in types.items()}
        self.known_as: Mapping[str, str] = types
        self.zones: dict[str, str] = {}

    # ---- how SQL is written

    quoted = staticmethod(quoted)

    def column(self, name: str) -> str:
        """Return the SQL of a column, with null for values that are not of its declared type."""
        return self.quoted(name)

    @abstractmethod
    def text(self, name: str) -> str:
        """Return the SQL of a text column in the form that is compared: its bytes, or their hex digits."""

    def word(self, key: Any) -> str | None:
        """Return a key as a word without commas (a text as hex); None for a text that no row can hold."""
        if isinstance(key, str):
            try:
                return key.encode(self.encoding).hex().upper()
            except UnicodeEncodeError:
                return None
        if isinstance(key, bool):
            return str(key).lower()
        return f"{key:f}" if hasattr(key, "quantize") else str(key)  # a decimal without an exponent

    def words(self, keys: Iterable[Any]) -> list[str | None]:
        """Return the ``word`` of each key; ASCII texts take a fast path, for very long public lists."""
        return [
            key.encode(self.encoding).hex().upper()
            if type(key) is str and key.isascii()
            else self.word(key)
            for key in keys
        ]

    def of_word(self, word: str, kind: str, declared: str) -> str:
        """Return SQL that turns the word of a key into a value that can be compared with a column."""
        return f"unhex({word})" if kind == "text" else f"CAST({word} AS {declared})"

    def number(self, name: str) -> str:
        """Return the SQL of a column of numbers, cast to float64."""
        return f"CAST({self.column(name)} AS {self.double})"

    def real(self, number: float) -> str:
        """Return an SQL literal for a float64."""
        if not np.isfinite(number):
            return f"CAST('{'-' if number < 0 else ''}Infinity' AS {self.double})"
        written = repr(float(number))
        return f"({written if 'e' in written else written + 'e0'})"

    def finite(self, number: str) -> str:
        """Return the SQL condition that a float64 expression is finite; it is not true for NaN.

        Engines treat NaN as larger than all numbers, or as null.
        """
        return f"({number} >= {self.real(-_LARGEST)} AND {number} <= {self.real(_LARGEST)})"

    def day(self, text: str) -> str:
        """Return an SQL date literal for a text such as 2024-12-31."""
        return f"DATE '{text}'"

    def whole_part(self, number: str) -> str:
        """Return SQL that rounds a float64 expression down."""
        return f"floor({number})"

    def spelled_number(self, name: str) -> str:
        """Return SQL for the number that a column's text spells, as the nearest float64, else null."""
        trimmed = self.trimmed(self.column(name))
        return f"CASE WHEN {self.matches(trimmed, NUMBER)} THEN TRY_CAST({trimmed} AS DOUBLE) END"

    def trimmed(self, text: str) -> str:  # noqa: ARG002 - overridden
        """Return SQL that removes the spaces and tabs around a text."""
        raise TableError("texts are not read as numbers in this engine")

    def matches(self, text: str, pattern: str) -> str:  # noqa: ARG002 - overridden
        """Return the SQL condition that a text matches a pattern."""
        raise TableError("texts are not read as numbers in this engine")

    spelling = ("'", "{}")
    """The prefix of a pattern literal, and SQL that turns a date into days since 1970: see ``spelled``."""

    week = "{}"
    """The SQL that turns a date into the name of its ISO week."""

    @abstractmethod
    def position(self, name: str) -> str:
        """Return SQL for the float64 that orders a column of dates or times: days since 1970, or seconds.

        A time of day is counted in seconds since midnight. A value that has no such number, such as an
        infinite time, becomes null or infinite.
        """

    def shown_position(self, name: str) -> str:
        """Return SQL for ``position`` in the local time of the zone that the column declares, if any."""
        return self.position(name)

    def month(self, days: str) -> str:
        """Return SQL for the month number (12 · year + month - 1) of a day, given in days since 1970."""
        day = f"(DATE '1970-01-01' + CAST({days} AS INTEGER))"
        return f"(12 * extract(YEAR FROM {day}) + extract(MONTH FROM {day}) - 1)"

    def drawn(self, key: int, choice: str, size: int) -> str:
        """Return SQL that hashes key, person and ``choice``, and appends the choice to the hash.

        Choices are whole numbers below ``size``. Because the choice is appended, no two choices of a person
        tie, and ``choice_drawn`` recovers the choice.
        """
        digest = self.hashed(f"'{key:x}'", "person", choice, bits=62 - size.bit_length())
        return f"CAST({digest} AS BIGINT) * {size} + {choice}"

    def choice_drawn(self, size: int) -> str:
        """Return SQL that recovers the choice from the column ``draw``, which ``drawn`` made."""
        return f"draw % {size}"

    def hashed(self, *parts: str, bits: int) -> str:  # noqa: ARG002 - overridden
        """Return SQL that hashes these expressions together into one integer of ``bits`` bits."""
        raise TableError("people are drawn by MD5 in this engine")

    one_each = ("place", "")
    """The SQL that declares that each key in a list occurs once, for query planners that use it."""

    @abstractmethod
    def key_list(self, held: Places) -> str:
        """Return a SELECT with the columns ``word`` (a key as text) and ``place`` (its position)."""

    def indexed(
        self, query: Query, name: str, held: Places, *, like: tuple[str, str], rest: int | None
    ) -> Query:
        """Keep the rows whose column ``name`` holds one of the keys; replace the value by the key's position.

        ``like`` is the kind and the type of the column. With ``rest``, all rows are kept, and a value that is
        not a key is replaced by ``rest``.
        """
        key = self.of_word("word", *like)
        place, ending = self.one_each
        listed = f"(SELECT {key} AS listed, {place} AS found FROM ({self.key_list(held)}) AS words{ending})"  # noqa: S608
        join = "JOIN" if rest is None else "LEFT JOIN"
        found = "found" if rest is None else f"COALESCE(found, {rest})"
        return query.set(
            {name: found}, beside=f" AS counted_rows {join} {listed} AS keys ON {name} = listed"
        )

    # ---- how a statement is run

    def loaded(self, _columns: Iterable[str]) -> Engine:
        """Return the engine with the rows of these columns loaded; no earlier step reads a row."""
        return self

    @abstractmethod
    def try_out(self, statement: str) -> None:
        """Let the engine check a statement without reading a row; raise the engine's error, if any."""

    def columns(self, statement: str, names: Sequence[str]) -> Columns:
        """Run a statement and return a small result as NumPy columns of these names."""
        numbers = np.array(self.rows(statement), dtype=np.int64).reshape(-1, len(names))
        return dict(zip(names, numbers.T, strict=True))

    @abstractmethod
    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement and return a small result as rows of Python values."""

    def reading(self, _seconds: float | None) -> AbstractContextManager[None]:
        """Return a context in which a database is read from one snapshot, read-only and with a time limit."""
        return nullcontext()

    def plain_text(self, value: Any) -> str:
        """Convert a text, in the form that a statement returned, to a Python string."""
        return bytes(value).decode(errors="replace")

    def hides_every_row(self) -> bool:
        """Return whether a database policy hides every row from this user."""
        return False


NUMBER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?\z"
"""The pattern of a number in a text file, without surrounding spaces and tabs. Other texts are dropped.

The pattern does not end in $, which in Spark also matches before a final line break.
"""
