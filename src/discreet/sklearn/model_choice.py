"""``PrivateModelChoice``: choose the best of several estimators by a vote among blocks of people."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from discreet._exact.numbers.exact import Number, refuse, whole
from discreet.errors import ParameterError, missing_extra
from discreet.neighbours import ADD_REMOVE
from discreet.questions.private_table import table
from discreet.questions.run import AnyLedger
from discreet.questions.vote import Vote
from discreet.sklearn.rows import as_array, numbers, require_table

try:
    from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
    from sklearn.model_selection import (
        GroupKFold,
        KFold,
        ParameterGrid,
        StratifiedKFold,
        cross_val_score,
    )
    from sklearn.utils.metadata_routing import UNUSED
except ImportError:
    raise missing_extra("PrivateModelChoice needs scikit-learn", extra="sklearn") from None

_TARGET, _PERSON = "target", "person"


class PrivateModelChoice(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Choose privately among estimators, or among settings of one; no sensitivity needs to be stated.

    People are assigned to blocks at random. Each block cross-validates every candidate on its own rows, in
    its own process, and votes for the one with the best mean score (the first, in case of a tie).
    Permute-and-flip picks the winner from the votes (``docs/proofs/votes.md``). Any estimator and scorer is
    allowed, because nothing that ``fit`` raises, prints or stores is released. A block does not vote if some
    candidate cannot be fitted there, for example because the block has too few rows or only one class.

    The guarantee covers only the name of the winner. ``best_estimator_`` is not fitted: fitting it on the
    same rows is another release, with the cost of a private ``fit``. A vote shows which candidate is best *on
    as many rows as a block has*; with few rows, simple models win. Each row is one person, unless ``fit``
    gets ``groups``.

    Before any budget is spent, the candidates are cross-validated on invented rows with the same number of
    columns and with the labels in ``classes`` (two by default). Errors in this rehearsal are shown.

    Args:
        estimators: the candidates by name, or one estimator with ``param_grid``.
        param_grid: for one estimator: the settings, as for ``GridSearchCV``.
        epsilon: ε of the choice.
        blocks: the number of blocks; the default depends on ε, the number of candidates and ``people``.
        scoring: a scorer's name, or a function of estimator, X and y; None for the estimator's own score.
        cv: the number of folds in each block; all rows of a person are in the same fold.
        classes: the public labels of a classifier; None for the labels 0 and 1, or if the target is numeric.
        people: the approximate number of people, if that is public.
        seconds: the processor time that a block may use, in seconds.
        gigabytes: the memory that a block may use, in gigabytes.
        neighbours: the neighbour relation, ``"add-remove"`` or ``"replace"``.
        ledger: the ledger that counts the budget of ``dataset``, or its address.
        dataset: the data set's name in the ledger.

    Attributes:
        best_name_: the name of the winner; for a grid, its settings as text.
        best_estimator_: a copy of the winner, not fitted.
        best_params_: the winner's settings; only for a grid.
        guarantee_: the cost of the choice.
        entry_: the ledger's entry; None without a ledger.

    Example:
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.dummy import DummyClassifier
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_iris(return_X_y=True)
        >>> models = {"bayes": GaussianNB(), "dummy": DummyClassifier()}
        >>> choice = PrivateModelChoice(models, epsilon=4, blocks=5, classes=[0, 1, 2])
        >>> choice.fit(X, y).best_name_
        'bayes'
    """

    # This estimator handles groups itself, so nothing is routed and no request method is created.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"groups": UNUSED}

    def __init__(
        self,
        estimators: Any,
        param_grid: Any = None,
        *,
        epsilon: Number = 1,
        blocks: int | None = None,
        scoring: Any = None,
        cv: int = 3,
        classes: Any = None,
        people: int | None = None,
        seconds: int = 60,
        gigabytes: int = 4,
        neighbours: str = ADD_REMOVE.value,
        ledger: AnyLedger | None = None,
        dataset: str | None = None,
    ) -> None:
        self.estimators = estimators
        self.param_grid = param_grid
        self.epsilon = epsilon
        self.blocks = blocks
        self.scoring = scoring
        self.cv = cv
        self.classes = classes
        self.people = people
        self.seconds = seconds
        self.gigabytes = gigabytes
        self.neighbours = neighbours
        self.ledger = ledger
        self.dataset = dataset

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:  # noqa: N803 - scikit-learn's own name
        """Spend the budget, let the blocks vote, and store the winner's name.

        Args:
            X: the rows.
            y: the target of each row.
            groups: the person each row belongs to; by default every row is a different person.
        """
        candidates = self._candidates()
        plan = self._table(X, y, groups).plan(self._question(candidates, X, groups))
        release = plan.run()
        self.best_name_ = release.answer
        self.best_estimator_ = clone(candidates[release.answer])
        if self.param_grid is not None:
            names = {str(setting): setting for setting in ParameterGrid(self.param_grid)}
            self.best_params_ = names[release.answer]
        self.guarantee_, self.entry_ = release.guarantee, release.entry
        return self

    def plan(self, X: Any, y: Any, groups: Any = None) -> Any:  # noqa: N803 - as above
        """Return the cost and the expected reliability of a ``fit``, from public facts alone; spend nothing.

        Args:
            X: the rows; of these, only the number of columns matters.
            y: the target of each row.
            groups: the person each row belongs to; by default every row is a different person.
        """
        return self._table(X, y, groups).plan(self._question(self._candidates(), X, groups))

    def _candidates(self) -> dict[str, Any]:
        """Return the candidates by name."""
        if self.param_grid is not None:
            try:
                return {
                    str(setting): clone(self.estimators).set_params(**setting)
                    for setting in ParameterGrid(self.param_grid)
                }
            except (TypeError, ValueError) as error:
                raise ParameterError(f"⟨param_grid⟩: {error}") from None
        named = self.estimators
        if isinstance(named, Sequence) and not isinstance(named, str):
            named = dict(named) if all(isinstance(each, tuple) for each in named) else None
        if not isinstance(named, Mapping) or not named:
            raise refuse(
                "estimators",
                self.estimators,
                "estimators by their names, or one estimator with param_grid",
            )
        return {str(name): estimator for name, estimator in named.items()}

    def _question(self, candidates: dict[str, Any], X: Any, groups: Any) -> Vote:  # noqa: N803
        folds = whole("cv", self.cv)
        if folds < 2:
            raise refuse("cv", self.cv, "two folds or more")
        judge = functools.partial(
            best_in_block, candidates=candidates, scoring=self.scoring, folds=folds
        )
        return Vote(
            judge,
            candidates=list(candidates),
            blocks=self.blocks,
            epsilon=self.epsilon,
            seconds=self.seconds,
            gigabytes=self.gigabytes,
            rehearse_on=_invented(X, self.classes, groups),
            purpose="choice of a model",
        )

    def _table(self, X: Any, y: Any, groups: Any) -> Any:  # noqa: N803 - as above
        """Return the rows as a frame with numbered columns, plus the target and the person of each row."""
        pa = _arrow()
        if y is None:
            raise ParameterError("requires y to be passed, but the target y is None")
        require_table(X, dimensions={2}, sparse=False)
        cells = numbers(as_array("X", X, dimensions=2))
        labels, whose = as_array("y", y, dimensions=1).ravel(), None
        if len(labels) != len(cells):
            raise ParameterError("X and y must have the same number of rows")
        if labels.dtype.kind not in "biufU":
            raise ParameterError(
                f"y: the type {labels.dtype} is not allowed: a type inferred from the rows would "
                "reveal something about them; numpy.array(y, dtype=int), float or str states one"
            )
        columns = {f"x{place}": pa.array(cells[:, place]) for place in range(cells.shape[1])}
        columns[_TARGET] = pa.array(_texts(labels) if labels.dtype.kind == "U" else labels)
        if groups is not None:
            whose = as_array("groups", groups, dimensions=1)
            if len(whose) != len(cells):
                raise ParameterError("X and groups must have the same number of rows")
            columns[_PERSON] = pa.array(_texts(whose))
        return table(
            pa.table(columns),
            user=None if whose is None else _PERSON,
            one_row_per_user=whose is None,
            neighbours=self.neighbours,
            people=self.people,
            ledger=self.ledger,
            dataset=self.dataset,
        )


def _arrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise missing_extra("PrivateModelChoice sends rows as Arrow", extra="arrow") from None
    return pa


def _invented(X: Any, classes: Any, groups: Any) -> Any:  # noqa: N803 - as above
    """Return public rows for the rehearsal: meaningless numbers, with every class equally often."""
    pa = _arrow()
    labels = list(classes) if classes is not None else [0, 1]
    cells = as_array("X", X, dimensions=2)
    rows = 20 * len(labels)
    columns: dict[str, Any] = {
        f"x{place}": [(7 * row * (place + 3)) % 11 / 11 + row % len(labels) for row in range(rows)]
        for place in range(cells.shape[1])
    }
    columns[_TARGET] = [labels[row % len(labels)] for row in range(rows)]
    if groups is not None:
        columns[_PERSON] = [f"person {row // len(labels)}" for row in range(rows)]
    return pa.table(columns)


def _texts(values: Any) -> list[str]:
    """Return values as texts that Arrow accepts, whatever they contain."""
    return [str(e).encode("utf-8", "backslashreplace").decode() for e in values.tolist()]


def best_in_block(
    rows: Any, *, candidates: Mapping[str, Any], scoring: Any, folds: int
) -> str | None:
    """Return the candidate with the best mean score in a block; each person is in only one fold.

    If a candidate cannot be fitted (only one class, or too few rows), this raises an error, and the block
    does not vote. If a mean score is not finite, it returns None.
    """
    y = np.asarray(rows[_TARGET].to_pylist())
    columns = [name for name in rows.column_names if re.fullmatch(r"x\d+", name)]
    X = np.column_stack([rows[name].to_numpy(zero_copy_only=False) for name in columns])  # noqa: N806
    groups = rows[_PERSON].to_pylist() if _PERSON in rows.column_names else None
    scores = {}
    for name, estimator in candidates.items():
        split: Callable[..., Any] = StratifiedKFold if is_classifier(estimator) else KFold
        if groups is not None:
            split = GroupKFold
        scored = cross_val_score(
            estimator, X, y, groups=groups, scoring=scoring, cv=split(folds), error_score="raise"
        )
        scores[name] = float(np.mean(scored))
    if not all(map(math.isfinite, scores.values())):
        return None
    return max(scores, key=scores.__getitem__)
