"""The six variants of the sparse vector technique that Lyu, Su and Li compare, as they were claimed."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from discreet.audit import Verdict
from discreet.audit.sequences import audit_stream
from discreet.guarantees import PureDP
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, Scope, consistent, established, refuted
from discreet.papers.sparse_vector.algorithms import Variant, variants

claim = claims_of("sparse-vector")

_EPSILON = Fraction(1)


def _audited(
    variant: Variant, epsilon: Fraction, scope: Scope, *, monotonic: bool = False
) -> Verdict:
    """The audit of a claimed ε; a quick one looks at shorter lists of answers before the long ones."""
    lengths = range(1, 1 + scope.size(full=4, quick=2))
    return audit_stream(variant, PureDP(epsilon), monotonic=monotonic, lengths=lengths, blocks=True)


def _covered(verdicts: Iterable[Verdict]) -> str:
    return "ε = 1, Δ = 1; " + "; ".join(dict.fromkeys(verdict.coverage for verdict in verdicts))


def _shown(verdict: Verdict) -> dict[str, Any]:
    assert verdict.witness is not None
    return {**verdict.witness.as_dict(), "loss": f"{verdict.measured:.6g}"}


def _holds(number: str, scope: Scope) -> Finding:
    verdicts = [
        _audited(variants(_EPSILON, crossings)[number], _EPSILON, scope)
        for crossings in ((1,) if scope.quick else (1, 2))
    ]
    established(all(verdict.holds for verdict in verdicts), "the claim survives the search")
    largest = ", ".join(f"{verdict.measured:.6f}" for verdict in verdicts)
    return consistent(
        _covered(verdicts),
        f"no pair of neighbours and no list of answers exceeds ε; the largest loss found is {largest} with "
        f"a stop after {' '.join(str(c + 1) for c in range(len(verdicts)))} answers “above”",
    )


@claim("Variant 1")
def _variant_1(scope: Scope) -> Finding:
    """With threshold noise of scale 2Δ/ε, query noise of scale 4cΔ/ε and a stop after c answers “above”, the
    technique is ε-differentially private."""
    return _holds("1", scope)


@claim("Variant 2 (Dwork and Roth)")
def _variant_2(scope: Scope) -> Finding:
    """With threshold noise of scale 2cΔ/ε that is drawn anew after each “above”, query noise of scale 4cΔ/ε
    and a stop after c of them, it is ε-differentially private."""
    return _holds("2", scope)


def _grows(number: str, scope: Scope, why: str) -> Finding:
    """Whatever multiple of the claimed ε is tried, a longer list of answers refutes it."""
    variant = variants(_EPSILON, 1)[number]
    multiples = (1,) if scope.quick else (1, 10)
    verdicts = [_audited(variant, multiple * _EPSILON, scope) for multiple in multiples]
    established(
        all(verdict.status == "refuted" for verdict in verdicts), "every multiple is refuted"
    )
    tried = ", ".join(f"{'' if multiple == 1 else multiple}ε" for multiple in multiples)
    return refuted(
        _covered(verdicts[:1]),
        f"{why}: the loss grows with the list, and the search refutes {tried} alike",
        witness=_shown(verdicts[0]),
        loss=f"{verdicts[0].measured:.6g}",
    )


@claim("Variant 3 (Roth)")
def _variant_3(scope: Scope) -> Finding:
    """With query noise of scale 2cΔ/ε, and the noisy answer itself released in place of “above”, it is
    ε-differentially private."""
    return _grows(
        "3",
        scope,
        "a released number bounds the noise of the threshold from above, so that every “below” before it "
        "tells a little more",
    )


@claim("Variant 4 (Lee and Clifton)")
def _variant_4(scope: Scope) -> Finding:
    """With threshold noise of scale 4Δ/ε, query noise of scale 4Δ/(3ε) whatever c is, and a stop after c
    answers “above”, it is ε-differentially private."""
    worst: dict[str, str] = {}
    first: Verdict | None = None
    for crossings in (1,) if scope.quick else (1, 2):
        variant = variants(_EPSILON, crossings)["4"]
        general = _audited(variant, _EPSILON, scope)
        first = first or general
        established(general.status == "refuted", "the claim for general queries is refuted")
        bound = _EPSILON * (1 + 6 * crossings) / 4
        established(_audited(variant, bound, scope).holds, "(1 + 6c)ε/4 is not refuted")
        same_way = _audited(variant, _EPSILON, scope, monotonic=True)
        established(same_way.holds == (crossings == 1), "only c = 1 is private if all move one way")
        worst[f"c = {crossings}"] = (
            f"{general.measured:.6g} for general queries, {same_way.measured:.6g} for queries that all "
            "move the same way"
        )
    assert first is not None
    return refuted(
        _covered([first]),
        "refuted for general queries, whose loss comes to (1 + 6c)ε/4 and no more; with c = 1 and queries "
        "that one person moves all the same way it is not refuted, and the loss found is ε",
        witness=_shown(first),
        **worst,
    )


@claim("Variant 5 (Stoddard and others)")
def _variant_5(scope: Scope) -> Finding:
    """With threshold noise of scale 2Δ/ε, no noise on the queries and no stop, it is ε-differentially
    private."""
    verdict = _audited(variants(_EPSILON, 1)["5"], _EPSILON, scope)
    established(verdict.witness is not None, "there is a witness")
    return refuted(
        _covered([verdict]),
        "two queries are enough: without noise of their own their order is released, and what one data set "
        "answers with a positive probability its neighbour never answers",
        witness=_shown(verdict),
        loss=str(verdict.measured),
    )


@claim("Variant 6 (Chen and others)")
def _variant_6(scope: Scope) -> Finding:
    """With noise of scale 2Δ/ε on the threshold and on each query, and no stop, it is ε-differentially
    private."""
    return _grows("6", scope, "every “above” tells as much as the first, and nothing stops them")
