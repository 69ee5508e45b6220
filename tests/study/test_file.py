"""All problems in a study's file are reported at once, with line and field."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from discreet import Study
from discreet.errors import ParameterError
from discreet.questions import Median, Mode
from discreet.study import StudyError
from tests.tools.studies import AGE, CLINICS, DIAGNOSIS

Write = Callable[..., Path]


def test_a_file_becomes_questions(written: Write, tmp_path: Path) -> None:
    study = Study.read(written(DIAGNOSIS, AGE, CLINICS, head="epsilon = 2"))
    assert study.title == "Winter <2026>"
    assert study.most == 2
    assert study.questions[0].question == Mode(
        "diagnosis", candidates=str(tmp_path / "codes.txt"), error_at_most=20
    )
    assert study.questions[1].question == Median("age", bounds=(0, 120), epsilon="0.25")
    assert [asked.shares for asked in study.questions] == [False, False, True]
    assert study.questions[2].weight == Fraction(3)


def test_all_that_is_wrong_is_said_at_once(written: Write) -> None:
    file = written(
        DIAGNOSIS.replace("error_at_most = 20", "error_at_most = -20"),
        AGE.replace('"median"', '"medien"').replace("epsilon = 0.25", "colour = 3"),
        CLINICS.replace('name = "ages by clinic"', 'name = "diagnosis"'),
        AGE.replace("bounds", "edges"),
        head='split = "fair"\nepsilom = 3',
    )
    text = file.read_text().splitlines()
    with pytest.raises(StudyError) as raised:
        Study.read(file)
    problems = raised.value.problems
    for field, words in [
        ("split", "least or weakest"),
        ("epsilom", "not an entry"),
        ("error_at_most", "not allowed"),
        ('ask = "medien"', "it must be one of"),
        ("edges", "not a field of median"),
    ]:
        line = next(number for number, each in enumerate(text, 1) if each.startswith(field))
        assert any(each.startswith(f"line {line}, ") and words in each for each in problems), field
    assert str(raised.value).startswith(f"{len(problems)} problems:\n- line")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            ("[table.visits]", '[table.others]\nsource = "x.csv"\nuser = "a"\n[table.visits]'),
            "table is missing",
        ),
        (('name = "age"\n', ""), "name is missing"),
        (('ask = "median"\n', ""), "ask is missing"),
        (("epsilon = 0.25\n", ""), "epsilon and error_at_most are both missing"),
        (('source = "visits.parquet"\n', ""), "source is missing"),
        (('title = "Winter <2026>"\n', ""), "title is missing"),
        (('column = "age"\n', "column = 3\n"), "column"),
        (('dataset = "clinic"\n', ""), "dataset is missing"),
        (("[[question]]", "[question]"), "two brackets"),
        (("user = ", "usr = "), "usr is not an entry"),
        (("[study]", "[studie]"), "a study has"),
        (("people = 900", "people = 900\nepsilon = 1"), "not an entry of"),
        (("[[question]]", "[[question]]\nweight = 0"), "weight"),
        (('ask = "median"', "ask = [1]"), r"ask = \[1\]: it must be one of"),
        (('ask = "median"', "ask = {a = 1}"), "ask = .*: it must be one of"),
        (("[[question]]", "[[question]]\ntable = [1]"), r"table = \[1\]: it must be one of"),
        (("[study]", "[study]\nsplit = [1]"), r"split = \[1\]: it must be least or weakest"),
        (("visits.parquet", "postgresql://me:secret@db/x"), "leave the password out"),
    ],
)
def test_one_thing_wrong(written: Write, change: tuple[str, str], words: str) -> None:
    file = written(AGE)
    file.write_text(file.read_text().replace(*change))
    with pytest.raises(StudyError, match=words):
        Study.read(file)


def test_of_very_many_problems_some_are_listed(written: Write) -> None:
    file = written(head="".join(f"wrong{place} = 1\n" for place in range(50)))
    with pytest.raises(StudyError) as raised:
        Study.read(file)
    lines = str(raised.value).splitlines()
    assert len(lines) == 22
    assert lines[-1] == f"- and {len(raised.value.problems) - 20} more"
    assert len(raised.value.problems) >= 50


def test_questions_that_are_not_sections(written: Write) -> None:
    file = written()
    file.write_text(f"question = [1]\n{file.read_text()}")
    with pytest.raises(StudyError, match="line 1, questions are written"):
        Study.read(file)


def test_no_file_and_no_toml(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no such file"):
        Study.read(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("[study\n")
    with pytest.raises(ParameterError, match="not valid TOML"):
        Study.read(tmp_path / "bad.toml")


def test_a_text_file_and_a_desk(written: Write, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("patient;age\n1;30\n")
    file = written(AGE)
    text = file.read_text()
    file.write_text(text.replace('"visits.parquet"', '"visits.csv"\ndelimiter = ";"'))
    assert Study.read(file).plan().lines[0].cost == Fraction(1, 4)
    file.write_text(text.replace('"visits.parquet"', '"desk:visits"'))
    with pytest.raises(StudyError, match="the owner of the desk has already stated it"):
        Study.read(file)
