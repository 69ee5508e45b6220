"""Exact halving of counts: each of c people goes left or right by a fair coin of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.sampling.bits import Bits

_CHUNK_WORDS = 1 << 20


def halved(counts: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
    """For each count c an independent Binomial(c, 1/2): how many of c fair coins fall heads.

    Example:
        >>> from discreet.sampling.bits import SecureBits
        >>> halved(np.array([0, 0]), SecureBits())
        array([0, 0])
    """
    left = np.zeros_like(counts)
    occupied = counts.nonzero()[0]
    for start in range(0, len(occupied), _CHUNK_WORDS):
        some = occupied[start : start + _CHUNK_WORDS]
        # The last, partial word of each count: as many bits as are left over, 1 to 64.
        rest = ((counts[some] - 1) & 63) + 1
        words = bits.words(len(some)) >> (64 - rest).astype(np.uint64)
        left[some] = np.bitwise_count(words)
    for index in (counts > 64).nonzero()[0].tolist():
        full = (int(counts[index]) - 1) >> 6
        while full:
            taken = min(full, _CHUNK_WORDS)
            left[index] += int(np.bitwise_count(bits.words(taken)).sum(dtype=np.int64))
            full -= taken
    return left
