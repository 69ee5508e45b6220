"""Audits: search for a pair of neighbours that refutes a claimed guarantee, and certify the pair.

Audits spend no budget and use no ledger.
"""

from discreet.audit.exact import audit
from discreet.audit.fidelity import Fidelity, fidelity_test
from discreet.audit.neighbouring import Schema
from discreet.audit.recording import Recording, recording
from discreet.audit.regularity import Regular
from discreet.audit.rounding import RoundingVerdict, rounding_test
from discreet.audit.sequences import StreamSubject, StreamWitness
from discreet.audit.statistical import StatisticalVerdict, statistical_audit
from discreet.audit.tables import Tables, unrolled
from discreet.audit.taps import step_at
from discreet.audit.verdicts import Stage, Verdict, Witness

__all__ = [
    "Fidelity",
    "Recording",
    "Regular",
    "RoundingVerdict",
    "Schema",
    "Stage",
    "StatisticalVerdict",
    "StreamSubject",
    "StreamWitness",
    "Tables",
    "Verdict",
    "Witness",
    "audit",
    "fidelity_test",
    "recording",
    "rounding_test",
    "statistical_audit",
    "step_at",
    "unrolled",
]
