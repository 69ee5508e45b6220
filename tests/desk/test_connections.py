"""Real loopback connections: floods and unfinished requests do not lock out token holders."""

from __future__ import annotations

import contextlib
import datetime
import http.client
import ipaddress
import json
import resource
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from starlette.requests import Request

from discreet.desk import connections
from discreet.desk.admission import Desk, DeskError
from discreet.desk.application import DeskApplication
from discreet.desk.connections import PER_ADDRESS, STRANGERS
from discreet.desk.owner_file import read_owner_file
from discreet.desk.serving import DeskServer
from discreet.errors import ParameterError
from tests.tools.desks import MODE, Caller, clinic_at
from tests.tools.waiting import PATIENCE, until

FLOOD = 1100
UNFINISHED = b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@pytest.fixture(autouse=True, scope="module")
def _many_files() -> Iterator[None]:
    """Allow many open files, because both ends of every connection are in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < 4096 else max(soft, 4096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextlib.contextmanager
def _strangers(
    server: DeskServer, count: int, *, addresses: int, sent: bytes = UNFINISHED
) -> Iterator[list[socket.socket]]:
    """Open connections from several addresses of this machine that never finish their requests."""
    with contextlib.ExitStack() as opened:
        found = []
        for number in range(count):
            source = f"127.0.0.{2 + number % addresses}"
            line = opened.enter_context(
                socket.create_connection(
                    server.owner.desk.address, timeout=PATIENCE, source_address=(source, 0)
                )
            )
            line.sendall(sent)
            found.append(line)
        yield found


def _is_ended(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        return line.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("addresses", [1, 60])
def test_unfinished_requests_of_strangers_keep_nobody_out(
    desk_in: Callable[..., DeskServer], addresses: int
) -> None:
    with desk_in().in_background() as server:
        call = Caller.of(server, "epidemiology")
        with _strangers(server, FLOOD, addresses=addresses) as lines:
            left = min(STRANGERS, addresses * PER_ADDRESS)
            until(lambda: sum(map(_is_ended, lines)) >= FLOOD - left, "the oldest to be ended")
            assert call("/api/desk").status == 200
            assert call("/api/ask", MODE).status == 200
            assert sum(map(_is_ended, lines)) <= FLOOD - left + 10  # only as many as necessary


def test_who_has_shown_a_token_keeps_the_connection(desk_in: Callable[..., DeskServer]) -> None:
    with desk_in().in_background() as server:
        call = Caller.of(server, "epidemiology")
        host, port = server.owner.desk.address
        line = http.client.HTTPConnection(host, port, timeout=PATIENCE)
        shown = {"authorization": f"Bearer {call.token}"}

        def ask() -> tuple[int, object]:
            line.request("GET", "/api/desk", headers=shown)
            reply = line.getresponse()
            return reply.status, json.load(reply)["analyst"]

        assert ask() == (200, "epidemiology")
        kept = line.sock
        with _strangers(server, PER_ADDRESS + 20, addresses=1, sent=b"") as lines:
            until(lambda: sum(map(_is_ended, lines)) >= 20, "the oldest to be ended")
            assert ask() == (200, "epidemiology")
        assert line.sock is kept
        line.close()


def test_a_question_over_a_connection_that_the_desk_dropped_is_not_paid(
    desk_in: Callable[..., DeskServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request may arrive at the moment when the desk drops its connection for another."""
    arrived = connections.Connection._arrived

    async def drop_first(self: connections.Connection, *asgi: Any) -> None:
        self.drop()
        await arrived(self, *asgi)

    with desk_in().in_background() as server:
        call = Caller.of(server, "epidemiology")
        with monkeypatch.context() as patch:
            patch.setattr(connections.Connection, "_arrived", drop_first)
            body = json.dumps(MODE)
            headers = (
                f"POST /api/ask HTTP/1.1\r\nHost: {call.url.removeprefix('http://')}\r\n"
                f"Authorization: Bearer {call.token}\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            with socket.create_connection(server.owner.desk.address, timeout=PATIENCE) as line:
                line.sendall((headers + body).encode())  # in one piece, so all of it has arrived
                until(lambda: _is_ended(line), "the connection to be dropped")
        until(lambda: call("/api/ask", MODE).status != 429, "the end of a question under way")
        entries = server.desk.ledger.history("clinic/epidemiology")
        assert [entry.kind for entry in entries] == ["allot", "spend"]
        assert len(server.desk.store.asked("epidemiology")) == 1


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost:",
        b"POST /api/session HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\n{",
        b"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\n{",
    ],
)
def test_a_request_that_does_not_arrive_in_time_is_ended(
    desk_in: Callable[..., DeskServer], monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    """This covers headers, a body, the next request, and the rest of an unread body."""
    monkeypatch.setattr(connections, "ARRIVAL", 0.2)
    with desk_in().in_background() as server:
        host = "{}:{}".format(*server.owner.desk.address).encode()
        with socket.create_connection(server.owner.desk.address, timeout=PATIENCE) as line:
            line.sendall(sent.replace(b"{host}", host))
            told = b""
            with contextlib.suppress(ConnectionResetError):
                while part := line.recv(65536):
                    told += part
        if b"POST" in sent:
            assert b"408" in told.splitlines()[0]
            assert b"did not arrive in time; nothing was spent" in told


@pytest.mark.parametrize("garbage", [b"", b"\x16\x03", b"GET / HTTP/1.1\r\n\r\n"])
def test_tls_that_is_never_spoken_keeps_nobody_out(tmp_path: Path, garbage: bytes) -> None:
    certificate = _certificate(tmp_path)
    clinic_at(
        tmp_path,
        desk='tls = {certificate = "desk.pem", key = "desk.key"}',
    )
    with DeskServer(read_owner_file(tmp_path / "clinic.toml")).in_background() as server:
        token = server.desk.store.new_token("epidemiology", days=1)
        with _strangers(server, PER_ADDRESS + 50, addresses=1, sent=garbage) as lines:
            until(lambda: sum(map(_is_ended, lines)) >= 50, "the oldest to be ended")
            host, port = server.owner.desk.address
            trusting = ssl.create_default_context(cafile=str(certificate))
            line = http.client.HTTPSConnection(host, port, context=trusting, timeout=PATIENCE)
            line.request("GET", "/api/desk", headers={"authorization": f"Bearer {token}"})
            reply = line.getresponse()
            assert reply.status == 200
            assert reply.headers["strict-transport-security"]
            line.close()


def test_a_certificate_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    owner = clinic_at(tmp_path, desk='tls = {certificate = "desk.pem", key = "desk.key"}')
    with pytest.raises(ParameterError, match=r"desk.pem .* cannot be read as"):
        DeskServer(owner)


def test_addresses_of_one_provider_are_counted_together() -> None:
    assert connections.network("2001:db8::1") == connections.network("2001:db8::2:1")
    assert connections.network("2001:db8::1") != connections.network("2001:db8:0:1::1")
    assert connections.network("::ffff:127.0.0.2") != connections.network("::ffff:127.0.0.3")
    assert connections.network("127.0.0.2") != connections.network("127.0.0.3")


def test_strangers_of_one_network_share_what_a_minute_allows(tmp_path: Path) -> None:
    desk = Desk(clinic_at(tmp_path))
    strangers = DeskApplication(desk)

    def come(host: str) -> None:
        strangers._require_calm_stranger(Request({"type": "http", "client": (host, 1)}))

    for place in range(desk.owner.desk.requests_per_minute):
        come(f"2001:db8::{place:x}")
    with pytest.raises(DeskError, match="too many requests"):
        come("2001:db8::ffff:ffff")
    come("2001:db8:0:1::1")
    desk.ledger.close()
    desk.store.close()


def _certificate(folder: Path) -> Path:
    """Return a certificate for 127.0.0.1 made for this test, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "desk")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "desk.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "desk.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return folder / "desk.pem"
