"""The ε that exponential randomized response really spends: on given scores, and on any data with n bins.

Its published guarantee assumes that the top set is the same for all neighbours; it is not
(``docs/proofs/exponential-randomized-response.md``). Both figures here are lower bounds with a witness.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.audit.losses import PureLoss
from discreet.audit.relations import Relation
from discreet.mechanisms import ExponentialRandomizedResponse
from discreet.numbers.exact import Exact
from discreet.papers.drawing.panels import Floats
from discreet.scores import Scores

_CLAIM: Exact = math.inf  # only the measurement is used, nothing is compared with it


def loss_at(mechanism: ExponentialRandomizedResponse, scores: Scores) -> float:
    """The largest loss found between these scores (Δ = 1) and a neighbour of them. **Not private**.

    Neighbours: one person more or less moves scores in one direction, by at most Δ. Tried are those of the
    audit (a candidate, or the top of the ranking, moved against the rest) and those that link the top set to
    the next candidate or cut it; moving some up is as good as moving the rest down.

    Example:
        >>> stairs = Scores([51, *range(49, 0, -1)], sensitivity=1)
        >>> round(loss_at(ExponentialRandomizedResponse(epsilon=1, truth="0.5"), stairs), 2)
        21.75
    """
    values = np.asarray(scores.values, dtype=np.float64)
    rows = [Relation(monotonic=True).structured(values, 1.0)]
    ranking = np.argsort(-values, kind="stable")
    members = int(mechanism.top_set(scores).sum())
    for count in {members, max(1, members // 2)} - {len(values)}:
        top = np.zeros(len(values), dtype=bool)
        top[ranking[:count]] = True
        rows.append(
            np.array([np.where(top, up, down) for up, down in ((1.0, 0.0), (0.0, 1.0))]) + values
        )
    neighbours = np.unique(np.concatenate(rows), axis=0)
    here = mechanism.log_probabilities(scores)
    there = np.array(
        [mechanism.log_probabilities(Scores(row, sensitivity=1)) for row in neighbours]
    )
    return float(PureLoss(_CLAIM).values(there, here[None, :]).max())


def real_epsilon(epsilon: float, *, truth: float, n: int) -> float:
    """The largest loss over a family of data with n candidates: a lower bound on the real ε.

    Counts (m, m−2, m−3, …, 0) and n − m more at −2, where one person more or less in the first bin makes
    the first m a chain of steps Δ: the last of them rises from (1−π)·EM to π/m + (1−π)·EM. The best m is
    taken; the noise scale is 2Δ/ε. (Adding the same number to all counts makes them all positive.)

    Example:
        >>> [round(real_epsilon(e, truth=0.75, n=1024), 1) for e in (0.001, 0.01, 0.1)]
        [7.3, 7.3, 48.3]
    """
    x = epsilon / 2
    m = np.arange(2, n + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        others = np.log(n - m) - 2 * x
    linked = np.logaddexp(_log_stairs(m, x), others)
    broken = np.logaddexp(np.logaddexp(m * x, _log_stairs(m - 1, x)), others)
    gained = np.logaddexp(math.log(truth) - np.log(m), math.log1p(-truth) - linked)
    return float((gained - math.log1p(-truth) + broken).max())


def _log_stairs(count: Floats, x: float) -> Floats:
    """The logarithm of Σ_{j < count} e^{jx}."""
    return count * x + np.log(-np.expm1(-count * x)) - math.log(math.expm1(x))


def top_set_is_safe(scores: Scores) -> bool:
    """Whether no neighbour of these scores changes the top set, so that the loss *here* is at most ε.

    Exactly when the best stands alone, more than 3Δ ahead (Proposition 2 of the proof page). **Not private**.

    Example:
        >>> top_set_is_safe(Scores([9, 5, 5], sensitivity=1)), top_set_is_safe(Scores([9, 6], sensitivity=1))
        (True, False)
    """
    ranked = np.sort(scores.values)
    return bool(ranked[-1] - ranked[-2] > 3 * float(scores.range_distance) / 2)
