"""Runs: resumed, in parallel, and with errors; and the report after them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import DiscreetError
from discreet.papers import Figure, Scope, chosen_figures, draw, finished, runner
from discreet.papers.figure import Drawing
from discreet.papers.histograms import NAMES, path_of
from discreet.papers.report import write_figures_report
from discreet.papers.runner import fingerprint

QUICK = Scope(quick=True)


def _told() -> tuple[list[tuple[str, bool]], object]:
    seen: list[tuple[str, bool]] = []
    return seen, lambda name, result: seen.append((name, result is not None))


def _folder(place: Path, **contents: object) -> Path:
    """Create a data folder with five small histograms, some of them broken."""
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


@pytest.mark.parametrize("library", ["numpy", "altair", "vl-convert-python"])
def test_another_version_of_a_library_is_computed_anew(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = chosen_figures(["pf-fig1a"])[0]
    before = fingerprint(figure, QUICK)
    assert before == fingerprint(figure, QUICK)
    known = runner._version
    monkeypatch.setattr(runner, "_version", lambda name: "0.1" if name == library else known(name))
    assert fingerprint(figure, QUICK) != before


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
    # It is tried again next time, because the file may have been repaired.
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
