"""Costs stated by dp-accounting: events, loss distributions, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from discreet import ApproxDP, PureDP
from discreet.errors import ParameterError
from discreet.tuning import Geometric, choose_run, cost_of_tuning

dp_event: Any = pytest.importorskip("dp_accounting.dp_event", reason="dp-accounting is absent")

RUNS = Geometric(mean=5)


def test_a_laplace_event_costs_little_more_than_the_pure_run_it_is() -> None:
    found = cost_of_tuning(dp_event.LaplaceDpEvent(1.0), runs=RUNS, delta="1e-9")
    exact = cost_of_tuning(PureDP(1), runs=RUNS)
    assert isinstance(found, ApproxDP)
    assert isinstance(exact, PureDP)
    assert found.epsilon < exact.epsilon * 1.001


def test_a_loss_distribution() -> None:
    from dp_accounting.pld import privacy_loss_distribution as pld

    losses = pld.from_gaussian_mechanism(4.0, value_discretization_interval=1e-3)
    by_losses = cost_of_tuning(losses, runs=RUNS, delta="1e-5")
    by_event = cost_of_tuning(dp_event.GaussianDpEvent(4.0), runs=RUNS, delta="1e-5")
    assert isinstance(by_losses, ApproxDP)
    assert isinstance(by_event, ApproxDP)
    assert by_losses.epsilon == pytest.approx(by_event.epsilon, rel=0.02)


def test_what_is_not_known_is_refused() -> None:
    # Newer versions have this event, but ignore its count.
    planted = type("ExponentialMechanismDpEvent", (dp_event.NoOpDpEvent,), {})
    exponential = dp_event.SelfComposedDpEvent(planted(), 10)
    with pytest.raises(ParameterError, match="BoundedRange"):
        cost_of_tuning(exponential, runs=RUNS, delta="1e-5")
    for event in (dp_event.UnsupportedDpEvent(), dp_event.NonPrivateDpEvent()):
        with pytest.raises(ParameterError, match="no finite cost"):
            cost_of_tuning(event, runs=RUNS, delta="1e-5")
    with pytest.raises(ParameterError, match="add-remove"):
        choose_run(
            lambda _: (0, None),
            [1],
            cost=dp_event.GaussianDpEvent(1.0),
            runs=RUNS,
            delta="1e-5",
            neighbours="replace",
        )
