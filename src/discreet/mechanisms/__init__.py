"""The mechanisms. Each has its own file with the same structure; the registry lists them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet._names import loaded

if TYPE_CHECKING:
    from discreet.mechanisms.above_threshold import CrossingRule
    from discreet.mechanisms.exponential import Exponential
    from discreet.mechanisms.exponential_randomized_response import ExponentialRandomizedResponse
    from discreet.mechanisms.large_gap import LargeGap
    from discreet.mechanisms.mechanism import Mechanism
    from discreet.mechanisms.noisy_max import NoisyMax
    from discreet.mechanisms.permute_and_flip import PermuteAndFlip
    from discreet.mechanisms.registry import MECHANISMS, STREAMS, mechanism_named
    from discreet.mechanisms.unequal import UnequalWays, ways_for

__all__ = [
    "MECHANISMS",
    "STREAMS",
    "CrossingRule",
    "Exponential",
    "ExponentialRandomizedResponse",
    "LargeGap",
    "Mechanism",
    "NoisyMax",
    "PermuteAndFlip",
    "UnequalWays",
    "mechanism_named",
    "ways_for",
]

_HOMES = {
    "MECHANISMS": "registry",
    "STREAMS": "registry",
    "CrossingRule": "above_threshold",
    "Exponential": "exponential",
    "ExponentialRandomizedResponse": "exponential_randomized_response",
    "LargeGap": "large_gap",
    "Mechanism": "mechanism",
    "NoisyMax": "noisy_max",
    "PermuteAndFlip": "permute_and_flip",
    "UnequalWays": "unequal",
    "mechanism_named": "registry",
    "ways_for": "unequal",
}


def __getattr__(name: str) -> Any:
    return loaded(globals(), _HOMES, name)


def __dir__() -> list[str]:
    return __all__
