"""Temporary seeds for other libraries' generators, so that an audit by sampling can be repeated."""

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
    """Seed Python's and NumPy's own generators; afterwards restore their state.

    A generator that ``numpy.random.default_rng()`` makes in the meantime is seeded too.

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

    states = random.getstate(), np.random.get_state()  # noqa: NPY002  # the generator that others draw from
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    try:
        with replaced(np.random, "default_rng", started):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
