"""All kinds of questions that can be asked by name.

A new kind needs its own file, its lines here, a proof page and, if it has a command, a line in the command
line's table of contents. Everything else is derived from its fields: its function, the methods of tables and
desks, options and help, requests, OpenAPI, an assistant's tools and the page's form.
"""

from __future__ import annotations

from discreet.questions.bound import Bound
from discreet.questions.derived import asks
from discreet.questions.first_above import FirstAbove
from discreet.questions.mode import Mode
from discreet.questions.quantiles import Median, Quantile, Quantiles
from discreet.questions.question import KINDS, Question
from discreet.questions.select_by import SelectBy
from discreet.questions.top_k import TopK
from discreet.questions.vote import Vote

__all__ = [
    "Bound",
    "FirstAbove",
    "Median",
    "Mode",
    "Quantile",
    "Quantiles",
    "SelectBy",
    "TopK",
    "Vote",
]


class ByName:
    """Mixin that adds a method for each kind of question to a class that has ``ask``."""

    mode = asks(Mode)
    bound = asks(Bound)
    median = asks(Median)
    quantile = asks(Quantile)
    quantiles = asks(Quantiles)
    top_k = asks(TopK)
    first_above = asks(FirstAbove)
    select_by = asks(SelectBy)
    vote = asks(Vote)


def kinds_by_name() -> dict[str, type[Question]]:
    """Return the kinds of questions for which ``ByName`` has methods, by name."""
    return {name: KINDS[name] for name in vars(ByName) if name in KINDS}
