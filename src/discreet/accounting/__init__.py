"""Events describe what happened; composition computes what they cost together.

Example:
    >>> from discreet import PermuteAndFlip, PureDP, Scores
    >>> from discreet.accounting import Event, compose
    >>> compose([PureDP("0.1"), Event(PureDP("0.2"), count=2)]).pure
    PureDP(0.5)
"""

from discreet.accounting.composition import Composition, compose
from discreet.accounting.events import Event

__all__ = ["Composition", "Event", "compose"]
