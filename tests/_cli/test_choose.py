"""The study commands through the real entry point: output, exit status, one-line errors."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet._cli import main
from discreet.analysis import disclosure_bound, epsilon_for_risk


@pytest.fixture
def scores_file(tmp_path: Path) -> str:
    path = tmp_path / "scores.csv"
    path.write_text("diagnosis,patients\nflu,412\ncold,398\nasthma,57\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def ran(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["discreet", *arguments])
        try:
            main()
            status = 0
        except SystemExit as leave:
            status = int(leave.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return ran


def test_compare(run: Any, scores_file: str) -> None:
    status, out, err = run("compare", scores_file, "--epsilon", "0.1:2", "--monotonic", "--public")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == (
        "Use permute-and-flip: its expected error is the smallest at every ε here, from 1.727 at ε = 0.1 to "
        "4.841e-12 at ε = 2."
    )
    assert lines[2] == "Expected error, in units of the score:"
    # One row for each of nine round ε, one column per mechanism.
    assert lines[3].split() == ["ε", "permute-and-flip", "exponential", "noisy-max-laplace"]
    assert [line.split()[0] for line in lines[4:]] == [
        *("0.1", "0.15", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2"),
    ]
    _, everything, _ = run(
        "compare", scores_file, "--epsilon", "0.1:2", "--monotonic", "--public", "--all"
    )
    assert len(everything.splitlines()) == 1 + 3 * (1 + 1 + 1 + 9)


def test_compare_says_where_each_mechanism_is_best(run: Any, tmp_path: Path) -> None:
    """At a small ε Laplace noise can beat the exponential mechanism. A single ε gets one sentence."""
    path = tmp_path / "scores.json"
    path.write_text("[3, 2, 1, 0]", encoding="utf-8")
    named = ("--mechanism", "exponential", "--mechanism", "noisy-max-laplace")
    _, out, _ = run("compare", str(path), *named, "--epsilon", "0.1,5", "--public")
    first = out.splitlines()[0]
    assert first.startswith("Use noisy-max-laplace at ε = 0.1; exponential at ε = 5: there its")
    _, out, _ = run("compare", str(path), "--epsilon", "1", "--public")
    assert out.startswith("Use permute-and-flip: at ε = 1 its expected error is ")
    unproved = ("--mechanism", "exponential-randomized-response")
    _, out, _ = run("compare", str(path), *unproved, "--epsilon", "1", "--public")
    assert out.startswith("Use none of these")


def test_compare_rounds_against_hope(run: Any, scores_file: str) -> None:
    """A chance just below one is not shown as 1."""
    _, out, _ = run("compare", scores_file, "--epsilon", "0.9", "--monotonic", "--public", "--all")
    chances = out.split("Probability of the best candidate:")[1].split()[4:]
    assert chances
    assert "1" not in chances
    assert "0.9999" in chances


def test_compare_as_json(run: Any, scores_file: str) -> None:
    status, out, _ = run(
        *("compare", scores_file, "--epsilon", "0.1", "--monotonic", "--not-private", "--json"),
        *("--mechanism", "permute-and-flip", "--mechanism", "exponential"),
    )
    rows = json.loads(out)
    assert status == 0
    assert [row["mechanism"] for row in rows] == ["permute-and-flip", "exponential"]
    assert rows[1]["expected_error"] == pytest.approx(2.7694, abs=1e-4)


def test_compare_looks_for_the_smallest(run: Any, scores_file: str) -> None:
    _, out, _ = run(
        "compare", scores_file, "--epsilon", "1", "--optimize", "min", "--public", "--json"
    )
    assert json.loads(out)[0]["best_probability"] == pytest.approx(1)


def test_ties_have_null_ratios(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "ties.json"
    path.write_text("[1, 1]", encoding="utf-8")
    _, out, _ = run("compare", str(path), "--epsilon", "1", "--public", "--json")
    assert json.loads(out)[0]["ratio"] is None


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_compare_draws(run: Any, scores_file: str, tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("vl_convert")
    chart = tmp_path / f"chart{suffix}"
    status, _, err = run(
        "compare", scores_file, "--epsilon", "0.1:1:4", "--public", "--chart", str(chart)
    )
    assert status == 0
    assert str(chart) in err
    assert chart.stat().st_size > 5_000


def test_plan_with_data_and_without(run: Any, scores_file: str) -> None:
    status, out, _ = run(
        "plan", scores_file, "--expected-error", "1", "--monotonic", "--public", "--json"
    )
    found = {row["mechanism"]: row for row in json.loads(out)}
    assert status == 0
    assert found["exponential"]["epsilon"] == pytest.approx(0.1832, abs=1e-4)
    assert found["permute-and-flip"]["ratio"] == 1
    status, out, _ = run(
        "plan", "--n", "1000", "--error-at-most", "20", "--with-probability", "0.95"
    )
    assert status == 0
    # 0.91753: the ε needed is rounded up
    assert out.splitlines()[0] == (
        "Use permute-and-flip at ε = 0.918: the error is at most 20 with probability 0.95, whatever the data."
    )
    # A mechanism without a proof is listed but never recommended, although it needs the least ε here.
    both = ("--mechanism", "exponential-randomized-response", "--mechanism", "permute-and-flip")
    _, out, _ = run("plan", scores_file, "--expected-error", "1", "--monotonic", "--public", *both)
    assert out.startswith("Use permute-and-flip at ε = ")
    assert "exponential-randomized-response (not private)" in out
    _, out, _ = run("plan", scores_file, "--expected-error", "1", "--public", *both[:2])
    assert out.startswith("Use none of these")
    _, out, _ = run("plan", "--n", "9", "--gap", "40", "--expected-error", "1")
    assert "the expected error is at most 1, for any data whose best candidate leads by 40." in out
    _, out, _ = run("plan", "--n", "121", "--at", "0.5", "--error-at-most", "10")
    assert out.startswith(
        "Use ε = 0.78, or 1.56 if a person may be replaced: the quantile is at most 10"
    )


def test_thresholds_are_planned_and_compared(run: Any, scores_file: str, tmp_path: Path) -> None:
    given = ("--n", "52", "--margin", "20", "--monotonic")
    status, out, _ = run("plan", *given, "--with-probability", "0.99")
    assert status == 0
    assert out.startswith("Use above-threshold at ε = 0.786: ")
    status, out, _ = run("plan", *given, "--json")
    assert [row["mechanism"] for row in json.loads(out)] == [
        "above-threshold",
        "above-threshold-laplace",
    ]
    _, out, _ = run("plan", "--n", "1", "--margin", "20", "--with-probability", "0.3")
    assert out.startswith("Any ε is enough: above-threshold names the first value above the")
    chart = tmp_path / "split.svg"
    status, out, told = run("recommend", *given, "--epsilon", "1", "--chart", str(chart))
    assert status == 0
    assert out.startswith("On a stream use above-threshold: wrong with probability 0.00118.")
    assert "all values at once" in out
    assert "5.359e-08" in out  # permute-and-flip's false alarm if no value is above
    assert chart.is_file()
    assert "chart written to" in told
    status, out, _ = run("recommend", *given, "--epsilon", "1", "--json")
    assert json.loads(out)["options"][0]["false_alarm"] == pytest.approx(0.001157, abs=1e-6)
    for wrong in (
        ("plan", *given, "--expected-error", "3"),
        ("plan", scores_file, "--margin", "3", "--public"),
        ("plan", *given, "--gap", "3"),
        ("recommend", *given, "--rho", "1"),
        ("recommend", "--n", "52", "--margin", "-1", "--epsilon", "1"),
    ):
        status, _, told = run(*wrong)
        assert status == 2
        assert "margin" in told


def test_recommend(run: Any, scores_file: str) -> None:
    status, out, _ = run(
        "recommend", "--n", "100", "--epsilon", "1", "--delta", "1e-6", "--releases", "50"
    )
    assert status == 0
    assert out.startswith("Use exponential with ε = 0.0605819 for each release.")
    assert out.count("0.0605") == 2  # in both the sentence and the table
    said = " ".join(out.split())
    assert "its average error is at most 86.79, for any data with 100 candidates." in said
    assert out.count("86.79") == 2  # rounded up from 86.78003
    assert "permute-and-flip may use ε = 0.0305203; its average error is at most" in said
    _, out, _ = run("recommend", "--n", "100", "--epsilon", "1", "--gap", "30")
    assert "with 100 candidates whose best score is 30 or more ahead." in " ".join(out.split())
    status, out, _ = run(
        "recommend", scores_file, "--epsilon", "0.1", "--monotonic", "--public", "--json"
    )
    assert re.search(
        r"its average error is [0-9.]+ on these scores\.$", json.loads(out)["reasons"][0]
    )
    assert json.loads(out)["mechanism"] == "permute-and-flip"
    assert json.loads(out)["crossover"] is None
    status, out, _ = run("recommend", "--n", "9", "--rho", "0.5", "--json")
    assert json.loads(out)["mechanism"] == "exponential"


def test_recommend_draws_the_crossover(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    chart = tmp_path / "crossover.svg"
    status, _, _ = run("recommend", "--n", "20", "--rho", "1", "--chart", str(chart))
    assert status == 0
    assert chart.exists()


def test_optimality(run: Any) -> None:
    pytest.importorskip("scipy")
    status, out, _ = run(
        *("optimality", "--epsilon", "0.3,1", "--n", "3", "--k", "4"),
        *("--mechanism", "permute-and-flip", "--json"),
    )
    assert status == 0
    assert [round(row["ratio"], 4) for row in json.loads(out)] == [1.0077, 1.0]
    _, out, _ = run(*("optimality", "--epsilon", "0.3,1", "--n", "3", "--k", "4"))
    lines = out.splitlines()
    assert lines[0].startswith(
        "Use permute-and-flip: at every ε here its average error is at most 1.0077"
    )
    assert len(lines) == 6


def test_risk(run: Any) -> None:
    assert "ε = 1.956" in run("risk", "--worlds", "201", "--tolerated", "0.2")[1]
    assert "3.57% sure which of the 201" in run("risk", "--worlds", "201", "--epsilon", "1")[1]
    data = json.loads(run("risk", "--worlds", "201", "--epsilon", "1", "--steps", "1", "--json")[1])
    assert data["risk"] == pytest.approx(0.0134, abs=1e-4)
    said = run("risk", "--epsilon", "10")[1]
    assert said.startswith("An attacker may become all but certain (above 99.9%) which of the two")
    assert "more than 99.95% sure" in run("risk", "--tolerated", "0.9995")[1]


def test_the_command_and_the_page_about_epsilon_answer_alike(run: Any) -> None:
    """Both assume the same attacker by default: two equally likely data sets that differ by one person."""
    page = (Path(__file__).parents[2] / "docs" / "epsilon.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([0-9.]+) \| [0-9.]+ \| ([0-9.]+)", page, re.MULTILINE)
    assert len(rows) == 6
    for epsilon, sure in rows:
        said = run("risk", "--epsilon", epsilon)[1]
        assert f"more than {sure}% sure which of the two" in said, "rounded up, as on the page"
        assert disclosure_bound(epsilon) <= float(sure) / 100
        assert epsilon_for_risk(Fraction(sure) / 100) >= float(epsilon)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["compare", "FILE", "--epsilon", "1"], "--not-private"),
        (["plan", "FILE", "--expected-error", "1"], "--not-private"),
        (["recommend", "FILE", "--epsilon", "1"], "--not-private"),
        (["compare", "FILE", "--public", "--epsilon", "2:0.1"], "smaller to a larger"),
        (["compare", "FILE", "--public", "--epsilon", ""], "empty"),
        (["compare", "FILE", "--public", "--epsilon", "nan"], "epsilon"),
        (["compare", "FILE", "--public", "--mechanism", "guess"], "one of permute-and-flip"),
        (["compare", "FILE", "--public", "--optimize", "best"], "optimize"),
        (
            ["compare", "FILE", "--public", "--score-column", "deaths"],
            "there is no column 'deaths'",
        ),
        (["compare", "FILE", "--public", "--chart", "x.gif"], "must end in"),
        (["compare", "nowhere.csv", "--public"], "is not there"),
        (["plan", "--expected-error", "1"], "--n"),
        (["plan", "--n", "4", "--expected-error", "0"], "approaches 0"),
        (["plan", "FILE", "--n", "4", "--expected-error", "1", "--public"], "leave the file out"),
        (["plan", "--n", "4", "--range-distance", "1", "--expected-error", "1"], "--sensitivity"),
        (["plan", "FILE", "--public"], "exactly one of --expected-error and --error-at-most"),
        (["plan", "--n", "0", "--error-at-most", "3"], "--n 0 is not allowed: it must be"),
        (["plan", "--n", "9", "--error-at-most", "3"], "--error-at-most and --with-probability go"),
        (["risk", "--worlds", "9", "--tolerated", "0.01"], "--tolerated '0.01' is not"),
        (["compare", "nowhere.csv", "--public"], "SCORES 'nowhere.csv' is not there"),
        (["optimality", "--n", "1000", "--k", "50"], "--n 1000 and --k 50"),
        (["recommend", "--n", "4"], "give --epsilon, or --rho"),
        (["recommend", "--n", "4", "--rho", "1", "--delta", "1e-6"], "--delta"),
        (["recommend", "--n", "4", "--epsilon", "1", "--releases", "0"], "releases"),
        (["recommend", "--epsilon", "1"], "--n"),
        (["optimality", "--n", "1"], "at least 2"),
        (["risk", "--worlds", "3"], "--tolerated"),
        (["risk", "--worlds", "3", "--tolerated", "0.1"], "above 1/3"),
    ],
)
def test_wrong_input_is_one_line_and_status_two(
    run: Any, scores_file: str, arguments: list[str], complaint: str
) -> None:
    status, out, err = run(*(scores_file if word == "FILE" else word for word in arguments))
    assert status == 2
    assert out == ""
    assert complaint in err
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("content", "rule"),
    [("name,score\na,secret\n", "line 2"), ("name,score\na,1\na,2\n", "different"), ("", "empty")],
)
def test_broken_files_are_one_line_and_quote_nothing(
    run: Any, tmp_path: Path, content: str, rule: str
) -> None:
    path = tmp_path / "broken.csv"
    path.write_text(content, encoding="utf-8")
    status, out, err = run("compare", str(path), "--public")
    assert (status, out) == (2, "")
    assert rule in err
    assert "secret" not in err


def test_help_does_not_load_the_heavy_libraries() -> None:
    code = (
        "import sys; sys.argv = ['discreet', '--help']\n"
        "from discreet._cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'altair', 'scipy', 'pyarrow', 'polars', 'pandas', 'vl_convert', 'discreet.analysis'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
