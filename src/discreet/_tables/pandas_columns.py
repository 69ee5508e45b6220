"""What pandas declares of its columns."""

from __future__ import annotations

from typing import Any

from discreet.errors import ParameterError


def require_names(columns: list[Any]) -> None:
    """Column names are schema: public, and shown."""
    if not all(isinstance(name, str) for name in columns):
        raise ParameterError(
            "the columns of a frame must be named by texts, not by numbers or other things: "
            "frame.rename(columns=str) does that"
        )
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"two columns are named {twice!r}: rename one of them")


def undeclared_kinds(native: Any) -> dict[str, str]:
    """The kinds of the columns that Narwhals would tell by looking at their rows."""
    kinds = {str(name): _kind(dtype) for name, dtype in native.dtypes.items()}
    return {name: kind for name, kind in kinds.items() if kind}


def _kind(dtype: Any) -> str:
    """The kind of a pandas type that Narwhals does not tell from the type alone, else an empty text."""
    if str(dtype) == "object":
        return "object"
    if str(dtype) != "category":
        return ""
    held = str(dtype.categories.dtype)
    return "text" if held.startswith(("object", "str")) else "other"
