"""Permute-and-flip inside a larger algorithm, MWEM: an open question of the permute-and-flip paper.

MWEM (Hardt, Ligett and McSherry, 2012) answers many linear queries. Each round selects the query on which
the estimate is worst, measures it with noise, and reweights the estimate. The selection step is an argument,
so mechanisms can be exchanged. For study only: it uses scripted randomness and spends no budget, so it is
**not private**. Neighbours differ in one person's record, so the number of people is public and a counting
query changes by at most one. The score |q(x) − q(x̂)| also changes by at most one, in either direction:
Δ = 1, d = 2.

The result is a random histogram, so its error is averaged over repetitions with scripted randomness and
drawn with 95% intervals. The error of the selection step itself is exact, given the scores that occurred
during the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from discreet._exact.numbers.searches import bisected
from discreet._exact.sampling import Bits, uniform_indices
from discreet.analysis import expected_error
from discreet.guarantees import ZCDP
from discreet.mechanisms import Exponential, Mechanism, PermuteAndFlip
from discreet.papers.catalogue import figure
from discreet.papers.figure import PF_AND_EM, Axis, Drawing, Floats, Line, Lines
from discreet.papers.findings import Scope
from discreet.papers.histograms import Histogram
from discreet.scores import Scores
from discreet.testing import scripted

Select = Callable[[Floats], int]
"""A function from the scores of all queries to the position of the chosen one."""

Measure = Callable[[float], float]
"""A function from the true answer to a noisy one."""


@dataclass(frozen=True, slots=True)
class RangeQueries:
    """Many range queries at once: each counts the people in bins start ≤ i < end."""

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    @classmethod
    def drawn(cls, bits: Bits, *, bins: int, count: int) -> RangeQueries:
        """Draw ``count`` ranges with uniform ends, each of at least one bin."""
        first = uniform_indices(bits, bins, count=count)
        second = uniform_indices(bits, bins, count=count)
        return cls(np.minimum(first, second), np.maximum(first, second) + 1)

    def answers(self, histogram: Floats) -> Floats:
        """Return the answer to every query.

        Example:
            >>> RangeQueries(np.array([0, 1]), np.array([2, 3])).answers(np.array([1.0, 2.0, 4.0]))
            array([3., 6.])
        """
        below = np.concatenate([[0.0], np.cumsum(histogram)])
        return np.asarray(below[self.ends] - below[self.starts])

    def __len__(self) -> int:
        return len(self.starts)


def mwem(
    histogram: Floats,
    queries: RangeQueries,
    *,
    rounds: int,
    select: Select,
    measure: Measure,
    passes: int = 10,
) -> Floats:
    """Return an estimate of the histogram after ``rounds`` selections and measurements.

    ``passes`` is the number of times each round goes over all measurements so far; this costs no privacy.

    Example:
        >>> truth = np.array([0.0, 0.0, 9.0, 0.0])
        >>> every = RangeQueries(np.arange(4), np.arange(1, 5))
        >>> best = lambda scores: int(scores.argmax())
        >>> mwem(truth, every, rounds=4, select=best, measure=float, passes=50).round(1)
        array([0., 0., 9., 0.])
    """
    people = float(histogram.sum())
    estimate = np.full(len(histogram), people / len(histogram))
    true_answers = queries.answers(histogram)
    measured: list[tuple[int, float]] = []
    for _ in range(rounds):
        chosen = select(np.abs(true_answers - queries.answers(estimate)))
        measured.append((chosen, measure(float(true_answers[chosen]))))
        for _ in range(passes):
            for place, answer in measured:
                inside = slice(int(queries.starts[place]), int(queries.ends[place]))
                # The multiplicative-weights step, with the learning rate of the paper.
                before = float(estimate[inside].sum())
                factor = math.exp((answer - before) / (2 * people))
                estimate[inside] *= factor
                estimate *= people / (people + (factor - 1) * before)
        estimate *= people / estimate.sum()
    return estimate


def laplace(bits: Bits, scale: float) -> float:
    """Draw Laplace noise from scripted bits, in float64; for study only."""
    word = int(bits.words(1)[0])
    size = -scale * math.log(((word >> 1) + 0.5) / 2.0**63)
    return size if word & 1 else -size


def gaussian(bits: Bits, deviation: float) -> float:
    """Draw Gaussian noise from scripted bits, in float64; for study only."""
    return deviation * NormalDist().inv_cdf((int(bits.words(1, width=52)[0]) + 0.5) / 2.0**52)


_BINS = 256
_WORKLOADS = (("MEDCOST", 2000), ("HEPTH", 2000), ("MEDCOST", 30))
"""Data set and number of range queries. With few queries, the selection has fewer near-ties."""
_ROUNDS = 10
_NORMAL = 1.96
_STEPS: dict[str, type[Mechanism]] = {"PF": PermuteAndFlip, "EM": Exponential}


@dataclass(frozen=True, slots=True)
class _Budget:
    """A rule that turns a total budget into the ε of one selection and the noise of one measurement.

    Half of the budget is for selections, half for measurements, divided equally over the rounds.
    """

    symbol: str
    measure: str
    selection: Callable[[type[Mechanism], float], float]
    noise: Callable[[Bits, float], float]
    totals: dict[str, tuple[float, float]]
    why: str


@lru_cache(maxsize=256)
def epsilon_for_rho(mechanism: type[Mechanism], rho: float) -> float:
    """Return the largest ε at which one selection costs at most ρ, by the mechanism's own proof.

    Example:
        >>> {name: round(epsilon_for_rho(step, 0.005), 3) for name, step in _STEPS.items()}
        {'PF': 0.103, 'EM': 0.2}
    """

    def too_much(epsilon: float) -> bool:
        return mechanism(epsilon=epsilon).promise_at(Fraction(2)).to(ZCDP).rho > rho

    return bisected(too_much, math.sqrt(rho) / 4, 8 * math.sqrt(rho) + 8 * rho)[0]


_BUDGETS = {
    "pure": _Budget(
        "ε",
        "pure",
        lambda _, total: total / (2 * _ROUNDS),
        lambda bits, total: laplace(bits, 2 * _ROUNDS / total),
        {"MEDCOST": (0.03, 3.0), "HEPTH": (0.001, 0.1)},
        "Both run at the same ε, where one selection by permute-and-flip is never worse. But where "
        "the noise matters, many queries are nearly as bad as the worst, so the two select alike; "
        "where they differ, either one selects well enough.",
    ),
    "zcdp": _Budget(
        "ρ",
        "zero-concentrated",
        lambda mechanism, total: epsilon_for_rho(mechanism, total / (2 * _ROUNDS)),
        # A Gaussian with variance 1/(2ρ) costs ρ, and each measurement may cost ρ/(2T).
        lambda bits, total: gaussian(bits, math.sqrt(_ROUNDS / total)),
        {"MEDCOST": (1e-4, 1.0), "HEPTH": (1e-7, 1e-3)},
        "At the same ρ the exponential mechanism may run at about twice the ε of permute-and-flip, "
        "which outweighs the factor of at most two between them at equal ε.",
    ),
}


class _Study:
    """MWEM's errors with PF and with EM at several budgets of one kind, on one data set and workload."""

    def __init__(self, found: Histogram, count: int, budget: _Budget, scope: Scope) -> None:
        self.found, self.budget = found, budget
        self.title = f"{found.title}, {count} queries"
        self.histogram = found.fine.reshape(_BINS, -1).sum(axis=1).astype(np.float64)
        self.queries = RangeQueries.drawn(scripted(f"{count} queries"), bins=_BINS, count=count)
        self.truth = self.queries.answers(self.histogram)
        self.repetitions = scope.size(full=80, quick=6)
        low, high = budget.totals[found.name]
        self.totals = np.geomspace(low, high, scope.size(full=5, quick=3))
        self.means = {name: np.zeros(len(self.totals)) for name in (*_STEPS, "best")}
        self.spreads = {name: np.zeros(len(self.totals)) for name in (*_STEPS, "best")}
        self.shortfalls = {name: np.zeros(len(self.totals)) for name in _STEPS}
        for place, total in enumerate(self.totals.tolist()):
            self._run(place, total)

    def _run(self, place: int, total: float) -> None:
        steps = {
            name: make(epsilon=self.budget.selection(make, total)) for name, make in _STEPS.items()
        }
        met: list[Scores] = []
        for name in (*_STEPS, "best"):
            ends = np.array(
                [
                    self._once(steps.get(name), total, f"{name} {total:.6g} {repetition}", met)
                    for repetition in range(self.repetitions)
                ]
            )
            self.means[name][place] = ends.mean()
            self.spreads[name][place] = ends.std(ddof=1) / math.sqrt(len(ends))
        # Sample from the score vectors that occurred during the runs with either mechanism.
        sample = met[:: max(1, len(met) // 60)]
        for name, step in steps.items():
            self.shortfalls[name][place] = np.mean(
                [expected_error(step, scores) for scores in sample]
            )

    def _once(self, step: Mechanism | None, total: float, seed: str, met: list[Scores]) -> float:
        """Run MWEM once; return its mean error over all queries.

        The scores that ``step`` selects from are added to ``met``. Without a step, the worst query is
        selected.
        """
        bits = scripted(f"{self.title} {self.budget.symbol} {seed}")

        def select(errors: Floats) -> int:
            if step is None:
                return int(errors.argmax())
            scores = Scores(errors, sensitivity=1)
            met.append(scores)
            return int(step.sample(scores, 1, randomness=bits)[0])

        def measure(answer: float) -> float:
            return answer + self.budget.noise(bits, total)

        estimate = mwem(
            self.histogram, self.queries, rounds=_ROUNDS, select=select, measure=measure
        )
        return float(np.abs(self.truth - self.queries.answers(estimate)).mean())

    def log_ratios(self) -> tuple[Floats, Floats]:
        """Return ln(error with EM / error with PF) at each total budget, and the standard errors."""
        logs = np.log(self.means["EM"] / self.means["PF"])
        relative = [self.spreads[name] / self.means[name] for name in _STEPS]
        return logs, np.hypot(*relative)

    def step_ratios(self) -> Floats:
        """Return one selection's expected error with EM divided by that with PF, at each total budget."""
        return np.asarray(self.shortfalls["EM"] / self.shortfalls["PF"])

    def panels(self) -> list[Lines]:
        """Return two panels: the errors, and the EM/PF error ratios of the algorithm and of one selection."""
        x = Axis(f"total {self.budget.symbol}", log=True)
        lines = [
            self._with_interval(
                "best (not private)" if name == "best" else name,
                mean,
                mean - _NORMAL * self.spreads[name],
                mean + _NORMAL * self.spreads[name],
                look="bound" if name == "best" else name.lower(),
            )
            for name, mean in self.means.items()
        ]
        logs, errors = self.log_ratios()
        ends = np.exp(logs - _NORMAL * errors), np.exp(logs + _NORMAL * errors)
        ratios = [
            self._with_interval("whole algorithm", np.exp(logs), *ends, look="em"),
            Line("selection step", self.totals, self.step_ratios(), "laplace"),
            Line("equal", self.totals, np.ones(len(self.totals)), "bound", quiet=True),
        ]
        panels = (
            ("mean error", Axis("mean error (people)", log=True), lines),
            ("with EM / with PF", Axis("ratio of errors", domain=(0.0, 2.1)), ratios),
        )
        return [
            Lines(f"{self.title}: {words}", x, y, drawn, note=self.found.note, width=330)
            for words, y, drawn in panels
        ]

    def _with_interval(self, label: str, ys: Floats, low: Floats, high: Floats, look: str) -> Line:
        count = len(self.totals)
        return Line(label, self.totals, ys, look, low=low, high=high, markers=count)


def _pooled(studies: list[_Study]) -> tuple[float, float, float]:
    """Return the geometric mean of all error ratios EM/PF in these studies, with its 95% interval.

    All ratios have equal weight. Weights by precision would favour large budgets, where there is nothing to
    gain.
    """
    logs, errors = (
        np.concatenate(parts) for parts in zip(*(s.log_ratios() for s in studies), strict=True)
    )
    mean = float(logs.mean())
    half = _NORMAL * float(np.sqrt((errors**2).sum())) / len(logs)
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def _draw(drawing: Drawing, kind: str) -> None:
    named = {each.name: each for each in drawing.histograms}
    studies = [
        _Study(named[name], count, _BUDGETS[kind], drawing.scope)
        for name, count in _WORKLOADS
        if name in named
    ]
    for study in studies:
        drawing.row(*study.panels())
    ratio, low, high = _pooled(studies)
    by_workload = (f"{study.title} {_interval(*_pooled([study]))}" for study in studies)
    drawing.added(
        "error of the whole algorithm with EM, over that with PF",
        ours=_interval(ratio, low, high),
        remark=f"all budgets and workloads pooled; {studies[0].repetitions} repetitions each. By "
        f"workload: {'; '.join(by_workload)}",
    )
    steps = np.concatenate([study.step_ratios() for study in studies])
    drawing.added(
        "expected shortfall of one selection with EM, over that with PF",
        ours=f"{steps.min():.2f} to {steps.max():.2f}",
        remark="exact, at scores that the algorithm met",
    )
    drawing.remark(_conclusion(_BUDGETS[kind], ratio, low, high))
    drawing.remark(_SETTING)


def _interval(ratio: float, low: float, high: float) -> str:
    return f"{ratio:.3f} (95%: {low:.3f} to {high:.3f})"


_SETTING = (
    f"{_BINS} bins, random range queries, {_ROUNDS} rounds; half of the budget selects and half "
    "measures. Neighbours: one person's record replaced. Selecting the worst query outright (grey, not "
    "private) is a yardstick, not a bound: with a large budget, some randomness in the choice even helps."
)


def _conclusion(budget: _Budget, ratio: float, low: float, high: float) -> str:
    if low > 1:
        finding = (
            "permute-and-flip is the better selection step: with EM the whole algorithm errs "
            f"{ratio - 1:.0%} more"
        )
    elif high < 1:
        finding = (
            "the exponential mechanism is the better selection step: with it the whole algorithm errs "
            f"{1 - ratio:.0%} less"
        )
    else:
        finding = "which of the two selects makes no visible difference"
    return (
        f"Conclusion. Under {budget.measure} differential privacy {finding} "
        f"(95% interval of the ratio: {low:.3f} to {high:.3f}). {budget.why}"
    )


for _kind, _words in (("pure", "pure DP"), ("zcdp", "zCDP")):
    figure(
        f"beyond-mwem-{_kind}",
        f"A larger algorithm, {_words}: MWEM with either selection step",
        subtitle=f"{PF_AND_EM} Bars: 95% intervals over repetitions.",
        needs=("MEDCOST", "HEPTH"),
        weight=60,
    )(partial(_draw, kind=_kind))
