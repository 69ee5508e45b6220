"""Exponential randomized response, section IV: disclosure risk, and choosing ε from it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.papers.algorithms.exponential_randomized_response import chain, lemma_1
from discreet.papers.algorithms.permute_and_flip import distribution_with_replacement
from discreet.papers.algorithms.problem import Number, Problem, balls
from discreet.papers.catalogue import (
    Finding,
    Settings,
    claim,
    consistent,
    established,
    refuted,
    unless,
)
from discreet.papers.lattices import lattice, neighbours
from discreet.sampling.refinement import ball

PAPER = "exponential-randomized-response"


def _bound(worlds: int, epsilon: Fraction, *, steps: int = 1) -> Number:
    """1/(1 + (|Ω| − 1)e^(−kε)): the stated bound is the one with k = 1."""
    return 1 / (1 + (worlds - 1) * ball(-steps * epsilon).exp())


@claim(
    PAPER,
    "Theorem 2",
    """The attacker's largest posterior belief about which of the worlds Ω is the true one lies between
    1/|Ω| and 1/(1 + (|Ω| − 1)e^−ε).""",
)
def _theorem_2(settings: Settings) -> Finding:
    one = Fraction(1)
    with balls():
        # A monotonic exponential mechanism at ε = 1 uses exp(εq/Δ): the problem with ε doubled.
        first, second = (
            distribution_with_replacement(Problem(scores, epsilon=2 * one))[0]
            for scores in ((9, 20), (10, 19))
        )
        posterior = second / (first + second)
        too_high = bool(posterior > _bound(2, one))
        established(posterior <= _bound(2, one, steps=2), "two steps suffice")
        response = [
            lemma_1(Problem(scores, epsilon=Fraction(1, 10)), truth=Fraction(3, 4), reading=chain)[
                1
            ]
            for scores in ((5, 3, 1), (5, 4, 1))
        ]
        own = response[1] / (response[0] + response[1])
        own_too_high = bool(own > _bound(2, Fraction(1, 10)))
        established(_holds_for_neighbouring_worlds(settings), "neighbouring worlds obey it")
    if not too_high or not own_too_high:
        return consistent("two pairs of worlds", "neither refutes it")
    return refuted(
        "uniform prior; ε = 1 for the exponential mechanism, ε = 0.1 and π = ¾ for randomized response",
        "for this mechanism it rests on Theorem 1 and falls with it: worlds (5, 3, 1) and (5, 4, 1), answer "
        f"2, posterior {float(own):.3f} against {float(_bound(2, Fraction(1, 10))):.3f}. The formula itself "
        "needs every two worlds to be neighbours; the worlds “who is missing” are two steps apart under add "
        f"or remove, and the exponential mechanism passes it too, while e^(−2ε) suffices. "
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


def _holds_for_neighbouring_worlds(settings: Settings) -> bool:
    """The bound for sets of mutually neighbouring worlds under the exponential mechanism at ε = 1."""
    one = Fraction(1)
    for scores in lattice(3, settings.size(full=3, quick=1)):
        worlds = [scores, *(q for q in neighbours(scores, monotonic=True) if q != scores)]
        laws = [distribution_with_replacement(Problem(q, epsilon=one)) for q in worlds]
        for outcome in range(3):
            total = sum((law[outcome] for law in laws), ball(0))
            for law in laws:
                if not bool(law[outcome] / total <= _bound(len(worlds), one)):
                    return False
    return True


@claim(
    PAPER,
    "Lemma 3",
    """Exponential randomized response never discloses more than the exponential mechanism: both obey the
    same bounds.""",
)
def _lemma_3(_settings: Settings) -> Finding:
    epsilon, worlds = Fraction(1, 10), ((5, 3, 1), (5, 4, 1))
    risks: dict[str, Any] = {}
    with balls():
        for name, law in (
            ("exponential", distribution_with_replacement),
            ("randomized response", partial(lemma_1, truth=Fraction(3, 4), reading=chain)),
        ):
            chances = [law(Problem(scores, epsilon=epsilon)) for scores in worlds]
            risks[name] = max(
                (
                    pair[k] / (pair[0] + pair[1])
                    for pair in zip(*chances, strict=True)
                    for k in (0, 1)
                ),
                key=float,
            )
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


@claim(
    PAPER,
    "Section IV-B",
    """Solved for ε, the bound allows up to ln((|Ω| − 1)ϱ/(1 − ϱ)); with 100 candidates, |Ω| = 201 worlds
    and a tolerated risk of 20% that is about 4.""",
)
def _section_4b(settings: Settings) -> Finding:
    broken, step = None, settings.size(full=1, quick=7)
    with balls():
        for worlds in (2, 3, 21, 201, 2001):
            for percent in range(1, 100, step):
                risk = ball(Fraction(percent, 100))
                epsilon = ((worlds - 1) * risk / (1 - risk)).log()
                back = 1 / (1 + (worlds - 1) * (-epsilon).exp())
                if not back.overlaps(risk):
                    broken = {"worlds": worlds, "risk": percent / 100}
        quoted = float((200 * ball(Fraction(1, 5)) / ball(Fraction(4, 5))).log())
    if not 3.5 < quoted < 4.5:
        broken = {"epsilon": quoted}
    return unless(
        broken,
        f"the algebra, for five numbers of worlds and risks from 1% to 99% in steps of {step}%",
        "ln 50 is the figure given: about 4. (The rearrangement is right; for worlds k steps apart divide it "
        "by k, and for exponential randomized response the bound does not hold at all, see Theorem 2)",
        epsilon=round(quoted, 4),
    )
