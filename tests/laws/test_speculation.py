"""Speculative execution on a small real cluster: two copies of a task run, and both report the same.

Spark never runs the second copy on the host of the first, so this needs a master and two workers under two
names of this machine: five Java processes. It runs only with ``DISCREET_CLUSTER_TESTS=1``.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(
    os.environ.get("DISCREET_CLUSTER_TESTS") != "1",
    reason="starts a Spark cluster of five processes: set DISCREET_CLUSTER_TESTS=1",
)

LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for five short-lived processes: thorough compilation takes longer than it saves."""

PROGRAM = '''
import sys, time
from fractions import Fraction
from pathlib import Path

from pyspark.sql import SparkSession

master, folder = sys.argv[1:3]
builder = SparkSession.builder.master(master)
for name, value in {
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": sys.argv[3],
    "spark.executor.extraJavaOptions": sys.argv[3],
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "700m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.locality.wait": "0s",
    "spark.log.level": "ERROR",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.minTaskRuntime": "100ms",
}.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()

from discreet._exact.sampling.keyed_noise import KeyedNoise
from discreet._tables import spark_selection
from discreet._tables.spark_selection import ReportFirst, select_in_cluster


class Slow(ReportFirst):
    """The first copy of the first partition's task reports and then dawdles; the second waits for that."""

    def __call__(self, batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        reports = list(ReportFirst.__call__(self, batches))
        name = f"{context.partitionId()}-{context.attemptNumber()}"
        written = Path(folder, f"{name}.part")
        written.write_text(str(reports[0].to_pydict()))
        written.rename(Path(folder, name))
        if name == "0-0":
            time.sleep(10**6)
        # A copy that overtakes the first would end it before it has reported.
        while name == "0-1" and not Path(folder, "0-0").exists():
            time.sleep(0.1)
        yield from reports


table = spark.range(0, 4000, 1, 4).selectExpr("id AS candidate", "id % 50 AS score")
noise = KeyedNoise(bytes(range(64)))
undisturbed = select_in_cluster(table, scale=Fraction(7), noise=noise, count=3)
spark_selection.ReportFirst = Slow
disturbed = select_in_cluster(table, scale=Fraction(7), noise=noise, count=3)
print(*undisturbed, *disturbed)
spark.stop()
'''


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_DAEMON_JAVA_OPTS": LIGHT,
    }
    port = _free_port()
    master = f"spark://127.0.0.1:{port}"
    base = "org.apache.spark.deploy"
    commands = [
        [f"{base}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    ]
    for host in ("127.0.0.1", "localhost"):
        folder = str(tmp_path / host)
        options = [
            "--host",
            host,
            "--cores",
            "1",
            "--memory",
            "1g",
            "--work-dir",
            folder,
            "--webui-port",
            "0",
        ]
        commands.append([f"{base}.worker.Worker", *options, master])
    processes = []
    for command in commands:
        program = [str(home / "bin" / "spark-class"), *command]
        processes.append(
            subprocess.Popen(
                program, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )
        until(lambda: _listens(port), "the master of the cluster")
    yield master, environment
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait(timeout=PATIENCE)


def test_two_copies_report_the_same(cluster: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    master, environment = cluster
    folder = tmp_path / "attempts"
    folder.mkdir()
    done: Any = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, master, str(folder), LIGHT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answers = done.stdout.split()  # the second copy's report was used: the first waits forever
    assert answers[:3] == answers[3:]
    attempts = {path.name: path.read_text() for path in folder.iterdir()}
    assert attempts["0-1"] == attempts["0-0"]
