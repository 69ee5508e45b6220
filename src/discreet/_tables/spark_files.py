"""Text files read in Spark's tasks by Python's own reader, so that no single row can make it fail.

Spark's CSV reader fails at a row with more than 20,480 fields, leaves out files whose names begin with an
underscore or a dot, and treats a name as a pattern. So one row could decide whether a question is answered
at all, or Spark could read a file other than the one named.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from discreet._tables.encodings import opened_text
from discreet.errors import ParameterError

_ROWS_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class ReadRecords:
    """The work of a Spark task: read every record of the files at the given paths, as one text per column."""

    columns: tuple[str, ...]
    delimiter: str | None
    """The separator of a record's fields, or None if a record is a line."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the records of the files whose paths are in the batches."""
        import pyarrow as pa

        csv.field_size_limit(sys.maxsize)
        schema = pa.schema([(name, pa.string()) for name in self.columns])
        for batch in batches:
            for path in batch.column(0).to_pylist():
                with opened_text(path, newline="\n" if self.delimiter is None else "") as file:
                    records = self._records(file)
                    while rows := list(islice(records, _ROWS_AT_ONCE)):
                        texts = [pa.array(texts, pa.string()) for texts in zip(*rows, strict=True)]
                        yield pa.RecordBatch.from_arrays(texts, schema=schema)

    def _records(self, file: TextIO) -> Iterator[Sequence[str | None]]:
        if self.delimiter is None:
            yield from ([line.rstrip("\r\n")] for line in file)
            return
        width = len(self.columns)
        reader = csv.reader(file, delimiter=self.delimiter)
        next(reader, None)  # the header
        while True:
            try:
                record: list[str | None] = [*next(reader)]
            except csv.Error:
                continue  # a record that cannot be split is dropped
            except StopIteration:
                return
            yield (record + [None] * width)[:width]


def read_text(session: Any, paths: Sequence[str], *, columns: Sequence[str], delimiter: str) -> Any:
    """Return a frame with these columns of CSV files, all as text."""
    return _records(session, paths, ReadRecords(tuple(columns), delimiter))


def read_json_lines(session: Any, paths: Sequence[str], *, columns: Sequence[str]) -> Any:
    """Return a frame with these keys of JSON lines files as its columns, all as text."""
    from pyspark.sql import functions as f

    lines = _records(session, paths, ReadRecords(("value",), None))
    return lines.select(
        *(f.get_json_object("value", f"$['{_json_key(name)}']").alias(name) for name in columns)
    )


def read_parquet(session: Any, paths: Sequence[str]) -> Any:
    """Return a frame of exactly the named Parquet files."""
    for path in paths:
        name = Path(path).name
        if name.startswith(("_", ".")) or name.endswith("._COPYING_"):
            raise ParameterError(f"{path!r}: Spark skips files with such names; rename it")
    # Dates before 1583 then mean the same as elsewhere, and raise no error.
    reader = session.read.option("datetimeRebaseMode", "CORRECTED")
    return reader.option("int96RebaseMode", "CORRECTED").parquet(*map(_no_pattern, paths))


def _no_pattern(path: str) -> str:
    """Escape everything in a path that Spark would read as a pattern."""
    escaped = "".join(f"\\{sign}" if sign in "{}[]*?\\" else sign for sign in path)
    return f"file://{escaped}"


def _records(session: Any, paths: Sequence[str], read: ReadRecords) -> Any:
    from pyspark.sql.types import StringType, StructField, StructType

    named = session.createDataFrame([(path,) for path in paths], "path string")
    shape = StructType([StructField(name, StringType()) for name in read.columns])
    return named.repartition(len(paths)).mapInArrow(read, shape)


def _json_key(name: str) -> str:
    if "'" in name or "]" in name:
        raise ParameterError(f"⟨column⟩{name!r} is not allowed: Spark cannot look up such a key")
    return name
