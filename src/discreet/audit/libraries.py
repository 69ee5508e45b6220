"""Other people's mechanisms: one small adapter each, from the library as it is installed to a verdict.

An adapter runs the library's own code. Where that code computes its probabilities they are audited as they
are; where it only draws, the adapter either puts itself in the place of the random generator and is asked
for every draw (then every path is followed, and the law is exact), or samples.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from discreet.audit.adapters import Adapter
from discreet.audit.tables import Tables, unrolled
from discreet.audit.wrong import WRONG
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP, Guarantee, PureDP
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.scores import Scores

# ---- diffprivlib ---------------------------------------------------------------------------------


def _diffprivlib(name: str) -> Any:
    return getattr(importlib.import_module("diffprivlib.mechanisms"), name)


def _diffprivlib_on(scores: Any, name: str, cost: Fraction) -> Any:
    return _diffprivlib(name)(
        epsilon=float(cost),
        sensitivity=float(scores.sensitivity),
        utility=scores.tolist(),
        monotonic=scores.monotonic,
    )


def _diffprivlib_exponential(cost: Fraction) -> tuple[Any, Guarantee]:
    def law(scores: Any) -> list[Any]:
        from flint import arb

        mechanism = _diffprivlib_on(scores, "Exponential", cost)
        # It draws against running sums, each of which is rounded.
        return [
            arb(float(part), 2.0**-48) for part in np.diff(mechanism._probabilities, prepend=0.0)
        ]

    return law, PureDP(cost)


def _diffprivlib_permute_and_flip(cost: Fraction) -> tuple[Any, Guarantee]:
    from discreet.distribution import permute_and_flip

    def law(scores: Any) -> Any:
        mechanism = _diffprivlib_on(scores, "PermuteAndFlip", cost)
        return permute_and_flip(-np.asarray(mechanism._probabilities, dtype=np.float64))

    return law, PureDP(cost)


def _diffprivlib_categorical(cost: Fraction) -> tuple[Any, Guarantee]:
    """Two groups whose weights are balanced at ε/2, which is where the library tests for balance."""
    epsilon = float(cost)
    groups = {"A0": "A", "A1": "A", "B0": "B", "B1": "B", "B2": "B"}
    near, apart = 0.999999, math.exp(-epsilon / 2)
    # The same total for every row: 1 + w(A,A) + 3·w(A,B) = 1 + 2·w(B,B) + 2·w(A,B).
    weights = {"AA": near, "AB": apart, "BB": (near + apart) / 2}
    utilities = [
        [one, two, -2 / epsilon * math.log(weights["".join(sorted(groups[one] + groups[two]))])]
        for one in groups
        for two in groups
        if one < two
    ]

    def law(table: tuple[str, ...]) -> dict[str, float]:
        mechanism = _diffprivlib("ExponentialCategorical")(epsilon=epsilon, utility_list=utilities)
        total = mechanism._normalising_constant[table[0]]
        return {
            target: float(mechanism._get_prob(table[0], target)) / total
            for target in mechanism._normalising_constant
        }

    return law, PureDP(cost)


# ---- the others ----------------------------------------------------------------------------------


def _opendp_noisy_max(cost: Fraction) -> tuple[Any, Guarantee]:
    prelude = importlib.import_module("opendp.prelude")
    prelude.enable_features("contrib")
    space = (
        prelude.vector_domain(prelude.atom_domain(T=float, nan=False)),
        prelude.linf_distance(T=float),
        prelude.max_divergence(),
    )

    def sample(scores: Any, size: int) -> Any:
        measurement = prelude.m.make_noisy_max(*space, scale=float(scores.range_distance / cost))
        values = scores.tolist()
        return np.array([measurement(values) for _ in range(size)])

    return sample, PureDP(cost)


def _mbi(cost: Fraction) -> tuple[Any, Guarantee]:
    def law(scores: Any) -> Any:
        seen = _Asked()
        kind = importlib.import_module("mechanism").Mechanism
        made = kind(float(cost), 0, bounded=False, prng=seen)
        made.exponential_mechanism(
            np.array(scores.values), float(cost), sensitivity=float(scores.range_distance) / 2
        )
        return seen.probabilities

    return law, PureDP(cost)


@contextmanager
def _in_place_of(module: Any, name: str, value: Any) -> Iterator[None]:
    """Let a module use another function for a while."""
    kept = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, kept)


def _numpy_random() -> Any:
    """The generator that a library draws from; nothing here draws from it."""
    return importlib.import_module("numpy.random")


class _Asked:
    """A generator that notes the probabilities that it is asked to draw with."""

    probabilities: Any = None

    def choice(self, _size: int, p: Any) -> int:
        self.probabilities = p
        return 0


def _pipeline_dp(cost: Fraction) -> tuple[Any, Guarantee]:
    def law(scores: Any) -> Any:
        kind = importlib.import_module("pipeline_dp.dp_computations").ExponentialMechanism
        given = SimpleNamespace(
            score=lambda place: float(scores[place]),
            global_sensitivity=float(scores.sensitivity),
            is_monotonic=scores.monotonic,
        )
        return kind(given)._calculate_probabilities(float(cost), list(range(len(scores))))

    return law, PureDP(cost)


def _smartnoise_mwem(cost: Fraction) -> tuple[Any, Guarantee]:
    """One selection step, with the first query already measured; scores are the queries' errors."""
    module = importlib.import_module("snsynth.mwem")

    def run(scores: Any, choose: Any) -> int:
        errors = [abs(float(value)) for value in scores]  # an error is never negative

        class Generator:
            @staticmethod
            def random() -> float:
                weights = np.exp((np.array(errors) - max(errors)) * float(cost) / 2)
                ends = np.cumsum(weights) / weights.sum()
                place = choose((weights / weights.sum()).tolist())
                return float((ends[place] + (ends[place - 1] if place else 0.0)) / 2)

        def uniformly(options: list[int]) -> int:
            return options[int(choose([Fraction(1, len(options))] * len(options)))]

        step = object.__new__(module.MWEMSynthesizer)
        step.measure_only, step.max_retries_exp_mechanism, step.debug = False, 10, False
        step.accountant = []
        queries = [_Query(error) for error in errors]
        with (
            _in_place_of(module, "random", Generator),
            _in_place_of(_numpy_random(), "choice", uniformly),
        ):
            return int(step._exponential_mechanism(None, None, queries, float(cost), {0: []}, 0))

    return unrolled(run), PureDP(cost)


@dataclass(frozen=True, slots=True)
class _Query:
    size: float

    def error(self, _data: Any, _synthetic: Any) -> float:
        return self.size


def _dp_topk_peeling(cost: Fraction) -> tuple[Any, Guarantee]:
    """The best of the counts under replacement of a person, where two counts move by one each."""
    module = importlib.import_module("dp_topk.baseline_mechanisms")

    def run(scores: Any, choose: Any) -> int:
        values = np.array(scores.values)

        def noise(scale: float, size: int) -> Any:
            best = Scores(values, sensitivity=scores.sensitivity)
            won = choose(PermuteAndFlip(scale=Fraction(scale)).ball_probabilities(best))
            return np.where(np.arange(size) == won, np.inf, 0.0)

        with _in_place_of(_numpy_random(), "exponential", noise):
            return int(module.pnf_peeling_mechanism(values, 1, float(cost))[0])

    return unrolled(run), PureDP(cost)


_ROUNDS = 100


def _dp_accounting_rdp(cost: Fraction) -> tuple[Any, Guarantee]:
    """A hundred runs of the exponential mechanism, told as how often the first of two won."""
    events = importlib.import_module("dp_accounting")
    accounting = importlib.import_module("dp_accounting.rdp")
    accountant = accounting.RdpAccountant()
    accountant.compose(events.ExponentialMechanismDpEvent(float(cost)), _ROUNDS)
    delta = Fraction(1, 10**6)
    reported = Fraction(float(accountant.get_epsilon(float(delta))))

    def law(scores: Any) -> dict[int, Any]:
        # A lead is cut off far out: neighbours stay neighbours, and what is left is no float's fault.
        lead = min(max(float(scores[0]) - float(scores[1]), -50.0), 50.0)
        first, second = Exponential(epsilon=cost).ball_probabilities(
            Scores([lead, 0.0], sensitivity=scores.sensitivity)
        )
        return {
            wins: math.comb(_ROUNDS, wins) * first**wins * second ** (_ROUNDS - wins)
            for wins in range(_ROUNDS + 1)
        }

    return law, ApproxDP(reported, delta)


def _adapters() -> Iterator[Adapter]:
    small: dict[str, Any] = {"n": (2, 3), "starts": 2}
    # Every utility is checked, which takes time.
    checked: dict[str, Any] = {"n": (2, 3, 100), "starts": 2}
    for name, make in (
        ("Exponential", _diffprivlib_exponential),
        ("PermuteAndFlip", _diffprivlib_permute_and_flip),
    ):
        yield Adapter("diffprivlib", name, "diffprivlib", make, options=checked)
    yield Adapter(
        "diffprivlib",
        "ExponentialCategorical",
        "diffprivlib",
        _diffprivlib_categorical,
        epsilon="4",
        options={
            "inputs": Tables(["A0", "A1", "B0", "B1", "B2"], rows=1, most=1, neighbours="replace")
        },
        about="one person's value is replaced by any other",
    )
    yield Adapter(
        "opendp",
        "make_noisy_max",
        "opendp",
        _opendp_noisy_max,
        sampled=True,
        options={"n": (2, 3), "samples": 50_000, "explore": 200, "monotonic": False},
    )
    yield Adapter(
        "mbi", "exponential_mechanism", "mechanism", _mbi, about="its folder mechanisms on the path"
    )
    yield Adapter(
        "pipeline-dp", "ExponentialMechanism", "pipeline_dp", _pipeline_dp, options=checked
    )
    yield Adapter(
        "smartnoise-synth",
        "MWEM",
        "snsynth",
        _smartnoise_mwem,
        options={"n": 3, "starts": 2},
        about="one selection step, the first query measured before",
    )
    yield Adapter(
        "dp_topk",
        "pnf_peeling_mechanism",
        "dp_topk",
        _dp_topk_peeling,
        options={**small, "monotonic": False},
        about="a person replaced",
    )
    yield Adapter(
        "dp-accounting",
        "RdpAccountant",
        "dp_accounting",
        _dp_accounting_rdp,
        options={"n": 2, "starts": 0, "monotonic": False},
        about="the exponential mechanism composed a hundred times",
    )
    for name, case in WRONG.items():
        yield Adapter("wrong", name, "discreet", case.make, options=case.options, about=case.about)


ADAPTERS: dict[str, Adapter] = {adapter.name: adapter for adapter in _adapters()}
"""Every adapter by its name, ``library:mechanism``."""


def adapter_named(name: str) -> Adapter:
    """The adapter of this name, its library being installed."""
    adapter = ADAPTERS[name]
    if adapter.version is None:
        raise ParameterError(
            f"⟨mechanism⟩{name!r} is not allowed: {adapter.library} is not installed here"
        )
    return adapter
