"""A verdict as JSON: infinities as text, and never a NaN."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from discreet import Exponential, PureDP
from discreet.audit import audit
from discreet.errors import DiscreetError


def test_infinities_are_text_and_nan_is_refused() -> None:
    verdict = audit(Exponential(epsilon=1), PureDP("0.5"), n=2)
    for value, text in ((math.inf, "inf"), (-math.inf, "-inf")):
        assert json.loads(replace(verdict, measured=value).to_json())["measured"] == text
    assert verdict.witness is not None
    for wrong in (
        replace(verdict, measured=math.nan),
        replace(verdict, claimed=math.nan),
        replace(verdict, witness=replace(verdict.witness, value=math.nan)),
        replace(verdict, witness=replace(verdict.witness, probabilities=(0.5, math.nan))),
    ):
        with pytest.raises(DiscreetError, match="not a number"):
            wrong.to_json()
