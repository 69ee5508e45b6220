"""Random bits and exact draws: given uniform bits, every draw has exactly the stated distribution.

This package does not depend on the mechanisms. Each draw is a function of the gaps and a source of bits;
docs/proofs/sampling.md proves each one.
"""

from __future__ import annotations

from discreet._exact.sampling.best import best_indices, uniform_best
from discreet._exact.sampling.bits import (
    Bits,
    ScriptedBits,
    SecureBits,
    TapeBits,
    TapeExhausted,
    uniform_below,
    uniform_indices,
)
from discreet._exact.sampling.coins import biased_coins
from discreet._exact.sampling.each import (
    best_of_each,
    head_of_each,
    laplace_max_of_each,
    proportional_of_each,
)
from discreet._exact.sampling.exponential import proportional, proportionals
from discreet._exact.sampling.laplace import laplace_max, laplace_maxes
from discreet._exact.sampling.permute_and_flip import uniform_head, uniform_heads
from discreet._exact.sampling.steady import steady_head
from discreet._exact.sampling.weighted import in_proportion_to

__all__ = [
    "Bits",
    "ScriptedBits",
    "SecureBits",
    "TapeBits",
    "TapeExhausted",
    "best_indices",
    "best_of_each",
    "biased_coins",
    "head_of_each",
    "in_proportion_to",
    "laplace_max",
    "laplace_max_of_each",
    "laplace_maxes",
    "proportional",
    "proportional_of_each",
    "proportionals",
    "steady_head",
    "uniform_below",
    "uniform_best",
    "uniform_head",
    "uniform_heads",
    "uniform_indices",
]
