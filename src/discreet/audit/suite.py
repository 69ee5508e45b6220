"""The pytest fixture ``audited``: run an audit, report it, and fail the test if the claim is refuted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from discreet.audit.audited_scores import AuditedScores
from discreet.audit.cards import explanation, figures, headline
from discreet.audit.exact import audit
from discreet.audit.neighbouring import Schema
from discreet.audit.recording import Recording, recording
from discreet.audit.samplers import takes_size
from discreet.audit.sequences import StreamSubject
from discreet.audit.statistical import statistical_audit
from discreet.audit.verdicts import Verdict
from discreet.guarantees import Guarantee
from discreet.mechanisms.mechanism import Mechanism


@dataclass(slots=True, kw_only=True)
class Audited:
    """The value of the fixture ``audited``: it runs and reports the audits of one test.

    Attributes:
        test: the name of the test.
        effort: how thorough the audits are: ``"quick"``, ``"usual"`` or ``"thorough"``.
        seed: the seed of the whole suite; each test derives its own seed from it.
        false_alarm: this test's share of the error rate; its sampling audits get a half, a quarter, … of it.
        suspects_fail: whether a claim that is suspect by sampling fails the test.
        tell: a function that receives (name, value) pairs, for the report and for JUnit.

    Example:
        >>> from discreet import PermuteAndFlip, PureDP
        >>> told = []
        >>> audited = Audited(test="test_mine", tell=told.extend)
        >>> audited(PermuteAndFlip(epsilon=1), PureDP(1), n=2).status, told[0]
        ('proved', ('audit_verdict', 'PermuteAndFlip(epsilon=1) is PureDP(1): proved'))
    """

    test: str
    effort: str = "usual"
    seed: int = 0
    false_alarm: float = 1e-6
    suspects_fail: bool = False
    tell: Callable[[Iterable[tuple[str, object]]], object]
    _sampled: int = field(default=0, init=False)

    def __call__(
        self,
        subject: Any,
        claim: Guarantee,
        *,
        sampled: bool | None = None,
        suspects_fail: bool | None = None,
        **options: Any,
    ) -> Verdict:
        """Audit a mechanism's probabilities or its draws; fail the test if the claim is refuted.

        Args:
            subject: as for :func:`discreet.audit.audit` or :func:`discreet.audit.statistical_audit`.
            claim: the guarantee.
            sampled: whether the subject only samples; None means automatic detection.
            suspects_fail: whether a suspect claim fails the test; the default is set by ``--audit-suspects``.
            options: the options of the audit, such as ``sensitivity`` and ``n``.
        """
        __tracebackhide__ = True
        given: dict[str, Any] = {"effort": self.effort, **options}
        if only_samples(subject, options) if sampled is None else sampled:
            self._sampled += 1
            share = self.false_alarm / 2**self._sampled
            given = {"false_alarm": share, "seed": self._own_seed(self._sampled), **given}
            verdict: Verdict = statistical_audit(subject, claim, **given)
        else:
            verdict = audit(subject, claim, **given)
        name, found = _imported(subject, verdict.subject)
        function = "statistical_audit" if "seed" in given else "audit"
        call = f"print({function}({name}, {claim!r}{_options(given)}))"
        lines = [f"from discreet import *; from discreet.audit import {function}", found, call]
        self._told(headline(verdict), verdict.as_dict(), lines, given)
        fails = self.suspects_fail if suspects_fail is None else suspects_fail
        if verdict.status == "refuted" or (verdict.status == "suspect" and fails):
            told = [
                f"claim      {verdict.claim}",
                f"measured   {figures(verdict)}",
                f"witness    {verdict.witness}",
                f"           {explanation(verdict)}",
            ]
            pytest.fail(_failure(headline(verdict), told, lines), pytrace=False)
        return verdict

    def pipeline(
        self,
        run: Callable[[Any], Any],
        tables: Any,
        claim: Guarantee | None = None,
        **options: Any,
    ) -> Recording:
        """Record a pipeline on neighbouring tables; fail the test if there are findings.

        Args:
            run: the pipeline, a function of a table.
            tables: a :class:`~discreet.audit.Schema`, or a table.
            claim: the guarantee claimed for the whole pipeline.
            options: the options of :func:`discreet.audit.recording`.
        """
        __tracebackhide__ = True
        given = {"effort": self.effort, "seed": self._own_seed("pipeline"), **options}
        recorded = recording(run, tables, claim, **given)
        name, found = _imported(run, recorded.subject)
        table = repr(tables) if isinstance(tables, Schema) else "table"
        lines = [
            "from discreet import *; from discreet.audit import *",
            found,
            f"print(recording({name}, {table}, {claim!r}{_options(given)}))",
        ]
        told = recorded.as_dict() | {"claim": None if claim is None else repr(claim)}
        self._told(recorded.summary, told, lines, given)
        if not recorded.holds:
            findings = [line for one in recorded.findings for line in str(one).split("\n")]
            pytest.fail(_failure(recorded.summary, findings, lines), pytrace=False)
        return recorded

    def _own_seed(self, what: object) -> int:
        """Return a seed for one audit of this test; earlier tests do not affect it."""
        digest = hashlib.sha256(f"{self.seed} {self.test} {what}".encode()).digest()
        return int.from_bytes(digest[:4])

    def _told(
        self, summary: str, found: Mapping[str, Any], lines: list[str], given: Mapping[str, Any]
    ) -> None:
        told = {
            "test": self.test,
            "summary": summary,
            **{key: found[key] for key in _TOLD if key in found},
            "reproduce": lines,
            **{key: given[key] for key in ("seed", "false_alarm") if key in given},
            "details": {key: value for key, value in found.items() if key not in _TOLD},
        }
        record = json.dumps(told, ensure_ascii=False, allow_nan=False)
        self.tell([("audit_verdict", summary), ("audit", record)])


_TOLD = (
    *("subject", "claim", "status", "measured", "claimed"),
    *("symbol", "witness", "findings", "seconds"),
)
"""The fields that come first in the record of a verdict or a recording."""


def only_samples(subject: Any, options: Mapping[str, Any]) -> bool:
    """Return whether the subject draws answers rather than returning their probabilities.

    A function that takes only scores is tried on two candidates. A result that is a
    mapping, or numbers that sum to one, counts as probabilities.

    Example:
        >>> only_samples(lambda scores: [0.5, 0.5], {}), only_samples(lambda scores: 0, {})
        (False, True)
    """
    stream = isinstance(getattr(subject, "rule", subject), StreamSubject)
    if stream or isinstance(subject, type) or "inputs" in options:
        return False
    if hasattr(subject, "probabilities") or hasattr(subject, "log_probabilities"):
        return False
    if callable(getattr(subject, "sample", None)) or takes_size(subject):
        return True
    try:
        told = subject(AuditedScores([1.0, 0.0], sensitivity=1))
    except Exception:
        return False  # the audit will raise the error again
    try:
        return not isinstance(told, Mapping) and abs(sum(map(float, told)) - 1) > 1e-6
    except (TypeError, ValueError):
        return True


def _failure(summary: str, told: list[str], lines: list[str]) -> str:
    indented = [f"  {line}" for line in told] + ["  reproduce"] + [f"    {line}" for line in lines]
    return "\n".join([summary, *indented])


def _imported(subject: Any, words: str) -> tuple[str, str]:
    """Return the subject's name and a line of code that imports or assigns it, to reproduce a failure."""
    name, module = getattr(subject, "__qualname__", ""), getattr(subject, "__module__", "")
    if isinstance(subject, Mechanism):
        return "subject", f"subject = {subject!r}"
    if name.isidentifier() and module:
        return name, f"from {module} import {name}"
    return "subject", f"subject = ...  # {words}, as in the test"


def _options(given: Mapping[str, Any]) -> str:
    return "".join(f", {key}={value!r}" for key, value in given.items())
