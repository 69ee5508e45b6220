"""Known facts about a deployment, each with its source; facts that a person must supply are marked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import guarantees
from discreet._displays import counted
from discreet.accounting.accountants import ACCOUNTANTS
from discreet.errors import ParameterError
from discreet.ledger import Budget, Entry, Ledger
from discreet.mechanisms import MECHANISMS
from discreet.neighbours import Neighbours

if TYPE_CHECKING:
    from discreet.desk.owner_file import OwnerFile
    from discreet.study import StudyPlan

NOT_STATED = "not stated"
TYPED = {
    "name": "the name of what is published",
    "curators": "who publishes it, a list",
    "description": "what it is, in a few words",
    "intended_use": "what it is meant for",
    "region": "which region it describes, or whose law applies",
    "sector": "Technology, Healthcare, Education, Government, Energy or Finance",
    "data_domain": "which data sets the promise is about",
    "unprotected": "what is published of the data without such protection",
    "data_source": "Static or Dynamic: whether new data come in",
    "actors": "who sees the data or the answers, and why they are trusted",
    "preparation": "what was done to the data, and who looked at it, before the questions were chosen",
    "access": "who can reach the rows, and what protects them",
    "collection": "how the data were collected, and what people were told",
    "bias": "for whom the answers may be worse, and whether that was examined",
    "justification": "how ε, the unit and the questions were decided, and by whom",
    "sources": "where the deployment is described",
    "authors": "who filled this in, a list",
}
"""The facts that only a person can supply, in ``dossier.toml``."""
_LISTS = ("curators", "authors")
_ONE_OF = {
    "sector": ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
    "data_source": ("Static", "Dynamic"),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence and its source; a fact that a person must still supply has no source.

    Example:
        >>> print(Fact("ε = 3.", "ledger"))
        ε = 3. [ledger]
    """

    words: str
    source: str | None

    def __str__(self) -> str:
        return f"{self.words} [{self.source or 'for the owner to say'}]"


def read_typed(path: str | Path | None) -> dict[str, Any]:
    """Read the facts that a person typed; an error about an unknown key lists the allowed ones."""
    if path is None:
        return {}
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise ParameterError(
            f"{str(path)!r}: there is no such file, or it is not UTF-8 text"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{str(path)!r} is not valid TOML: {error}") from None
    for name, value in given.items():
        if name not in TYPED:
            known = "; ".join(f"{each}: {words}" for each, words in TYPED.items())
            raise ParameterError(f"{name!r} is not an entry of a dossier. Entries are {known}")
        right = list if name in _LISTS else str
        if not isinstance(value, right) or not all(isinstance(each, str) for each in value):
            kind = "a list of texts" if name in _LISTS else "a text"
            raise ParameterError(f"{name} = {value!r} is not allowed: it must be {kind}")
        if value not in _ONE_OF.get(name, (value,)):
            raise ParameterError(
                f"{name} = {value!r} is not allowed: it must be {' or '.join(_ONE_OF[name])}"
            )
    return given


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """The facts about one data set from the ledger, a study and an owner's file.

    Attributes:
        budget: the budget.
        entries: the budget's history.
        problems: problems found in the chain of hashes.
        typed: the facts that a person typed.
        plan: the plan of a study about the data set, if one is given.
        owner: the owner's file of the desk that serves it, if one is given.
        named: whether analysts appear under their real names.
    """

    budget: Budget
    entries: Sequence[Entry]
    problems: Sequence[str]
    typed: Mapping[str, Any]
    plan: StudyPlan | None = None
    owner: OwnerFile | None = None
    named: bool = False

    @staticmethod
    def of(ledger: Ledger, dataset: str, **others: Any) -> Known:
        """Collect what a ledger records about a data set."""
        return Known(
            budget=ledger.show(dataset),
            entries=ledger.history(dataset),
            problems=ledger.verify(dataset).problems,
            **others,
        )

    # ---- what was typed and what was done --------------------------------------------------------

    def said(self, name: str) -> Fact:
        """Return a fact that a person typed, or a fact without a source that says what is missing."""
        value = self.typed.get(name)
        if value is None:
            return Fact(f"{NOT_STATED}: {TYPED[name]}", None)
        words = ", ".join(value) if isinstance(value, list) else str(value)
        return Fact(words, "dossier.toml")

    def text(self, name: str) -> str:
        """Return a fact that a person typed, as text, or ``not stated``."""
        return self.said(name).words if name in self.typed else NOT_STATED

    @cached_property
    def spends(self) -> list[Entry]:
        """The ledger entries of all spends, including those that led to no release."""
        return [entry for entry in self.entries if entry.kind == "spend"]

    @cached_property
    def failed(self) -> set[int]:
        """The numbers of the spends that led to no release."""
        return {entry.details["about"] for entry in self.entries if entry.kind == "failed"}

    @cached_property
    def parts(self) -> dict[str, str]:
        """The analysts' parts of the budget, each with the name that the dossier uses for its analyst."""
        return {
            part: part.rpartition("/")[2] if self.named else f"analyst {place}"
            for place, part in enumerate(self.budget.parts, 1)
        }

    def payer(self, entry: Entry) -> str:
        """Return who paid for a release: the owner or an analyst, named only if ``named`` is set."""
        if entry.budget == self.budget.name:
            return "the owner"
        return self.parts.get(entry.budget, "an analyst")

    # ---- in sentences ----------------------------------------------------------------------------

    @property
    def where(self) -> str:
        """The ledger and its range of entries, to cite as the source of a fact."""
        return f"ledger, entries 1 to {self.budget.head.sequence}"

    @property
    def users(self) -> list[str]:
        """One phrase for each table, which says how its people are told apart."""
        tables: dict[str, Mapping[str, Any]] = {}
        if self.plan is not None:
            tables |= dict(self.plan.study.tables)
        if self.owner is not None:
            tables |= {
                name: {"user": table.user}
                for name, table in self.owner.table.items()
                if table.dataset == self.budget.name
            }
        return [
            f"in the table {name} the column {facts['user']} tells people apart"
            if facts.get("user")
            else f"in the table {name} nobody has two rows, as its owner states"
            for name, facts in tables.items()
        ]

    @property
    def unit(self) -> Fact:
        """The unit of privacy: one person, and how tables tell people apart."""
        users = "; ".join(self.users)
        if not users:
            return Fact(f"One person. Which column tells people apart is {NOT_STATED}.", None)
        source = "study" if self.plan is not None else "owner's file"
        return Fact(f"One person with all of their rows: {users}.", source)

    @property
    def adjacency(self) -> Fact:
        """The neighbour relation, in words."""
        relation = self.budget.neighbours
        words = relation
        if relation in tuple(Neighbours):
            words = f"{Neighbours(relation).in_words} ({relation})"
        return Fact(f"Two tables are neighbours if {words}.", "ledger, entry 1")

    @property
    def cap(self) -> str:
        """The cap as text, such as ``ε = 3``."""
        symbols = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}
        figures = {name: value for name, value in self.budget.cap.items() if name != "measure"}
        return ", ".join(f"{symbols.get(name, name)} = {value}" for name, value in figures.items())

    @property
    def loss(self) -> Fact:
        """The cap on the cost of all releases, and what they have cost so far."""
        again = ""
        if self.budget.period is not None:
            again = f" in each {self.budget.period}, after which the whole may be spent again"
        return Fact(
            f"All releases together cost at most {self.cap}{again}. Spent so far: {self.budget.spent}, in "
            f"{counted(len(self.spends), 'release')}.",
            self.where,
        )

    @property
    def composition(self) -> Fact:
        """The rule for adding up costs."""
        words = ACCOUNTANTS[self.budget.accountant].words
        disjoint = (
            " Of the groups of people declared disjoint, only the most expensive one counts."
            if self.budget.groups
            else ""
        )
        return Fact(
            f"The ledger adds up {words}, each spend rounded up and the cap rounded down to a grid of 10⁻¹²; "
            "a release that does not fit is refused before any row is read. This holds for releases chosen "
            f"after seeing earlier answers.{disjoint}",
            f"{self.budget.proof}",
        )

    @property
    def access(self) -> Fact:
        """The number of analysts with their own part of the budget, and why they may all share answers."""
        number = len(self.parts)
        if not number:
            return Fact("No part of the budget was set aside for an analyst.", self.where)
        return Fact(
            f"{counted(number, 'analyst')} asked from parts of the budget that were set aside for them. The "
            "parts together stay within the cap, so it does not matter if analysts share answers.",
            self.where,
        )

    @property
    def timing(self) -> Fact:
        """The protection against timing attacks."""
        if self.owner is None:
            return Fact(
                "Answers leave when they are ready: how long a question takes is not protected.",
                "docs/limits.md",
            )
        return Fact(
            "Answers leave at the end of a slot whose length the owner fixed for each kind of question, "
            "whether or not they were ready before.",
            "owner's file",
        )

    @property
    def arithmetic(self) -> Fact:
        """The protection against floating-point attacks."""
        return Fact(
            "Choices are sampled exactly from their stated law: floats only decide where a bound shows that "
            "they are right, and exact arithmetic decides the rest. In a Spark cluster the noise is a keyed "
            "function instead. Random bits come from the operating system's generator, or from a cipher that "
            "it keys.",
            "docs/proofs/sampling.md",
        )

    @cached_property
    def proofs(self) -> list[Fact]:
        """The proof of each mechanism used, taken from its answers, the plan, or the mechanism itself."""
        kept = {
            entry.details["about"]: entry.details["release"]["guarantee"]["proof"]
            for entry in self.entries
            if entry.kind == "answer"
        }
        planned = {}
        if self.plan is not None:
            planned = {line.asked.name: line.card["details"]["proof"] for line in self.plan.lines}
        uses: dict[tuple[str, str], list[int]] = {}
        for entry in self.spends:
            mechanism = str(entry.details["mechanism"])
            named = entry.details["parameters"] or {}
            proof = kept.get(entry.sequence)
            if proof is None and self.plan is not None and named.get("study") == self.plan.hash:
                proof = planned.get(str(named.get("question")))
            if proof is None:
                proof = _proof_of(mechanism, entry.details["guarantee"]["measure"])
            uses.setdefault((mechanism, str(proof)), []).append(entry.sequence)
        return [
            Fact(f"{mechanism}: {proof}.", f"ledger, {_numbered(numbers)}")
            for (mechanism, proof), numbers in sorted(uses.items())
        ]


def _proof_of(mechanism: str, measure: str) -> str:
    """Return the proof of a mechanism's guarantee in a measure, or a note that none was recorded."""
    if mechanism in MECHANISMS and hasattr(guarantees, measure):
        promise = MECHANISMS[mechanism](epsilon=1).promise_at(Fraction(1))
        try:
            proof = promise.to(getattr(guarantees, measure)).proof
        except ParameterError:
            proof = None
        if proof is not None:
            return str(proof)
    return "the proof was not recorded; to name it here, keep the answers or give the study"


def _numbered(numbers: Sequence[int]) -> str:
    return f"{'entry' if len(numbers) == 1 else 'entries'} {', '.join(map(str, numbers))}"
