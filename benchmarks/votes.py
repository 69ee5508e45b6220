"""Votes of blocks: how often the best model is chosen, by the number of blocks, and what a block costs.

The models are logistic regression, a forest and a single tree, on scikit-learn's own tables at ε = 1. The
right answer is the model with the best cross-validated accuracy on the whole table. For each random division
of the rows into blocks the votes are counted, and permute-and-flip's distribution gives the chance of the
right answer; the figure is the mean over divisions. Votes are stored in ``build/votes.jsonl`` as they are
cast, so a stopped run can continue.

Overhead is what a block costs in addition to its function: the processor time of its process and of the
server, as the system counts it, and the wall-clock time of blocks run one after the other.

Run: python -m benchmarks [--large] [--record] votes
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn import set_config
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import record
from discreet import PermuteAndFlip, Scores
from discreet._isolated import BlockLimits, BlockRunner, is_enclosed, packed
from discreet._isolated.blocks import ONE_THREAD
from discreet.analysis.charts import save_chart
from discreet.analysis.charts.style import line_chart, styled
from discreet.questions import recommended_blocks
from discreet.questions.vote import RANGE_DISTANCE
from discreet.sklearn.model_choice import best_in_block

TABLES = {"breast-cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
MODELS: Mapping[str, Any] = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
    "forest": RandomForestClassifier(n_estimators=10, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
}
BLOCKS = (5, 15, 30, 50)
FOLDS = 3
EPSILON = 1
SEED = 20261118
_ROOT = Path(__file__).parents[1]
_KEPT = _ROOT / "build" / "votes.jsonl"
_CHART = _ROOT / "docs" / "_static" / "votes.svg"

Rows = Mapping[str, tuple[Any, Any]]
Votes = dict[tuple[str, int, int], list[str | None]]
"""The votes of the blocks, by table, number of blocks and dealing."""


def vote_of(X: Any, y: Any) -> str | None:  # noqa: N803 - scikit-learn's own name
    """Return the vote of one block; None if a candidate cannot be fitted.

    This equals ``best_in_block``, without the checks of ``cross_val_score``, which take most of its time, and
    without the remaining folds of a model that can no longer win. If models tie, the first one wins.
    """
    try:
        folds = list(StratifiedKFold(FOLDS).split(X, y))
        best, most = None, -1.0
        for name, model in MODELS.items():
            total = 0.0
            for done, (learnt, told) in enumerate(folds):
                if total + FOLDS - done <= most + 1e-9:
                    break
                predicted = model.fit(X[learnt], y[learnt]).predict(X[told])
                total += float(np.mean(predicted == y[told]))
            if total > most + 1e-9:
                best, most = name, total
    except ValueError:
        return None
    return best


def in_isolation(X: Any, y: Any) -> str | None:  # noqa: N803 - as above
    """Return the vote of a block of ``PrivateModelChoice``."""
    columns = {f"x{place}": X[:, place] for place in range(X.shape[1])}
    try:
        return best_in_block(
            pa.table(columns | {"target": y}), candidates=MODELS, scoring=None, folds=FOLDS
        )
    except ValueError:
        return None


def numbers_of_blocks(rows: int) -> list[int]:
    """Return the numbers of blocks on a table's curve, including the recommended one."""
    return sorted({*BLOCKS, recommended_blocks(EPSILON, len(MODELS), rows)})


def cast(tables: Rows, dealings: int) -> Votes:
    """Divide the rows at random and collect votes, several times for every table and number of blocks."""
    set_config(assume_finite=True, skip_parameter_validation=True)  # saves a third of the time
    votes: Votes = {}
    if _KEPT.exists():
        for line in _KEPT.read_text(encoding="utf-8").splitlines():
            table, blocks, dealing, cast_there = json.loads(line)
            votes[table, blocks, dealing] = cast_there
    _KEPT.parent.mkdir(exist_ok=True)
    with _KEPT.open("a", encoding="utf-8") as kept:
        for dealing in range(dealings):
            for name, (X, y) in tables.items():  # noqa: N806 - as above
                for blocks in numbers_of_blocks(len(y)):
                    if (name, blocks, dealing) in votes:
                        continue
                    rng = np.random.default_rng([SEED, len(y), blocks, dealing])
                    block = rng.integers(0, blocks, len(y))
                    pieces = [(X[block == place], y[block == place]) for place in range(blocks)]
                    said = [vote_of(*piece) for piece in pieces]
                    if dealing == 0:
                        assert said[:5] == [in_isolation(*piece) for piece in pieces[:5]]
                    votes[name, blocks, dealing] = said
                    kept.write(json.dumps([name, blocks, dealing, said]) + "\n")
                    kept.flush()
            print(f"dealing {dealing + 1} of {dealings}", flush=True)
    return votes


def chance_of(right: str, votes: list[str | None]) -> float:
    """Return the chance of the right answer for the votes of one division into blocks."""
    counts = [votes.count(name) for name in MODELS]
    scores = Scores(counts, candidates=list(MODELS), range_distance=RANGE_DISTANCE)
    chances = PermuteAndFlip(epsilon=EPSILON).probabilities(scores)
    return float(chances[list(MODELS).index(right)])


def curves(dealings: int) -> tuple[str, list[dict[str, Any]]]:
    """Return the table of figures and the points of the chart."""
    tables = {name: load(return_X_y=True) for name, load in TABLES.items()}
    votes = cast(tables, dealings)
    points, truths = [], []
    lines = [
        "| table | rows | blocks | rows in a block | right, % | standard error | blocks that vote, % | |",
        "|---" * 8 + "|",
    ]
    for name, (X, y) in tables.items():  # noqa: N806 - as above
        accuracy = {
            label: float(np.mean(cross_val_score(model, X, y, cv=5)))
            for label, model in MODELS.items()
        }
        right = max(accuracy, key=accuracy.__getitem__)
        for blocks in numbers_of_blocks(len(y)):
            each = [votes[name, blocks, dealing] for dealing in range(dealings)]
            chances = [chance_of(right, said) for said in each]
            mean, off = np.mean(chances), np.std(chances, ddof=1) / dealings**0.5
            voted = np.mean([vote is not None for said in each for vote in said])
            is_recommended = blocks == recommended_blocks(EPSILON, len(MODELS), len(y))
            lines.append(
                f"| {name} | {len(y):,} | {blocks} | {len(y) / blocks:.0f} | {mean:.1%} | {off:.1%} | "
                f"{voted:.0%} | {'recommended' if is_recommended else ''} |".replace("%", "")
            )
            point = {"table": name, "blocks": blocks, "right": float(mean)}
            points.append(point | {"recommended": is_recommended})
        said = ", ".join(f"{label} {score:.3f}" for label, score in accuracy.items())
        truths.append(f"{name} {right} ({said})")
    return "\n".join(lines) + f"\n\nRight is for {'; '.join(truths)}.", points


def draw(points: list[dict[str, Any]]) -> None:
    """Draw the curves, with a ring around the recommended number of blocks."""
    import altair as alt

    chart = line_chart(
        points,
        x=("blocks", "number of blocks"),
        y=("right", "chance of the right answer"),
        series="table",
    )
    rings = (
        alt.Chart({"values": [point for point in points if point["recommended"]]})
        .mark_point(size=260, filled=False, color="#4a4f58", strokeWidth=1.6)
        .encode(x="blocks:Q", y="right:Q")
    )
    title = "The best model is chosen, ε = 1 (rings: recommended number)"
    save_chart(styled(chart + rings, title=title), _CHART)


def blocks_of_rows() -> dict[str, tuple[bytes, str]]:
    """Return 20 rows of ten columns as they are sent to a block, and the module that reads them, by kind."""
    columns = {f"x{place}": np.arange(20.0) for place in range(10)}
    stream, table = io.BytesIO(), pa.table(columns)
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    arrow = stream.getvalue()
    return {
        "a list": (b"p" + pickle.dumps([1]), "numpy"),
        "pandas": (b"p" + pickle.dumps(pd.DataFrame(columns)), "pandas"),
        "Polars": (b"f" + arrow, "polars"),
        "Arrow": (b"a" + arrow, "pyarrow"),
    }


def overhead(rows: bytes, module: str) -> tuple[float, float]:
    """Return the processor time of a block beyond its function, in ms: in its process, and in the server."""
    walls = "enclosed" if is_enclosed() else "open"
    command = [sys.executable, "-m", "benchmarks.block_overhead", walls, module]
    command += ["sklearn.model_selection", "sklearn.ensemble"]
    said = subprocess.run(  # noqa: S603 - our own module
        command,
        input=rows,
        check=True,
        stdout=subprocess.PIPE,
        cwd=_ROOT,
        env=os.environ | ONE_THREAD,
    )
    theirs, own = json.loads(said.stdout)
    return theirs, own


def waited(blocks: int, rows: bytes) -> float:
    """Return the least wall-clock time, in ms, of a block that does nothing; blocks run one at a time."""

    def nothing(_rows: Any) -> str:
        return "a" if cross_val_score is not None else "b"  # loads scikit-learn there

    limits = BlockLimits(seconds=60, gigabytes=4)
    times = []
    with BlockRunner(packed(nothing), candidates=["a"], limits=limits) as running:
        running.rehearse(rows)
        for _ in range(blocks):
            begun = time.perf_counter()
            assert running.votes([lambda: rows]) == [0]
            times.append(time.perf_counter() - begun)
    return 1000 * min(times)


def overhead_table(blocks: int = 40) -> str:
    """Return a table of what a block costs beyond its function, by the kind of rows."""
    lines = [
        "| rows | processor time, ms | of it in the server, ms | by the clock, ms |",
        "|---" * 4 + "|",
    ]
    for kind, (rows, module) in blocks_of_rows().items():
        theirs, own = overhead(rows, module)
        lines.append(f"| {kind} | {theirs + own:.0f} | {own:.0f} | {waited(blocks, rows):.0f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    dealings = 40 if chosen.large else 2
    rows, points = curves(dealings)
    table = (
        f"How often the best model on the whole table is chosen, ε = {EPSILON}: the mean over {dealings} "
        f"dealings into this many blocks, with its standard error. Each block cross-validates in {FOLDS} "
        "folds, with a forest of ten trees. The best model is the one with the highest 5-fold accuracy on "
        "the whole table. On these tables that is the simplest one, which also does best in small blocks; "
        "a model that needs many rows would lose more the more blocks there are.\n\n"
        f"{rows}\n\n"
        "What a block costs beyond its function, with scikit-learn loaded, by what its rows are (by the "
        f"clock: the least of 40 blocks, one after the other, at a load of {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} processors):\n\n{overhead_table()}"
    )
    print(table)
    if chosen.record:
        draw(points)
        record("votes", "Votes of blocks", table)


if __name__ == "__main__":
    main()
