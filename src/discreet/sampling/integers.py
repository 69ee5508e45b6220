"""Exactly uniform integers from uniform bits, by rejection (lemmas 1 and 2 of the proof page)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.gaps import Indices
from discreet.numbers.balls import ball_of
from discreet.sampling.bits import Bits, Words
from discreet.sampling.refinement import Uniform


def uniform_below(bits: Bits, bound: int) -> int:
    """One uniform integer in ``range(bound)``: just enough bits, and again if too large.

    Example:
        >>> from discreet.sampling.bits import SecureBits
        >>> uniform_below(SecureBits(), 1)
        0
    """
    width = (bound - 1).bit_length()
    if width == 0:
        return 0
    while True:
        drawn = bits.integer(width)
        if drawn < bound:
            return drawn


def uniform_indices(bits: Bits, bound: int, *, count: int, width: int = 32) -> Indices:
    """``count`` independent uniform integers in ``range(bound)``.

    Example:
        >>> from discreet.sampling.bits import SecureBits
        >>> uniform_indices(SecureBits(), 1, count=3)
        array([0, 0, 0])
    """
    drawn = some_indices(bits, bound, count=count, width=width)
    while len(drawn) < count:
        more = some_indices(bits, bound, count=count - len(drawn), width=width)
        drawn = np.concatenate([drawn, more])
    return drawn


def uniform_below_each(bits: Bits, bounds: Indices, *, width: int = 32) -> Indices:
    """An independent uniform integer below each of the bounds, none of which exceeds 2^width.

    As ``some_indices``, with a bound for each word; what is dropped is drawn again.

    Example:
        >>> from discreet.sampling.bits import SecureBits
        >>> uniform_below_each(SecureBits(), np.array([1, 1, 1]))
        array([0, 0, 0])
    """
    found = np.zeros(len(bounds), dtype=np.int64)
    left = np.arange(len(bounds))
    top = np.uint64(1 << width)
    while len(left):
        wanted = bounds[left].astype(np.uint64)
        products = bits.words(len(left), width=width).astype(np.uint64) * wanted
        kept = (products & (top - np.uint64(1))) >= top % wanted
        found[left[kept]] = (products[kept] >> np.uint64(width)).astype(np.int64)
        left = left[~kept]
    return found


def some_indices(bits: Bits, bound: int, *, count: int, width: int = 32) -> Indices:
    """At most ``count`` independent uniform integers in ``range(bound)``, seldom fewer.

    A word ``v`` of ``width`` bits gives the high half of ``v * bound``; the words whose low half is
    below ``2**width % bound`` are dropped, which leaves every integer with equally many words.
    Bounds too large for a product in 64 bits are served by masked rejection.
    """
    if bound > 1 << width:
        return some_words_below(bits, bound, count=count).astype(np.int64)
    product = bits.words(count, width=width) * np.uint64(bound)
    chosen: Indices = (product >> np.uint64(width)).view(np.int64)
    surplus = (1 << width) % bound
    if surplus:
        product &= np.uint64((1 << width) - 1)
        kept = product >= surplus
        if np.count_nonzero(kept) < count:
            return chosen[kept]
    return chosen


def few_indices(bits: Bits, bound: int, *, count: int, width: int = 64) -> list[int]:
    """As ``some_indices``, for a few and any bound up to ``2**width``: plain Python is quicker there."""
    whole = 1 << width
    surplus = whole % bound
    products = [word * bound for word in bits.words(count, width=width).tolist()]
    return [product >> width for product in products if product & (whole - 1) >= surplus]


def some_words_below(bits: Bits, bound: int, *, count: int) -> Words:
    """At most ``count`` independent uniform integers in ``range(bound)``, for a bound up to 2⁶³.

    On average more than half of ``count`` are returned.
    """
    width = max(1, (bound - 1).bit_length())
    drawn = bits.words(count, width=width)
    return drawn[drawn < np.uint64(bound)]


def biased_coins(bits: Bits, chance: Fraction, *, count: int) -> NDArray[np.bool_]:
    """``count`` independent coins that fall heads with exactly the rational probability ``chance``.

    Example:
        >>> from discreet.sampling.bits import SecureBits
        >>> biased_coins(SecureBits(), Fraction(1), count=2)
        array([ True,  True])
    """
    if chance >= 1 or chance <= 0:
        return np.full(count, chance >= 1)
    words = bits.words(count)
    floor = chance.numerator * 2**64 // chance.denominator
    heads: NDArray[np.bool_] = words < np.uint64(floor)
    # Only the one word that contains the threshold leaves the matter open.
    for place in (words == np.uint64(floor)).nonzero()[0].tolist():
        heads[place] = Uniform(bits, known=floor, width=64).is_below(lambda: ball_of(chance))
    return heads
