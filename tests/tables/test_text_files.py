"""Delimiters and encodings that a name does not tell; no byte raises, and no row is read early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.errors import ParameterError
from discreet.questions import mode
from discreet.tables import Rows, TextFile, open_table, people_per_candidate
from discreet.tables.text_files import ENCODINGS, in_utf_8

TEXT = 'person;town\n1;Zürich\n2;Zürich\n3;"Bern;\nOst"\n4\n'
TOWNS = ("Zürich", "Bern;\nOst")


def _counts(file: TextFile) -> list[int]:
    table = open_table(file, needed=["person", "town"])
    rows = Rows(user="person")
    return [int(each) for each in people_per_candidate(table, rows, column="town", keys=TOWNS)[0]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1", "cp1252", "iso-8859-15"])
def test_a_delimiter_and_an_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(TEXT.encode(encoding))
    assert _counts(TextFile(path, delimiter=";", encoding=encoding)) == [2, 1]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_byte_raises(tmp_path: Path, encoding: str) -> None:
    """A decoder that stopped at one person's byte would tell that it is there."""
    path = tmp_path / "visits.csv"
    nasty = b"".join(b"9%d;" % n + bytes([n, 0xD8, n]) + b"\n" for n in range(128, 256))
    path.write_bytes(b"person;town\n1;Bern\n" + nasty + b"2;\xff\xfe\x00\xd8\n\xd8")
    if encoding == "utf-16":
        path.write_bytes("person;town\n1;Bern\n".encode("utf-16") + nasty)
    table = open_table(TextFile(path, delimiter=";", encoding=encoding), needed=["person", "town"])
    found = people_per_candidate(table, Rows(user="person"), column="town", keys=("Bern",))
    assert int(found[0][0]) == 1


def test_no_row_is_decoded_before_the_spend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(TEXT.encode("cp1252"))
    seen: list[str] = []

    def copying(paths: list[str], **options: str) -> list[str]:
        seen.append("rows")
        return in_utf_8(paths, encoding=options["encoding"], folder=options["folder"])

    monkeypatch.setattr("discreet.tables.files.in_utf_8", copying)

    class Counting:
        def spend(self, *_: Any, **__: Any) -> str:
            seen.append("spend")
            return "entry"

        def fail(self, _: Any) -> None: ...

    file = TextFile(path, delimiter=";", encoding="cp1252")
    towns = ["Zürich", "Bern;\nOst"]
    mode(
        file, column="town", candidates=towns, user="person", epsilon=1,
        ledger=Counting(), dataset="x",
    )  # fmt: skip
    assert seen == ["spend", "rows"]


@pytest.mark.parametrize(
    "options", [{"delimiter": ";;"}, {"delimiter": '"'}, {"delimiter": ""}, {"encoding": "rot13"}]
)
def test_refusals(options: dict[str, str]) -> None:
    with pytest.raises(ParameterError):
        TextFile("visits.csv", **options)


def test_only_for_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n")
    with pytest.raises(ParameterError, match="go with a CSV or TSV file"):
        open_table(TextFile(tmp_path / "a.jsonl", delimiter=";"), needed=["a"])
    (tmp_path / "a.csv").write_text("a\n")
    with pytest.raises(ParameterError, match="goes with duckdb"):
        open_table(TextFile(tmp_path / "a.csv", encoding="cp1252"), needed=["a"], engine="spark")
