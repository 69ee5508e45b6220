"""Let copies and pickles of a ledger refer to the same ledger, by its address."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self
from weakref import finalize

from discreet.errors import LedgerError

if TYPE_CHECKING:
    from discreet.ledger.store import Store


class SharedByAddress:
    """Base class of ``Ledger``: a copy is the same object, and unpickling opens the address again."""

    _store: Store

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        place = self._store.place
        address = place.url.render_as_string(hide_password=False)
        if place.without_secrets(address) != address:
            raise LedgerError(
                f"the ledger {place} has a password in its address, which is not written into a pickle: keep "
                "it in the environment (PGPASSWORD) or in the database's own file (~/.pgpass)"
            )
        return _opened_again, (type(self), address)


def _opened_again(kind: Any, address: str) -> Any:
    ledger = kind.open(address, create=False)
    # A ledger that was opened by unpickling is never closed explicitly.
    finalize(ledger, ledger._store.close)
    return ledger
