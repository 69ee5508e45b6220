"""The analyst's side of a desk: ask about its tables as if they were local, without seeing a row.

This module needs only Python's standard library. If the reply to a question is lost, the question is sent
again with the same key, at no further cost.
"""

from __future__ import annotations

import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from discreet._displays import card, visible
from discreet._displays import table as html_table
from discreet._exact.numbers.exact import refuse
from discreet._exact.sampling import SecureBits
from discreet.errors import DiscreetError, ParameterError
from discreet.questions import Question, TableRelease
from discreet.questions.derived import asks
from discreet.questions.kinds import ByName, kinds_by_name
from discreet.questions.question import fields_of
from discreet.questions.read_back import release_from

_KEY = re.compile(r"[!-~]{1,200}")
_TRIES = 4
_PATIENCE = 3700  # the longest slot plus a margin


def require_key(key: str) -> str:
    """Check and return a key that is sent with a question."""
    if not _KEY.fullmatch(key):
        raise ParameterError(
            "the key (Idempotency-Key) must be 1 to 200 printable ASCII characters"
        )
    return key


def connect(url: str | None = None, *, token: str | None = None) -> RemoteDesk:
    """Connect to a desk, to ask questions about its tables.

    Args:
        url: the desk's address, such as ``"https://desk.example.org:8443"``; by default $DISCREET_DESK.
        token: the token that the desk's owner gave you; by default $DISCREET_DESK_TOKEN.
    """
    address = url or os.environ.get("DISCREET_DESK")
    shown = token or os.environ.get("DISCREET_DESK_TOKEN")
    if address is None or shown is None:
        raise ParameterError(
            "set $DISCREET_DESK to the desk's address and $DISCREET_DESK_TOKEN to the token that its owner "
            "gave you"
        )
    if not shown.strip().isascii() or not shown.strip().isprintable():
        raise ParameterError("⟨token⟩ is not a token from a desk: it must be printable ASCII")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise refuse("url", address, "an address such as https://desk.example.org:8443")
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise refuse("url", address, "https, unless the desk is on this machine")
    desk = RemoteDesk(address.rstrip("/"), shown.strip())
    desk.about()
    return desk


class RemoteDesk:
    """A connection to a desk, returned by ``connect``."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token
        # Unencrypted traffic is only for this machine, so it must not go to a proxy.
        inside = [] if url.startswith("https") else [urllib.request.ProxyHandler({})]
        self._opener = urllib.request.build_opener(NoRedirect(), *inside)

    def about(self) -> dict[str, Any]:
        """Return the questions you may ask, and what is left of the budget; these are public facts."""
        found: dict[str, Any] = self.call("/api/desk")
        return found

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that you may ask about."""
        return tuple(self.about()["tables"])

    def table(self, name: str) -> RemoteTable:
        """Return the table of this name, to ask questions about it."""
        known = self.about()["tables"]
        if name not in known:
            raise refuse("name", name, f"one of {', '.join(known)}")
        return RemoteTable(self, name)

    def answers(self) -> list[dict[str, Any]]:
        """Return your own questions with their released answers, newest first; at no cost."""
        found: list[dict[str, Any]] = self.call("/api/answers")
        return found

    def __repr__(self) -> str:
        return f"RemoteDesk({visible(self._url)!r})"

    def call(
        self, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Any:
        """Send one request and return its reply; a refusal is raised as an error with the desk's message."""
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        if key is not None:
            headers["idempotency-key"] = require_key(key)
        request = urllib.request.Request(  # noqa: S310  # http or https, as checked
            self._url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers=headers,
        )
        try:
            with self._opener.open(request, timeout=_PATIENCE) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            problem = _problem(error)
        except (OSError, ValueError, HTTPException):  # unreachable, cut off, or not a desk
            problem = DeskUnreachableError(f"no desk answers at {visible(self._url)}")
        raise problem

    def ask(self, question: Mapping[str, Any], *, key: str | None = None) -> TableRelease:
        """Ask a question and pay for it; if the reply is lost, send the question again with the same key.

        The same question with the same key gets the same answer, at no further cost. Errors have a note with
        the key, except if the question itself is not allowed.
        """
        key = key or f"{SecureBits().integer(128):032x}"
        try:
            return self._asked(question, key)
        except DiscreetError as error:
            if not isinstance(error, ParameterError):
                error.add_note(f"Asked again with key={key!r}, this question is paid only once.")
            raise

    def _asked(self, question: Mapping[str, Any], key: str) -> TableRelease:
        for attempt in range(_TRIES):
            try:
                return release_from(self.call("/api/ask", question, key=key)["release"])
            except DeskUnreachableError:
                if attempt == _TRIES - 1:
                    raise
            except DeskRefusalError as refusal:
                if refusal.status not in (409, 429) or not attempt:  # else the first try is running
                    raise
            time.sleep(2**attempt)
        raise DeskUnreachableError("the reply was lost; the answer will be in answers()")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuse redirects."""

    def redirect_request(self, *_: Any) -> None:
        """Return no request: following a redirect would leak a token, or let someone else answer."""


class DeskUnreachableError(DiscreetError):
    """No reply came; if the question reached the desk, its answer will be in ``answers()``."""


class DeskRefusalError(DiscreetError):
    """The desk refused a request; the message is the desk's, and ``status`` is the HTTP status."""

    status = 503


class DeskQuestionError(DeskRefusalError, ParameterError):
    """The question itself is not allowed; nothing was spent."""


def _problem(error: urllib.error.HTTPError) -> DiscreetError:
    try:
        said = str(json.load(error)["error"])
    except (OSError, ValueError, KeyError, TypeError):
        said = f"the desk answered with status {error.code}"
    kind = DeskQuestionError if error.code == 400 else DeskRefusalError
    refusal = kind(visible(said).replace("⟨", "<"))
    refusal.status = error.code
    return refusal


_AT_A_DESK = {
    name: asks(kind, at_a_desk=True) for name, kind in kinds_by_name().items() if kind.completed_by
}
if TYPE_CHECKING:
    _Methods = ByName
else:  # only the kinds that a desk answers, without the owner's fields in their signatures
    _Methods = type("_Methods", (), _AT_A_DESK)


def as_sent(table: str, question: Question) -> dict[str, Any]:
    """Return a question as it is sent to a desk; raise an error if it sets one of the owner's fields."""
    sent = question.to_dict()
    own = {each.name for each in fields_of(type(question)) if each.metadata["analyst"]}
    for name in sent.keys() - own - {"kind"}:
        raise ParameterError(f"⟨{name}⟩ is decided by the owner of a desk: leave it out")
    return {"table": table, **sent}


class RemoteTable(_Methods):
    """A table at a desk, with the same methods and answers as ``discreet.table``.

    The owner sets candidates, bounds and groups, so questions leave them out.
    """

    def __init__(self, desk: RemoteDesk, name: str) -> None:
        self._desk = desk
        self.name = name

    def plan(self, question: Question) -> dict[str, Any]:
        """Return a question's cost, whether enough is left, and how good its answer will be; at no cost."""
        found: dict[str, Any] = self._desk.call("/api/plan", self.request(question))
        return found

    def rehearse(self, question: Question) -> TableRelease:
        """Ask about invented rows, at no cost; the answer is marked as invented.

        It says nothing about the data.
        """
        return release_from(self._desk.call("/api/rehearse", self.request(question)))

    def invented(self, rows: int = 1000) -> dict[str, list[str]]:
        """Return invented rows by column, for testing a program; only the owner's public facts are used."""
        found = self._desk.call("/api/invented", {"table": self.name, "rows": rows})
        return dict(found["columns"])

    def ask(self, question: Question, *, key: str | None = None) -> TableRelease:
        """Ask a question and pay for it; asking it again with the same key costs nothing more."""
        return self._desk.ask(self.request(question), key=key)

    def request(self, question: Question) -> dict[str, Any]:
        """Return a question as it is sent to the desk, with only the fields that an analyst may set."""
        return as_sent(self.name, question)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that may be asked about, with their public facts."""
        columns: dict[str, Any] = self._facts()["columns"]
        return columns

    @property
    def left(self) -> str:
        """The amount left in your part of the budget, such as ``"ε = 2"``."""
        return str(self._facts()["left"])

    def _facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = self._desk.about()["tables"][self.name]
        return facts

    def _shown(self) -> dict[str, str]:
        facts = self._facts()
        return {
            "columns": ", ".join(map(visible, facts["columns"])),
            "people": visible(facts["people"]),
            "neighbours": visible(facts["neighbours"]),
            "left": f"{visible(facts['left'])} of {visible(facts['budget'])}",
        }

    def __repr__(self) -> str:
        lines = (f"{name}: {fact}" for name, fact in self._shown().items())
        return "\n  ".join((f"Table of a desk: {visible(self.name)}", *lines))

    def _repr_html_(self) -> str:
        return card(f"Table of a desk: {self.name}", html_table(("", ""), self._shown().items()))
