"""A score of the owner's own, by its file and name: loaded where it is called, never where it is planned."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class OwnerScore:
    """A function in a file of the owner's; a plan can hold it without importing the file."""

    file: str
    function: str

    def __call__(self, data: Any, candidate: Any) -> Any:
        """The score of a candidate."""
        return self.loaded()(data, candidate)

    def loaded(self) -> Any:
        """The function; the first call in a process runs the owner's file."""
        return _loaded(self.file, self.function)

    def __str__(self) -> str:
        return self.function


@cache
def _loaded(file: str, name: str) -> Any:
    specification = importlib.util.spec_from_file_location("discreet_owner_scores", file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return getattr(module, name)
