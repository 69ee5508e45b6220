"""A long list of public candidates as a table beside the data, in the data's own engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def keys_beside(frame: Any, engine: str, keys: Sequence[Any]) -> Any:
    """The rows of ``frame`` whose ``value`` is one of the keys, which are all different."""
    import narwhals as nw

    native = frame.to_native()
    if engine == "duckdb":
        return nw.from_native(_duckdb(native, keys))
    if engine == "polars":
        import polars as pl

        table: Any = pl.DataFrame({"value": list(keys)}).lazy()
    elif engine == "pandas":
        import pandas as pd

        table = pd.DataFrame({"value": list(keys)})
    else:
        import pandas as pd

        table = native.sparkSession.createDataFrame(pd.DataFrame({"value": list(keys)}))
    return frame.join(nw.from_native(table).lazy(), on="value", how="semi")


def _duckdb(relation: Any, keys: Sequence[Any]) -> Any:
    # A relation's connection is its own: the list travels inside a query on that very relation.
    listed = ", ".join(_literal(key) for key in keys)
    return relation.query(
        "discreet_rows",
        "SELECT * FROM discreet_rows SEMI JOIN "  # noqa: S608 - literals are quoted
        f"(SELECT unnest([{listed}]) AS discreet_key) ON value = discreet_key",
    )


def _literal(key: Any) -> str:
    if isinstance(key, str):
        return "'" + key.replace("'", "''") + "'"
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int | float):
        return repr(key)
    return f"DATE '{key.isoformat()}'"
