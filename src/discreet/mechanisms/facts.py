"""Known facts about a mechanism besides its guarantee, stated once in the mechanism's file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about a mechanism besides its guarantee.

    Every fact must be stated, even as None or False. The conformance suite checks the facts that can be
    checked. Facts hold only for the class that states them; a subclass states its own.

    Attributes:
        title: the mechanism's name in words.
        proof: the page in ``docs/proofs`` that proves the guarantee.
        checked_as: the name of the mechanism's law in the table that links guarantees to theorems
            (``discreet.guarantees.claims``); empty if the page proves everything on paper.
        law: the probabilities as a function of the gaps alone (``gaps``, ``correction``, ``log=``), in
            floats; None if they depend on more.
        ball_law: the same in interval arithmetic, from exact gaps and a precision in bits.
        symmetric: whether exchanging candidates only exchanges their probabilities, and adding a constant to
            all scores changes nothing.
        regular: whether the mechanism is proved regular (``docs/proofs/auditing.md``): it is symmetric, and a
            candidate never becomes less likely if its score rises or another's falls.
        missed: the chance of missing a single best candidate if all others have the same gap, as a
            function of n and that gap; None if there is no closed form.
        hardest_known: whether it is proved that no scores have a larger expected error than one best
            candidate with all others tied (``docs/proofs/worst-case-error.md``).
        free_gap: whether it is proved that releasing the noisy lead of the winner costs nothing extra
            (``docs/proofs/noisy-count-and-gap.md``).
        merges: whether parts drawn with keyed noise can be merged into one draw
            (``docs/proofs/distributed-selection.md``).
        compared: whether comparisons show this mechanism by default.
    """

    title: str
    proof: str
    checked_as: str
    law: Callable[..., Floats] | None
    ball_law: Callable[[list[Fraction], int], list[Any]] | None
    symmetric: bool
    regular: bool
    missed: Callable[[int, float], float] | None
    hardest_known: bool
    free_gap: bool
    merges: bool
    compared: bool
