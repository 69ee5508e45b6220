"""Audits for the page, each in its own process."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from discreet._exact.numbers.exact import positive_distance, probability, refuse
from discreet.analysis.charts.style import TITLES
from discreet.audit import Regular, audit
from discreet.errors import DiscreetError, ParameterError
from discreet.explore.attack import band
from discreet.explore.choices import Wanted
from discreet.explore.settings import mechanism_at, takes_delta
from discreet.guarantees import ZCDP, ApproxDP, BoundedRange, Guarantee, PureDP
from discreet.mechanisms import Mechanism

Claimed: TypeAlias = Callable[[Mapping[str, Any]], Guarantee | Regular]

_CLAIMS: dict[str, tuple[str, Claimed, str]] = {
    "pure": (
        "ε-differential privacy",
        lambda asked: PureDP(asked["amount"]),
        "ε-differentially private with ε = {amount}",
    ),
    "bounded-range": (
        "ε-bounded range",
        lambda asked: BoundedRange(asked["amount"]),
        "of bounded range with ε = {amount}",
    ),
    "zcdp": (
        "ρ-zCDP",
        lambda asked: ZCDP(asked["amount"]),
        "ρ-zero-concentrated differentially private (zCDP) with ρ = {amount}",
    ),
    "approx": (
        "(ε, δ)-differential privacy",
        lambda asked: ApproxDP(asked["amount"], asked["delta"]),
        "(ε, δ)-differentially private with ε = {amount}, δ = {delta}",
    ),
    "regular": ("regularity", lambda _: Regular(), "regular"),
}
CLAIMS = {name: title for name, (title, _, _) in _CLAIMS.items()}
"""The titles of the claims that the page can audit."""
MOST_AUDITED = 6
"""The largest number of candidates in an audit."""


def audit_request(given: object) -> dict[str, Any]:
    """Check and return the parts of a page's request for an audit, before a process is started."""
    asked = Wanted(given)
    monotonic = asked.get("monotonic")
    if monotonic not in (None, True, False):
        raise refuse("monotonic", monotonic, "true, false or null (both)")
    request = {
        "mechanism": asked.mechanism(),
        "claim": asked.one_of("claim", CLAIMS),
        "monotonic": monotonic,
        "n": asked.whole("n", least=2, most=MOST_AUDITED),
        **{
            name: str(asked.get(name, ""))[:40]
            for name in ("epsilon", "amount", "delta", "sensitivity")
        },
    }
    _mechanism(request)
    positive_distance("sensitivity", request["sensitivity"])
    try:
        _claim(request)
    except ParameterError as error:
        # The page has a single field for the claimed ε or ρ.
        raise ParameterError(re.sub(r"^(epsilon|rho)=", "amount=", str(error))) from None
    return request


def _claim(request: Mapping[str, Any]) -> Guarantee | Regular:
    return _CLAIMS[request["claim"]][1](request)


def _mechanism(request: Mapping[str, Any]) -> Mechanism:
    name = request["mechanism"]
    delta = probability("delta", request["delta"]) if takes_delta(name) else Fraction(0)
    return mechanism_at(name, delta, epsilon=request["epsilon"])


@contextmanager
def _reporting(sender: Connection) -> Iterator[None]:
    """Send errors to the page. Ignore an interrupt at the terminal, because the server ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    except DiscreetError as error:
        sender.send(("error", str(error)))
    except BrokenPipeError:
        return
    finally:
        sender.close()


def run_audit(sender: Connection, request: dict[str, Any]) -> None:
    """Run an audit; send its progress, and then its result, to the process that started it."""
    with _reporting(sender):
        verdict = audit(
            _mechanism(request),
            _claim(request),
            sensitivity=request["sensitivity"],
            monotonic=request["monotonic"],
            n=range(2, request["n"] + 1),
            progress=lambda stage, fraction: sender.send(("progress", stage, fraction)),
        )
        pair = verdict.witness or verdict.worst
        drawn = None
        if pair is not None and request["claim"] in ("pure", "bounded-range", "approx"):
            kind = "bounded-range" if request["claim"] == "bounded-range" else "pure"
            drawn = band(
                kind, float(verdict.claimed), pair.probabilities, pair.neighbour_probabilities
            )
        name = TITLES[request["mechanism"]]
        who = f"{name[0].upper()}{name[1:]} at ε = {request['epsilon']}"
        what = _CLAIMS[request["claim"]][2].format(**request)
        sender.send(("done", {**verdict.as_dict(), "drawn": drawn, "who": who, "what": what}))
