"""Top-k: the exact law of ordered answers, its privacy at n ≤ 5 and k ≤ 3, and the samplers against it."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from discreet import Exponential, PermuteAndFlip, Scores
from discreet.errors import ParameterError
from discreet.gaps import Gaps
from discreet.questions import top_k
from discreet.questions.top_k import one_shot, peel
from discreet.sampling.noisy_order import noisy_first
from discreet.testing import scripted
from tests.tools.engines import TableMaker

Law = dict[tuple[int, ...], Fraction]


def _times(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    product = [Fraction(0)] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            product[i + j] += a * b
    return product


def _value(polynomial: list[Fraction], at: Fraction) -> Fraction:
    return sum((c * at**i for i, c in enumerate(polynomial)), Fraction(0))


def one_shot_law(weights: list[Fraction], k: int) -> Law:
    """Exactly: U_r = e^{−Y_r} is uniform on [0, 1/w_r] for w = e^{q/s}, and the k smallest are wanted.

    Integrate from the k-th down to the first, piece by piece between the ends 1/w.
    """
    ends = sorted({Fraction(0), *(1 / w for w in weights)})
    law: Law = {}
    for order in itertools.permutations(range(len(weights)), k):
        rest = [r for r in range(len(weights)) if r not in order]
        # reach[p]: the probability density, on piece p, that the first j come in order and the j-th is at u.
        reach: list[list[Fraction]] = [[Fraction(1)] for _ in ends[1:]]
        for place, r in enumerate(order):
            so_far = Fraction(0)
            following = []
            for piece, (low, high) in enumerate(itertools.pairwise(ends)):
                inside = weights[r] if high <= 1 / weights[r] else Fraction(0)
                if place == 0:
                    following.append([inside])
                    continue
                integral = [Fraction(0), *(c / (i + 1) for i, c in enumerate(reach[piece]))]
                base = so_far - _value(integral, low)
                following.append(
                    [inside * (c + (base if i == 0 else 0)) for i, c in enumerate(integral)]
                )
                so_far += _value(integral, high) - _value(integral, low)
            reach = following
        total = Fraction(0)
        for piece, (low, high) in enumerate(itertools.pairwise(ends)):
            density = reach[piece]
            for r in rest:
                # Pr[U_r > u] = 1 − w·u up to 1/w, then nothing.
                tail = [Fraction(1), -weights[r]] if high <= 1 / weights[r] else [Fraction(0)]
                density = _times(density, tail)
            integral = [Fraction(0), *(c / (i + 1) for i, c in enumerate(density))]
            total += _value(integral, high) - _value(integral, low)
        law[order] = total
    return law


def peeling_law(weights: list[Fraction], k: int) -> Law:
    """Exactly: permute-and-flip again and again among those left."""
    law: Law = {}
    for order in itertools.permutations(range(len(weights)), k):
        left = list(range(len(weights)))
        chance = Fraction(1)
        for r in order:
            chance *= _permute_and_flip([weights[t] for t in left])[left.index(r)]
            left.remove(r)
        law[order] = chance
    return law


def _permute_and_flip(weights: list[Fraction]) -> list[Fraction]:
    coins = [w / max(weights) for w in weights]
    answer = []
    for r, coin in enumerate(coins):
        product = [Fraction(1)]
        for t, other in enumerate(coins):
            if t != r:
                product = _times(product, [Fraction(1), -other])
        answer.append(coin * sum(c / (i + 1) for i, c in enumerate(product)))
    return answer


def test_the_example_that_tells_them_apart() -> None:
    weights = [Fraction(1), Fraction(math.exp(-0.5)), Fraction(math.exp(-1.5))]
    assert float(one_shot_law(weights, 2)[0, 1]) == pytest.approx(0.5354, abs=1e-4)
    assert float(peeling_law(weights, 2)[0, 1]) == pytest.approx(0.5143, abs=1e-4)


@pytest.mark.parametrize("law", [one_shot_law, peeling_law])
def test_laws_sum_to_one(law: object) -> None:
    weights = [Fraction(1), Fraction(1, 2), Fraction(1, 2), Fraction(1, 7)]
    assert callable(law)
    for k in (1, 2, 3):
        assert sum(law(weights, k).values()) == 1


@pytest.mark.parametrize("law", [one_shot_law, peeling_law])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 2), (4, 2), (4, 3), (5, 2), (5, 3)])
def test_the_privacy_of_ordered_answers(law: object, n: int, k: int) -> None:
    """Exact rationals: with e^{d/s} = 2, no ordered answer's probability changes by more than 2^k.

    Neighbours are counts with one person more: every subset of candidates grows by one.
    """
    assert callable(law)
    base = Fraction(2)
    largest = 3 if n < 5 else 2
    laws: dict[tuple[int, ...], Law] = {}

    def law_of(vector: tuple[int, ...]) -> Law:
        """The law does not care how candidates are numbered: compute it once for each multiset."""
        ranks = sorted(range(n), key=lambda r: vector[r])
        common = tuple(vector[r] for r in ranks)
        if common not in laws:
            laws[common] = law([base**q for q in common], k)
        return {tuple(ranks[r] for r in order): chance for order, chance in laws[common].items()}

    worst = Fraction(0)
    for scores in itertools.combinations_with_replacement(range(largest), n):
        for grown in itertools.product((0, 1), repeat=n):
            after = tuple(q + g for q, g in zip(scores, grown, strict=True))
            later = law_of(after)
            for order, before in law_of(scores).items():
                ratio = later[order] / before
                worst = max(worst, ratio, 1 / ratio)
    assert worst <= base**k
    assert worst > base ** (k - 1)  # so that the scale is not larger than it need be


def _agrees(counts: Counter[tuple[int, ...]], law: Law, draws: int) -> None:
    """Each frequency within 5.5 standard deviations and a little: false alarms under 1e−6 in all."""
    for order, chance in law.items():
        p = float(chance)
        assert abs(counts[order] / draws - p) < 5.5 * math.sqrt(p * (1 - p) / draws) + 2 / draws


def test_the_one_shot_sampler_draws_its_law() -> None:
    weights = [
        Fraction(1),
        Fraction(math.exp(-0.5)),
        Fraction(math.exp(-1.5)),
        Fraction(math.exp(-3.0)),
    ]
    gaps = Gaps(np.array([0.0, -0.5, -1.5, -3.0]), scale=Fraction(1))
    bits = scripted("one-shot")
    _agrees(
        Counter(tuple(noisy_first(gaps, 2, bits)) for _ in range(4000)),
        one_shot_law(weights, 2),
        4000,
    )
    # Three bits at a time: most decisions are made in ball arithmetic, after more bits.
    drawn = Counter(tuple(noisy_first(gaps, 2, bits, word=3)) for _ in range(1500))
    _agrees(drawn, one_shot_law(weights, 2), 1500)


def test_one_shot_and_peeling_find_the_obvious() -> None:
    scores = Scores([5, 900, 300, 2000, 0], sensitivity=1, monotonic=True)
    assert one_shot(scores, Fraction(2), 3) == [3, 1, 2]
    assert peel(scores, PermuteAndFlip(epsilon=1), 3) == [3, 1, 2]
    assert sorted(one_shot(scores, Fraction(2), 5)) == [0, 1, 2, 3, 4]


def test_far_scores_keep_their_order() -> None:
    values = np.array([0, 10**15, 3, 2 * 10**15, 1])
    assert noisy_first(Gaps(values, scale=Fraction(1)), 2, scripted(1)) == [3, 1]
    assert noisy_first(Gaps(values, scale=Fraction(1, 10**6)), 4, scripted(1)) == [3, 1, 2, 4]


PAGES = pl.DataFrame({"person": range(700), "page": ["a"] * 400 + ["b"] * 200 + ["c"] * 100})


@pytest.mark.parametrize("method", ["peeling", "one-shot"])
def test_the_question(table_in: TableMaker, method: str) -> None:
    pages = table_in(PAGES.to_dict(as_series=False))
    release = top_k(
        pages,
        column="page",
        k=2,
        candidates=["c", "b", "a", "z"],
        epsilon=4,
        user="person",
        method=method,
    )
    assert release.answer == ("a", "b")
    assert release.guarantee.to(type(release.guarantee)).epsilon == 4  # type: ignore[attr-defined]  # PureDP
    assert release.ordered is True
    assert "In order" in str(release)
    unordered = top_k(
        pages,
        column="page",
        k=2,
        candidates=["c", "b", "a", "z"],
        epsilon=4,
        user="person",
        method=method,
        ordered=False,
        with_count=True,
    )
    assert unordered.answer == ("b", "a")
    assert "no particular order" in str(unordered)
    assert (
        abs(unordered.count[1] - 400) < 60
    )  # noise of scale 2: beyond with probability under 1e-12


def test_refusals() -> None:
    common = {"column": "page", "candidates": ["a", "b"], "epsilon": 1, "user": "person"}
    with pytest.raises(ParameterError, match="k=3"):
        top_k(PAGES, k=3, **common)  # type: ignore[arg-type]  # options of several types
    with pytest.raises(ParameterError, match="k=0"):
        top_k(PAGES, k=0, **common)  # type: ignore[arg-type]  # options of several types
    with pytest.raises(ParameterError, match="method='guess'"):
        top_k(PAGES, k=1, method="guess", **common)  # type: ignore[arg-type]  # options of several types
    with pytest.raises(ParameterError, match="goes with peeling"):
        top_k(PAGES, k=1, method="one-shot", mechanism=Exponential, **common)  # type: ignore[arg-type]  # as above
