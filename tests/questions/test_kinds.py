"""A new kind of question needs a file and a few lines in one table; the rest follows from its fields."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, expect

import discreet
from discreet.desk.store import DeskStore
from tests.tools.browser import browser, patient_page
from tests.tools.desks import clinic_at, desk_process

__all__ = ["browser"]  # a fixture

LEAST = '''"""The least common value: which candidate do fewest people have?"""

from discreet.questions.mode import Mode
from discreet.questions.asking import Asking
from discreet.questions.plan import Plan
from discreet.questions.question import flag, value
from discreet.questions.scoring import choices, count_sensitivity, resting


@value
class Least(Mode, kind="least"):
    """The candidate that fewest people have, chosen privately."""

    command = ("least", "The least common value of a column.", "discreet least visits.parquet")
    loudly: bool = flag("Say it in capitals.", default=False, analyst=True)
    secretly: bool = flag("A field without a mark.", default=False)

    def planned(self, asking: Asking) -> Plan:
        """Plan one choice by how many people do not have a candidate."""
        chooser, moved = asking.chooser(asking.epsilon_each), count_sensitivity(asking.inner)
        contest = self.contest(asking.table)

        def pick(people, bits):
            for index in choices(chooser, -people, moved.range_distance, bits):
                label = contest.label(index)
                yield [(label.upper() if self.loudly else label, 0)], {}

        part = resting(chooser.promise_at(moved.range_distance), moved), 1
        naming = asking.naming(pick, part)
        return self.plan_among(asking, contest, "least", **naming, mechanism=chooser.name)
'''

LOOK = """
import asyncio, inspect, json, sys
import discreet
from discreet import questions
from discreet.desk.assistant import assistant_server
from discreet.desk.client import RemoteTable
from discreet.desk.description import _questions
from discreet.desk.openapi import openapi
from discreet.desk.shapes import question_from
from discreet.errors import ParameterError

asked = dict(candidates=["flu", "cold"], epsilon=5)
visits = discreet.table("visits.parquet", user="patient", ledger=None)
question = questions.Least("diagnosis", loudly=True, **asked)
assert questions.Question.from_dict(question.to_dict()) == question
tools = {tool.name: tool for tool in asyncio.run(assistant_server(None).list_tools())}
request = dict(kind="least", table="visits", column="diagnosis", epsilon=1)
try:
    question_from({**request, "secretly": True})
    refusal = None
except ParameterError as error:
    refusal = str(error)
own = inspect.signature(RemoteTable.least).parameters
found = {
    "asked": visits.ask(question).answer,
    "planned": str(visits.plan(question).price),
    "rehearsed": visits.rehearse(question).invented,
    "method": visits.least("diagnosis", **asked).answer,
    "function": questions.least("visits.parquet", "diagnosis", user="patient", **asked).answer,
    "in the signature": "loudly" in inspect.signature(questions.least).parameters,
    "request": question_from({**request, "loudly": True}).fields["loudly"],
    "refused": refusal,
    "OpenAPI": sorted(openapi()["components"]["schemas"]["Least"]["properties"]),
    "client": ["loudly" in own, "secretly" in own, "candidates" in own],
    "assistant": sorted(tools["ask_question"].input_schema["$defs"]["Least"]["properties"]),
    "form": [field["name"] for field in _questions()["least"]["fields"]],
}
print(json.dumps(found))
"""


def _add_line(file: Path, before: str, line: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1
    file.write_text(text.replace(before, line + before), encoding="utf-8")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources with one more kind of question: its file, three lines in the table, one command."""
    folder = tmp_path_factory.mktemp("house")
    package = folder / "discreet"
    shutil.copytree(
        Path(discreet.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    (package / "questions" / "least.py").write_text(LEAST, encoding="utf-8")
    table = package / "questions" / "kinds.py"
    _add_line(
        table,
        "from discreet.questions.mode import",
        "from discreet.questions.least import Least\n",
    )
    _add_line(table, '    "Median",\n', '    "Least",\n')
    _add_line(table, "    mode = asks(Mode)\n", "    least = asks(Least)\n")
    contents = package / "_cli" / "__init__.py"
    _add_line(contents, '        "median": (', '        "least": ("ask", "The least common."),\n')
    visits = {"patient": range(300), "diagnosis": ["flu"] * 250 + ["cold"] * 50}
    pl.DataFrame(visits).write_parquet(folder / "visits.parquet")
    return folder


def _run(house: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=house,
        env={**os.environ, "PYTHONPATH": str(house)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def found(house: Path) -> dict[str, Any]:
    """Run Python code with these sources and return its output."""
    seen: dict[str, Any] = json.loads(_run(house, "-c", LOOK))
    return seen


def test_it_is_planned_asked_and_rehearsed(found: dict[str, Any]) -> None:
    # At ε = 5 the other candidate, 200 people behind, has a probability below 10⁻²⁰⁰.
    assert (found["asked"], found["planned"], found["rehearsed"]) == ("COLD", "5", True)
    assert (found["method"], found["function"]) == ("cold", "cold")
    assert found["in the signature"]


def test_it_is_asked_at_a_desk_by_the_fields_of_an_analyst(found: dict[str, Any]) -> None:
    assert found["request"] is True
    assert found["refused"] == "secretly: not an option of this question"
    assert found["client"] == [True, False, False]
    for shown in ("OpenAPI", "assistant", "form"):
        assert "loudly" in found[shown], shown
        assert not {"secretly", "candidates", "mechanism"} & set(found[shown]), shown


def test_it_is_in_the_form_of_the_page(house: Path, browser: Browser, tmp_path: Path) -> None:
    """The form, the plan, the answer and the question in words need no extra JavaScript."""
    owner = clinic_at(tmp_path)
    with DeskStore(str(owner.desk.store)) as store:
        token = store.new_token("epidemiology", days=1)
    with desk_process(tmp_path / "clinic.toml", sources=house) as (_, url):
        page = patient_page(browser, width=1280, height=800, scheme="light")
        page.goto(url)
        page.locator("#token").fill(token)
        page.keyboard.press("Enter")
        page.locator("#kind").select_option("least")
        page.locator("#further summary").click()
        page.get_by_label("Say it in capitals").check()
        expect(page.locator("#plan")).to_contain_text(" to pay, ")
        expect(page.locator("#pay")).to_be_enabled()
        page.locator("#rehearse").click()
        expect(page.locator("#answer .big")).to_have_text(re.compile("^(FLU|COLD|ASTHMA)$"))
        expect(page.locator("#answer .asked")).to_contain_text("say it in capitals: yes")
        page.context.close()


def test_it_is_a_command(house: Path) -> None:
    assert "The least common." in _run(house, "-m", "discreet", "--help")
    assert "--loudly" in _run(house, "-m", "discreet", "least", "--help")
    asked = "--no-ledger --user patient --column diagnosis --candidates flu,cold --epsilon 5"
    command = ["-m", "discreet", "least", "visits.parquet", *asked.split()]
    assert _run(house, *command, "--loudly") == "COLD\n"
