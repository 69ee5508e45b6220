"""``where``: a condition on a row's own columns, in a small language that cannot see other rows.

An engine's own SQL could average over the table or fail on a value; either would leak information. Here a
condition consists of comparisons (``= != < <= > >=``), ``in (...)``, ``is null``, ``is not null``, ``and``,
``or``, ``not`` and parentheses. Texts are in single quotes, unusual column names in double quotes. On a
column of dates or moments, a text is a period and means all of it: ``visited in '2024-W01:2024-W10'``,
``visited <= '2024-03'``. NaN and infinities are null, and so is an empty field in a text file; a comparison
with a null is false, and ``not`` makes that true. Every engine selects the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from discreet.errors import ParameterError

Literal: TypeAlias = str | int | float | bool

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])
    |'(?P<text>(?:[^']|'')*)'
    |"(?P<quoted>(?:[^"]|"")+)"
    |(?P<word>[^\W\d]\w*)
    |(?P<symbol><=|>=|!=|<>|==|=|<|>|\(|\)|,))""",
    re.VERBOSE,
)
_COMPARISONS = ("=", "==", "!=", "<>", "<", "<=", ">", ">=")
_SAME = {"<>": "!=", "==": "="}
LARGEST_CONDITION = 100
"""The most connectives and parentheses allowed; more would slow engines down and recurse too deeply."""

_DEEPENING = (("word", "and"), ("word", "or"), ("word", "not"), ("symbol", "("))
_WORDS = ("and", "or", "not", "in", "is", "null", "true", "false")


@dataclass(frozen=True, slots=True)
class ColumnComparison:
    """A column compared with literals; ``operator`` is a comparison, ``in`` or ``null`` (no literals)."""

    column: str
    operator: str
    literals: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class Combination:
    """Conditions joined by ``and`` or ``or``, or one condition negated by ``not``."""

    operator: str
    parts: tuple[Condition, ...]


Condition: TypeAlias = ColumnComparison | Combination


def condition_text(name: str, given: object) -> str:
    """Return a condition if it is a text; an error names its type only, because a column prints its rows.

    Example:
        >>> condition_text("where", ["age >= 18"])
        Traceback (most recent call last):
        discreet.errors.ParameterError: where= must be a text such as "age >= 18", not an object of type list
    """
    if not isinstance(given, str):
        raise ParameterError(
            f'⟨{name}⟩ must be a text such as "age >= 18", not an object of type {type(given).__name__}'
        )
    return given


def parse(text: object) -> Condition:
    """Parse the condition in ``text``.

    Example:
        >>> parse("age >= 18 and clinic in ('north', 'south')").operator
        'and'
    """
    text = condition_text("where", text)
    tokens = list(_tokens(text))
    if sum(token in _DEEPENING for token in tokens) > LARGEST_CONDITION:
        raise ParameterError(
            f"⟨where⟩ has more than {LARGEST_CONDITION} of and, or, not and parentheses; a list of values is "
            "written as in (...)"
        )
    return _Parser(text, tokens).whole()


def comparisons(condition: Condition) -> Iterator[ColumnComparison]:
    """Yield every comparison in a condition."""
    if isinstance(condition, ColumnComparison):
        yield condition
    else:
        for part in condition.parts:
            yield from comparisons(part)


def expression(condition: Condition, compare: Callable[[ColumnComparison], str]) -> str:
    """Write the condition in SQL; ``compare`` writes each comparison, and its SQL must never be null."""
    if isinstance(condition, ColumnComparison):
        return compare(condition)
    parts = [expression(part, compare) for part in condition.parts]
    if condition.operator == "not":
        return f"(NOT {parts[0]})"
    return f"({f' {condition.operator.upper()} '.join(parts)})"


def _tokens(text: str) -> Iterator[tuple[str, Any]]:
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if not match:
            rest = text[position:].strip()
            word = {"&": "; write and", "|": "; write or"}.get(rest[0], "")
            raise ParameterError(
                f"⟨where⟩{text!r} is not allowed: it cannot be read from {rest[:20]!r} on{word}"
            )
        position = match.end()
        kind = str(match.lastgroup)
        value = match.group(kind)
        if kind == "number":
            # No column holds a longer integer, and float() reads it as infinity without an error.
            is_whole = len(value) <= 300 and re.fullmatch(r"[+-]?\d+", value)
            yield "literal", int(value) if is_whole else float(value)
        elif kind == "text":
            yield "literal", value.replace("''", "'")
        elif kind == "quoted":
            yield "column", value.replace('""', '"')
        elif kind == "word" and value.lower() in ("true", "false"):
            yield "literal", value.lower() == "true"
        elif kind == "word" and value.lower() in _WORDS:
            yield "word", value.lower()
        else:
            yield ("column" if kind == "word" else "symbol"), value


@dataclass(slots=True)
class _Parser:
    text: str
    tokens: list[tuple[str, Any]]
    position: int = field(default=0)

    def whole(self) -> Condition:
        condition = self._any_of()
        if self.position < len(self.tokens):
            raise self._refusal()
        return condition

    def _any_of(self) -> Condition:
        return self._joined("or", self._all_of)

    def _all_of(self) -> Condition:
        return self._joined("and", self._negated)

    def _joined(self, word: str, part: Any) -> Condition:
        parts = [part()]
        while self._take(("word", word)):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Combination(word, tuple(parts))

    def _negated(self) -> Condition:
        if self._take(("word", "not")):
            return Combination("not", (self._negated(),))
        if self._take(("symbol", "(")):
            condition = self._any_of()
            self._expect(("symbol", ")"))
            return condition
        return self._comparison()

    def _comparison(self) -> Condition:
        column = self._expect_kind("column")
        if self._take(("word", "is")):
            opposite = self._take(("word", "not"))
            self._expect(("word", "null"))
            return _unless(opposite, ColumnComparison(column, "null"))
        opposite = self._take(("word", "not"))
        if opposite or self._next() == ("word", "in"):
            self._expect(("word", "in"))
            following = self._next()
            if following is not None and following[0] == "literal":  # a single range of periods
                literal = self._expect_kind("literal")
                return _unless(opposite, ColumnComparison(column, "in", (literal,)))
            self._expect(("symbol", "("))
            literals = [self._expect_kind("literal")]
            while self._take(("symbol", ",")):
                literals.append(self._expect_kind("literal"))
            self._expect(("symbol", ")"))
            return _unless(opposite, ColumnComparison(column, "in", tuple(literals)))
        operator = self._expect_kind("symbol")
        if operator not in _COMPARISONS:
            raise self._refusal()
        literal = self._expect_kind("literal")
        return ColumnComparison(column, _SAME.get(operator, operator), (literal,))

    def _next(self) -> tuple[str, Any] | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def _take(self, token: tuple[str, Any]) -> bool:
        found = self._next() == token
        self.position += found
        return found

    def _expect(self, token: tuple[str, Any]) -> None:
        if not self._take(token):
            raise self._refusal()

    def _expect_kind(self, kind: str) -> Any:
        token = self._next()
        if token is None or token[0] != kind:
            raise self._refusal()
        self.position += 1
        return token[1]

    def _refusal(self) -> ParameterError:
        before = self.tokens[self.position - 1 : self.position]
        token, hint = self._next(), ""
        if (
            before
            and before[0][1] in (*_COMPARISONS, ",", "(", "in")
            and token
            and token[0] == "column"
        ):
            quoted = token[1].replace("'", "''")
            hint = f"; texts are in single quotes: '{quoted}'"
        return ParameterError(
            f'⟨where⟩{self.text!r} is not allowed: it must be comparisons such as "age >= 18", '
            f"\"clinic in ('north', 'south')\", \"left is null\", joined by and, or, not{hint}"
        )


def _unless(opposite: bool, condition: Condition) -> Condition:
    return Combination("not", (condition,)) if opposite else condition
