"""Votes of blocks: how often the best model is chosen, by the number of blocks, and what a block costs.

Logistic regression, a forest and a single tree on scikit-learn's own tables at ε = 1. Right is the model with
the best cross-validated accuracy on the whole table. For each dealing of the rows the votes are exact, and
the chance of the right answer is permute-and-flip's own; the figure is the mean over dealings. Overhead is
processor time beyond the function, in the system's count of what the server's children used.

Run: python -m benchmarks [--large] [--record] votes
"""

from __future__ import annotations

import argparse
import gc
import os
import pickle
import resource
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import record
from discreet import PermuteAndFlip, Scores
from discreet._isolated import is_enclosed, server
from discreet.questions import recommended_blocks
from discreet.questions.vote import RANGE_DISTANCE
from discreet.sklearn.model_choice import best_in_block

TABLES = {"breast-cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
MODELS: Mapping[str, Any] = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
    "forest": RandomForestClassifier(n_estimators=20, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
}
BLOCKS = (5, 10, 15, 30, 50)
EPSILON = 1
RNG = np.random.default_rng(20261118)


def vote_of(X: Any, y: Any) -> str | None:  # noqa: N803 - scikit-learn's own name
    """What one block votes for; none where a candidate cannot be fitted."""
    columns = {f"x{place}": X[:, place] for place in range(X.shape[1])}
    try:
        return best_in_block(
            pa.table(columns | {"target": y}), candidates=MODELS, scoring=None, folds=3
        )
    except ValueError:
        return None


def chance_of_right(X: Any, y: Any, right: str, blocks: int) -> float:  # noqa: N803 - as above
    """The chance of the right answer for one dealing of the rows."""
    block = RNG.integers(0, blocks, len(y))
    votes = [vote_of(X[block == place], y[block == place]) for place in range(blocks)]
    counts = [votes.count(name) for name in MODELS]
    scores = Scores(counts, candidates=list(MODELS), range_distance=RANGE_DISTANCE)
    chances = PermuteAndFlip(epsilon=EPSILON).probabilities(scores)
    return float(chances[list(MODELS).index(right)])


def curve_table(splits: int) -> str:
    lines = [
        f"| table | rows | right | {' | '.join(map(str, BLOCKS))} | recommended |",
        "|---" * (len(BLOCKS) + 4) + "|",
    ]
    for name, load in TABLES.items():
        X, y = load(return_X_y=True)  # noqa: N806 - as above
        whole = {
            label: float(np.mean(cross_val_score(model, X, y, cv=5)))
            for label, model in MODELS.items()
        }
        right = max(whole, key=whole.__getitem__)
        said = ", ".join(f"{label} {score:.3f}" for label, score in whole.items())
        recommended = recommended_blocks(EPSILON, len(MODELS), len(y))
        figures = []
        for blocks in (*BLOCKS, recommended):
            found = [chance_of_right(X, y, right, blocks) for _ in range(splits)]
            figures.append(f"{np.mean(found):.2f}")
            print(name, blocks, figures[-1], flush=True)
        lines.append(
            f"| {name} | {len(y):,} | {said} | {' | '.join(figures[:-1])} | {figures[-1]} at {recommended} |"
        )
    return "\n".join(lines)


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


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--record", action="store_true")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    splits = 40 if chosen.large else 6
    theirs, own = overhead(40)
    table = (
        f"How often the best model on the whole table is chosen, ε = {EPSILON}, mean over {splits} dealings "
        "into this many blocks (5-fold accuracy on the whole table under *right*; each block cross-validates "
        f"in three folds):\n\n{curve_table(splits)}\n\n"
        f"Processor time of a block beyond its function, with scikit-learn loaded: {theirs + own:.0f} ms "
        f"({theirs:.0f} in the block's process, {own:.0f} in the server)."
    )
    print(table)
    if chosen.record:
        record("votes", "Votes of blocks", table)


if __name__ == "__main__":
    main()
