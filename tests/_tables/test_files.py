"""Files: text stays text, malformed rows are dropped and never raise, schemas are checked."""

from __future__ import annotations

import datetime
import gzip
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet._tables import (
    Grid,
    Rows,
    TextFile,
    open_table,
    people_per_candidate,
    people_per_grid_point,
)
from discreet._tables.encodings import ENCODINGS, in_utf_8
from discreet.errors import MissingExtraError, ParameterError, TableError
from discreet.questions import mode
from tests.tools.forking import forked

HEADER = b"code,person,age\n"


def _counts(path: Path | str) -> list[int]:
    table = open_table(path, needed=["code", "person", "age"])
    return list(people_per_candidate(table, Rows(), column="code", keys=["a", "b"])[0])


def test_malformed_csv_rows_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    rows = [
        b"a,1,20",
        b"\xff\xfe,2,30",
        b"b",
        b"a,2,x,y,z",
        b"x" * 5_000_000 + b",3,4",
        b'"b",4,50',
        b"",
        b'"a,9,9',
    ]
    file.write_bytes(HEADER + b"\n".join(rows))
    assert _counts(file) == [2, 2]


def test_line_breaks_inside_fields(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(HEADER + b'a,1,"2\n3"\nb,short\n"a",2,"x""y"\n' * 50_000)
    assert _counts(file) == [100_000, 50_000]


_AWKWARD = st.text(alphabet='",\n\r\x00 ab1{}[]:\\é\u2028', max_size=200)


@settings(max_examples=60, deadline=None)
@given(
    content=_AWKWARD, damage=st.binary(max_size=8), suffix=st.sampled_from(["csv", "tsv", "jsonl"])
)
def test_no_bytes_raise(
    tmp_path_factory: pytest.TempPathFactory, content: str, damage: bytes, suffix: str
) -> None:
    file = tmp_path_factory.getbasetemp() / f"fuzzed.{suffix}"
    header = b"" if suffix == "jsonl" else HEADER.replace(b",", b"\t" if suffix == "tsv" else b",")
    file.write_bytes(header + content.encode() + damage + b"\n" + content.encode() + b"\na,1,2\n")
    table = open_table(file, needed=["code", "person", "age"])
    counts = people_per_candidate(table, Rows(user="person"), column="code", keys=["a", "b"])
    assert counts.sum() <= 20 * len(content) + 20
    people_per_grid_point(table, Rows(), column="age", grid=Grid.between("0:9"), per_person="least")


def test_numbers_are_parsed_by_our_rule(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    texts = [
        "1",
        " 2 ",
        "\t3",
        "+4.",
        ".5e1",
        "6e0",
        "1e999",
        "inf",
        "nan",
        "0x10",
        "1_0",
        "1,0",
        "",
        "ten",
        "1 0",
    ]
    file.write_text("age\n" + "\n".join(f'"{text}"' for text in texts) + "\n")
    table = open_table(file, needed=["age"])
    counts = people_per_grid_point(
        table, Rows(), column="age", grid=Grid.between("0:20"), per_person="least"
    )
    assert counts[0].nonzero()[0].tolist() == [1, 2, 3, 4, 5, 6]
    assert counts.sum() == 6


def test_a_column_of_digits_stays_text(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("code\n007\n7\n7.0\n")
    table = open_table(file, needed=["code"])
    assert people_per_candidate(table, Rows(), column="code", keys=["7", "007"])[0].tolist() == [
        1,
        1,
    ]


def test_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(
        b'{"code":"a","person":1}\nnot json\n{"code":["a"]}\n"a"\n\n'
        b'{"code":"b","age":{"x":1}}\n{"age":3}\n{"code":"\xff"}\n'
    )
    assert _counts(file) == [1, 1]


def test_globs_compression_and_tabs(tmp_path: Path) -> None:
    for name in ("1", "2"):
        (tmp_path / f"part{name}.csv").write_bytes(HEADER + b"a,1,1\nb,2,2\n")
    assert _counts(str(tmp_path / "part*.csv")) == [2, 2]
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        file.write(HEADER + b"a,1,1\n")
    assert _counts(tmp_path / "t.csv.gz") == [1, 0]
    (tmp_path / "t.tsv").write_bytes(b"code\tperson\tage\na\t1\t1\n")
    assert _counts(tmp_path / "t.tsv") == [1, 0]
    (tmp_path / "with mark.csv").write_bytes(b"\xef\xbb\xbf" + HEADER + b"a,1,1\n")
    assert _counts(tmp_path / "with mark.csv") == [1, 0]


def test_a_forked_process_has_a_database_of_its_own(tmp_path: Path) -> None:
    """A process has one database. A fork has none of its threads, and would wait for them forever."""
    path = tmp_path / "visits.parquet"
    pl.DataFrame({"person": range(1000), "code": ["a"] * 1000}).write_parquet(path)

    def ask() -> bytes:
        asked = mode(path, "code", candidates=["a", "b"], epsilon=9, user="person", ledger=None)
        return str(asked.answer).encode()

    assert ask() == b"a"
    assert forked(ask) == (0, b"a")


def test_parquet_in_every_engine(tmp_path: Path, engine: str | None) -> None:
    for name in "12":
        pl.DataFrame({"code": ["a", None, "b"], "person": [1, 2, 3]}).write_parquet(
            tmp_path / f"{name}.parquet"
        )
    table = open_table(tmp_path / "*.parquet", needed=["code", "person"], engine=engine)
    assert people_per_candidate(table, Rows(user="person"), column="code", keys=["a", "b"])[
        0
    ].tolist() == [1, 1]


def test_a_name_is_a_name(tmp_path: Path, engine: str | None) -> None:
    """Files that a pattern would match are other tables, with other budgets."""
    odd = ["v[1]", "v*", "v?", "{v1,v2}", "v\\1", "v 1%20#", "c=b"]
    names = [f"{name}.parquet" for name in odd]
    for decoy in ("v1", "v2", "vx"):
        pl.DataFrame({"c": ["decoy"]}).write_parquet(tmp_path / f"{decoy}.parquet")
    for name in names:
        pl.DataFrame({"c": [name]}).write_parquet(tmp_path / name)
    names += [f"{name}.csv" for name in odd] + ["_v.csv", ".v.csv"]
    for name in names[len(odd) :]:
        (tmp_path / name).write_text(f'c\n"{name}"\n')
    (tmp_path / "v1.csv").write_text("c\ndecoy\n")
    (tmp_path / "c=folder").mkdir()
    inside = tmp_path / "c=folder" / "t.parquet"
    pl.DataFrame({"c": ["t.parquet"]}).write_parquet(inside)
    if engine == "spark":  # one job each
        names = [
            "v[1].parquet",
            "{v1,v2}.parquet",
            "v\\1.parquet",
            "v 1%20#.parquet",
            "v[1].csv",
            "_v.csv",
        ]
    for path in (*(tmp_path / name for name in names), inside):
        table = open_table(path, needed=["c"], engine=engine)
        counts = people_per_candidate(table, Rows(), column="c", keys=[path.name, "decoy"])
        assert counts.tolist() == [[1, 0]], path.name
    hidden = tmp_path / "_v.parquet"
    pl.DataFrame({"c": ["x"]}).write_parquet(hidden)
    if engine == "spark":
        with pytest.raises(ParameterError, match="skips files with such names"):
            open_table(hidden, needed=["c"], engine=engine)
    else:
        table = open_table(hidden, needed=["c"], engine=engine)
        assert people_per_candidate(table, Rows(), column="c", keys=["x"]).tolist() == [[1]]


@pytest.mark.parametrize(
    "other", [{"c": [1.5]}, {"c": ["1"]}, {"d": [1]}, {"c": [1], "d": [1]}, {"c": [True]}]
)
def test_files_of_one_table_declare_the_same(
    tmp_path: Path, engine: str | None, other: dict[str, Any]
) -> None:
    for name, columns in (("1", {"c": [1]}), ("2", {"c": [2]}), ("3", other)):
        pl.DataFrame(columns).write_parquet(tmp_path / f"{name}.parquet")
    open_table(tmp_path / "[12].parquet", needed=["c"], engine=engine)
    with pytest.raises(ParameterError, match="do not declare the same"):
        open_table(tmp_path / "*.parquet", needed=["c"], engine=engine)


def test_times_that_are_not_in_microseconds_are_read_by_arrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB's own reader raises on some of their values, and does not distinguish their units."""
    moments = [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 2, 1)]
    for unit in ("ms", "us"):
        column = pl.Series(moments, dtype=pl.Datetime(unit, "Europe/Berlin"))
        pl.DataFrame({"c": column, "d": [1, 2]}).write_parquet(tmp_path / f"{unit}.parquet")
    months = [12 * 2023 + 11, 12 * 2024, 12 * 2024 + 1]
    for unit in ("ms", "us"):  # a Parquet file names no zone, so months are in UTC
        table = open_table(tmp_path / f"{unit}.parquet", needed=["c"])
        assert table.has_zone("c")
        counts = people_per_candidate(table, Rows(), column="c", keys=months, period="month")
        assert counts.tolist() == [[0, 1, 1]], unit
    with pytest.raises(ParameterError, match="declares times in another unit"):
        open_table(tmp_path / "*.parquet", needed=["c"])
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[arrow\]'):
        open_table(tmp_path / "ms.parquet", needed=["c"])
    for unit, needed in (("us", ["c"]), ("ms", ["d"]), ("*", ["d"])):
        assert "c" in open_table(tmp_path / f"{unit}.parquet", needed=needed).kinds


def test_refusals(tmp_path: Path) -> None:
    def refused(name: str, content: bytes, words: str, engine: str | None = None) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ParameterError, match=words):
            open_table(tmp_path / name, needed=["a"], engine=engine)

    refused("a.csv", b"", "name every column")
    refused("b.csv", b"a,,b\n", "name every column")
    refused("c.csv", b"a,b,a\n", "two columns are named")
    refused("d.xlsx", b"", "must end in its format")
    for name in ("polars", "duckdb", "oracle"):
        refused("f.csv", b"a\n1\n", f"engine='{name}'", engine=name)
    with pytest.raises(ParameterError, match="no file matches"):
        open_table(tmp_path / "nothing*.csv", needed=[])
    (tmp_path / "g1.csv").write_bytes(b"a,b\n")
    (tmp_path / "g2.csv").write_bytes(b"b,a\n")
    with pytest.raises(ParameterError, match="same columns"):
        open_table(tmp_path / "g*.csv", needed=[])
    (tmp_path / "g3.parquet").write_bytes(b"")
    with pytest.raises(ParameterError, match="different formats"):
        open_table(tmp_path / "g*", needed=[])


def test_a_broken_file_quotes_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 secret value")
    with pytest.raises(TableError) as caught:
        open_table(tmp_path / "broken.parquet", needed=[])
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert "secret" not in str(caught.value)
    # No row was read, so the message may name the cause.
    assert "broken.parquet" in str(caught.value)


@pytest.mark.parametrize("header", ["x,x", "x,X"])
def test_two_columns_of_one_name_are_named(tmp_path: Path, header: str) -> None:
    path = tmp_path / "twice.csv"
    path.write_text(f"{header}\na,b\n")
    with pytest.raises(ParameterError, match="two columns are named 'x'"):
        open_table(path, needed=["x"])


TEXT = 'person;town\n1;Zürich\n2;Zürich\n3;"Bern;\nOst"\n4\n'
TOWNS = ("Zürich", "Bern;\nOst")


def _towns(file: TextFile) -> list[int]:
    table = open_table(file, needed=["person", "town"])
    rows = Rows(user="person")
    return [int(each) for each in people_per_candidate(table, rows, column="town", keys=TOWNS)[0]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1", "cp1252", "iso-8859-15"])
def test_a_delimiter_and_an_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "visits.csv"
    path.write_bytes(TEXT.encode(encoding))
    assert _towns(TextFile(path, delimiter=";", encoding=encoding)) == [2, 1]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_byte_raises(tmp_path: Path, encoding: str) -> None:
    """A decoder that stopped at one person's byte would reveal that the byte is there."""
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

    monkeypatch.setattr("discreet._tables.files.in_utf_8", copying)

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
    "options",
    [
        {"delimiter": ";;"},
        {"delimiter": '"'},
        {"delimiter": ""},
        {"encoding": "rot13"},
        {"read_as": {"day": "datetime"}},
    ],
)
def test_text_refusals(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        TextFile("visits.csv", **options)


def test_only_for_text(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n")
    with pytest.raises(ParameterError, match="only be used with a CSV or TSV file"):
        open_table(TextFile(tmp_path / "a.jsonl", delimiter=";"), needed=["a"])
    (tmp_path / "a.csv").write_text("a\n")
    with pytest.raises(ParameterError, match="cannot be combined with engine='spark'"):
        open_table(TextFile(tmp_path / "a.csv", encoding="cp1252"), needed=["a"], engine="spark")
