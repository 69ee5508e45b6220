"""What a person holds in memory, as a relation of DuckDB: Arrow's tables and data sets, an array, a list.

A NumPy array states its type. A list states none, nor does an array of objects, and a type taken from the
rows would let one of them change how all others are read. So they hold texts, unless their type is stated
(``read_as``). Each value is read by itself, and what is not of the type is missing.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._exact.numbers.exact import refuse
from discreet._tables.engines import is_encodable
from discreet._tables.files import connected
from discreet.errors import ParameterError

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_DECIMALS = Context(prec=38, traps=[])
_LARGEST = 9_200_000_000_000_000_000
"""Ticks of a time, or microseconds: DuckDB's own range of times ends a little further out."""

_TICKS = {"s": 10**6, "ms": 1000, "us": 1, "ns": 1}
_UNITS = {"D": 86_400 * 10**6, **_TICKS}


def declares_nothing(data: list[Any] | NDArray[Any]) -> bool:
    """Whether the values in hand have no type but the one that ``read_as`` states."""
    return isinstance(data, list) or data.dtype.kind == "O"


def in_duckdb(data: Any, read_as: object = None) -> Any:
    """An Arrow table or data set, or an array or list as the column ``value``, as a relation of DuckDB."""
    if not isinstance(data, list | np.ndarray):
        if not hasattr(data, "schema"):
            raise ParameterError(
                f"data of type {type(data).__name__} is not allowed: of Arrow give a table or a data set"
            )
        return connected().from_arrow(data)
    if isinstance(data, np.ndarray) and data.ndim != 1:
        raise ParameterError("an array must have one dimension: it is the column 'value'")
    if declares_nothing(data):
        values, sql = _listed(data, "text" if read_as is None else read_as)
    else:
        values, sql = _declared(data)
    columns = {"value": np.ma.getdata(values), "present": ~np.ma.getmaskarray(values)}
    found = connected().sql(f"SELECT CASE WHEN present THEN {sql} END AS value FROM columns")  # noqa: S608
    assert columns  # which DuckDB looks for by its name
    return found


# ---- an array: its own type, by a public rule ----


def _declared(array: Any) -> tuple[Any, str]:
    """An array of a type that DuckDB knows, and how its values are written in SQL."""
    kind = array.dtype.kind
    if kind in "UT":
        return _listed(array, "text")
    if kind in "biu" or (kind == "f" and array.dtype.itemsize <= 8):
        return array.astype(array.dtype.newbyteorder("=")), "value"
    unit = np.datetime_data(array.dtype)[0] if kind in "mM" else ""
    if unit in (_UNITS if kind == "M" else _TICKS):
        ticks = np.ma.array(array.astype(array.dtype.newbyteorder("="))).view("int64")
        most = _LARGEST // _UNITS[unit]
        inside = np.ma.masked_outside(ticks, -most, most)
        if unit == "D":
            return inside, "DATE '1970-01-01' + value::INTEGER"
        return np.ma.array(
            inside.data.view(array.dtype.newbyteorder("=")), mask=inside.mask
        ), "value"
    raise ParameterError(
        f"an array of type {array.dtype} is not allowed: it must hold numbers, booleans or texts, "
        "datetime64 in D, s, ms, us or ns, or timedelta64 in s, ms, us or ns; array.astype() converts it"
    )


# ---- a list: what it is read as, value by value ----


@dataclass(frozen=True, slots=True)
class _Type:
    """How a value is read, else None; what stands for one that is missing; and the column in SQL."""

    read: Callable[[Any], Any]
    blank: Any
    dtype: Any = object
    sql: str = "value"


def _listed(items: Iterable[Any], read_as: object) -> tuple[Any, str]:
    """The values in a masked array that says which are missing, and how they are written in SQL."""
    kind = _TYPES.get(read_as) if isinstance(read_as, str) else None
    if kind is None:
        raise refuse("read_as", read_as, "one of " + ", ".join(_TYPES))
    read = [_read(kind.read, item) for item in items]
    values = np.empty(len(read), dtype=kind.dtype)
    values[:] = [kind.blank if value is None else value for value in read]
    return np.ma.array(values, mask=[value is None for value in read]), kind.sql


def _read(read: Callable[[Any], Any], item: Any) -> Any:
    try:
        if isinstance(item, np.datetime64 | np.timedelta64):
            item = item.astype(f"{item.dtype.kind}8[us]").item()
        return read(item)
    except Exception:  # of any class: what it raises may quote it
        return None


def _text(item: Any) -> str | None:
    text = str.__str__(item)  # the text itself, of a class made from str too
    return text if is_encodable(text) else None


def _is_number(item: Any) -> bool:
    kinds = int | float | np.integer | np.floating | Decimal | Fraction
    return isinstance(item, kinds) and not isinstance(item, bool)


def _integer(item: Any) -> int | None:
    # First its size: a decimal of a million digits would take minutes.
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
    """A date with a time, in UTC where it has a zone; a date alone is its midnight."""
    if not isinstance(item, datetime.datetime):
        item = datetime.datetime(item.year, item.month, item.day)
    in_utc = item if item.tzinfo is None else item.astimezone(datetime.UTC)
    return _span(in_utc.replace(tzinfo=None) - _EPOCH)


def _time(item: Any) -> int | None:
    time = item.time() if isinstance(item, datetime.datetime) else item
    if not isinstance(time, datetime.time) or time.tzinfo is not None:
        return None
    return _span(datetime.datetime.combine(_EPOCH, time) - _EPOCH)


def _span(item: Any) -> int | None:
    ticks = int(item // _MICROSECOND) if isinstance(item, datetime.timedelta) else None
    return ticks if ticks is not None and abs(ticks) <= _LARGEST else None


_TYPES = {
    "text": _Type(_text, "", sql="value::VARCHAR"),
    "integer": _Type(_integer, 0, np.int64),
    "number": _Type(_number, 0.0, np.float64),
    "decimal": _Type(_decimal, "0", sql="value::VARCHAR::DECIMAL(38, 18)"),
    "boolean": _Type(_boolean, False, np.bool),
    "date": _Type(_date, 0, np.int32, "DATE '1970-01-01' + value"),
    "moment": _Type(_moment, 0, np.int64, "make_timestamp(value)"),
    "time": _Type(_time, 0, np.int64, "TIME '00:00:00' + to_microseconds(value)"),
    "span": _Type(_span, 0, np.int64, "to_microseconds(value)"),
}
