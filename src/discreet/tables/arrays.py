"""What a person holds in memory, as a relation of DuckDB: Arrow's tables and data sets, an array, a list."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.errors import ParameterError
from discreet.tables.engines import is_encodable
from discreet.tables.files import connected


def in_duckdb(data: Any) -> Any:
    """An Arrow table or data set, or an array or list as the column ``value``, as a relation of DuckDB."""
    connection = connected()
    if not isinstance(data, list | np.ndarray):
        if not hasattr(data, "schema"):
            raise ParameterError(
                f"data of type {type(data).__name__} is not allowed: of Arrow give a table or a data set"
            )
        return connection.from_arrow(data)
    array = np.asarray(data)
    if array.ndim != 1:
        raise ParameterError("an array or list must have one dimension: it is the column 'value'")
    if array.dtype.kind not in "iufbM":
        # A list has no declared type: what is no text is null, as in a column of objects.
        texts = [
            value if isinstance(value, str) and is_encodable(value) else None
            for value in array.tolist()
        ]
        array = np.empty(len(texts), dtype=object)
        array[:] = texts
    columns = {"value": array}
    kind = "::VARCHAR" if array.dtype.kind == "O" else ""
    found = connection.sql(f"SELECT value{kind} AS value FROM columns")  # noqa: S608 - DuckDB sees the name
    assert columns
    return found
