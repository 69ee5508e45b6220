"""Scores that pages have opened: kept in memory only, few, and forgotten oldest first."""

from __future__ import annotations

import threading
from collections import OrderedDict

from discreet.errors import ParameterError
from discreet.explore.uploads import ScoreFile
from discreet.sampling import SecureBits

MOST_FILES = 8
MOST_CELLS = 4_000_000
"""How many candidates all files together may have."""
OPENED = "opened"
"""The name under which the file of the command line is kept: it is never forgotten."""


class Shelf:
    """Files by an unguessable name, so that one page does not meet another's."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, ScoreFile] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, file: ScoreFile, *, key: str | None = None) -> str:
        """Keep a file and return its name; the oldest go when there are too many."""
        name = key or f"{SecureBits().integer(96):024x}"
        with self._lock:
            self._files[name] = file
            while len(self._files) > MOST_FILES or self._cells() > MOST_CELLS:
                oldest = next(kept for kept in self._files if kept not in (OPENED, name))
                del self._files[oldest]
        return name

    def get(self, name: str) -> ScoreFile:
        """The file kept under this name."""
        with self._lock:
            file = self._files.get(name)
            if file is None:
                raise ParameterError("the file is no longer held in memory: open it again")
            self._files.move_to_end(name)
            return file

    def _cells(self) -> int:
        return sum(len(file.labels) for file in self._files.values())
