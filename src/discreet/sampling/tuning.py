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
        word: bits of the first look at a uniform number, or of the second after a peek.
        coin: the same for the coins that are flipped many at a time, of which few are close calls.
        peek: bits, at most 8 (lemma 6a), that settle most coins of a few candidates.
        index_word: bits of the word from which a uniform index is made.
        key: bits of the keys by which one of several arrivals is chosen.
        pick: bits from which a steady choice is made.
        tolerance: relative half-width of the band in which a float comparison is not believed;
            at least 2⁻⁴² (lemma 6), ``inf`` sends every comparison to ball arithmetic.
        sparse: when fewer marks than this are expected, they are looked for one at a time.
        spare: distances between marks that are drawn beyond the expected number.
        few: so many near candidates are listed and dealt with outright.
        peeked: so many candidates are all peeked at, if more than a handful are near.
        handful: so many coins are flipped one by one, which is quicker than all at once or a peek.
        stroll: sizes of the first rounds of random visits, made one at a time.
        promising: a stroll goes on if it met a gap below this.
        visits: sizes of further rounds, in multiples of the wait expected for one heads.
        hopeless: no visits are made when the mean coin seems to be below this.
        proposals: how many proposals the exponential mechanism starts with.
        overdraw: proposals made for each draw still missing, when many are drawn.
        levels: the exponents a at which candidates with coins under 2⁻ᵃ may be thinned.
        inner: the exponent used to thin a long list of near candidates.
    """

    word: int = 64
    coin: int = 32
    peek: int = 8
    index_word: int = 32
    key: int = 46
    pick: int = 128
    tolerance: float = 2.0**-42
    sparse: float = 2.0**-8
    spare: int = 16
    few: int = 1024
    peeked: int = 2048
    handful: int = 8
    stroll: tuple[int, ...] = (6, 26)
    promising: float = 5.5
    visits: tuple[float, ...] = (2.0, 4.0)
    hopeless: float = 2.0**-12
    proposals: int = 1024
    overdraw: int = 4
    levels: tuple[int, ...] = (32, 20, 14, 10, 8, 6)
    inner: int = 6


STANDARD = Tuning()
