"""The engine Spark, which counts people in a cluster, in a PySpark frame or in files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet._tables.engines import Columns, Engine, Places


class Spark(Engine):
    """A table in Spark: a PySpark frame."""

    name = "spark"

    def __init__(self, frame: Any) -> None:
        types = {each.name: each.dataType.simpleString() for each in frame.schema}
        super().__init__("{discreet_rows}", types)
        self._frame = frame

    @staticmethod
    def quoted(name: str) -> str:
        """Quote an identifier with backticks, as Spark requires."""
        return "`" + name.replace("`", "``") + "`"

    def text(self, name: str) -> str:
        """Return the SQL of a text's bytes, to which no collation applies."""
        return f"CAST(CAST({self.column(name)} AS STRING) AS BINARY)"

    def whole_part(self, number: str) -> str:
        """Return SQL that rounds down; numbers from 9e15 on, which have no fraction, are left unchanged.

        The result of Spark's ``floor`` has 64 bits, which very large numbers would exceed.
        """
        return (
            f"CASE WHEN abs({number}) < 9e15 THEN CAST(floor({number}) AS DOUBLE) ELSE {number} END"
        )

    def trimmed(self, text: str) -> str:
        """Return SQL that removes the spaces and tabs around a text."""
        return f"trim(BOTH ' \t' FROM {text})"

    def matches(self, text: str, pattern: str) -> str:
        """Return the SQL condition that a text matches a Java regular expression."""
        return f"{text} RLIKE r'{pattern}'"

    spelling = ("r'", "unix_date({})")
    week = (
        "concat(lpad(CAST(extract(YEAROFWEEK FROM {0}) AS STRING), 4, '0'), '-W', "
        "lpad(CAST(weekofyear({0}) AS STRING), 2, '0'))"
    )

    def position(self, name: str) -> str:
        """Return SQL for ``position``; each type has its own conversion."""
        held, kind, declared = self.quoted(name), self.kinds[name], self.types[name]
        if kind == "date":
            return f"CAST(unix_date({held}) AS DOUBLE)"
        if kind == "time":
            return f"CAST(CAST({held} AS DECIMAL(14,6)) AS DOUBLE)"
        if kind == "span":
            parts = [f"CAST(extract(SECOND FROM {held}) * 1000000 AS BIGINT)"]
            for unit, size in (("DAY", 86_400), ("HOUR", 3600), ("MINUTE", 60)):
                parts.append(f"CAST(extract({unit} FROM {held}) AS BIGINT) * {size * 10**6}")
            return f"CAST({' + '.join(parts)} AS DOUBLE) / 1e6"
        zero = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
        micros = f"unix_micros({held})"
        if declared == "timestamp_ntz":
            micros = f"timestampdiff(MICROSECOND, {zero}, {held})"
        return f"CAST({micros} AS DOUBLE) / 1e6"

    def hashed(self, *parts: str, bits: int) -> str:
        """Return SQL for the first ``bits`` bits of Spark's xxHash64."""
        return f"shiftrightunsigned(xxhash64({', '.join(parts)}), {64 - bits})"

    def key_list(self, held: Places) -> str:
        """Return a SELECT of keys and positions, with one literal for all keys and one for all positions."""
        words, places = (",".join(str(pair[part]) for pair in held) for part in (0, 1))
        if not held:
            return "SELECT CAST(NULL AS STRING) AS word, 0 AS place WHERE false"
        zipped = f"arrays_zip(split('{words}', ','), split('{places}', ','))"
        both = f"SELECT explode({zipped}) AS pair"
        return f"SELECT pair.`0` AS word, CAST(pair.`1` AS BIGINT) AS place FROM ({both})"  # noqa: S608

    def frame(self, statement: str) -> Any:
        """Return the result of a statement as a frame."""
        text = statement.replace("{", "{{").replace("}", "}}")
        text = text.replace("{{discreet_rows}}", "{discreet_rows}")
        return self._frame.sparkSession.sql(text, discreet_rows=self._frame)

    def try_out(self, statement: str) -> None:
        """Run the statement on no rows."""
        self.frame(statement).where("false").collect()

    def columns(self, statement: str, names: Sequence[str]) -> Columns:
        """Run a statement and return its result as NumPy columns, through Arrow."""
        table = self.frame(statement).toArrow()
        return {name: table.column(name).to_numpy() for name in names}

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement and return its result as rows of Python values."""
        return [tuple(row) for row in self.frame(statement).collect()]
