from __future__ import annotations

from fractions import Fraction

import pytest

from discreet import Scores
from discreet.errors import DiscreetError, ParameterError, ScoresError
from discreet.explore import uploads
from discreet.explore.uploads import read_scores, score_file


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.exe", b"flu,1", "a name that ends in"),
        ("a.parquet", b"PAR1", "a name that ends in"),
        ("a.csv", b"", "empty"),
        ("a.csv", b"flu,1\nflu,2\n", "different"),
        ("a.csv", b"label,score\nflu,secret-7\n", "line 2: the score is not a finite number"),
        ("a.csv", b"a,1\nb,1e16\n", "larger than this page"),
        ("a.json", b"[1, 1e400]", "larger than this page"),
        ("a.csv", b"a  b,1\na b,2\n", "same label after this page"),
        ("a.csv", b"\xff\xfe\x00flu", "UTF-8"),
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
