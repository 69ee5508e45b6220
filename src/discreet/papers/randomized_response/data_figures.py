"""Exponential randomized response, Section VI: the five histograms, each beside the ε really spent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.analysis import epsilon_for, expected_error
from discreet.analysis.family import member
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.papers.comparisons import Comparison, added, shown, statement
from discreet.papers.curves import (
    TRUTHS,
    errors,
    response,
    response_label,
    response_look,
    useful_epsilons,
)
from discreet.papers.drawing.panels import Axis, Bars, Floats, Line, Lines
from discreet.papers.figures import Drawn, Settings, figure
from discreet.papers.histograms import (
    NAMES,
    Counts,
    Histogram,
    made_up,
    median_scores,
    mode_as_printed,
    readable,
)
from discreet.papers.randomized_response.real_cost import real_epsilon, top_set_is_safe
from discreet.scores import Scores

ScoresOf = Callable[[Counts], Scores]

_ERROR = Axis("expected error", log=True)
_WHOLE_COST = (
    "The real ε is the largest loss over data with as many bins, not over these five histograms: "
    "differential privacy is a promise about all data. A smaller claimed ε does not help, because one "
    "person can move the coin's whole share π between candidates: no choice of ε makes ERR private."
)


class _Curves:
    """All errors of one data set along ε."""

    def __init__(self, found: Histogram, scores: Scores, settings: Settings) -> None:
        self.found, self.scores = found, scores
        self.epsilons = useful_epsilons(scores, settings.size(full=100, quick=20))
        self.plain = errors(Exponential, scores, self.epsilons)
        self.flip = errors(PermuteAndFlip, scores, self.epsilons)
        self.mixed = {truth: errors(response(truth), scores, self.epsilons) for truth in TRUTHS}
        self.spent = {truth: self._spent(float(truth)) for truth in TRUTHS}

    def _spent(self, truth: float) -> Floats:
        n = len(self.scores)
        return np.array([real_epsilon(float(e), truth=truth, n=n) for e in self.epsilons])

    def printed(self) -> Lines:
        """Against the claimed ε, as in the paper."""
        return Lines(
            self.found.title,
            Axis("claimed ε", domain=(0.0, 1.02 * float(self.epsilons[-1]))),
            _ERROR,
            [
                Line("EM", self.epsilons, self.plain, "em", markers=4),
                Line("PF", self.epsilons, self.flip, "pf", markers=4),
                *(
                    Line(response_label(truth), self.epsilons, ys, response_look(truth), markers=4)
                    for truth, ys in self.mixed.items()
                ),
            ],
            note=self.found.note,
        )

    def really(self) -> Lines:
        """Against the ε that is spent: the private mechanism reaches any error far to the left."""
        furthest = max(float(ys.max()) for ys in self.spent.values())
        epsilons = np.geomspace(float(self.epsilons[0]), furthest, 60)
        flip = errors(PermuteAndFlip, self.scores, epsilons)
        least = 0.9 * min(float(ys.min()) for ys in self.mixed.values())
        domain = (least, 1.2 * float(self.plain.max()))
        lines = [Line("PF", epsilons, flip, "pf", markers=4)]
        lines += [
            Line(response_label(truth), self.spent[truth], ys, response_look(truth), markers=4)
            for truth, ys in self.mixed.items()
        ]
        x = Axis("real ε", log=True, domain=(float(epsilons[0]), furthest * 1.3))
        return Lines(
            "", x, Axis("expected error", log=True, domain=domain), lines, note=self.found.note
        )


def _five(settings: Settings, scores_of: ScoresOf) -> Drawn:
    found, troubles = readable(settings)
    curves = [_Curves(each, scores_of(each.counts), settings) for each in found]
    synthetic = bool(made_up(found))
    gains = {truth: [curve.plain / curve.mixed[truth] for curve in curves] for truth in TRUTHS}
    over_flip = {
        truth: [curve.flip / curve.mixed[truth] for curve in curves] for truth in ("0.5", "0.75")
    }
    most = {truth: max(float(row.max()) for row in rows) for truth, rows in gains.items()}
    least = {truth: min(float(row.min()) for row in rows) for truth, rows in over_flip.items()}
    safe = all(top_set_is_safe(curve.scores) for curve in curves)
    rows = [[curve.printed() for curve in curves], [curve.really() for curve in curves]]
    return Drawn(
        rows,
        [
            statement(
                "EM/ERR",
                paper="up to 1/(1 − π): 1.33, 2, 4",
                ours=", ".join(f"{shown(value)} (coin {truth})" for truth, value in most.items()),
                holds=all(
                    abs(value * (1 - float(truth)) - 1) < 1e-6 for truth, value in most.items()
                ),
                remark="exactly that wherever the top set holds one bin",
                synthetic=synthetic,
            ),
            statement(
                "PF/ERR for a coin of ½ or more",
                paper="at least 1/(2(1 − π)): 1, 2",
                ours=", ".join(
                    f"at least {shown(value)} (coin {truth})" for truth, value in least.items()
                ),
                holds=all(
                    value * 2 * (1 - float(truth)) > 1 - 1e-9 for truth, value in least.items()
                ),
                remark="because EM/PF is at most 2",
                synthetic=synthetic,
            ),
            _cost(curves),
            added(
                "loss at these five histograms themselves",
                ours="at most the claimed ε" if safe else "above the claimed ε on some",
                remark="the best bin is more than 3Δ ahead, so that no neighbour changes the top set; "
                "but whether that is so is itself private"
                if safe
                else "on some the runner-up is within 3Δ of the best bin",
            ),
        ],
        [_WHOLE_COST],
        made_up(found),
        troubles,
    )


def _cost(curves: list[_Curves]) -> Comparison:
    spent = [float(curve.spent["0.75"].min()) for curve in curves]
    matched = [expected_error(member(PermuteAndFlip, min(spent)), curve.scores) for curve in curves]
    return added(
        "real ε of ERR ¾ with 1024 bins",
        ours=f"at least {min(spent):.3g}, whatever the claimed ε",
        remark=f"at that ε permute-and-flip errs by at most {shown(max(matched))} on these data",
    )


@figure(
    "err-fig9",
    "Mode of five data sets: expected error against ε",
    subtitle=(
        "Upper row: against the ε that ERR claims, as printed. Lower row: against the ε that it "
        "really spends.",
        "PF: permute-and-flip. EM: exponential mechanism. ERR: exponential randomized response, coin "
        "¼, ½, ¾.",
    ),
    needs=NAMES,
    weight=8,
)
def _figure_9(settings: Settings) -> Drawn:
    return _five(settings, mode_as_printed)


@figure(
    "err-fig10",
    "Median of five data sets: expected error against ε",
    subtitle=(
        "Upper row: against the ε that ERR claims, as printed. Lower row: against the ε that it "
        "really spends.",
        "PF: permute-and-flip. EM: exponential mechanism. ERR: exponential randomized response, coin "
        "¼, ½, ¾.",
    ),
    needs=NAMES,
    weight=8,
)
def _figure_10(settings: Settings) -> Drawn:
    return _five(settings, median_scores)


def _bars(settings: Settings, scores_of: ScoresOf, what: str) -> Drawn:
    """Errors at the ε where EM errs by 100, and what that ε really is for each coin."""
    found, troubles = readable(settings)
    names = [each.name for each in found]
    listed = [scores_of(each.counts) for each in found]
    claimed = [epsilon_for(Exponential, scores, expected_error=100) for scores in listed]
    both = list(zip(claimed, listed, strict=True))
    flip = [expected_error(PermuteAndFlip(epsilon=e), scores) for e, scores in both]
    mixed = {
        truth: [expected_error(member(response(truth), e), scores) for e, scores in both]
        for truth in TRUTHS
    }
    spent = {
        truth: [real_epsilon(e, truth=float(truth), n=1024) for e in claimed] for truth in TRUTHS
    }
    matched = [
        expected_error(PermuteAndFlip(epsilon=e), scores)
        for e, scores in zip(spent["0.75"], listed, strict=True)
    ]
    note = "synthetic" if made_up(found) else ""
    looks = [response_look(truth) for truth in TRUTHS]
    responses = {response_label(truth): values for truth, values in mixed.items()}
    upper = Bars(
        f"{what}: expected error, as printed",
        Axis("expected error"),
        names,
        {"EM": [100.0] * len(names), "PF": flip, **responses},
        ("em", "pf", *looks),
        note=note,
        width=620,
        height=220,
    )
    really = {response_label(truth): values for truth, values in spent.items()}
    lower = Bars(
        "ε: claimed, and really spent by ERR",
        Axis("ε", log=True, domain=(1e-4, 100.0)),
        names,
        {"claimed": claimed, **really},
        ("bound", *looks),
        note=note,
        width=620,
        height=200,
    )
    worst = min(error / mixed["0.75"][place] for place, error in enumerate(flip))
    return Drawn(
        [[upper], [lower]],
        [
            statement(
                "ERR ¾ against EM, and against PF",
                paper="4 times, and at least 2 times more accurate",
                ours=f"EM/ERR {100 / max(mixed['0.75']):.3g} to {100 / min(mixed['0.75']):.3g}; PF/ERR "
                f"at least {worst:.3g}",
                holds=abs(100 / max(mixed["0.75"]) - 4) < 1e-3 and worst > 2 - 1e-6,
                synthetic=bool(note),
            ),
            added(
                "permute-and-flip at the ε that ERR ¾ really spends",
                ours=f"errs by at most {shown(max(matched))}",
                remark=f"ERR ¾ errs by 25 and spends at least {min(spent['0.75']):.3g}",
            ),
        ],
        [_WHOLE_COST],
        made_up(found),
        troubles,
    )


@figure(
    "err-fig11a", "Mode of five data sets, at the ε where EM errs by 100", needs=NAMES, weight=2
)
def _figure_11a(settings: Settings) -> Drawn:
    return _bars(settings, mode_as_printed, "mode")


@figure(
    "err-fig11b", "Median of five data sets, at the ε where EM errs by 100", needs=NAMES, weight=2
)
def _figure_11b(settings: Settings) -> Drawn:
    return _bars(settings, median_scores, "median")
