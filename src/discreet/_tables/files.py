"""Tables in files: Parquet with its declared types, CSV and JSON lines as text, never sniffed.

A CSV file's first record names its columns. A JSON lines file declares nothing: a key that a line lacks is
null there, and so is everything in a line that is not a JSON object. Lines that cannot be split into
fields are dropped. What a *row* is, is what an RFC 4180 reader sees.
"""

from __future__ import annotations

import atexit
import contextlib
import csv
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from discreet._exact.numbers.exact import refuse
from discreet._tables.encodings import ENCODINGS, in_utf_8, opened_text
from discreet._tables.engines import quietly, quoted
from discreet.errors import ParameterError, missing_extra

SPELLED = ("date", "moment", "time", "span", "decimal")
"""What the texts of a column in a text file may be read as, besides numbers."""

SCHEMES = ("postgresql", "postgres", "sqlite", "duckdb", "mysql", "bigquery", "snowflake", "trino")
"""How an address of a database begins."""


def is_address(data: object) -> bool:
    """Whether a text is the address of a database, such as ``postgresql://reader@db/hospital``.

    Example:
        >>> is_address("postgresql://reader@db/hospital"), is_address("visits.csv")
        (True, False)
    """
    return isinstance(data, str) and data.partition("://")[0] in SCHEMES and "://" in data


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file, or a pattern of them, with what its name does not tell; it goes where a path goes.

    Attributes:
        path: a CSV, TSV or JSON lines file.
        delimiter: what separates the fields of a CSV file.
        encoding: how a CSV file is encoded.
        read_as: what the texts of a column spell where its order is asked for, by the column's name:
            ``date``, ``moment`` (a date with a time), ``time`` (of day), ``span`` or ``decimal``. Bounds that
            are written so say it too.

    Example:
        >>> TextFile("visits.csv", delimiter=";", encoding="cp1252").delimiter
        ';'
        >>> TextFile("trips.csv", read_as={"started_at": "moment"}).read_as["started_at"]
        'moment'
    """

    path: str | Path
    delimiter: str | None = None
    encoding: str = "utf-8"
    read_as: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for column, kind in self.read_as.items():
            if kind not in SPELLED:
                raise refuse("read_as", kind, f"one of {', '.join(SPELLED)}, for {column!r}")
        one = isinstance(self.delimiter, str) and len(self.delimiter) == 1
        if self.delimiter is not None and not (one and self.delimiter not in "\"'\r\n\0"):
            raise refuse("delimiter", self.delimiter, "one character, such as ; and no quote")
        if self.encoding not in ENCODINGS:
            raise refuse("encoding", self.encoding, "one of " + ", ".join(ENCODINGS))


ENGINES = ("duckdb", "polars", "pandas", "spark")
"""What can read a file."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_NO_BAR = "SET enable_progress_bar = false"
_QUIET_DUCKDB: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # reading a file never reaches for the network
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "false",  # no order is needed, and memory stays bounded without it
}


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """Files whose schema is known and of which no row has been read.

    Attributes:
        native: a frame that reads the rows when it is asked, or an empty one of the declared schema.
        is_text: whether the columns are text, to be parsed by our rule.
        load: what reads the rows into a frame, where ``native`` is empty.
        execute: of DuckDB: what runs a statement on the connection of ``native``.
    """

    native: Any
    is_text: bool = False
    load: Callable[[], Any] | None = None
    execute: Callable[[str], Any] | None = None


def open_files(given: str | Path | TextFile, *, needed: Iterable[str], engine: str) -> OpenedTable:
    """The files that a path names, or else those that match it as a pattern."""
    if engine not in ENGINES:
        raise refuse("engine", engine, "one of " + ", ".join(ENGINES))
    file = given if isinstance(given, TextFile) else TextFile(given)
    pattern = file.path
    paths = _matching(pattern)
    suffix = _suffix(paths[0])
    if any(_suffix(path) != suffix for path in paths):
        raise ParameterError(f"{str(pattern)!r} matches files of different formats")
    if (file.delimiter, file.encoding) != (None, "utf-8") and suffix not in _DELIMITERS:
        raise ParameterError("⟨delimiter⟩ and ⟨encoding⟩ go with a CSV or TSV file")
    delimiter = file.delimiter or _DELIMITERS.get(suffix, "")
    columns: Sequence[str] = sorted(set(needed))
    if suffix in _PARQUET:
        same = quietly(
            lambda: all_equal(_SCHEMAS[engine], paths), doing="reading the schemas", telling=True
        )
        if not same:
            raise ParameterError(
                f"the files of {str(pattern)!r} do not declare the same columns of the same types"
            )
    elif suffix in _DELIMITERS:
        headers = [_header(path, delimiter, file.encoding) for path in paths]
        if any(header != headers[0] for header in headers):
            raise ParameterError(
                f"the files of {str(pattern)!r} do not have the same columns in one order"
            )
        columns = headers[0]
        for column in file.read_as:
            if column not in columns:
                raise refuse("read_as", column, f"one of the columns of {str(pattern)!r}")
    if file.read_as and suffix in _PARQUET:
        raise ParameterError("⟨read_as⟩ goes with a text file: Parquet declares its types")
    if file.encoding != "utf-8":
        return _in_another_encoding(paths, columns, delimiter, file.encoding, engine=engine)
    opened = quietly(
        lambda: _READERS[engine](paths, suffix, columns, delimiter),
        doing="opening the file",
        telling=True,
    )
    return replace(opened, is_text=suffix not in _PARQUET)


def _in_another_encoding(
    paths: list[str], columns: Sequence[str], delimiter: str, encoding: str, *, engine: str
) -> OpenedTable:
    """DuckDB's own decoders stop at a byte that does not belong; ours replaces it, after the spend."""
    if engine != "duckdb":
        raise ParameterError(f"⟨engine⟩{engine!r} is not allowed: ⟨encoding⟩ goes with duckdb")

    def load() -> Any:
        copies = in_utf_8(paths, encoding=encoding, folder=_spill_folder())
        return _duckdb(copies, ".csv", columns, delimiter).native

    empty = ", ".join(f"NULL::VARCHAR AS {quoted(name)}" for name in columns)
    nothing = connected().sql(f"SELECT {empty} WHERE false")
    return OpenedTable(nothing, is_text=True, load=load)


def _matching(pattern: str | Path) -> list[str]:
    text = str(pattern)
    paths = [text] if Path(text).is_file() else sorted(glob.glob(text, recursive=True))
    paths = [str(Path(path).absolute()) for path in paths if Path(path).is_file()]
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


def _header(path: str, delimiter: str, encoding: str) -> list[str]:
    """The first record, which names the columns; it is schema, not data."""

    def first_record() -> list[str]:
        # A whole block is decoded, and with it rows: no byte of theirs may raise.
        with opened_text(path, newline="", encoding=encoding) as file:
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


def _no_pattern(path: str) -> str:
    """The path with everything escaped that DuckDB would take for a pattern, as an SQL literal."""
    return _literal("".join(f"[{sign}]" if sign in "*?[" else sign for sign in path))


_databases: dict[int, Any] = {}
"""DuckDB, started once for each process: that takes longer than many a question.

A forked process has none of its parent's threads, and would wait for them for ever, also when it ends.
"""


@atexit.register
def _let_go_of_duckdb() -> None:
    """Empty the caches of DuckDB's objects: NumPy keeps them alive, and DuckDB reports 44 lines of leaks."""
    _databases.pop(os.getpid(), None)
    for name in [name for name in sys.modules if name.partition(".")[0] == "narwhals"]:
        for held in list(vars(sys.modules[name]).values()):
            if isinstance(held, type(_spill_folder)):
                held.cache_clear()


def connected() -> Any:
    """A connection of DuckDB's that reaches for no network and spills where nobody else looks."""
    try:
        connection = _databases[os.getpid()].cursor()
        connection.execute("SELECT 1")
    except Exception:  # not started, or ended by an error of its own
        connection = _started()
    # In a notebook without ipywidgets the bar is off, and even switching it off is refused.
    with contextlib.suppress(Exception):
        connection.execute(_NO_BAR)
    return connection


def _started() -> Any:
    try:
        import duckdb
    except ImportError:
        raise missing_extra("reading files needs DuckDB", extra="tables") from None
    settings = {**_QUIET_DUCKDB, "temp_directory": _spill_folder()}
    database = _databases[os.getpid()] = duckdb.connect(config=settings)
    return database.cursor()


def _parquet_in_duckdb(connection: Any, paths: Sequence[str]) -> Any:
    files = ", ".join(map(_no_pattern, paths))
    return connection.sql(
        f"SELECT * FROM read_parquet([{files}], hive_partitioning = false)"  # noqa: S608 - quoted above
    )


def _duckdb(paths: list[str], suffix: str, columns: Sequence[str], delimiter: str) -> OpenedTable:
    connection = connected()
    if suffix in _PARQUET:
        relation = _parquet_in_duckdb(connection, paths)
    else:
        relation = connection.sql(_reading_text(paths, suffix, columns, delimiter))
    return OpenedTable(relation, execute=connection.execute)


def _reading_text(paths: list[str], suffix: str, columns: Sequence[str], delimiter: str) -> str:
    files = "[" + ", ".join(map(_no_pattern, paths)) + "]"
    as_text = "{" + ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in columns) + "}"
    if suffix in _JSON_LINES:
        chosen = ", ".join(
            f"json_extract_string(json, {_literal('$.' + quoted(name))}) AS {quoted(name)}"
            for name in columns
        )
        return f"SELECT {chosen or 'json'} FROM read_ndjson_objects({files}, ignore_errors = true)"  # noqa: S608
    return (
        f"SELECT * FROM read_csv({files}, columns = {as_text}, header = true, auto_detect = false, "  # noqa: S608
        f"delim = {_literal(delimiter)}, quote = '\"', escape = '\"', "
        # Short rows are padded; with a line break inside quotes the parallel reader refuses that, and
        # a refusal that depends on a value is what must not happen.
        "ignore_errors = true, null_padding = true, strict_mode = false, parallel = false)"
    )


def _polars(paths: list[str], suffix: str, _columns: Sequence[str], _delimiter: str) -> OpenedTable:
    _parquet_only(suffix, "polars")
    import polars as pl

    return OpenedTable(pl.scan_parquet(paths, glob=False, hive_partitioning=False))


def _pandas(paths: list[str], suffix: str, needed: Sequence[str], _delimiter: str) -> OpenedTable:
    _parquet_only(suffix, "pandas")
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    declared = _arrow_schema(paths[0])
    # Arrow's types hold nulls: NumPy's would change with the rows, a boolean with a null into objects.
    as_declared = {"types_mapper": pd.ArrowDtype, "ignore_metadata": True}
    used = pa.schema([field for field in declared if field.name in needed])

    def load() -> Any:
        parts = [pq.ParquetFile(path).read(columns=used.names).cast(used) for path in paths]
        return pa.concat_tables(parts).to_pandas(**as_declared)

    return OpenedTable(declared.empty_table().to_pandas(**as_declared), load=load)


def _arrow_schema(path: str) -> Any:
    """The declared columns; a dictionary is a way to store texts, not a type."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise missing_extra(
            "reading Parquet in pandas or Spark needs PyArrow", extra="spark"
        ) from None
    plain = (
        (field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in pq.read_schema(path)
    )
    return pa.schema(list(plain))


def _parquet_only(suffix: str, engine: str) -> None:
    if suffix not in _PARQUET:
        raise ParameterError(
            f"⟨engine⟩{engine!r} reads Parquet only: its readers of {suffix} stop at a malformed row, which "
            "would tell that there is one; leave ⟨engine⟩ out, or use duckdb or spark"
        )


def _spark(paths: list[str], suffix: str, columns: Sequence[str], delimiter: str) -> OpenedTable:
    from pyspark.sql import SparkSession

    from discreet._tables.spark_files import read_json_lines, read_parquet, read_text

    session = SparkSession.builder.getOrCreate()
    if suffix in _PARQUET:
        return OpenedTable(read_parquet(session, paths))
    if suffix in _JSON_LINES:
        return OpenedTable(read_json_lines(session, paths, columns=columns))
    return OpenedTable(read_text(session, paths, columns=columns, delimiter=delimiter))


def _duckdb_schema(path: str) -> Any:
    with connected() as connection:
        relation = _parquet_in_duckdb(connection, [path])
        return relation.columns, list(map(str, relation.types))


def _polars_schema(path: str) -> Any:
    import polars as pl

    return pl.read_parquet_schema(path)


def all_equal(schema: Callable[[str], Any], paths: Sequence[str]) -> bool:
    """Whether all files declare what the first declares; a single one does."""
    if len(paths) == 1:
        return True
    first = schema(paths[0])
    return all(schema(path) == first for path in paths[1:])


_READERS: dict[str, Callable[..., OpenedTable]] = {
    "duckdb": _duckdb,
    "polars": _polars,
    "pandas": _pandas,
    "spark": _spark,
}
_SCHEMAS: dict[str, Callable[[str], Any]] = {
    "duckdb": _duckdb_schema,
    "polars": _polars_schema,
    "pandas": _arrow_schema,
    "spark": _arrow_schema,
}
