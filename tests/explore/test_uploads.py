from __future__ import annotations

from fractions import Fraction

import pytest

from discreet import Scores
from discreet.errors import DiscreetError, ParameterError, ScoresError
from discreet.explore import uploads
from discreet.explore.uploads import read_scores, score_file


def test_csv_with_a_heading_and_without() -> None:
    expected = (("flu", "cold"), [412, 398])
    for text in (
        "diagnosis,patients\nflu,412\ncold,398\n",
        "flu,412\r\ncold,398",
        '"flu",412\n\ncold , 398\n',
    ):
        file = read_scores("a.csv", text.encode())
        assert (file.labels, file.values.tolist()) == expected
    assert read_scores("a.tsv", b"\xef\xbb\xbfflu\t412\ncold\t398\n").labels == ("flu", "cold")


def test_columns_by_name_as_the_command_line_takes_them() -> None:
    file = read_scores("a.csv", b"year,score,candidate\n2024,5,a\n2025,7,b\n")
    assert (file.labels, file.values.tolist()) == (("a", "b"), [5, 7])


def test_scores_alone_are_numbered() -> None:
    file = read_scores("a.txt", b"score\n3\n1.5\n-2e3\n")
    assert (file.labels, file.values.tolist()) == (("0", "1", "2"), [3.0, 1.5, -2000.0])


def test_json() -> None:
    assert read_scores("a.json", b'{"flu": 4, "cold": 3.5}').values.tolist() == [4.0, 3.5]
    assert read_scores("a.json", b"[4, 3]").labels == ("0", "1")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.exe", b"flu,1", "a name that ends in"),
        ("a.csv", b"", "holds no scores"),
        ("a.csv", b"label,score\n", "holds no scores"),
        ("a.csv", b"flu,1\nflu,2\n", "same label"),
        ("a.csv", b"flu,1\ncold\n", "line 2"),
        ("a.csv", b"label,score\nflu,secret-7\n", "line 2: the score is not a finite number"),
        ("a.csv", b"flu,1e999\n", "holds no scores"),
        ("a.csv", b"a,1\nb,1e999\n", "line 2"),
        ("a.csv", b"a,1\nb,nan\n", "line 2"),
        ("a.csv", b"a,1\nb,1e16\n", "line 2: .* between"),
        ("a.csv", b"a;1\nb;2\n", "line 2: .* commas, not semicolons"),
        ("a.json", b"[1, 1" + b"0" * 400 + b"]", "entry 2"),
        ("a.csv", b'"flu,1\n', "cannot be split"),
        ("a.csv", b"\xff\xfe\x00flu", "UTF-8"),
        ("a.csv", b"flu,1\x00\n", "not text"),
        ("a.json", b"{", "not valid JSON"),
        ("a.json", b"[" * 100_000, "not valid JSON"),
        ("a.json", b'"flu"', "an object from label to score"),
        ("a.json", b'{"flu": "secret-7"}', "entry 1"),
        ("a.json", b"[1, NaN]", "entry 2"),
        ("a.json", b"[true]", "entry 1"),
        ("a.json", b'{"flu": 1, "flu": 2}', "same label"),
        ("a.json", b"[1e400]", "entry 1"),
    ],
)
def test_a_broken_file_is_named_by_the_rule_it_breaks(
    name: str, content: bytes, words: str
) -> None:
    with pytest.raises((ParameterError, ScoresError), match=words) as caught:
        read_scores(name, content)
    assert "secret" not in str(caught.value)


def test_ten_million_candidates_are_refused_before_all_are_read() -> None:
    with pytest.raises(ScoresError, match="more than 1,000,000 candidates"):
        read_scores("a.csv", b"1\n" * 10_000_000)


def test_too_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_BYTES", 10)
    with pytest.raises(ParameterError, match="larger than"):
        read_scores("a.csv", b"flu,1\ncold,2\n")


def test_labels_are_made_fit_to_show() -> None:
    file = read_scores("a.csv", "a\u202eb \t c,1\n".encode() + b"x" * 500 + b",2\n")
    assert file.labels[0] == "a\ufffdb c"
    assert len(file.labels[1]) == uploads.LONGEST_LABEL


def test_scores_that_were_read_already() -> None:
    read = Scores([Fraction(1, 2), 3], candidates=["a", 7], sensitivity=1)
    file = score_file("somewhere/data.parquet", read)
    assert (file.name, file.labels, file.values.tolist()) == (
        "data.parquet",
        ("a", "7"),
        [0.5, 3.0],
    )
    with pytest.raises(DiscreetError, match="larger than this page can show"):
        score_file("a.csv", Scores([10**60, 1], sensitivity=1))
