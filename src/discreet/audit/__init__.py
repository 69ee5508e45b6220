"""Audits: search for a pair of neighbours that refutes a claimed guarantee, and certify it.

Nothing here spends budget or touches a ledger.
"""

from discreet.audit.exact import audit
from discreet.audit.regularity import Regular
from discreet.audit.verdicts import Stage, Verdict, Witness

__all__ = ["Regular", "Stage", "Verdict", "Witness", "audit"]
