from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet import PermuteAndFlip, PureDP, Scores
from discreet._exact.sampling import Bits
from discreet._tables.score_files import scores_from_file
from discreet.errors import DiscreetError, ParameterError, ScoresError
from discreet.explore.uploads import read_scores
from discreet.ledger import Ledger
from discreet.questions import select_from_file


def read(path: Path, **options: Any) -> Scores:
    return scores_from_file(path, **{"sensitivity": 1, **options})


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def written(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "candidate,score\nflu,412\ncold,398\n"),
        ("a.csv", "score,candidate\r\n412,flu\r\n398,cold"),
        ("a.csv", "\ufeffname,count\nflu, 412 \n\ncold,398\n"),
        ("a.csv", 'name,count\n"flu","412"\n"cold",398\n'),
        ("a.csv", "flu,412\r\ncold,398"),
        ("a.txt", "score,candidate\n824/2,flu\n3.98e2,cold\n"),
        ("a.tsv", "name\tcount\nflu\t412\ncold\t398\n"),
        ("a.json", '{"flu": 412, "cold": 398}'),
        ("a.json", '[{"candidate": "flu", "score": 412}, {"score": 398, "candidate": "cold"}]'),
    ],
)
def test_the_same_scores_in_every_format(name: str, content: str, write: Any) -> None:
    scores = read(write(name, content), monotonic=True)
    assert list(scores.candidates) == ["flu", "cold"]
    assert scores.values.tolist() == [412, 398]
    assert scores.monotonic


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    for values in ([412, 398], [412.0, 398.0], [Decimal("412"), Decimal("398")]):
        parquet.write_table(pa.table({"name": ["flu", "cold"], "count": values}), path)
        scores = read(path)
        assert list(scores.candidates) == ["flu", "cold"]
        assert [float(value) for value in scores.values] == [412, 398]
    for bad, rule in ((pa.array([1, None]), "null"), (pa.array(["1", "2"]), "number type")):
        parquet.write_table(pa.table({"name": ["flu", "cold"], "count": bad}), path)
        with pytest.raises(ScoresError, match=rule):
            read(path)
    path.write_bytes(b"PAR1 nonsense")
    with pytest.raises(ScoresError, match="well-formed Parquet"):
        read(path)


def test_numbers_are_the_decimals_written(write: Any) -> None:
    scores = read(write("a.csv", "name,score\na,0.1\nb,-1.5e3\nc,+7\n"))
    assert scores.values.tolist() == [Fraction(1, 10), -1500, 7]
    assert read(write("a.json", "[0.1, 3]")).values.tolist() == [Fraction(1, 10), 3]
    assert read(write("a.csv", f"name,score\na,{10**40}\n")).values.tolist() == [10**40]


def test_columns_may_be_named(write: Any) -> None:
    path = write("a.csv", "id,name,visits,cost\n1,flu,412,9\n2,cold,398,8\n")
    scores = read(path, candidate_column="name", score_column="visits")
    assert list(scores.candidates) == ["flu", "cold"]
    assert read(path, candidate_column="name", score_column="cost").values.tolist() == [9, 8]
    alone = read(write("b.csv", "score\n3\n4\n"))
    assert list(alone.candidates) == [0, 1]


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("a.csv", "", "empty"),
        ("a.csv", "name,score\n", "at least one candidate"),
        ("a.csv", "name,score\nflu,secret\n", "line 2: the score is not a finite number"),
        ("a.csv", "name,score\nflu,\n", "line 2"),
        ("a.csv", "name,score\nflu,nan\n", "not a finite number"),
        ("a.csv", "name,score\nflu,inf\n", "not a finite number"),
        ("a.csv", "name,score\nflu,1_000\n", "not a finite number"),
        ("a.csv", "name,score\nflu,1e999999\n", "not a finite number"),
        ("a.csv", "name,score\nflu,1,2\n", "line 2: every line must have the same number"),
        ("a.csv", "name,score\nflu,1/0\n", "not a finite number"),
        ("a.csv", "name,score\n ,1\n", "blank"),
        ("a.csv", "a;1\nb;2\n", "line 2: .* commas, not semicolons"),
        ("a.csv", "name,score\nflu,1\x00\n", "not a finite number"),
        ("a.json", "[" * 100_000, "well-formed JSON"),
        ("a.json", "[1" + "0" * 5_000 + "]", "well-formed JSON"),
        ("a.csv", "name,score\nflu,1\nflu,2\n", "all be different"),
        ("a.csv", "score,score\n1,2\n", "same name"),
        ("a.csv", 'name,score\n"flu,1\n', "well-formed CSV"),
        ("a.csv", b"name,score\n\xff\xfe,1\n", "UTF-8"),
        ("a.json", "{", "well-formed JSON"),
        ("a.json", "3", "object from label"),
        ("a.json", '{"flu": "412"}', "must be a number"),
        ("a.json", '{"flu": true}', "must be a number"),
        ("a.json", '{"flu": NaN}', "finite"),
        ("a.json", "[]", "empty"),
        ("a.json", "[{}]", "no fields"),
        ("a.json", '[{"name": "a", "score": 1}, {"name": "b"}]', "same fields"),
    ],
)
def test_broken_files_are_named_by_the_rule(name: str, content: Any, rule: str, write: Any) -> None:
    with pytest.raises(ScoresError, match=rule) as raised:
        read(write(name, content))
    assert "secret" not in str(raised.value)


def test_duplicate_keys_of_json_are_seen(write: Any) -> None:
    with pytest.raises(ScoresError, match="different"):
        read(write("a.json", '{"flu": 1, "flu": 2}'))


def test_wrong_parameters_are_echoed(write: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="ends in"):
        read(write("a.xlsx", "x"))
    with pytest.raises(ParameterError, match="is not there"):
        read(tmp_path / "missing.csv")
    path = write("a.csv", "name,score\nflu,1\n")
    with pytest.raises(ParameterError, match=r"there is no column 'visits'.*'name', 'score'"):
        read(path, score_column="visits")
    with pytest.raises(ParameterError, match="first line has numbers") as raised:
        read(write("b.csv", "flu,412\n"), score_column="visits")
    assert "412" not in str(raised.value)
    with pytest.raises(ParameterError, match="both"):
        read(path, score_column="name", candidate_column="name")
    with pytest.raises(DiscreetError):
        scores_from_file(path)
    assert json.dumps(read(path).values.tolist()) == "[1]"


@pytest.mark.parametrize(
    "content",
    [
        "score,candidate\n3,a\n4,b\n",
        "candidate,score\na,1/3\nb,4\n",
        "year,score,candidate\n2024,5,a\n2025,7,b\n",
        "a,3\nb,4\n",
        "name,count\na,3\nb,4,5\n",
        "name,count\na,three\n",
        "",
    ],
)
def test_what_is_planned_is_what_is_released(content: str, write: Any) -> None:
    """Studying scores and releasing from them read the same file in the same way."""
    path = write("a.csv", content)

    def studied() -> Any:
        scores = read(path)
        return dict(zip(scores.candidates, map(float, scores.values.tolist()), strict=True))

    def shown() -> Any:
        file = read_scores("a.csv", path.read_bytes())
        return dict(zip(file.labels, file.values.tolist(), strict=True))

    def released() -> Any:
        seen: dict[Any, float] = {}

        class Remembering(PermuteAndFlip):
            def _choose(self, scores: Scores, bits: Bits) -> int:
                values = map(float, scores.values.tolist())
                seen.update(zip(scores.candidates, values, strict=True))
                return super()._choose(scores, bits)

        select_from_file(path, sensitivity=1, epsilon=1, mechanism=Remembering)
        return seen

    outcomes = []
    for way in (studied, shown, released):
        try:
            outcomes.append(way())
        except ScoresError as error:
            # A study names the line, a release what stays spent; the rule is the same.
            outcomes.append(str(error).partition(";")[0].rpartition(": ")[2])
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "candidate,score,sensitivity\nflu,412,1\ncold,398,1/2\nrest,5,30\n"),
        ("a.tsv", "sensitivity\tscore\tname\n1\t412\tflu\n0.5\t398\tcold\n30\t5\trest\n"),
        (
            "a.json",
            json.dumps(
                [
                    {"name": "flu", "score": 412, "sensitivity": 1},
                    {"name": "cold", "score": 398, "sensitivity": 0.5},
                    {"name": "rest", "score": 5, "sensitivity": 30},
                ]
            ),
        ),
    ],
)
def test_a_file_may_have_the_sensitivities(write: Any, name: str, content: str) -> None:
    path = write(name, content)
    scores = scores_from_file(path)
    assert scores.sensitivity == (1, Fraction(1, 2), 30)
    assert scores.candidates == ("flu", "cold", "rest")
    assert scores.values.tolist() == [412, 398, 5]
    # Stated parameters override the file.
    assert read(path).sensitivity == 1
    release = select_from_file(path, epsilon=3)
    assert release.answer in scores.candidates
    assert any("ratios have the smaller bound" in rule for rule in release.rules)
    assert "docs/proofs/unequal-sensitivities.md" in str(release.guarantee.proof)


def test_sensitivities_in_a_table_of_arrow(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, list[Any]] = {
        "name": ["flu", "cold", "rest"],
        "score": [412, 398, 5],
        "sensitivity": [1, 2, 30],
    }
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert scores_from_file(tmp_path / "a.parquet").sensitivity == (1, 2, 30)
    assert select_from_file(tmp_path / "a.parquet", epsilon=3).answer in columns["name"]


@pytest.mark.parametrize("step", ["-1", "nan", "", "many"])
def test_a_wrong_sensitivity_in_a_file(write: Any, step: str) -> None:
    path = write("a.csv", f"candidate,score,sensitivity\nflu,412,1\ncold,398,{step}\n")
    with pytest.raises(ScoresError, match="line 3: the sensitivity is not a finite number"):
        scores_from_file(path)


@pytest.mark.parametrize("step", ["-1", "NaN", '"2"', "null"])
def test_a_wrong_sensitivity_in_a_json_file_costs_nothing(
    write: Any, tmp_path: Path, step: str
) -> None:
    path = write(
        "a.json", f'[{{"score": 1, "sensitivity": 1}}, {{"score": 2, "sensitivity": {step}}}]'
    )
    with Ledger.open(f"sqlite:///{tmp_path / 'budget.db'}") as ledger:
        ledger.create("clinic", PureDP(1))
        with pytest.raises(ScoresError, match="sensitivity"):
            select_from_file(path, epsilon=1, ledger=ledger, dataset="clinic")
        assert [each for each in ledger.history("clinic") if each.kind == "spend"] == []


@pytest.mark.parametrize("steps", [("1", "-1"), ("1", "nan"), ("0", "0")])
def test_a_wrong_sensitivity_in_a_file_costs_nothing(
    write: Any, tmp_path: Path, steps: tuple[str, str]
) -> None:
    path = write("a.csv", "candidate,score,sensitivity\nflu,412,{}\ncold,398,{}\n".format(*steps))
    with Ledger.open(f"sqlite:///{tmp_path / 'budget.db'}") as ledger:
        ledger.create("clinic", PureDP(1))
        with pytest.raises(DiscreetError, match="sensitivity"):
            select_from_file(path, epsilon=1, ledger=ledger, dataset="clinic")
        assert [each for each in ledger.history("clinic") if each.kind == "spend"] == []


@pytest.mark.parametrize("score", ["NaN", '"many"', "null", "9" * 5000])
def test_a_wrong_score_in_a_json_file_says_nothing_before_the_payment(
    write: Any, tmp_path: Path, score: str
) -> None:
    path = write(
        "a.json",
        f'[{{"candidate": "flu", "score": {score}, "sensitivity": 1}},'
        ' {"candidate": "cold", "score": 398, "sensitivity": 2.5}]',
    )
    with Ledger.open(f"sqlite:///{tmp_path / 'budget.db'}") as ledger:
        ledger.create("clinic", PureDP(1))
        with pytest.raises(ScoresError):
            select_from_file(path, epsilon=1, ledger=ledger, dataset="clinic")
        assert [each.kind for each in ledger.history("clinic")].count("spend") == 1


def test_the_way_to_compare_scores_can_be_stated(write: Any) -> None:
    path = write("a.csv", "candidate,score,sensitivity\nflu,412,1\ncold,398,2\nrest,5,300\n")
    for way in ("ratios", "largest"):
        release = select_from_file(path, epsilon=1, unequal=way)
        assert any(f"compared by {way}" in rule for rule in release.rules)
    with pytest.raises(ParameterError, match="unequal='neither'"):
        select_from_file(path, epsilon=1, unequal="neither")
    with pytest.raises(ParameterError, match="only be used with the sensitivities of the file"):
        select_from_file(path, epsilon=1, sensitivity=1, unequal="ratios")


def test_sensitivities_that_change_after_the_plan_release_nothing(
    write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("a.csv", "candidate,score,sensitivity\nflu,412,1\ncold,398,2\n")
    # A function of the same name hides the module.
    names = select_from_file.__globals__
    monkeypatch.setitem(names, "sensitivities_of", lambda *_a, **_k: [1, 1])
    with pytest.raises(ScoresError, match="not those of the plan"):
        select_from_file(path, epsilon=1)


def test_no_bound_is_stated_for_scores_whose_number_is_not_known(write: Any) -> None:
    """The bound for one candidate was shown for any number of candidates, which is too low."""
    path = write("a.csv", "candidate,score\nflu,412\ncold,398\n")
    assert "at worst" not in str(select_from_file(path, sensitivity=1, epsilon=1))


def test_a_file_without_sensitivities_needs_one(write: Any) -> None:
    path = write("a.csv", "candidate,score\nflu,412\ncold,398\n")
    with pytest.raises(ParameterError, match="exactly one of"):
        select_from_file(path, epsilon=1)
    assert scores_from_file(path, default="1").sensitivity == 1
