"""A family of mechanisms: a mechanism without its ε."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from discreet._exact.numbers.exact import refuse
from discreet.errors import ParameterError
from discreet.mechanisms import MECHANISMS, Mechanism
from discreet.mechanisms.registry import Family, member

CONTENDERS = tuple(
    mechanism for make in MECHANISMS.values() if (mechanism := make(epsilon=1)).facts.compared
)
"""The private mechanisms compared by default; no two have the same distribution."""


def family_name(family: Family) -> str:
    """Return the mechanism's name on the command line and in reports."""
    return member(family, 1).name


def family_list(families: Family | Iterable[Family] | None) -> list[Family]:
    """Return the families as a list, by default ``CONTENDERS``; refuse an empty list and duplicates.

    Example:
        >>> [family_name(family) for family in family_list(None)]
        ['permute-and-flip', 'exponential', 'noisy-max-laplace']
    """
    if families is None:
        return list(CONTENDERS)
    listed: list[Any] = (
        [families]
        if isinstance(families, Mechanism | str) or callable(families)
        else list(families)
    )
    if not listed:
        raise ParameterError("give at least one mechanism")
    names = [family_name(family) for family in listed]
    if len(set(names)) != len(names):
        raise ParameterError(f"each mechanism may be given once, not {', '.join(names)}")
    return listed


def noise_scale(mechanism: Mechanism, range_distance: Fraction) -> Fraction:
    """Return the noise scale s: the mechanism's own if it has one, else d/ε. Zero means no noise."""
    if mechanism.scale is not None:
        return mechanism.scale
    assert mechanism.epsilon is not None
    return range_distance / mechanism.epsilon


def required(mechanism: object) -> Mechanism:
    """Return the mechanism; raise an error for anything else, such as a class, which has no ε."""
    if not isinstance(mechanism, Mechanism):
        raise refuse(
            "mechanism", mechanism, "a mechanism with its ε, such as PermuteAndFlip(epsilon=1)"
        )
    return mechanism
