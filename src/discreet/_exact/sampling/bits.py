"""Random bits. Only this module asks the operating system for randomness.

A release creates its own :class:`SecureBits` and discards it. The first ``KERNEL_BYTES`` come from the
kernel, and a request that needs more is served by AES-256 in counter mode, with a new key from the kernel for
each source. Uniform integers are made from the bits by rejection (docs/proofs/sampling.md, lemmas 1 and 2).
"""

from __future__ import annotations

import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet._exact.gaps import Indices
from discreet._exact.numbers.exact import refuse
from discreet.errors import DiscreetError, ParameterError

Words: TypeAlias = NDArray[np.uint64]
"""Unsigned words; words of 8 or 32 bits may have a type of exactly that size."""

KERNEL_BYTES = 8192
"""The number of bytes that a source takes from the kernel before it switches to the cipher."""

_SHORT: dict[int, Any] = {8: np.dtype("u1"), 32: np.dtype("<u4")}
_ZEROS = bytes(1 << 16)
_BLANK_NONCE = bytes(16)  # safe because no key is ever used for two streams


class Bits(Protocol):
    """A source of independent uniform bits."""

    @property
    def scripted(self) -> bool:
        """Whether the bits can be predicted. If so, the source must never be used for a release."""
        ...

    def words(self, count: int, *, width: int = 64) -> Words:
        """Return ``count`` independent uniform integers below ``2**width``, for a width of 1 to 64."""
        ...

    def integer(self, width: int) -> int:
        """Return one uniform integer below ``2**width``, for any width."""
        ...


class _ByteBits(ABC):
    """Words and integers cut from a stream of uniform bytes."""

    __slots__ = ()

    @abstractmethod
    def _bytes(self, count: int) -> bytes:
        """Return the next ``count`` bytes of the stream."""

    def words(self, count: int, *, width: int = 64) -> Words:
        """Return ``count`` independent uniform integers below ``2**width``, in a type that can hold them."""
        if width in _SHORT:
            return np.frombuffer(self._bytes(count * width >> 3), _SHORT[width])
        drawn: Words = np.frombuffer(self._bytes(8 * count), "<u8")
        return drawn if width == 64 else drawn >> np.uint64(64 - width)

    def integer(self, width: int) -> int:
        """Return one uniform integer below ``2**width``."""
        return int.from_bytes(self._bytes((width + 7) >> 3), "little") >> (-width & 7)


def is_generator(thing: object) -> bool:
    """Return whether an object is a random generator of Python or NumPy, without drawing from it."""
    # If the generator's module is not loaded, the object cannot be one. Loading it here would be slow.
    python, numpy = sys.modules.get("random"), sys.modules.get("numpy.random")
    known = [getattr(python, "Random", None)]
    known += [getattr(numpy, name, None) for name in ("RandomState", "Generator")]
    return isinstance(thing, tuple(kind for kind in known if kind is not None))


@cache
def _ciphers() -> tuple[Any, Any, Any]:
    # Imported here, because the import takes 30 ms and a small selection does not need it.
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher, algorithms.AES, modes.CTR(_BLANK_NONCE)


def _keystream(key: bytes) -> Any:
    cipher, aes, counter_mode = _ciphers()
    return cipher(aes(key), counter_mode).encryptor()


def _expand(encryptor: Any, count: int) -> bytes:
    stream: bytes = encryptor.update(_ZEROS[:count] if count <= len(_ZEROS) else bytes(count))
    return stream


class _Family:
    """The number of forks that led to this process, and the lock for creating keys.

    A child process gets a copy of every cipher state. Its process id distinguishes it from the parent, and
    the fork count does so even if process ids have wrapped around.
    """

    forks = 0
    keying = threading.Lock()

    @classmethod
    def born(cls) -> None:
        """Count the fork and replace the lock; called first in every child process."""
        cls.forks += 1
        # The old lock may be held by a thread that does not exist in the child.
        cls.keying = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Family.born)


def process() -> tuple[int, int]:
    """Return numbers that distinguish this process from any other that may have a copy of its memory."""
    return os.getpid(), _Family.forks


class SecureBits(_ByteBits):
    """A new source of secure random bits for one release.

    Bits are never repeated: a forked child, a copy and an unpickled source all start with a new key, and
    threads that share a source take turns.

    Example:
        >>> SecureBits().words(3).shape
        (3,)
    """

    __slots__ = ("_encryptor", "_kernel_left", "_lock", "_owner")

    def __init__(self) -> None:
        self._kernel_left = KERNEL_BYTES
        self._encryptor: Any = None
        self._owner = (0, 0)
        self._lock = threading.Lock()

    @property
    def scripted(self) -> bool:
        """Always False: secure bits cannot be predicted."""
        return False

    def _bytes(self, count: int) -> bytes:
        if count <= self._kernel_left:
            self._kernel_left -= count
            return os.urandom(count)
        owner = process()
        if self._owner != owner:
            with _Family.keying:
                if self._owner != owner:
                    self._lock = threading.Lock()
                    self._encryptor = _keystream(os.urandom(32))
                    self._owner = owner
        with self._lock:
            return _expand(self._encryptor, count)

    def __reduce__(self) -> tuple[type[SecureBits], tuple[()]]:
        # A pickle or a copy is a new source, not a repetition of the same stream.
        return (SecureBits, ())


class ScriptedBits(_ByteBits):
    """Bits that depend only on the seed, not on the machine; only for tests and reproducible studies.

    Example:
        >>> bool((ScriptedBits(7).words(4) == ScriptedBits(7).words(4)).all())
        True
    """

    __slots__ = ("_encryptor", "seed")

    def __init__(self, seed: int | str) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | str):
            raise ParameterError(f"seed must be an int or a str, not {type(seed).__name__}")
        import hashlib

        self.seed = seed
        self._encryptor = _keystream(
            hashlib.sha256(f"discreet scripted {seed!r}".encode()).digest()
        )

    @property
    def scripted(self) -> bool:
        """Always True: anyone who knows the seed can predict the bits."""
        return True

    def _bytes(self, count: int) -> bytes:
        return _expand(self._encryptor, count)

    def __reduce__(self) -> tuple[type[ScriptedBits], tuple[int | str]]:
        return (ScriptedBits, (self.seed,))


class TapeExhausted(DiscreetError):  # noqa: N818 - not a failure: the enumeration expects it
    """A request needs more bits than the tape has left; ``needed`` is how many are missing."""

    def __init__(self, needed: int) -> None:
        super().__init__("the tape of bits has ended")
        self.needed = needed


class TapeBits:
    """Bits from a finite tape, to enumerate every path of a sampler.

    Example:
        >>> TapeBits([1, 0, 1]).integer(3)
        5
    """

    __slots__ = ("_position", "_tape")

    def __init__(self, tape: Iterable[int]) -> None:
        self._tape = tuple(tape)
        self._position = 0

    @property
    def scripted(self) -> bool:
        """Always True: anyone who has the tape can predict the bits."""
        return True

    @property
    def left(self) -> int:
        """The number of bits on the tape that have not been read."""
        return len(self._tape) - self._position

    def _take(self, count: int) -> tuple[int, ...]:
        if count > self.left:
            raise TapeExhausted(count - self.left)
        start = self._position
        self._position += count
        return self._tape[start : self._position]

    def words(self, count: int, *, width: int = 64) -> Words:
        """Return ``count`` integers of ``width`` bits each; the first bit on the tape is the highest."""
        taken = self._take(count * width)
        return np.array(
            [
                int("".join(map(str, taken[start : start + width])), 2)
                for start in range(0, count * width, width)
            ],
            dtype=np.uint64,
        )

    def integer(self, width: int) -> int:
        """Return one integer of ``width`` bits; the first bit on the tape is the highest."""
        return int("0" + "".join(map(str, self._take(width))), 2)


def source_of_bits(randomness: Bits | None) -> Bits:
    """Return the source of bits for a study, by default a new secure one."""
    if randomness is None:
        return SecureBits()
    if not (hasattr(randomness, "words") and hasattr(randomness, "integer")):
        raise refuse("randomness", randomness, "None or discreet.testing.scripted(seed)")
    return randomness


def uniform_below(bits: Bits, bound: int) -> int:
    """Return one uniform integer in ``range(bound)``; draw again while the drawn number is too large.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> uniform_below(SecureBits(), 1)
        0
    """
    width = (bound - 1).bit_length()
    if width == 0:
        return 0
    while True:
        drawn = bits.integer(width)
        if drawn < bound:
            return drawn


def uniform_indices(bits: Bits, bound: int, *, count: int) -> Indices:
    """Return ``count`` independent uniform integers in ``range(bound)``.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> uniform_indices(SecureBits(), 1, count=3)
        array([0, 0, 0])
    """
    drawn = some_indices(bits, bound, count=count)
    while len(drawn) < count:
        more = some_indices(bits, bound, count=count - len(drawn))
        drawn = np.concatenate([drawn, more])
    return drawn


def uniform_below_each(bits: Bits, bounds: Indices, *, width: int = 32) -> Indices:
    """Return an independent uniform integer below each of the bounds, which are at most 2^width.

    This works like ``some_indices``, with a bound for each word; rejected words are drawn again.

    Example:
        >>> from discreet._exact.sampling.bits import SecureBits
        >>> uniform_below_each(SecureBits(), np.array([1, 1, 1]))
        array([0, 0, 0])
    """
    found = np.zeros(len(bounds), dtype=np.int64)
    left = np.arange(len(bounds))
    top = np.uint64(1 << width)
    while len(left):
        wanted = bounds[left].astype(np.uint64)
        products = bits.words(len(left), width=width).astype(np.uint64) * wanted
        kept = (products & (top - np.uint64(1))) >= top % wanted
        found[left[kept]] = (products[kept] >> np.uint64(width)).astype(np.int64)
        left = left[~kept]
    return found


def some_indices(bits: Bits, bound: int, *, count: int, width: int = 32) -> Indices:
    """Return up to ``count`` independent uniform integers in ``range(bound)``; rejected words are dropped.

    A word ``v`` of ``width`` bits gives the high half of ``v * bound``. Words whose low half is below
    ``2**width % bound`` are rejected, so every integer comes from equally many words. Bounds above
    ``2**width`` use ``some_words_below``.
    """
    if bound > 1 << width:
        return some_words_below(bits, bound, count=count).astype(np.int64)
    product = bits.words(count, width=width) * np.uint64(bound)
    chosen: Indices = (product >> np.uint64(width)).view(np.int64)
    surplus = (1 << width) % bound
    if surplus:
        product &= np.uint64((1 << width) - 1)
        kept = product >= surplus
        if np.count_nonzero(kept) < count:
            return chosen[kept]
    return chosen


def few_indices(bits: Bits, bound: int, *, count: int, width: int = 64) -> list[int]:
    """Return uniform integers like ``some_indices``, in plain Python, which is faster for a small ``count``.

    ``bound`` is at most ``2**width``.
    """
    whole = 1 << width
    surplus = whole % bound
    products = [word * bound for word in bits.words(count, width=width).tolist()]
    return [product >> width for product in products if product & (whole - 1) >= surplus]


def some_words_below(bits: Bits, bound: int, *, count: int) -> Words:
    """Return up to ``count`` independent uniform integers in ``range(bound)``, for a bound up to 2⁶³.

    On average more than half of ``count`` are returned.
    """
    width = max(1, (bound - 1).bit_length())
    drawn = bits.words(count, width=width)
    return drawn[drawn < np.uint64(bound)]
