"""What a page asks: each part is checked as it is taken, and an error names it and what it allows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.mechanisms import MECHANISMS
from discreet.numbers.exact import positive, positive_distance, probability, refuse, whole

_LONGEST = 40


class Asked:
    """The object of a request."""

    def __init__(self, given: object) -> None:
        if not isinstance(given, Mapping):
            raise ParameterError("the request must be a JSON object")
        self._given = given

    def get(self, name: str, default: Any = None) -> Any:
        """The part of this name, unchecked."""
        return self._given.get(name, default)

    def number(self, name: str) -> str | int | float:
        """A number as it was typed."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise refuse(name, value, "a number")
        if isinstance(value, str) and len(value) > _LONGEST:
            raise refuse(name, value, f"a number of at most {_LONGEST} characters")
        return value

    def epsilon(self) -> Fraction:
        """ε of one release."""
        epsilon = positive("epsilon", self.number("epsilon"))
        if not Fraction(1, 10_000) <= epsilon <= 100:
            raise refuse("epsilon", self.get("epsilon"), "between 0.0001 and 100 on this page")
        return epsilon

    def sensitivity(self) -> Fraction:
        """Δ."""
        return positive_distance("sensitivity", self.number("sensitivity"))

    def below_one(self, name: str) -> Fraction:
        """A probability that is not certainty."""
        value = probability(name, self.number(name))
        if value == 1:
            raise refuse(name, 1, "below 1")
        return value

    def whole(self, name: str, *, least: int = 1, most: int) -> int:
        """A whole number."""
        value = whole(name, self.get(name), least=least)
        if value > most:
            raise refuse(name, value, f"at most {most:,} on this page")
        return value

    def flag(self, name: str) -> bool:
        """Yes or no."""
        value = self.get(name)
        if not isinstance(value, bool):
            raise refuse(name, value, "true or false")
        return value

    def one_of(self, name: str, allowed: Collection[str]) -> str:
        """One of the names allowed."""
        value = self.get(name)
        if not isinstance(value, str) or value not in allowed:
            raise refuse(name, value, "one of " + ", ".join(allowed))
        return value

    def mechanism(self, name: str = "mechanism") -> str:
        """A registered mechanism."""
        return self.one_of(name, MECHANISMS)
