"""Temporary seeds for other libraries' generators, to make a sampled audit repeatable."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np


def replaced(owner: Any, name: str, value: Any) -> AbstractContextManager[Any]:
    """Temporarily replace an attribute; unittest is loaded only when this is used."""
    from unittest.mock import patch

    return patch.object(owner, name, value)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed Python's and NumPy's global generators; restore their state afterwards.

    Generators made by ``numpy.random.default_rng()`` in the meantime are seeded too.

    Example:
        >>> with seeded(7):
        ...     first = random.random()
        >>> with seeded(7):
        ...     first == random.random()
        True
    """
    make, children = np.random.default_rng, np.random.SeedSequence(seed)

    def started(given: Any = None) -> np.random.Generator:
        return make(children.spawn(1)[0] if given is None else given)

    states = random.getstate(), np.random.get_state()  # noqa: NPY002  # other libraries use this generator
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        with replaced(np.random, "default_rng", started):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
