"""A function given by file and name, loaded when it is called and never while planning."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class FunctionInFile:
    """A function in a Python file; a plan can hold it without running the file."""

    file: str
    function: str

    def __call__(self, *given: Any) -> Any:
        """Call the function."""
        return self.loaded()(*given)

    def loaded(self) -> Any:
        """Return the function; the first call in a process runs the file."""
        return function_in(self.file, self.function)

    @property
    def __name__(self) -> str:
        return self.function

    def __str__(self) -> str:
        return self.function


@cache
def function_in(file: str, name: str) -> Any:
    """Run a Python file and return a function from it."""
    specification = importlib.util.spec_from_file_location("discreet_function_in_file", file)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return getattr(module, name)
