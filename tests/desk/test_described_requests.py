"""Requests that schemathesis generates from the served schema: no 500, and only documented replies.

The run has a time limit and a seed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.tools.desks import Caller
from tests.tools.waiting import PATIENCE

SECONDS = "60" if os.environ.get("DISCREET_REQUIRE_SERVICES") else "15"


def test_no_described_request_breaks_the_desk(call: Caller, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("schemathesis"), "run"),
            f"{call.url}/api/openapi.json",
            *("--header", f"Authorization: Bearer {call.token}"),
            *("--checks", "not_a_server_error,status_code_conformance,response_schema_conformance"),
            *("--max-time", SECONDS, "--seed", "1", "--workers", "1", "--no-color"),
            *("--request-timeout", "600", "--suppress-health-check", "all"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
