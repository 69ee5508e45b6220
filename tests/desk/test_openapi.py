"""Requests that schemathesis generates from the served schema: no 500, and only described replies.

Each run has a time limit and a seed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.desk.openapi import openapi
from discreet.desk.serving import DeskServer
from discreet.desk.store import ANSWERED
from tests.tools.desks import STUDY, Caller
from tests.tools.waiting import PATIENCE

SECONDS = "30" if os.environ.get("DISCREET_REQUIRE_SERVICES") else "10"
"""The time limit of each of the two runs: in CI they take a minute together."""
KNOWN = {
    "table": ["visits"],
    "column": ["diagnosis", "clinic", "age"],
    "by": [None, "clinic"],
    "where": [None, "clinic = 'north'"],
    "score": ["round_ages"],
    "function": ["age"],
    "epsilon": [0.01, "0.02"],
    "study": [STUDY.format(more="")],
}
"""Values that the tests' clinic has, so that many of the generated questions are answered."""


def _generated(call: Caller, folder: Path, schema: str) -> None:
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("schemathesis"), "run", schema, "--url", call.url),
            *("--header", f"Authorization: Bearer {call.token}"),
            *("--checks", "not_a_server_error,status_code_conformance,response_schema_conformance"),
            *("--max-time", SECONDS, "--seed", "1", "--workers", "1", "--no-color"),
            *("--request-timeout", "600", "--suppress-health-check", "all"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_no_described_request_breaks_the_desk(call: Caller, tmp_path: Path) -> None:
    _generated(call, tmp_path, f"{call.url}/api/openapi.json")


def test_every_answer_is_described(desk_in: Callable[..., DeskServer], tmp_path: Path) -> None:
    described = openapi()
    for model in described["components"]["schemas"].values():
        if "kind" in model.get("properties", {}):
            _narrow(model)
    for path in described["paths"].values():
        for operation in path.values():
            for sent in operation.get("requestBody", {}).get("content", {}).values():
                _narrow(sent["schema"])
    (tmp_path / "narrowed.json").write_text(json.dumps(described))
    with desk_in().in_background() as server:
        _generated(Caller.of(server, "epidemiology"), tmp_path, "narrowed.json")
        states = [asked.state for asked in server.desk.store.asked()]
        assert states.count(ANSWERED) >= 5


def _narrow(model: dict[str, Any]) -> None:
    """Replace free values in a request by values from the tests' clinic."""
    for name, values in KNOWN.items():
        if name in model.get("properties", {}):
            model["properties"][name] = {"enum": values}
