"""Run user-supplied functions on rows, in processes that share nothing with each other."""

from __future__ import annotations

from discreet._isolated.blocks import BlockLimits, BlockRunner, is_enclosed, require_fork
from discreet._isolated.captured import packed
from discreet._isolated.from_file import FunctionInFile

__all__ = ["BlockLimits", "BlockRunner", "FunctionInFile", "is_enclosed", "packed", "require_fork"]
