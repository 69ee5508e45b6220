"""Probability mass functions of selection mechanisms, as functions of the gaps alone.

A gap is γ_r = (q* − q_r)/s ≥ 0: how far candidate r is behind the best, in units of the noise scale. Every
function takes the gaps as float64. The least gap is exactly 0; infinity means "never chosen". An optional
``correction`` is the low-order part of each gap: the true gap is ``gaps + correction``. A gap near 700
rounded to float64 is off by up to 6·10⁻¹⁴, and exp(−γ) would have the same relative error; the correction
restores those digits. ``log=True`` returns natural logarithms, which stay finite even if the probability
itself underflows.

These functions read the scores without spending any privacy budget. Their results are not private.

``docs/proofs/probabilities.md`` proves the error bounds behind every cut-off and every number of nodes. Slow
but rigorous versions of the same distributions, in interval arithmetic, are in
:mod:`discreet._exact.distribution.reference`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet._names import loaded

if TYPE_CHECKING:
    from discreet._exact.distribution.closed_form import exponential
    from discreet._exact.distribution.coin_flips import permute_and_flip
    from discreet._exact.distribution.laplace import noisy_max_laplace

__all__ = ["exponential", "noisy_max_laplace", "permute_and_flip"]

_HOMES = {
    "exponential": "closed_form",
    "noisy_max_laplace": "laplace",
    "permute_and_flip": "coin_flips",
}


def __getattr__(name: str) -> Any:
    return loaded(globals(), _HOMES, name)
