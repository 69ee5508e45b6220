"""The pytest plugin: the fixture ``audited``, its options, and the report of a whole suite.

The plugin is installed with the package, so every pytest run imports it at the start. Slow imports are left
to the fixture.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from discreet.audit.suite import Audited

SCHEMA = 1
"""The version of the report's format, which docs/auditing-in-ci.md describes."""

_SHARERS = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the command-line options for audits."""
    group = parser.getgroup("audit", "audits of private mechanisms (discreet)")
    group.addoption(
        "--audit-effort",
        choices=("quick", "usual", "thorough"),
        default="usual",
        help="how long audits search (default: usual)",
    )
    group.addoption(
        "--audit-report", metavar="FILE", type=_file, help="write all audits to this JSON file"
    )
    group.addoption(
        "--audit-seed",
        metavar="NUMBER",
        type=int,
        default=0,
        help="the seed of audits by sampling (default: 0)",
    )
    group.addoption(
        "--audit-false-alarm",
        metavar="RATE",
        type=_rate,
        default=1e-6,
        help="the largest probability that sampling suspects any true claim of the suite (default: 1e-6)",
    )
    group.addoption(
        "--audit-suspects",
        choices=("report", "fail"),
        default="report",
        help="whether a suspect claim fails its test (default: report)",
    )


def _rate(text: str) -> float:
    with suppress(ValueError):
        if 0 < float(text) < 1:
            return float(text)
    raise pytest.UsageError(f"--audit-false-alarm {text}: give a probability between 0 and 1")


def _file(text: str) -> Path:
    """Return the path of the report; refuse a folder, or a file in a missing folder, before any test runs."""
    path = Path(text).absolute()
    if path.is_dir() or not path.parent.is_dir():
        raise pytest.UsageError(f"--audit-report {text}: give a file in an existing folder")
    return path


def pytest_configure(config: pytest.Config) -> None:
    """Register the plugin that collects the audits of this session."""
    config.pluginmanager.register(_Suite(config), "discreet-audits")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count the tests that share the false-alarm rate; the count is the same in every worker."""
    config.stash[_SHARERS] = sum("audited" in getattr(item, "fixturenames", ()) for item in items)


@pytest.fixture
def audited(request: pytest.FixtureRequest) -> Audited:
    """Audit a mechanism or a pipeline, and fail if its claim is refuted.

    ``audited(mechanism, PureDP(1), sensitivity=1)`` audits exactly from probabilities, or by drawing from a
    sampler; ``audited.pipeline(run, schema, PureDP(1))`` records a pipeline on neighbouring tables.
    """
    from discreet.audit.suite import Audited

    options = request.config.option
    return Audited(
        test=request.node.nodeid,
        effort=options.audit_effort,
        seed=options.audit_seed,
        false_alarm=options.audit_false_alarm / max(1, request.config.stash.get(_SHARERS, 1)),
        suspects_fail=options.audit_suspects == "fail",
        tell=request.node.user_properties.extend,
    )


class _Suite:
    """The audits of one session, including those of pytest-xdist's workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._audits: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the audits that a test has reported."""
        if report.when == "call" or (report.when == "setup" and report.failed):
            told = (value for name, value in report.user_properties if name == "audit")
            self._audits.extend(json.loads(str(value)) for value in told)

    def pytest_sessionfinish(self) -> None:
        """Write the report if one was asked for; pytest-xdist workers write none."""
        options = self._config.option
        if options.audit_report is None or hasattr(self._config, "workerinput"):
            return
        from discreet import __version__

        report = {
            "schema": "discreet-audit-report",
            "version": SCHEMA,
            "discreet": __version__,
            "effort": options.audit_effort,
            "seed": options.audit_seed,
            "false_alarm": options.audit_false_alarm,
            "audits": self._audits,
        }
        written = json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False)
        options.audit_report.write_text(written + "\n", "utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the number of audits, and list the suspect ones."""
        if not self._audits:
            return
        statuses = [audit["status"] for audit in self._audits]
        counts = ", ".join(f"{statuses.count(one)} {one}" for one in dict.fromkeys(statuses))
        terminalreporter.section("audits")
        terminalreporter.line(f"{len(statuses)} audited: {counts}")
        for audit in self._audits:
            if audit["status"] == "suspect":
                terminalreporter.line(f"suspect {audit['test']}: {audit['summary']}")
