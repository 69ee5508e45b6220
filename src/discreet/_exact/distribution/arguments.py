"""Check the gaps given to a distribution, and compute their coin probabilities exp(−γ)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import ScoresError

Floats: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.intp]

# This many numbers fit in the second-level cache.
_AT_ONCE = 1 << 14


def checked(gaps: npt.ArrayLike, correction: npt.ArrayLike | None) -> tuple[Floats, Floats | None]:
    """Return the gaps and their correction as float64 arrays; raise an error that names the broken rule.

    In a matrix, each row holds the gaps of one selection.
    """
    values = np.asarray(gaps, dtype=np.float64)
    if values.ndim not in (1, 2) or values.size == 0:
        raise ScoresError("gaps must be a row, or rows, with at least one entry")
    # NaN propagates through min and compares unequal to everything, so this test also catches NaN.
    if np.any(values.min(axis=-1) != 0.0):
        raise ScoresError("gaps must be numbers, none negative, and the least exactly zero")
    if correction is None:
        return values, None
    low = np.asarray(correction, dtype=np.float64)
    if low.shape != values.shape:
        raise ScoresError("the correction must have one entry for each gap")
    if np.isinf(values.max()):
        # An infinite gap has no low-order part, and the subtraction may have left NaN there.
        low = np.where(np.isinf(values), 0.0, low)
    if not np.isfinite(low.sum()):
        raise ScoresError("the correction must be finite")
    return values, low


def coins(gaps: Floats, correction: Floats | None) -> Floats:
    """Return the probabilities exp(−γ), correct to about one unit in the last place.

    The correction c is below 2⁻⁴³ wherever exp(−γ) does not underflow, so exp(−c) is 1 − c to within 2⁻⁸⁷.
    """
    values = np.empty(gaps.shape)
    flat, given = values.reshape(-1), gaps.reshape(-1)
    low = None if correction is None else correction.reshape(-1)
    with np.errstate(under="ignore"):
        for start in range(0, gaps.size, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            here = np.negative(given[part], out=flat[part])
            np.exp(here, out=here)
            if low is not None:
                here -= here * low[part]
    return values


def log_times_coins(ratio: Floats, gaps: Floats, correction: Floats | None) -> Floats:
    """Overwrite ``ratio`` with ``log(ratio · exp(−γ))``, correct even if the product underflows."""
    np.log(ratio, out=ratio)
    if correction is not None:
        ratio -= correction
    ratio -= gaps
    # Rounding may put a certain outcome slightly above probability one.
    return np.minimum(ratio, 0.0, out=ratio)


def times_coins(ratio: Floats, heads: Floats) -> Floats:
    """Overwrite ``ratio`` with ``ratio · exp(−γ)``, capped at one."""
    with np.errstate(under="ignore"):
        ratio *= heads
    return np.minimum(ratio, 1.0, out=ratio)
