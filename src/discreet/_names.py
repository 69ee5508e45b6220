"""Public names that are loaded on first use, so that importing the package stays fast."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any


def loaded(package: dict[str, Any], homes: Mapping[str, str], name: str) -> Any:
    """Load a name of a package from its module, and keep it in the package.

    Args:
        package: the package's ``globals()``.
        homes: for each name the module, within the package.
        name: the name that was not found.
    """
    if name not in homes:
        raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
    module = importlib.import_module(f"{package['__name__']}.{homes[name]}")
    package[name] = getattr(module, name)
    return package[name]
