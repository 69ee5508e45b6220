"""The variants of the sparse vector technique that Lyu, Su and Li compare, by what distinguishes them.

Each is the scale of the threshold's noise, whether that is drawn anew after an answer "above", the scale of
the noise of a query or none, after how many answers it stops if ever, and whether "above" comes with the
noisy answer itself. All noise is Laplace noise; the threshold is zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.distribution.crossings import Block, Panels, sequence_ball
from discreet.mechanisms.facts import Floats
from discreet.numbers.balls import ball_of, precision
from discreet.numbers.noise_scales import NoiseScales

Said = tuple[Any, Any]
"""A value and the answer to it: False, True, or the number released."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One variant, at a stated ε.

    Attributes:
        title: who published it.
        threshold_scale: of the threshold's noise.
        query_scale: of each query's noise; None for none.
        crossings: how many answers "above" end it; None if it never ends.
        drawn_anew: whether the threshold's noise is drawn anew after each of them.
        releases_numbers: whether the noisy answer is released in place of "above".
        sensitivity: Δ.
    """

    title: str
    threshold_scale: Fraction
    query_scale: Fraction | None
    crossings: int | None
    drawn_anew: bool = False
    releases_numbers: bool = False
    sensitivity: Fraction = Fraction(1)
    middle: Fraction = Fraction(0)

    @property
    def exchangeable(self) -> bool:
        """Whether the order of queries and answers does not matter."""
        return not self.drawn_anew

    @property
    def _scales(self) -> NoiseScales:
        second = self.threshold_scale if self.query_scale is None else self.query_scale
        return NoiseScales(self.threshold_scale, second, two_sided=True)

    def _draws(
        self, asked: Sequence[Said], times: Sequence[int]
    ) -> Iterator[list[tuple[Said, int]]]:
        """What is asked under each draw of the threshold's noise."""
        part: list[tuple[Said, int]] = []
        for said, often in zip(asked, times, strict=True):
            if self.drawn_anew and said[1] is not False:
                for _ in range(often):
                    yield [*part, (said, 1)]
                    part = []
            else:
                part.append((said, often))
        if part:
            yield part

    def sequence_ball(
        self,
        values: Any,
        answers: Sequence[Any],
        times: Sequence[int] | None = None,
        *,
        bits: int = 100,
    ) -> Any:
        """A ball around the probability (for released numbers: the density) of these answers."""
        asked = list(zip(map(Fraction, values), answers, strict=True))
        parts = [
            self._part_ball(part, bits)
            for part in self._draws(asked, [1] * len(asked) if times is None else times)
        ]
        with precision(2 * bits):
            return math.prod(parts, start=ball_of(1))

    def _part_ball(self, part: list[tuple[Said, int]], bits: int) -> Any:
        least: list[Fraction] = []
        most: list[Fraction] = []
        blocks: list[Block] = []
        with precision(2 * bits):
            density = ball_of(1)
        for (value, answer), often in part:
            if self.query_scale is None:
                (most if answer else least).append(value)
            elif isinstance(answer, bool):
                blocks.append(Block(value, answer, often))
            else:
                most.append(answer)
                with precision(2 * bits):
                    one = ball_of(-abs(answer - value) / self.query_scale).exp()
                    density *= (one / ball_of(2 * self.query_scale)) ** often
        chance = sequence_ball(
            blocks,
            self._scales,
            least=max(least) if least else None,
            most=min(most) if most else None,
            bits=bits,
        )
        with precision(2 * bits):
            return chance * density

    def sequence_logs(self, rows: Floats, answers: Sequence[Any], times: Sequence[int]) -> Floats:
        """Logarithms of the probabilities of these answers to each row of queries, in floats."""
        asked = list(zip(range(len(answers)), answers, strict=True))
        total = np.zeros(len(rows))
        for part in self._draws(asked, times):
            total = total + self._part_logs(rows, part)
        return total

    def _part_logs(self, rows: Floats, part: list[tuple[Said, int]]) -> Floats:
        if self.query_scale is None:
            return self._interval_logs(rows, part)
        numbers = [float(answer) for (_, answer), _ in part if not isinstance(answer, bool)]
        different = np.unique(rows[:, [place for (place, _), _ in part]]).tolist()
        panels = Panels(
            self._scales,
            [*different, *numbers],
            longest=sum(often for _, often in part),
            steepest=max(often for _, often in part),
        )
        logs = np.zeros((len(rows), len(panels.points)))
        for (place, answer), often in part:
            column = rows[:, place]
            if isinstance(answer, bool):
                values, where = np.unique(column, return_inverse=True)
                logs += (often * panels.log_chances(values, above=answer))[where.reshape(-1)]
            else:
                scale = float(self.query_scale)
                density = -np.abs(float(answer) - column) / scale - math.log(2 * scale)
                logs += often * density[:, None]
                logs[:, panels.points > float(answer)] = -np.inf
        return panels.log_integrals(logs)

    def _interval_logs(self, rows: Floats, part: list[tuple[Said, int]]) -> Floats:
        """Without noise of their own, queries say in which interval the threshold lies."""
        above = [place for (place, answer), _ in part if answer]
        below = [place for (place, answer), _ in part if not answer]
        most = rows[:, above].min(axis=1) if above else np.full(len(rows), np.inf)
        least = rows[:, below].max(axis=1) if below else np.full(len(rows), -np.inf)
        scale = float(self.threshold_scale)

        def up_to(x: Floats) -> Floats:
            return np.where(
                x < 0, 0.5 * np.exp(-np.abs(x) / scale), 1 - 0.5 * np.exp(-np.abs(x) / scale)
            )

        with np.errstate(divide="ignore"):
            return np.log(np.where(most > least, up_to(most) - up_to(least), 0.0))


def variants(epsilon: Fraction, crossings: int) -> dict[str, Variant]:
    """The six, at ε and with a stop after so many answers "above" where there is one."""
    half, count = epsilon / 2, Fraction(crossings)

    def variant(title: str, first: Fraction, second: Fraction | None, **rest: Any) -> Variant:
        return Variant(title=title, threshold_scale=first, query_scale=second, **rest)

    return {
        "1": variant("Lyu, Su and Li", 1 / half, 2 * count / half, crossings=crossings),
        "2": variant(
            "Dwork and Roth", count / half, 2 * count / half, crossings=crossings, drawn_anew=True
        ),
        "3": variant(
            "Roth (lecture notes)",
            1 / half,
            count / half,
            crossings=crossings,
            releases_numbers=True,
        ),
        "4": variant("Lee and Clifton", 4 / epsilon, 4 / (3 * epsilon), crossings=crossings),
        "5": variant("Stoddard and others", 1 / half, None, crossings=None),
        "6": variant("Chen and others", 1 / half, 1 / half, crossings=None),
    }
