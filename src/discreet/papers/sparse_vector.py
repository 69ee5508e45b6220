"""Check which variants of the sparse vector technique (Lyu, Su and Li, 2017) are private as claimed.

A variant is defined by the scale of the threshold's noise, whether that noise is redrawn after an answer
"above", the scale of a query's noise (if any), the number of answers "above" after which it stops (if any),
and whether the noisy answer itself is released instead of "above". All noise is Laplace noise. The threshold
is zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet._displays import counted
from discreet._exact.distribution.crossings import Block, Panels, sequence_ball
from discreet._exact.numbers.balls import ball_of, precision
from discreet._exact.numbers.noise_scales import NoiseScales
from discreet.audit import Verdict
from discreet.audit.sequences import audit_stream
from discreet.guarantees import PureDP
from discreet.mechanisms.facts import Floats
from discreet.papers.catalogue import claims_of
from discreet.papers.findings import Finding, Scope, consistent, established, refuted

claim = claims_of("sparse-vector")

Said = tuple[Any, Any]
"""A value and its answer: False, True, or the released number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One variant of the sparse vector technique, at a stated ε.

    Attributes:
        title: its authors.
        threshold_scale: the scale of the threshold's noise.
        query_scale: the scale of each query's noise; None for no noise.
        crossings: the number of answers "above" after which it stops; None if it never stops.
        drawn_anew: whether the threshold's noise is redrawn after each answer "above".
        releases_numbers: whether the noisy answer is released instead of "above".
        sensitivity: Δ.
    """

    title: str
    threshold_scale: Fraction
    query_scale: Fraction | None
    crossings: int | None
    drawn_anew: bool = False
    releases_numbers: bool = False
    sensitivity: Fraction = Fraction(1)
    middle: Fraction = Fraction(0)

    @property
    def exchangeable(self) -> bool:
        """Whether the order of queries and answers does not matter."""
        return not self.drawn_anew

    @property
    def _scales(self) -> NoiseScales:
        second = self.threshold_scale if self.query_scale is None else self.query_scale
        return NoiseScales(self.threshold_scale, second, two_sided=True)

    def _draws(
        self, asked: Sequence[Said], times: Sequence[int]
    ) -> Iterator[list[tuple[Said, int]]]:
        """Yield the queries and their answers in groups that share one draw of the threshold's noise."""
        part: list[tuple[Said, int]] = []
        for said, often in zip(asked, times, strict=True):
            if self.drawn_anew and said[1] is not False:
                for _ in range(often):
                    yield [*part, (said, 1)]
                    part = []
            else:
                part.append((said, often))
        if part:
            yield part

    def sequence_ball(
        self,
        values: Any,
        answers: Sequence[Any],
        times: Sequence[int] | None = None,
        *,
        bits: int = 100,
    ) -> Any:
        """Return an interval that contains the probability (for numbers, the density) of these answers."""
        asked = list(zip(map(Fraction, values), answers, strict=True))
        parts = [
            self._part_ball(part, bits)
            for part in self._draws(asked, [1] * len(asked) if times is None else times)
        ]
        with precision(2 * bits):
            return math.prod(parts, start=ball_of(1))

    def _part_ball(self, part: list[tuple[Said, int]], bits: int) -> Any:
        least: list[Fraction] = []
        most: list[Fraction] = []
        blocks: list[Block] = []
        with precision(2 * bits):
            density = ball_of(1)
        for (value, answer), often in part:
            if self.query_scale is None:
                (most if answer else least).append(value)
            elif isinstance(answer, bool):
                blocks.append(Block(value, answer, often))
            else:
                most.append(answer)
                with precision(2 * bits):
                    one = ball_of(-abs(answer - value) / self.query_scale).exp()
                    density *= (one / ball_of(2 * self.query_scale)) ** often
        chance = sequence_ball(
            blocks,
            self._scales,
            least=max(least) if least else None,
            most=min(most) if most else None,
            bits=bits,
        )
        with precision(2 * bits):
            return chance * density

    def sequence_logs(self, rows: Floats, answers: Sequence[Any], times: Sequence[int]) -> Floats:
        """Return the log-probability of these answers for each row of query values, in floats."""
        asked = list(zip(range(len(answers)), answers, strict=True))
        total = np.zeros(len(rows))
        for part in self._draws(asked, times):
            total = total + self._part_logs(rows, part)
        return total

    def _part_logs(self, rows: Floats, part: list[tuple[Said, int]]) -> Floats:
        if self.query_scale is None:
            return self._interval_logs(rows, part)
        numbers = [float(answer) for (_, answer), _ in part if not isinstance(answer, bool)]
        different = np.unique(rows[:, [place for (place, _), _ in part]]).tolist()
        panels = Panels(
            self._scales,
            [*different, *numbers],
            longest=sum(often for _, often in part),
            steepest=max(often for _, often in part),
        )
        logs = np.zeros((len(rows), len(panels.points)))
        for (place, answer), often in part:
            column = rows[:, place]
            if isinstance(answer, bool):
                values, where = np.unique(column, return_inverse=True)
                logs += (often * panels.log_chances(values, above=answer))[where.reshape(-1)]
            else:
                scale = float(self.query_scale)
                density = -np.abs(float(answer) - column) / scale - math.log(2 * scale)
                logs += often * density[:, None]
                logs[:, panels.points > float(answer)] = -np.inf
        return panels.log_integrals(logs)

    def _interval_logs(self, rows: Floats, part: list[tuple[Said, int]]) -> Floats:
        """Return log-probabilities for queries without noise; their answers bound the threshold's noise."""
        above = [place for (place, answer), _ in part if answer]
        below = [place for (place, answer), _ in part if not answer]
        most = rows[:, above].min(axis=1) if above else np.full(len(rows), np.inf)
        least = rows[:, below].max(axis=1) if below else np.full(len(rows), -np.inf)
        scale = float(self.threshold_scale)

        def up_to(x: Floats) -> Floats:
            return np.where(
                x < 0, 0.5 * np.exp(-np.abs(x) / scale), 1 - 0.5 * np.exp(-np.abs(x) / scale)
            )

        with np.errstate(divide="ignore"):
            return np.log(np.where(most > least, up_to(most) - up_to(least), 0.0))


def variants(epsilon: Fraction, crossings: int) -> dict[str, Variant]:
    """Return the six variants at ε; those that stop do so after ``crossings`` answers "above"."""
    half, count = epsilon / 2, Fraction(crossings)

    def variant(title: str, first: Fraction, second: Fraction | None, **rest: Any) -> Variant:
        return Variant(title=title, threshold_scale=first, query_scale=second, **rest)

    return {
        "1": variant("Lyu, Su and Li", 1 / half, 2 * count / half, crossings=crossings),
        "2": variant(
            "Dwork and Roth", count / half, 2 * count / half, crossings=crossings, drawn_anew=True
        ),
        "3": variant(
            "Roth (lecture notes)",
            1 / half,
            count / half,
            crossings=crossings,
            releases_numbers=True,
        ),
        "4": variant("Lee and Clifton", 4 / epsilon, 4 / (3 * epsilon), crossings=crossings),
        "5": variant("Stoddard and others", 1 / half, None, crossings=None),
        "6": variant("Chen and others", 1 / half, 1 / half, crossings=None),
    }


_EPSILON = Fraction(1)


def _audited(
    variant: Variant, epsilon: Fraction, scope: Scope, *, monotonic: bool = False
) -> Verdict:
    """Audit a claimed ε on lists of up to four answers (two if quick) and on blocks of equal values."""
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
    largest = ", and ".join(
        f"{verdict.measured:.6f} with a stop after {counted(stop, 'answer')} “above”"
        for stop, verdict in enumerate(verdicts, 1)
    )
    return consistent(
        _covered(verdicts),
        f"no pair of neighbours and no list of answers exceeds ε; the largest loss found is {largest}",
    )


@claim("Variant 1")
def _variant_1(scope: Scope) -> Finding:
    """With threshold noise of scale 2Δ/ε, query noise of scale 4cΔ/ε and a stop after c answers “above”, the
    technique is ε-differentially private."""
    return _holds("1", scope)


@claim("Variant 2 (Dwork and Roth)")
def _variant_2(scope: Scope) -> Finding:
    """With threshold noise of scale 2cΔ/ε that is redrawn after each “above”, query noise of scale 4cΔ/ε
    and a stop after c such answers, the technique is ε-differentially private."""
    return _holds("2", scope)


def _grows(number: str, scope: Scope, why: str) -> Finding:
    """Return the finding that neither ε nor, in a full run, 10ε holds; ``why`` says how the loss grows."""
    variant = variants(_EPSILON, 1)[number]
    multiples = (1,) if scope.quick else (1, 10)
    verdicts = [_audited(variant, multiple * _EPSILON, scope) for multiple in multiples]
    established(
        all(verdict.status == "refuted" for verdict in verdicts), "every multiple is refuted"
    )
    tried = " and even ".join(f"{'' if multiple == 1 else multiple}ε" for multiple in multiples)
    return refuted(
        _covered(verdicts[:1]),
        f"{why}: the loss grows with the list, and the search refutes {tried}",
        witness=_shown(verdicts[0]),
        loss=f"{verdicts[0].measured:.6g}",
    )


@claim("Variant 3 (Roth)")
def _variant_3(scope: Scope) -> Finding:
    """With threshold noise of scale 2Δ/ε, query noise of scale 2cΔ/ε, the noisy answer itself released
    instead of “above”, and a stop after c such answers, the technique is ε-differentially private."""
    return _grows(
        "3",
        scope,
        "a released number bounds the noise of the threshold from above, so that every “below” before it "
        "tells a little more",
    )


@claim("Variant 4 (Lee and Clifton)")
def _variant_4(scope: Scope) -> Finding:
    """With threshold noise of scale 4Δ/ε, query noise of scale 4Δ/(3ε) for every c, and a stop after c
    answers “above”, the technique is ε-differentially private."""
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
    """With threshold noise of scale 2Δ/ε, no noise on the queries and no stop, the technique is
    ε-differentially private."""
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
    """With noise of scale 2Δ/ε on the threshold and on each query, and no stop, the technique is
    ε-differentially private."""
    return _grows("6", scope, "every “above” tells as much as the first, and nothing stops them")
