"""The mechanisms: one file each, all of one shape, all listed in the registry."""

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
