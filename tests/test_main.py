"""``python -m discreet`` runs the command."""

import subprocess
import sys


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "discreet", "--version"]
    assert subprocess.run(command, check=True, capture_output=True).stdout.startswith(b"discreet ")
