"""Walk a sampler over the *outcomes* of its primitives, each weighted by its exact probability.

The primitives (coins, marks, uniform integers, the least of several depths) are replaced by oracles
that branch. Only the sampler's own logic is left, and its output distribution is computed to many
digits. Other tests show bit by bit that the primitives are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from discreet._exact.gaps import Flags, Gaps, Indices
from discreet._exact.numbers.balls import ball_of
from discreet._exact.sampling import (
    exponential,
    laplace,
    permute_and_flip,
    proposals,
    steady,
    thinning,
)
from discreet._exact.sampling.bits import Bits, TapeBits, Words
from discreet._exact.sampling.coins import Heads, Tuning
from tests.tools.sampling import reference

PRECISION = 128


class Oracle:
    """An oracle that replays a path of choices, then takes the first option of every new choice."""

    def __init__(self, faintest: float) -> None:
        self.path: list[int] = []
        self.sizes: list[int] = []
        self.faintest = faintest
        self.begin()

    def begin(self) -> None:
        """Start again at the root."""
        self.position = 0
        self.rounds = 0
        self.weight = arb(1)

    def choose(self, weights: list[Any]) -> int:
        """Return the chosen one of several options with these probabilities."""
        if self.position == len(self.path):
            self.path.append(0)
            self.sizes.append(len(weights))
        chosen = self.path[self.position]
        self.position += 1
        self.weight *= weights[chosen]
        if self.weight < self.faintest:
            raise Faint
        return chosen

    def heads(self, chance: Any) -> bool:
        """Return whether a coin with this probability comes up heads; do not branch if it is certain."""
        assert not bool(chance > 1), "a coin was given a chance above one"
        if bool(chance == 1):
            return True
        return self.choose([chance, 1 - chance]) == 0

    def advance(self) -> bool:
        """Move to the next unexplored path; False when there is none."""
        while self.path and self.path[-1] + 1 == self.sizes[-1]:
            self.path.pop()
            self.sizes.pop()
        if not self.path:
            return False
        self.path[-1] += 1
        self.begin()
        return True


class Faint(Exception):  # noqa: N818 - a path not followed, which is no error
    """The path has become too improbable to matter, or a rejection loop has started again."""


def distribution(
    sampler: Callable[[Bits], int],
    outcomes: int,
    monkeypatch: pytest.MonkeyPatch,
    *,
    faintest: float = 1e-9,
    wait: Fraction | None = None,
) -> tuple[list[Any], Any]:
    """Return the probability of each outcome, and that of the paths not followed to their end.

    If ``wait`` is given, proposals come at multiples of ``wait`` divided by their rate, not at random times.
    """
    oracle = Oracle(faintest)
    _install(oracle, monkeypatch, wait)
    with ctx.workprec(PRECISION):
        masses = [arb(0)] * outcomes
        faint = arb(0)
        while True:
            try:
                outcome = sampler(TapeBits(()))
            except Faint:
                faint += oracle.weight
                del oracle.path[oracle.position :]
                del oracle.sizes[oracle.position :]
            else:
                masses[outcome] += oracle.weight
            if not oracle.advance():
                return masses, faint


class GivenTimes:
    """A clock whose proposals come at multiples of a wait; the oracle decides which are kept."""

    def __init__(self, oracle: Oracle, wait: Fraction, rate: float) -> None:
        self._oracle = oracle
        self._wait = wait / Fraction(rate)
        self._time = Fraction(0)

    def proceed(self, number: int) -> None:
        self._time = number * self._wait

    def is_over(self) -> bool:
        return self._time > 1

    def keeps(self, gaps: Gaps, candidate: int, noise: proposals.Noise) -> bool:
        return self._oracle.heads(1 / noise.ball(gaps.exact(candidate), ball_of(self._time)))


def _install(oracle: Oracle, monkeypatch: pytest.MonkeyPatch, wait: Fraction | None) -> None:
    def flip(gaps: Gaps, candidates: Indices, coins: Any, **options: Any) -> Indices:
        boost, first = options.get("boost", 0), options.get("first")
        if first is not None:
            pairs = enumerate(zip(candidates.tolist(), first.tolist(), strict=True))
            peeked = [
                place
                for place, (candidate, known) in pairs
                if heads_after_first_bits(gaps, candidate, coins, known, tuning=options["tuning"])
            ]
            return np.array(peeked, dtype=np.int64)
        powers = np.broadcast_to(boost, len(candidates)).tolist()
        heads = [
            place
            for place, (candidate, power) in enumerate(
                zip(candidates.tolist(), powers, strict=True)
            )
            if oracle.heads(coins.ball(gaps.exact(candidate)) * arb((1, power)))
        ]
        return np.array(heads, dtype=np.int64)

    def heads_among(gaps: Gaps, candidates: list[int], coins: Any, **_: Any) -> Iterator[int]:
        for candidate in candidates:
            if oracle.heads(coins.ball(gaps.exact(candidate))):
                yield candidate

    def not_tails_yet(gaps: Gaps, *, tuning: Tuning, **_: Any) -> tuple[Indices, Words]:
        values = 1 << tuning.first_bits
        words = [oracle.choose([arb(fmpq(1, values))] * values) for _ in range(gaps.size)]
        left = [
            candidate
            for candidate, first in enumerate(words)
            if not bool(Heads().ball(gaps.exact(candidate)) * values < first)
        ]
        return np.array(left, dtype=np.int64), np.array(words, dtype=np.uint64)

    def heads_after_first_bits(
        gaps: Gaps, candidate: int, coins: Any, first: int, *, tuning: Tuning, **_: Any
    ) -> bool:
        above = coins.ball(gaps.exact(candidate)) * (1 << tuning.first_bits) - first
        return not bool(above <= 0) and (bool(above >= 1) or oracle.heads(above))

    def marks(_: Bits, places: int, exponent: int, **__: Any) -> Indices:
        marked = [place for place in range(places) if oracle.heads(arb((1, -exponent)))]
        return np.array(marked, dtype=np.int64)

    def uniform_below(_: Bits, bound: int) -> int:
        return oracle.choose([arb(fmpq(1, bound))] * bound)

    def some_indices(bits: Bits, bound: int, *, count: int, **_: Any) -> Indices:
        return np.array([uniform_below(bits, bound) for _ in range(count)], dtype=np.int64)

    def few_indices(bits: Bits, bound: int, *, count: int, **_: Any) -> list[int]:
        return [uniform_below(bits, bound) for _ in range(count)]

    def proposed(bits: Bits, bound: int, *, count: int, **_: Any) -> Indices:
        if wait is not None:
            return some_indices(bits, bound, count=count)
        words: Indices = some_words_below(bits, bound, count=count).astype(np.int64)
        return words

    def clock(rate: float, *_: Any) -> GivenTimes:
        assert wait is not None
        return GivenTimes(oracle, wait, rate)

    def some_words_below(bits: Bits, bound: int, *, count: int) -> Any:
        # A second round of proposals repeats the first, so it adds no information.
        oracle.rounds += 1
        if oracle.rounds > 1:
            raise Faint
        return some_indices(bits, bound, count=count).astype(np.uint64)

    def shallowest(
        gaps: Gaps, layer: Any, groups: Indices, candidates: Indices, **_: Any
    ) -> tuple[Indices, Indices]:
        assert len(set(groups.tolist())) == 1
        offsets = [gaps.exact(candidate) - (layer.number - 1) for candidate in candidates.tolist()]
        chosen = oracle.choose(reference.least_depth(offsets))
        return groups[:1], candidates[chosen : chosen + 1]

    def draw_share(self: exponential.Shares, *_: Any) -> int:
        chances = [Heads().ball(self._gaps.exact(candidate)) for candidate in self._near.tolist()]
        weights = [*chances, arb((self._gaps.size, -self._level))]
        # If no candidate is drawn and the proposal that follows fails, everything starts again.
        oracle.rounds += 1
        if oracle.rounds > 1:
            raise Faint
        return oracle.choose([weight / sum(weights) for weight in weights])

    def flip_all(gaps: Gaps, start: int, stop: int, *_: Any) -> Flags:
        chances = [Heads().ball(gaps.exact(candidate)) for candidate in range(start, stop)]
        return np.array([oracle.heads(chance) for chance in chances])

    def pick(bits: Bits, bound: int, _: int) -> int:
        return uniform_below(bits, bound) if bound else 0

    def one_per_draw(draw: Indices, bits: Bits, _: int) -> Indices:
        assert len(set(draw.tolist())) == 1
        return np.array([uniform_below(bits, len(draw))])

    replaced: list[tuple[ModuleType, str, Any]] = [
        (permute_and_flip, "flip", flip),
        (permute_and_flip, "uniform_below", uniform_below),
        (permute_and_flip, "some_indices", some_indices),
        (permute_and_flip, "few_indices", few_indices),
        (permute_and_flip, "heads_among", heads_among),
        (permute_and_flip, "not_tails_yet", not_tails_yet),
        (permute_and_flip, "heads_after_first_bits", heads_after_first_bits),
        (thinning, "flip", flip),
        (thinning, "marks", marks),
        (exponential, "flip", flip),
        (exponential, "few_indices", few_indices),
        (exponential, "heads_among", heads_among),
        (exponential, "some_indices", some_indices),
        (exponential, "some_words_below", some_words_below),
        (proposals, "Clock", clock),
        (proposals, "flip", flip),
        (proposals, "some_indices", proposed),
        (permute_and_flip, "_one_per_draw", one_per_draw),
        (laplace, "flip", flip),
        (laplace, "shallowest", shallowest),
        (steady, "_flip_all", flip_all),
        (steady, "_pick", pick),
        (steady, "_STRETCH", 2),
    ]
    monkeypatch.setattr(exponential.Shares, "draw", draw_share)
    for module, name, oracle_version in replaced:
        monkeypatch.setattr(module, name, oracle_version)


def assert_equals(
    found: tuple[list[Any], Any], expected: list[Any], *, within: float = 1e-2
) -> None:
    """Check that each probability agrees with the expected one, up to the paths not followed."""
    masses, faint = found
    if not bool(faint <= within):
        raise RuntimeError(f"paths of probability {float(faint.mid())} were not followed")
    _compare([(mass, mass + faint) for mass in masses], expected)


def assert_proportional(found: tuple[list[Any], Any], expected: list[Any]) -> None:
    """Check that the outcomes of one round of rejection sampling have the expected proportions."""
    masses, _ = found
    with ctx.workprec(PRECISION):
        total = sum(masses, arb(0))
        _compare([(mass / total, mass / total) for mass in masses], expected)


def _compare(found: list[tuple[Any, Any]], expected: list[Any]) -> None:
    for outcome, ((low, high), right) in enumerate(zip(found, expected, strict=True)):
        least, most = reference.bounds(right)
        if not (reference.bounds(low)[0] <= most and least <= reference.bounds(high)[1]):
            pytest.fail(
                f"outcome {outcome}: {float(low.mid())} to {float(high.mid())} "
                f"is not {float(Fraction(least))}"
            )
