"""The server serves only this page and only this machine."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from discreet._web import SAFE_HEADERS
from discreet.errors import DiscreetError
from discreet.explore.server import PageServer
from discreet.explore.uploads import MOST_BYTES
from tests.tools.waiting import PATIENCE, until

POLICY = SAFE_HEADERS["content-security-policy"]


def _ask(
    server: PageServer, path: str, *, method: str = "GET", body: Any = None, **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body=body, headers=named)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content, {name.lower(): value for name, value in answer.getheaders()}


def _path(server: PageServer, name: str = "") -> str:
    return f"/{server.token}/{name}"


def test_the_page_and_its_headers(server: PageServer) -> None:
    status, content, headers = _ask(server, _path(server))
    assert status == 200
    assert b"discreet" in content
    assert headers["content-security-policy"] == POLICY
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY


def test_the_page_has_no_inline_script_or_style(server: PageServer) -> None:
    _, content, _ = _ask(server, _path(server))
    assert content.count(b"<script") == content.count(b'<script type="module" src=')
    assert b"<style" not in content
    assert b"style=" not in content
    assert b"http://" not in content
    assert b"https://" not in content


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/index.html",
        "/api/start",
        "/0000/",
        "/{almost}/",
        "/{token}",
        "//{token}/",
        "/{token}x/",
    ],
)
def test_without_the_token_there_is_nothing(server: PageServer, path: str) -> None:
    almost = server.token[:-1] + ("0" if server.token[-1] != "0" else "1")
    status, content, _ = _ask(server, path.format(token=server.token, almost=almost))
    assert status == 404
    assert content == b"Not found."


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""]
)
def test_other_hosts_are_refused(server: PageServer, host: str) -> None:
    status, _, _ = _ask(server, _path(server), Host=host.format(port=server.port))
    assert status in (400, 421)


def test_two_hosts_are_refused(server: PageServer) -> None:
    request = f"GET {_path(server)} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nHost: evil.example\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw:
        raw.sendall(request.encode())
        assert raw.recv(20).split()[1] in (b"400", b"421")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"]
)
def test_other_origins_are_refused(server: PageServer, origin: str) -> None:
    status, _, headers = _ask(
        server,
        _path(server, "api/figures"),
        method="POST",
        body="{}",
        Origin=origin.format(port=server.port),
    )
    assert status == 403
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_that_another_page_caused_are_refused(server: PageServer, site: str) -> None:
    assert _ask(server, _path(server), Sec_Fetch_Site=site)[0] == 403


def test_its_own_origin_is_welcome(server: PageServer) -> None:
    own = f"http://127.0.0.1:{server.port}"
    status, content, _ = _ask(
        server, _path(server, "api/figures"), method="POST", body="{}", Origin=own
    )
    assert status == 400
    assert b"source" in content


def test_a_large_body_is_refused_before_it_is_read(server: PageServer) -> None:
    head = (
        f"POST {_path(server, 'api/file')} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Content-Length: {MOST_BYTES + 1}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw:
        raw.sendall(head.encode())  # and not one byte of the body
        assert raw.recv(20).split()[1] == b"413"


def test_a_large_body_of_unknown_length_is_cut_off(server: PageServer) -> None:
    head = (
        f"POST {_path(server, 'api/file')} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        "Transfer-Encoding: chunked\r\nX-Not-Private: yes\r\nX-File-Name: a.csv\r\n\r\n"
    )
    chunk = b"100000\r\n" + b"1" * 0x100000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw:
        raw.sendall(head.encode())
        try:
            for _ in range(MOST_BYTES // 0x100000 + 2):
                raw.sendall(chunk)
            raw.sendall(b"0\r\n\r\n")
            assert raw.recv(20).split()[1] == b"413"
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server hung up first


@pytest.mark.parametrize(
    "name", ["..%2f..%2fpyproject.toml", "no-such.js", "%2e%2e/app.py", "__init__.py", ".hidden.js"]
)
def test_only_the_pages_own_files(server: PageServer, name: str) -> None:
    assert _ask(server, _path(server, name))[0] == 404


def test_websockets_are_closed(server: PageServer) -> None:
    status, _, _ = _ask(
        server,
        _path(server),
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Key="AAAAAAAAAAAAAAAAAAAAAA==",
        Sec_WebSocket_Version="13",
    )
    assert status != 101


def test_it_listens_on_the_loopback_interface_only(server: PageServer) -> None:
    listening = server._socket.getsockname()
    assert listening[0] == "127.0.0.1"
    # If this machine has another address, nothing answers there.
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(
            ("192.0.2.1", 9)
        )  # sends no packet, only finds out which address would be used
        address = probe.getsockname()[0]
    except OSError:
        address = "127.0.0.1"
    finally:
        probe.close()
    if not address.startswith("127."):
        with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
            socket.create_connection((address, server.port), timeout=2).close()


def test_tokens_and_ports_are_fresh(server: PageServer) -> None:
    with PageServer().in_background() as other:
        assert other.token != server.token
        assert len(other.token) == 48
        assert _ask(other, _path(server))[0] == 404


def test_a_port_that_is_taken(server: PageServer) -> None:
    with pytest.raises(DiscreetError, match="is taken"):
        PageServer(port=server.port)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[" * 50_000, b"null", b"\xff", b'{"source": "inline"}', b"[1]"]
)
def test_requests_that_are_no_state(server: PageServer, body: bytes) -> None:
    for name in ("api/figures", "api/audit", "api/scores"):
        status, content, _ = _ask(server, _path(server, name), method="POST", body=body)
        assert status == 400
        assert json.loads(content)["error"]


def test_a_file_must_be_declared(server: PageServer) -> None:
    where = _path(server, "api/file")
    status, content, _ = _ask(server, where, method="POST", body=b"a,1\nb,2\n", X_File_Name="a.csv")
    assert status == 400
    assert b"public" in content
    status, content, _ = _ask(
        server, where, method="POST", body=b"a,1\nb,2\n", X_File_Name="a.csv", X_Not_Private="yes"
    )
    assert status == 200
    # The page gets the file's name and size; its scores stay in the server's memory.
    described = json.loads(content)
    assert described["name"] == "a.csv"
    assert "inline" not in described


_AUDIT = {
    "mechanism": "permute-and-flip",
    "claim": "pure",
    "amount": "1",
    "epsilon": "1",
    "delta": "",
    "sensitivity": "1",
    "n": 2,
    "monotonic": None,
}


def test_an_audit_runs_and_can_be_cancelled(server: PageServer) -> None:
    wanted = {**_AUDIT, "claim": "bounded-range"}
    where = _path(server, "api/audit")
    status, content, _ = _ask(server, where, method="POST", body=json.dumps(wanted))
    assert status == 200
    job = json.loads(content)["job"]
    messages: list[Any] = []

    def ended() -> bool:
        _, content, _ = _ask(server, _path(server, f"api/job/{job}?seen={len(messages)}"))
        news = json.loads(content)
        messages.extend(news["messages"])
        return bool(news["ended"])

    until(ended, "the audit's verdict")
    assert messages[-1][0] == "done"
    assert messages[-1][1]["status"] == "refuted"
    assert {message[0] for message in messages[:-1]} == {"progress"}
    _, content, _ = _ask(server, where, method="POST", body=json.dumps({**wanted, "n": 6}))
    job = json.loads(content)["job"]
    assert _ask(server, _path(server, f"api/job/{job}"), method="DELETE")[0] == 200
    assert _ask(server, _path(server, f"api/job/{job}"))[0] == 400


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"mechanism": "none"}, "mechanism="),
        ({"claim": "none"}, "claim="),
        ({"epsilon": "0"}, "epsilon="),
        ({"amount": "-1"}, "amount="),
        ({"sensitivity": "0"}, "sensitivity="),
        ({"n": 60}, "n=60"),
        ({"n": 1}, "n=1"),
        ({"monotonic": 5}, "monotonic="),
    ],
)
def test_a_wrong_audit_is_refused_at_once(
    server: PageServer, part: dict[str, Any], words: str
) -> None:
    body = json.dumps({**_AUDIT, **part})
    status, content, _ = _ask(server, _path(server, "api/audit"), method="POST", body=body)
    assert status == 400
    assert words in json.loads(content)["error"]


def test_a_name_too_long_for_any_file_is_not_found(server: PageServer) -> None:
    for name in ("a" * 5_000, "a" * 5_000 + ".js", "..%2Fapp.py", "app.js%00"):
        assert _ask(server, _path(server, name))[0] == 404


def test_ending_while_something_is_computed_is_quiet(tmp_path: Path) -> None:
    """The charts' script takes seconds to build the first time; the interrupt comes during that time."""
    command = [sys.executable, "-m", "discreet", "explore", "--no-browser", "--json"]
    fresh = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=fresh
    ) as process:
        assert process.stdout is not None
        said = "".join(process.stdout.readline() for _ in range(3))
        address = urlsplit(json.loads(said)["url"])
        waiting = http.client.HTTPConnection("127.0.0.1", address.port or 0, timeout=PATIENCE)
        waiting.request("GET", f"{address.path}vega.js")
        # Requests are read in order: when the second one is answered, work on the first has begun.
        urllib.request.urlopen(f"{address.geturl()}api/start", timeout=PATIENCE).close()  # noqa: S310
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=PATIENCE)
        waiting.close()
    assert process.returncode == 130
    assert complaints == "The page is for this machine only. Stop it with Ctrl-C.\n"
