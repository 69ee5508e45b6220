"""Permute-and-flip whose work does not depend on the scores.

Every coin is flipped, with the same number of bits, in passes of the same length; the winner is
kept by merging counts. A score can change the work only where a coin falls inside the float's error
band, which has probability at most 2⁻⁴⁰ a coin. What this hides and what it does not is in
docs/proofs/sampling.md.
"""

from __future__ import annotations

import numpy as np

from discreet.errors import ParameterError
from discreet.gaps import Flags, Gaps
from discreet.sampling.bits import Bits
from discreet.sampling.coins import Heads, falls_heads
from discreet.sampling.refinement import Uniform
from discreet.sampling.tuning import STANDARD, Tuning

_COINS = Heads()
_STRETCH = 1 << 15


@np.errstate(all="ignore")
def steady_head(gaps: Gaps, bits: Bits, *, tuning: Tuning = STANDARD) -> int:
    """A candidate drawn as permute-and-flip draws it, with work that does not depend on the scores.

    Example:
        >>> from fractions import Fraction
        >>> from discreet.sampling.bits import SecureBits
        >>> steady_head(Gaps(np.array([0, 10**9]), scale=Fraction(2)), SecureBits())
        1
    """
    if not gaps.native:
        raise ParameterError(
            "steady selection needs scores of a machine integer or float type: arithmetic on "
            "integers beyond 64 bits and on Fractions takes a time that depends on their values"
        )
    gaps.best  # noqa: B018 - the pass over the scores, which also refuses NaN and infinities
    total = 0
    winner = 0
    for start in range(0, gaps.size, _STRETCH):
        heads = _flip_all(gaps, start, min(start + _STRETCH, gaps.size), bits, tuning)
        ranks = np.cumsum(heads)
        count = int(ranks[-1])
        chosen = start + int(np.searchsorted(ranks, _pick(bits, count, tuning.pick) + 1))
        total += count
        # The new stretch wins in proportion to its heads (lemma 12: merging by counts).
        if _pick(bits, total, tuning.pick) < count:
            winner = chosen
    return winner


def _flip_all(gaps: Gaps, start: int, stop: int, bits: Bits, tuning: Tuning) -> Flags:
    """A flag for every candidate of the stretch: whether its coin is heads."""
    chances, _ = _COINS.chances(gaps.stretch(start, stop))
    chances *= 2.0**tuning.word
    words = bits.words(stop - start, width=tuning.word)
    drawn = words.astype(np.float64)
    heads: Flags = drawn < chances * (1.0 - tuning.tolerance) - 2.0
    doubtful = (drawn <= chances * (1.0 + tuning.tolerance) + 2.0) & ~heads
    if np.count_nonzero(doubtful):
        for place in doubtful.nonzero()[0].tolist():
            uniform = Uniform(bits, known=int(words[place]), width=tuning.word, step=tuning.word)
            heads[place] = falls_heads(uniform, _COINS, gaps.exact(start + place), boost=0)
    return heads


def _pick(bits: Bits, bound: int, width: int) -> int:
    """A uniform integer in ``range(bound)`` from ``width`` bits, save with chance bound/2^width.

    A bound of zero takes the same bits and gives 0.
    """
    while True:
        product = bits.integer(width) * bound
        if product & ((1 << width) - 1) >= (1 << width) % max(bound, 1):
            return product >> width
