"""Noisy max with Laplace noise: the candidate whose score plus Laplace noise of scale s is largest.

Above the best score the noisy scores behave like permute-and-flip with halved coins; if nobody is
there, the layers below it are searched in turn (theorem 3 of the proof page).
"""

from __future__ import annotations

from itertools import count

import numpy as np

from discreet.gaps import Gaps
from discreet.sampling.bits import Bits
from discreet.sampling.coins import Heads
from discreet.sampling.heads import head_or_none
from discreet.sampling.layers import Layer, shallowest
from discreet.sampling.thinning import thinned_heads
from discreet.sampling.tuning import STANDARD, Tuning

_ABOVE = Heads(halvings=1)


@np.errstate(all="ignore")
def laplace_max(gaps: Gaps, bits: Bits, *, tuning: Tuning = STANDARD) -> int:
    """A candidate drawn as noisy max with Laplace noise draws it.

    Example:
        >>> from fractions import Fraction
        >>> from discreet.sampling.bits import SecureBits
        >>> laplace_max(Gaps(np.array([0, 10**9]), scale=Fraction(2)), SecureBits())
        1
    """
    chosen = head_or_none(gaps, _ABOVE, bits=bits, tuning=tuning)
    if chosen is not None:
        return chosen
    for number in count(1):
        layer = Layer(number)
        inside = thinned_heads(gaps, layer, bits=bits, tuning=tuning)
        if len(inside) > 1:
            groups = np.zeros(len(inside), dtype=np.int64)
            inside = shallowest(gaps, layer, groups, inside, bits=bits, tuning=tuning)[1]
        if len(inside):
            return int(inside[0])
    raise AssertionError("unreachable: the layers are endless")
