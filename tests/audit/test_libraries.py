from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from discreet.audit.libraries import ADAPTERS, adapter_named
from discreet.errors import ParameterError


@pytest.mark.parametrize("name", [name for name in ADAPTERS if name.startswith("wrong:")])
def test_what_is_known_to_be_wrong_is_refuted(name: str) -> None:
    adapter = ADAPTERS[name]
    options = {"n": 100} if name == "wrong:a-little-argmax" else {}
    verdict: Any = adapter.audit("4" if options else None, **options)
    assert verdict.status == "refuted"
    assert verdict.subject == name
    assert verdict.witness is not None
    assert adapter.about


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stand-ins for libraries, with the parts that the adapters use."""

    def install(name: str, **contents: Any) -> None:
        parent, _, _ = name.partition(".")
        monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)

    return install


def test_peeling_under_replacement_costs_twice(installed: Any) -> None:
    def peeling(counts: Any, k: int, epsilon: float) -> Any:
        noise = np.random.exponential(k / epsilon, counts.size)  # noqa: NPY002  # as the library draws
        return np.array([np.argmax(counts + noise)])

    installed("dp_topk.baseline_mechanisms", pnf_peeling_mechanism=peeling)
    verdict: Any = ADAPTERS["dp_topk:pnf_peeling_mechanism"].audit("1", n=2, effort="quick")
    assert verdict.status == "refuted"
    assert verdict.measured == pytest.approx(2)


def test_weights_that_vanish_are_refuted(installed: Any) -> None:
    class Careless:
        def __init__(self, scoring: Any) -> None:
            self._scoring = scoring

        def _calculate_probabilities(self, epsilon: float, places: list[int]) -> Any:
            scores = np.array([self._scoring.score(place) for place in places])
            factor = 1 if self._scoring.is_monotonic else 2
            weights = np.exp(epsilon * scores / self._scoring.global_sensitivity / factor)
            return weights / weights.sum()

    installed("pipeline_dp.dp_computations", ExponentialMechanism=Careless)
    verdict: Any = ADAPTERS["pipeline-dp:ExponentialMechanism"].audit("1", n=2, effort="quick")
    assert verdict.status == "refuted"
    assert verdict.witness is not None
    assert "not a number" in map(repr, verdict.witness.answers)


def test_a_generator_is_asked_for_its_probabilities(installed: Any) -> None:
    class Mechanism:
        def __init__(self, *_: Any, prng: Any, **__: Any) -> None:
            self._prng = prng

        def exponential_mechanism(self, scores: Any, epsilon: float, sensitivity: float) -> Any:
            weights = np.exp(epsilon / 2 / sensitivity * (scores - scores.max()))
            return self._prng.choice(len(scores), p=weights / weights.sum())

    installed("mechanism", Mechanism=Mechanism)
    assert ADAPTERS["mbi:exponential_mechanism"].audit("1", n=2, effort="quick").holds


def test_a_library_that_is_absent_is_named() -> None:
    with pytest.raises(ParameterError, match="dp_topk is not installed"):
        adapter_named("dp_topk:pnf_peeling_mechanism")
    assert ADAPTERS["dp_topk:pnf_peeling_mechanism"].version is None


def test_versions() -> None:
    assert ADAPTERS["opendp:make_noisy_max"].version


def test_opendp_is_sampled() -> None:
    options: Any = {"n": 2, "samples": 150, "explore": 100, "seconds": 2}
    verdict: Any = ADAPTERS["opendp:make_noisy_max"].audit("1", **options)
    assert verdict.holds
    assert "draws" in verdict.as_dict()


def test_a_pipeline_of_opendp_is_recorded() -> None:
    recorded: Any = ADAPTERS["opendp:clamped sum"].audit()
    assert recorded.holds, str(recorded)
    assert recorded.steps == ("opendp.Measurement",)
    assert any("inside" in note for note in recorded.notes)


def test_a_sum_that_lets_a_nan_through_is_refuted_with_its_rows(installed: Any) -> None:
    class Laplace:
        epsilon, sensitivity, delta = 1.0, 10.0, 0.0

        def randomise(self, value: float) -> float:
            return value + float(np.random.default_rng().laplace(scale=10.0))

    def careless(array: Any, *, epsilon: float, bounds: tuple[float, float]) -> float:
        return Laplace().randomise(float(np.clip(array, *bounds).sum()))

    installed("diffprivlib.mechanisms", Laplace=Laplace)
    installed("diffprivlib.tools", sum=careless)
    recorded: Any = ADAPTERS["diffprivlib:tools.sum"].audit()
    finding = recorded.findings[0]
    assert (finding.what, finding.stated, finding.found) == ("distance", 10, np.inf)
    assert "nan" in str(finding.rows)
