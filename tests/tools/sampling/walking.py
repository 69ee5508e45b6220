"""Walk every path of a sampler over the bits it reads, and bracket its exact probabilities."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product

import pytest

from discreet._exact.sampling import Bits, TapeBits, TapeExhausted

Sampler = Callable[[Bits], int]


def walk(
    sampler: Sampler, outcomes: int, *, most_runs: int = 4_000
) -> tuple[list[Fraction], Fraction]:
    """Return the probability of each outcome over all tapes walked, and that of the unfinished tapes.

    The most probable (shortest) open tape is walked first, so that the unfinished part shrinks fast.
    """
    found = [Fraction(0)] * outcomes
    open_tapes: list[tuple[int, int, tuple[int, ...]]] = [(0, 0, ())]
    pushed = 0
    for _ in range(most_runs):
        if not open_tapes:
            break
        length, _, tape = heappop(open_tapes)
        source = TapeBits(tape)
        try:
            outcome = sampler(source)
        except TapeExhausted as end:
            for more in product((0, 1), repeat=end.needed):
                pushed += 1
                heappush(open_tapes, (length + end.needed, pushed, tape + more))
        else:
            assert source.left == 0
            found[outcome] += Fraction(1, 1 << length)
    left = sum((Fraction(1, 1 << length) for length, _, _ in open_tapes), Fraction(0))
    assert sum(found, left) == 1
    return found, left


def assert_bracketed(
    sampler: Sampler,
    expected: list[tuple[Fraction, Fraction]],
    *,
    within: float,
    most_runs: int = 4_000,
) -> None:
    """Check that each expected probability lies between the one found and that plus the unfinished part."""
    found, left = walk(sampler, len(expected), most_runs=most_runs)
    if left > within:
        raise RuntimeError(f"only {float(1 - left):.4f} of the tapes were walked")
    for outcome, ((low, high), mass) in enumerate(zip(expected, found, strict=True)):
        if not mass <= high or not low <= mass + left:
            pytest.fail(
                f"outcome {outcome}: found {float(mass):.6f} to {float(mass + left):.6f}, "
                f"expected {float(low):.6f}"
            )
