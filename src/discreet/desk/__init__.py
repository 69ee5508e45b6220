"""A desk in front of the data: analysts ask, rows stay with the owner, and a ledger counts the budget.

``connect`` is the analyst's side. The owner's side is on the command line: ``discreet desk``.
"""

from discreet.desk.client import RemoteDesk, RemoteTable, connect

__all__ = ["RemoteDesk", "RemoteTable", "connect"]
