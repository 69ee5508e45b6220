"""The documents about a data set: valid, complete, reproducible, and without answers or names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
import yaml

import discreet
from discreet import ZCDP, ApproxDP, PureDP, Study
from discreet.desk.owner_file import read_owner_file
from discreet.dossier import dossier_of
from discreet.dossier.dossier import TESTS
from discreet.dossier.facts import NOT_STATED, TYPED
from discreet.errors import ParameterError
from discreet.ledger import Ledger
from discreet.questions import Mode

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT.parent / "shared" / "data" / "registry" / "deployments-schema.yaml"
STUDY = """
[study]
title = "Winter"
dataset = "clinic"
[table.visits]
source = "visits.parquet"
user = "patient"
[[question]]
name = "diagnosis"
ask = "mode"
column = "diagnosis"
candidates = ["flu", "cold"]
epsilon = 1
"""
OWNER = """
[ledger]
place = "budget.db"
[table.visits]
source = "visits.parquet"
user = "patient"
dataset = "clinic"
[table.visits.column.age]
bounds = [0, 120]
[analyst.alice]
tables = ["visits"]
epsilon = 0.5
"""
ODD = "<script>alert(1)</script> | *why* # not"


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    pl.DataFrame(
        {"patient": range(300), "diagnosis": ["flu"] * 200 + ["gout"] * 100}
    ).write_parquet(tmp_path / "visits.parquet")
    with Ledger.open(tmp_path / "budget.db") as opened:
        opened.create("clinic", PureDP(3))
        opened.allot("clinic/alice", share="1/4")
        visits = discreet.table(
            str(tmp_path / "visits.parquet"), user="patient", ledger=opened, dataset="clinic/alice"
        )
        release = visits.ask(
            Mode("diagnosis", candidates=["flu", "gout"], epsilon="0.5", purpose=ODD)
        )
        opened.keep(release.entry, release.as_data())
        failed = opened.spend("clinic", PureDP("0.25"), purpose="another")
        opened.fail(failed)
        yield opened


@pytest.mark.skipif(
    not SCHEMA.exists(), reason="the registry's schema lies beside the project, not in it"
)
@pytest.mark.parametrize("cap", [PureDP(3), ApproxDP(2, "1e-6"), ZCDP("0.5")])
@pytest.mark.parametrize("filled", [False, True])
def test_the_entry_is_valid_by_the_registrys_schema(
    ledger: Ledger, tmp_path: Path, cap: discreet.guarantees.Guarantee, filled: bool
) -> None:
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    typed = tmp_path / "dossier.toml"
    lines = [
        f'{name} = ["Ann"]' if name in ("curators", "authors") else f'{name} = "said {name}"'
        for name in TYPED
        if name not in ("sector", "data_source")
    ]
    typed.write_text("\n".join([*lines, 'sector = "Healthcare"', 'data_source = "Static"']))
    ledger.create("other", cap)
    for dataset in ("clinic", "other"):
        dossier = dossier_of(ledger, dataset, typed=typed if filled else None)
        dossier.write(tmp_path / "out")
        entry = yaml.safe_load((tmp_path / "out" / "registry.yaml").read_text(encoding="utf-8"))
        jsonschema.validate(entry, schema)
        assert entry == dossier.registry
        assert entry["tier"] == 3
        assert filled or NOT_STATED in str(entry)


def test_what_the_entry_says(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    plan = Study.read(tmp_path / "study.toml").plan(ledger=ledger)
    entry = dossier_of(ledger, "clinic", plan=plan).registry["deployment"]
    assert entry["dp_variant"]["variant_name"] == "Pure DP"
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 3.0}
    assert "the column patient tells people apart" in entry["privacy_loss"]["privacy_unit"]
    assert "added or removed" in entry["privacy_loss"]["privacy_unit_details"]
    assert entry["deployment_model"]["access_type"] == "Interactive"
    assert "1 analyst" in entry["deployment_model"]["access_type_details"]
    assert entry["deployment_model"]["release_type"] == "Many releases"
    assert "permute-and-flip: docs/proofs" in entry["implementation"]["mechanisms"]
    assert "checked by Coq" in entry["implementation"]["mechanisms"]
    assert "ε = 1, in 2 releases" in entry["privacy_loss"]["privacy_parameters_details"]


def test_the_same_every_time_and_without_answers_or_names(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "owner.toml").write_text(OWNER)
    owner = read_owner_file(tmp_path / "owner.toml")
    paths = dossier_of(ledger, "clinic", owner=owner).write(tmp_path / "one")
    again = dossier_of(ledger, "clinic", owner=owner).write(tmp_path / "two")
    for first, second in zip(paths, again, strict=True):
        text = first.read_text(encoding="utf-8")
        assert text == second.read_text(encoding="utf-8")
        assert "alice" not in text
        assert "flu" not in text
        assert "<script>" not in text
        assert "gout" not in text
    chain = (tmp_path / "one" / "chain.md").read_text(encoding="utf-8")
    assert "\\# not" in chain
    assert "analyst 1" in chain
    assert "failed, not refunded" in chain
    named = dossier_of(ledger, "clinic", named=True).write(tmp_path / "named")
    assert "alice" in named[-2].read_text(encoding="utf-8")


def test_every_sentence_has_a_source_or_is_the_owners(ledger: Ledger) -> None:
    for document in dossier_of(ledger, "clinic").documents:
        page = document.in_html()
        assert "For the owner to say" in page or document.name in ("chain", "registry")
    for path in TESTS.values():
        assert (ROOT / path).exists(), path


def test_what_is_typed_is_checked(ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "dossier.toml"
    for text, words in [
        ('nome = "x"', "not an entry of a dossier"),
        ("name = 3", "a text"),
        ('authors = "Ann"', "a list of texts"),
        ("name =", "not valid TOML"),
        ('sector = "Health"', "Technology or Healthcare"),
    ]:
        file.write_text(text)
        with pytest.raises(ParameterError, match=words):
            dossier_of(ledger, "clinic", typed=file)
    with pytest.raises(ParameterError, match="no such file"):
        dossier_of(ledger, "clinic", typed=tmp_path / "none.toml")
