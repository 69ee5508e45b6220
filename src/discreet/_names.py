"""Public names that are loaded on first use, so that importing the package stays fast."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any


def loaded(package: dict[str, Any], homes: Mapping[str, str], name: str) -> Any:
    """Load a public name from its module, and store it in the package.

    Args:
        package: the package's ``globals()``.
        homes: the module of each name, relative to the package.
        name: the name that was not found.
    """
    if name not in homes:
        raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
    module = importlib.import_module(f"{package['__name__']}.{homes[name]}")
    package[name] = getattr(module, name)
    return package[name]
