"""Tables in files: Parquet with its declared types, CSV and JSON lines as text, without type inference.

A CSV file's first record names its columns. A JSON lines file declares no columns: a key that a line lacks is
null in this line, and a line that is not a JSON object has only nulls. Lines that cannot be split into fields
are dropped. A *row* is a record as an RFC 4180 reader sees it.
"""

from __future__ import annotations

import csv
import glob
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet._exact.numbers.exact import refuse
from discreet._tables.databases import without_password
from discreet._tables.encodings import ENCODINGS, in_utf_8, opened_text
from discreet._tables.engines import Engine, quietly, quoted, require_names
from discreet._tables.in_duckdb import connected, empty, of_query, of_rows, spill_folder
from discreet._tables.local import of_arrow
from discreet.errors import ParameterError, missing_extra

SPELLED = ("date", "moment", "time", "span", "decimal")
"""Types, besides numbers, that a column of a text file can be read as."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file or a glob pattern, with options for reading it; accepted wherever a path is.

    Attributes:
        path: a CSV, TSV or JSON lines file.
        delimiter: the separator of the fields in a CSV file.
        encoding: the encoding of a CSV file.
        read_as: for each column, the type that its texts are read as when their order matters: ``date``,
            ``moment`` (a date with a time), ``time`` (of day), ``span`` or ``decimal``. If bounds are given,
            the way they are written also states the type.

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
            raise refuse("delimiter", self.delimiter, "one character, such as ; but not a quote")
        if self.encoding not in ENCODINGS:
            raise refuse("encoding", self.encoding, "one of " + ", ".join(ENCODINGS))


_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_JSON_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_LONGEST_LINE = 1 << 24
"""The most bytes in a line of text; DuckDB leaves out longer lines."""
_IS_FINE = (
    "COALESCE(type = 'INT96' OR converted_type = 'TIMESTAMP_MICROS' OR "
    "regexp_matches(logical_type, '^TimestampType.*(MICROS=M|NANOS=N)'), false)"
)
_LINES = f"max_line_size = {_LONGEST_LINE}, buffer_size = {2 * _LONGEST_LINE}, ignore_errors = true"


def open_files(
    given: str | Path | TextFile, *, needed: Iterable[str], in_cluster: bool = False
) -> tuple[Engine, bool]:
    """Open the files that a path or pattern names; return the engine, and whether they are text files.

    Only the schema is read, not the rows.
    """
    file = given if isinstance(given, TextFile) else TextFile(given)
    pattern = file.path
    paths = _matching(pattern)
    suffix = _suffix(paths[0])
    if any(_suffix(path) != suffix for path in paths[1:]):
        raise ParameterError(f"{str(pattern)!r} matches files of different formats")
    if (file.delimiter, file.encoding) != (None, "utf-8") and suffix not in _DELIMITERS:
        raise ParameterError("⟨delimiter⟩ and ⟨encoding⟩ can only be used with a CSV or TSV file")
    delimiter = file.delimiter or _DELIMITERS.get(suffix, "")
    columns: Sequence[str] = sorted(set(needed))
    if suffix in _PARQUET:
        if file.read_as:
            raise ParameterError(
                "⟨read_as⟩ can only be used with a text file: Parquet declares its types"
            )
        if len(paths) > 1 and not quietly(
            lambda: _alike(paths), doing="reading the schemas", telling=True
        ):
            raise ParameterError(
                f"the files of {str(pattern)!r} do not declare the same columns of the same types"
            )
    elif suffix in _DELIMITERS:
        headers = [_header(path, delimiter, file.encoding) for path in paths]
        if any(header != headers[0] for header in headers):
            raise ParameterError(
                f"the files of {str(pattern)!r} do not have the same columns in the same order"
            )
        columns = headers[0]
        for column in file.read_as:
            if column not in columns:
                raise refuse("read_as", column, f"one of the columns of {str(pattern)!r}")
    if file.encoding != "utf-8":
        if in_cluster:
            raise ParameterError("⟨encoding⟩ cannot be combined with ⟨engine⟩'spark'")
        return _in_another_encoding(paths, columns, delimiter, file.encoding), True

    def read() -> Engine:
        if in_cluster:
            return _in_spark(paths, suffix, columns, delimiter)
        query = _reading(paths, suffix, columns, delimiter)
        return of_query(connected(), query, in_database=False)

    opened = quietly(read, doing="opening the file", telling=True)
    if suffix in _PARQUET:
        return _with_all_times(opened, paths, columns), False
    return opened, True


def _in_another_encoding(
    paths: list[str], columns: Sequence[str], delimiter: str, encoding: str
) -> Engine:
    """Open CSV files that are not in UTF-8; their rows are copied into UTF-8 only when they are loaded.

    DuckDB would stop at an invalid byte if it decoded the files itself.
    """

    def load(_columns: Iterable[str]) -> Any:
        copies = in_utf_8(paths, encoding=encoding, folder=spill_folder())
        connection = connected()
        query = _reading(copies, ".csv", columns, delimiter)
        connection.execute(f"CREATE TEMP VIEW discreet_rows AS {query}")
        return connection

    return of_rows(empty(dict.fromkeys(columns, "VARCHAR")), load)


def _matching(pattern: str | Path) -> list[str]:
    text = str(pattern)
    paths = [text] if Path(text).is_file() else sorted(glob.glob(text, recursive=True))
    paths = [str(Path(path).absolute()) for path in paths if Path(path).is_file()]
    if not paths:
        raise ParameterError(f"no file matches {without_password(text)!r}")
    return paths


def _suffix(path: str) -> str:
    name = path.removesuffix(".gz").lower()
    suffix = Path(name).suffix
    compressed = path.endswith(".gz")
    if suffix in _DELIMITERS or suffix in _JSON_LINES or (suffix in _PARQUET and not compressed):
        return suffix
    allowed = ", ".join((*_DELIMITERS, *_JSON_LINES, *_PARQUET))
    raise ParameterError(
        f"{path!r}: the name of a table's file must end in its format, one of {allowed}"
    )


def _header(path: str, delimiter: str, encoding: str) -> list[str]:
    """Return the first record, which names the columns; it is schema, not data."""

    def first_record() -> list[str]:
        # This decodes a whole block, rows included, so no byte may raise an error.
        with opened_text(path, newline="", encoding=encoding) as file:
            return next(csv.reader(file, delimiter=delimiter), [])

    names = quietly(first_record, doing="reading the header")
    if not names or any(not name.strip() for name in names):
        raise ParameterError(f"{path!r}: the first line must name every column")
    require_names(names, place=f"{path!r}: ")
    return names


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _no_pattern(path: str) -> str:
    """Return the path as an SQL literal; escape everything that DuckDB would read as a pattern."""
    return _literal("".join(f"[{sign}]" if sign in "*?[" else sign for sign in path))


def _list_of(paths: Sequence[str]) -> str:
    return "[" + ", ".join(map(_no_pattern, paths)) + "]"


def _reading(paths: list[str], suffix: str, columns: Sequence[str], delimiter: str) -> str:
    files = _list_of(paths)
    if suffix in _PARQUET:
        # A byte that is not UTF-8 becomes a question mark; otherwise DuckDB would raise an error.
        return f"SELECT * FROM read_parquet({files}, hive_partitioning = false, utf8_validation = 'replace')"  # noqa: S608 - quoted above
    if suffix in _JSON_LINES:
        chosen = ", ".join(
            "json_extract_string(CASE WHEN json_valid(line) THEN line END, "
            f"{_literal(_json_place(name))}) AS {quoted(name)}"
            for name in columns
        )
        # Read it as a CSV file with one column: DuckDB's JSON reader stops at a line above 16 MB.
        return (
            f"SELECT {chosen or 'line'} FROM read_csv({files}, columns = {{'line': 'VARCHAR'}}, "  # noqa: S608
            f"header = false, auto_detect = false, delim = '\x1f', quote = '', escape = '', "
            f"strict_mode = false, {_LINES})"
        )
    as_text = "{" + ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in columns) + "}"
    return (
        f"SELECT * FROM read_csv({files}, columns = {as_text}, header = true, auto_detect = false, "  # noqa: S608
        f"delim = {_literal(delimiter)}, quote = '\"', escape = '\"', "
        # Short rows are padded. The parallel reader refuses to do that if there is a line break inside
        # quotes, and no refusal may depend on a value.
        f"null_padding = true, strict_mode = false, parallel = false, {_LINES})"
    )


def _json_place(key: str) -> str:
    """Return the JSON path of an object's key for DuckDB, or its JSON pointer if the key contains a quote.

    Other keys are not written as pointers, because the pointer 0 also means the first element of a list.
    """
    if '"' not in key:
        return f'$."{key}"'
    return "/" + key.replace("~", "~0").replace("/", "~1")


def _in_spark(paths: list[str], suffix: str, columns: Sequence[str], delimiter: str) -> Engine:
    from pyspark.sql import SparkSession

    from discreet._tables.in_spark import Spark
    from discreet._tables.spark_files import read_json_lines, read_parquet, read_text

    session = SparkSession.builder.getOrCreate()
    if suffix in _PARQUET:
        return Spark(read_parquet(session, paths))
    if suffix in _JSON_LINES:
        return Spark(read_json_lines(session, paths, columns=columns))
    return Spark(read_text(session, paths, columns=columns, delimiter=delimiter))


def _never_raising(paths: Sequence[str]) -> set[str]:
    """Return the columns of moments in microseconds or finer, which never make DuckDB or Spark fail.

    A moment in a coarser unit can exceed the engines' range, and a time of day can be longer than a day: both
    raise an error.
    """
    query = f"SELECT name, {_IS_FINE} FROM parquet_schema({_list_of(paths)})"  # noqa: S608 - quoted
    told = connected().sql(query).fetchall()
    return {name for name, _ in told} - {name for name, is_fine in told if not is_fine}


def _with_all_times(opened: Engine, paths: list[str], columns: Sequence[str]) -> Engine:
    """Reopen Parquet files with Arrow if a time in them might stop the engine; in a cluster, refuse them."""
    timed = {name for name in columns if opened.types.get(name, "").upper().startswith("TIME")}
    far = sorted(timed and timed - _never_raising(paths))
    if far and opened.name == "spark":
        raise ParameterError(
            f"the column {far[0]!r} is not in microseconds, and Spark stops at a value that microseconds "
            "cannot hold: write the files with timestamps in microseconds, or leave ⟨engine⟩'spark' out"
        )
    return _in_arrow(paths, far) if far else opened


def _in_arrow(paths: list[str], columns: Sequence[str]) -> Engine:
    """Open Parquet files with Arrow, which accepts every value of these columns."""
    try:
        import pyarrow.dataset as ds
    except ImportError:
        named = ", ".join(map(repr, columns))
        raise missing_extra(
            f"times in a Parquet file that are not in microseconds ({named}) need PyArrow",
            extra="arrow",
        ) from None
    whole = ds.dataset(paths, format="parquet")
    for path in paths[1:]:
        schema = ds.dataset(path, format="parquet").schema
        if any(schema.field(name).type != whole.schema.field(name).type for name in columns):
            raise ParameterError(f"{path!r} declares times in another unit than {paths[0]!r}")
    engine = of_arrow(whole)
    # Parquet has neither zones nor spans: Arrow reads both from metadata that some writers add.
    engine.zones = dict.fromkeys(engine.zones, "UTC")
    engine.kinds |= {name: "integer" for name, kind in engine.kinds.items() if kind == "span"}
    return engine


def _alike(paths: Sequence[str]) -> bool:
    """Return whether all Parquet files declare the same columns with the same types."""
    schemas = (connected().sql(_reading([path], ".parquet", (), "")) for path in paths)
    declared = [(schema.columns, list(map(str, schema.types))) for schema in schemas]
    return all(each == declared[0] for each in declared)
