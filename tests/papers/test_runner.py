"""Runs: resumed, side by side, in spite of troubles; and the report that follows."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import DiscreetError
from discreet.papers import DrawnFigure, Figure, Scope, chosen_figures, draw, finished
from discreet.papers.figure import Drawing
from discreet.papers.histograms import NAMES, path_of
from discreet.papers.report import figures_markdown, figures_summary, numbers, write_figures_report
from discreet.papers.runner import fingerprint

QUICK = Scope(quick=True)


def _told() -> tuple[list[tuple[str, bool]], object]:
    seen: list[tuple[str, bool]] = []
    return seen, lambda name, result: seen.append((name, result is not None))


def _folder(place: Path, **contents: object) -> Path:
    """A data folder with five small histograms, some of them spoilt."""
    place.mkdir()
    for index, name in enumerate(NAMES):
        counts = np.arange(4096) % (50 + index)
        counts[7] = 500 + index
        np.save(path_of(place, name), counts)
    for name, content in contents.items():
        path_of(place, name).write_bytes(bytes(str(content), "utf-8"))
    return place


def test_figures_are_written_and_not_done_again(tmp_path: Path) -> None:
    figures = chosen_figures(["pf-fig1a", "pf-fig4"])
    seen, tell = _told()
    first = draw(figures, QUICK, tmp_path, workers=1, report=tell)  # type: ignore[arg-type]  # a plain function
    assert seen == [("pf-fig1a", False), ("pf-fig1a", True), ("pf-fig4", False), ("pf-fig4", True)]
    assert [result.id for result in first] == ["pf-fig1a", "pf-fig4"]
    for name in ("pf-fig1a", "pf-fig4"):
        for suffix in ("svg", "png", "csv", "json"):
            assert (tmp_path / "figures" / f"{name}.{suffix}").stat().st_size > 100
    again = draw(figures, QUICK, tmp_path, workers=1)
    assert again == first
    assert all(result.reused for result in again)
    assert finished(QUICK, tmp_path) == first
    assert not finished(Scope(quick=False), tmp_path)


def test_a_damaged_or_missing_part_is_done_again(tmp_path: Path) -> None:
    figures = chosen_figures(["pf-fig1a"])
    for damage in ("png", "json"):
        draw(figures, QUICK, tmp_path, workers=1)
        path = tmp_path / "figures" / f"pf-fig1a.{damage}"
        path.write_text("{") if damage == "json" else path.unlink()
        assert not draw(figures, QUICK, tmp_path, workers=1)[0].reused


def test_other_data_are_computed_anew(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "data")
    figures = chosen_figures(["pf-fig3c"])
    scope = Scope(quick=True, data=folder)
    draw(figures, scope, tmp_path, workers=1)
    assert draw(figures, scope, tmp_path, workers=1)[0].reused
    np.save(path_of(folder, "MEDCOST"), np.arange(4096) % 77)
    changed = draw(figures, scope, tmp_path, workers=1)[0]
    assert not changed.reused
    assert fingerprint(figures[0], scope) != fingerprint(figures[0], QUICK)


def test_side_by_side_gives_the_same(tmp_path: Path) -> None:
    figures = chosen_figures(["pf-fig1", "pf-fig4"])
    together = draw(figures, QUICK, tmp_path / "a", workers=2)
    one_by_one = draw(figures, QUICK, tmp_path / "b", workers=1)
    assert [replace(result, seconds=0) for result in together] == [
        replace(result, seconds=0) for result in one_by_one
    ]
    for name in ("pf-fig1a.csv", "pf-fig1c.csv", "pf-fig4.csv"):
        first, second = (tmp_path / part / "figures" / name for part in "ab")
        assert first.read_bytes() == second.read_bytes()


def test_a_bad_file_spoils_its_own_panel_only(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "data", MEDCOST="no array")
    scope = Scope(quick=True, data=folder)
    results = {
        result.id: result
        for result in draw(chosen_figures(["pf-fig3", "pf-fig4"]), scope, tmp_path, workers=1)
    }
    assert not results["pf-fig3a"].failed
    assert not results["pf-fig4"].failed
    assert results["pf-fig3c"].failed
    assert results["pf-fig3c"].error is None
    assert str(path_of(folder, "MEDCOST")) in results["pf-fig3c"].troubles[0]
    table = (tmp_path / "figures" / "pf-fig3c.csv").read_text(encoding="utf-8")
    assert "HEPTH" in table
    assert "MEDCOST" not in table
    # It is tried again next time: the file may have been mended.
    assert not (tmp_path / "figures" / "pf-fig3c.json").exists()


def test_a_figure_whose_only_file_is_bad_is_not_drawn_and_the_others_are(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "data", HEPTH="no array")
    scope = Scope(quick=True, data=folder)
    results = draw(chosen_figures(["pf-fig3a", "pf-fig1a"]), scope, tmp_path, workers=1)
    assert [result.error is None for result in results] == [True, False]
    assert "HEPTH.n4096.npy" in str(results[1].error)
    written = write_figures_report(results, scope, tmp_path)
    assert "Not drawn" in written[0].read_text(encoding="utf-8")
    assert "HEPTH.n4096.npy" in written[1].read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(DiscreetError, match="taken"):
        draw(chosen_figures(["pf-fig1a"]), QUICK, tmp_path / "taken", workers=1)


def test_a_file_that_cannot_be_written_is_named_and_the_others_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "figures" / "pf-fig1a.svg").mkdir(parents=True)
    results = draw(chosen_figures(["pf-fig1a", "pf-fig4"]), QUICK, tmp_path, workers=1)
    assert "pf-fig1a.svg" in str(results[0].error)
    assert results[1].error is None
    assert not [path.name for path in (tmp_path / "figures").iterdir() if path.name.startswith(".")]


def test_whatever_goes_wrong_with_one_figure_the_others_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_drawing: Drawing) -> None:
        raise ZeroDivisionError("by surprise")

    figures = chosen_figures(["pf-fig1a", "pf-fig4"])
    spoilt: list[Figure] = [replace(figures[0], fill=broken), figures[1]]
    listed = {figure.id: figure for figure in spoilt}
    monkeypatch.setattr("discreet.papers.runner.all_figures", lambda: listed)
    results = draw(spoilt, QUICK, tmp_path, workers=1)
    assert results[0].error == "ZeroDivisionError: by surprise"
    assert not results[1].failed


# ---- the report ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[DrawnFigure]]:
    out = tmp_path_factory.mktemp("report")
    results = draw(chosen_figures(["pf-fig1a", "pf-fig3c", "err-fig8"]), QUICK, out, workers=1)
    write_figures_report(results, QUICK, out)
    return out, results


def test_the_page_opens_offline(report: tuple[Path, list[DrawnFigure]]) -> None:
    page = (report[0] / "index.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page)
    assert "@import" not in page
    assert page.count('src="data:image/svg+xml;base64,') == 3
    for link in re.findall(r'href="(figures/[^"]+)"', page):
        assert (report[0] / link).is_file()
    for target in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{target}"' in page
    assert "synthetic" in page
    assert "What differs" in page


def test_the_markdown_says_the_same(report: tuple[Path, list[DrawnFigure]]) -> None:
    text = (report[0] / "report.md").read_text(encoding="utf-8")
    assert text == figures_markdown(report[1], QUICK)
    for image in re.findall(r"\]\((figures/[^)]+)\)", text):
        assert (report[0] / image).is_file()
    for result in report[1]:
        for row in result.comparisons:
            assert row.ours.replace("|", "\\|") in text
    assert figures_summary(report[1]) in text


def test_the_numbers_are_a_table(report: tuple[Path, list[DrawnFigure]]) -> None:
    rows = list(csv.DictReader(io.StringIO(numbers(report[1]))))
    assert len(rows) == sum(len(result.comparisons) for result in report[1])
    assert {row["figure"] for row in rows} == {"pf-fig1a", "pf-fig3c", "err-fig8"}
    table = (report[0] / "figures" / "pf-fig1a.csv").read_text(encoding="utf-8")
    points = list(csv.DictReader(io.StringIO(table)))
    assert {row["series"] for row in points} == {"PF", "EM"}
    assert max(float(row["y"]) for row in points) == pytest.approx(0.926, abs=0.002)


def test_the_drawing_is_whole_and_has_its_words(report: tuple[Path, list[DrawnFigure]]) -> None:
    svg = (report[0] / "figures" / "pf-fig3c.svg").read_text(encoding="utf-8")
    for words in ("PF Figure 3c", "SYNTHETIC look-alike data", "HEPTH", "permute-and-flip"):
        assert words in svg
    png = (report[0] / "figures" / "pf-fig3c.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") > 800
    marker = json.loads((report[0] / "figures" / "pf-fig3c.json").read_text(encoding="utf-8"))
    assert marker["result"]["synthetic"] == list(NAMES)
