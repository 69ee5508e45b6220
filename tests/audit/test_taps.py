"""Recording steps: stand-ins for the libraries, and steps that the user names."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from discreet import PureDP
from discreet.audit import Schema, recording, step_at

AGES = Schema(age=(0, 120))


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(name: str, **contents: Any) -> ModuleType:
        parts = name.split(".")
        for depth in range(1, len(parts)):
            parent = ".".join(parts[:depth])
            monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
        made = ModuleType(name)
        vars(made).update(contents)
        monkeypatch.setitem(sys.modules, name, made)
        return made

    return install


def total(rows: Any) -> float:
    return float(np.clip([row["age"] for row in rows], 0, 120).sum()) if rows else 0.0


def test_diffprivlib_states_its_sensitivity(module: Any) -> None:
    class Base:
        def __init__(self, epsilon: float, sensitivity: float) -> None:
            self.epsilon, self.sensitivity, self.delta = epsilon, sensitivity, 0.0

        def randomise(self, value: float) -> float:
            return value + np.random.default_rng().laplace(scale=self.sensitivity / self.epsilon)

    class Laplace(Base):
        def randomise(self, value: float) -> float:
            return super().randomise(value)

    class Exponential(Base):
        utility: Any = None

        def randomise(self, value: Any = None) -> Any:
            return int(np.argmax(self.utility + np.random.default_rng().gumbel(size=2)))

    library = module("diffprivlib.mechanisms", Laplace=Laplace, Exponential=Exponential)

    def pipeline(rows: Any, *, stated: float = 120.0) -> Any:
        return library.Laplace(1.0, stated).randomise(total(rows))

    def selects(rows: Any) -> Any:
        made = library.Exponential(1.0, 1.0)
        made.utility = np.array([2.0 * len(rows), 0.0])
        return made.randomise()

    honest = recording(pipeline, AGES, PureDP(1))
    assert honest.holds, str(honest)
    assert honest.steps == ("diffprivlib.Laplace",)  # but not its inner calls
    wrong = recording(lambda rows: pipeline(rows, stated=60.0), AGES)
    assert wrong.findings[0].stated == 60
    assert wrong.findings[0].found == pytest.approx(120)
    selection = recording(selects, AGES)
    assert selection.findings[0].found == pytest.approx(2)
    assert Laplace(1.0, 1.0).randomise.__name__ == "randomise"


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("pipeline_dp.dp_computations", "pipeline_dp"),
        ("pydp.algorithms.numerical_mechanisms", "pydp"),
    ],
)
def test_mechanisms_that_add_noise(module: Any, name: str, library: str) -> None:
    class Additive:
        sensitivity, diversity = 1.0, 1.0

        def add_noise(self, value: float) -> float:
            return value + float(np.random.default_rng().laplace(scale=self.diversity))

    class LaplaceMechanism(Additive):
        pass

    made = module(name, AdditiveMechanism=Additive, LaplaceMechanism=LaplaceMechanism)

    def counts(rows: Any) -> Any:
        return made.LaplaceMechanism().add_noise(float(len(rows)))

    def counts_twice(rows: Any) -> Any:
        return made.LaplaceMechanism().add_noise(2.0 * len(rows))

    honest = recording(counts, AGES, PureDP(1))
    assert honest.holds, str(honest)
    assert honest.steps == (f"{library}.LaplaceMechanism",)
    wrong = recording(counts_twice, AGES, PureDP(1))
    assert {one.what for one in wrong.findings} == {"distance", "total"}


def test_keyword_arguments_are_read(module: Any) -> None:
    """PyDP calls its argument ``result``, and its second way to add noise also takes a threshold."""

    class LaplaceMechanism:
        sensitivity, diversity = 1.0, 1.0

        def add_noise(self, result: float) -> float:
            return result + float(np.random.default_rng().laplace())

        def noised_value_above_threshold(self, result: float, threshold: float) -> float | None:
            noisy = self.add_noise(result)
            return noisy if noisy > threshold else None

    made = module("pydp.algorithms.numerical_mechanisms", LaplaceMechanism=LaplaceMechanism)

    def counts(rows: Any) -> Any:
        noise = made.LaplaceMechanism()
        return (
            noise.add_noise(result=float(len(rows))),
            noise.noised_value_above_threshold(float(len(rows)), 3.0),
        )

    honest = recording(counts, AGES, PureDP(2))
    assert honest.holds, str(honest)
    assert not honest.notes
    assert [one.found for one in recording(counts, AGES, PureDP(1)).findings] == [pytest.approx(2)]


def _opendp(rows: Any, cost: float) -> Any:
    prelude = importlib.import_module("opendp.prelude")
    prelude.enable_features("contrib")
    space = prelude.atom_domain(T=int), prelude.absolute_distance(T=int)
    return prelude.m.make_laplace(*space, scale=1.0 / cost).invoke(len(rows))


def _opendp_context(rows: Any, cost: float) -> Any:
    prelude = importlib.import_module("opendp.prelude")
    prelude.enable_features("contrib")
    context = prelude.Context.compositor(
        data=[int(row["age"]) % 1000 for row in rows],
        privacy_unit=prelude.unit_of(contributions=1),
        privacy_loss=prelude.loss_of(epsilon=cost),
        split_evenly_over=1,
        domain=prelude.vector_domain(prelude.atom_domain(T=int)),
    )
    return context.query().count().laplace().release()


def _diffprivlib(rows: Any, cost: float) -> Any:
    mechanisms = importlib.import_module("diffprivlib.mechanisms")
    return mechanisms.Laplace(epsilon=cost, sensitivity=1.0).randomise(float(len(rows)))


def _pydp(rows: Any, cost: float) -> Any:
    mechanisms = importlib.import_module("pydp.algorithms.numerical_mechanisms")
    return mechanisms.LaplaceMechanism(epsilon=cost, sensitivity=1.0).add_noise(
        result=float(len(rows))
    )


def _pipeline_dp(rows: Any, cost: float) -> Any:
    made = importlib.import_module("pipeline_dp.dp_computations").LaplaceMechanism
    return made.create_from_epsilon(cost, 1.0).add_noise(np.array([len(rows)]))


def test_every_library_that_is_installed_is_watched_as_it_is() -> None:
    """OpenDP is always installed. No extra installs the others: diffprivlib needs an old scikit-learn."""
    pipelines = {
        _opendp: ("opendp.prelude", "opendp.Measurement"),
        _opendp_context: ("opendp.prelude", "opendp.Measurement"),
        _diffprivlib: ("diffprivlib.mechanisms", "diffprivlib.Laplace"),
        _pydp: ("pydp.algorithms.numerical_mechanisms", "pydp.LaplaceMechanism"),
        _pipeline_dp: ("pipeline_dp.dp_computations", "pipeline_dp.LaplaceMechanism"),
    }
    seen = []
    for pipeline, (place, step) in pipelines.items():
        with suppress(ImportError):
            importlib.import_module(place)
            honest, wrong = (
                recording(
                    partial(pipeline, cost=cost), AGES, PureDP(1), sensitivity=1, effort="quick"
                )
                for cost in (1.0, 2.0)
            )
            assert honest.holds, str(honest)
            assert honest.steps == (step,)
            assert [one.what for one in wrong.findings] == ["total"], str(wrong)
            seen.append(place)
    assert "opendp.prelude" in seen


def test_steps_of_ones_own(module: Any) -> None:
    class Noise:
        sensitivity = 1.0

        def add(self, amount: float) -> float:
            return amount + float(np.random.default_rng().laplace())

    def added(amount: float, bound: float) -> float:
        return amount + float(np.random.default_rng().laplace(scale=bound))

    mine = module("mine.noise", Noise=Noise, added=added, rng=np.random.default_rng(1))
    watched = [
        step_at("mine.noise:Noise.add", value="amount"),
        step_at("mine.noise:added", value="amount", sensitivity="bound", scale="bound"),
        step_at("mine.noise:rng"),
    ]

    def pipeline(rows: Any, times: float = 1.0) -> Any:
        return (
            mine.Noise().add(times * len(rows)),
            mine.added(times * len(rows), 1.0),
            len(rows) + mine.rng.laplace(),
        )

    honest = recording(pipeline, AGES, steps=watched)
    assert honest.holds, str(honest)
    assert honest.steps == ("mine.noise:Noise.add", "mine.noise:added", "numpy.laplace")
    wrong = recording(lambda rows: pipeline(rows, 3.0), AGES, steps=watched)
    assert [one.step[:6] for one in wrong.findings] == ["step 1", "step 2"]
    assert [one.found for one in wrong.findings] == [pytest.approx(3)] * 2


def test_afterwards_everything_is_as_it_was() -> None:
    before = np.random.default_rng, np.random.laplace, np.random.RandomState
    recording(lambda rows: len(rows) + np.random.default_rng().laplace(), AGES, effort="quick")
    assert before == (np.random.default_rng, np.random.laplace, np.random.RandomState)
