"""Running an engine without letting it speak: its messages may quote a value of the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from discreet.errors import DiscreetError, TableError

T = TypeVar("T")


def quietly(work: Callable[[], T], *, doing: str, telling: bool = False) -> T:
    """The result of ``work``; any exception of an engine becomes a ``TableError`` that says nothing of it.

    With ``telling`` it says what the engine said: only for work that reads no row.

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
    except BaseException as error:
        # Not only Exception: a panic in Polars is none, and quotes what it tripped over.
        # Kept only where it may be told: a debugger shows the names of a frame.
        said = f"{type(error).__name__}: {error}" if telling else None
    if said is not None:
        raise TableError(f"the engine failed while {doing}, before any row was read: {said}")
    raise TableError(
        f"the engine failed while {doing}; what it said is withheld, because it may quote the data"
    )
