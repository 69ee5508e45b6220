"""Compare mechanisms on the same scores, over a range of ε. **Not private**: this reads the scores."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet._displays import card, table
from discreet._exact.numbers.exact import positive, refuse
from discreet.analysis.error import candidate_errors, quantile_of
from discreet.analysis.family import family_list
from discreet.errors import DiscreetError, ParameterError
from discreet.mechanisms.registry import Family, member
from discreet.scores import Scores

_MOST_SHOWN = 30
DEFAULT_EPSILONS = tuple(Fraction(tenths, 10) for tenths in (1, 2, 3, 5, 7, 10, 15, 20, 30, 50))


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """The errors of one mechanism at one ε.

    Attributes:
        mechanism: the mechanism's name.
        epsilon: the mechanism's ε.
        expected_error: the mean error.
        error_deviation: the standard deviation of the error.
        error_95: the 95 % quantile of the error.
        best_probability: the probability of choosing a best candidate.
        ratio: the mean error divided by the first mechanism's at the same ε (None if the latter is zero).
        private: whether the mechanism has a privacy proof.

    Example:
        >>> row = compare(Scores([3, 1, 0], sensitivity=1), ["permute-and-flip"], epsilons=[1])[0]
        >>> row.mechanism, row.epsilon, round(row.best_probability, 3)
        ('permute-and-flip', 1.0, 0.732)
    """

    mechanism: str
    epsilon: float
    expected_error: float
    error_deviation: float
    error_95: float
    best_probability: float
    ratio: float | None
    private: bool


@dataclass(frozen=True, slots=True)
class Comparison(Sequence[ComparisonRow]):
    """The rows of a comparison: a sequence that can also be shown as a data frame, chart or table.

    Example:
        >>> comparison = compare(Scores([3, 1, 0], sensitivity=1), epsilons=[1])
        >>> [row.mechanism for row in comparison]
        ['permute-and-flip', 'exponential', 'noisy-max-laplace']
        >>> sorted(comparison.records()[0])[:2]
        ['best_probability', 'epsilon']
    """

    rows: tuple[ComparisonRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self.rows)

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per row."""
        return [asdict(row) for row in self.rows]

    def frame(self) -> Any:
        """Return the rows as a Polars data frame, or a pandas one, or as records if neither is installed."""
        for library in ("polars", "pandas"):
            try:
                module = __import__(library)
            except ImportError:
                continue
            return module.DataFrame(self.records())
        return self.records()

    def chart(self) -> Any:
        """Return an Altair chart of expected error against ε, one line per mechanism."""
        from discreet.analysis.charts import comparison_chart

        return comparison_chart(self)

    def save(self, path: str | Path) -> Path:
        """Write the chart in the format given by the suffix of ``path``: .png, .svg, .html or .json."""
        from discreet.analysis.charts import save_chart

        return save_chart(self.chart(), path)

    def _repr_html_(self) -> str:
        try:
            buffer = io.StringIO()
            self.chart().save(buffer, format="svg")
            picture = buffer.getvalue()
        except (DiscreetError, ImportError, ValueError):
            # Show only the table if Altair or vl-convert is missing, or if there is nothing to draw.
            picture = ""
        rows = [
            (
                row.mechanism + ("" if row.private else " (not private)"),
                row.epsilon,
                row.expected_error,
                row.error_95,
                row.best_probability,
            )
            for row in self.rows[:_MOST_SHOWN]
        ]
        hidden = len(self) - len(rows)
        return card(
            "Comparison",
            picture,
            table(("mechanism", "ε", "expected error", "error, 95 %", "Pr[best]"), rows),
            note=(f"and {hidden} more rows. " if hidden else "")
            + "Not private: computed from the scores without spending budget.",
        )


def compare(
    scores: Scores, mechanisms: Family | Iterable[Family] | None = None, epsilons: object = None
) -> Comparison:
    """Compare the error of several mechanisms at several ε on the same scores. **Not private**.

    Args:
        scores: the scores to choose from.
        mechanisms: classes, names, or mechanisms whose ε is ignored; by default permute-and-flip, the
            exponential mechanism and noisy max with Laplace noise.
        epsilons: the values of ε to try: a number, a list, or a range such as ``"0.1:2"``.

    Example:
        >>> scores = Scores({"flu": 412, "cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)
        >>> for row in compare(scores, ["permute-and-flip", "exponential"], epsilons=["0.1", "0.2"]):
        ...     print(row.mechanism, row.epsilon, round(row.expected_error, 3))
        permute-and-flip 0.1 1.726
        permute-and-flip 0.2 0.426
        exponential 0.1 2.769
        exponential 0.2 0.803
    """
    families = family_list(mechanisms)
    amounts = epsilon_list(epsilons)
    rows: list[ComparisonRow] = []
    for family in families:
        # The possible errors do not depend on ε, so they are sorted once.
        errors = candidate_errors(member(family, 1), scores)
        distinct, group = np.unique(errors.values, return_inverse=True)
        for place, epsilon in enumerate(amounts):
            mechanism = member(family, epsilon)
            mass = np.bincount(group, weights=mechanism.probabilities(scores)).astype(np.float64)
            center = float(mass @ distinct)
            mean = errors.in_scores(center)
            first = rows[place].expected_error if len(rows) >= len(amounts) else mean
            rows.append(
                ComparisonRow(
                    mechanism=mechanism.name,
                    epsilon=float(epsilon),
                    expected_error=mean,
                    error_deviation=errors.in_scores(math.sqrt(mass @ (distinct - center) ** 2)),
                    error_95=errors.in_scores(quantile_of(distinct, mass, Fraction(95, 100))),
                    best_probability=float(mass[0]),
                    ratio=mean / first if first else None,
                    private=mechanism.private,
                )
            )
    return Comparison(tuple(rows))


def epsilon_list(epsilons: object) -> list[Fraction]:
    """Return the values of ε given as a number, a list, or text: ``"0.1,1"``, ``"0.1:2"``, ``"0.1:2:9"``.

    A range gives up to ten round numbers, including both ends. With a count, it gives that many points,
    evenly spaced on a logarithmic scale.

    Example:
        >>> [float(e) for e in epsilon_list("0.1:2")]
        [0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0]
        >>> [float(e) for e in epsilon_list("0.1:10:3")]
        [0.1, 1.0, 10.0]
        >>> epsilon_list(0.1)
        [Fraction(1, 10)]
    """
    if epsilons is None:
        return list(DEFAULT_EPSILONS)
    if isinstance(epsilons, str):
        if ":" in epsilons:
            return _range(epsilons)
        epsilons = [part.strip() for part in epsilons.split(",") if part.strip()]
    if not isinstance(epsilons, Iterable):
        return [positive("epsilon", epsilons)]
    listed = [positive("epsilon", epsilon) for epsilon in epsilons]
    if not listed:
        raise ParameterError("epsilons is empty: give at least one number above 0")
    if len(set(listed)) != len(listed):
        raise ParameterError("each epsilon may be given once")
    return listed


def _range(text: str) -> list[Fraction]:
    parts = text.split(":")
    if len(parts) not in (2, 3) or (len(parts) == 3 and not parts[2].strip().isdecimal()):
        raise refuse("epsilon", text, 'a range such as "0.1:2", or "0.1:2:9" for nine points')
    low, high = (positive("epsilon", part) for part in parts[:2])
    if low >= high:
        raise refuse("epsilon", text, "a range from a smaller to a larger number")
    if len(parts) == 2:
        return _round_numbers(low, high)
    count = int(parts[2])
    if not 2 <= count <= 10_000:
        raise refuse("epsilon", text, "a range of 2 to 10,000 points")
    inner = np.geomspace(float(low), float(high), count)[1:-1].tolist()
    for digits in (2, 3, 4):
        points = dict.fromkeys(Fraction(f"{point:.{digits}g}") for point in inner)
        # Use the fewest digits that keep the points distinct and within the range.
        if len(points) == len(inner) and all(low < point < high for point in points):
            break
    return [low, *(point for point in points if low < point < high), high]


_DECADES = ((10, 12, 15, 20, 25, 30, 40, 50, 60, 80), (10, 15, 20, 30, 50, 70), (10, 20, 50), (10,))
_MOST_ROUND = 10


def _round_numbers(low: Fraction, high: Fraction) -> list[Fraction]:
    """Return both ends of a range and up to eight round numbers between them."""
    first, last = (
        math.floor(math.log10(end.numerator) - math.log10(end.denominator)) for end in (low, high)
    )
    for steps in _DECADES:
        points = [
            point
            for power in range(first, last + 1)
            for step in steps
            if low < (point := Fraction(10) ** power * step / 10) < high
        ]
        if len(points) <= _MOST_ROUND - 2:
            break
    # Beyond ten decades, keep only every second, third, ... power of ten.
    return [low, *points[:: -(-len(points) // (_MOST_ROUND - 2)) or 1], high]
