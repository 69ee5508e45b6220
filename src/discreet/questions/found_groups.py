"""Groups that nobody listed, and a bound on them that nobody knows: found privately, then asked as usual.

A question about found groups is two releases that are paid for as one. First, for a part of ε and a δ, which
groups may be named; or, for a part of ε, in how many groups a person should count. Then the question itself,
with these as if they were public. ``docs/proofs/groups-from-the-data.md`` proves both.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from discreet.accounting import Event
from discreet.errors import DiscreetError, ParameterError
from discreet.guarantees import ApproxDP, Guarantee, PureDP
from discreet.guarantees.conversions import Proof
from discreet.mechanisms import PermuteAndFlip
from discreet.numbers.exact import positive, probability, refuse
from discreet.questions.answer import (
    NeverMatchesWarning,
    Sentences,
    TableRelease,
    about_chosen_bound,
    about_found_groups,
)
from discreet.questions.context import Context, Terms
from discreet.questions.scoring import quantile_scores, share_of
from discreet.questions.spending import event_of, guarantee_of
from discreet.questions.unknown_domain import step_limits
from discreet.sampling import SecureBits
from discreet.sampling.keeping import Keeping, kept
from discreet.tables import Rows
from discreet.tables.counts import people_per_group, people_per_number_of_groups

Question = TypeVar("Question", bound=Callable[..., TableRelease])

CHOOSE = "choose"
FINDING_SHARE, CHOOSING_SHARE = "0.5", "0.1"
COVERED = Fraction(9, 10)
"""The part of the people who are to count in all of their groups, where the bound is chosen."""

_PAGE = "docs/proofs/groups-from-the-data.md"
_TERMS = frozenset(Terms.__annotations__)
_EXAMPLES: dict[str, Any] = {
    "text": "x",
    "object": "x",
    "integer": 0,
    "decimal": 0,
    "boolean": True,
    "date": datetime.date(2000, 1, 1),
}
"""A group of each kind of column whose values can be named, for trying a question before it is paid for."""


def in_groups(question: Question) -> Question:
    """The question, which may also be asked ``by`` a column without ``groups``, with a ``delta``."""

    @wraps(question)
    def asked(data: Any, column: str = "value", **options: Any) -> TableRelease:
        told = data if isinstance(data, Context) else None
        by, groups = (options.get(name, getattr(told, name, None)) for name in ("by", "groups"))
        most = options.get("groups_per_person", 1)
        finding = by is not None and groups is None
        if finding and most == CHOOSE:
            raise ParameterError(f'⟨groups_per_person⟩"{CHOOSE}" needs public ⟨groups⟩')
        if not finding and most != CHOOSE:
            if options.pop("groups_share", None) is not None:
                raise ParameterError(
                    f'⟨groups_share⟩ goes with ⟨by⟩ without ⟨groups⟩, or ⟨groups_per_person⟩"{CHOOSE}"'
                )
            return question(data, column, **options)
        share = options.pop("groups_share", None) or (FINDING_SHARE if finding else CHOOSING_SHARE)
        part = share_of(True, share, name="groups_share")
        terms = {name: options.pop(name) for name in _TERMS & options.keys()}
        if not finding:
            terms["groups_per_person"] = 1
        context = Context.of(data, cast(Terms, terms))
        inner = _Inner(question, context, column, options)
        return _found(inner, part) if finding else _bounded(inner, part)

    return cast(Question, asked)


def require_no_delta(delta: object) -> None:
    """A δ is for groups from the data, and those are found before the question itself is asked."""
    if delta is not None:
        raise refuse("delta", delta, "left out, unless the groups come from the data")


# ---- paid for as one -----------------------------------------------------------------------------------


class _Tried(Exception):  # noqa: N818 - not an error: how far a question got
    def __init__(self, event: Event) -> None:
        super().__init__("tried")
        self.event = event


class _Trial:
    """A ledger that stops a question just before it would be paid for and read."""

    def spend(self, _dataset: str, event: Event, *, purpose: str) -> Any:  # noqa: ARG002 - as a ledger's
        raise _Tried(event)

    def fail(self, _entry: Any) -> Any:
        raise AssertionError("nothing was spent")


@dataclass(frozen=True, slots=True)
class _Inner:
    """The question that is asked, for its part of ε, once its groups or a bound on them are found."""

    question: Callable[..., TableRelease]
    context: Context
    column: str
    options: dict[str, Any]

    def take(self, part: Fraction) -> Fraction:
        """Take a part of ε away from the question."""
        total = positive("epsilon", self.options.get("epsilon"))
        self.options["epsilon"] = total * (1 - part)
        return total * part

    def event(self, **public: Any) -> Event:
        """What it would cost, once its parameters and the schema are found right; nothing is read."""
        trial = replace(self.context, ledger=_Trial(), dataset="trial", **public)
        try:
            self.question(trial, self.column, **self.options)
        except _Tried as tried:
            return tried.event
        raise AssertionError("a question is paid for before it is answered")

    def asked(self, **public: Any) -> TableRelease:
        """Its answer, which is paid for already."""
        context = replace(self.context, ledger=None, dataset=None, **public)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NeverMatchesWarning)  # said before it was paid for
            try:
                return self.question(context, self.column, **self.options)
            except DiscreetError as error:
                # What it has cost is said once, by whoever pays.
                error.args = (str(error).partition("; count ")[0],)
                raise

    def paid(
        self,
        promise: Guarantee,
        tried: Event,
        work: Callable[[], TableRelease | None],
        *,
        words: str,
        told: Callable[[], Sentences],
    ) -> TableRelease:
        """The answer that ``work`` finds, paid for together with finding its groups."""
        inner = guarantee_of(tried)
        if not isinstance(inner, PureDP | ApproxDP):
            raise ParameterError(f"{tried.mechanism} promises no ε for groups found in this way")
        event = event_of(
            [(promise, 1), (inner, 1)],
            mechanism=f"{tried.mechanism}; {words}",
            neighbours=self.context.neighbours,
        )
        purpose = self.context.purpose or f"{self.column}, by {self.context.by}, {words}"
        found, terms = self.context.spending(event, purpose, work)
        if found is None:
            return TableRelease(answer={}, **terms, rules=told())
        return replace(found, **terms, rules=found.rules + told())


# ---- which groups may be named ---------------------------------------------------------------------


def _found(inner: _Inner, part: Fraction) -> TableRelease:
    context, options = inner.context, inner.options
    if context.opened().engine == "ibis":
        raise ParameterError("in a database ⟨by⟩ needs ⟨groups⟩, a public list")
    delta = options.pop("delta", None)
    if delta is None:
        raise ParameterError(
            "⟨by⟩ needs ⟨groups⟩, a public list, or ⟨delta⟩: groups from the data are named with a "
            "probability of failure"
        )
    epsilon = inner.take(part)
    failing = probability("delta", delta)
    if not 0 < failing < 1:
        raise refuse("delta", delta, "strictly between 0 and 1")
    listed = any(options.get(name) is not None for name in ("candidates", "bounds"))
    if inner.question.__name__ in ("mode", "top_k") and not listed:
        # The values come from the data as well: half of δ is for them.
        failing /= 2
        options["delta"] = failing
    table = context.opened(inner.column)
    kind = table.kind(context.by, name="by")
    if kind not in _EXAMPLES:
        raise refuse("by", context.by, "a column of texts, whole numbers, decimals or dates")
    tried = inner.event(groups=[_EXAMPLES[kind]])
    keeping = Keeping(*step_limits(epsilon, failing, context.neighbours))
    rows = Rows(user=context.user, counted=context.counted, where=context.condition, by=context.by)

    def work() -> TableRelease | None:
        counted = {
            label: people for label, people in people_per_group(table, rows) if _is_a_name(label)
        }
        people = np.array(list(counted.values()), dtype=np.int64)
        named = kept(people, keeping=keeping, bits=SecureBits())
        # In their own order: that of their numbers of people would tell about these.
        groups = sorted(label for label, is_named in zip(counted, named, strict=True) if is_named)
        return inner.asked(groups=groups) if groups else None

    promise = ApproxDP(epsilon, failing).resting_on(Proof(_PAGE))
    told = about_found_groups(str(context.by), one=context.user is not None)
    words = "groups kept by the best rule"
    return inner.paid(promise, tried, work, words=words, told=lambda: told)


def _is_a_name(label: Any) -> bool:
    """Whether a group can be asked for: a blank text cannot, nor one that is not quite Unicode."""
    return not isinstance(label, str) or bool(
        label.strip() and "\N{REPLACEMENT CHARACTER}" not in label
    )


# ---- in how many groups a person counts ----------------------------------------------------------------


def _bounded(inner: _Inner, part: Fraction) -> TableRelease:
    context = inner.context
    if context.by is None or context.user is None:
        raise ParameterError("⟨groups_per_person⟩ goes with ⟨by⟩ and ⟨user⟩")
    asking = context.asking(inner.column, inner.options.get("epsilon"))
    epsilon = inner.take(part)
    rows, table = asking.rows, asking.table
    # With the largest bound each answer has the smallest ε and as much δ as ever: their sum is the most.
    tried = inner.event(groups_per_person=len(rows.groups))
    chooser = PermuteAndFlip(epsilon=epsilon)
    chosen: list[int] = []

    def work() -> TableRelease:
        people = people_per_number_of_groups(table, rows)
        scores = quantile_scores(people, COVERED, neighbours=context.neighbours)
        chosen.append(chooser.select_index(scores) + 1)
        return inner.asked(groups_per_person=chosen[0])

    promise = PureDP(epsilon).resting_on(Proof(_PAGE))
    words = "a bound on groups by permute-and-flip"
    return inner.paid(
        promise,
        tried,
        work,
        words=words,
        told=lambda: about_chosen_bound(chosen[0], epsilon, COVERED),
    )
