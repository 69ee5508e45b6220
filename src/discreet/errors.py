"""Every error that discreet raises: one root, few leaves.

An error message is a release too. A wrong *parameter* (public) is echoed with what is allowed; wrong
*data* is named by the rule it breaks, never by its value.
"""

from __future__ import annotations


class DiscreetError(Exception):
    """Root of every error raised by discreet."""


class ParameterError(DiscreetError, ValueError):
    """A public parameter is outside what is allowed; the message echoes it."""


class ScoresError(DiscreetError, ValueError):
    """Scores break a rule; the message names the rule and never a score."""


class NotPrivateError(DiscreetError):
    """A release was asked of a mechanism that has no privacy guarantee."""


class MissingExtraError(DiscreetError, ImportError):
    """An optional library is needed and not installed; the message names the extra."""


class LedgerError(DiscreetError):
    """The ledger could not do its work; nothing was released by it, and nothing counted is lost."""


class BudgetExceededError(LedgerError):
    """The spend does not fit under the cap; nothing was spent."""


class NoBudgetError(LedgerError, ParameterError):
    """The data set has no budget in this ledger, or it was revoked."""


class TableError(DiscreetError):
    """A table could not be read or searched; the message quotes nothing of what an engine said."""


def missing_extra(what: str, *, extra: str) -> MissingExtraError:
    """The error that names an extra to install, quoted as every shell understands it.

    Example:
        >>> print(missing_extra("charts need Altair", extra="charts"))
        charts need Altair: pip install "discreet[charts]"
    """
    return MissingExtraError(f'{what}: pip install "discreet[{extra}]"')
