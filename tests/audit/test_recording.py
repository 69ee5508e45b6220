"""Record and replay: known violations are found with a witness, and honest pipelines pass."""

from __future__ import annotations

import datetime
import json
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet import ZCDP, ApproxDP, PermuteAndFlip, PureDP, Scores
from discreet.audit import Recording, Schema, recording, step_at
from discreet.errors import ParameterError

AGES = Schema(age=(0, 120))
VISITS = Schema(ward=["a", "b"], cost=(0.0, 100.0))


def generator() -> Any:
    return np.random.default_rng()


def ages(rows: Any) -> Any:
    return np.clip(np.array([row["age"] for row in rows], dtype=float), 0, 120)


# ---- honest pipelines -------------------------------------------------------------------------------------


def clipped_sum(rows: Any) -> Any:
    return ages(rows).sum() + generator().laplace(scale=120.0)


def around_the_sum(rows: Any) -> float:
    return float(generator().laplace(ages(rows).sum(), 120.0))


def scaled_noise(rows: Any) -> Any:
    return ages(rows).sum() - generator().laplace() * 240 / 2


def noise_by_entry(rows: Any) -> Any:
    counts = [len(rows) * 0.5, len(rows) * 0.5]
    return [count + one for count, one in zip(counts, generator().laplace(size=2), strict=True)]


def old_generator(rows: Any) -> Any:
    return round(len(rows) + np.random.RandomState(3).laplace(0, 1.0))  # as many people still do


def weighed(rows: Any) -> Any:
    """The exponential mechanism, written by hand."""
    counts = np.array([(ages(rows) > 50).sum(), (ages(rows) <= 50).sum()])
    weights = np.exp(counts - counts.max())
    return generator().choice(2, p=weights / weights.sum())


def ours(rows: Any) -> Any:
    counts = [int((ages(rows) > 50).sum()), int((ages(rows) <= 50).sum())]
    return PermuteAndFlip(epsilon=1).select(Scores(counts, sensitivity=1, monotonic=True))


@pytest.mark.parametrize(
    "pipeline",
    [clipped_sum, around_the_sum, scaled_noise, noise_by_entry, old_generator, weighed, ours],
)
def test_an_honest_pipeline_passes(pipeline: Any) -> None:
    found = recording(pipeline, AGES, PureDP(1), seed=1)
    assert found.holds, str(found)
    assert found.status == "not refuted"
    assert found.steps
    assert not found.notes
    assert found.pairs > 40


# ---- known kinds of violations -------------------------------------------------------------------------


def bounds_from_the_data(rows: Any) -> Any:
    values = np.array([row["age"] for row in rows] or [0], dtype=float)
    width = float(values.max() - values.min()) or 1.0
    return values.mean() + generator().laplace(scale=width / len(values))


def candidates_from_the_data(rows: Any) -> Any:
    labels = sorted({row["ward"] for row in rows}) or ["a"]
    counts = np.array([sum(row["ward"] == label for row in rows) for label in labels], dtype=float)
    return labels[int(np.argmax(counts + generator().gumbel(scale=2.0, size=len(labels))))]


def count_dropped(rows: Any) -> Any:
    """Ask three questions, each with the whole ε."""
    noise = generator()
    return [(ages(rows) > age).sum() + noise.laplace(scale=1.0) for age in (20, 40, 60)]


def sensitivity_halved(rows: Any) -> Any:
    return ages(rows).sum() + generator().laplace(scale=60.0)


def group_without_a_bound(rows: Any) -> Any:
    """One person may have any number of rows, and all of them count."""
    return len(rows) + generator().laplace(scale=1.0)


def data_dependent_branch(rows: Any) -> Any:
    if len(rows) < 3:
        return 0.0
    return len(rows) + generator().laplace(scale=1.0)


def overflows(rows: Any) -> Any:
    total = np.array([row["cost"] for row in rows], dtype=float).sum()
    return total + generator().laplace(scale=100.0)


def past_the_noise(rows: Any) -> Any:
    return {"noisy": len(rows) + generator().laplace(scale=1.0), "rows": len(rows)}


def fails_on_some(rows: Any) -> Any:
    if any(row["age"] > 1000 for row in rows):
        raise ValueError(rows)
    return clipped_sum(rows)


@pytest.mark.parametrize(
    ("pipeline", "schema", "options", "what", "found"),
    [
        (bounds_from_the_data, AGES, {}, "parameters", None),
        (candidates_from_the_data, VISITS, {}, "steps", None),
        (count_dropped, AGES, {}, "total", 3),
        (sensitivity_halved, AGES, {}, "total", 2),
        (sensitivity_halved, AGES, {"sensitivity": 60}, "distance", 120),
        (sensitivity_halved, AGES, {"sensitivity": {"numpy.laplace": 60}}, "distance", 120),
        (group_without_a_bound, VISITS, {"user": "who", "sensitivity": 1}, "distance", 50),
        (data_dependent_branch, AGES, {}, "steps", None),
        (overflows, VISITS, {"sensitivity": 100}, "distance", None),
        (past_the_noise, AGES, {}, "answer", None),
        (fails_on_some, AGES, {}, "fails", None),
    ],
)
def test_a_violation_is_caught_with_its_rows(
    pipeline: Any, schema: Schema, options: Any, what: str, found: float | None
) -> None:
    verdict = recording(pipeline, schema, PureDP(1), seed=2, **options)
    assert verdict.status == "refuted"
    finding = next(one for one in verdict.findings if one.what == what)
    if found is not None:
        assert finding.found == pytest.approx(found, rel=1e-6)
        assert finding.found is not None
        assert finding.stated is not None
        assert finding.stated < finding.found
    assert finding.rows is not None
    assert abs(len(finding.rows[0]) - len(finding.rows[1])) in (1, 50)
    assert "rows" in str(verdict)
    assert json.loads(json.dumps(verdict.as_dict(), allow_nan=False))["findings"]


def test_an_infinite_sum_is_no_distance_that_can_be_stated() -> None:
    verdict = recording(overflows, VISITS, sensitivity=100)
    assert [one.found for one in verdict.findings if one.what == "distance"] == [math.inf]


def test_the_second_run_takes_the_path_of_the_first() -> None:
    """Branching on a released value is allowed, because both runs take the same branch."""

    def adaptive(rows: Any) -> Any:
        noise = generator()
        first = len(rows) + noise.laplace(scale=2.0)
        if first > 2.5:
            return first, len(rows) + noise.laplace(scale=2.0)
        return (first,)

    assert recording(adaptive, AGES, PureDP(1), seed=5).holds


def test_gaussian_noise_adds_up_in_its_own_measure() -> None:
    def noisy(rows: Any) -> Any:
        return len(rows) + generator().normal(scale=2.0)

    assert recording(noisy, AGES, ZCDP("0.125")).holds
    refuted = recording(noisy, AGES, ZCDP("0.12"))
    assert [one.what for one in refuted.findings] == ["total"]
    assert recording(noisy, AGES, PureDP(5)).findings[0].found == math.inf
    pure = recording(clipped_sum, AGES, ZCDP("0.49"))
    assert pure.findings[0].found == pytest.approx(0.5)


# ---- which rows are shown ------------------------------------------------------------------------------


SECRET = 73
TABLES = {
    "dictionaries": [{"age": SECRET}, {"age": 40}],
    "pandas": pd.DataFrame({"age": [SECRET, 40]}),
    "polars": pl.DataFrame({"age": [SECRET, 40]}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_of_the_callers_is_not_shown(kind: str) -> None:
    def wrong(table: Any) -> Any:
        if kind == "pandas":
            assert isinstance(table, pd.DataFrame)
        values = table["age"].to_numpy() if kind != "dictionaries" else ages(table)
        return float(values.sum()) + generator().laplace(scale=float(values.max(initial=1.0)))

    verdict = recording(wrong, TABLES[kind], PureDP(1))
    assert verdict.status == "refuted"
    assert {one.what for one in verdict.findings} >= {"parameters"}
    told = str(verdict) + json.dumps(verdict.as_dict())
    assert all(one.rows is None and one.values is None for one in verdict.findings)
    assert str(SECRET) not in told
    shown = recording(wrong, TABLES[kind], PureDP(1), show=True)
    assert str(SECRET) in str(shown)


def test_a_finding_is_a_sentence_without_numpys_names() -> None:
    def careless(table: Any) -> Any:
        return np.clip(table, 0, 10).sum() + generator().laplace(scale=np.float64(10))

    verdict = recording(
        careless, np.array([1.0]), PureDP(1), sensitivity=10, neighbours="replace", show=True
    )
    first, *_, last = (one.in_a_sentence for one in verdict.findings)
    assert first.startswith(
        "Step 1, numpy.laplace: the inputs are infinitely far apart (l1), and 10 is stated (values "
    )
    assert last.startswith("The pipeline: the steps add up to ∞, and PureDP(1) is claimed (rows [")
    assert "nan" in first
    assert first.endswith("]).")
    assert "array(" not in f"{verdict} {first} {last}"
    assert "inf " not in f"{verdict}"


def test_an_array_of_the_callers() -> None:
    values = np.array([3.0, 90.0, 41.0])

    def wrong(table: Any) -> Any:
        assert table.dtype == np.float64
        return np.clip(np.nan_to_num(table), 0, 100).sum() + generator().laplace(scale=50.0)

    verdict = recording(wrong, values, sensitivity=50)
    assert [one.what for one in verdict.findings] == ["distance"]
    assert verdict.findings[0].found == pytest.approx(100)
    assert recording(wrong, values, sensitivity=100).holds
    both = recording(wrong, np.array([[1.0, 2.0], [3.0, 4.0]]), sensitivity=100)
    assert both.findings[0].found == pytest.approx(200)
    replaced = recording(wrong, values, sensitivity=100, neighbours="replace")
    assert replaced.holds
    assert replaced.relation == "replace"


DAY = datetime.date(2024, 5, 1)
IDS: dict[str, list[Any]] = {
    "text": ["1", "2", "2", "another person"],
    "integers": [1, 2, 2, 3],
    "large integers": [2**63 - 1, 2, 2, 3],
    "floats": [1.0, 2.0, 2.0, 3.0],
    "truth values": [True, True, True, True],
    "dates": [DAY, DAY, DAY, DAY + datetime.timedelta(days=1)],
}
FRAMES: dict[str, Callable[[list[Any]], Any]] = {
    "dictionaries": lambda ids: [{"user": who, "age": 7} for who in ids],
    "tuples": lambda ids: [(who, 7) for who in ids],
    "numpy": lambda ids: np.array([[who, who] for who in ids]),
    "pandas": lambda ids: pd.DataFrame({"user": ids, "age": 7}),
    "polars": lambda ids: pl.DataFrame({"user": ids, "age": [7] * len(ids)}),
}


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("ids", IDS)
def test_a_new_person_has_an_unused_id_of_the_columns_type(
    ids: str, kind: str, neighbours: str
) -> None:
    """An id that the column cannot hold would leave no pair with a new person."""
    seen = set()

    def people(table: Any) -> Any:
        if kind in ("pandas", "polars"):
            ids = table["user"].to_list()
        else:
            ids = [row["user"] if kind == "dictionaries" else row[0] for row in table]
        seen.update(ids)
        return len(set(ids)) + generator().laplace(scale=1.0)

    table = FRAMES[kind](IDS[ids])
    user = 0 if kind in ("tuples", "numpy") else "user"
    found = recording(people, table, neighbours=neighbours, user=user, sensitivity=1)
    assert found.holds
    assert len(seen - set(IDS[ids])) == 1
    (kept,) = {isinstance(who, type(IDS[ids][0]) | np.generic) for who in seen}
    assert kept


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_frames_give_as_many_pairs_as_lists(neighbours: str) -> None:
    rows = [{"user": who, "age": age} for who, age in ((1, 10), (2, 20), (2, 30), (3, 40))]
    pairs = [
        recording(around_the_number, make(rows), neighbours=neighbours, user="user").pairs
        for make in (list, pd.DataFrame, pl.DataFrame)
    ]
    assert len(set(pairs)) == 1
    assert pairs[0] > 8


def around_the_number(table: Any) -> float:
    return len(table) + float(generator().laplace())


def test_a_column_without_room_for_another_id() -> None:
    ids = pd.Series(["a", "b"], dtype="category")
    for table in (
        pd.DataFrame({"user": ids, "age": 7}),
        pl.DataFrame({"user": [True, False], "age": [1, 2]}),
        np.array([[None, 1], [None, 2]]),
    ):
        user = 0 if isinstance(table, np.ndarray) else "user"
        with pytest.raises(ParameterError, match="cannot hold the id of one more person"):
            recording(around_the_number, table, user=user)
    short = np.array([["a", "b"], ["c", "d"]])  # "another person" would become "a"
    assert recording(around_the_number, short, user=0).holds
    with pytest.raises(ParameterError, match="must be a column of the table"):
        recording(around_the_number, [{"age": 3}], user="patient")


def test_a_narrow_column_of_polars_skips_what_it_cannot_hold() -> None:
    table = pl.DataFrame({"age": pl.Series([1, 2], dtype=pl.Int8)})
    assert recording(around_the_number, table).pairs == 6


def test_no_pair_of_tables_is_an_error() -> None:
    with pytest.raises(ParameterError, match="no neighbouring tables could be made"):
        recording(around_the_number, range(3))


# ---- what cannot be seen -------------------------------------------------------------------------------


def test_noise_that_is_not_watched_is_named() -> None:
    def by_python(rows: Any) -> float:
        return len(rows) + random.gauss(0, 1)

    verdict = recording(by_python, AGES)
    assert verdict.holds
    assert any("could not be watched" in note for note in verdict.notes)

    def coins(rows: Any) -> Any:
        return generator().random() < (0.75 if len(rows) > 2 else 0.25)

    assert any("random was drawn" in note for note in recording(coins, AGES).notes)


def test_noise_with_a_scale_for_each_entry_may_be_scaled() -> None:
    def two(rows: Any) -> Any:
        return len(rows) + 2 * generator().laplace(scale=[0.5, 1.0], size=2)

    assert recording(two, AGES, PureDP(2), effort="quick").holds
    (finding,) = recording(two, AGES, PureDP("1.9"), effort="quick").findings
    assert finding.what == "total"
    assert finding.found == pytest.approx(2)


@pytest.mark.parametrize("times", [0.0, -0.0])
def test_noise_times_zero_is_no_noise(times: float) -> None:
    def silenced(rows: Any) -> Any:
        return len(rows) + times * generator().laplace(scale=1.0)

    found = recording(silenced, AGES, PureDP(1), effort="quick").findings
    assert ("total", math.inf) in [(one.what, one.found) for one in found]


def test_no_noise_at_all_is_found() -> None:
    verdict = recording(len, AGES)
    assert [one.what for one in verdict.findings] == ["answer"]
    assert "no noise and no selection was seen" in verdict.notes


def test_what_is_refused() -> None:
    def broken(_rows: Any) -> Any:
        raise KeyError("secret")

    with pytest.raises(ParameterError, match="failed on every table") as error:
        recording(broken, AGES)
    assert "secret" not in str(error.value)
    claim: Any = ApproxDP(1, "0.1")
    with pytest.raises(ParameterError, match="claim"):
        recording(len, AGES, claim)
    with pytest.raises(ParameterError, match="a table of type int"):
        recording(len, 3)
    with pytest.raises(ParameterError, match="no rows"):
        recording(len, [])
    with pytest.raises(ParameterError, match="age"):
        Schema(age=(3, 1))
    with pytest.raises(ParameterError, match="at least one column"):
        Schema()
    with pytest.raises(ParameterError, match="effort"):
        recording(len, AGES, effort="much")
    with pytest.raises(ParameterError, match=r"package\.module:name"):
        step_at("nothing")


def test_the_same_seed_gives_the_same_recording() -> None:
    def noisy_branch(rows: Any) -> Any:
        noise = generator()
        many = 1 + int(abs(noise.laplace(0, 3.0)))
        return [len(rows) + noise.laplace(scale=1.0) for _ in range(many)]

    first, second = (recording(noisy_branch, AGES, PureDP(1), seed=9) for _ in range(2))
    assert isinstance(first, Recording)
    assert str(first) == str(second)
