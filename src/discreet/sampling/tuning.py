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
        word: bits of the first look at a uniform number, or of the second after ``first_bits``.
        coin: the same for the coins that are flipped many at a time, of which few are close calls.
        first_bits: bits, at most 8 (lemma 6a), that settle most coins of a few candidates.
        index_word: bits of the word from which a uniform index is made.
        key: bits of the keys by which one of several arrivals is chosen.
        pick: bits from which a steady choice is made.
        tolerance: relative half-width of the band in which a float comparison is not believed;
            at least 2⁻⁴² (lemma 6), ``inf`` sends every comparison to ball arithmetic.
        sparse: when fewer marks than this are expected, they are looked for one at a time.
        spare: distances between marks that are drawn beyond the expected number.
        few: so many near candidates are listed and dealt with outright.
        first_bits_up_to: of so many candidates all coins are looked at by their first bits, unless only few
            candidates are near.
        one_by_one: so many coins are flipped one by one, which is then quickest.
        single_visits: sizes of the first rounds of random visits, made one at a time.
        near_enough: single visits go on if one met a gap below this.
        visits: sizes of further rounds, in multiples of the wait expected for one heads.
        least_mean_coin: no visits are made when the mean coin seems to be below this.
        proposals: how many proposals the exponential mechanism starts with.
        overdraw: proposals made for each draw still missing, when many are drawn.
        levels: the exponents a at which candidates with coins under 2⁻ᵃ may be thinned.
        inner: the exponent used to thin a long list of near candidates.
    """

    word: int = 64
    coin: int = 32
    first_bits: int = 8
    index_word: int = 32
    key: int = 46
    pick: int = 128
    tolerance: float = 2.0**-42
    sparse: float = 2.0**-8
    spare: int = 16
    few: int = 1024
    first_bits_up_to: int = 2048
    one_by_one: int = 8
    single_visits: tuple[int, ...] = (6, 26)
    near_enough: float = 5.5
    visits: tuple[float, ...] = (2.0, 4.0)
    least_mean_coin: float = 2.0**-12
    proposals: int = 1024
    overdraw: int = 4
    levels: tuple[int, ...] = (32, 20, 14, 10, 8, 6)
    inner: int = 6


STANDARD = Tuning()
