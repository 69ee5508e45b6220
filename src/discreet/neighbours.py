"""Neighbouring data sets: the relations for which guarantees and budgets are stated."""

from __future__ import annotations

from enum import StrEnum

from discreet._exact.numbers.exact import refuse


class Neighbours(StrEnum):
    """A neighbour relation: a string such as ``"replace"``, which is also how it is stored.

    Example:
        >>> Neighbours.named("replace") is Neighbours.REPLACE, Neighbours.REPLACE == "replace"
        (True, True)
        >>> Neighbours.REPLACE.in_words
        "one person's rows are replaced by another person's"
    """

    ADD_REMOVE = "add-remove"
    REPLACE = "replace"

    def __repr__(self) -> str:
        return str.__repr__(
            self
        )  # a method, not an assignment: otherwise Sphinx does not show default values

    @classmethod
    def named(cls, name: object) -> Neighbours:
        """Return the relation with this name; refuse an unknown one."""
        if name not in tuple(cls):
            raise refuse("neighbours", name, f'"{ADD_REMOVE}" or "{REPLACE}"')
        return cls(str(name))

    @property
    def in_words(self) -> str:
        """The difference between two neighbouring data sets, in words."""
        if self is ADD_REMOVE:
            return "one person's rows are added or removed"
        return "one person's rows are replaced by another person's"


ADD_REMOVE = Neighbours.ADD_REMOVE
REPLACE = Neighbours.REPLACE
