"""The list of mechanisms. A new mechanism costs a file, a line here, and a proof page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from discreet.mechanisms.above_threshold import CrossingRule
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.exponential_randomized_response import ExponentialRandomizedResponse
from discreet.mechanisms.large_gap import LargeGap
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.numbers.exact import refuse

MECHANISMS: dict[str, Callable[..., Mechanism]] = {
    "permute-and-flip": PermuteAndFlip,
    "exponential": Exponential,
    "noisy-max-exponential": partial(NoisyMax, noise="exponential"),
    "noisy-max-laplace": partial(NoisyMax, noise="laplace"),
    "noisy-max-gumbel": partial(NoisyMax, noise="gumbel"),
    "large-gap": LargeGap,
    "exponential-randomized-response": partial(ExponentialRandomizedResponse, variant="complete"),
    "exponential-randomized-response-naive": partial(
        ExponentialRandomizedResponse, variant="naive"
    ),
}
"""Name to factory; every factory takes ``epsilon=`` or ``scale=``, and ``optimize=``."""

STREAMS: dict[str, Callable[..., CrossingRule]] = {
    "above-threshold": CrossingRule,
    "above-threshold-laplace": partial(CrossingRule, noise="laplace"),
}
"""Rules that answer about a stream of values; every factory takes ``epsilon=``, ``threshold=``,
``sensitivity=``, ``crossings=`` and ``monotonic=``."""


def mechanism_named(name: str, **parameters: object) -> Mechanism:
    """The registered mechanism of this name.

    Example:
        >>> mechanism_named("noisy-max-laplace", epsilon=1)
        NoisyMax(epsilon=1, noise='laplace')
    """
    if not isinstance(name, str) or name not in MECHANISMS:
        raise refuse("mechanism", name, "one of " + ", ".join(MECHANISMS))
    return MECHANISMS[name](**parameters)
