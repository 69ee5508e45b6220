"""The numbers that a sampler may change without changing what it draws.

Tests shrink them until every path of a sampler can be enumerated, or set the tolerance to infinity
so that every decision is made in ball arithmetic. Nothing here affects a distribution.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Word sizes, filter width and the points at which a sampler changes its plan.

    Attributes:
        word: bits of the first look at a uniform number that is compared with a coin.
        index_word: bits of the word from which a uniform index is made.
        tolerance: relative half-width of the band in which a float comparison is not believed;
            at least 2⁻⁴² (lemma 6), ``inf`` sends every comparison to ball arithmetic.
        sparse: when fewer marks than this are expected, they are looked for one at a time.
        few: so many near candidates are flipped outright.
        visits: sizes of the rounds of random visits, in multiples of the first.
        hopeless: no visits are made when the mean coin seems to be below this.
        proposals: how many proposals the exponential mechanism starts with.
        levels: the exponents a at which candidates with coins under 2⁻ᵃ may be thinned.
        inner: the exponent used to thin a long list of near candidates.
    """

    word: int = 64
    index_word: int = 32
    tolerance: float = 2.0**-42
    sparse: float = 2.0**-8
    few: int = 1024
    visits: tuple[int, ...] = (1, 2)
    proposals: int = 1024
    hopeless: float = 2.0**-12
    levels: tuple[int, ...] = (32, 20, 14, 10, 8, 6)
    inner: int = 6

    @property
    def far(self) -> int:
        """The largest thinning exponent."""
        return self.levels[0]


STANDARD = Tuning()
