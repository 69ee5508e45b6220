"""Exponential randomized response, sections V-A and V-B: errors against n, and the ε actually spent.

Throughout, Δ = 1 and the noise scale is 2Δ/ε, as in the paper. ERR ¼, ½ and ¾ stand for exponential
randomized response with a coin of 0.25, 0.5 and 0.75. It is not private at the claimed ε, so its lower errors
are not a real gain.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet._exact.sampling import uniform_indices
from discreet.analysis import expected_error
from discreet.mechanisms import Mechanism
from discreet.papers.catalogue import claims_of, figure
from discreet.papers.figure import EM, ERR, KEY, PF, STATED, Axis, Drawing, Line, Lines, shown
from discreet.papers.findings import Scope
from discreet.papers.randomized_response.privacy import loss_at
from discreet.scores import Scores
from discreet.testing import scripted

claim = claims_of("exponential-randomized-response")

_NOT_PRIVATE = (
    "The claimed ε is not what is spent: one person can change the top set. The right panel shows the "
    "loss between the scores drawn and their worst neighbour; the left one also has permute-and-flip "
    "at that ε."
)


class _AlongN:
    """The mean errors and ERR's largest actual ε over some score vectors, for each number of candidates n."""

    def __init__(self, scope: Scope, vectors: Callable[[int], list[list[int]]]) -> None:
        steps = np.geomspace(3, 200, scope.size(full=22, quick=8)).round()
        self.sizes = np.unique(steps).astype(int).tolist()
        every = [[Scores(values, sensitivity=1) for values in vectors(n)] for n in self.sizes]
        self.errors = {
            one.label: np.array([_mean_error(one.at(STATED), each) for each in every])
            for one in (EM, PF, *ERR.values())
        }
        self.losses = {
            one.label: np.array(
                [max(loss_at(one.at(STATED), scores) for scores in each) for each in every]
            )
            for one in ERR.values()
        }
        spent = zip(self.losses["ERR ¾"].tolist(), every, strict=True)
        self.matched = np.array([_mean_error(PF.at(e), each) for e, each in spent])

    def draw(self, drawing: Drawing) -> None:
        """Draw two panels against n: the errors, as in the paper, and the ε that ERR actually spends."""
        n = np.array(self.sizes, dtype=np.float64)
        axis = Axis("number of candidates n", domain=(0.0, float(n[-1])))
        lines = [
            *(one.line(n, self.errors[one.label]) for one in (EM, PF, *reversed(ERR.values()))),
            Line(
                "PF at the real ε of ERR ¾", n, self.matched, "pf matched", at=float(n[len(n) // 2])
            ),
        ]
        claimed = Line("claimed: 0.1", n, np.full(len(n), 0.1), "bound")
        really = [*(one.line(n, self.losses[one.label]) for one in ERR.values()), claimed]
        drawing.row(
            Lines("expected error, as printed", axis, Axis("expected error"), lines),
            Lines("ε really spent on these scores", axis, Axis("ε", log=True), really),
        )

    def lower(self, drawing: Drawing, quantity: str, *, paper: str) -> None:
        """Check the paper's statement that ERR's error is below EM's and PF's at every n."""
        best = np.minimum(self.errors["EM"], self.errors["PF"])
        holds = all(bool((self.errors[one.label] < best).all()) for one in ERR.values())
        ours = "lower at every n" if holds else "not lower everywhere"
        drawing.statement(quantity, paper=paper, ours=ours, holds=holds)

    def cost(self, drawing: Drawing) -> None:
        """Add the ε that ERR ¾ spends at the largest n, and permute-and-flip's error at that ε."""
        drawing.added(
            f"real ε of ERR ¾ at n = {self.sizes[-1]}",
            ours=f"at least {self.losses['ERR ¾'][-1]:.3g} instead of 0.1",
            remark=f"permute-and-flip at that ε errs by {shown(float(self.matched[-1]))}, ERR ¾ by "
            f"{shown(float(self.errors['ERR ¾'][-1]))}",
        )
        drawing.remark(_NOT_PRIVATE)


def _mean_error(mechanism: Mechanism, every: list[Scores]) -> float:
    return sum(expected_error(mechanism, scores) for scores in every) / len(every)


@figure(
    "err-fig6a",
    "One best candidate by 2Δ, then steps of Δ",
    subtitle=(f"ε = 0.1. {KEY}", "Scores n, n−2, n−3, …"),
    weight=4,
    claim="Figure 6(a)",
    evidence="as described (the sentence as printed says “EM is lower”; randomized response is meant)",
)
def _figure_6a(drawing: Drawing) -> None:
    """On the scores n, n − 2, n − 3, …, the errors level off near n = 100, permute-and-flip gains little over
    the exponential mechanism at ε = 0.1, and randomized response has a lower error than both for π ≥ 0.25."""
    along = _AlongN(drawing.scope, lambda n: [[n, *range(n - 2, -1, -1)]])
    along.draw(drawing)
    hundred = int(np.abs(np.array(along.sizes) - 100).argmin())
    plain = along.errors["EM"]
    level, gain = plain[hundred] / plain[-1], plain[hundred] / along.errors["PF"][hundred]
    drawing.statement(
        "levelling off near n = 100",
        paper="yes",
        ours=f"the error of EM at n = {along.sizes[hundred]} is {level:.0%} of that at n = 200",
        holds=level > 0.85,
    )
    along.lower(
        drawing,
        "ERR against both others for a coin of ¼ and more",
        paper="lower (the printed sentence says EM is lower)",
    )
    drawing.statement(
        "gain of PF over EM at ε = 0.1",
        paper="low",
        ours=f"EM/PF = {gain:.3f} at n = {along.sizes[hundred]}",
        holds=gain < 1.1,
    )
    along.cost(drawing)


@figure(
    "err-fig6b",
    "One best candidate by at least 2Δ, the others at random below",
    subtitle=(f"ε = 0.1. {KEY}", "Scores n, then uniform whole numbers from 0 to n−2; averages."),
    weight=20,
    claim="Figure 6(b)",
    evidence="randomized response is below both others on every vector, but permute-and-flip is not like it "
    "at π = 0.25: it stays close to the exponential mechanism at this ε. And the improvement is not smaller "
    "than in (a): wherever |T| = 1 it is exactly 1/(1 − π)",
)
def _figure_6b(drawing: Drawing) -> None:
    """With one score n and the others uniform in [0, n − 2], randomized response beats the exponential
    mechanism for π ≥ 0.25, by less than in Figure 6(a). Permute-and-flip performs like randomized response
    at π = 0.25, and worse than it at larger π."""
    draws = drawing.scope.size(full=10, quick=3)
    bits = scripted("figure 6b")

    def vectors(n: int) -> list[list[int]]:
        return [[n, *uniform_indices(bits, n - 1, count=n - 1).tolist()] for _ in range(draws)]

    along = _AlongN(drawing.scope, vectors)
    along.draw(drawing)
    flip, quarter, plain = (along.errors[name].mean() for name in ("PF", "ERR ¼", "EM"))
    along.lower(drawing, "ERR against EM for a coin of ¼ and more", paper="lower everywhere")
    drawing.statement(
        "PF against ERR ¼",
        paper="similar",
        ours=f"on average PF errs {flip / quarter:.2f} times as much; EM {plain / quarter:.2f} times",
        holds=bool(abs(flip / quarter - 1) < 0.1),
        remark="at this ε permute-and-flip stays close to the exponential mechanism; with one "
        "candidate in the top set ERR keeps exactly 1 − π of the latter's error",
    )
    along.cost(drawing)
    drawing.remark(
        f"Averages over {draws} vectors of scripted randomness for each n; real ε: the largest."
    )


@figure(
    "err-fig6c",
    "A staircase with steps of Δ: everyone is in the top set",
    subtitle=(f"ε = 0.1. {KEY}", "Scores n, n−1, n−2, …, 1."),
    weight=4,
    claim="Figure 6(c)",
    evidence="it grows like πnΔ/2, while the other two level off near one noise scale",
)
def _figure_6c(drawing: Drawing) -> None:
    """On a staircase with steps of Δ, where T contains all candidates, the error of randomized response keeps
    growing with n, above those of the exponential mechanism and permute-and-flip."""
    along = _AlongN(drawing.scope, lambda n: [list(range(n, 0, -1))])
    along.draw(drawing)
    above = bool((along.errors["ERR ¼"] > along.errors["EM"]).all())
    drawing.statement(
        "ERR against both others",
        paper="its error keeps growing, above both",
        ours=f"{'above' if above else 'not above'} at every n; {along.errors['ERR ½'][-1]:.1f} "
        f"against {along.errors['EM'][-1]:.1f} at n = 200 (coin ½)",
        holds=above and bool((np.diff(along.errors["ERR ½"]) > 0).all()),
        remark="it grows like πnΔ/2",
    )
    along.cost(drawing)
