"""Votes of blocks: how often the best model is chosen, by the number of blocks, and what a block costs.

Logistic regression, a forest and a single tree on scikit-learn's own tables at ε = 1. Right is the model with
the best cross-validated accuracy on the whole table. For each dealing of the rows the votes are counted, and
the chance of the right answer is permute-and-flip's own; the figure is the mean over dealings. Votes are kept
in ``build/votes.jsonl`` as they are cast, so that a run that was stopped goes on where it was.

Overhead is what a block costs beyond its function: the processor time of its process and of the server, in
the system's count, and the wall clock of one block after the other.

Run: python -m benchmarks [--large] [--record] votes
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import pickle
import resource
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
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
from discreet._isolated import BlockLimits, BlockRunner, is_enclosed, packed, server
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
"""What the blocks vote for, by the table, the number of blocks and the dealing."""


def vote_of(X: Any, y: Any) -> str | None:  # noqa: N803 - scikit-learn's own name
    """What one block votes for; none where a candidate cannot be fitted.

    The same as ``best_in_block``, without the checks of ``cross_val_score``, which take most of its time, and
    without the folds of a model that cannot win any more. Of models that tie the first wins.
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
    """What the block of a ``PrivateModelChoice`` votes for."""
    columns = {f"x{place}": X[:, place] for place in range(X.shape[1])}
    try:
        return best_in_block(
            pa.table(columns | {"target": y}), candidates=MODELS, scoring=None, folds=FOLDS
        )
    except ValueError:
        return None


def numbers_of_blocks(rows: int) -> list[int]:
    """The points of a table's curve; the recommended number is one of them."""
    return sorted({*BLOCKS, recommended_blocks(EPSILON, len(MODELS), rows)})


def cast(tables: Rows, dealings: int) -> Votes:
    """Deal and vote, one dealing of every table and number of blocks after the other."""
    set_config(assume_finite=True, skip_parameter_validation=True)  # a third of the time
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
    """The chance of the right answer for the votes of one dealing."""
    counts = [votes.count(name) for name in MODELS]
    scores = Scores(counts, candidates=list(MODELS), range_distance=RANGE_DISTANCE)
    chances = PermuteAndFlip(epsilon=EPSILON).probabilities(scores)
    return float(chances[list(MODELS).index(right)])


def curves(dealings: int) -> tuple[str, list[dict[str, Any]]]:
    """The table of figures, and the points of the chart."""
    tables = {name: load(return_X_y=True) for name, load in TABLES.items()}
    votes = cast(tables, dealings)
    points = []
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
                f"| {name} | {len(y):,} | {blocks} | {len(y) / blocks:.0f} | {mean:.0%} | {off:.1%} | "
                f"{voted:.0%} | {'recommended' if is_recommended else ''} |".replace("%", "")
            )
            point = {"table": name, "blocks": blocks, "right": float(mean)}
            points.append(point | {"recommended": is_recommended})
        said = ", ".join(f"{label} {score:.3f}" for label, score in accuracy.items())
        lines.append(f"| | | | | | | | right is {right}: {said} |")
    return "\n".join(lines), points


def draw(points: list[dict[str, Any]]) -> None:
    """The curves, with a ring around the recommended number of blocks."""
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
    title = "How often the best model is chosen at ε = 1; rings: the recommended number of blocks"
    save_chart(styled(chart + rings, title=title), _CHART)


def overhead(blocks: int) -> tuple[float, float]:
    """Milliseconds of processor time a block beyond its function: in its process, and in the server."""
    folder, enclosed = tempfile.mkdtemp(), is_enclosed()
    said, says = os.pipe()
    stand_in = os.fork()
    if stand_in:
        os.close(says)
        with open(said, "rb") as file:
            found: tuple[float, float] = pickle.loads(file.read())  # noqa: S301 - our own
        os.waitpid(stand_in, 0)
        os.rmdir(folder)
        return found
    if enclosed:
        server._own_users()
        server._own_processes()
    gc.collect()
    gc.freeze()
    terms = {"folder": folder, "enclosed": enclosed, "network": False, "memory": 4 << 30}
    terms |= {"seconds": 60, "candidates": ["a"], "function": lambda _rows: "a"}
    used = [_used()]
    for _ in range(blocks):
        given, gives = os.pipe()
        answer, answers = os.pipe()
        os.write(gives, b"p" + pickle.dumps([1]))
        os.close(gives)
        block = server._copied(enclosed)
        if block == 0:
            try:
                server._run(terms, given, answers, telling=False)
            finally:
                os._exit(0)
        os.close(given)
        os.close(answers)
        assert os.read(answer, 8) == server.VOTE.pack(0)
        os.close(answer)
        os.waitpid(block, 0)
    used.append(_used())
    theirs, own = ((after - before) * 1000 / blocks for before, after in zip(*used, strict=True))
    os.write(says, pickle.dumps((theirs, own)))
    os._exit(0)


def _used() -> tuple[float, float]:
    each = (resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF))
    theirs, own = (usage.ru_utime + usage.ru_stime for usage in each)
    return theirs, own


def waited(blocks: int) -> float:
    """Milliseconds by the wall clock of one block that does nothing: the least of several."""

    def nothing(_rows: Any) -> str:
        return "a" if cross_val_score is not None else "b"  # so that scikit-learn is loaded there

    limits = BlockLimits(seconds=60, gigabytes=4)
    times = []
    with BlockRunner(packed(nothing), candidates=["a"], limits=limits) as running:
        for _ in range(blocks):
            begun = time.perf_counter()
            assert running.votes([lambda: b"p" + pickle.dumps([1])]) == [0]
            times.append(time.perf_counter() - begun)
    return 1000 * min(times)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    dealings = 40 if chosen.large else 2
    theirs, own = overhead(40)
    rows, points = curves(dealings)
    table = (
        f"How often the best model on the whole table is chosen, ε = {EPSILON}: the mean over {dealings} "
        f"dealings into this many blocks, with its standard error. Each block cross-validates in {FOLDS} "
        "folds; the best model is the one with the highest 5-fold accuracy on the whole table.\n\n"
        f"{rows}\n\n"
        f"Processor time of a block beyond its function, with scikit-learn loaded: {theirs + own:.0f} ms "
        f"({theirs:.0f} in the block's process, {own:.0f} in the server). By the wall clock one block that "
        f"does nothing takes {waited(40):.0f} ms, the least of 40."
    )
    print(table)
    if chosen.record:
        draw(points)
        record("votes", "Votes of blocks", table)


if __name__ == "__main__":
    main()
