"""Exponential randomized response, section IV: printed and actual disclosure risk, ε for a given risk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet._exact.numbers.balls import ball_of
from discreet.analysis import disclosure_bound, epsilon_for_risk
from discreet.mechanisms import ExponentialRandomizedResponse
from discreet.papers.catalogue import claims_of, figure
from discreet.papers.figure import Axis, Drawing, Floats, Line, Lines, shown
from discreet.papers.findings import Finding, Scope, consistent, established, refuted, unless
from discreet.papers.permute_and_flip.algorithms import distribution_with_replacement
from discreet.papers.problems import Law, Number, Problem, balls, lattice, neighbours
from discreet.papers.randomized_response.algorithms import chain, lemma_1
from discreet.scores import Scores

claim = claims_of("exponential-randomized-response")


_RESPONSE: Law = partial(lemma_1, truth=Fraction(3, 4), reading=chain)


def _posterior_in(worlds: Sequence[tuple[int, ...]], law: Law, epsilon: Fraction) -> Number:
    """Return the largest posterior belief in any of these equally likely worlds, after any answer."""
    chances = zip(*(law(Problem(scores, epsilon=epsilon)) for scores in worlds), strict=True)
    return max((max(pair, key=float) / sum(pair, ball_of(0)) for pair in chances), key=float)


def _bound(worlds: int, epsilon: Fraction, *, steps: int = 1) -> Number:
    """Return the bound on the risk, 1/(1 + (|Ω| − 1)e^(−kε)) with k = ``steps``; the paper has k = 1."""
    return 1 / (1 + (worlds - 1) * ball_of(-steps * epsilon).exp())


@claim("Theorem 2")
def _theorem_2(scope: Scope) -> Finding:
    """The attacker's largest posterior belief about which of the worlds Ω is the true one lies between
    1/|Ω| and 1/(1 + (|Ω| − 1)e^−ε)."""
    one = Fraction(1)
    with balls():
        # A monotonic exponential mechanism at ε = 1 uses exp(εq/Δ), so the problem has ε doubled.
        first, second = (
            distribution_with_replacement(Problem(scores, epsilon=2 * one))[0]
            for scores in ((9, 20), (10, 19))
        )
        posterior = second / (first + second)
        too_high = bool(posterior > _bound(2, one))
        established(posterior <= _bound(2, one, steps=2), "two steps suffice")
        own = _posterior_in(((5, 3, 1), (5, 4, 1)), _RESPONSE, Fraction(1, 10))
        own_too_high = bool(own > _bound(2, Fraction(1, 10)))
        established(_holds_for_neighbouring_worlds(scope), "neighbouring worlds obey it")
    if not too_high or not own_too_high:
        return consistent("two pairs of worlds", "neither refutes it")
    return refuted(
        "uniform prior; ε = 1 for the exponential mechanism, ε = 0.1 and π = ¾ for randomized response",
        "for this mechanism it rests on Theorem 1 and falls with it: worlds (5, 3, 1) and (5, 4, 1), answer "
        f"2, posterior {float(own):.3f} against {float(_bound(2, Fraction(1, 10))):.3f}. The formula itself "
        "needs every two worlds to be neighbours; the worlds “who is missing” are two steps apart under add "
        f"or remove, and the exponential mechanism exceeds it too; with e^(−2ε) it holds. "
        f"Between neighbouring worlds an ε-private mechanism obeys it",
        witness={
            "worlds": [[9, 20], [10, 19]],
            "mechanism": "exponential, monotonic",
            "epsilon": 1,
            "answer": 0,
            "posterior": round(float(posterior), 4),
            "stated bound": round(float(_bound(2, one)), 4),
        },
    )


def _holds_for_neighbouring_worlds(scope: Scope) -> bool:
    """Return whether mutually neighbouring worlds obey the bound under the exponential mechanism at ε = 1."""
    one = Fraction(1)
    for scores in lattice(3, scope.size(full=3, quick=1)):
        worlds = [scores, *(q for q in neighbours(scores, monotonic=True) if q != scores)]
        laws = [distribution_with_replacement(Problem(q, epsilon=one)) for q in worlds]
        for outcome in range(3):
            total = sum((law[outcome] for law in laws), ball_of(0))
            for law in laws:
                if not bool(law[outcome] / total <= _bound(len(worlds), one)):
                    return False
    return True


@claim("Lemma 3")
def _lemma_3(_scope: Scope) -> Finding:
    """Exponential randomized response never discloses more than the exponential mechanism: both obey the
    same bounds."""
    epsilon, worlds = Fraction(1, 10), ((5, 3, 1), (5, 4, 1))
    risks: dict[str, Any] = {}
    with balls():
        for name, law in (
            ("exponential", distribution_with_replacement),
            ("randomized response", _RESPONSE),
        ):
            risks[name] = _posterior_in(worlds, law, epsilon)
        worse = bool(risks["randomized response"] > risks["exponential"])
        outside = bool(risks["randomized response"] > _bound(2, epsilon))
    if not (worse and outside):
        return consistent("one pair of worlds", "the pair does not refute it")
    return refuted(
        "two neighbouring worlds, uniform prior, ε = 0.1, π = ¾",
        "the largest posterior is far above the bound, and above the exponential mechanism's",
        witness={
            "worlds": [list(scores) for scores in worlds],
            "epsilon": 0.1,
            "risk, randomized response": round(float(risks["randomized response"]), 4),
            "risk, exponential": round(float(risks["exponential"]), 4),
            "stated bound": round(1 / (1 + math.exp(-0.1)), 4),
        },
    )


@claim("Section IV-B")
def _section_4b(scope: Scope) -> Finding:
    """For a tolerated risk ϱ, the bound allows an ε of up to ln((|Ω| − 1)ϱ/(1 − ϱ)). With 100 candidates,
    |Ω| = 201 worlds and a tolerated risk of 20%, this is about 4."""
    broken, step = None, scope.size(full=1, quick=7)
    with balls():
        for worlds in (2, 3, 21, 201, 2001):
            for percent in range(1, 100, step):
                risk = ball_of(Fraction(percent, 100))
                epsilon = ((worlds - 1) * risk / (1 - risk)).log()
                back = 1 / (1 + (worlds - 1) * (-epsilon).exp())
                if not back.overlaps(risk):
                    broken = {"worlds": worlds, "risk": percent / 100}
        quoted = float((200 * ball_of(Fraction(1, 5)) / ball_of(Fraction(4, 5))).log())
    if not 3.5 < quoted < 4.5:
        broken = {"epsilon": quoted}
    return unless(
        broken,
        f"the algebra, for five numbers of worlds and risks from 1% to 99% in steps of {step}%",
        "ln 50 is the figure given: about 4. (The rearrangement is right; for worlds k steps apart divide it "
        "by k, and for exponential randomized response the bound does not hold at all, see Theorem 2)",
        epsilon=round(quoted, 4),
    )


@figure(
    "err-fig5",
    "Bound on the risk of disclosure against ε",
    subtitle="Worlds: the data, and one person more or less in each candidate, |Ω| = 2|R| + 1.",
    weight=4,
)
def _figure_5(drawing: Drawing) -> None:
    epsilons = np.linspace(0.1, 12, drawing.scope.size(full=60, quick=16))

    def bound(n: int, steps: int = 1) -> Floats:
        worlds = 2 * n + 1
        return np.array(
            [disclosure_bound(e, worlds=worlds, steps=steps) for e in epsilons.tolist()]
        )

    lines = [
        Line(f"|R| = {n}", epsilons, bound(n), look, at=math.log(2 * n), shift=(8.0, 2.0))
        for n, look in ((2, "1"), (10, "2"), (100, "3"), (1000, "4"))
    ]
    x = Axis("ε", domain=(0.0, 12.0))
    printed = Lines("as printed", x, Axis("bound on the risk", domain=(0.0, 1.0)), lines)
    coarse = np.linspace(0.1, 12, drawing.scope.size(full=24, quick=8))
    real = np.array([_posterior(e) for e in coarse.tolist()])
    private = bound(100, steps=2)
    lines = [
        Line("as printed", epsilons, lines[2].ys, "3", at=5.4, shift=(8.0, 4.0)),
        Line("any ε-private mechanism", epsilons, private, "bound", at=3.4, shift=(8.0, 14.0)),
        Line("ERR ¾", coarse, real, "err75", at=1.8, shift=(8.0, 10.0)),
    ]
    y, rules = Axis("risk", domain=(0.0, 1.02)), [(3.912, "ε = 3.91")]
    drawing.row(printed, Lines("really, for 100 candidates", x, y, lines, rules=rules))
    drawing.number(
        "ε for 100 candidates at a risk of 20%",
        paper="4",
        ours=epsilon_for_risk("0.2", worlds=201, steps=1),
        remark="the formula as printed",
    )
    drawing.added(
        "the same, for an ε-private mechanism under adding and removing a person",
        ours=shown(epsilon_for_risk("0.2", worlds=201, steps=2)),
        remark="worlds that say who is missing are two steps apart: e^−2ε, half the ε",
    )
    at_four = _posterior(4.0)
    drawing.statement(
        "ERR ¾ at ε = 4, 100 candidates",
        paper="risk at most 20%",
        ours=f"an attacker can become {at_four:.1%} sure",
        holds=at_four <= 0.21,
        remark="scores 101, 99, 98, …: the last candidate is an answer that practically only "
        "one world gives",
    )
    drawing.remark("The theorem behind this figure rests on the privacy of ERR, and falls with it.")


def _posterior(epsilon: float) -> float:
    """Return the largest posterior belief in one world that an answer of ERR ¾ can give.

    The 201 worlds are the scores 101, 99, 98, …, 1 and those that differ by one in one score.
    """
    stairs = np.array([101, *range(99, 0, -1)])
    moves = np.eye(100, dtype=np.int64)
    worlds = np.concatenate([stairs[None, :], stairs + moves, stairs - moves])
    response = ExponentialRandomizedResponse(epsilon=epsilon, truth="0.75")
    logs = np.array([response.log_probabilities(Scores(world, sensitivity=1)) for world in worlds])
    beliefs = np.exp(logs - logs.max(axis=0))
    return float((beliefs.max(axis=0) / beliefs.sum(axis=0)).max())
