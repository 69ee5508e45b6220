from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import vl_convert

import discreet.explore
from discreet.analysis.charts.style import SHADES
from discreet.explore.attack import band
from discreet.explore.bundle import Bundle
from discreet.explore.charts import specifications
from discreet.explore.choices import choices_from
from discreet.explore.figures import figures
from discreet.explore.seen_scores import SeenScores
from discreet.explore.uploads import UploadStore
from discreet.mechanisms import MECHANISMS


@pytest.mark.parametrize(
    "names", [["exponential"], ["permute-and-flip", "exponential"], list(MECHANISMS)]
)
def test_every_chart_compiles_and_waits_for_its_data(
    names: list[str], state: dict[str, Any]
) -> None:
    choices = choices_from({**state, "mechanisms": names, "choice": names[0]}, UploadStore())
    found = figures(choices, SeenScores(choices.values), seconds=(60, 60))
    data = {
        "balance": {
            "balance": found["balance"]["rows"],
            "limits": found["balance"]["limits"],
            "chosen": found["chosen"],
        },
        "probabilities": {"probabilities": found["probabilities"]},
        "error": {"error": found["error"], "chosen": found["chosen"]},
        "tail": {"tail": found["tail"], "chosen": found["chosen"]},
        "budget": {"budget": found["budget"]["rows"], "releases": found["budget"]["chosen"]},
        "risk": {"risk": found["risk"]["rows"], "chosen": found["risk"]["chosen"]},
        "witness": {
            "witness": [
                {
                    "answer": "1",
                    "score": 1,
                    "probability": 1,
                    "shown": "1",
                    "telling": "other answers",
                }
            ]
        },
        "ratios": band("pure", 1.0, [0.5, 0.5], [0.9, 0.1]),
    }
    data["ratios"] = {"ratios": data["ratios"]["rows"], "band": data["ratios"]["band"]}
    charts = specifications(names)
    assert set(charts) == set(data)
    for name, chart in charts.items():
        assert _named(chart) == set(data[name])
        drawn = {**chart, "width": 300, "datasets": data[name]}
        assert "<svg" in vl_convert.vegalite_to_svg(drawn)
        # The theme colours the series in the given order, so the data must have exactly these series.
        order = set(chart["usermeta"]["order"])
        series = {
            row.get("mechanism") or row.get("series")
            for rows in data[name].values()
            for row in rows
        }
        if name in ("probabilities", "error", "tail", "budget"):
            assert series - {None} == order


def _named(chart: dict[str, Any]) -> set[str]:
    here = {chart["data"]["name"]} if "data" in chart else set()
    return here.union(*(_named(layer) for layer in chart.get("layer", ())))


def test_charts_leave_colours_to_the_theme_and_keep_dashes() -> None:
    charts = specifications(["permute-and-flip", "exponential"])
    text = str(charts)
    assert "#" not in text
    assert "strokeDash" in str(charts["error"])
    assert "shape" in str(charts["tail"])


def test_the_bundle_is_made_once_and_kept(tmp_path: Path) -> None:
    first = Bundle(tmp_path).content()
    assert b"vegaEmbed" in first
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"kept")
    assert Bundle(tmp_path).content() == b"kept"


def test_a_home_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert b"vegaEmbed" in Bundle(blocked / "below").content()


def test_a_mechanism_has_one_colour_on_the_page_and_in_every_chart() -> None:
    sheet = Path(discreet.explore.__file__).with_name("static") / "page.css"
    light = sheet.read_text(encoding="utf-8").partition("}")[0]
    assert [light.partition(f"--m{place}: ")[2][:7] for place in range(len(SHADES))] == list(SHADES)
