"""Choose one candidate in every row of a block, independently (docs/proofs/many-rows.md, theorem 6).

Floats with an error bound decide most comparisons, for all rows of the block at once. The others are decided
for one candidate or one row at a time, in interval arithmetic with more bits. Each public function returns
the position of every chosen candidate in its row.
"""

from __future__ import annotations

from functools import partial
from itertools import count

import numpy as np

from discreet._exact.gaps import Flags, Floats, Indices, RowGaps
from discreet._exact.numbers.balls import ball_of
from discreet._exact.sampling.bits import Bits, Words, uniform_below_each
from discreet._exact.sampling.coins import (
    STANDARD,
    Ball,
    Coins,
    Heads,
    Tuning,
    Uniform,
    falls_heads,
    flip,
    noise_bounds,
)
from discreet._exact.sampling.laplace import Layer, shallowest

_CERTAIN = Heads()
_ABOVE = Heads(halvings=1)
_SLACK = 2.0**-30  # far more than the error of a gap in the layers where floats are trusted


@np.errstate(all="ignore")
def head_of_each(rows: RowGaps, bits: Bits, *, tuning: Tuning = STANDARD) -> Indices:
    """Choose one candidate in each row by permute-and-flip.

    Example:
        >>> from fractions import Fraction
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> rows = RowGaps(np.array([0, 10**9, 7]), starts=np.array([0, 2]), width=None, scale=Fraction(2))
        >>> head_of_each(rows, SecureBits())
        array([1, 0])
    """
    heads = _heads(rows, _CERTAIN, bits=bits, tuning=tuning)
    chosen, _ = _one_of_each(rows, heads, bits=bits, tuning=tuning)
    assert len(chosen) == len(rows.starts), "the best candidate's coin is always heads"
    return chosen - rows.starts


@np.errstate(all="ignore")
def best_of_each(rows: RowGaps, bits: Bits, *, tuning: Tuning = STANDARD) -> Indices:
    """Choose one candidate in each row, uniformly among those with the best score."""
    best = rows.is_best().nonzero()[0]
    return _one_of_each(rows, best, bits=bits, tuning=tuning)[0] - rows.starts


@np.errstate(all="ignore")
def proportional_of_each(rows: RowGaps, bits: Bits, *, tuning: Tuning = STANDARD) -> Indices:
    """Choose one candidate in each row by the exponential mechanism: with chances proportional to exp(−γ).

    The choice is the first position in a row whose cumulative share exceeds a uniform number.
    """
    chances, _ = _CERTAIN.chances(rows.gammas())
    ends = np.cumsum(chances)
    last = rows.starts + rows.lengths - 1
    before = ends[rows.starts] - chances[rows.starts]
    # One running sum covers the whole block. Its rounding is in the error bound, so blocks must be short
    # (lemma 18).
    totals = ends[last] - before
    words = bits.words(len(totals), width=tuning.word)
    target = np.ldexp(words.astype(np.float64) + 0.5, -tuning.word) * totals + before
    doubt = ends[-1] * (4 * tuning.tolerance + rows.size * 2.0**-50) + totals * 2.0 ** (
        1 - tuning.word
    )
    chosen: Indices = np.searchsorted(ends, target - doubt)
    np.clip(chosen, rows.starts, last, out=chosen)
    unclear = ends[chosen] <= target + doubt
    # The last position of a row takes the remainder, wherever the row ends in floats.
    unclear &= chosen < last
    for number in unclear.nonzero()[0].tolist():
        uniform = Uniform(bits, known=int(words[number]), width=tuning.word, step=tuning.word)
        chosen[number] = rows.starts[number] + _by_balls(rows, number, uniform)
    return chosen - rows.starts


def _by_balls(rows: RowGaps, number: int, uniform: Uniform) -> int:
    """Return a row's first position with a cumulative share above ``uniform``, in interval arithmetic."""
    start = int(rows.starts[number])
    gammas = [rows.exact(start + place) for place in range(int(rows.lengths[number]))]

    def share(place: int) -> Ball:
        chances = [ball_of(-gamma).exp() for gamma in gammas]
        below = sum(chances[: place + 1], ball_of(0))
        return below / (below + sum(chances[place + 1 :], ball_of(0)))

    low, high = 0, len(gammas) - 1
    while low < high:
        middle = (low + high) // 2
        if uniform.is_below(partial(share, middle)):
            high = middle
        else:
            low = middle + 1
    return low


@np.errstate(all="ignore")
def laplace_max_of_each(rows: RowGaps, bits: Bits, *, tuning: Tuning = STANDARD) -> Indices:
    """Choose one candidate in each row by noisy max with Laplace noise."""
    heads = _heads(rows, _ABOVE, bits=bits, tuning=tuning)
    chosen = np.full(len(rows.starts), -1, dtype=np.int64)
    above, owners = _one_of_each(rows, heads, bits=bits, tuning=tuning)
    chosen[owners] = above
    for number in count(1):
        waiting = (chosen < 0).nonzero()[0]
        if not len(waiting):
            return chosen - rows.starts
        layer = Layer(number)
        inside = _in_layer(rows, rows.places_of(waiting), layer, bits=bits, tuning=tuning)
        if len(inside):
            groups = rows.row_of(inside)
            owners, winners = shallowest(rows, layer, groups, inside, bits=bits, tuning=tuning)
            chosen[owners] = winners
    raise AssertionError("unreachable: the layers are endless")


def _in_layer(
    rows: RowGaps, places: Indices, layer: Layer, *, bits: Bits, tuning: Tuning
) -> Indices:
    """Return which of these places are in this ``Layer``, given that none is in a higher one.

    In layer k a place's chance is at most e^(k−γ), so first bits rule out most places (lemma 19).
    """
    if not layer.trusted:
        return places[flip(rows, places, layer, bits=bits, tuning=tuning)]
    first = bits.words(len(places), width=tuning.first_bits)
    gammas = rows.gather(places)
    bounds = noise_bounds(tuning.first_bits, tuning.tolerance) + (layer.number + _SLACK)
    left = (gammas <= bounds.take(first)).nonzero()[0]
    places, gammas, first = places.take(left), gammas.take(left), first.take(left)
    return _fallen(rows, places, layer, gammas=gammas, first=first, bits=bits, tuning=tuning)


def _heads(rows: RowGaps, coins: Heads, *, bits: Bits, tuning: Tuning) -> Indices:
    """Flip a coin for every place and return those with heads; first bits rule out most (lemma 6a)."""
    first = bits.words(rows.size, width=tuning.first_bits)
    left, gammas = rows.within(noise_bounds(tuning.first_bits, tuning.tolerance), first)
    first = first.take(left)
    return _fallen(rows, left, coins, gammas=gammas, first=first, bits=bits, tuning=tuning)


def _fallen(
    rows: RowGaps,
    places: Indices,
    coins: Coins,
    *,
    gammas: Floats,
    first: Words,
    bits: Bits,
    tuning: Tuning,
) -> Indices:
    """Return the places whose coins are heads, given the first bits of each uniform number."""
    chances, factor = coins.chances(gammas)
    more = bits.words(len(places), width=tuning.coin)
    width = tuning.first_bits + tuning.coin
    # Exact below 2⁵³, and rounded above it, which lemma 6 allows.
    drawn = first.astype(np.float64)
    drawn *= 2.0**tuning.coin
    drawn += more
    chances *= 2.0**width
    doubt = tuning.tolerance * factor
    heads: Flags = drawn < chances * (1.0 - doubt) - 2.0
    unclear = drawn <= chances * (1.0 + doubt) + 2.0
    unclear &= ~heads
    for position in unclear.nonzero()[0].tolist():
        known = (int(first[position]) << tuning.coin) | int(more[position])
        uniform = Uniform(bits, known=known, width=width, step=tuning.word)
        heads[position] = falls_heads(uniform, coins, rows.exact(int(places[position])), boost=0)
    return places.take(heads.nonzero()[0])


def _one_of_each(
    rows: RowGaps, heads: Indices, *, bits: Bits, tuning: Tuning
) -> tuple[Indices, Indices]:
    """Choose one of the heads in each row that has any; return the choices and these rows, ascending."""
    numbers = np.bincount(rows.row_of(heads), minlength=len(rows.starts))
    owners = numbers.nonzero()[0]
    numbers = numbers.take(owners)
    firsts = np.cumsum(numbers)
    firsts -= numbers
    several = (numbers > 1).nonzero()[0]
    firsts[several] += uniform_below_each(bits, numbers.take(several), width=tuning.index_word)
    return heads.take(firsts), owners
