"""The same distributions, slow but rigorous: on exact rationals, and in ball arithmetic.

The rational versions take the coins p themselves as fractions and follow the permute-and-flip paper
line by line; they are for tests and for teaching. The ball versions take gaps as fractions and
return flint ``arb`` balls that are certain to contain the true probabilities.
"""

from discreet.distribution.reference.balls import (
    exponential_ball,
    exponential_randomized_response_ball,
    noisy_max_laplace_ball,
    permute_and_flip_ball,
)
from discreet.distribution.reference.rational import (
    dynamic_program,
    dynamic_program_in_floats,
    recurrence,
    sum_over_permutations,
    sum_over_subsets,
)

__all__ = [
    "dynamic_program",
    "dynamic_program_in_floats",
    "exponential_ball",
    "exponential_randomized_response_ball",
    "noisy_max_laplace_ball",
    "permute_and_flip_ball",
    "recurrence",
    "sum_over_permutations",
    "sum_over_subsets",
]
