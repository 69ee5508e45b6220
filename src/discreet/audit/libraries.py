"""Adapters that audit the mechanisms of other installed libraries.

An adapter runs the library's own code. If that code computes probabilities, the adapter audits them
directly. If the code only draws, the adapter either replaces the random generator and follows every path,
which gives the exact distribution, or it samples.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from discreet._exact.distribution import permute_and_flip
from discreet.audit.adapters import Adapter, adapter
from discreet.audit.neighbouring import Schema
from discreet.audit.tables import Tables, unrolled
from discreet.audit.wrong import WRONG
from discreet.errors import ParameterError
from discreet.guarantees import ApproxDP
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.scores import Scores

_CHECKED: dict[str, Any] = {"n": (2, 3, 100), "effort": "quick"}
"""Options for slow libraries: few sizes, little effort. For example, diffprivlib checks every utility."""

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


@adapter("diffprivlib", "Exponential", options=_CHECKED)
def _diffprivlib_exponential(scores: Any, cost: Fraction) -> list[Any]:
    from flint import arb

    mechanism = _diffprivlib_on(scores, "Exponential", cost)
    # The library compares a random number with cumulative sums, each of which is rounded.
    return [arb(float(part), 2.0**-48) for part in np.diff(mechanism._probabilities, prepend=0.0)]


@adapter("diffprivlib", "PermuteAndFlip", options=_CHECKED)
def _diffprivlib_permute_and_flip(scores: Any, cost: Fraction) -> Any:
    mechanism = _diffprivlib_on(scores, "PermuteAndFlip", cost)
    return permute_and_flip(-np.asarray(mechanism._probabilities, dtype=np.float64))


_GROUPS = {"A0": "A", "A1": "A", "B0": "B", "B1": "B", "B2": "B"}


@adapter(
    "diffprivlib",
    "ExponentialCategorical",
    epsilon="4",
    options={"inputs": Tables(_GROUPS, rows=1, most=1, neighbours="replace")},
    about="one person's value is replaced by any other",
)
def _diffprivlib_categorical(table: tuple[str, ...], cost: Fraction) -> dict[str, float]:
    """Return the answer's distribution; the utilities are chosen to pass the library's balance check."""
    epsilon = float(cost)
    near, apart = 0.999999, math.exp(-epsilon / 2)
    # Every row has the same total: 1 + w(A,A) + 3·w(A,B) = 1 + 2·w(B,B) + 2·w(A,B).
    weights = {"AA": near, "AB": apart, "BB": (near + apart) / 2}
    utilities = [
        [one, two, -2 / epsilon * math.log(weights["".join(sorted(_GROUPS[one] + _GROUPS[two]))])]
        for one in _GROUPS
        for two in _GROUPS
        if one < two
    ]
    mechanism = _diffprivlib("ExponentialCategorical")(epsilon=epsilon, utility_list=utilities)
    total = mechanism._normalising_constant[table[0]]
    return {
        target: float(mechanism._get_prob(table[0], target)) / total
        for target in mechanism._normalising_constant
    }


def _column(rows: list[dict[str, Any]]) -> Any:
    return np.array([row["value"] for row in rows], dtype=np.float64)


_VALUES = Schema(_column, value=(0.0, 10.0))


def _bounded(name: str) -> Adapter:
    """Return an adapter for a diffprivlib tool that takes public bounds."""

    @adapter(
        "diffprivlib",
        f"tools.{name}",
        tables=_VALUES,
        options={"neighbours": "replace"},
        about="a pipeline; values between 0 and 10, a person replaced",
    )
    def run(table: Any, cost: Fraction) -> Any:
        tools = importlib.import_module("diffprivlib.tools")
        return getattr(tools, name)(table, epsilon=float(cost), bounds=(0.0, 10.0))

    return run


_diffprivlib_sum, _diffprivlib_mean, _diffprivlib_var = map(_bounded, ("sum", "mean", "var"))
_diffprivlib_nansum, _diffprivlib_median = map(_bounded, ("nansum", "median"))


@adapter(
    "diffprivlib",
    "tools.histogram",
    tables=_VALUES,
    about="a pipeline; five bins, a person added or removed",
)
def _diffprivlib_histogram(table: Any, cost: Fraction) -> Any:
    tools = importlib.import_module("diffprivlib.tools")
    return tools.histogram(table, epsilon=float(cost), bins=5, range=(0.0, 10.0))[0].tolist()


# ---- other libraries -----------------------------------------------------------------------------


@adapter(
    "opendp",
    "make_noisy_max",
    sampled=True,
    options={"n": (2, 3), "samples": 50_000, "explore": 200, "monotonic": False},
)
def _opendp_noisy_max(scores: Any, size: int, cost: Fraction) -> Any:
    prelude = importlib.import_module("opendp.prelude")
    prelude.enable_features("contrib")
    measurement = prelude.m.make_noisy_max(
        prelude.vector_domain(prelude.atom_domain(T=float, nan=False)),
        prelude.linf_distance(T=float),
        prelude.max_divergence(),
        scale=float(scores.range_distance / cost),
    )
    values = scores.tolist()
    return np.array([measurement(values) for _ in range(size)])


@adapter(
    "opendp",
    "clamped sum",
    tables=_VALUES,
    about="a pipeline; values between 0 and 10, a person added or removed",
)
def _opendp_sum(table: Any, cost: Fraction) -> Any:
    prelude = importlib.import_module("opendp.prelude")
    prelude.enable_features("contrib")
    whole = prelude.vector_domain(prelude.atom_domain(T=int)), prelude.symmetric_distance()
    chain = whole >> prelude.t.then_clamp((0, 10)) >> prelude.t.then_sum()
    noisy = chain >> prelude.m.then_laplace(scale=10 / float(cost))
    return noisy([int(value) for value in np.clip(np.nan_to_num(table), -100, 100)])


@adapter("mbi", "exponential_mechanism", "mechanism", about="its folder mechanisms on the path")
def _mbi(scores: Any, cost: Fraction) -> Any:
    seen = _Asked()
    kind = importlib.import_module("mechanism").Mechanism
    made = kind(float(cost), 0, bounded=False, prng=seen)
    made.exponential_mechanism(
        np.array(scores.values), float(cost), sensitivity=float(scores.range_distance) / 2
    )
    return seen.probabilities


class _Asked:
    """A stand-in generator that keeps the probabilities of the last draw and always returns position 0."""

    probabilities: Any = None

    def choice(self, _size: int, p: Any) -> int:
        self.probabilities = p
        return 0


@adapter("pipeline-dp", "ExponentialMechanism", "pipeline_dp", options=_CHECKED)
def _pipeline_dp(scores: Any, cost: Fraction) -> Any:
    kind = importlib.import_module("pipeline_dp.dp_computations").ExponentialMechanism
    given = SimpleNamespace(
        score=lambda place: float(scores[place]),
        global_sensitivity=float(scores.sensitivity),
        is_monotonic=scores.monotonic,
    )
    return kind(given)._calculate_probabilities(float(cost), list(range(len(scores))))


@adapter(
    "pipeline-dp",
    "DPEngine.aggregate",
    "pipeline_dp",
    tables=Schema(cost=(0.0, 10.0)),
    options={"user": "who"},
    about="a pipeline; count and sum of a single public partition, a person added or removed",
)
def _pipeline_dp_aggregate(table: list[dict[str, Any]], cost: Fraction) -> Any:
    library = importlib.import_module("pipeline_dp")
    budget = library.NaiveBudgetAccountant(total_epsilon=float(cost), total_delta=1e-6)
    params = library.AggregateParams(
        metrics=[library.Metrics.COUNT, library.Metrics.SUM],
        noise_kind=library.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=0.0,
        max_value=10.0,
    )
    extractors = library.DataExtractors(
        privacy_id_extractor=lambda row: row["who"],
        partition_extractor=lambda _row: "everyone",
        value_extractor=lambda row: row["cost"],
    )
    engine = library.DPEngine(budget, library.LocalBackend())
    found = engine.aggregate(table, params, extractors, public_partitions=["everyone"])
    budget.compute_budgets()
    return [tuple(numbers) for _, numbers in found]


@adapter(
    "python-dp",
    "LaplaceMechanism",
    "pydp",
    tables=_VALUES,
    about="a pipeline; a clipped sum of values between 0 and 10, a person added or removed",
)
def _pydp_sum(table: Any, cost: Fraction) -> float:
    kinds = importlib.import_module("pydp.algorithms.numerical_mechanisms")
    total = float(np.clip(np.nan_to_num(table), 0.0, 10.0).sum())
    return float(kinds.LaplaceMechanism(float(cost), 10.0).add_noise(total))


@adapter(
    "smartnoise-synth",
    "MWEM",
    "snsynth",
    options={"n": 3, "effort": "quick"},
    about="one selection step, the first query measured before",
)
def _smartnoise_mwem(scores: Any, cost: Fraction) -> dict[Any, Any]:
    """Return the distribution of one selection step after query 0 was measured; |scores| serve as errors."""
    module = importlib.import_module("snsynth.mwem")
    errors = [abs(float(value)) for value in scores]  # an error is never negative

    def run(_scores: Any, choose: Any) -> int:
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
        with patch.object(module, "random", Generator), _drawing(choice=uniformly):
            return int(step._exponential_mechanism(None, None, queries, float(cost), {0: []}, 0))

    return unrolled(run)(scores)


@dataclass(frozen=True, slots=True)
class _Query:
    size: float

    def error(self, _data: Any, _synthetic: Any) -> float:
        return self.size


def _drawing(**functions: Any) -> Any:
    """Temporarily replace functions of ``numpy.random``."""
    return patch.multiple(importlib.import_module("numpy.random"), **functions)


@adapter(
    "dp_topk",
    "pnf_peeling_mechanism",
    options={"n": (2, 3), "effort": "quick", "monotonic": False},
    about="a person replaced",
)
def _dp_topk_peeling(scores: Any, cost: Fraction) -> dict[Any, Any]:
    """Return the distribution of the library's choice of the largest count.

    Replacing a person changes two counts by one each.
    """
    module = importlib.import_module("dp_topk.baseline_mechanisms")
    values = np.array(scores.values)

    def run(_scores: Any, choose: Any) -> int:
        def noise(scale: float, size: int) -> Any:
            best = Scores(values, sensitivity=scores.sensitivity)
            won = choose(PermuteAndFlip(scale=Fraction(scale)).ball_probabilities(best))
            return np.where(np.arange(size) == won, np.inf, 0.0)

        with _drawing(exponential=noise):
            return int(module.pnf_peeling_mechanism(values, 1, float(cost))[0])

    return unrolled(run)(scores)


_ROUNDS = 100


def _reported_by_dp_accounting(cost: Fraction) -> ApproxDP:
    events = importlib.import_module("dp_accounting")
    accountant = importlib.import_module("dp_accounting.rdp").RdpAccountant()
    accountant.compose(events.ExponentialMechanismDpEvent(float(cost)), _ROUNDS)
    delta = Fraction(1, 10**6)
    return ApproxDP(Fraction(float(accountant.get_epsilon(float(delta)))), delta)


@adapter(
    "dp-accounting",
    "RdpAccountant",
    "dp_accounting",
    claim=_reported_by_dp_accounting,
    options={"n": 2, "effort": "quick", "monotonic": False},
    about="the exponential mechanism composed a hundred times",
)
def _dp_accounting_rdp(scores: Any, cost: Fraction) -> dict[int, Any]:
    """Return the distribution of how often the first of two candidates is chosen in a hundred runs."""
    # Clip large leads: neighbours stay neighbours, and float artefacts cannot look like losses.
    lead = min(max(float(scores[0]) - float(scores[1]), -50.0), 50.0)
    first, second = Exponential(epsilon=cost).ball_probabilities(
        Scores([lead, 0.0], sensitivity=scores.sensitivity)
    )
    return {
        wins: math.comb(_ROUNDS, wins) * first**wins * second ** (_ROUNDS - wins)
        for wins in range(_ROUNDS + 1)
    }


ADAPTERS: dict[str, Adapter] = {
    each.name: each for each in (*(v for v in globals().values() if isinstance(v, Adapter)), *WRONG)
}
"""All adapters by name, ``library:mechanism``."""


def adapter_named(name: str) -> Adapter:
    """Return the adapter with this name; raise an error if its library is not installed."""
    adapter = ADAPTERS[name]
    if adapter.version is None:
        raise ParameterError(
            f"⟨mechanism⟩{name!r} is not allowed: {adapter.library} is not installed here"
        )
    return adapter
