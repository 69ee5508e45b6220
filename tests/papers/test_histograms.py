"""Data files: errors name the file, and look-alikes are the same on every machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.papers import Scope
from discreet.papers.histograms import (
    NAMES,
    DataFileError,
    histogram,
    median_scores,
    mode_as_printed,
    mode_as_run,
    path_of,
    readable,
)


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (np.zeros(4096), "all counts are zero"),
        (np.ones(1024), "expected 4096 counts"),
        (np.ones((64, 64)), "one row"),
        (np.full(4096, "x"), "one row"),
        (np.full(4096, -1), "whole numbers"),
        (np.full(4096, 0.5), "whole numbers"),
        (np.full(4096, np.nan), "whole numbers"),
        (np.full(4096, 1e300), "whole numbers"),
        (b"not an array", "cannot be read"),
        (b"", "cannot be read"),
        (None, "no such file"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: Any, rule: str) -> None:
    path = path_of(tmp_path, "HEPTH")
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        np.save(path, content)
    with pytest.raises(DataFileError, match=rule) as caught:
        histogram(Scope(data=tmp_path), "HEPTH")
    assert str(path) in str(caught.value)


def test_pickles_are_refused(tmp_path: Path) -> None:
    np.save(path_of(tmp_path, "HEPTH"), np.array([object()] * 4096), allow_pickle=True)
    with pytest.raises(DataFileError, match="cannot be read"):
        histogram(Scope(data=tmp_path), "HEPTH")


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    path_of(tmp_path, "PATENT").mkdir()
    with pytest.raises(DataFileError, match=r"PATENT\.n4096\.npy"):
        histogram(Scope(data=tmp_path), "PATENT")


def test_the_readable_ones_are_kept(tmp_path: Path) -> None:
    np.save(path_of(tmp_path, "HEPTH"), np.arange(4096))
    found, troubles = readable(Scope(data=tmp_path))
    assert [each.name for each in found] == ["HEPTH"]
    assert len(troubles) == len(NAMES) - 1
    assert not found[0].synthetic
    with pytest.raises(DataFileError, match="MEDCOST"):
        readable(Scope(data=tmp_path), ["MEDCOST"])


def test_floats_that_hold_whole_counts_are_welcome(tmp_path: Path) -> None:
    np.save(path_of(tmp_path, "HEPTH"), np.arange(4096, dtype=np.float32))
    assert histogram(Scope(data=tmp_path), "HEPTH").fine.sum() == 4095 * 2048


def test_look_alikes_look_alike(dpbench: Path) -> None:
    for name in NAMES:
        made, real = (histogram(Scope(data=data), name) for data in (None, dpbench))
        assert made.synthetic
        assert not real.synthetic
        assert made.fine.sum() == pytest.approx(real.fine.sum(), rel=0.02)
        assert 0.3 < made.counts.max() / real.counts.max() < 3
        assert not np.array_equal(made.fine, real.fine)


def test_look_alikes_are_the_same_everywhere() -> None:
    sums = {name: int(histogram(Scope(), name).fine @ np.arange(1, 4097)) for name in NAMES}
    assert sums == {name: int(histogram(Scope(), name).fine @ np.arange(1, 4097)) for name in NAMES}
    assert len(set(sums.values())) == len(NAMES)


def test_scores() -> None:
    counts = np.array([1, 4, 0, 2])
    assert mode_as_printed(counts).range_distance == 2
    assert mode_as_run(counts).values.tolist() == [2, 8, 0, 4]
    assert mode_as_run(counts).range_distance == 2
    # By hand: with 7 people the median is in bin 1; the scores are −(7 − 2·1) below it and −(2·5 − 7 + 1)
    # above.
    assert median_scores(counts).values.tolist() == [-5, 0, -4, -4]


def test_the_median_scores_move_by_at_most_one_when_a_person_comes() -> None:
    base = np.array([3, 1, 0, 2, 2])
    before = median_scores(base).values
    for place in range(len(base)):
        after = base.copy()
        after[place] += 1
        assert np.abs(median_scores(after).values - before).max() <= 1
