"""A budget that outlives the process: every release is counted durably before it happens.

``docs/proofs/ledger.md`` states what is promised and what is not.

Example:
    >>> import tempfile
    >>> from discreet import PureDP
    >>> from discreet.ledger import Ledger
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Ledger.open(f"{folder.name}/budget.db") as ledger:
    ...     _ = ledger.create("visits", PureDP(3))
    ...     entry = ledger.spend("visits", PureDP("0.1"), purpose="mode of diagnosis")
    ...     print(entry, "-", ledger.show("visits").left)
    visits #2 - ε = 2.9
    >>> folder.cleanup()
"""

import discreet.ledger.database_library  # noqa: F401  # must come first
from discreet.ledger.entries import Entry, Head
from discreet.ledger.ledger import Ledger
from discreet.ledger.places import default_place
from discreet.ledger.reports import Budget, History, Quote
from discreet.ledger.verification import Verification

__all__ = ["Budget", "Entry", "Head", "History", "Ledger", "Quote", "Verification", "default_place"]
