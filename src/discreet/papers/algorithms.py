"""The papers' algorithms as printed, each with an exact sampler and its exact distribution.

There is one module per paper, for reading and for checking claims. The library's own samplers
(:mod:`discreet._exact.sampling`) draw from the same distributions much faster.
"""

from __future__ import annotations

from discreet.papers import opendp_proof
from discreet.papers.noisy_max import algorithms as noisy_max
from discreet.papers.permute_and_flip import algorithms as permute_and_flip
from discreet.papers.problems import Algorithm
from discreet.papers.randomized_response import algorithms as randomized_response

ALGORITHMS: tuple[Algorithm, ...] = (
    *permute_and_flip.ALGORITHMS,
    *noisy_max.ALGORITHMS,
    *randomized_response.ALGORITHMS,
    *opendp_proof.ALGORITHMS,
)
"""Every numbered algorithm of the five papers."""
