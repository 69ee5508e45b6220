"""Arrays, lists and the columns of pandas frames as DuckDB columns.

A NumPy array declares its type. A list or an array of objects declares none, and a type inferred from the
rows would let one row change how all others are read. So their values are read as texts, unless ``read_as``
states another type. Each value is read by itself, and a value of a different type counts as missing.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._exact.numbers.exact import refuse
from discreet._tables.engines import is_encodable, quoted
from discreet._tables.in_duckdb import LARGEST, DuckDB, empty, holding, of_known, of_rows
from discreet._tables.moments import micros_in, micros_of
from discreet.errors import ParameterError

_EPOCH = datetime.datetime(1970, 1, 1)
_DECIMALS = Context(prec=38, traps=[])
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True)
class Held:
    """A column: its values, which of them are missing, and how to write them in SQL.

    Attributes:
        values: a masked NumPy array, or a chunked Arrow array.
        sql: the column as an SQL expression, in which ``{}`` stands for a value.
        kind: ``moment`` or ``span`` if the values are whole-number ticks, else empty.
        ticks: how many ticks make a second; 0 if the values are not ticks.
    """

    values: Any
    sql: str = "{}"
    kind: str = ""
    ticks: int = 0

    @staticmethod
    def of_arrow(column: Any) -> Held | None:
        """Return an Arrow column as a ``Held``, or None if DuckDB does not know its type."""
        import pyarrow as pa

        kind = column.type
        if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
            name = "moment" if pa.types.is_timestamp(kind) else "span"
            return Held(ticks_of(column), kind=name, ticks=TICKS[kind.unit])
        known = of_known(pa.table({"value": column.slice(0, 0)}))
        return None if known is None else Held(column)

    def taken(self, places: NDArray[Any]) -> Held:
        """Return the values at these positions; position -1 gives a missing value."""
        if not isinstance(self.values, np.ma.MaskedArray):
            import pyarrow as pa

            missing = np.asarray(places < 0)
            chosen = self.values.take(pa.array(np.where(missing, 0, places), mask=missing))
            return replace(self, values=chosen)
        # Append a missing value, which position -1 selects.
        blank = np.array(["" if self.values.dtype == object else 0], dtype=self.values.dtype)
        values = np.append(np.ma.getdata(self.values), blank)
        missing = np.append(np.ma.getmaskarray(self.values), True)
        return replace(self, values=np.ma.array(values[places], mask=missing[places]))


def ticks_of(column: Any) -> Any:
    """Return an Arrow column of moments or spans as its underlying whole numbers."""
    import pyarrow as pa

    return pa.chunked_array([chunk.view(pa.int64()) for chunk in column.chunks], pa.int64())


def of_columns(
    twins: Mapping[str, Held | None],
    known_as: Mapping[str, str],
    load: Callable[[str], Held | None],
    *,
    kinds: Mapping[str, str],
) -> DuckDB:
    """Open columns as one table; the rows of a column are loaded when they are needed.

    ``twins`` holds an empty copy of each column, or None for a column that questions cannot use.
    """
    known = {name: twin for name, twin in twins.items() if twin is not None}
    timed = {name: twin for name, twin in known.items() if twin.ticks}
    return of_rows(
        _holding(known) if known else empty({}),
        lambda columns: _holding({name: load(name) for name in columns}),
        known_as=known_as,
        kinds={name: twin.kind for name, twin in timed.items()} | dict(kinds),
        ticks={name: twin.ticks for name, twin in timed.items()},
    )


def _holding(columns: Mapping[str, Held | None]) -> Any:
    """Return a DuckDB connection that holds these columns."""
    parts, arrays = [], dict[str, Any]()
    for place, (name, held) in enumerate(columns.items()):
        assert held is not None, "a column of a type that cannot be asked about"
        value, sql = f"c{place}", held.sql.format(f"c{place}")
        arrays[value] = held.values
        if isinstance(held.values, np.ma.MaskedArray):
            arrays[value] = np.ma.getdata(held.values)
            missing = np.ma.getmask(held.values)
            if missing is not np.ma.nomask and missing.any():
                arrays[f"p{place}"] = ~missing
                sql = f"CASE WHEN p{place} THEN {sql} END"
        parts.append(f"{sql} AS {quoted(name)}")
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        import pyarrow as pa

        return holding(pa.table(arrays), ", ".join(parts))
    return holding(arrays, ", ".join(parts))


def of_values(data: Any, read_as: object = None) -> DuckDB:
    """Open an array or a list as a table with one column, ``value``."""
    if isinstance(data, np.ndarray) and data.ndim != 1:
        raise ParameterError("an array must have one dimension: it becomes the column 'value'")
    declares = not declares_nothing(data)

    def held(values: Any) -> Held:
        found = (
            of_array(values)
            if declares
            else of_list(values, "text" if read_as is None else read_as)
        )
        if found is None:
            raise ParameterError(
                f"an array of type {data.dtype} is not allowed: it must hold numbers, booleans or texts, "
                "datetime64 in D, s, ms, us or ns, or timedelta64 in s, ms, us or ns; array.astype() "
                "converts it"
            )
        return found

    return of_columns(
        {"value": held(data[:0])},
        {"value": str(data.dtype) if declares else "list"},
        lambda _column: held(data),
        kinds={} if declares or read_as is not None else {"value": "object"},
    )


def declares_nothing(data: list[Any] | NDArray[Any]) -> bool:
    """Return whether the values in memory have no type except the one stated by ``read_as``."""
    return isinstance(data, list) or data.dtype.kind == "O"


# ---- arrays: their own type, by a public rule ----


def of_array(array: NDArray[Any]) -> Held | None:
    """Return an array as a column, or None if DuckDB does not know its type."""
    kind = array.dtype.kind
    if kind in "UT":
        return texts_of(array)
    plain = np.ma.array(array, copy=False)
    if kind in "biu" or (kind == "f" and array.dtype.itemsize <= 8):
        single = kind == "f" and array.dtype.itemsize < 4
        return Held(
            plain.astype(np.float32 if single else array.dtype.newbyteorder("="), copy=False)
        )
    if kind not in "mM":
        return None
    unit = np.datetime_data(array.dtype)[0]
    ticks = plain.astype(array.dtype.newbyteorder("="), copy=False).view("int64")
    ticks = np.ma.masked_where(np.ma.getdata(ticks) == np.iinfo(np.int64).min, ticks, copy=False)
    if unit == "D" and kind == "M":
        inside = np.ma.masked_outside(ticks, -(2**31) + 2, 2**31 - 2)
        return Held(inside, "DATE '1970-01-01' + {}::INTEGER")
    if unit not in TICKS:
        return None
    return Held(ticks, kind="moment" if kind == "M" else "span", ticks=TICKS[unit])


def texts_of(values: Iterable[Any]) -> Held:
    """Return values as a column of texts; any value that is not text, or not valid Unicode, is missing."""
    texts = [
        value
        if type(value) is str and (value.isascii() or is_encodable(value))
        else _read(_text, value)
        for value in values
    ]
    if "pyarrow" in sys.modules:  # pandas imports it if installed; DuckDB reads its texts faster
        import pyarrow as pa

        return Held(pa.chunked_array([pa.array(texts, pa.large_string())]))
    held = np.empty(len(texts), dtype=object)
    held[:] = ["" if text is None else text for text in texts]
    return Held(np.ma.array(held, mask=[text is None for text in texts]), "{}::VARCHAR")


# ---- lists: each value is read as the stated type ----


@dataclass(frozen=True, slots=True)
class _Type:
    """A type that ``read_as`` may name: how to read a value, what stands for a missing one, and the SQL."""

    read: Callable[[Any], Any]
    blank: Any
    dtype: Any = object
    sql: str = "{}"


def of_list(items: Iterable[Any], read_as: object) -> Held:
    """Return the items as a column of the type ``read_as``, each read by itself."""
    kind = _TYPES.get(read_as) if isinstance(read_as, str) else None
    if kind is None:
        raise refuse("read_as", read_as, "one of " + ", ".join(_TYPES))
    read = [_read(kind.read, item) for item in items]
    values = np.empty(len(read), dtype=kind.dtype)
    values[:] = [kind.blank if value is None else value for value in read]
    return Held(np.ma.array(values, mask=[value is None for value in read]), kind.sql)


def _read(read: Callable[[Any], Any], item: Any) -> Any:
    try:
        if isinstance(item, np.datetime64 | np.timedelta64):
            item = item.astype(f"{item.dtype.kind}8[us]").item()
        return read(item)
    except Exception:  # whatever its class, its message may quote the value
        return None


def _text(item: Any) -> str | None:
    text = str.__str__(item)  # the text itself, even if its class is derived from str
    return text if is_encodable(text) else None


def _is_number(item: Any) -> bool:
    kinds = int | float | np.integer | np.floating | Decimal | Fraction
    return isinstance(item, kinds) and not isinstance(item, bool)


def _integer(item: Any) -> int | None:
    # Check its size first: a decimal of a million digits would take minutes.
    if not (_is_number(item) and -(2**63) <= item < 2**63):
        return None
    whole = int(item)
    return whole if whole == item else None


def _number(item: Any) -> float | None:
    return float(item) if _is_number(item) else None


def _decimal(item: Any) -> str | None:
    if not _is_number(item):
        return None
    rounded = Decimal(str(item)).quantize(Decimal("1e-18"), context=_DECIMALS)
    return f"{rounded:f}" if rounded.is_finite() else None


def _boolean(item: Any) -> bool | None:
    return bool(item) if isinstance(item, bool | np.bool) else None


def _date(item: Any) -> int | None:
    days = item.toordinal() - _EPOCH.toordinal() if isinstance(item, datetime.date) else None
    return days if days is not None and abs(days) < 2**31 else None


def _moment(item: Any) -> int | None:
    """Return the microseconds from 1970 to a moment, in UTC if it has a zone; a date means midnight."""
    if not isinstance(item, datetime.datetime):
        item = datetime.datetime(item.year, item.month, item.day)
    return _ticks(micros_of(item))


def _time(item: Any) -> int | None:
    time = item.time() if isinstance(item, datetime.datetime) else item
    if not isinstance(time, datetime.time) or time.tzinfo is not None:
        return None
    return _ticks(micros_of(datetime.datetime.combine(_EPOCH, time)))


def _span(item: Any) -> int | None:
    return _ticks(micros_in(item)) if isinstance(item, datetime.timedelta) else None


def _ticks(micros: object) -> int | None:
    """Return microseconds if they are within DuckDB's range, else None; pandas' NaT arrives as NaN."""
    return micros if isinstance(micros, int) and abs(micros) <= LARGEST else None


_TYPES = {
    "text": _Type(_text, "", sql="{}::VARCHAR"),
    "integer": _Type(_integer, 0, np.int64),
    "number": _Type(_number, 0.0, np.float64),
    "decimal": _Type(_decimal, "0", sql="{}::VARCHAR::DECIMAL(38, 18)"),
    "boolean": _Type(_boolean, False, np.bool),
    "date": _Type(_date, 0, np.int32, "DATE '1970-01-01' + {}"),
    "moment": _Type(_moment, 0, np.int64, "make_timestamp({})"),
    "time": _Type(_time, 0, np.int64, "TIME '00:00:00' + to_microseconds({})"),
    "span": _Type(_span, 0, np.int64, "to_microseconds({})"),
}
