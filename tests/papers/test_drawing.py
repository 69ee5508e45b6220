"""Labels do not overlap, ticks are round, and values that an axis cannot show are left out."""

from __future__ import annotations

from colorsys import rgb_to_hls
from itertools import combinations

import numpy as np
import pytest

from discreet.analysis.charts.style import look_of
from discreet.mechanisms import MECHANISMS
from discreet.papers.drawing import LOOKS, Label, Ruler, log_ticks, spread
from discreet.papers.figure import Axis


def test_labels_are_moved_apart_and_stay_in_the_panel() -> None:
    crowd = [Label(f"line {place}", "#000", 100.0, 199.0 - place / 10) for place in range(6)]
    placed = spread(crowd, 200.0)
    assert len(placed) == 6
    for one, other in combinations(placed, 2):
        assert abs(one.y - other.y) > 12.5
    assert all(0 < label.y <= 200 for label in placed)


def test_labels_in_different_columns_may_share_a_line() -> None:
    apart = [Label("a", "#000", 10.0, 50.0), Label("b", "#000", 300.0, 50.0)]
    assert [label.y for label in spread(apart, 100.0)] == [50.0, 50.0]


@pytest.mark.parametrize(("low", "high"), [(1, 60), (52, 180), (1e-9, 1e3), (0.0015, 40), (3, 3.3)])
def test_log_ticks_are_few_and_inside(low: float, high: float) -> None:
    for most in (3, 5, 9):
        ticks = log_ticks(low, high, most=most)
        assert len(ticks) <= most
        assert all(low <= tick <= high for tick in ticks)
    assert low == 3 or len(log_ticks(low, high, most=6)) >= 2


@pytest.mark.parametrize("log", [False, True])
def test_from_value_to_place_and_back(log: bool) -> None:
    ruler = Ruler(Axis("", log=log), 2.0, 50.0, pixels=300)
    for value in (2.0, 7.0, 50.0):
        assert ruler.value(ruler.place(value)) == pytest.approx(value)
    assert ruler.place(50.0) == 300
    fitted = Ruler.over(Axis("", log=log), [np.array([3.0, 4.0]), np.array([]), np.array([9.0])], 1)
    assert fitted.low < 3
    assert fitted.high > 9


def test_looks_differ_without_colour() -> None:
    """No two lines in a panel have the same dash."""
    for together in (
        ("pf", "em", "laplace", "gap", "bound"),
        ("pf", "em", "err25", "err50", "err75"),
        "12345",
    ):
        dashes = [LOOKS[look][1] for look in together]
        assert len(set(dashes)) == len(dashes)


def test_a_mechanism_has_one_colour_in_charts_and_figures() -> None:
    def hue(shade: str) -> float:
        return rgb_to_hls(*(int(shade[place : place + 2], 16) / 255 for place in (1, 3, 5)))[0]

    of = {
        "permute-and-flip": ("pf", "pf matched", "pale pf"),
        "exponential": ("em", "pale em"),
        "noisy-max-laplace": ("laplace",),
        "large-gap": ("gap",),
        "exponential-randomized-response": ("err25", "err50", "err75", "err elsewhere"),
    }
    for name, looks in of.items():
        own = look_of(name)[0]
        assert own in {LOOKS[look][0] for look in looks}
        # Lighter, but the same hue.
        assert [hue(LOOKS[look][0]) for look in looks] == pytest.approx(
            [hue(own)] * len(looks), abs=0.02
        )
    assert len({look_of(name)[0] for name in MECHANISMS}) == len(MECHANISMS)
