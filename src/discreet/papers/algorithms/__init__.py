"""The papers' algorithms as the papers state them, on exact samplers, with their exact laws.

One module per paper. They are for reading and for checking claims: the library's own samplers
(:mod:`discreet.sampling`) draw from the same distributions much faster.
"""

from __future__ import annotations

from discreet.papers.algorithms import (
    exponential_randomized_response,
    noisy_max,
    opendp,
    permute_and_flip,
)
from discreet.papers.algorithms.problem import Algorithm, Problem

ALGORITHMS: tuple[Algorithm, ...] = (
    *permute_and_flip.ALGORITHMS,
    *noisy_max.ALGORITHMS,
    *exponential_randomized_response.ALGORITHMS,
    *opendp.ALGORITHMS,
)
"""Every numbered algorithm of the five papers."""

__all__ = ["ALGORITHMS", "Algorithm", "Problem"]
