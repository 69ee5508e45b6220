"""Noise as a keyed function of the candidate: recomputing it gives the same noise.

This is for selections that run on many machines, where a task may be retried or run twice. Each release has
a new secret key. AES with that key turns a candidate's 16-byte identity into the first 64 bits of its uniform
number u. If these bits do not decide, a keyed hash gives more. The candidate's noise is −ln u. Without the
key, these bits are indistinguishable from independent uniform bits (docs/proofs/distributed-selection.md).
"""

from __future__ import annotations

import hashlib
import hmac
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet._exact.gaps import Gaps, Indices
from discreet._exact.sampling.bits import Bits, SecureBits, Words
from discreet._exact.sampling.coins import Uniform
from discreet._exact.sampling.noisy_order import Noisy, in_order, may_be_first
from discreet.errors import ParameterError, TableError

Identities: TypeAlias = NDArray[np.uint8]
"""An array of shape (n, 16): one identity per row, all different."""

_KEY_BYTES = 32
_WORD = 64


class KeyedNoise:
    """The noise of one release: a function of a secret key and a candidate's identity.

    Example:
        >>> noise = KeyedNoise.fresh()
        >>> one = np.zeros((1, 16), dtype=np.uint8)
        >>> bool((noise.words(one) == noise.words(one)).all())
        True
    """

    __slots__ = ("_cipher_key", "_hash_key")

    def __init__(self, key: bytes) -> None:
        if len(key) != 2 * _KEY_BYTES:
            raise ParameterError(f"a key has {2 * _KEY_BYTES} bytes")
        self._cipher_key, self._hash_key = key[:_KEY_BYTES], key[_KEY_BYTES:]

    @staticmethod
    def fresh(bits: Bits | None = None) -> KeyedNoise:
        """Return noise with a new random key."""
        source = SecureBits() if bits is None else bits
        return KeyedNoise(source.integer(16 * _KEY_BYTES).to_bytes(2 * _KEY_BYTES, "little"))

    def __reduce__(self) -> tuple[type[KeyedNoise], tuple[bytes]]:
        # Unlike a source of bits, a copy on another machine must give the same noise.
        return KeyedNoise, (self._cipher_key + self._hash_key,)

    def __repr__(self) -> str:
        return "KeyedNoise(secret)"

    def words(self, identities: Identities) -> Words:
        """Return the first 64 bits of the uniform number of each identity."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        # One block for each identity, all different, so a plain block cipher is safe.
        encryptor = Cipher(algorithms.AES(self._cipher_key), modes.ECB()).encryptor()  # noqa: S305
        blocks = encryptor.update(np.ascontiguousarray(identities).tobytes())
        return np.frombuffer(blocks, dtype="<u8")[::2].astype(np.uint64)

    def more(self, identity: bytes) -> Bits:
        """Return a source of the bits that follow the first 64 of a candidate's uniform number."""
        return _HashedBits(self._hash_key, identity)


class _HashedBits:
    """Bits from a keyed hash of an identity and a counter."""

    __slots__ = ("_counter", "_identity", "_key")

    def __init__(self, key: bytes, identity: bytes) -> None:
        self._key, self._identity, self._counter = key, identity, 0

    @property
    def scripted(self) -> bool:
        """Always False: the bits cannot be predicted without the key."""
        return False

    def integer(self, width: int) -> int:
        """Return one uniform integer below ``2**width``."""
        drawn, known = 0, 0
        while known < width:
            block = b"noise" + self._counter.to_bytes(8, "little") + self._identity
            drawn = (drawn << 256) | int.from_bytes(
                hmac.digest(self._key, block, hashlib.sha256), "big"
            )
            known += 256
            self._counter += 1
        return drawn >> (known - width)

    def words(self, count: int, *, width: int = 64) -> Words:
        """Return ``count`` independent uniform integers below ``2**width``."""
        return np.array([self.integer(width) for _ in range(count)], dtype=np.uint64)


@np.errstate(all="ignore")
def keyed_shortlist(
    noise: KeyedNoise,
    identities: Identities,
    scores: NDArray[np.int64],
    *,
    scale: Fraction,
    count: int,
) -> Indices:
    """Return positions that include those of the ``count`` largest noisy scores, using only floats."""
    if len(scores) <= count:
        return np.arange(len(scores))
    return may_be_first(
        noise.words(identities), Gaps(scores, scale=scale).gammas()[0], count, word=_WORD
    )


def keyed_first(
    noise: KeyedNoise,
    identities: Identities,
    scores: NDArray[np.int64],
    *,
    scale: Fraction,
    count: int,
) -> list[int]:
    """Return the positions of the ``count`` largest noisy scores (or all, if fewer), largest first.

    Example:
        >>> two = np.arange(32, dtype=np.uint8).reshape(2, 16)
        >>> keyed_first(KeyedNoise.fresh(), two, np.array([3, 5000]), scale=Fraction(2), count=1)
        [1]
    """
    if not len(scores):
        return []
    near = keyed_shortlist(noise, identities, scores, scale=scale, count=count).tolist()
    named = {index: identities[index].tobytes() for index in near}
    if len(set(named.values())) < len(near):
        # Candidates were checked to be distinct. Equal ones would have equal noise and could not be ordered.
        raise TableError("the table changed while it was being read; nothing is released")
    gaps, words = Gaps(scores, scale=scale), noise.words(identities[near])
    found = [
        Noisy(
            index,
            gaps.exact(index),
            Uniform(noise.more(named[index]), known=int(word), width=_WORD, step=_WORD),
        )
        for index, word in zip(near, words, strict=True)
    ]
    return [noisy.index for noisy in in_order(found)[:count]]
