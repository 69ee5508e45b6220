"""Reproducible randomness, for tests and experiments.

Releases never use it: ``select`` draws its own secure bits, and the ledger refuses scripted ones.
"""

from __future__ import annotations

from discreet._exact.sampling.bits import ScriptedBits

__all__ = ["scripted"]


def scripted(seed: int | str) -> ScriptedBits:
    """Return random bits that are the same for the same seed, on every machine. **Not private**.

    Example:
        >>> from discreet import PermuteAndFlip, Scores
        >>> scores = Scores([3, 2, 2], sensitivity=1)
        >>> mechanism = PermuteAndFlip(epsilon=1)
        >>> first, second = (mechanism.sample(scores, 5, randomness=scripted(7)) for _ in range(2))
        >>> bool((first == second).all())
        True
    """
    return ScriptedBits(seed)
