"""The dossier: registry entry, self-assessment, answers for a reviewer, and the chain of releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._displays import counted
from discreet._exact.numbers.exact import float_up
from discreet.dossier.documents import Document, Listing, in_yaml
from discreet.dossier.facts import NOT_STATED, Fact, Known, read_typed
from discreet.guarantees import ApproxDP, PureDP
from discreet.ledger import Ledger
from discreet.questions.card import Privacy

if TYPE_CHECKING:
    from discreet.desk.owner_file import OwnerFile
    from discreet.study import StudyPlan

_VARIANTS = {"PureDP": "Pure DP", "ApproxDP": "Approximate DP", "ZCDP": "Zero-concentrated DP"}
_LIBRARIES = ("discreet", "numpy", "duckdb", "python-flint", "cryptography", "sqlalchemy")
TESTS = {
    "every promise is searched for a counterexample": "tests/laws/test_promises.py",
    "samplers are run on every short tape of random bits": "tests/laws/sampling/test_decision_trees.py",
    "no value of one row decides whether a question fails": "tests/laws/test_nasty_values.py",
    "what is planned is what is paid": "tests/questions/test_plan.py",
    "a spend that was acknowledged survives a crash": "tests/laws/test_ledger_crashes.py",
}
"""Tested properties that matter for an assessment, each with its test file."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Dossier:
    """The documents about one data set.

    Attributes:
        facts: the known facts about the data set.

    Example:
        >>> import tempfile
        >>> from discreet import PureDP
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     budget = ledger.create("clinic", PureDP(3))
        ...     dossier = dossier_of(ledger, "clinic")
        >>> [path.name for path in dossier.write(tempfile.mkdtemp())][:3]
        ['registry.yaml', 'registry.md', 'registry.html']
    """

    facts: Known

    @property
    def title(self) -> str:
        """The publication's name, or the budget's name if no other is stated."""
        typed = self.facts.typed.get("name")
        return str(typed) if typed is not None else self.facts.budget.name

    @property
    def documents(self) -> tuple[Document, ...]:
        """The four documents: registry entry, self-assessment, reviewer's answers and chain of releases."""
        return self._entry(), self._assessment(), self._reviewer(), self._chain()

    def write(self, folder: str | Path) -> list[Path]:
        """Write every document as Markdown and HTML, and the registry entry as YAML; return the paths."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        written = [place / "registry.yaml"]
        written[0].write_text(in_yaml(self.registry) + "\n", encoding="utf-8")
        for document in self.documents:
            for suffix, text in ((".md", document.in_markdown()), (".html", document.in_html())):
                written.append(place / f"{document.name}{suffix}")
                written[-1].write_text(text, encoding="utf-8")
        return written

    # ---- 1: the public registry of deployments ---------------------------------------------------

    @property
    def registry(self) -> dict[str, Any]:
        """Return a draft entry of tier 3 for the public registry of deployments; missing facts are marked."""
        facts, typed = self.facts, self.facts.typed
        first = facts.spends[0].time[:10] if facts.spends else facts.entries[0].time[:10]
        interactive = bool(facts.parts) or facts.owner is not None
        many = len(facts.spends) != 1 or facts.budget.period is not None
        basic = {
            "name": self.title,
            "data_curators": list(typed.get("curators", [NOT_STATED])),
            "description": facts.text("description"),
            "intended_use": facts.text("intended_use"),
            "data_product_type": "Interactive API"
            if facts.owner is not None
            else "Summary statistics",
            "data_product_region": facts.text("region"),
            "publication_date": first,
        }
        if "sector" in typed:
            basic["data_product_sector"] = typed["sector"]
        model = {
            "model_name": "Central",
            "model_name_details": "The holder of the table computes the answers; discreet shows no rows.",
            "actors": facts.text("actors"),
            "release_type": "Many releases" if many else "One release",
            "release_type_details": facts.loss.words,
            "access_type": "Interactive" if interactive else "Non-interactive",
            "access_type_details": facts.access.words,
        }
        if "data_source" in typed:
            model["data_source_type"] = typed["data_source"]
        return {
            "url_slug": _slug(self.title),
            "status": "Draft",
            "tier": 3,
            "deployment": {
                "basic": basic,
                "dp_variant": {
                    "variant_name": _VARIANTS[facts.budget.cap["measure"]],
                    "data_domain": facts.text("data_domain"),
                    "unprotected_quantities": facts.text("unprotected"),
                },
                "privacy_loss": {
                    "privacy_unit": facts.unit.words,
                    "privacy_unit_details": facts.adjacency.words,
                    "privacy_parameters": {
                        name: float_up(Fraction(value))
                        for name, value in facts.budget.cap.items()
                        if name != "measure"
                    },
                    "privacy_parameters_details": facts.loss.words,
                },
                "deployment_model": model,
                "accounting": {
                    "post_processing": self._post_processing.words,
                    "composition": facts.composition.words,
                },
                "implementation": {
                    "preprocessing_and_hyperparameter_tuning": facts.text("preparation"),
                    "mechanisms": " ".join(fact.words for fact in self._mechanisms),
                    "justification": facts.text("justification"),
                },
                "administrative": {
                    "sources": facts.text("sources"),
                    "notes": f"Head of the ledger's history: {facts.budget.head}",
                    "registry_authors": list(typed.get("authors", [NOT_STATED])),
                },
            },
        }

    @property
    def _post_processing(self) -> Fact:
        return Fact(
            "None by discreet: answers are released as drawn, and a negative noisy count stays negative.",
            "docs/start.md",
        )

    @property
    def _mechanisms(self) -> list[Fact]:
        facts = self.facts
        versions = sorted({entry.version for entry in facts.entries})
        return [
            *facts.proofs,
            Fact(f"Implemented by discreet {', '.join(versions)}.", facts.where),
            facts.timing,
            facts.arithmetic,
            facts.said("access"),
        ]

    def _entry(self) -> Document:
        rows = [
            [f"{section}.{name}" if section else name, _shown(value)]
            for section, name, value in _flat(self.registry)
        ]
        missing = [row[0] for row in rows if NOT_STATED in row[1]]
        left = (
            f"{counted(len(missing), 'field')} that a person must still fill in: {', '.join(missing)}."
            if missing
            else "Every field is filled in."
        )
        return Document(
            "registry",
            f"Registry entry: {self.title}",
            "For the public registry of deployments of differential privacy; registry.yaml is the same.",
            {
                "What is missing": [Fact(left, "this page")],
                "The entry": [Listing(["field", "value"], rows)],
            },
        )

    # ---- 2: a self-assessment --------------------------------------------------------------------

    def _assessment(self) -> Document:
        facts = self.facts
        tests = [Fact(f"Tested: {words}.", path) for words, path in TESTS.items()]
        accuracy: list[Fact | Listing] = [
            Fact(
                "The plan of a question says in advance, from public facts, how good the answer will be.",
                "docs/start.md",
            )
        ]
        if facts.plan is not None:
            rows = [[line.asked.name, line.accuracy] for line in facts.plan.lines]
            accuracy.append(Listing(["question", "accuracy"], rows))
        chain = "agrees" if not facts.problems else "; ".join(facts.problems)
        return Document(
            "assessment",
            f"Self-assessment: {self.title}",
            "Follows the guidelines of NIST SP 800-226 for evaluating guarantees of differential privacy.",
            {
                "The parameters and what they promise": [facts.loss, self._sure, facts.composition],
                "The unit of privacy": [facts.unit, facts.adjacency],
                "Algorithms, and why they keep the promise": [*facts.proofs, *tests],
                "Accuracy and bias": [*accuracy, facts.said("bias")],
                "The trust model": [
                    Fact(
                        "Central: the holder of the table is trusted with its rows, and with saying who one "
                        "person is.",
                        "docs/officer.md",
                    ),
                    facts.access,
                    facts.said("actors"),
                ],
                "Side channels": [facts.arithmetic, facts.timing],
                "Data security and access": [
                    Fact(
                        f"The ledger's chain of hashes {chain}; its head is {facts.budget.head}.",
                        facts.where,
                    ),
                    facts.said("access"),
                ],
                "Collection of the data": [facts.said("collection"), facts.said("preparation")],
            },
        )

    # ---- 3: for a reviewer who is not an expert ----------------------------------------------------

    @property
    def _sure(self) -> Fact:
        cap = {name: value for name, value in self.facts.budget.cap.items() if name != "measure"}
        if "rho" in cap:
            return Fact(
                "What ρ means for one person depends on δ; docs/epsilon.md shows it.", "ledger"
            )
        epsilon = Fraction(cap["epsilon"])
        promise = ApproxDP(epsilon, cap["delta"]) if "delta" in cap else PureDP(epsilon)
        return Fact(
            f"If all of it is spent, the promise to one person is {Privacy.of(promise)}.",
            "ledger, entry 1",
        )

    def _reviewer(self) -> Document:
        facts = self.facts
        every = f" in each {facts.budget.period}" if facts.budget.period else ""
        return Document(
            "reviewer",
            f"For a reviewer: {self.title}",
            "What is promised to the people in the data, in plain words.",
            {
                "What is published?": [
                    Fact(
                        f"{counted(len(facts.spends), 'answer')} so far, each with an element of chance.",
                        facts.where,
                    ),
                    facts.said("description"),
                ],
                "Who is protected?": [facts.unit],
                "What is promised to them?": [
                    Fact(
                        "Whether or not somebody is in the data, every published answer would have been "
                        "almost as likely. So an answer reveals little about them that it would not "
                        "reveal if they were left out.",
                        "docs/epsilon.md",
                    ),
                    self._sure,
                ],
                "Can it be used up?": [
                    Fact(
                        f"Yes: all answers together cost at most {facts.cap}{every}, and a question that "
                        "does not fit is refused.",
                        "ledger, entry 1",
                    )
                ],
                "What is not promised?": [
                    Fact(
                        "Nothing is promised about what is true of a whole group, about statistics published "
                        "from the same data without such protection, or about who can reach the rows "
                        "themselves.",
                        "docs/limits.md",
                    ),
                    facts.timing,
                ],
                "How could anyone find out if it were not true?": [
                    Fact(
                        "The ledger's history cannot be changed without showing it: discreet budget verify "
                        "checks it against a head that was kept elsewhere. discreet audit searches for a "
                        "counterexample to the mathematics.",
                        "docs/proofs/ledger.md",
                    )
                ],
                "Who decided, and why?": [facts.said("justification")],
            },
        )

    # ---- 4: the chain ------------------------------------------------------------------------------

    def _chain(self) -> Document:
        facts = self.facts
        rows = [
            [
                str(entry.sequence),
                entry.time[:10],
                facts.payer(entry),
                str(entry.details["purpose"]),
                str(entry.details["mechanism"]),
                _promise(entry.details["guarantee"], entry.details["count"]),
                str(entry.details["spent"]["cost"]),
                "failed, not refunded" if entry.sequence in facts.failed else "released",
            ]
            for entry in facts.spends
        ]
        columns = ["entry", "day", "paid by", "purpose", "mechanism", "promised", "cost", "outcome"]
        studies = sorted(
            {
                str(found)
                for entry in facts.spends
                if (found := (entry.details["parameters"] or {}).get("study")) is not None
            }
        )
        signed = [
            Fact(f"Releases of the study with the plan {each}.", facts.where) for each in studies
        ]
        chain = "agrees with every total" if not facts.problems else "; ".join(facts.problems)
        return Document(
            "chain",
            f"The chain: {self.title}",
            "Every release, and the chain of hashes that protects the list.",
            {
                "The ledger": [
                    Fact(f"Head: {facts.budget.head}.", facts.where),
                    Fact(f"The chain of hashes {chain}.", facts.where),
                    facts.loss,
                    *signed,
                ],
                "Every release": [Listing(columns, rows)],
                "Versions and licences": [
                    Listing(
                        ["library", "version", "licence"], [_library(name) for name in _LIBRARIES]
                    )
                ],
            },
        )


def dossier_of(
    ledger: Ledger,
    dataset: str,
    *,
    typed: str | Path | None = None,
    plan: StudyPlan | None = None,
    owner: OwnerFile | None = None,
    named: bool = False,
) -> Dossier:
    """Make the dossier of a data set.

    Args:
        ledger: the ledger.
        dataset: the data set's name in the ledger.
        typed: the file with the facts that only a person knows, ``dossier.toml``.
        plan: the plan of a study about the data set.
        owner: the owner's file of the desk that serves it.
        named: whether analysts appear under their real names.

    Example:
        >>> import tempfile
        >>> from discreet import PureDP
        >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
        ...     budget = ledger.create("clinic", PureDP(3))
        ...     print(dossier_of(ledger, "clinic").facts.loss)
        All releases together cost at most ε = 3. Spent so far: ε = 0, in 0 releases. [ledger, entries 1 to 1]
    """
    facts = Known.of(ledger, dataset, typed=read_typed(typed), plan=plan, owner=owner, named=named)
    return Dossier(facts=facts)


def _promise(guarantee: Mapping[str, Any], count: int) -> str:
    symbols = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}
    words = ", ".join(
        f"{symbols.get(name, name)} = {value}"
        for name, value in guarantee.items()
        if name != "measure"
    )
    return f"{words} ({guarantee['measure']})" + (f", {count} times" if count != 1 else "")


def _library(name: str) -> list[str]:
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return [name, "not installed", ""]
    stated = (told[field] for field in ("License-Expression", "License") if field in told)
    licence = next(stated, "")
    return [name, version(name), licence.partition("\n")[0][:60] or "see its package"]


def _slug(title: str) -> str:
    words = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in title.lower())
    return "-".join(words.split()) or "deployment"


def _flat(data: Mapping[str, Any], section: str = "") -> list[tuple[str, str, Any]]:
    found = []
    for name, value in data.items():
        if isinstance(value, Mapping) and name != "privacy_parameters":
            found += _flat(value, name if name != "deployment" else "")
        else:
            found.append((section, name, value))
    return found


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
