"""Single sign-on: a real provider in its own process, and tokens that are forged, stolen or old."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from playwright.sync_api import Browser as ChromiumBrowser
from playwright.sync_api import expect

from discreet.desk import sign_on
from discreet.desk.application import SIGN_ON_FAILED
from discreet.desk.owner_file import OwnerFile, read_owner_file
from discreet.desk.serving import DeskServer
from discreet.desk.sign_on import Provider
from discreet.errors import ParameterError
from tests.tools.browser import patient_page
from tests.tools.desks import MODE, OWNER_FILE, Caller, Reply, clinic_at
from tests.tools.waiting import PATIENCE, until

SUBJECT, STRANGER = "248289761001", "somebody else"


def _desk(issuer: str, **more: object) -> str:
    extra = "".join(f"\n{name} = {json.dumps(value)}" for name, value in more.items())
    return f'[desk.sign_on]\nissuer = "{issuer}"\nclient_id = "desk"{extra}'


def _owner(folder: Path, issuer: str, **more: object) -> OwnerFile:
    owner = clinic_at(folder)
    file = folder / "clinic.toml"
    (folder / "secret.txt").write_text("a secret of the desk's\n")
    more = {"client_secret_file": "secret.txt", **more}
    text = file.read_text().replace(
        "[table.visits]\n", _desk(issuer, **more) + "\n[table.visits]\n", 1
    )
    text = text.replace(
        "[analyst.epidemiology]\n", f'[analyst.epidemiology]\nsubject = "{SUBJECT}"\n'
    )
    file.write_text(text)
    assert owner.desk.sign_on is None
    return read_owner_file(file)


def _signed_on_clinic(folder: Path, issuer: str) -> DeskServer:
    return DeskServer(_owner(folder, issuer))


# ---- a real provider ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """The address of a provider that runs in a separate process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: _answers(port), "the provider")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def office(provider: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    """A desk with analysts who sign in with that provider."""
    with _signed_on_clinic(tmp_path_factory.mktemp("office"), provider).in_background() as server:
        yield server


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


class Browser:
    """A client that follows no redirects by itself, and keeps cookies for the desk."""

    def __init__(self) -> None:
        self.cookies: dict[str, str] = {}

    def go(self, address: str, form: dict[str, str] | None = None, **headers: str) -> Any:
        parts = urllib.parse.urlsplit(address)
        assert parts.hostname is not None
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            sent["content-type"] = "application/x-www-form-urlencoded"
        path = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        connection.request("GET" if form is None else "POST", path, body, sent)
        reply = connection.getresponse()
        reply.read()
        for line in reply.headers.get_all("set-cookie") or ():
            name, _, rest = line.partition("=")
            self.cookies[name] = rest.partition(";")[0].strip('"')
        connection.close()
        return reply


def _come_back(browser: Browser, url: str, subject: str) -> str:
    """Sign in at the provider, and return the address to which it sends the browser back."""
    sent = browser.go(f"{url}/api/sign-on", sec_fetch_site="same-origin")
    assert sent.status == 303
    asked = urllib.parse.parse_qs(urllib.parse.urlsplit(sent.headers["location"]).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert {"state", "nonce", "code_challenge"} <= asked.keys()
    back = Browser().go(sent.headers["location"], {"sub": subject})
    return str(back.headers["location"])


def test_a_browser_signs_in_and_asks(office: DeskServer) -> None:
    assert Caller(office, None)("/api/ways-in").content == {"sign_on": True}
    browser = Browser()
    back = _come_back(browser, office.url, SUBJECT)
    entered = browser.go(back, sec_fetch_site="cross-site", sec_fetch_mode="navigate")
    assert (entered.status, entered.headers["location"]) == (303, "/")
    cookie = f"discreet_desk={browser.cookies['discreet_desk']}"
    page = Caller(office, None)
    seen = page("/api/desk", cookie=cookie)
    assert seen.content["analyst"] == "epidemiology"
    asked = page("/api/ask", MODE, cookie=cookie, x_discreet_desk="page")
    assert (asked.status, asked.content["release"]["answer"]) == (200, "flu")


def test_a_real_browser_comes_back_to_the_page(
    office: DeskServer, browser: ChromiumBrowser
) -> None:
    """The browser's requests carry another site as their origin, even after the redirect to the page."""
    page = patient_page(browser, width=1280, height=800, scheme="light")
    page.goto(office.url)
    page.locator("#office a").click()
    page.locator('input[name="sub"]').fill(SUBJECT)
    page.keyboard.press("Enter")
    expect(page.locator("#who")).to_have_text("epidemiology")
    before = len(office.desk.store.tokens())
    page.locator("#leave").click()
    expect(page.locator("#door")).to_be_visible()
    assert len(office.desk.store.tokens()) == before - 1
    page.context.close()


@pytest.mark.parametrize("how", ["replayed", "another browser", "a stranger", "made-up state"])
def test_a_browser_that_was_not_sent_gets_no_session(how: str, office: DeskServer) -> None:
    browser = Browser()
    back = _come_back(browser, office.url, STRANGER if how == "a stranger" else SUBJECT)
    if how == "replayed":
        assert browser.go(back).headers["location"] == "/"
        browser.cookies.clear()
    elif how == "another browser":
        browser = Browser()
    elif how == "made-up state":
        back = back.replace("state=", "state=x")
        browser.cookies["discreet_sign_on"] = "x" + browser.cookies["discreet_sign_on"]
    refused = browser.go(back)
    assert refused.headers["location"] == "/#not-signed-on"
    assert not browser.cookies.get("discreet_desk")


# ---- tokens of programs ------------------------------------------------------------------------------


class Issuer:
    """A provider with keys that the test knows: its published keys, and tokens that it signs."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {
            "one": rsa.generate_private_key(public_exponent=65537, key_size=2048)
        }
        self.published = ["one"]
        self.revoked: set[str] = set()
        self.redirects = False
        self.algorithms: dict[str, str] = {"one": "RS256", "two": "RS256"}
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.url = ""

    def reply(self, path: str, form: dict[str, list[str]]) -> Any:
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                "introspection_endpoint": f"{self.url}/introspect",
            }
        if path == "/introspect":
            return {"active": form["token"][0] not in self.revoked}
        listed = []
        for name in self.published:
            kind: Any = jwt.algorithms.RSAAlgorithm
            if isinstance(self.keys[name], ec.EllipticCurvePrivateKey):
                kind = jwt.algorithms.ECAlgorithm
            public = kind.to_jwk(self.keys[name].public_key(), as_dict=True)
            named = {"alg": self.algorithms[name]} if name in self.algorithms else {}
            listed.append({**public, "kid": name, "use": "sig", **named})
        return {"keys": listed}

    def claims(self, **claims: Any) -> dict[str, Any]:
        now = int(time.time())
        said = {
            "iss": self.url, "aud": "desk", "sub": SUBJECT, "iat": now, "exp": now + 600, **claims,
        }  # fmt: skip
        return {name: value for name, value in said.items() if value is not None}

    def token(
        self,
        *,
        key: Any = None,
        kid: str = "one",
        alg: str = "RS256",
        header: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        headers = {"kid": kid, **(header or {})}
        return jwt.encode(
            self.claims(**claims), key or self.keys["one"], algorithm=alg, headers=headers
        )

    def by_hand(self, header: object, *, key: bytes = b"") -> str:
        """Return a token that no library would make, signed with HMAC if there is a key."""
        parts = [_encoded(json.dumps(each).encode()) for each in (header, self.claims())]
        signature = hmac.digest(key, ".".join(parts).encode(), hashlib.sha256) if key else b""
        return ".".join([*parts, _encoded(signature)])

    def public(self) -> bytes:
        """Return the published key as text, which an attacker has too."""
        content: bytes = (
            self.keys["one"]
            .public_key()
            .public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )
        return content


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


@contextmanager
def _serving(issuer: Issuer) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            if issuer.redirects:
                self.send_response(302)
                self.send_header("location", f"{issuer.url}/elsewhere")
                self.end_headers()
                return
            issuer.may_answer.wait()
            length = int(self.headers.get("content-length", 0))
            form = urllib.parse.parse_qs(self.rfile.read(length).decode())
            body = json.dumps(issuer.reply(self.path, form)).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815  # the library's name

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield
        finally:
            server.shutdown()
            serving.join()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    with _serving(made):
        yield made


def _reply(server: DeskServer, token: str) -> Reply:
    return Caller(server, token)("/api/desk")


def test_only_the_providers_own_valid_tokens_open(tmp_path: Path, issuer: Issuer) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    now = int(time.time())
    wrong: dict[str, Callable[[], str]] = {
        "forged": lambda: issuer.token(key=other),
        "of no known key": lambda: issuer.token(key=other, kid="two"),
        "unsigned": lambda: issuer.by_hand({"alg": "none", "kid": "one"}),
        "signed by the public key": lambda: issuer.by_hand(
            {"alg": "HS256", "kid": "one"}, key=issuer.public()
        ),
        "with its own key": lambda: issuer.token(
            key=other, header={"jwk": jwt.algorithms.RSAAlgorithm.to_jwk(other.public_key(), True)}
        ),
        "with an extension": lambda: issuer.token(header={"crit": ["x"], "x": 1}),
        "a notice of a logout": lambda: issuer.token(header={"typ": "logout+jwt"}),
        "signed otherwise": lambda: issuer.token(alg="RS512"),
        "expired": lambda: issuer.token(exp=now - 120),
        "not yet valid": lambda: issuer.token(nbf=now + 600),
        "for another program": lambda: issuer.token(aud="payroll"),
        "of another issuer": lambda: issuer.token(iss="https://login.example.org"),
        "of a similar issuer": lambda: issuer.token(iss=issuer.url[:-1]),
        "issued later": lambda: issuer.token(iat=now + 600),
        "without an end": lambda: issuer.token(exp=None),
        "of nobody": lambda: issuer.token(sub=None),
        "of a stranger": lambda: issuer.token(sub=STRANGER),
        "of a similar name": lambda: issuer.token(sub=f"{SUBJECT} "),
        "of a number": lambda: issuer.token(sub=int(SUBJECT)),
        "by e-mail": lambda: issuer.token(sub=STRANGER, email=SUBJECT),
        "not a token": lambda: "a.b.c",
        "too deep": lambda: f"{_encoded(b'[' * 15_000)}.e30.",
    }
    with _signed_on_clinic(tmp_path, issuer.url).in_background() as server:
        good = _reply(server, issuer.token())
        assert (good.status, good.content["analyst"]) == (200, "epidemiology")
        for how, make in wrong.items():
            assert _reply(server, make()).status == 401, how
        assert _reply(server, issuer.token()).status == 200
        own = server.desk.store.new_token("planning", days=1)  # beside the provider's
        assert _reply(server, own).content["analyst"] == "planning"


def test_a_key_without_an_algorithm_is_good_for_those_of_its_type(
    tmp_path: Path, issuer: Issuer
) -> None:
    issuer.keys["curve"] = ec.generate_private_key(ec.SECP256R1())
    issuer.keys["longer"] = ec.generate_private_key(ec.SECP384R1())
    issuer.published = ["one", "curve", "longer"]
    issuer.algorithms.clear()
    asked = Provider(_owner(tmp_path, issuer.url, algorithms=["PS256", "ES256"]))
    for kid, named, alg, opens in (
        ("one", "one", "PS256", True),
        ("curve", "curve", "ES256", True),
        ("one", "one", "RS256", False),  # the owner's file does not allow it
        ("longer", "longer", "ES384", False),
        ("curve", "one", "ES256", False),  # a key of one type is never used as another type
    ):
        token = issuer.token(key=issuer.keys[kid], kid=named, alg=alg)
        assert (asked.analyst(token) is not None) == opens, (kid, named, alg)


def _threads(name: str) -> int:
    return sum(each.name.startswith(name) for each in threading.enumerate())


def test_a_provider_that_does_not_answer_keeps_nobody_out(
    tmp_path: Path, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More requests wait for it than the loop has threads, but the desk's own tokens still work."""
    monkeypatch.setattr(sign_on, "_SECONDS", PATIENCE)
    with _signed_on_clinic(tmp_path, issuer.url).in_background() as server:
        own = Caller.of(server, "epidemiology")
        token = issuer.token()
        statuses: list[int] = []
        issuer.may_answer.clear()
        others = _threads("sign-on")
        waiting = [
            threading.Thread(target=lambda: statuses.append(_reply(server, token).status))
            for _ in range(40)
        ]
        for each in waiting:
            each.start()
        until(lambda: _threads("sign-on") == others + sign_on._THREADS, "every thread to wait")
        assert own("/api/plan", MODE).status == 200
        assert statuses == []
        issuer.may_answer.set()
        for each in waiting:
            each.join()
        assert statuses == [200] * 40


def test_a_withdrawn_key_opens_nothing_once_keys_are_looked_up_again(
    tmp_path: Path, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Provider(_owner(tmp_path, issuer.url))
    assert asked.analyst(issuer.token()) == "epidemiology"
    issuer.keys["two"] = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    issuer.published = ["two"]
    monkeypatch.setattr(sign_on, "KEYS_KEPT", 0.0)
    monkeypatch.setattr(sign_on, "_KEYS_AGAIN", -1.0)
    assert asked.analyst(issuer.token()) is None
    assert asked.analyst(issuer.token(key=issuer.keys["two"], kid="two")) == "epidemiology"


def test_a_revoked_token_opens_nothing_where_the_provider_is_asked(
    tmp_path: Path, issuer: Issuer
) -> None:
    asked = Provider(_owner(tmp_path, issuer.url, introspection=True))
    token = issuer.token()
    assert asked.analyst(token) == "epidemiology"
    issuer.revoked.add(token)
    assert asked.analyst(token) is None


def test_a_provider_that_redirects_or_calls_itself_otherwise_is_not_believed(
    tmp_path: Path, issuer: Issuer
) -> None:
    owner = _owner(tmp_path, issuer.url)
    issuer.redirects = True
    assert Provider(owner).analyst(issuer.token()) is None
    issuer.redirects = False
    assert Provider(owner).analyst(issuer.token()) == "epidemiology"
    named = clinic_at_again(tmp_path, issuer.url.replace("127.0.0.1", "localhost"))
    assert Provider(named).analyst(issuer.token(iss=named_issuer(named))) is None


def test_a_session_is_of_the_person_and_not_of_the_name(tmp_path: Path, issuer: Issuer) -> None:
    """The owner may give the name to a successor; the predecessor's browser is then signed out."""
    with _signed_on_clinic(tmp_path, issuer.url).in_background() as server:
        person = Provider(server.owner).person("epidemiology")
        session = server.desk.store.new_token("epidemiology", seconds=600, person=person)
        cookie = {"cookie": f"discreet_desk={session}"}
        assert Caller(server, None)("/api/desk", **cookie).content["analyst"] == "epidemiology"
        assert server.desk.store.holder(session) is None
    file = tmp_path / "clinic.toml"
    as_it_was = file.read_text()
    without = as_it_was.partition("[desk.sign_on]")[0] + as_it_was.partition('"secret.txt"')[2]
    for changed in (
        as_it_was.replace(SUBJECT, "the successor"),
        without.replace(f'subject = "{SUBJECT}"', ""),
    ):
        assert changed != as_it_was
        file.write_text(changed)
        with DeskServer(read_owner_file(file)).in_background() as server:
            assert Caller(server, None)("/api/desk", **cookie).status == 401


@pytest.mark.parametrize("said", [b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 9000])
def test_a_provider_that_makes_no_sense_is_one_sentence(said: bytes, tmp_path: Path) -> None:
    class Nonsense(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.rfile.readline()
            self.wfile.write(said)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Nonsense) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}"
            made = Issuer()
            made.url = url
            with _signed_on_clinic(tmp_path, url).in_background() as desk:
                assert _reply(desk, made.token()).status == 401
                refused = Caller(desk, None)("/api/sign-on")
                assert (refused.status, refused.content["error"]) == (503, SIGN_ON_FAILED)
        finally:
            server.shutdown()
            serving.join()


def test_who_leaves_the_owners_file_is_out(tmp_path: Path, issuer: Issuer) -> None:
    owner = _owner(tmp_path, issuer.url)
    assert Provider(owner).analyst(issuer.token()) == "epidemiology"
    left = {name: each for name, each in owner.analyst.items() if name != "epidemiology"}
    assert Provider(owner.model_copy(update={"analyst": left})).analyst(issuer.token()) is None


def clinic_at_again(folder: Path, issuer: str) -> Any:
    text = (folder / "clinic.toml").read_text()
    start = text.index('issuer = "')
    end = text.index("\n", start)
    (folder / "clinic.toml").write_text(f'{text[:start]}issuer = "{issuer}"{text[end:]}')
    return read_owner_file(folder / "clinic.toml")


def named_issuer(owner: Any) -> str:
    return str(owner.desk.sign_on.issuer)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"issuer": "http://login.example.org"}, "an https address, or one on this machine"),
        ({"issuer": "https://["}, "an https address, or one on this machine"),
        ({"algorithms": ["HS256"]}, "algorithms"),
        ({"algorithms": ["none"]}, "algorithms"),
        ({"algorithms": []}, "at least one"),
        ({"skew": 4000}, "skew"),
    ],
)
def test_what_would_weaken_the_check_is_refused(
    change: dict[str, object], said: str, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"issuer": "https://login.example.org", **change}
    text = OWNER_FILE.format(ledger="budget.db", slots="", workers=1, epsilon=40, desk="")
    text = text.replace("[table.visits]\n", _desk(**given) + "\n[table.visits]\n", 1)
    (tmp_path / "clinics.txt").write_text("north\n")
    (tmp_path / "clinic.toml").write_text(text)
    with pytest.raises(ParameterError, match=said):
        read_owner_file(tmp_path / "clinic.toml")


def test_a_subject_needs_a_provider_and_is_one_analysts(tmp_path: Path) -> None:
    text = OWNER_FILE.format(ledger="budget.db", slots="", workers=1, epsilon=40, desk="")
    (tmp_path / "clinics.txt").write_text("north\n")
    named = text.replace("tables = [", 'subject = "1"\ntables = [')
    for given, said in (
        (named, "two analysts have the same subject"),
        (named.replace('subject = "1"', 'subject = "2"', 1), r"needs \[desk.sign_on\]"),
    ):
        (tmp_path / "clinic.toml").write_text(given)
        with pytest.raises(ParameterError, match=said):
            read_owner_file(tmp_path / "clinic.toml")
