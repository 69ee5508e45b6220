"""Every error that discreet raises: one base class and a few subclasses.

An error message is a release too. A wrong *parameter* (public) is quoted with the allowed values; wrong
*data* is described by the rule it breaks, never by its value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_PARAMETER = re.compile(r"⟨(?P<name>[^⟨⟩=]+)(?P<flag>=True)?⟩(?P<value>(?=[^\s,;:.)]))?")


class DiscreetError(Exception):
    """Base class of every error that discreet raises."""


class ParameterError(DiscreetError, ValueError):
    """A public parameter has a value that is not allowed; the message quotes it.

    In the message, ⟨ and ⟩ enclose a parameter's name, so that each interface can show the name that its
    users write.

    Example:
        >>> error = ParameterError("⟨user⟩3 is not allowed: name a column, or say ⟨one_row=True⟩")
        >>> print(error)
        user=3 is not allowed: name a column, or say one_row=True
        >>> error.worded({"user": "--user", "one_row": "--one-row"})
        '--user 3 is not allowed: name a column, or say --one-row'
    """

    def __str__(self) -> str:
        return self.worded({})

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters that the message names, in order."""
        return tuple(found["name"] for found in _PARAMETER.finditer(super().__str__()))

    def worded(self, names: Mapping[str, str]) -> str:
        """Return the message with parameters renamed by ``names``; the others keep their Python names."""

        def called(found: re.Match[str]) -> str:
            if found["name"] not in names:
                return f"{found['name']}{found['flag'] or '='}"
            return names[found["name"]] + ("" if found["value"] is None else " ")

        return _PARAMETER.sub(called, super().__str__())


class UnknownParameterError(ParameterError, TypeError):
    """There is no parameter with this name; the message suggests the most similar one."""


class UnknownColumnError(ParameterError):
    """A table has no column with this name; the message lists the table's columns."""


class RehearsalError(ParameterError):
    """A user's function failed before any payment; the message quotes its error, for its author only."""


class ScoresError(DiscreetError, ValueError):
    """Scores break a rule; the message names the rule, never a score."""


class NotPrivateError(DiscreetError):
    """A release was requested from a mechanism that has no privacy guarantee."""


class WatchEndedError(DiscreetError):
    """A watch has ended, or belongs to another process; a new watch must be made and paid for."""


class MissingExtraError(DiscreetError, ImportError):
    """An optional library is needed but not installed; the message names the extra to install."""


class LedgerError(DiscreetError):
    """The ledger failed or refused a request; nothing was released, and no recorded spend is lost."""


class LostLedgerError(LedgerError):
    """The connection to the ledger was lost; the last spend may or may not have been counted."""


class BudgetExceededError(LedgerError):
    """The spend does not fit under the cap; nothing was spent."""


class NoBudgetError(LedgerError, ParameterError):
    """The data set has no budget in this ledger, or its budget was revoked."""


class TableError(DiscreetError):
    """A table could not be read or searched; the message quotes nothing from the engine."""


def missing_extra(what: str, *, extra: str) -> MissingExtraError:
    """Return the error that names an extra to install, quoted for any shell.

    Example:
        >>> print(missing_extra("charts need Altair", extra="charts"))
        charts need Altair: in discreet's checkout, run pip install ".[charts]"
    """
    return MissingExtraError(f'{what}: in discreet\'s checkout, run pip install ".[{extra}]"')
