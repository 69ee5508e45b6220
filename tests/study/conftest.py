"""Fixtures for the tests of studies."""

from tests.tools.studies import ledger, visits, written

__all__ = ["ledger", "visits", "written"]
