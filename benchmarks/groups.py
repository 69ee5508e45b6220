"""Groups without a public list: how many each rule names, for people in several groups.

*One group*: a person counts in one of their groups, by the best rule for that. *Shared*: a person counts in
all of their groups, up to the bound b, and the best rule runs at ε/b and δ/b, as in libraries that bound the
partitions of a person. *Weights, once*: a person has weight 1/√t in each of t groups; normal noise is added,
in one round. *Rerouted*: the same, but weight that a group does not need goes to the other groups of its
people, as in published adaptive weighting. It is computed in floats, for comparison only. *By default* is the
rule that the question chooses: weights in two rounds if b is at least 3. Groups are drawn in proportion to
1/i, or to 1/√i, with 20,000 people, ε = 1 and δ = 10⁻⁵; neighbours differ by adding or removing a person.

Run: python -m benchmarks [--large] [--record] groups
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from benchmarks.timing import record
from discreet import table
from discreet._exact.sampling import SecureBits
from discreet._exact.sampling.keeping import Keeping, kept
from discreet._exact.sampling.weighing import Weighing, weighings_at
from discreet._tables import Rows, open_table
from discreet._tables.counts import people_per_group, people_per_group_and_share
from discreet.questions import TopK
from discreet.questions.then import FoundGroups
from discreet.questions.unknown_domain import weights_of

PEOPLE, GROUPS = 20_000, 20_000
EPSILON, DELTA = Fraction(1), Fraction(1, 10**5)


def visits(each: int, *, exactly: bool = False, power: float = 1) -> pl.DataFrame:
    """Return visits of people with about, or exactly, ``each`` different groups."""
    rng = np.random.default_rng(20261118 + each)
    chances = 1 / np.arange(1, GROUPS + 1) ** power
    chances /= chances.sum()
    times = np.full(PEOPLE, each) if exactly else rng.poisson(each - 1, PEOPLE) + 1
    if exactly:
        groups = np.concatenate(
            [np.argpartition(rng.exponential(size=GROUPS) / chances, each)[:each] for _ in times]
        )
    else:
        groups = rng.choice(GROUPS, size=int(times.sum()), p=chances)
    return pl.DataFrame({"person": np.repeat(np.arange(PEOPLE), times), "group": groups})


def named(frame: pl.DataFrame, bound: int) -> dict[str, float]:
    """Return how many groups each rule names in one draw."""
    opened, bits = open_table(frame, needed=["person", "group"]), SecureBits()
    rows = Rows(user="person", by="group", groups_per_person=bound).keyed(bits)
    shares = people_per_group_and_share(opened, rows)
    everybody: dict[Any, int] = {}
    for (label, _), people in shares:
        everybody[label] = everybody.get(label, 0) + people

    def number(sizes: Any, rule: Any) -> int:
        return int(kept(np.array(list(sizes), dtype=np.int64), keeping=rule, bits=bits).sum())

    one = dict(people_per_group(opened, rows))
    noise = 1 / (2 * weighings_at(EPSILON, DELTA, bound, "add-remove").rho)
    once = Weighing(noise, DELTA / 2, groups=bound)
    question = FoundGroups("group", epsilon=EPSILON, delta=DELTA, groups_per_person=bound)
    return {
        "one group": number(one.values(), Keeping(EPSILON, DELTA)),
        "shared": number(everybody.values(), Keeping(EPSILON / bound, DELTA / bound)),
        "weights, once": number(dict(weights_of(shares)).values(), once),
        "rerouted": rerouted(frame, bound, once),
        "by default": len(table(frame, user="person", ledger=None).ask(question).answer),
    }


def rerouted(frame: pl.DataFrame, bound: int, once: Weighing) -> int:
    """Count the groups named if weight beyond T plus two deviations goes to other groups, in floats.

    A person's weight in each of t groups has two parts: 1/t, and 1/√t − 1/t. If the first parts in a group
    add up to too much, the excess returns to its people, who add 1/b of it to each of their groups. This
    favours the rule: for people in b groups the distance may be above 1, and the higher threshold that this
    would require is left out too.
    """
    rng = np.random.default_rng()
    pairs = frame.unique().sample(fraction=1, shuffle=True, seed=int(rng.integers(2**62)))
    pairs = pairs.group_by("person").head(bound)
    person, group = (pairs[name].to_numpy() for name in ("person", "group"))
    each = 1 / np.bincount(person, minlength=PEOPLE)[person]
    threshold, deviation = float(once.threshold), float(once.variance) ** 0.5
    enough = threshold + 2 * deviation
    weight = np.bincount(group, each, GROUPS)
    spare = np.maximum(0, 1 - enough / np.maximum(weight, 1e-9))
    returned = np.bincount(person, each * spare[group], PEOPLE) / bound
    weight = np.minimum(weight, enough)
    weight += np.bincount(group, np.sqrt(each) - each + returned[person], GROUPS)
    noisy = weight + deviation * rng.standard_normal(GROUPS)
    return int(((weight > 0) & (noisy >= threshold)).sum())


def named_table(draws: int) -> str:
    """Return a table of the mean number of groups that each rule names, for several cases and bounds."""
    rules = ("one group", "shared", "weights, once", "rerouted", "by default")
    lines = [
        "| groups of a person | groups_per_person | " + " | ".join(rules) + " |",
        "|---" * (2 + len(rules)) + "|",
    ]
    cases: list[tuple[str, pl.DataFrame, tuple[int, ...]]] = [("2", visits(2, exactly=True), (2,))]
    cases += [(f"about {each}", visits(each), (each, 4 * each)) for each in (5, 20)]
    cases += [(f"about {each} (1/√i)", visits(each, power=0.5), (each,)) for each in (5, 20)]
    for words, frame, bounds in cases:
        for bound in bounds:
            found = [named(frame, bound) for _ in range(draws)]
            means = (np.mean([each[rule] for each in found]) for rule in rules)
            lines.append(
                f"| {words} | {bound} | " + " | ".join(f"{mean:.0f}" for mean in means) + " |"
            )
            print(lines[-1], flush=True)
    return "\n".join(lines)


def values_table(draws: int) -> str:
    """Tabulate how many of the k most common values are named, without and with ``values_per_person``."""
    lines = [
        "| values of a person | k | margin, right | margin, named | weights, right | weights, named |",
        "|---" * 6 + "|",
    ]
    for each in (5, 20):
        frame = visits(each)
        asked = table(frame, user="person", ledger=None)
        counts = frame.unique().group_by("group").len().sort("len", descending=True)
        for k in (10, 100):
            cells = []
            best = set(counts["group"].head(k).to_list())
            for bound in (None, each):
                question = TopK("group", k=k, epsilon=EPSILON, delta=DELTA, values_per_person=bound)
                answers = [asked.ask(question).answer for _ in range(draws)]
                right = np.mean([len(best.intersection(answer)) for answer in answers])
                cells += [f"{right:.0f}", f"{np.mean([*map(len, answers)]):.0f}"]
            lines.append(f"| about {each} | {k} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    draws = 8 if chosen.large else 3
    words = (
        f"Mean number of groups named in {draws} draws, at ε = 1, δ = 10⁻⁵, 20,000 people, groups drawn in "
        "proportion to 1/i, or to 1/√i in the rows that say so. Each person counts in one group, by "
        "the best rule for it; in all of theirs at ε/b and δ/b (b is `groups_per_person`); by weights "
        "in one round; by weights of which what is beyond need is rerouted to other groups (floats, for "
        "comparison only); and as the question does it, by weights in two rounds from b = 3 on:"
    )
    values = (
        "The k commonest values where no list names them, at the same ε and δ: how many are named, and how "
        "many of these are right, by the margin (without `values_per_person`) and by weights (with it):"
    )
    found = f"{words}\n\n{named_table(draws)}\n\n{values}\n\n{values_table(draws)}"
    print(found)
    if chosen.record:
        record("groups", "Groups without a public list", found)
