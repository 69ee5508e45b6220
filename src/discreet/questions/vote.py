"""A vote among blocks of people: custom code casts each block's vote, and the winner is chosen privately."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from dataclasses import field as plain_field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet._displays import counted
from discreet._exact.numbers.exact import Number, refuse, whole
from discreet._exact.numbers.printing import percent
from discreet._exact.sampling import Bits
from discreet._isolated import BlockLimits, BlockRunner, is_enclosed, packed, require_fork
from discreet._tables import Rows
from discreet._tables.counts import Counts
from discreet._tables.dealing import Dealer, dealer
from discreet.analysis import error_bound
from discreet.errors import ParameterError, RehearsalError
from discreet.guarantees import Guarantee
from discreet.guarantees.claims import CLAIMS
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.registry import mechanism_at
from discreet.questions.accuracy import Accuracy, exactly, proved_bound
from discreet.questions.candidates import WHY_PUBLIC
from discreet.questions.costs import Part, event_of, guarantee_of, mixed
from discreet.questions.plan import USUAL_PEOPLE, Found, Plan, Reading, Setting, Watch, unwatched
from discreet.questions.question import (
    USUAL_LEVEL,
    Labels,
    Question,
    another_mechanism,
    field,
    flag,
    labels,
    share,
    value,
)
from discreet.questions.rehearsal import invented_columns
from discreet.questions.rules import Sentences, about_price
from discreet.questions.scoring import choices, count_promise, noisy_count, within
from discreet.scores import Scores

RANGE_DISTANCE = 2
"""One person moves the vote of one block from one candidate to another: ``docs/proofs/votes.md``."""
AGREEING = Fraction(7, 10)
"""The share of blocks that are assumed to agree in typical figures."""
FEWEST_PEOPLE = 10
"""Blocks with fewer people rarely find the best candidate, so no smaller ones are recommended."""
_REHEARSED = 20
"""A rehearsal has at least this many invented people, so that blocks can vote."""
_INVENTED = (
    "\nThese rows were invented; ⟨rehearse_on⟩ takes public rows that look like the real ones"
)
_SEPARATE = "no block learns of the rows or the votes of another"


def recommended_blocks(epsilon: Number, candidates: int, people: int | None = None) -> int:
    """Recommend enough blocks for a lead of a fifth of them to decide, with at least 10 people in each.

    Only public facts are used: the lead that decides 19 times out of 20 follows from ε and the number of
    candidates; the size of a block follows from the stated number of people. If there are too few people for
    both, each block gets about 10. Even if every block votes well, too few blocks cannot outvote the noise.

    Args:
        epsilon: ε of the choice.
        candidates: how many candidates there are.
        people: about how many people the table has; 1,000 by default. Blocks get at least 10 people each,
            unless that leaves fewer than two blocks.

    Example:
        >>> recommended_blocks(1, 3), recommended_blocks(1, 3, people=178), recommended_blocks(4, 3)
        (41, 17, 11)
    """
    lead = error_bound(
        epsilon,
        max(candidates, 1),
        with_probability=USUAL_LEVEL,
        sensitivity=RANGE_DISTANCE,
        monotonic=True,
    )
    most = max(2, (people or USUAL_PEOPLE) // FEWEST_PEOPLE)
    return min(most, max(2, math.ceil(5 * min(lead, most))))


@value
class Vote(Question, kind="vote", label="Most votes of blocks"):
    """The candidate that wins a vote among blocks of people; a custom function casts the vote of each block.

    People are dealt into blocks at random, in secret. The function is called once for each block, with its
    rows, and returns one of the candidates, or None. Votes are counted and one candidate is chosen privately.
    The guarantee does not depend on the function.

    The function gets a frame of the table's own kind, or an Arrow table for a file or a database; rows are in
    random order. It runs in a new process for each block; where the system allows it, this process cannot
    reach the network, other processes or writable files. If the function raises an error, returns something
    else or does not end, that block does not vote, and this is not reported. The function is therefore
    rehearsed first, on invented rows or on ``rehearse_on``, where errors are shown; nothing is paid until it
    has returned a vote there.

    A vote chooses what is best *for a block*: a model that needs many rows loses there to a simpler one.

    Price: a person's rows are in one block, and that block casts one vote, so two candidates move apart by at
    most two votes, even if a person is replaced. A choice with noise for that distance costs ε
    (``votes_pure_dp``, from the table); the number of blocks that voted costs its share of ε
    (``votes_with_number_pure_dp``, ``docs/proofs/votes.md``).

    Example:
        >>> import discreet, polars as pl
        >>> people = pl.DataFrame({"age": [20 + i % 50 for i in range(900)]})
        >>> def typical(rows):
        ...     return "young" if rows["age"].median() < 40 else "old"
        >>> table = discreet.table(people, one_row_per_user=True, ledger=None, people=900)
        >>> table.ask(Vote(typical, candidates=["young", "old"], epsilon=2)).answer
        'old'
    """

    function: Any = field(
        "A function of the rows of one block that returns a candidate or None. At a desk: the name of a "
        "registered one.",
        kw_only=False,
        analyst=True,
        takes="NAME",
    )
    candidates: Labels = field("The public candidates.", default=None, check=labels, takes="LIST")
    blocks: int | None = field(
        "How many blocks vote; by default a number that suits ε, the candidates and the number of people.",
        default=None,
        check=whole,
        takes="COUNT",
    )
    columns: Any = field(
        "The columns that the function needs; by default all that it can be given.",
        default=None,
        check=labels,
        takes="LIST",
    )
    where: str | None = field(
        'Only rows for which this holds, such as "age >= 18".',
        default=None,
        takes="CONDITION",
        group="data",
    )
    seconds: int = field(
        "How many seconds of processor time a block may use.",
        default=60,
        check=whole,
        takes="COUNT",
        advanced=True,
    )
    gigabytes: int = field(
        "How many gigabytes of memory a block may use.",
        default=4,
        check=whole,
        takes="COUNT",
        advanced=True,
    )
    network: bool = flag(
        "Let the function use the network, such as a model server on this machine. The guarantee "
        "assumes that nothing it talks to remembers one block when the next one runs.",
        default=False,
        advanced=True,
    )
    rehearse_on: Any = field(
        "Public rows to rehearse on, as the same kind of data as the table, or a file with them; by default "
        "rows are invented.",
        default=None,
        takes="FILE",
    )
    with_voted: bool = flag(
        "Also release a noisy number of the blocks that voted, for a tenth of ⟨epsilon⟩.",
        default=False,
        analyst=True,
    )
    voted_share: Number = share("The share of ⟨epsilon⟩ for ⟨with_voted⟩.", default="1/10")
    mechanism: Any = another_mechanism(default=None)

    completed_by: ClassVar[tuple[str, ...]] = ("vote",)
    command: ClassVar[tuple[str, str, str] | None] = (
        "vote",
        "The candidate that wins a vote among blocks of people, by a function in a Python "
        "file.\n\n--function "
        "FILE.py:NAME is your own code. It runs on your machine as your user, once for each block, "
        "in isolated processes. A question in JSON cannot name code. At a desk it is the name of a function "
        "that the owner registered.",
        "discreet vote visits.parquet --dataset clinic --user patient_id --function models.py:best "
        "--candidates linear,forest --epsilon 1",
    )

    @property
    def named(self) -> str:
        """The function's name."""
        if isinstance(self.function, str):
            return self.function
        return str(getattr(self.function, "__name__", "a custom function"))

    @property
    def title(self) -> str:
        """The question in a few words."""
        return f"most votes by {self.named}"

    def plan(self, setting: Setting) -> Plan:
        """Plan the votes of blocks; no row is read, and the function is not called."""
        require_fork()
        if self.candidates is None:
            raise ParameterError(WHY_PUBLIC)
        if not isinstance(self.candidates, tuple) or not self.candidates:
            raise refuse("candidates", self.candidates, "a list of at least one")
        Scores([0] * len(self.candidates), candidates=self.candidates, sensitivity=1)
        if setting.counted is not None:
            raise ParameterError(
                "⟨counted⟩ is not allowed with votes of blocks: a row that stands for several people cannot "
                "be dealt into several blocks"
            )
        setting = setting.narrowed(self.where)
        part = Fraction(self.voted_share) if self.with_voted else Fraction(0)
        epsilon, epsilon_voted = self.total * (1 - part), self.total * part
        chooser = mechanism_at(
            self.mechanism, epsilon, besides="with_voted" if self.with_voted else None
        )
        number = self.blocks
        if number is None:
            number = recommended_blocks(epsilon, len(self.candidates), setting.people)
        dealing = self._dealer(setting)
        voting = _Voting(
            counts=lambda _table: None,
            table=dealing.table,
            seconds=setting.seconds,
            question=self,
            setting=setting,
            dealer=dealing,
            number=number,
            function=packed(self.function),
        )

        def choose(votes: Counts, bits: Bits) -> Iterable[Found]:
            (place,) = choices(chooser, votes[None, :], RANGE_DISTANCE, bits)
            found: Found = {"answer": self.candidates[place]}
            if epsilon_voted:
                found["voted"] = noisy_count(int(votes.sum()), epsilon_voted, bits=bits)
            yield found

        parts: list[Part] = [(_promise(chooser), 1)]
        if epsilon_voted:
            counted = count_promise(epsilon_voted)
            parts.append((counted.resting_on(CLAIMS["votes", "count"], counted.direct), 1))
        event = event_of(parts, mechanism=chooser.name, neighbours=setting.neighbours)
        guarantee = guarantee_of(event, parts, assumes=(*setting.assumes, _SEPARATE))
        return Plan(
            question=self,
            title=self.title,
            words=f"votes of {number} blocks by {self.named}",
            event=event,
            guarantee=guarantee,
            read=lambda bits: replace(voting, bits=bits, running=[]),
            choose=choose,
            rules=_about(self, setting, number, chooser) + about_price(guarantee, setting.people),
            accuracy=_accuracy(self, setting, number, chooser),
            shape={
                "engine": dealing.table.frames,
                "voted_within": within(epsilon_voted) if epsilon_voted else None,
            },
        )

    def _dealer(self, setting: Setting) -> Dealer:
        rows = Rows(user=setting.user, where=setting.condition)
        table = setting.opened(*(self.columns or ()))
        return dealer(setting.data, table, rows, self.columns)

    def public_rows(self, setting: Setting, bits: Bits) -> Any:
        """Return the public rows given with the question, or invented ones."""
        if self.rehearse_on is not None:
            return self.rehearse_on
        return _invented(self, setting, self._dealer(setting.narrowed(self.where)), bits)


def _promise(chooser: Mechanism) -> Guarantee:
    """Return the guarantee of a vote: the mechanism's own, averaged over random deals of people to blocks."""
    own = chooser.promise_at(Fraction(RANGE_DISTANCE))
    if "PureDP" not in own.direct:
        raise ParameterError(
            f"⟨mechanism⟩{chooser.name!r} is not allowed with votes of blocks: permute-and-flip, exponential "
            "and noisy-max-laplace are proved for them"
        )
    hidden = mixed(own)
    proof = CLAIMS["votes", type(hidden).__name__]
    direct = {measure: CLAIMS["votes", measure] for measure in ("PureDP", "ZCDP")}
    return hidden.resting_on(proof, {**direct, "then": CLAIMS["votes", "count"]})


# ---- reading -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Voting(Reading):
    """The counting step of a vote: the function is rehearsed before the payment, and blocks vote after it."""

    question: Vote
    setting: Setting
    dealer: Dealer
    number: int
    function: bytes = plain_field(repr=False)
    bits: Bits | None = plain_field(default=None, repr=False)
    running: list[BlockRunner] = plain_field(default_factory=list)

    def __call__(self, watch: Watch = unwatched) -> Counts:
        """Count the blocks that vote for each candidate."""
        assert self.bits is not None
        assert self.table is not None
        if not self.running:
            self._start()
        with self.table.engine.reading(self.seconds):
            pieces = self.dealer.deal(self.number, self.bits)
        votes: Counts = np.zeros(len(self.question.candidates), dtype=np.int64)
        ended = functools.partial(watch, "voting")
        for place in self.running[0].votes(pieces, ended):
            if place is not None:
                votes[place] += 1
        return votes

    def try_out(self) -> None:
        """Test any query on no rows; test the function on public rows, where it must return a vote."""
        self.dealer.try_out()
        self._start()

    def _start(self) -> None:
        question = self.question
        limits = BlockLimits(
            seconds=question.seconds, gigabytes=question.gigabytes, network=question.network
        )
        rows = self.dealer.send(self._public_rows())
        try:
            blocks = BlockRunner(self.function, candidates=question.candidates, limits=limits)
            self.running.append(blocks)
            blocks.rehearse(rows, hint="" if question.rehearse_on is not None else _INVENTED)
        except ParameterError as error:
            # This quotes the function's error; a desk must distinguish it from a problem with the question.
            raise RehearsalError(error.args[0]) from None

    def _public_rows(self) -> Any:
        if self.question.rehearse_on is not None:
            return self.question.rehearse_on
        assert self.bits is not None
        people = max(_REHEARSED, (self.setting.people or USUAL_PEOPLE) // self.number)
        return _invented(
            self.question, replace(self.setting, people=people), self.dealer, self.bits
        )

    def close(self) -> None:
        """End the process that runs the blocks."""
        while self.running:
            self.running.pop().close()


def _invented(question: Vote, setting: Setting, dealing: Dealer, bits: Bits) -> Any:
    further = dict.fromkeys((*dealing.columns, *(() if setting.user is None else (setting.user,))))
    _, columns = invented_columns(question, setting, bits, further=tuple(further))
    return dealing.example(columns)


# ---- in words ----------------------------------------------------------------------------------------------


def _agreeing(number: int, size: int) -> Counts:
    """Return each candidate's votes if seven in ten blocks agree and the others are spread evenly."""
    votes: Counts = np.zeros(size, dtype=np.int64)
    votes[0] = number if size == 1 else math.ceil(AGREEING * number)
    others = number - int(votes[0])
    if size > 1:
        votes[1:] = np.diff(np.arange(size) * others // (size - 1))
    return votes


def _accuracy(question: Vote, setting: Setting, number: int, chooser: Mechanism) -> Accuracy:
    size = len(question.candidates)
    like = _agreeing(number, size)
    each = (setting.people or USUAL_PEOPLE) // number
    level = Fraction(question.with_probability)
    return Accuracy(
        proved_bound(chooser, chooser._scale_at(Fraction(RANGE_DISTANCE)), size, level),
        level,
        ("vote", "votes"),
        f"how many votes fewer the answer has than the candidate with most of {number:,}",
        f"seven of ten of {counted(number, 'block')} agree and the others vote evenly",
        lambda: exactly(chooser, Scores(like, range_distance=RANGE_DISTANCE), like.max() - like),
        most=number,
        assuming="" if setting.people else f"{USUAL_PEOPLE:,} people",
        among=number,
        caution=f"a block has about {counted(each, 'person', 'people')}, too few to vote well"
        if each < FEWEST_PEOPLE
        else "",
    )


def _about(question: Vote, setting: Setting, number: int, chooser: Mechanism) -> Sentences:
    size = len(question.candidates)
    sure = chooser.probabilities(Scores(_agreeing(number, size), range_distance=RANGE_DISTANCE))[0]
    lead = proved_bound(chooser, chooser._scale_at(Fraction(RANGE_DISTANCE)), size, USUAL_LEVEL)
    decides = (
        ""
        if lead is None
        else f"A lead of {counted(math.ceil(lead), 'vote')} decides 19 times out of 20. "
    )
    whose = (
        "Every row is a different person, as stated"
        if setting.user is None
        else f"The column {setting.user} tells people apart, and rows without it are left out"
    )
    stated = "" if setting.people is not None else f", if there are {USUAL_PEOPLE:,}"
    each = max(1, (setting.people or USUAL_PEOPLE) // number)
    return (
        f"{whose}. People are dealt into {counted(number, 'block')} at random, about {each:,} into each"
        f"{stated}; empty blocks vote too. What is best for a block may not be best for all.",
        f"{decides}If seven of ten blocks agree, their candidate is the answer with probability "
        f"{percent(float(sure), up=False)}.",
        "A block does not vote if its function raises, returns something else or does not end"
        + ("." if question.with_voted else "; the number of blocks that voted is not released."),
        _about_isolation(question),
    )


def _about_isolation(question: Vote) -> str:
    limits = (
        f"it ends at {question.seconds} s of processor time or {question.gigabytes} GB of memory"
    )
    if not is_enclosed():
        return (
            f"Each block runs in a process of its own; {limits}. This system cannot isolate it from "
            f"the network, files and other processes: you have to trust that it leaves them alone."
        )
    if question.network:
        return (
            f"Each block runs in a process of its own, without other processes or writable files; {limits}. "
            "It may use the network: you have to trust that nothing there carries information from "
            "one block to the next."
        )
    return (
        "Each block runs in a process of its own, without network access, other processes or writable files; "
        f"{limits}."
    )
