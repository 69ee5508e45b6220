"""Uploaded scores, read by :mod:`discreet._tables.score_files` within the page's limits.

The user has declared these scores public. Even so, error messages contain no score.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet._exact.sampling import SecureBits
from discreet._tables.score_files import TEXT_SUFFIXES, scores_in, suffix_of
from discreet.errors import ParameterError, ScoresError
from discreet.scores import Scores

MOST_BYTES = 32 * 1024 * 1024
"""The largest file that the page reads."""
MOST_CANDIDATES = 1_000_000
"""The largest number of candidates on the page."""
LARGEST_SCORE = 1e15
"""The largest magnitude of a score that the page shows."""
LONGEST_LABEL = 200
MOST_FILES = 8
MOST_DRAFTS = 64
"""The largest number of pages for which changed scores are stored."""
MOST_CELLS = 4_000_000
"""The largest total number of candidates in all files."""
OPENED = "opened"
"""The key of the file from the command line; it is never dropped."""


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """Labels and values of a file, in the file's order."""

    name: str
    labels: tuple[str, ...]
    values: npt.NDArray[Any]


def read_scores(name: str, content: bytes) -> ScoreFile:
    r"""Read scores from a file's bytes.

    Example:
        >>> read_scores("visits.csv", b"diagnosis,patients\nflu,412\ncold,398\n").labels
        ('flu', 'cold')
    """
    base = PurePath(name).name
    suffix = suffix_of(base, allowed=TEXT_SUFFIXES)
    if len(content) > MOST_BYTES:
        raise ParameterError(f"the file is larger than {MOST_BYTES // 2**20} MB")
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    labels, values, _ = scores_in(text, suffix, most=MOST_CANDIDATES)
    return score_file(base, Scores(values, candidates=labels, sensitivity=1))


def score_file(name: str, scores: Scores) -> ScoreFile:
    """Convert scores to the labels and numbers that the page shows."""
    if len(scores) > MOST_CANDIDATES:
        raise ScoresError(f"there are more than {MOST_CANDIDATES:,} candidates")
    values = scores.values.tolist()
    if any(abs(value) > LARGEST_SCORE for value in values):
        raise ScoresError("a score is larger than this page can show: at most 10^15, up or down")
    labels = tuple(_label(str(label)) for label in scores.candidates)
    if len(set(labels)) != len(labels):
        raise ScoresError("two candidates have the same label after this page has shortened it")
    whole = all(isinstance(value, int) for value in values)
    shown = np.array(
        values if whole else list(map(float, values)), dtype=np.int64 if whole else np.float64
    )
    return ScoreFile(PurePath(name).name[:LONGEST_LABEL], labels, shown)


def _label(text: str) -> str:
    """Return a text as a label: short, printable and on one line."""
    shown = " ".join(text.split())[:LONGEST_LABEL]
    return (
        shown if shown.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in shown)
    )


class UploadStore:
    """Score files in memory, each upload under an unguessable name, so that no page can read another's."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, ScoreFile] = OrderedDict()
        self._drafts: OrderedDict[str, tuple[str, dict[str, float]]] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, file: ScoreFile, *, key: str | None = None) -> str:
        """Store a file and return its name; at the limits, drop the files that were used least recently."""
        name = key or f"{SecureBits().integer(96):024x}"
        with self._lock:
            self._files[name] = file
            while len(self._files) > MOST_FILES or self._cells() > MOST_CELLS:
                oldest = next(kept for kept in self._files if kept not in (OPENED, name))
                del self._files[oldest]
        return name

    def get(self, name: str) -> ScoreFile:
        """Return the file stored under this name."""
        with self._lock:
            file = self._files.get(name)
            if file is None:
                raise ParameterError("the file is no longer held in memory: open it again")
            self._files.move_to_end(name)
            return file

    def keep_draft(self, page: str, source: str, edits: dict[str, float]) -> None:
        """Store a page's changes to its scores, in case the page is reloaded."""
        with self._lock:
            self._drafts.pop(page, None)
            self._drafts[page] = (source, edits)
            while len(self._drafts) > MOST_DRAFTS:
                self._drafts.popitem(last=False)

    def draft(self, page: str, source: str) -> dict[str, float]:
        """Return a page's changes to the scores of ``source``; empty if its draft is for another source."""
        with self._lock:
            kept, edits = self._drafts.get(page, ("", {}))
            return edits if kept == source else {}

    def _cells(self) -> int:
        return sum(len(file.labels) for file in self._files.values())
