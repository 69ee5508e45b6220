"""The record shipped with the package is complete and contains only findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet import __version__
from discreet.errors import DiscreetError
from discreet.papers import FAILED, VERDICTS, CheckedClaim, Claim, Finding, all_claims
from discreet.papers import recorded as module
from discreet.papers.recorded import recorded, short, text_of


def _result(verdict: str) -> CheckedClaim:
    def never(_scope: object) -> Finding:
        raise AssertionError

    claim = Claim("noisy-max", "Lemma 1", "It holds.", never)
    return CheckedClaim(claim, Finding(verdict, "n ≤ 3", "so it is", {}, {"scores": [1, 0]}), 1.25)


def test_every_claim_is_recorded_in_order() -> None:
    record = recorded()
    assert list(record.findings) == [entry.id for entry in all_claims()]
    assert {finding["verdict"] for finding in record.findings.values()} <= set(VERDICTS)


def test_what_is_written_is_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = _result(VERDICTS[2])
    content = json.loads(text_of([result]))
    assert content["version"] == __version__
    assert content["findings"]["noisy-max/lemma-1"]["witness"] == "scores: (1, 0)"
    monkeypatch.setattr(module, "__file__", str(tmp_path / "recorded.py"))
    module.write([result])
    assert (tmp_path / module.FILE).read_text(encoding="utf-8") == text_of([result])
    assert short(result)["covered"] == "n ≤ 3"


def test_a_check_that_failed_is_not_recorded() -> None:
    with pytest.raises(DiscreetError, match="noisy-max/lemma-1"):
        text_of([_result(FAILED)])


def test_the_wheel_takes_the_record_along() -> None:
    import tomllib

    project = tomllib.loads(
        (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    )
    assert f"papers/{module.FILE}" in project["tool"]["setuptools"]["package-data"]["discreet"]
