"""Every engine behind one fixture; one Spark session for all, stopped at the end."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest

import discreet

Columns = dict[str, list[Any]]
ENGINES = ("duckdb", "polars", "polars-lazy", "pandas", "parquet", "csv", "jsonl", "pyspark")


@pytest.fixture(scope="session")
def event_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="session")
def spark(event_logs: Path) -> Iterator[Any]:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    sql = pytest.importorskip("pyspark.sql")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    source = str(Path(discreet.__file__).parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.log.level": "ERROR",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": event_logs.as_uri(),
    }
    builder = sql.SparkSession.builder.master("local[2,4]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


_SPARK_TYPES = {str: "string", int: "long", float: "double", bool: "boolean"}


def in_spark(session: Any, columns: Columns) -> Any:
    kinds = {
        name: next((type(v) for v in values if v is not None), str)
        for name, values in columns.items()
    }
    schema = ", ".join(f"`{name}` {_SPARK_TYPES[kind]}" for name, kind in kinds.items())
    return session.createDataFrame(list(zip(*columns.values(), strict=True)), schema)


def _written(value: Any) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def made(engine: str, columns: Columns, folder: Path, session: Any) -> Any:
    """The same table in an engine, or in a file."""
    frame = pl.DataFrame(columns, strict=False)
    if engine == "duckdb":
        connection = duckdb.connect()
        connection.register("given", frame.to_arrow())
        return connection.sql("SELECT * FROM given")
    if engine == "polars":
        return frame
    if engine == "polars-lazy":
        return frame.lazy()
    if engine == "pandas":
        return pd.DataFrame(columns)
    if engine == "parquet":
        frame.write_parquet(folder / "table.parquet")
        return str(folder / "table.parquet")
    if engine == "csv":
        with open(folder / "table.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(map(_written, row) for row in zip(*columns.values(), strict=True))
        return str(folder / "table.csv")
    if engine == "jsonl":
        with open(folder / "table.jsonl", "w", encoding="utf-8") as file:
            for row in zip(*columns.values(), strict=True):
                named = dict(zip(columns, row, strict=True))
                finite = {
                    k: v for k, v in named.items() if not isinstance(v, float) or math.isfinite(v)
                }
                file.write(json.dumps(finite) + "\n")
        return str(folder / "table.jsonl")
    return in_spark(session, columns)


@pytest.fixture(scope="session", params=ENGINES)
def table_in(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Columns], Any]:
    """A function from columns to a table of one engine, run for every engine."""
    session = request.getfixturevalue("spark") if request.param == "pyspark" else None

    def make(columns: Columns) -> Any:
        return made(request.param, columns, tmp_path_factory.mktemp("table"), session)

    return make
