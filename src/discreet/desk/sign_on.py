"""Single sign-on: the identity of a user according to the organisation's provider (OpenID Connect).

A program sends a bearer token from the provider, and the page signs users in by authorization code with
PKCE. In both cases a signature is checked against the provider's published keys, and an analyst is identified
by exactly the issuer and the subject that the owner's file names, never by an e-mail address. Sign-on calls
no address but those of the provider named in that file.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import math
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeVar

import jwt

from discreet._exact.sampling import SecureBits
from discreet.desk.client import NoRedirect
from discreet.desk.owner_file import OwnerFile, SignOn, is_safe_address
from discreet.errors import DiscreetError

KEYS_KEPT = 300.0
"""Seconds for which keys are cached: a withdrawn key is trusted at most this long."""
_KEYS_AGAIN = 10.0
_LOGIN_LASTS = 600.0
_MOST_LOGINS = 10_000
_MOST_BYTES = 1 << 20
_SECONDS = 5.0
_THREADS = 8
_BY_TYPE = {
    "RSA": ("RS256", "RS512", "PS256"),
    "P-256": ("ES256",),
    "P-384": ("ES384",),
    "Ed25519": ("EdDSA",),
}
"""The algorithms for a key that names none, by the key's type or curve."""
_TYPES = ("jwt", "at+jwt", "application/at+jwt")
"""The types of token that sign a person on; providers also sign, for example, notices of a logout."""
T = TypeVar("T")


class SignOnError(DiscreetError):
    """The provider could not be reached, or rejects this person. The owner sees the reason."""


@dataclass(frozen=True, slots=True)
class Login:
    """A sign-in in progress in one browser."""

    nonce: str
    verifier: str
    until: float


class Provider:
    """The identity provider named in the owner's file."""

    def __init__(self, owner: OwnerFile) -> None:
        assert owner.desk.sign_on is not None
        self.terms: SignOn = owner.desk.sign_on
        self._subjects = {name: analyst.subject for name, analyst in owner.analyst.items()}
        self._analysts = {
            subject: name for name, subject in self._subjects.items() if subject is not None
        }
        # No proxy, no redirect: the connection ends at the address in the owner's file.
        self._calls = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), NoRedirect()
        ).open
        self._lock = threading.Lock()
        self._metadata: dict[str, Any] | None = None
        self._keys: dict[Any, dict[str, Any]] = {}
        self._looked_up = self._tried = -math.inf
        self._logins: dict[str, Login] = {}
        # Separate threads: however slow the provider is, the desk's own work continues.
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="sign-on")

    async def aside(self, work: Callable[..., T], *given: Any) -> T:
        """Run, in a thread, a method that may have to wait for the provider."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)

    def close(self) -> None:
        """Stop waiting for the provider."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def person(self, analyst: str) -> str | None:
        """Return who an analyst is, as issuer and subject; None if the owner's file names no subject."""
        subject = self._subjects.get(analyst)
        return None if subject is None else f"{self.terms.issuer}\n{subject}"

    # ---- a bearer token ------------------------------------------------------------------------------

    def analyst(self, token: str) -> str | None:
        """Return the analyst whom a bearer token identifies; None if the token is not valid.

        The provider is called only to look up its keys, and to introspect the token if the owner's file asks
        for that.
        """
        try:
            claims = self._claims(token, audience=self.terms.audience)
            analyst = self._analysts.get(str(claims["sub"]))
            if analyst is not None and self.terms.introspection:
                self._require_active(token, str(claims["sub"]))
        except SignOnError:
            return None
        return analyst

    def _claims(self, token: str, *, audience: str, nonce: str | None = None) -> dict[str, Any]:
        """Check a token's signature, issuer, audience and times; return its claims."""
        try:
            header = jwt.get_unverified_header(token)
            if str(header.get("typ", "JWT")).lower() not in _TYPES:
                raise SignOnError("the provider signed this token for another purpose")
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key(header.get("kid"), header.get("alg")),
                # The owner's file names the algorithms: a token does not choose how it is checked.
                algorithms=self.terms.algorithms,
                audience=audience,
                issuer=self.terms.issuer,
                leeway=self.terms.skew,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, RecursionError):
            raise SignOnError("the token is not from the provider, or is not valid now") from None
        if not isinstance(claims["sub"], str) or not claims["sub"]:
            raise SignOnError("the token does not name a person")
        if nonce is not None and claims.get("nonce") != nonce:
            raise SignOnError("the token was made for another sign-in")
        return claims

    def _key(self, name: str | None, algorithm: object) -> Any:
        if algorithm not in self.terms.algorithms:
            raise SignOnError("the token is signed in a way that the owner's file does not allow")
        with self._lock:
            now = time.monotonic()
            old = now - self._looked_up > KEYS_KEPT
            if (old or name not in self._keys) and now - self._tried > _KEYS_AGAIN:
                self._tried = now
                self._look_up(now)
            if now - self._looked_up > max(KEYS_KEPT, _KEYS_AGAIN):
                self._keys = {}  # a key that may have been withdrawn is not trusted
            key = self._keys.get(name)
            if name is None and len(self._keys) == 1:  # the only key need not be named
                (key,) = self._keys.values()
        if key is None or algorithm not in _fitting(key):
            raise SignOnError("the provider has no such key")
        return jwt.PyJWK(key, algorithm=str(algorithm)).key

    def _look_up(self, now: float) -> None:
        """Read the provider's keys; if it does not respond, keep the known keys."""
        self._metadata = None  # the address of the keys may have changed
        try:
            listed = self._read(self._address("jwks_uri")).get("keys")
        except SignOnError:
            return
        if isinstance(listed, list):
            usable = [
                key for key in listed if isinstance(key, dict) and key.get("use") in (None, "sig")
            ]
            self._keys = {key.get("kid"): key for key in usable}
            self._looked_up = now

    def _require_active(self, token: str, subject: str) -> None:
        """Raise an error unless the provider confirms that a token is not revoked."""
        said = self._read(
            self._address("introspection_endpoint"),
            {"token": token, "token_type_hint": "access_token"},
            authenticated=True,
        )
        if said.get("active") is not True or said.get("sub", subject) != subject:
            raise SignOnError("the provider has revoked the token")

    # ---- signing in on the page --------------------------------------------------------------------------

    def begin(self, back: str) -> tuple[str, str]:
        """Begin a sign-in; return the provider's address for the browser, and the state for its cookie."""
        address = self._address("authorization_endpoint")
        bits = SecureBits()
        state, nonce, verifier = (_text(bits.integer(256).to_bytes(32, "big")) for _ in range(3))
        with self._lock:
            now = time.monotonic()
            self._logins = {name: one for name, one in self._logins.items() if one.until > now}
            if len(self._logins) >= _MOST_LOGINS:  # drop the oldest, which was abandoned
                self._logins.pop(next(iter(self._logins)))
            self._logins[state] = Login(nonce, verifier, now + _LOGIN_LASTS)
        query = {
            "response_type": "code",
            "client_id": self.terms.client_id,
            "redirect_uri": back,
            "scope": "openid",
            "state": state,
            "nonce": nonce,
            "code_challenge": _text(hashlib.sha256(verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        joined = "&" if "?" in address else "?"
        return f"{address}{joined}{urllib.parse.urlencode(query)}", state

    def finish(self, state: str, code: str, back: str) -> str:
        """Finish a sign-in and return the analyst; each state is accepted only once."""
        with self._lock:
            login = self._logins.pop(state, None)
        if login is None or login.until < time.monotonic():
            raise SignOnError(
                "this sign-in was not started here, is already finished, or took too long"
            )
        said = self._read(
            self._address("token_endpoint"),
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": back,
                "client_id": self.terms.client_id,
                "code_verifier": login.verifier,
            },
            authenticated=True,
        )
        token = str(said.get("id_token", ""))
        claims = self._claims(token, audience=self.terms.client_id, nonce=login.nonce)
        if claims.get("azp", self.terms.client_id) != self.terms.client_id:
            raise SignOnError("the token was made for another program")
        analyst = self._analysts.get(str(claims["sub"]))
        if analyst is None:
            raise SignOnError("the owner's file does not list this subject")
        return analyst

    # ---- calls -------------------------------------------------------------------------------------------

    def _address(self, name: str) -> str:
        """Return the address that the provider's metadata gives under this name."""
        found = self._metadata
        if found is None:
            found = self._read(f"{self.terms.issuer.rstrip('/')}/.well-known/openid-configuration")
            if found.get("issuer") != self.terms.issuer:
                raise SignOnError("the provider's name differs from the issuer in the owner's file")
            self._metadata = found
        address = found.get(name)
        if not isinstance(address, str) or not is_safe_address(address):
            raise SignOnError(f"the provider publishes no {name} with an https address")
        return address

    def _read(
        self, address: str, form: dict[str, str] | None = None, *, authenticated: bool = False
    ) -> dict[str, Any]:
        request = urllib.request.Request(  # noqa: S310  # https, or this machine: see is_safe_address
            address,
            data=None if form is None else urllib.parse.urlencode(form).encode(),
            headers={"accept": "application/json"},
        )
        if authenticated and self.terms.client_secret_file is not None:
            secret = Path(self.terms.client_secret_file).read_text(encoding="utf-8").strip()
            both = ":".join(map(urllib.parse.quote_plus, (self.terms.client_id, secret)))
            request.add_header("authorization", f"Basic {base64.b64encode(both.encode()).decode()}")
        try:
            with self._calls(request, timeout=_SECONDS) as reply:
                content = reply.read(_MOST_BYTES + 1)
            found = json.loads(content) if len(content) <= _MOST_BYTES else None
        except (OSError, ValueError, RecursionError, HTTPException):
            found = None
        if not isinstance(found, dict):
            raise SignOnError(f"the provider gives no usable answer at {address}")
        return found


def _fitting(key: dict[str, Any]) -> Sequence[str]:
    """Return the algorithms that fit a published key: the one that it names, else those of its type."""
    if "alg" in key:
        return (str(key["alg"]),)
    return _BY_TYPE.get(str(key.get("crv", key.get("kty"))), ())


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
