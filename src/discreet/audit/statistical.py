"""The statistical audit: test the claimed guarantee of a black box that only draws samples."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from discreet._exact.numbers.exact import positive_distance, refuse, whole
from discreet._exact.sampling import ScriptedBits
from discreet._exact.sampling.seeding import seeded
from discreet.audit.bounds import LossBound, bound_for, frequencies
from discreet.audit.confidence import error_rate
from discreet.audit.exact import claimed_noise_scale, numbers_of_candidates, relations_for
from discreet.audit.exploration import Drawn, finalists
from discreet.audit.relations import Neighbours, ScoreGrid
from discreet.audit.samplers import Counts, OutOfTime, Sampler
from discreet.audit.search import Found, Progress, Search, checked_effort, silent
from discreet.audit.verdicts import Verdict, Witness, plain
from discreet.guarantees import Guarantee

SIZES = (2, 3, 5)
_DRAWS = {"quick": (50_000, 200), "usual": (500_000, 500), "thorough": (2_000_000, 1000)}
"""For each effort, the number of samples and the number of draws for exploration."""
_CROWD = 30
_FIRST_ROUND = 20_000
_UNTIL = (0.3, 0.5, 0.65, 1.0)
"""The fractions of the time limit at which the stages end: small and long vectors, very large scores, a
second look, and judging.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticalVerdict(Verdict):
    """The outcome of a statistical audit.

    ``measured`` is a lower confidence bound: the true loss is at least this, except with probability at most
    ``false_alarm`` over the whole audit. ``estimate`` is a point estimate from the same draws.

    Example:
        >>> from discreet import PureDP
        >>> verdict = statistical_audit(lambda scores: int(scores.argmax()), PureDP(1), n=2, samples=2000)
        >>> verdict.holds, verdict.false_alarm
        (False, 1e-09)
    """

    draws: int = 0
    false_alarm: float = 0.0
    estimate: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values, ready for JSON."""
        # super() without arguments fails here, because slots=True rebuilds the class.
        told = Verdict.as_dict(self)
        return told | {name: getattr(self, name) for name in ("draws", "false_alarm", "estimate")}


def statistical_audit(
    function: Any,
    claim: Guarantee,
    *,
    sensitivity: object = 1,
    monotonic: bool | None = None,
    n: int | Iterable[int] | None = None,
    neighbours: Neighbours | None = None,
    effort: str = "usual",
    samples: int | None = None,
    false_alarm: float = 1e-9,
    explore: int | None = None,
    seed: int | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> StatisticalVerdict:
    """Test a claim by sampling: compute a lower confidence bound on the loss of the worst pairs found.

    The audit first explores pairs with ``explore`` draws for each score vector: small vectors, long vectors
    with few distinct scores, and scores so large that powers of e overflow. It then judges the few most
    informative pairs on new draws only, in rounds of growing size. Every bound is a Clopper–Pearson bound,
    and all bounds of all rounds share ``false_alarm`` equally (Bonferroni). So a true claim is called suspect
    with at most that probability, however the pairs were found (``docs/proofs/auditing.md``). The status
    "refuted" is reserved for exact witnesses. The other arguments are the same as for ``audit``.

    Args:
        function: a mechanism, ``function(scores, size)`` that returns positions or a list of answers of any
            kind, or ``function(scores)`` that returns one answer. An exception or a NaN is an answer like
            any other, and a float is rounded down to a multiple of half the claimed noise scale.
        claim: ``PureDP``, ``BoundedRange``, ``ZCDP`` or ``ApproxDP``.
        n: one or more numbers of candidates; None tries 2, 3 and 5, and 30 with few distinct scores.
        effort: ``"quick"``, ``"usual"`` or ``"thorough"``: 50,000, 500,000 or 2,000,000 samples.
        samples: the largest number of draws for one score vector; by default set by ``effort``.
        false_alarm: the largest probability of calling a true claim suspect.
        explore: the number of draws for each score vector during exploration; by default set by ``effort``.
        seed: a seed for the generators of Python, NumPy and our own mechanisms, to make the audit repeatable;
            None leaves the generators unchanged.
        seconds: the time limit, kept to within about a second and one call of ``function``; None for no
            limit. Half of the time is for exploration, and the number of draws is chosen to fit.

    Example:
        >>> from discreet import PureDP
        >>> verdict = statistical_audit(lambda scores: int(scores.argmax()), PureDP(1), n=2, samples=2000)
        >>> verdict.status, verdict.measured > 1
        ('suspect', True)
    """
    began = time.perf_counter()
    distance = positive_distance("sensitivity", sensitivity)
    usual = _DRAWS[checked_effort(effort)]
    samples = whole("samples", usual[0] if samples is None else samples, least=100)
    explore = whole("explore", usual[1] if explore is None else explore, least=100)
    seed = None if seed is None else whole("seed", seed, least=0)
    false_alarm = error_rate(false_alarm)
    if seconds is not None and not (isinstance(seconds, float | int) and seconds > 0):
        raise refuse("seconds", seconds, "a time above zero, or None")
    bound, claimed = bound_for(claim)
    tell = progress or silent
    sizes = (*SIZES, _CROWD) if n is None else numbers_of_candidates(n)
    relations = relations_for(monotonic, neighbours)
    sampler = Sampler(
        function,
        sensitivity=distance,
        grain=claimed_noise_scale(claim, relations[0], distance) / 2,
        randomness=None if seed is None else ScriptedBits(seed),
    )
    search = Search(effort, tell)
    until = [math.inf if seconds is None else began + share * seconds for share in _UNTIL]
    with nullcontext() if seed is None else seeded(seed):
        for number, relation in enumerate(relations):
            scale = claimed_noise_scale(claim, relation, distance)
            vectors = (relation, ScoreGrid.for_sensitivity(distance), scale, sizes)
            kind = Drawn(*vectors, sampler, bound, claimed, explore, (until[0], until[1]))
            share = 0.5 / len(relations)
            search.run(kind, begun=number * share, share=share)
        sampler.until = until[2]
        tell("look again", 0.5)
        suspects = finalists(search.found, sampler)
        sampler.forget()
        if seconds is not None:
            samples = _in_time(sampler, samples, began, until[3], len(suspects))
        rounds = _rounds(samples)
        error = false_alarm / (len(rounds) * max(1, len(suspects)))
        best: tuple[float, Found, int] | None = None
        sampler.until = until[3]
        for turn, size in enumerate(rounds):
            tell(f"judge with {size:,} draws", 0.5 + turn / len(rounds) / 2)
            try:
                judged = [
                    (bound.proved(*_tallies(sampler, one, size), one.pair.event, error), one, size)
                    for one in suspects
                ]
            except OutOfTime:
                break
            best = max(
                [*judged, *([best] if best else [])], key=lambda entry: entry[0], default=None
            )
            if best is not None and best[0] > claimed:
                break
    tell("done", 1.0)
    witness, estimate = (None, 0.0) if best is None else _witness(sampler, bound, best)
    suspect = best is not None and best[0] > claimed
    return StatisticalVerdict(
        subject=sampler.name,
        claim=repr(claim),
        status="suspect" if suspect else "not refuted",
        measured=0.0 if best is None else max(0.0, best[0]),
        claimed=claimed,
        symbol=f"{_symbol(claim)} (lower confidence bound)",
        witness=witness if suspect else None,
        worst=witness,
        stages=tuple(replace(stage, largest=0.0) for stage in search.stages),
        evaluations=sum(stage.pairs for stage in search.stages),
        seconds=time.perf_counter() - began,
        notes=(
            f"a true claim is called suspect with probability at most {false_alarm:g}",
            *(("cut short by its time limit",) if sampler.cut_short else ()),
        ),
        draws=sampler.draws,
        false_alarm=false_alarm,
        estimate=estimate,
    )


def _symbol(claim: Guarantee) -> str:
    return "δ" if claim.symbol == "(ε, δ)" else claim.symbol


def _in_time(sampler: Sampler, samples: int, began: float, end: float, finalists: int) -> int:
    """Return the number of samples for each score vector that fits in the remaining time."""
    now = time.perf_counter()
    fits = 0.8 * sampler.draws / (now - began) * (end - now) / (2 * max(1, finalists))
    sampler.cut_short |= fits < samples
    return max(100, min(samples, int(fits)))


def _rounds(samples: int) -> list[int]:
    """Return the sizes of the rounds, up to ``samples``; each is four times the previous one."""
    sizes = [samples]
    while sizes[0] // 4 >= _FIRST_ROUND:
        sizes.insert(0, sizes[0] // 4)
    return sizes


def _tallies(sampler: Sampler, one: Found, size: int) -> tuple[Counts, Counts]:
    scores, neighbour, _ = one.pair
    return sampler.both(scores, neighbour, size, monotonic=one.kind.among.monotonic)


def _witness(
    sampler: Sampler, bound: LossBound, best: tuple[float, Found, int]
) -> tuple[Witness, float]:
    value, one, size = best
    scores, neighbour, event = one.pair
    first, second = _tallies(sampler, one, size)
    shares = frequencies(first), frequencies(second)
    outcome = max(event.members, key=lambda place: float(shares[0][place] - shares[1][place]))
    # The event was chosen from earlier draws, so it may contain answers that do not occur in these draws.
    witness = Witness(
        scores=plain(scores),
        neighbour=plain(neighbour),
        relation=one.kind.relation,
        outcome=outcome,
        probability=float(shares[0][outcome]),
        neighbour_probability=float(shares[1][outcome]),
        value=value,
        certainty=f"{size:,} draws of each",
        probabilities=tuple(shares[0].tolist()),
        neighbour_probabilities=tuple(shares[1].tolist()),
        other=event.other,
        event=event.members if len(event.members) > 1 else (),
        answers=sampler.answers(len(scores)),
    )
    return witness, float(bound.estimate(first, second, event)[0])
