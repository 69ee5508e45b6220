"""All candidates sorted by how large their coins can be: the preparation for many draws.

A candidate of level j has exp(−γ) ≤ 2^−j, certified (lemma 9). Many independent draws then cost a
few coins each: who might be heads in which draw is decided by `marks`, over all draws and
candidates of a level at once.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.gaps import Gaps, Indices
from discreet.sampling.bits import Bits
from discreet.sampling.coins import Coins, flip
from discreet.sampling.marks import marks
from discreet.sampling.tuning import Tuning

DRAWS_AT_ONCE = 1 << 16
_STRETCH = 1 << 16
_LEVELS_PER_GAMMA = (1.0 - 2.0**-40) / math.log(2)


class Levels:
    """Candidates grouped by level, up to a last level that holds all the rest."""

    __slots__ = ("gaps", "last", "order", "sizes", "starts")

    def __init__(self, gaps: Gaps, *, last: int) -> None:
        self.gaps = gaps
        self.last = last
        levels = np.empty(gaps.size, dtype=np.uint8)
        for start in range(0, gaps.size, _STRETCH):
            stop = min(start + _STRETCH, gaps.size)
            gammas = gaps.stretch(start, stop)
            gammas *= _LEVELS_PER_GAMMA
            np.minimum(gammas, last, out=gammas)
            levels[start:stop] = gammas.astype(np.uint8)
        self.order: Indices = np.argsort(levels, kind="stable")
        self.sizes: Indices = np.bincount(levels, minlength=last + 1)
        self.starts: Indices = np.cumsum(self.sizes) - self.sizes

    @classmethod
    def prepared(cls, gaps: Gaps, tuning: Tuning) -> Levels:
        """As many levels as weights of up to size·2^last in 63 bits allow."""
        return cls(gaps, last=min(tuning.levels[0], 62 - gaps.size.bit_length()))

    @property
    def mass(self) -> float:
        """About Σ 2^−level: between Σ exp(−γ) and a little over twice that."""
        return float((self.sizes * 0.5 ** np.arange(len(self.sizes))).sum())

    def arrivals(
        self, coins: Coins, draws: int, *, bits: Bits, tuning: Tuning
    ) -> tuple[Indices, Indices]:
        """In each of ``draws`` independent draws, all whose coins are heads: (draw, candidate)."""
        draw_parts: list[Indices] = []
        candidate_parts: list[Indices] = []
        boost_parts: list[Indices] = []
        for level in self.sizes.nonzero()[0].tolist():
            size = int(self.sizes[level])
            exponent = coins.exponent(level)
            places = marks(bits, draws * size, exponent, tuning=tuning)
            if len(places):
                draw = places // size
                draw_parts.append(draw)
                candidate_parts.append(self.order[self.starts[level] + places - draw * size])
                boost_parts.append(np.full(len(places), exponent))
        if not draw_parts:
            none = np.empty(0, dtype=np.int64)
            return none, none
        draw = np.concatenate(draw_parts)
        candidates = np.concatenate(candidate_parts)
        boost = np.concatenate(boost_parts)
        heads = flip(self.gaps, candidates, coins, bits=bits, tuning=tuning, boost=boost)
        return draw[heads], candidates[heads]
