"""Running an engine without letting it speak: its messages may quote a value of the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from discreet.errors import DiscreetError, TableError

T = TypeVar("T")


def quietly(work: Callable[[], T], *, doing: str) -> T:
    """The result of ``work``; any exception of an engine becomes a ``TableError`` that says nothing of it.

    The new error is raised after the handler has ended, so that neither a cause nor a context is
    attached: a traceback printer would follow both. Warnings are silenced for the same reason.

    Example:
        >>> quietly(lambda: 1 + 1, doing="adding")
        2
        >>> quietly(lambda: 1 / 0, doing="adding")
        Traceback (most recent call last):
        discreet.errors.TableError: the engine failed while adding; what it said is withheld, ...
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except (DiscreetError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: S110 - replaced below, outside the handler
        # Not only Exception: a panic in Polars is none, and quotes what it tripped over.
        pass
    raise TableError(
        f"the engine failed while {doing}; what it said is withheld, because it may quote the data"
    )
