"""The desk over HTTP: access, free refusals, and that nothing but answers is sent."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet import PureDP
from discreet._cli import app
from discreet.desk import application
from discreet.desk.admission import Desk
from discreet.desk.application import DeskApplication, DoorKeeper
from discreet.desk.description import planned
from discreet.desk.openapi import openapi
from discreet.desk.serving import DeskServer
from discreet.desk.shapes import Request
from discreet.desk.store import ANSWERED, PAID, REFUSED
from tests.tools.desks import MODE, Caller, Reply, Slots, clinic_at
from tests.tools.waiting import PATIENCE, until


def _spent(call: Caller) -> str:
    return str(call("/api/desk").content["tables"]["visits"]["spent"])


def test_a_question_is_paid_answered_at_the_end_of_its_slot_and_free_when_read_again(
    desk_in: Callable[..., DeskServer], slots: Slots
) -> None:
    with desk_in().in_background() as server:
        call = Caller.of(server, "epidemiology")
        replies: list[Reply] = []
        asking = threading.Thread(
            target=lambda: replies.append(call("/api/ask", MODE, idempotency_key="first"))
        )
        with slots.held():
            asking.start()
            until(lambda: slots.left, "the worker's answer")
            assert call("/api/answers").content[0]["state"] == PAID
            assert replies == []
        asking.join()
        (reply,) = replies
        assert reply.status == 200
        assert reply.content["state"] == ANSWERED
        assert reply.content["release"]["answer"] == "flu"
        assert reply.content["release"]["rules"]
        before = _spent(call)
        assert call("/api/ask", MODE, idempotency_key="first").content == reply.content
        assert reply.content in call("/api/answers").content
        other = call("/api/ask", {**MODE, "epsilon": 4}, idempotency_key="first")
        assert other.status == 409
        assert _spent(call) == before


def test_no_reply_to_a_paid_question_leaves_before_its_slot_is_over_by_the_clock(
    desk_in: Callable[..., DeskServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a busy machine has no answer by then, the desk says so at that moment."""
    monkeypatch.undo()  # this test uses real slots
    with desk_in(slot=1).in_background() as server:
        call = Caller.of(server, "epidemiology")
        began = time.monotonic()
        assert call("/api/ask", MODE).status in (200, 410, 503)
        assert time.monotonic() - began >= 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"table": "people"}, "table='people' is not allowed"),
        ({"column": "secret"}, "column='secret' is not allowed"),
        ({"column": "patient_id"}, "column='patient_id' is not allowed"),
        ({"candidates": ["flu"]}, "not an option of this question"),
        ({"bounds": [0, 1]}, "not an option of this question"),
        ({"groups": ["north"]}, "not an option of this question"),
        ({"epsilon": 0.001}, "from 0.01 to 20 for one question"),
        ({"epsilon": 21}, "from 0.01 to 20"),
        ({"epsilon": "nan"}, "a finite number above 0"),
        ({"epsilon": -1}, "a finite number above 0"),
        ({"epsilon": [1]}, "epsilon"),
        ({"where": "secret = 'only3'"}, "a condition may use these columns: clinic"),
        ({"where": "1; drop table"}, "where"),
        ({"by": "age"}, "has no listed values on this desk"),
        ({"kind": "select_by"}, "score: missing"),
        ({"kind": "median"}, "has no bounds on this desk"),
        ({"kind": "top_k", "k": 0}, "at least 1"),
    ],
)
def test_what_the_file_does_not_list_cannot_be_asked(
    call: Caller, change: dict[str, object], said: str
) -> None:
    before = _spent(call)
    for path in ("/api/plan", "/api/ask"):
        reply = call(path, {**MODE, **change})
        assert reply.status == 400
        assert said in reply.content["error"]
    assert _spent(call) == before


def test_a_condition_that_the_lists_rule_out_is_refused_unpaid(call: Caller) -> None:
    before = _spent(call)
    for where in ("clinic = 'nowhere'", "clinic in ('nowhere', 'elsewhere')"):
        for path in ("/api/plan", "/api/ask", "/api/rehearse", "/api/suggest"):
            reply = call(path, {**MODE, "where": where})
            assert reply.status == 400
            assert "no row would count" in reply.content["error"]
    assert _spent(call) == before
    for where in ("clinic = 'south'", "clinic in ('north', 'nowhere')", "clinic != 'nowhere'"):
        assert call("/api/plan", {**MODE, "where": where}).status == 200


def test_the_least_useful_epsilon_is_suggested(call: Caller) -> None:
    suggested = call("/api/suggest", MODE).content
    assert suggested["judgement"] == "useful"
    judged = call("/api/plan", {**MODE, "epsilon": suggested["epsilon"]}).content["accuracy"]
    assert judged["judgement"] == "useful"
    least = call("/api/desk").content["epsilon"]["least"]
    if suggested["epsilon"] != least:
        weaker = call("/api/plan", {**MODE, "epsilon": least}).content["accuracy"]
        assert weaker["judgement"] != "useful"


def test_nothing_is_suggested_that_cannot_be_afforded(call: Caller) -> None:
    """With 400 people in 400 groups, no useful answer fits the remaining budget."""
    planning = Caller.of(call.server, "planning")
    deciles = {
        "kind": "quantiles",
        "table": "visits",
        "column": "age",
        "at": ["0.01", "0.5", "0.99"],
    }
    asked = {**deciles, "epsilon": 1, "where": "clinic = 'north'", "by": "clinic"}
    found = planning("/api/suggest", asked)
    assert found.status == 200
    if found.content["epsilon"] is not None:
        assert float(found.content["epsilon"]) <= 2


def test_proof_pages_are_served_and_nothing_else_by_that_way(call: Caller) -> None:
    assert b"<h1>" in Caller(call.server, None)("/proofs/permute-and-flip").content
    for name in ("..%2fdesk", "README.md", "absent", "%2e%2e", "a" * 99):
        assert call(f"/proofs/{name}").status == 404


def test_a_long_condition_is_answered(call: Caller) -> None:
    """The condition is longer than a purpose in the ledger may be; the desk sets the purpose itself."""
    where = " or ".join(["clinic = 'north'"] * 90)
    assert 1000 < len(where) <= 2000
    reply = call("/api/ask", {**MODE, "where": where, "epsilon": 1})
    assert reply.status == 200, reply.content
    longer = call("/api/ask", {**MODE, "where": where + " " * 1000})
    assert (longer.status, longer.content["error"]) == (
        400,
        "where: it must have at most 2000 characters",
    )


def test_a_condition_outside_the_owners_list_is_doubted_before_the_payment(call: Caller) -> None:
    """The desk warns if only some literals are on the list, and refuses the condition if none is."""
    plan = call("/api/plan", {**MODE, "where": "clinic in ('north', 'nowhere')"}).content
    assert plan["doubts"] == [
        "No row has clinic = 'nowhere': the column has another public list of values."
    ]
    assert not call("/api/plan", {**MODE, "where": "clinic = 'north'"}).content["doubts"]
    refused = call("/api/plan", {**MODE, "where": "clinic > 5"})
    assert (refused.status, "write texts in single quotes" in refused.content["error"]) == (
        400,
        True,
    )


def test_what_does_not_fit_the_analysts_part_is_refused_unpaid(call: Caller) -> None:
    token = call.server.desk.store.new_token("planning", days=1)
    planning = Caller(call.server, token)
    assert planning("/api/plan", {**MODE, "epsilon": 2}).content["fits"]
    part = call.server.desk.ledger.show("clinic/planning")
    call.server.desk.ledger.spend("clinic/planning", PureDP("1.5"), purpose="elsewhere")
    plan = planning("/api/plan", {**MODE, "epsilon": 1}).content
    assert not plan["fits"]
    reply = planning("/api/ask", {**MODE, "epsilon": 1})
    assert reply.status == 400
    assert "does not fit" in reply.content["error"]
    assert planning("/api/answers").content[0]["state"] == REFUSED
    assert call.server.desk.ledger.show("clinic/planning").total != part.total


def test_what_is_planned_as_fitting_is_answered(desk_in: Any) -> None:
    """Five quantiles are three choices at a third of ε each, so they fit if exactly ε is left."""
    quantiles = {"kind": "quantiles", "table": "visits", "column": "age", "epsilon": 1}
    quantiles["at"] = [0.1, 0.25, 0.5, 0.75, 0.9]
    with desk_in().in_background() as server:
        planning = Caller(server, server.desk.store.new_token("planning", days=1))
        server.desk.ledger.spend("clinic/planning", PureDP(1), purpose="elsewhere")
        assert planning("/api/plan", quantiles).content["fits"]
        reply = planning("/api/ask", quantiles)
        assert reply.status == 200, reply.content
        assert len(reply.content["release"]["answer"]) == 5
        assert server.desk.ledger.show("clinic/planning").left == "ε = 0"


def test_tokens_open_only_while_they_are_valid(call: Caller) -> None:
    store = call.server.desk.store
    stranger = Caller(call.server, None)
    for token in (None, "", "discreet_" + "0" * 64, "Ω", "x" * 5000):
        stranger.token = (
            token if token is None else token.encode("latin-1", "replace").decode("latin-1")
        )
        assert stranger("/api/desk").status == 401
        assert stranger("/api/ask", MODE).status == 401
    old = store.new_token("planning", days=-1)
    assert Caller(call.server, old)("/api/desk").status == 401
    other = store.new_token("planning", days=1)
    assert Caller(call.server, other)("/api/desk").status == 200
    assert store.revoke("planning") >= 1
    assert Caller(call.server, other)("/api/desk").status == 401
    assert other.encode() not in Path(str(call.server.owner.desk.store)).read_bytes()


def test_a_cookie_is_closed_to_scripts_and_to_other_sites(call: Caller) -> None:
    token, call.token = call.token, None
    reply = call("/api/session", {"token": token})
    cookie = reply.headers["set-cookie"]
    assert reply.status == 200
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    shown = cookie.partition(";")[0]
    assert call("/api/desk", cookie=shown).status == 200
    # Another site's form can at most send the cookie; it cannot add a header.
    assert call("/api/plan", MODE, cookie=shown).status == 401
    page = {"cookie": shown, "x_discreet_desk": "page"}
    assert call("/api/plan", MODE, **page).status == 200
    for evil in ({"origin": "https://evil.example"}, {"sec_fetch_site": "cross-site"}):
        assert call("/api/plan", MODE, **page, **evil).status == 403
    assert call("/api/session", {"token": "wrong"}).status == 401


def test_a_cookie_over_tls_cannot_be_set_by_another_host_of_the_domain(
    desk_in: Callable[..., DeskServer],
) -> None:
    with desk_in(desk="behind_proxy = true").in_background() as server:
        call = Caller(server, None)
        token = server.desk.store.new_token("epidemiology", days=1)
        cookie, *attributes = (
            call("/api/session", {"token": token}).headers["set-cookie"].split("; ")
        )
        assert cookie == f"__Host-discreet_desk={token}"
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=strict"} <= set(attributes)
        assert not any(each.startswith("Domain") for each in attributes)
        assert call("/api/desk", cookie=cookie).status == 200
        assert call("/api/desk", cookie=cookie.removeprefix("__Host-")).status == 401
        left = call("/api/session", method="DELETE", cookie=cookie).headers["set-cookie"]
        assert left.startswith('__Host-discreet_desk="";')
        assert {"Secure", "Path=/", "Max-Age=0"} <= set(left.split("; "))


def test_only_known_hosts_are_served_and_headers_are_safe(call: Caller) -> None:
    for host in ("evil.example", "127.0.0.1", "", "127.0.0.1:1"):
        assert call("/", host=host).status == 421
    page = call("/")
    assert page.status == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "no-store"
    assert "server" not in page.headers


@pytest.mark.parametrize(
    "path",
    [
        "/../clinic.toml",
        "/%2e%2e/clinic.toml",
        "/owner_file.py",
        "/.hidden.js",
        "/" + "a" * 9000,
        "/api/x",
    ],
)
def test_nothing_else_is_served(call: Caller, path: str) -> None:
    assert call(path).status in (400, 404, 414)


def test_what_an_analyst_writes_is_neither_sql_nor_control_characters(
    desk_in: Callable[..., DeskServer], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wild = "\x1b]0;owned\x07'; DROP TABLE questions; --"
    with desk_in().in_background() as server:
        call = Caller.of(server, "epidemiology")
        quoted = wild.replace("'", "''")
        assert call("/api/ask", {**MODE, "where": f"clinic != '{quoted}'"}).status == 200
        for change in (
            {"kind": wild},
            {"table": wild},
            {"column": wild},
            {"where": wild},
            {wild: 1},
        ):
            refused = call("/api/ask", {**MODE, **change})
            assert refused.status == 400
            assert refused.content["error"].isprintable()
        (kept,) = call("/api/answers").content
        assert kept["release"]["answer"] == "flu"
        purpose = server.desk.ledger.history("clinic/epidemiology")[-1].details["purpose"]
        assert "DROP TABLE" in purpose
        assert purpose.isprintable()
    printed = CliRunner().invoke(app, ["desk", "log", str(tmp_path / "clinic.toml")]).stdout
    assert "diagnosis" in printed
    assert not set("\x1b\x07") & set(printed + caplog.text)


def test_bodies_are_small_and_must_be_json(call: Caller) -> None:
    assert call("/api/ask", b"x" * 70_000).status == 413
    for body in (
        b"",
        b"{",
        b"[1]",
        b'"x"',
        b"\xff\xfe",
        b"[" * 30_000,
        b'{"kind": "mode"}',
        b"NaN",
    ):
        reply = call("/api/ask", body)
        assert reply.status == 400
        assert "Traceback" not in reply.content["error"]
    host, port = call.server.owner.desk.address
    line = http.client.HTTPConnection(host, port, timeout=PATIENCE)
    line.putrequest("POST", "/api/plan")
    line.putheader("Authorization", f"Bearer {call.token}")
    line.putheader("Transfer-Encoding", "chunked")
    line.endheaders()
    for _ in range(80):
        line.send(b"400\r\n" + b" " * 1024 + b"\r\n")
    line.send(b"0\r\n\r\n")
    assert line.getresponse().status == 413
    line.close()


def test_keys_are_printable(call: Caller) -> None:
    assert call("/api/ask", MODE, idempotency_key="a b").status == 400
    assert call("/api/ask", MODE, idempotency_key="x" * 201).status == 400


def test_one_question_of_an_analyst_at_a_time(call: Caller, slots: Slots) -> None:
    replies: list[int] = []
    first = threading.Thread(
        target=lambda: replies.append(call("/api/ask", {**MODE, "epsilon": 1}).status)
    )
    with slots.held():
        first.start()
        until(lambda: "epidemiology" in call.server.desk._asking, "the first question")
        second = call("/api/ask", {**MODE, "epsilon": 1})
    assert second.status == 429
    assert "one question at a time" in second.content["error"]
    first.join()
    assert replies == [200]


def test_the_plans_of_one_analyst_keep_nobody_waiting(
    desk_in: Callable[..., DeskServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More plans of one analyst wait than there are threads, and only one of them has a thread."""
    may_end = threading.Event()
    begun: list[str] = []

    def slowly(desk: Desk, analyst: str, request: Request) -> dict[str, Any]:
        begun.append(analyst)
        assert analyst == "planning" or may_end.wait(PATIENCE)
        return planned(desk, analyst, request)

    monkeypatch.setattr(application, "planned", slowly)
    with desk_in().in_background() as server:
        greedy, other = (Caller.of(server, name) for name in ("epidemiology", "planning"))
        question = {**MODE, "epsilon": 1}
        statuses: dict[str, list[int]] = {"greedy": [], "other": []}

        def plan(who: str, call: Caller) -> threading.Thread:
            made = threading.Thread(
                target=lambda: statuses[who].append(call("/api/plan", question).status)
            )
            made.start()
            return made

        plans = [plan("greedy", greedy) for _ in range(40)]
        until(lambda: len(server.desk._requests["epidemiology"]) == 40, "all plans to arrive")
        plans.append(plan("other", other))
        until(lambda: statuses["other"] or begun.count("epidemiology") > 1, "the other's plan")
        seen, at_once = (
            {who: list(each) for who, each in statuses.items()},
            begun.count("epidemiology"),
        )
        may_end.set()
        for each in plans:
            each.join()
        assert at_once == 1
        assert seen == {"greedy": [], "other": [200]}
        assert statuses["greedy"] == [200] * 40


def test_the_form_is_told_in_labels_of_people(call: Caller) -> None:
    """Labels contain no parameter names and no markup; errors name a field as the form does."""
    questions = call("/api/desk").content["questions"]
    assert questions["mode"]["label"] == "Most common value"
    for kind, told in questions.items():
        labels = [told["label"], *(field["label"] for field in told["fields"])]
        assert all(0 < len(label) <= 80 and not set(label) & set("`_⟨") for label in labels), kind
    ordered = {field["name"]: field["default"] for field in questions["top_k"]["fields"]}["ordered"]
    assert ordered is True
    page = {"x_discreet_desk": "page"}
    for change, said in (
        ({"where": "secret = 1"}, "“Only rows for which this holds” names 'secret'"),
        ({"by": "age"}, "“One answer for each group of this column” 'age' has no listed values"),
        ({"kind": "top_k", "k": 0}, "“How many”: it must be at least 1"),
        (
            {"kind": "quantiles", "at": []},
            "“The levels in increasing order”: it must have at least 1",
        ),
        ({"epsilon": 21}, "ε 21 is not allowed: it must be from 0.01 to 20"),
        ({"where": "clinic > 5"}, "“Only rows for which this holds”"),
    ):
        for path in ("/api/plan", "/api/ask"):
            error = call(path, {**MODE, **change}, **page).content["error"]
            assert said in error
            assert "where=" not in error


def test_the_description_is_of_the_shapes_that_are_checked(call: Caller) -> None:
    told = call("/api/openapi.json").content
    assert told == json.loads(json.dumps(openapi()))
    shape = {**told["components"]["schemas"]["Question"], "components": told["components"]}
    checker = jsonschema.Draft202012Validator(shape)
    assert checker.is_valid(MODE)
    assert not checker.is_valid({**MODE, "candidates": []})
    for epsilon, valid in ((0.1, True), ("0.1", True), (0, False), (-1, False), (0.0, False)):
        assert checker.is_valid({**MODE, "epsilon": epsilon}) == valid
        assert valid or call("/api/plan", {**MODE, "epsilon": epsilon}).status == 400
    assert not checker.is_valid({**MODE, "kind": "select_by"})


@pytest.mark.parametrize("method", ["TRACE", "PUT", "PATCH", "OPTIONS", "DELETE"])
def test_a_method_that_a_path_does_not_have_is_told(call: Caller, method: str) -> None:
    for path, allowed in (
        ("/", "GET, HEAD"),
        ("/api/desk", "GET, HEAD"),
        ("/api/ask", "POST"),
        ("/api/session", "DELETE, POST"),
    ):
        if method in allowed:
            continue
        reply = call(path, method=method)
        assert (reply.status, reply.headers["allow"]) == (405, allowed)
        assert (
            reply.content["error"] == f"{method} is not allowed here: it must be one of {allowed}"
        )
    assert call("/api/nowhere", method=method).status == 404


def test_no_reply_holds_anything_that_only_the_data_has(call: Caller) -> None:
    paths = ("plan", "suggest", "ask", "rehearse")
    replies = [call(path) for path in ("/api/desk", "/api/answers")]
    replies += [call(f"/api/{path}", {**MODE, "epsilon": "0.01"}) for path in paths]
    replies.append(call("/api/invented", {"table": "visits", "rows": 100}))
    for reply in replies:
        assert reply.status == 200
        assert not re.search(r"only\d|secret", json.dumps(reply.content))
    facts = call("/api/desk").content["tables"]["visits"]["columns"]
    assert set(facts) == {"diagnosis", "clinic", "age"}


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
_FIELDS = st.sampled_from(
    ["kind", "table", "column", "where", "by", "k", "at", "with_count", "above", "key", "⟨x⟩"]
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.dictionaries(_FIELDS, _ANYTHING, max_size=4), whole=_ANYTHING)
def test_no_request_breaks_the_desk(call: Caller, changes: dict[str, Any], whole: Any) -> None:
    """For any request, the reply is a documented one, in words, and nothing is spent."""
    before = _spent(call)
    unpaid = {**MODE, **changes, "epsilon": "1000000"}  # more than anyone may spend
    for path, body in (
        ("/api/plan", unpaid),
        ("/api/ask", unpaid),
        ("/api/ask", json.dumps(whole).encode()),
    ):
        reply = call(path, body)
        assert str(reply.status) in openapi()["paths"][path]["post"]["responses"]
        assert reply.status == 400
        assert reply.content["error"].strip()
    assert _spent(call) == before


def test_a_desk_that_speaks_tls_is_known_with_its_port_too(tmp_path: Path) -> None:
    listed = 'hosts = ["Desk.example.org"]\ntls = {certificate = "a", key = "b"}'
    owner = clinic_at(tmp_path, desk=listed)
    desk = Desk(owner)
    door = DeskApplication(desk).application().app
    assert isinstance(door, DoorKeeper)
    assert {"desk.example.org", "desk.example.org:0"} < door._hosts
    desk.ledger.close()
    desk.store.close()


def test_a_plan_shows_the_answer_that_the_analyst_already_has(
    desk_in: Callable[..., DeskServer],
) -> None:
    """However ε is written; another ε, condition or analyst is another question. Studies say so, too."""
    with desk_in().in_background() as server:
        call = Caller.of(server, "epidemiology")
        asked = {**MODE, "epsilon": 0.5}
        assert call("/api/plan", asked).content["answered"] is None
        first = call("/api/ask", asked).content
        assert call("/api/plan", {**MODE, "epsilon": "0.50"}).content["answered"] == first
        second = call("/api/ask", asked).content
        assert second["id"] != first["id"]
        assert call("/api/plan", asked).content["answered"] == second
        for other in ({"epsilon": 0.25}, {"where": "clinic = 'north'"}, {"by": "clinic"}):
            assert call("/api/plan", {**asked, **other}).content["answered"] is None
        planning = Caller.of(server, "planning")
        assert planning("/api/plan", asked).content["answered"] is None
        study = (
            '[study]\ntitle = "s"\n[table.visits]\nsource = "desk:visits"\n[[question]]\nname = "a"\n'
            'ask = "mode"\ntable = "visits"\ncolumn = "diagnosis"\nepsilon = 0.5\n'
        )
        (planned,) = call("/api/study", {"study": study}).content["questions"]
        assert planned["state"] is None
        assert planned["card"]["answered"] == second
