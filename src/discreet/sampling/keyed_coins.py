"""Coins that are a keyed function of the candidate: whoever computes one again gets the same coin.

For selections that run on many machines, where a task may be tried twice or run twice at once. A fresh
secret key serves one release. AES under that key turns a candidate's 16-byte identity into 128 bits: 64
for its coin and 64 for its place in a random order; a keyed hash gives more where those do not decide.
To someone without the key they are independent uniform bits (docs/proofs/distributed-selection.md).
"""

from __future__ import annotations

import hashlib
import hmac
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.sampling.bits import Bits, SecureBits, Words
from discreet.sampling.coins import Heads, Uniform, falls_heads

Identities: TypeAlias = NDArray[np.uint8]
"""An array of shape (n, 16): one identity on each row, all different."""

_KEY_BYTES = 32
_TOLERANCE = 2.0**-40
_LARGEST_POWER = 500
_HOPELESS = 600.0
_COINS = Heads()


class KeyedCoins:
    """The coins and the random order of one release.

    Example:
        >>> coins = KeyedCoins.fresh()
        >>> one = np.zeros((1, 16), dtype=np.uint8)
        >>> bool((coins.words(one) == coins.words(one)).all())
        True
    """

    __slots__ = ("_cipher_key", "_hash_key")

    def __init__(self, key: bytes) -> None:
        if len(key) != 2 * _KEY_BYTES:
            raise ParameterError(f"a key has {2 * _KEY_BYTES} bytes")
        self._cipher_key, self._hash_key = key[:_KEY_BYTES], key[_KEY_BYTES:]

    @staticmethod
    def fresh(bits: Bits | None = None) -> KeyedCoins:
        """Coins under a new key."""
        source = SecureBits() if bits is None else bits
        return KeyedCoins(source.integer(16 * _KEY_BYTES).to_bytes(2 * _KEY_BYTES, "little"))

    def __reduce__(self) -> tuple[type[KeyedCoins], tuple[bytes]]:
        # Unlike a source of bits, keyed coins must be the same wherever they arrive.
        return KeyedCoins, (self._cipher_key + self._hash_key,)

    def __repr__(self) -> str:
        return "KeyedCoins(secret)"

    def words(self, identities: Identities) -> Words:
        """Two 64-bit words for each identity: the first of its coin, the second of its place."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        # One block for each identity and no two alike: exactly what a block cipher by itself is good for.
        encryptor = Cipher(algorithms.AES(self._cipher_key), modes.ECB()).encryptor()  # noqa: S305
        blocks = encryptor.update(np.ascontiguousarray(identities).tobytes())
        return np.frombuffer(blocks, dtype="<u8").reshape(-1, 2)

    def place(self, identity: bytes, word: int) -> bytes:
        """Where a candidate stands in the random order: its word, and a keyed hash against ties."""
        rest = hmac.digest(self._hash_key, b"place" + identity, hashlib.sha256)
        return word.to_bytes(8, "big") + rest

    def more(self, identity: bytes) -> Bits:
        """The bits of a candidate's coin beyond the first 64."""
        return _HashedBits(self._hash_key, identity)


class _HashedBits:
    """Bits from a keyed hash of an identity and a counter."""

    __slots__ = ("_counter", "_identity", "_key")

    def __init__(self, key: bytes, identity: bytes) -> None:
        self._key, self._identity, self._counter = key, identity, 0

    @property
    def scripted(self) -> bool:
        """Whoever has the key can predict them; nobody else has it."""
        return False

    def integer(self, width: int) -> int:
        """One uniform integer below ``2**width``."""
        drawn, known = 0, 0
        while known < width:
            block = b"coin" + self._counter.to_bytes(8, "little") + self._identity
            drawn = (drawn << 256) | int.from_bytes(
                hmac.digest(self._key, block, hashlib.sha256), "big"
            )
            known += 256
            self._counter += 1
        return drawn >> (known - width)

    def words(self, count: int, *, width: int = 64) -> Words:
        """``count`` independent uniform integers below ``2**width``."""
        return np.array([self.integer(width) for _ in range(count)], dtype=np.uint64)


def require_scale(scale: Fraction) -> None:
    """An error unless gaps at this scale can be filtered in float64."""
    if not Fraction(1, 1 << _LARGEST_POWER) <= scale <= 1 << _LARGEST_POWER:
        raise ParameterError("epsilon is too small or too large for a selection in the cluster")


@np.errstate(all="ignore")
def keyed_heads(
    coins: KeyedCoins,
    identities: Identities,
    words: Words,
    *,
    short: NDArray[np.uint64],
    scale: Fraction,
) -> NDArray[np.int64]:
    """The positions whose coin exp(−short/scale) falls heads, ``short`` being best score − score.

    Floats decide outside a band of relative width 2⁻⁴⁰, four times what the rounding of γ, up to 600, and of
    the exponential can add up to; within it, ball arithmetic decides with more bits.
    """
    gammas = np.minimum(short.astype(np.float64) * float(1 / scale), _HOPELESS)
    chances = np.ldexp(np.exp(-gammas), 64)
    excess = words[:, 0].astype(np.float64) - chances
    band = chances * _TOLERANCE + 2.0**12
    heads: NDArray[np.int64] = (excess <= band).nonzero()[0]
    doubtful = excess[heads] >= -band[heads]
    kept = ~doubtful
    for place in doubtful.nonzero()[0].tolist():
        position = int(heads[place])
        uniform = Uniform(
            coins.more(identities[position].tobytes()), known=int(words[position, 0]), width=64
        )
        kept[place] = falls_heads(uniform, _COINS, int(short[position]) / scale, boost=0)
    return heads[kept]


def first_in_order(
    coins: KeyedCoins, identities: Identities, words: Words, among: Any
) -> tuple[int, bytes]:
    """Of some positions (at least one), the one that stands first in the random order, and its place."""
    seconds = words[among, 1]
    tied = among[(seconds == seconds.min()).nonzero()[0]]
    places = {
        coins.place(identities[position].tobytes(), int(words[position, 1])): position
        for position in tied.tolist()
    }
    first = min(places)
    return int(places[first]), first
