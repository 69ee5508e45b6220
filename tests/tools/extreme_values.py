"""Scales and arrays at the ends of every range, for testing anything that takes scores."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

SCALES = [
    Fraction(2),
    Fraction(1, 3),
    Fraction(1, 10**320),
    Fraction(1, 10**5000),
    Fraction(10) ** 300,
    Fraction(10) ** 5000,
    Fraction(2) ** 905,
    Fraction(1, 2**905),
    Fraction(7, 2**1074),
]
ARRAYS: list[np.ndarray[Any, Any]] = [
    np.array([3.5, -2.0, 1e-300, 0.1]),
    np.array([1.7e308, -1.7e308, 1.6e308, 0.0]),
    np.array([-1.7e308, -1.7976931348623157e308]),
    np.array([5e-324, 0.0, -5e-324, 1e-310]),
    np.array([1e16, 1e16 + 2, 1.0]),
    np.array([0.1, 0.2, 65504.0], dtype=np.float16),
    np.array([0.1, 3e38, -3e38], dtype=np.float32),
    # Differences of a few scales that are not floats of the same type.
    np.array([4.0, 2.0**-14 + 2.0**-24, 0.1, -3.0009], dtype=np.float16),
    np.array([4.0, 2.0**-30, 0.1, -3.0000002], dtype=np.float32),
    np.array([2**63 - 1, 2**63 - 2, -(2**63), 0], dtype=np.int64),
    np.array([2**64 - 1, 2**64 - 2, 0], dtype=np.uint64),
    np.array([-128, 127, 5], dtype=np.int8),
    np.array([0, 255], dtype=np.uint8),
    np.array([-(2**31), 2**31 - 1], dtype=np.int32),
    np.array([10**400, 10**400 - 1, Fraction(1, 10**400), -5], dtype=object),
    np.array([7]),
]
