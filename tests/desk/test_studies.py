"""A study at the desk: planned at no cost, paid once, and limited to the desk's tables."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import PureDP, Study
from discreet.desk import studies
from discreet.desk.admission import Desk, DeskError
from discreet.desk.owner_file import read_owner_file
from discreet.desk.serving import DeskServer
from discreet.desk.studies import MOST_QUESTIONS, study_in
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from tests.tools import desks
from tests.tools.desks import Caller, clinic_at
from tests.tools.waiting import PATIENCE, until

STUDY = desks.STUDY.format(more="")
QUOTED = '"a".'


def _spent(call: Caller) -> str:
    return str(call("/api/desk").content["tables"]["visits"]["spent"])


def _planned(call: Caller, text: str) -> Any:
    reply = call("/api/study", {"study": text})
    assert reply.status == 200, reply.content
    return reply.content


def test_a_study_is_planned_for_nothing_and_its_answers_are_kept(
    call: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = STUDY.replace("Winter", "Kept")
    before = _spent(call)
    plan = _planned(call, text)
    assert [(each["name"], each["cost"], each["state"]) for each in plan["questions"]] == [
        ("diagnosis", "2", None),
        ("age", "1", None),
    ]
    assert plan["questions"][0]["card"]["accuracy"]["judgement"] == "useful"
    assert (plan["ahead"], plan["fits"]) == ("3", True)
    assert plan["conclusion"].startswith(
        "2 questions cost ε = 3 in all. clinic/epidemiology has ε = "
    )
    assert _spent(call) == before
    first = plan["questions"][0]
    asked = call("/api/ask", first["asked"], idempotency_key=first["key"])
    assert asked.status == 200
    half = _planned(call, text)
    assert half["questions"][0]["release"] == asked.content["release"]
    assert (half["ahead"], "ε = 1 of it is still to be paid" in half["conclusion"]) == ("1", True)
    # A program that runs the same file gets the same answer under the same key.
    monkeypatch.setenv("DISCREET_DESK", call.url)
    monkeypatch.setenv("DISCREET_DESK_TOKEN", str(call.token))
    (tmp_path / "study.toml").write_text(text)
    study = Study.read(tmp_path / "study.toml")
    answers = study.run(signed=plan["hash"])
    assert answers.answered[0].kept == asked.content["release"]
    paid = _spent(call)
    done = _planned(call, text)
    assert [each["state"] for each in done["questions"]] == ["answered", "answered"]
    assert (done["ahead"], done["fits"]) == ("0", True)
    assert "All of it is paid" in done["conclusion"]
    assert _spent(call) == paid


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"desk:visits"', '"/etc/passwd"', "here it must be a table of this desk"),
        ('"desk:visits"', '"postgresql://localhost/x"', "here it must be a table of this desk"),
        ('"desk:visits"', '"desk:people"', "one of your tables: visits"),
        ('column = "diagnosis"', 'column = "secret"', "column='secret' is not allowed"),
        ("epsilon = 1\n", "epsilon = 0.001\n", "from 0.01 to 20 for one question"),
        ("epsilon = 1\n", "error_at_most = 5\n", "a desk needs epsilon"),
        (
            '"diagnosis"\n\n[[',
            '"diagnosis"\ncandidates = "/etc/passwd"\n[[',
            "decided by the owner",
        ),
        ('"diagnosis"\n\n[[', '"diagnosis"\nwhere = "secret = 1"\n[[', "a condition may use these"),
        ('ask = "median"', 'ask = "vote"\nfunction = "os:system"', "column is not a field of vote"),
        ("epsilon = 3", "epsilon = 1e999999", "epsilon"),
        ("epsilon = 3", f"epsilon = {'9' * 5000}", "not valid TOML"),
        ("epsilon = 3", f"epsilon = {'[' * 5000}{']' * 5000}", "not valid TOML"),
        ("[study]", "[study", "not valid TOML"),
        ("epsilon = 3", "rho = 3", "line 4, rho: a desk adds up ε"),
    ],
)
def test_a_study_leads_to_nothing_but_the_desks_own_tables(
    call: Caller, old: str, new: str, said: str
) -> None:
    assert old in STUDY
    reply = call("/api/study", {"study": STUDY.replace(old, new, 1)})
    assert reply.status == 400
    assert said in reply.content["error"]
    assert "root:" not in reply.content["error"]


@pytest.mark.parametrize(
    "lines",
    [
        f"{'a.' * 30_000}a = 1",
        f"[{'a . ' * 15_000}a]",
        f"x = {{{QUOTED * 15_000}a = 1}}",
        f'x = """\n[{" " * 50_000}\n"""',  # finding line numbers took cubic time before
    ],
)
def test_a_small_text_is_read_in_no_time(lines: str) -> None:
    """Keys with many parts take tomllib quadratic time: half a minute for 60 KB."""
    began = time.process_time()
    with pytest.raises(ParameterError):
        study_in({"study": f"{lines}\n{STUDY}"})
    assert time.process_time() - began < 3


def test_one_study_at_a_time_and_none_that_nobody_waits_for(
    call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[str] = []
    begun, ended = threading.Event(), threading.Event()

    def slowly(_desk: Desk, analyst: str, _study: Study, *, go_on: Callable[[], None]) -> Any:
        planned.append(analyst)
        begun.set()
        try:
            until(go_on, "the desk notices that nobody waits")
        except DeskError:
            ended.set()
            raise

    monkeypatch.setattr(studies, "planned_study", slowly)
    host, port = call.server.owner.desk.address
    line = http.client.HTTPConnection(host, port, timeout=PATIENCE)
    headers = {"authorization": f"Bearer {call.token}"}
    line.request("POST", "/api/study", json.dumps({"study": STUDY}), headers)
    assert begun.wait(PATIENCE)
    second = call("/api/study", {"study": STUDY})
    assert (second.status, second.headers["retry-after"]) == (429, "1")
    assert "one study at a time" in second.content["error"]
    line.close()
    assert ended.wait(PATIENCE)
    assert planned == ["epidemiology"]
    until(lambda: call("/api/study", {}).status == 400, "the end of the first study")


def test_a_plan_ends_at_its_deadline(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "SECONDS", -1.0)
    reply = call("/api/study", {"study": STUDY})
    assert reply.status == 503
    assert "nothing was spent. Divide it in two" in reply.content["error"]


def test_a_study_is_text_of_a_decent_size_and_counts_as_its_questions(call: Caller) -> None:
    wrong: list[object] = [{"study": 3}, {}, [], {"study": ""}]
    for body in wrong:
        assert call("/api/study", body).status == 400
    many = STUDY + "".join(
        f'[[question]]\nname = "{place}"\nask = "median"\ncolumn = "age"\n'
        for place in range(MOST_QUESTIONS)
    )
    assert (
        f"up to {MOST_QUESTIONS} questions" in call("/api/study", {"study": many}).content["error"]
    )
    counted = call.server.desk._requests["epidemiology"]
    last = counted[-1]  # older ones are forgotten after a minute
    _planned(call, STUDY)
    assert sum(moment > last for moment in counted) == 3  # the request, and one for each question


def test_a_study_that_is_too_dear_says_so_before_anything_is_paid(call: Caller) -> None:
    planning = Caller.of(call.server, "planning")
    left = call.server.desk.ledger.show("clinic/planning").remaining
    study = STUDY.replace("epsilon = 3", "epsilon = 2.5").replace("epsilon = 1", "epsilon = 1.5")
    plan = _planned(planning, study)
    assert not plan["fits"]
    assert plan["conclusion"].endswith("that is not enough.")
    assert call.server.desk.ledger.show("clinic/planning").remaining == left


TRIPS = """
[table.trips]
source = "visits.parquet"
user = "patient_id"
dataset = "travel"
[table.trips.column.age]
bounds = [0, 120]
"""
TWO = """
[study]
title = "Two budgets"
[table.visits]
source = "desk:visits"
[table.trips]
source = "desk:trips"
"""
ONE = """
[[question]]
name = "{name}"
table = "{table}"
ask = "median"
column = "age"
epsilon = {epsilon}
"""


@pytest.fixture
def two_budgets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Caller]:
    """A desk with two data sets, where the analyst ``planning`` has ε = 1.2345678 and 2 left."""
    clinic_at(tmp_path)
    file = tmp_path / "clinic.toml"
    text = file.read_text().replace("[analyst.epidemiology]", f"{TRIPS}[analyst.epidemiology]")
    before, after = text.rsplit('tables = ["visits"]', 1)
    file.write_text(f'{before}tables = ["visits", "trips"]{after}')
    owner = read_owner_file(file)
    with Ledger.open(owner.ledger.place) as ledger:
        ledger.create("travel", PureDP(100))
    with DeskServer(owner).in_background() as server:
        server.desk.ledger.spend("clinic/planning", PureDP("0.7654322"))
        call = Caller.of(server, "planning")
        monkeypatch.setenv("DISCREET_DESK", call.url)
        monkeypatch.setenv("DISCREET_DESK_TOKEN", str(call.token))
        yield call


@pytest.mark.parametrize(
    ("epsilons", "fits"),
    [
        ({"visits": ["1.5"]}, False),  # one question alone costs more than is left
        ({"visits": ["1.5", "1.6"]}, False),
        ({"visits": ["1.2", "0.1"]}, False),
        ({"visits": ["1.2345678"]}, True),
        ({"visits": ["1.2345679"]}, False),
        ({"visits": ["0.23456", "0.99999"]}, True),  # to the last digit, not to the four shown
        ({"visits": ["0.23456", "1.00002"]}, False),
        ({"visits": ["1"], "trips": ["1.9"]}, True),  # together more than either budget has left
        ({"visits": ["1.3"], "trips": ["1"]}, False),
        ({"visits": ["1"], "trips": ["1", "1.1"]}, False),
    ],
)
def test_a_study_fits_if_each_budget_covers_its_own_questions(
    two_budgets: Caller, tmp_path: Path, epsilons: dict[str, list[str]], fits: bool
) -> None:
    """The desk and the analyst's program say the same, before anything is paid."""
    text = TWO if len(epsilons) > 1 else TWO.replace('[table.trips]\nsource = "desk:trips"\n', "")
    for table, each in epsilons.items():
        for place, epsilon in enumerate(each):
            text += ONE.format(name=f"{table} {place}", table=table, epsilon=epsilon)
    desks = _planned(two_budgets, text)
    (tmp_path / "study.toml").write_text(text)
    plan = Study.read(tmp_path / "study.toml").plan()
    assert (desks["fits"], plan.fits) == (fits, fits)
    for said in (desks["conclusion"], plan.conclusion):
        assert said.count("left: ") == len(epsilons)
        assert ("not enough" in said) is not fits
    assert plan.left == Fraction("1.2345678")
