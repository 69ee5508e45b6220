"""A bound on the magnitude of a column that nobody knows: by a noisy threshold, upwards from zero."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Unpack

import numpy as np

from discreet.errors import ParameterError
from discreet.guarantees import Proof, PureDP
from discreet.neighbours import REPLACE
from discreet.numbers.noise_scales import NoiseScales
from discreet.questions.answer import TableRelease, about_magnitudes
from discreet.questions.context import Context, Terms
from discreet.questions.found_groups import in_groups, require_no_delta
from discreet.questions.ordered import column_grid
from discreet.questions.scoring import label_of, level_of
from discreet.sampling import Bits, SecureBits
from discreet.sampling.above_threshold import NoisyThreshold
from discreet.tables import people_per_grid_point
from discreet.tables.counts import Counts

_PAGES = ("docs/proofs/above-threshold.md", "docs/proofs/quantiles.md")


@in_groups
def bound(
    data: Any,
    column: str,
    *,
    covers: object = "0.999",
    epsilon: object,
    unit: object = 1,
    largest: object = None,
    delta: object = None,
    **terms: Unpack[Terms],
) -> TableRelease:
    """A magnitude within which about a part ``covers`` of the people stay: a bound for later questions.

    For a column of numbers or time spans whose bounds nobody knows. A person counts with the largest of
    their magnitudes; the answer is the first point of a growing grid (see ``quantile``) at which a noisy
    number of the people within it crosses a noisy threshold, so that it hardly ever lies far beyond the data.
    With the answer b a later question may say ``bounds=(-b, b)``, or ``(0, b)`` where nothing is negative;
    the little that lies outside is clamped then. ``docs/proofs/quantiles.md`` proves the guarantee.

    Example:
        >>> import polars as pl
        >>> staff = pl.DataFrame({"person": range(5000), "pay": [30_000 + 7 * i for i in range(5000)]})
        >>> 60_000 < bound(staff, column="pay", covers=0.99, epsilon=2, user="person").answer < 70_000
        True
    """
    require_no_delta(delta)
    asking = Context.of(data, terms).asking(column, epsilon)
    level = level_of(covers, name="covers")
    if asking.context.mechanism is not None:
        raise ParameterError("a bound is found by a noisy threshold: leave ⟨mechanism⟩ out")
    axis = column_grid(
        asking.table, column, bounds=None, unit=unit, largest=largest, magnitudes=True
    )
    scales = scales_for(level, asking.epsilon_each, asking.inner)

    def answer(people: Counts) -> dict[str, Any]:
        return {"answer": axis.label(first_within(people, level, scales, SecureBits()))}

    return asking.release(
        f"bound that covers {label_of(level)}",
        parts=[(PureDP(asking.epsilon_each).resting_on(Proof(_PAGES)), 1)],
        mechanism="a noisy threshold on a growing grid",
        read=lambda: people_per_grid_point(
            axis.table,
            asking.rows,
            column=column,
            grid=axis.grid,
            per_person="largest",
            outside="clamp",
        ),
        answer=answer,
        rules=about_magnitudes(axis.label(len(axis.grid) - 1), several=asking.rows.user is not None)
        + axis.left_out
        + axis.rules,
    )


def scales_for(level: Fraction, epsilon: Fraction, neighbours: str) -> NoiseScales:
    """Equal noise for the threshold and for the counts, in units of 1/b for a level a/b.

    One person more or less moves every count less the threshold by a or b − a, one replaced moves them all
    the same way by b at most: ε = h/b₁ + d/b₂ with d = b and h the larger of the two, or b.
    """
    part, whole = level.numerator, level.denominator
    shift = whole if neighbours == REPLACE else max(part, whole - part)
    scale = Fraction(shift + whole) / epsilon
    return NoiseScales(scale, scale)


def first_within(people: Counts, level: Fraction, scales: NoiseScales, bits: Bits) -> int:
    """The first place at which the noisy number of people so far crosses the noisy threshold, or the last."""
    up_to = np.cumsum(people)
    values = level.denominator * up_to - level.numerator * int(up_to[-1])
    found = NoisyThreshold(Fraction(0), scales, bits).crossings(values, 1)
    return found[0] if found else len(people) - 1
