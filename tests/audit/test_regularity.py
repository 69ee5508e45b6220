from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet import Exponential, ExponentialRandomizedResponse, NoisyMax, PermuteAndFlip
from discreet.audit import Regular, audit


@pytest.mark.parametrize(
    "mechanism",
    [
        PermuteAndFlip(epsilon=1),
        PermuteAndFlip(epsilon=1, optimize="min"),
        Exponential(epsilon=2),
        NoisyMax(epsilon=1, noise="laplace"),
    ],
)
def test_ours_are_regular(mechanism: Any) -> None:
    verdict = audit(mechanism, Regular(), n=3)
    assert verdict.status == "proved"
    assert verdict.measured < 1e-12


def test_the_chain_is_not_monotonic() -> None:
    mechanism = ExponentialRandomizedResponse(epsilon=1, truth="0.5")
    verdict = audit(mechanism, Regular(), n=(3, 4))
    assert verdict.status == "refuted"
    assert verdict.witness is not None
    assert verdict.witness.relation == "monotonicity"
    kept = Regular(symmetric=True, shift_invariant=True, monotonic=False)
    assert audit(mechanism, kept, n=(3, 4)).status == "not refuted"


def favourite(scores: Any) -> Any:
    weights = np.exp(scores - scores.max())
    weights[0] *= 2
    return weights / weights.sum()


def proportional(scores: Any) -> Any:
    weights = scores - scores.min() + 1 + np.abs(scores.max())
    return weights / weights.sum()


@pytest.mark.parametrize(
    ("function", "rule"), [(favourite, "symmetry"), (proportional, "shift invariance")]
)
def test_each_rule_is_checked(function: Any, rule: str) -> None:
    verdict = audit(function, Regular(), n=3)
    assert verdict.status == "refuted"
    broken = {stage.name for stage in verdict.stages if stage.largest > 1e-6}
    assert rule in broken
