from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.explore.choices import choices_from
from discreet.explore.uploads import MOST_DRAFTS, MOST_FILES, OPENED, ScoreFile, UploadStore


def test_numbers_are_taken_as_typed(state: dict[str, Any]) -> None:
    choices = choices_from({**state, "epsilon": "0.1", "sensitivity": "1/3"}, UploadStore())
    assert choices.epsilon == Fraction(1, 10)
    assert choices.range_distance == Fraction(1, 3)
    assert choices_from({**state, "monotonic": False}, UploadStore()).range_distance == 2


def test_edits_change_the_scores_and_nothing_else(state: dict[str, Any]) -> None:
    choices = choices_from({**state, "edits": {"0": 500, "7": 2.5}}, UploadStore())
    assert choices.values[0] == 500
    assert choices.values[7] == 2.5
    assert choices_from(state, UploadStore()).values[0] == 412


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"epsilon": "0"}, "epsilon='0' is not allowed"),
        ({"epsilon": "-1"}, "epsilon="),
        ({"epsilon": "nan"}, "epsilon="),
        ({"epsilon": "1e9"}, "between 0.0001 and 100"),
        ({"epsilon": None}, "epsilon="),
        ({"epsilon": True}, "epsilon="),
        ({"epsilon": "1" * 100}, "at most 40 characters"),
        ({"sensitivity": "0"}, "sensitivity="),
        ({"sensitivity": "1e300"}, "on this page"),
        ({"releases": 0}, "releases="),
        ({"releases": "ten"}, "releases="),
        ({"releases": 10**9}, "at most 1,000,000"),
        ({"delta": "1"}, "delta="),
        ({"delta": "-1e-6"}, "delta="),
        ({"level": "1"}, "level="),
        ({"tolerance": "-1"}, "tolerance="),
        ({"monotonic": "yes"}, "monotonic="),
        ({"mechanisms": "all"}, "a list of names"),
        ({"mechanisms": ["no-such"]}, "mechanism='no-such'"),
        ({"choice": "no-such"}, "choice="),
        ({"worlds": 1}, "worlds="),
        ({"source": "example:no-such"}, "source="),
        ({"source": "file:gone"}, "no longer held in memory"),
        ({"source": 5}, "source="),
        ({"edits": {"99": 1}}, "does not exist"),
        ({"edits": {"-1": 1}}, "does not exist"),
        ({"edits": {"0": "high"}}, "finite number"),
        ({"edits": {"0": 1e300}}, "between"),
        ({"edits": [1]}, "edits"),
        ({"source": "inline"}, "a look-alike or a file"),
        ({"source": "made:1,5,2,even"}, "2 to 100,000 candidates"),
        ({"source": "made:5,5,9,even"}, "a lead of at most the best"),
        ({"source": "made:5,5,2,round"}, "steep, even, close"),
        ({"source": "made:-5,5,2,even"}, "Candidates must be a whole number"),
    ],
)
def test_wrong_choices_are_named(state: dict[str, Any], part: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words.replace("(", r"\(")):
        choices_from({**state, **part}, UploadStore())


@pytest.mark.parametrize("given", [None, [], "text", 5])
def test_what_is_no_object_is_refused(given: object) -> None:
    with pytest.raises(ParameterError, match="JSON object"):
        choices_from(given, UploadStore())


def test_the_shelf_forgets_the_oldest_but_not_the_file_of_the_command_line() -> None:
    uploads = UploadStore()
    file = ScoreFile("a.csv", ("a", "b"), np.array([1, 2]))
    uploads.put(file, key=OPENED)
    names = [uploads.put(file) for _ in range(MOST_FILES)]
    assert uploads.get(OPENED) is file
    assert uploads.get(names[-1]) is file
    with pytest.raises(ParameterError, match="no longer held"):
        uploads.get(names[0])
    assert len(set(names)) == len(names)


def test_the_shelf_counts_candidates() -> None:
    uploads = UploadStore()
    big = ScoreFile("a.csv", tuple(map(str, range(1_000_000))), np.zeros(1_000_000))
    first = uploads.put(big)
    for _ in range(4):
        last = uploads.put(big)
    assert uploads.get(last) is big
    with pytest.raises(ParameterError):
        uploads.get(first)


def test_the_one_decided_for_is_always_compared(state: dict[str, Any]) -> None:
    choices = choices_from({**state, "mechanisms": [], "choice": "large-gap"}, UploadStore())
    assert choices.mechanisms == ("large-gap",)


def test_what_a_page_changed_is_held_for_that_page_and_those_scores_only() -> None:
    uploads = UploadStore()
    uploads.keep_draft("one", "example:clinic", {"0": 5.0})
    assert uploads.draft("one", "example:clinic") == {"0": 5.0}
    assert uploads.draft("one", "example:pages") == {}
    assert uploads.draft("two", "example:clinic") == {}
    for place in range(MOST_DRAFTS):
        uploads.keep_draft(str(place), "example:clinic", {"0": 1.0})
    assert uploads.draft("one", "example:clinic") == {}
