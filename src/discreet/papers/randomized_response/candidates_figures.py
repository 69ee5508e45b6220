"""Exponential randomized response, Section V-A and V-B: errors along n, beside the ε really spent.

Throughout Δ = 1 and the noise scale is 2Δ/ε, as in that paper. ERR ¼, ½, ¾ is exponential randomized
response with a coin of 0.25, 0.5, 0.75.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.analysis import expected_error
from discreet.mechanisms import Exponential, Mechanism, PermuteAndFlip
from discreet.papers.comparisons import Comparison, added, shown, statement
from discreet.papers.curves import KEY, STATED, TRUTHS, response_label, response_look, responses
from discreet.papers.drawing.panels import Axis, Line, Lines
from discreet.papers.figures import Drawn, Settings, figure
from discreet.papers.randomized_response.real_cost import loss_at
from discreet.sampling import uniform_indices
from discreet.scores import Scores
from discreet.testing import scripted

_NOT_PRIVATE = (
    "The claimed ε is not what is spent: one person can change the top set. The right panel shows the "
    "loss between the scores drawn and their worst neighbour; the left one also has permute-and-flip "
    "at that ε."
)


def _sizes(settings: Settings) -> list[int]:
    steps = np.unique(np.geomspace(3, 200, settings.size(full=22, quick=8)).round()).astype(int)
    return [int(n) for n in steps]


class _AlongN:
    """Errors and real ε of all mechanisms on the score vectors of each n; means, and the largest ε."""

    def __init__(self, sizes: list[int], vectors: Callable[[int], list[list[int]]]) -> None:
        self.sizes = sizes
        listed = [[Scores(values, sensitivity=1) for values in vectors(n)] for n in sizes]
        mechanisms: dict[str, Mechanism] = {
            "PF": PermuteAndFlip(epsilon=STATED),
            "EM": Exponential(epsilon=STATED),
        }
        self.errors = {
            name: np.array([_mean_error(mechanism, every) for every in listed])
            for name, mechanism in (mechanisms | responses()).items()
        }
        self.losses = {
            truth: np.array(
                [max(loss_at(response, scores) for scores in every) for every in listed]
            )
            for truth, response in responses().items()
        }
        self.matched = np.array(
            [
                _mean_error(PermuteAndFlip(epsilon=loss), every)
                for loss, every in zip(self.losses["0.75"].tolist(), listed, strict=True)
            ]
        )

    def panels(self) -> list[Lines]:
        """As printed; and really."""
        n = np.array(self.sizes, dtype=np.float64)
        axis = Axis("number of candidates n", domain=(0.0, float(n[-1])))
        lines = [
            Line("EM", n, self.errors["EM"], "em"),
            Line("PF", n, self.errors["PF"], "pf"),
            *(
                Line(response_label(truth), n, self.errors[truth], response_look(truth))
                for truth in reversed(TRUTHS)
            ),
        ]
        matched = Line(
            "PF at the real ε of ERR ¾", n, self.matched, "truth", at=float(n[len(n) // 2])
        )
        really = [
            Line(response_label(truth), n, self.losses[truth], response_look(truth))
            for truth in TRUTHS
        ]
        claimed = Line("claimed: 0.1", n, np.full(len(n), 0.1), "bound")
        return [
            Lines("expected error, as printed", axis, Axis("expected error"), [*lines, matched]),
            Lines("ε really spent on these scores", axis, Axis("ε", log=True), [*really, claimed]),
        ]

    def below(self) -> bool:
        """Whether ERR is below both others everywhere, for each coin."""
        best = np.minimum(self.errors["EM"], self.errors["PF"])
        return all(bool((self.errors[truth] < best).all()) for truth in TRUTHS)

    def cost(self) -> Comparison:
        """What is really spent, and what it buys elsewhere."""
        return added(
            f"real ε of ERR ¾ at n = {self.sizes[-1]}",
            ours=f"at least {self.losses['0.75'][-1]:.3g} instead of 0.1",
            remark=f"permute-and-flip at that ε errs by {shown(float(self.matched[-1]))}, ERR ¾ by "
            f"{shown(float(self.errors['0.75'][-1]))}",
        )


def _mean_error(mechanism: Mechanism, every: list[Scores]) -> float:
    return sum(expected_error(mechanism, scores) for scores in every) / len(every)


@figure(
    "err-fig6a",
    "One best candidate by 2Δ, then steps of Δ",
    subtitle=(f"ε = 0.1. {KEY}", "Scores n, n−2, n−3, …"),
    weight=4,
)
def _figure_6a(settings: Settings) -> Drawn:
    along = _AlongN(_sizes(settings), lambda n: [[n, *range(n - 2, -1, -1)]])
    hundred = int(np.abs(np.array(along.sizes) - 100).argmin())
    level = along.errors["EM"][hundred] / along.errors["EM"][-1]
    gain = along.errors["EM"][hundred] / along.errors["PF"][hundred]
    return Drawn(
        [along.panels()],
        [
            statement(
                "levelling off near n = 100",
                paper="yes",
                ours=f"the error of EM at n = {along.sizes[hundred]} is {level:.0%} of that at n = 200",
                holds=level > 0.85,
            ),
            statement(
                "ERR against both others for a coin of ¼ and more",
                paper="lower (the printed sentence says EM is lower)",
                ours="lower at every n" if along.below() else "not lower everywhere",
                holds=along.below(),
            ),
            statement(
                "gain of PF over EM at ε = 0.1",
                paper="low",
                ours=f"EM/PF = {gain:.3f} at n = {along.sizes[hundred]}",
                holds=gain < 1.1,
            ),
            along.cost(),
        ],
        [_NOT_PRIVATE],
    )


@figure(
    "err-fig6b",
    "One best candidate by at least 2Δ, the others at random below",
    subtitle=(f"ε = 0.1. {KEY}", "Scores n, then uniform whole numbers from 0 to n−2; averages."),
    weight=20,
)
def _figure_6b(settings: Settings) -> Drawn:
    draws = settings.size(full=10, quick=3)
    bits = scripted("figure 6b")

    def vectors(n: int) -> list[list[int]]:
        return [[n, *uniform_indices(bits, n - 1, count=n - 1).tolist()] for _ in range(draws)]

    along = _AlongN(_sizes(settings), vectors)
    flip, quarter, plain = (along.errors[name].mean() for name in ("PF", "0.25", "EM"))
    return Drawn(
        [along.panels()],
        [
            statement(
                "ERR against EM for a coin of ¼ and more",
                paper="lower everywhere",
                ours="lower at every n" if along.below() else "not lower everywhere",
                holds=along.below(),
            ),
            statement(
                "PF against ERR ¼",
                paper="similar",
                ours=f"on average PF errs {flip / quarter:.2f} times as much; EM {plain / quarter:.2f} times",
                holds=abs(flip / quarter - 1) < 0.1,
                remark="at this ε permute-and-flip stays close to the exponential mechanism; with one "
                "candidate in the top set ERR keeps exactly 1 − π of the latter's error",
            ),
            along.cost(),
        ],
        [
            _NOT_PRIVATE,
            f"Averages over {draws} vectors of scripted randomness for each n; real ε: the largest.",
        ],
    )


@figure(
    "err-fig6c",
    "A staircase with steps of Δ: everyone is in the top set",
    subtitle=(f"ε = 0.1. {KEY}", "Scores n, n−1, n−2, …, 1."),
    weight=4,
)
def _figure_6c(settings: Settings) -> Drawn:
    along = _AlongN(_sizes(settings), lambda n: [list(range(n, 0, -1))])
    above = bool((along.errors["0.25"] > along.errors["EM"]).all())
    grows = bool((np.diff(along.errors["0.5"]) > 0).all())
    return Drawn(
        [along.panels()],
        [
            statement(
                "ERR against both others",
                paper="its error keeps growing, above both",
                ours=f"{'above' if above else 'not above'} at every n; {along.errors['0.5'][-1]:.1f} "
                f"against {along.errors['EM'][-1]:.1f} at n = 200 (coin ½)",
                holds=above and grows,
                remark="it grows like πnΔ/2",
            ),
            along.cost(),
        ],
        [_NOT_PRIVATE],
    )
