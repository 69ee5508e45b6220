"""Find an unknown bound on a column's magnitude: walk up from zero until a noisy threshold is crossed."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar

from discreet._exact.numbers.exact import Number
from discreet._exact.numbers.noise_scales import NoiseScales
from discreet._exact.sampling import Bits
from discreet._exact.sampling.above_threshold import NoisyThreshold
from discreet._tables import people_per_grid_point
from discreet._tables.counts import Counts
from discreet.errors import ParameterError
from discreet.guarantees import PureDP
from discreet.neighbours import REPLACE
from discreet.questions.accuracy import PEOPLE, Accuracy, Errors, drawn, even_counts
from discreet.questions.asking import Asking
from discreet.questions.costs import ANSWER, IN_ANSWERS, IN_RHO
from discreet.questions.of_rows import Grouped
from discreet.questions.ordered import column_grid
from discreet.questions.plan import Found, Plan
from discreet.questions.question import field, value
from discreet.questions.rules import about_magnitudes, of_people
from discreet.questions.scoring import label_of, level_of, people_up_to


@value
class Bound(Grouped, kind="bound"):
    """A bound on the size of most people's values, for use in later questions.

    The share of people whose values all lie within the bound is about ``covers``. The column holds numbers or
    time spans with unknown bounds. Each person counts with their largest magnitude. The answer is the first
    point of a growing grid (see ``unit``) at which the noisy number of people within the bound crosses a
    noisy threshold; it rarely lies far beyond the data. With the answer b, later questions can use
    ``bounds=(-b, b)``, or ``(0, b)`` if no value is negative; the few values outside are clamped.

    Price: one run of above-threshold upwards from zero, which stops at its first crossing, uses all of ε.
    ``answer_pure_dp`` covers all steps from the table to ε (``docs/proofs/quantiles.md``, "A bound").

    Example:
        >>> import discreet, polars as pl
        >>> staff = pl.DataFrame({"person": range(5000), "pay": [30_000 + 7 * i for i in range(5000)]})
        >>> table = discreet.table(staff, user="person", ledger=None)
        >>> 60_000 < table.ask(Bound("pay", covers=0.99, epsilon=2)).answer < 70_000
        True
    """

    command: ClassVar[tuple[str, str, str] | None] = (
        "bound",
        "A bound on the size of a column's values, for later questions.\n\n"
        "With the answer b, later questions can use --bounds -b:b, or 0:b if nothing is negative.",
        "discreet bound pay.parquet --dataset staff --column salary --user person_id --covers 0.999 "
        "--epsilon 0.2",
    )

    covers: Number = field(
        "The share of people who stay within the bound.",
        default=Fraction(999, 1000),
        check=lambda name, given: level_of(given, name=name),
        takes="NUMBER",
    )
    unit: Any = field(
        "The distance between grid points near zero; beyond 2048 units it is about a thousandth of the "
        "value.",
        default=1,
        takes="NUMBER",
        option=False,
    )
    largest: Any = field(
        "The largest magnitude, 10¹² units by default.", default=None, takes="NUMBER", option=False
    )

    @property
    def title(self) -> str:
        """The question in a few words."""
        return f"bound that covers {label_of(Fraction(self.covers))} of {self.column}"

    def planned(self, asking: Asking) -> Plan:
        """Plan to walk up the grid until the noisy number of people within the bound is large enough."""
        covered = Fraction(self.covers)
        if self.mechanism is not None:
            raise ParameterError("a bound is found by a noisy threshold: leave ⟨mechanism⟩ out")
        axis = column_grid(
            asking.table,
            self.column,
            bounds=None,
            unit=self.unit,
            largest=self.largest,
            magnitudes=True,
        )
        scales = scales_for(covered, asking.epsilon_each, asking.inner)

        def places(people: Counts, bits: Bits) -> Iterable[list[int]]:
            return ([first_within(row, covered, scales, bits)] for row in people)

        def choose(people: Counts, bits: Bits) -> Iterable[Found]:
            return ({"answer": axis.label(place)} for (place,) in places(people, bits))

        def errors() -> Errors:
            like = even_counts(asking.people, len(axis))
            return drawn(like, places, lambda row, found: _missed(row, covered, found[0]), 1)

        return asking.plan(
            f"bound that covers {label_of(covered)}",
            parts=[(PureDP(asking.epsilon_each).resting_on(ANSWER, IN_ANSWERS | IN_RHO), 1)],
            mechanism="a noisy threshold on a growing grid",
            table=axis.table,
            read=lambda table, rows: people_per_grid_point(
                table,
                rows,
                column=self.column,
                grid=axis.grid,
                per_person="largest",
                outside="clamp",
            ),
            choose=choose,
            rules=about_magnitudes(axis.label(len(axis.grid) - 1), several=asking.several_rows)
            + axis.left_out
            + axis.rules,
            accuracy=Accuracy(
                None,
                Fraction(self.with_probability),
                PEOPLE,
                "how many people more or fewer are within the bound than intended",
                f"{of_people(f'{asking.people:,}')} spread evenly over the grid",
                errors,
                assuming=asking.assuming,
            ),
        )


def _missed(row: Counts, covered: Fraction, place: int) -> float:
    """Return by how many people the grid point at ``place`` is too low or too high; zero if it is right."""
    up_to = int(row[: place + 1].sum())
    target = covered * int(row.sum())
    return float(max(target - up_to, up_to - int(row[place]) - target, Fraction(0)))


def scales_for(level: Fraction, epsilon: Fraction, neighbours: str) -> NoiseScales:
    """Return equal noise scales for the threshold and the counts, in units of 1/b for a level a/b.

    Adding or removing one person moves the difference between any count and the threshold by a or b − a;
    replacing one moves all differences in the same direction by at most b. With scale s for both,
    ε = (h + b)/s, where h is the larger of a and b − a if people are added or removed, and b if they are
    replaced.
    """
    part, whole = level.numerator, level.denominator
    shift = whole if neighbours == REPLACE else max(part, whole - part)
    scale = Fraction(shift + whole) / epsilon
    return NoiseScales(scale, scale)


def first_within(people: Counts, level: Fraction, scales: NoiseScales, bits: Bits) -> int:
    """Find the first index at which the noisy number of people crosses the noisy threshold, else the last."""
    up_to = people_up_to(people, times=level.denominator)
    values = level.denominator * up_to - level.numerator * int(up_to[-1])
    found = NoisyThreshold(Fraction(0), scales, bits).crossings(values, 1)
    return found[0] if found else len(people) - 1
