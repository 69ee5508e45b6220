"""Tables in files: Parquet with its declared types, CSV and JSON lines as text, never sniffed.

A CSV file's first record names its columns. A JSON lines file declares nothing: a key that a line lacks is
null there, and so is everything in a line that is not a JSON object. Lines that cannot be split into
fields are dropped. What a *row* is, is what an RFC 4180 reader sees.
"""

from __future__ import annotations

import atexit
import csv
import glob
import gzip
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from discreet.errors import ParameterError, missing_extra
from discreet.exact_numbers import refuse
from discreet.tables.identities import quoted
from discreet.tables.quiet import quietly

ENGINES = ("duckdb", "polars", "pandas", "spark")
"""What can read a file."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_QUIET_DUCKDB: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # reading a file never reaches for the network
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "false",  # no order is needed, and memory stays bounded without it
}


def open_files(pattern: str | Path, *, needed: Iterable[str], engine: str) -> tuple[Any, bool]:
    """A native frame over the files, and whether its columns are text to be parsed by our rule."""
    if engine not in ENGINES:
        raise refuse("engine", engine, "one of " + ", ".join(ENGINES))
    paths = _matching(pattern)
    suffix = _suffix(paths[0])
    if any(_suffix(path) != suffix for path in paths):
        raise ParameterError(f"{str(pattern)!r} matches files of different formats")
    if suffix in _DELIMITERS:
        headers = [_header(path, _DELIMITERS[suffix]) for path in paths]
        if any(header != headers[0] for header in headers):
            raise ParameterError(
                f"the files of {str(pattern)!r} do not have the same columns in one order"
            )
        columns: Sequence[str] = headers[0]
    else:
        columns = sorted(set(needed))
    reader = {"duckdb": _duckdb, "polars": _polars, "pandas": _pandas, "spark": _spark}[engine]
    frame = quietly(lambda: reader(paths, suffix, columns), doing="opening the file")
    return frame, suffix not in _PARQUET


def _matching(pattern: str | Path) -> list[str]:
    text = str(pattern)
    paths = [text] if Path(text).is_file() else sorted(glob.glob(text, recursive=True))
    paths = [path for path in paths if Path(path).is_file()]
    if not paths:
        raise ParameterError(f"no file matches {text!r}")
    return paths


def _suffix(path: str) -> str:
    name = path.removesuffix(".gz").lower()
    suffix = Path(name).suffix
    compressed = path.endswith(".gz")
    if suffix in _DELIMITERS or suffix in _JSON_LINES or (suffix in _PARQUET and not compressed):
        return suffix
    allowed = ", ".join((*_DELIMITERS, *_JSON_LINES, *_PARQUET))
    raise ParameterError(
        f"{path!r}: the format of a table is told by its name; known are {allowed}"
    )


def _header(path: str, delimiter: str) -> list[str]:
    """The first record, which names the columns; it is schema, not data."""

    def first_record() -> list[str]:
        opened = gzip.open if path.endswith(".gz") else open
        # A whole block is decoded, and with it rows: no byte of theirs may raise.
        with opened(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as file:
            return next(csv.reader(file, delimiter=delimiter), [])

    names = quietly(first_record, doing="reading the header")
    if not names or any(not name.strip() for name in names):
        raise ParameterError(f"{path!r}: the first line must name every column")
    # Engines tell columns apart without regard to capital letters.
    folded = [name.casefold() for name in names]
    twice = next((name for name in names if folded.count(name.casefold()) > 1), None)
    if twice is not None:
        raise ParameterError(
            f"{path!r}: two columns are named {twice!r} (capital letters do not count): rename one"
        )
    return names


@cache
def _spill_folder() -> str:
    """Where DuckDB puts what does not fit in memory: rows, so nobody else may look, and nothing stays."""
    folder = tempfile.mkdtemp(prefix="discreet-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _duckdb(paths: list[str], suffix: str, columns: Sequence[str]) -> Any:
    try:
        import duckdb
    except ImportError:
        raise missing_extra("reading files needs DuckDB", extra="tables") from None
    connection = duckdb.connect(config={**_QUIET_DUCKDB, "temp_directory": _spill_folder()})
    connection.execute("SET enable_progress_bar = false")
    files = "[" + ", ".join(map(_literal, paths)) + "]"
    if suffix in _PARQUET:
        return connection.sql(f"SELECT * FROM read_parquet({files})")  # noqa: S608 - quoted above
    as_text = "{" + ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in columns) + "}"
    if suffix in _JSON_LINES:
        chosen = ", ".join(
            f"json_extract_string(json, {_literal('$.' + quoted(name))}) AS {quoted(name)}"
            for name in columns
        )
        return connection.sql(
            f"SELECT {chosen} FROM read_ndjson_objects({files}, ignore_errors = true)"  # noqa: S608
        )
    return connection.sql(
        f"SELECT * FROM read_csv({files}, columns = {as_text}, header = true, auto_detect = false, "  # noqa: S608
        f"delim = {_literal(_DELIMITERS[suffix])}, quote = '\"', escape = '\"', "
        # Short rows are padded; with a line break inside quotes the parallel reader refuses that, and
        # a refusal that depends on a value is what must not happen.
        "ignore_errors = true, null_padding = true, strict_mode = false, parallel = false)"
    )


def _polars(paths: list[str], suffix: str, _columns: Sequence[str]) -> Any:
    _parquet_only(suffix, "polars")
    import polars as pl

    return pl.scan_parquet(paths, glob=False)


def _pandas(paths: list[str], suffix: str, _columns: Sequence[str]) -> Any:
    _parquet_only(suffix, "pandas")
    import pandas as pd

    return pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)


def _parquet_only(suffix: str, engine: str) -> None:
    if suffix not in _PARQUET:
        raise ParameterError(
            f"engine={engine!r} reads Parquet only: its readers of {suffix} stop at a malformed row, which "
            "would tell that there is one; leave --engine out, or use duckdb or spark"
        )


def _spark(paths: list[str], suffix: str, columns: Sequence[str]) -> Any:
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f
    from pyspark.sql.types import StringType, StructField, StructType

    session = SparkSession.builder.getOrCreate()
    if suffix in _PARQUET:
        return session.read.parquet(*paths)
    if suffix in _JSON_LINES:
        lines = session.read.text(paths)
        return lines.select(
            *(f.get_json_object("value", f"$['{_json_key(name)}']").alias(name) for name in columns)
        )
    return session.read.csv(
        paths,
        schema=StructType([StructField(name, StringType()) for name in columns]),
        sep=_DELIMITERS[suffix],
        header=True,
        quote='"',
        escape='"',
        multiLine=True,
        mode="PERMISSIVE",
    )


def _json_key(name: str) -> str:
    if "'" in name or "]" in name:
        raise ParameterError(f"column={name!r} is not allowed: Spark cannot look up such a key")
    return name
