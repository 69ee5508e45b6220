"""A release carries the answer and its cost, and nothing about the scores."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from discreet import PermuteAndFlip, PureDP, Release, Scores


def _release() -> Release:
    scores = Scores({"flu": 918273645, "cold": 546372819}, sensitivity=1, monotonic=True)
    return PermuteAndFlip(epsilon=1).release(scores, neighbours="one person more or less")


def test_a_release_says_what_it_must_and_no_more() -> None:
    release = _release()
    assert release.answer == "flu"
    assert release.guarantee == PureDP(1)
    assert release.mechanism == "permute-and-flip"
    assert release.neighbours == "one person more or less"
    assert release.entry is None
    names = {field.name for field in dataclasses.fields(Release)}
    assert names == {"answer", "guarantee", "mechanism", "neighbours", "entry"}
    for text in (repr(release), str(release)):
        assert "918273645" not in text
        assert "flu" in text
    assert b"918273645" not in pickle.dumps(release)


def test_a_release_in_a_notebook_shows_what_it_rests_on() -> None:
    assert str(_release().guarantee.proof) in _release()._repr_html_()
    claimed = dataclasses.replace(_release(), guarantee=PureDP(1))
    assert "none that discreet knows" in claimed._repr_html_()


def test_a_release_in_words() -> None:
    assert str(_release()) == (
        "flu\nOne person's data changes the probability of any answer by a factor of at most 2.719 "
        "(ε = 1).\nChosen by permute-and-flip. Neighbours: one person more or less. No ledger counted "
        "this release."
    )
    counted = dataclasses.replace(_release(), entry="entry 7 of visits")
    assert "Ledger: entry 7 of visits." in str(counted)


def test_a_release_is_a_frozen_value() -> None:
    release = _release()
    assert release == _release()
    assert pickle.loads(pickle.dumps(release)) == release  # noqa: S301
    assert copy.deepcopy(release) == release
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.answer = "cold"  # type: ignore[misc]  # this is the point
    with pytest.raises((AttributeError, TypeError)):
        release.scores = [1]  # type: ignore[attr-defined]  # this is the point
    with pytest.raises(TypeError):
        Release("flu", PureDP(1), "permute-and-flip", "neighbours")  # type: ignore[call-arg]  # keyword-only
