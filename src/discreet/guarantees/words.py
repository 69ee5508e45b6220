"""Costs in plain words: figures rounded up, and what they mean for people."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.numbers.balls import upper_bound
from discreet.numbers.exact import Exact, whole
from discreet.numbers.printing import figure

_PEOPLE = {1: "one person", 2: "two people", 3: "three people", 4: "four people", 5: "five people"}


def people_in_words(count: int) -> str:
    """How many people, small numbers as words."""
    return _PEOPLE.get(count, f"{count} people")


def subject(people: int) -> str:
    """Who changes something, with the verb: one person's data, or a household together."""
    if whole("people", people) == 1:
        return "One person's data changes"
    return f"{people_in_words(people).capitalize()} together change"


def times(factor: int, symbol: str) -> str:
    """A multiple of a symbol, 4ε; once is the symbol itself."""
    return symbol if factor == 1 else f"{factor}{symbol}"


def odds(epsilon: Exact) -> str:
    """By how much ε lets a probability change: the factor e^ε, rounded up."""
    if epsilon == math.inf:
        return "without any limit"
    factor = upper_bound(lambda e: e.exp(), Fraction(epsilon)) if epsilon < 700 else math.inf
    limit = figure(factor) if factor < 1e6 else f"e^{figure(epsilon)}"
    return f"by a factor of at most {limit}"
