"""Exponential randomized response, section VI: the five histograms, each with the ε actually spent."""

from __future__ import annotations

from functools import partial

import numpy as np

from discreet.analysis import epsilon_for, expected_error
from discreet.papers.catalogue import claims_of, figure, judged
from discreet.papers.figure import (
    EM,
    ERR,
    KEY,
    PF,
    Axis,
    Bars,
    Contender,
    Drawing,
    Lines,
    ScoresOf,
    error_panel,
    shown,
    useful_epsilons,
)
from discreet.papers.findings import Finding, Scope
from discreet.papers.histograms import NAMES, Histogram, median_scores, mode_as_printed
from discreet.papers.randomized_response.privacy import real_epsilon, top_set_is_safe
from discreet.scores import Scores

claim = claims_of("exponential-randomized-response")

_WHOLE_COST = (
    "The real ε is the largest loss over all data with this number of bins, not over these five histograms: "
    "differential privacy is a promise about all data. A smaller claimed ε does not help, because one "
    "person can move the coin's whole share π between candidates: no choice of ε makes ERR private."
)
_ROWS = (
    "Upper row: against the ε that ERR claims, as printed. Lower row: against the ε that it really spends.",
    KEY,
)


class _Curves:
    """The mechanisms' errors on one data set, and the ε that ERR really spends, for each claimed ε."""

    def __init__(self, found: Histogram, scores: Scores, scope: Scope) -> None:
        self.found, self.scores = found, scores
        self.epsilons = useful_epsilons(scores, scope.size(full=100, quick=20))
        self.plain, self.flip = (each.errors(scores, self.epsilons) for each in (EM, PF))
        self.mixed = {truth: each.errors(scores, self.epsilons) for truth, each in ERR.items()}
        self.spent = {
            truth: np.array(
                [real_epsilon(e, truth=truth, n=len(scores)) for e in self.epsilons.tolist()]
            )
            for truth in ERR
        }

    def printed(self) -> Lines:
        """Return a panel of errors against the claimed ε, as in the paper."""
        lines = [
            EM.line(self.epsilons, self.plain, markers=4),
            PF.line(self.epsilons, self.flip, markers=4),
            *(each.line(self.epsilons, self.mixed[t], markers=4) for t, each in ERR.items()),
        ]
        note = self.found.note
        return error_panel(self.found.title, self.epsilons, lines, note=note, x="claimed ε")

    def really(self) -> Lines:
        """Return a panel of PF's and ERR's errors against the ε that each really spends."""
        furthest = max(float(ys.max()) for ys in self.spent.values())
        epsilons = np.geomspace(float(self.epsilons[0]), furthest, 60)
        least = 0.9 * min(float(ys.min()) for ys in self.mixed.values())
        lines = [
            PF.error_line(self.scores, epsilons, markers=4),
            *(each.line(self.spent[t], self.mixed[t], markers=4) for t, each in ERR.items()),
        ]
        x = Axis("real ε", log=True, domain=(float(epsilons[0]), furthest * 1.3))
        y = Axis("expected error", log=True, domain=(least, 1.2 * float(self.plain.max())))
        return Lines("", x, y, lines, note=self.found.note)


def _five(drawing: Drawing, scores_of: ScoresOf) -> None:
    curves = [_Curves(each, scores_of(each.counts), drawing.scope) for each in drawing.histograms]
    drawing.row(*(curve.printed() for curve in curves))
    drawing.row(*(curve.really() for curve in curves))
    most = {t: max(float((c.plain / c.mixed[t]).max()) for c in curves) for t in ERR}
    least = {t: min(float((c.flip / c.mixed[t]).min()) for c in curves) for t in (0.5, 0.75)}
    drawing.statement(
        "EM/ERR",
        paper="up to 1/(1 − π): 1.33, 2, 4",
        ours=", ".join(f"{shown(value)} (coin {truth})" for truth, value in most.items()),
        holds=all(abs(value * (1 - truth) - 1) < 1e-6 for truth, value in most.items()),
        remark="exactly that wherever the top set holds one bin",
    )
    drawing.statement(
        "PF/ERR for a coin of ½ or more",
        paper="at least 1/(2(1 − π)): 1, 2",
        ours=", ".join(f"at least {shown(value)} (coin {truth})" for truth, value in least.items()),
        holds=all(value * 2 * (1 - truth) > 1 - 1e-9 for truth, value in least.items()),
        remark="because EM/PF is at most 2",
    )
    spent = min(float(curve.spent[0.75].min()) for curve in curves)
    matched = [expected_error(PF.at(spent), curve.scores) for curve in curves]
    drawing.added(
        "real ε of ERR ¾ with 1024 bins",
        ours=f"at least {spent:.3g}, whatever the claimed ε",
        remark=f"at that ε permute-and-flip errs by at most {shown(max(matched))} on these data",
    )
    safe = all(top_set_is_safe(curve.scores) for curve in curves)
    drawing.added(
        "loss at these five histograms themselves",
        ours="at most the claimed ε" if safe else "above the claimed ε on some",
        remark="the best bin is more than 3Δ ahead, so that no neighbour changes the top set; "
        "but whether that is so is itself private"
        if safe
        else "on some the runner-up is within 3Δ of the best bin",
    )
    drawing.remark(_WHOLE_COST)


def _bars(drawing: Drawing, scores_of: ScoresOf, what: str) -> None:
    """Draw bars of the errors at the ε where EM's error is 100, and of ERR's actual ε for each coin."""
    names = [each.name for each in drawing.histograms]
    every = [scores_of(each.counts) for each in drawing.histograms]
    claimed = [epsilon_for(EM.family, scores, expected_error=100) for scores in every]
    spent = {t: [real_epsilon(e, truth=t, n=1024) for e in claimed] for t in ERR}

    def at(contender: Contender, epsilons: list[float]) -> list[float]:
        pairs = zip(epsilons, every, strict=True)
        return [expected_error(contender.at(e), scores) for e, scores in pairs]

    flip, matched = at(PF, claimed), at(PF, spent[0.75])
    mixed = {t: at(each, claimed) for t, each in ERR.items()}
    errors = {"EM": [100.0] * len(names), "PF": flip} | {ERR[t].label: mixed[t] for t in ERR}
    costs = {"claimed": claimed} | {ERR[t].label: spent[t] for t in ERR}
    looks = [each.look for each in ERR.values()]
    for title, y, series, shades, height in (
        (f"{what}: expected error, as printed", Axis("expected error"), errors, ("em", "pf"), 220),
        (
            "ε: claimed, and really spent by ERR",
            Axis("ε", log=True, domain=(1e-4, 100.0)),
            costs,
            ("bound",),
            200,
        ),
    ):
        shown_as = (*shades, *looks)
        size = {"width": 620, "height": height}
        drawing.row(Bars(title, y, names, series, shown_as, note=drawing.note, **size))
    most, least = 100 / min(mixed[0.75]), 100 / max(mixed[0.75])
    worst = min(one / other for one, other in zip(flip, mixed[0.75], strict=True))
    drawing.statement(
        "ERR ¾ against EM, and against PF",
        paper="4 times, and at least 2 times more accurate",
        ours=f"EM/ERR {least:.3g} to {most:.3g}; PF/ERR at least {worst:.3g}",
        holds=abs(least - 4) < 1e-3 and worst > 2 - 1e-6,
    )
    drawing.added(
        "permute-and-flip at the ε that ERR ¾ really spends",
        ours=f"errs by at most {shown(max(matched))}",
        remark=f"ERR ¾ errs by 25 and spends at least {min(spent[0.75]):.3g}",
    )
    drawing.remark(_WHOLE_COST)


for _what, _curves, _equal, _scores_of in (
    ("Mode", "err-fig9", "err-fig11a", mode_as_printed),
    ("Median", "err-fig10", "err-fig11b", median_scores),
):
    _title = f"{_what} of five data sets: expected error against ε"
    figure(_curves, _title, subtitle=_ROWS, needs=NAMES, weight=8)(
        partial(_five, scores_of=_scores_of)
    )
    _title = f"{_what} of five data sets, at the ε where EM errs by 100"
    figure(_equal, _title, needs=NAMES, weight=2)(
        partial(_bars, scores_of=_scores_of, what=_what.lower())
    )


@claim("Section VI")
def _section_6(scope: Scope) -> Finding:
    """For the mode and the median of the five data sets, randomized response improves on the exponential
    mechanism by a factor of up to 1/(1 − π), and on permute-and-flip by a factor of at least 1/(2(1 − π)) for
    0.5 ≤ π < 1."""
    evidence = (
        "all ten score vectors have |T| = 1, so the first ratio is exactly 1/(1 − π), and the second follows "
        "from the factor of at most two between the other two mechanisms. What it costs: no privacy "
        "guarantee at all"
    )
    return judged(scope, "err-fig9", "err-fig10", "err-fig11a", "err-fig11b", evidence=evidence)
