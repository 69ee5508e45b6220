"""For all tests: Hypothesis repeats itself exactly, so that no test fails by chance; shared fixtures."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

pytest_plugins = [
    "tests.tools.engines",
    "tests.tools.histograms",
    "tests.tools.postgresql",
]

settings.register_profile(
    "discreet",
    derandomize=True,  # the same examples every time: the suite's false alarms stay where they are stated
    deadline=None,  # the machine may be busy
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("discreet")
