"""The fixtures of studies, which only this room needs."""

from tests.tools.studies import ledger, visits, written

__all__ = ["ledger", "visits", "written"]
