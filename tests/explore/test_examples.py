from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.explore.examples import SHAPES, look_alike, tolerance_for


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [2, 3, 50, 100_000])
def test_a_look_alike_has_the_facts_it_was_made_from(shape: str, count: int) -> None:
    labels, values = look_alike(f"{count},400,10,{shape}")
    assert len(labels) == len(set(labels)) == len(values) == count
    assert (values[0], values[1]) == (400, 390)
    assert (np.diff(values) <= 0).all()
    assert values.min() >= 0


def test_the_tolerance_follows_the_spread() -> None:
    assert tolerance_for(np.array([412, 57])) == "10"
    assert tolerance_for(np.array([1_000_000, 0])) == "50000"
    assert tolerance_for(np.array([0.4, 0.0])) == "0.02"
    assert tolerance_for(np.array([7, 7])) == "0"


@pytest.mark.parametrize(
    ("facts", "field"),
    [("abc,4,1,even", "Candidates"), ("4,-4,1,even", "Best score"), ("4,4,,even", "Its lead")],
)
def test_a_wrong_fact_of_a_look_alike_is_named(facts: str, field: str) -> None:
    with pytest.raises(ParameterError, match=f"{field} must be a whole number, not"):
        look_alike(facts)
