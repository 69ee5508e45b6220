"""What the fixture ``audited`` does: audit, tell the report, and fail with the witness."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from discreet.audit.cards import explanation, figures, headline
from discreet.audit.exact import audit
from discreet.audit.samplers import takes_size
from discreet.audit.sequences import StreamSubject
from discreet.audit.statistical import statistical_audit
from discreet.audit.subjects import AuditedScores
from discreet.audit.verdicts import Verdict
from discreet.guarantees import Guarantee
from discreet.mechanisms.mechanism import Mechanism


@dataclass(slots=True, kw_only=True)
class Audited:
    """The audits of one test.

    Attributes:
        test: the name of the test.
        effort: how long audits look.
        seed: of the whole suite; every test has one of its own that follows from it.
        false_alarm: this test's share of the error rate; its audits by sampling get a half, a quarter, ….
        suspects_fail: whether a claim that sampling makes suspect fails the test.
        tell: is given the properties of the test, for the report and for JUnit.

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
        """Audit a mechanism's probabilities, or what it draws; fail where the claim is refuted.

        Args:
            subject: as for :func:`discreet.audit.audit` or :func:`discreet.audit.statistical_audit`.
            claim: the guarantee.
            sampled: whether the subject only samples; None finds out by its form.
            suspects_fail: whether a suspect claim fails; None for ``--audit-suspects``.
            options: those of the audit, such as ``sensitivity`` and ``n``.
        """
        __tracebackhide__ = True
        given: dict[str, Any] = {"effort": self.effort, **options}
        if only_samples(subject, options) if sampled is None else sampled:
            self._sampled += 1
            digest = hashlib.sha256(f"{self.seed} {self.test} {self._sampled}".encode()).digest()
            given = {
                "false_alarm": self.false_alarm / 2**self._sampled,
                "seed": int.from_bytes(digest[:4]),
                **given,
            }
            verdict: Verdict = statistical_audit(subject, claim, **given)
        else:
            verdict = audit(subject, claim, **given)
        lines = _reproduced(subject, claim, verdict, given)
        self._told(verdict, lines, {key: given[key] for key in ("seed",) if key in given})
        fails = self.suspects_fail if suspects_fail is None else suspects_fail
        if verdict.status == "refuted" or (verdict.status == "suspect" and fails):
            pytest.fail(_failure(verdict, lines), pytrace=False)
        return verdict

    def _told(self, verdict: Verdict, lines: list[str], more: Mapping[str, Any]) -> None:
        details = verdict.as_dict()
        summary = headline(verdict)
        told = {
            "test": self.test,
            "summary": summary,
            **{key: details.pop(key) for key in ("subject", "claim", "status", "measured")},
            **{key: details.pop(key) for key in ("claimed", "symbol", "seconds", "witness")},
            "reproduce": lines,
            **more,
            "details": details,
        }
        record = json.dumps(told, ensure_ascii=False, allow_nan=False)
        self.tell([("audit_verdict", summary), ("audit", record)])


def only_samples(subject: Any, options: Mapping[str, Any]) -> bool:
    """Whether the subject draws answers; otherwise it tells their probabilities.

    A function of scores alone is tried on two of them: what it returns is a law if it is a mapping, or as
    many numbers as candidates that sum to one.

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
        return False  # the audit will see it again
    try:
        return not isinstance(told, Mapping) and abs(sum(map(float, told)) - 1) > 1e-6
    except (TypeError, ValueError):
        return True


def _failure(verdict: Verdict, lines: list[str]) -> str:
    return "\n".join(
        [
            headline(verdict),
            f"  claim      {verdict.claim}",
            f"  measured   {figures(verdict)}",
            f"  witness    {verdict.witness}",
            f"             {explanation(verdict)}",
            "  reproduce",
            *(f"    {line}" for line in lines),
        ]
    )


def _reproduced(
    subject: Any, claim: Guarantee, verdict: Verdict, given: Mapping[str, Any]
) -> list[str]:
    """Three lines of Python that repeat the audit."""
    name = getattr(subject, "__qualname__", None)
    module = getattr(subject, "__module__", "__main__")
    if isinstance(subject, Mechanism):
        name, found = "subject", f"subject = {subject!r}"
    elif name is not None and name.isidentifier():
        found = f"from {module} import {name}"
    else:
        name, found = "subject", f"subject = ...  # {verdict.subject}, as in the test"
    function = "statistical_audit" if "seed" in given else "audit"
    options = "".join(f", {key}={value!r}" for key, value in given.items())
    return [
        f"from discreet import *; from discreet.audit import {function}",
        found,
        f"print({function}({name}, {claim!r}{options}))",
    ]
