"""Read the formulas in ``proofs/Constants.v`` and evaluate them in balls."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from flint import arb

CONSTANTS = Path(__file__).parents[2] / "proofs" / "Constants.v"

_DEFINITION = re.compile(
    r"Definition\s+(\w+)\s*((?:\([\w\s]+:\s*R\)\s*)*):\s*R\s*:=\s*(.*?)\.(?=\s|$)", re.S
)
_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*|[-+*/^()])")
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": lambda x: x.exp(),
    "ln": lambda x: x.log(),
    "sqrt": lambda x: x.sqrt(),
    "Rmin": lambda x, y: x.min(y),
    "Rmax": lambda x, y: x.max(y),
}

Formula = tuple[tuple[str, ...], tuple[str, ...]]
"""A formula: its parameters, and the tokens of its body."""


def formulas(text: str) -> dict[str, Formula]:
    """Return every definition in a file, by name."""
    text = re.sub(r"\(\*.*?\*\)", " ", text, flags=re.S)
    found = {}
    for name, groups, body in _DEFINITION.findall(text):
        parameters = tuple(
            word for group in re.findall(r"\(([\w\s]+):", groups) for word in group.split()
        )
        tokens = tuple(_TOKEN.findall(body))
        assert "".join(tokens) == re.sub(r"\s+", "", body), f"{name}: outside the grammar"
        found[name] = parameters, tokens
    assert len(found) == len(re.findall(r"^Definition", text, re.M))
    return found


class _Reader:
    """A recursive-descent parser for sums, products, powers and applications."""

    def __init__(self, tokens: Sequence[str], values: dict[str, Any], known: dict[str, Formula]):
        self.tokens, self.place, self.values, self.known = tokens, 0, values, known

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        self.place += 1
        return self.tokens[self.place - 1]

    def sum(self) -> Any:
        value = self.product()
        while self.peek() in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> Any:
        value = self.power()
        while self.peek() in ("*", "/"):
            value = value * self.power() if self.take() == "*" else value / self.power()
        return value

    def power(self) -> Any:
        if self.peek() == "-":
            self.take()
            return -self.power()
        value = self.application()
        if self.peek() == "^":
            self.take()
            value = value ** int(self.take())
        return value

    def application(self) -> Any:
        name = self.peek()
        if name in _FUNCTIONS or name in self.known:
            self.take()
            arguments = []
            while self.peek() and self.peek() not in "+-*/^)":
                arguments.append(self.atom())
            if name in _FUNCTIONS:
                return _FUNCTIONS[name](*arguments)
            return evaluate(name, arguments, self.known)
        return self.atom()

    def atom(self) -> Any:
        if self.peek() == "(":
            self.take()
            value = self.sum()
            assert self.take() == ")"
            return value
        word = self.take()
        return arb(int(word)) if word.isdigit() else self.values[word]


def evaluate(name: str, arguments: Sequence[Any], known: dict[str, Formula]) -> Any:
    """Return a ball that contains the value of a formula at these balls."""
    parameters, tokens = known[name]
    assert len(parameters) == len(arguments), f"{name} takes {parameters}"
    reader = _Reader(tokens, dict(zip(parameters, arguments, strict=True)), known)
    value = reader.sum()
    assert reader.place == len(tokens), f"{name}: {tokens[reader.place :]} is left over"
    return value
