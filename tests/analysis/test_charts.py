from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from discreet import ApproxDP, Exponential, PermuteAndFlip, Scores
from discreet.analysis import compare, disclosure_risk
from discreet.analysis.charts.style import NEUTRAL, SHADES, altair, look_scale
from discreet.errors import DiscreetError, MissingExtraError, ParameterError
from discreet.mechanisms import LargeGap

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from discreet.analysis import charts

SCORES = Scores({"influenza": 412, "common cold": 398, "asthma": 57}, sensitivity=1, monotonic=True)
WORLDS = [Scores(q, sensitivity=1, monotonic=True) for q in ([9, 20], [10, 19])]


def made(name: str) -> Any:
    return {
        "comparison": lambda: compare(SCORES, epsilons="0.01:0.5:5").chart(),
        "tail": lambda: charts.tail_chart(SCORES, epsilon="0.05"),
        "worst case": lambda: charts.worst_case_chart(candidates=[2, 10, 100]),
        "optimality": lambda: charts.optimality_chart(PermuteAndFlip, n=3, k=3, epsilons="0.2:2:4"),
        "crossover": lambda: charts.crossover_chart(ApproxDP(1, "1e-6"), n=50, releases=(1, 20)),
        "scores": lambda: charts.scores_chart(SCORES),
        "probabilities": lambda: charts.probabilities_chart(SCORES, epsilon="0.1"),
        "posterior": lambda: charts.posterior_chart(
            disclosure_risk(Exponential(epsilon=1), WORLDS)
        ),
    }[name]()


NAMES = [
    "comparison",
    "tail",
    "worst case",
    "optimality",
    "crossover",
    "scores",
    "probabilities",
    "posterior",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_chart_is_drawn_without_a_browser(name: str, tmp_path: Path) -> None:
    path = charts.save_chart(made(name), tmp_path / "chart.svg")
    picture = path.read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert made(name).to_dict()["title"]["text"].split()[0] in picture


def test_formats(tmp_path: Path) -> None:
    chart = made("comparison")
    png = charts.save_chart(chart, str(tmp_path / "chart.PNG")).read_bytes()
    assert png.startswith(b"\x89PNG")
    spec = json.loads(charts.save_chart(chart, tmp_path / "chart.json").read_text(encoding="utf-8"))
    assert "vega-lite" in spec["$schema"]


def test_html_needs_no_network(tmp_path: Path) -> None:
    page = charts.save_chart(made("comparison"), tmp_path / "chart.html").read_text(
        encoding="utf-8"
    )
    # The scripts' contents are just text until they run; their input is the inline spec.
    bare = re.sub(r"(<script\b[^>]*>).*?</script>", r"\1", page, flags=re.DOTALL)
    tags = re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", bare)
    assert tags
    assert not [tag for tag in tags if "src=" in tag or "href=" in tag]
    assert "permute-and-flip" in page


def test_charts_of_scores_say_that_they_are_not_private() -> None:
    for name in ("comparison", "tail", "scores", "probabilities"):
        assert "Not private" in json.dumps(made(name).to_dict())
    for name in ("worst case", "optimality", "crossover"):
        assert "Data-free" in json.dumps(made(name).to_dict())


def test_lines_differ_without_colour() -> None:
    spec = json.dumps(made("comparison").to_dict())
    assert '"strokeDash"' in spec
    assert '"shape"' in spec
    mechanism = compare(SCORES, "exponential-randomized-response", "0.1,1").chart()
    assert "(not private)" in json.dumps(mechanism.to_dict())


def test_a_mechanism_looks_the_same_in_every_chart() -> None:
    def looks(chart: Any) -> dict[str, str]:
        scale = chart.to_dict()["layer"][0]["encoding"]["color"]["scale"]
        return dict(zip(scale["domain"], scale["range"], strict=True))

    alone = looks(compare(SCORES, "exponential", "0.1,1").chart())
    among = looks(compare(SCORES, None, "0.1,1").chart())
    assert alone["exponential mechanism"] == among["exponential mechanism"]
    assert len(set(among.values())) == 3


def test_long_labels_are_cut_and_crowds_are_counted() -> None:
    many = Scores({"x" * 99 + str(i): i for i in range(60)}, sensitivity=1)
    spec = json.dumps(charts.probabilities_chart(many, most=3).to_dict())
    assert "x" * 41 not in spec
    assert "the 3 best of 60 candidates" in spec


@pytest.mark.parametrize("path", ["chart", "chart.gif", "nowhere/chart.png"])
def test_bad_paths_are_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="chart="):
        charts.save_chart(made("scores"), tmp_path / path)


def test_a_folder_cannot_be_written_over(tmp_path: Path) -> None:
    (tmp_path / "chart.json").mkdir()
    with pytest.raises(DiscreetError, match="cannot write"):
        charts.save_chart(made("scores"), tmp_path / "chart.json")


def test_nothing_to_draw() -> None:
    with pytest.raises(ParameterError, match="nothing to draw"):
        compare(Scores([1, 1], sensitivity=1), PermuteAndFlip, 1).chart()
    with pytest.raises(ParameterError, match="candidates"):
        charts.worst_case_chart(candidates=[1])


def test_a_list_without_releases_is_refused() -> None:
    with pytest.raises(ParameterError, match="releases is empty"):
        charts.crossover_chart(ApproxDP(1, "1e-6"), n=50, releases=[])


def test_the_best_candidates_are_those_that_the_mechanisms_look_for() -> None:
    smallest = [PermuteAndFlip(epsilon=1, optimize="min"), Exponential(epsilon=1, optimize="min")]
    chart = charts.probabilities_chart(SCORES, smallest, most=2).to_dict()
    assert "the 2 best of 3" in chart["title"]["text"]
    drawn = json.dumps(chart)
    assert "asthma" in drawn
    assert "influenza" not in drawn
    with pytest.raises(ParameterError, match="largest score"):
        charts.probabilities_chart(SCORES, [PermuteAndFlip, smallest[1]], most=2)
    assert (
        charts.scores_chart(SCORES, most=2).to_dict()["title"]["text"].startswith("The 2 largest")
    )


def test_a_chart_without_a_bound_says_why() -> None:
    only_delta = disclosure_risk(LargeGap(epsilon=1, delta="1e-6"), WORLDS)
    said = " ".join(charts.posterior_chart(only_delta).to_dict()["title"]["subtitle"])
    assert said == only_delta.warning
    assert "promises only (ε, δ)" in said


def test_without_altair_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[charts\]'):
        charts.scores_chart(SCORES)


def test_a_label_stays_a_label_in_a_page() -> None:
    label = "</script><script>alert(1)</script>"
    page = charts.to_html(charts.scores_chart(Scores({label: 1, "b": 0}, sensitivity=1)))
    assert "<script>alert" not in page
    assert "\\u003c/script>\\u003cscript>alert(1)" in page
    assert "&lt;/script&gt;" in page  # in the table


def test_series_without_a_mechanism_are_not_grey() -> None:
    """Greys stand for bounds beside mechanisms; three greys alone could not be told apart."""

    def shades(*names: str) -> list[str]:
        return list(look_scale(altair(), names, 0).to_dict()["range"])

    assert shades("wine", "digits", "tumours") == list(SHADES[:3])
    assert shades("permute-and-flip", "a bound") == [SHADES[0], NEUTRAL]
