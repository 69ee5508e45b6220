"""The most common value: the candidate that most people have."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet._exact.sampling import Bits
from discreet._tables.counts import Counts
from discreet.errors import ParameterError
from discreet.guarantees import Guarantee, PureDP
from discreet.questions.accuracy import exactly
from discreet.questions.asking import Asking
from discreet.questions.candidates import in_the_cluster
from discreet.questions.cluster import planned_in_cluster
from discreet.questions.costs import ANSWER, IN_ANSWERS, IN_RHO
from discreet.questions.of_candidates import OfCandidates
from discreet.questions.of_rows import NO_MATCH
from discreet.questions.plan import Found, Plan
from discreet.questions.question import flag, value
from discreet.questions.scoring import (
    choices,
    count_scores,
    count_sensitivity,
    require_gap,
    resting,
    winner_and_gap,
)
from discreet.questions.unknown_domain import planned_from_the_data


@value
class Mode(OfCandidates, kind="mode", label="Most common value"):
    """The candidate that most people have in a column, chosen privately.

    A person counts once for each candidate that any of their rows has. Values not on the list are ignored,
    candidates without rows have score zero, and an empty table also gets an answer. Without candidates,
    ``delta`` must be given, and only values that have enough people are named
    (``docs/proofs/unknown-domain.md``). If the candidates are a PySpark frame, the selection runs in the
    cluster.

    Price: adding or removing a person moves some counts by one, all in the same direction, so no two counts
    move apart by more than one; replacing a person can move two counts apart by two. A choice with noise for
    that distance costs its ε, a noisy count costs its share of ε, and a lead costs nothing. Two theorems
    cover all steps from the table to ε: ``mode_pure_dp`` for the choice alone, and ``answer_pure_dp`` for
    everything together (``docs/proofs/question-sensitivities.md``).

    Example:
        >>> import discreet, polars as pl
        >>> visits = pl.DataFrame({"patient": range(200), "diagnosis": ["flu"] * 180 + ["cold"] * 20})
        >>> table = discreet.table(visits, user="patient", ledger=None)
        >>> release = table.ask(Mode("diagnosis", candidates=["flu", "cold", "asthma"], epsilon=1))
        >>> release.answer, release.guarantee, release.neighbours
        ('flu', PureDP(1), 'add-remove')
    """

    completed_by: ClassVar[tuple[str, ...]] = ("candidates", "bounds")
    command: ClassVar[tuple[str, str, str] | None] = (
        "mode",
        f"The most common value of a column.\n\n{NO_MATCH.format('a random candidate')}",
        "discreet mode visits.parquet --dataset clinic --column diagnosis --user patient_id "
        "--candidates icd10.txt --epsilon 1",
    )
    one_choice: ClassVar[bool] = True

    with_gap: bool = flag(
        "Also release the winner's noisy lead, at no extra cost.",
        default=False,
        analyst=True,
    )

    def _require(self) -> None:
        super()._require()
        if self.with_gap and self.names_values:
            raise ParameterError("⟨with_gap⟩ needs public candidates")

    @property
    def title(self) -> str:
        """The question in a few words."""
        return f"most common {self.column}"

    def planned(self, asking: Asking) -> Plan:
        """Plan one choice among the candidates, by how many people have each."""
        if self.names_values:
            return planned_from_the_data(self, asking, "mode")
        counting, moved = self.counting_share, count_sensitivity(asking.inner)
        epsilon, distance = asking.epsilon_each * (1 - counting), moved.range_distance
        in_cluster = in_the_cluster(self.candidates)
        beside = {
            "with_gap": self.with_gap,
            "with_count": self.with_count,
            "candidates in the cluster": in_cluster,
        }
        chooser = asking.chooser(
            epsilon, besides=next((name for name, on in beside.items() if on), None)
        )
        promise: Guarantee = resting(chooser.promise_at(Fraction(distance)), moved)
        if in_cluster:
            if not chooser.facts.merges:
                raise ParameterError(
                    "a selection in the cluster is permute-and-flip: leave ⟨mechanism⟩ out"
                )
            return planned_in_cluster(
                self, asking, "mode", part=(promise, 1), mechanism=chooser.name
            )
        contest = self.contest(asking.table, listed=asking.listed)
        size = contest.size
        if self.with_gap:
            require_gap(chooser, size)

        def pick(people: Counts, bits: Bits) -> Iterable[tuple[list[tuple[Any, int]], Found]]:
            if self.with_gap:
                for row in people:
                    scores = count_scores(row, neighbours=asking.inner)
                    index, gap = winner_and_gap(scores, epsilon, bits=bits)
                    yield contest.named([index], row), {"gap": gap}
                return
            indices = choices(chooser, people, distance, bits)
            counts = people[np.arange(len(people)), indices].tolist()
            for index, count in zip(indices, counts, strict=True):
                yield [(contest.label(index), count)], {}

        if self.with_gap:
            promise = PureDP(epsilon).resting_on(ANSWER, IN_ANSWERS | IN_RHO)
        return self.plan_among(
            asking,
            contest,
            "mode",
            **asking.naming(pick, (promise, 1), share=counting),
            mechanism=chooser.name,
            accuracy=self.accuracy(
                asking,
                epsilon,
                ways=size,
                distance=distance,
                size=size,
                chooser=chooser,
                errors=lambda like: exactly(
                    chooser, count_scores(like, neighbours=asking.inner), like.max() - like
                ),
                meaning=f"how many people fewer the answer has than the most common of {size:,} candidates",
            ),
        )
