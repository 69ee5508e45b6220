"""Two thousand questions with recorded results, which code changes must not alter.

Every case is asked with scripted bits. The record holds the event that is paid, what the ledger writes down,
the answer and everything shown with it, the rules and the proof; or the error. To record again, run
``python -m tests.tools.recorded_questions``.
"""

from __future__ import annotations

import itertools
import json
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import discreet
from discreet import questions
from discreet._exact.sampling.bits import ScriptedBits, SecureBits
from discreet.errors import DiscreetError

FILE = Path(__file__).parents[1] / "laws" / "recorded_questions.json"
SEED = 20261117
Case = dict[str, Any]

CODES = ["flu", "cold", "asthma", "gout", "rash"]
CLINICS = ["north", "south", "east"]


def columns() -> dict[str, list[Any]]:
    """Invent visits: several rows and clinics per person, missing values, values not on the list."""
    made = random.Random(SEED)  # noqa: S311 - invented rows
    patients = [made.randrange(160) for _ in range(400)]
    return {
        "patient": patients,
        "diagnosis": [
            made.choices([*CODES, "other", None], [9, 5, 4, 2, 1, 1, 1])[0] for _ in patients
        ],
        "clinic": [made.choice([*CLINICS, None]) for _ in patients],
        "age": [made.choice([None, *range(18, 95)]) for _ in patients],
        "pay": [round(made.lognormvariate(8, 1), 2) for _ in patients],
        "week": [f"2026-W{made.choices(range(1, 9), range(1, 9))[0]:02}" for _ in patients],
        "people": [made.randrange(4) for _ in patients],
    }


class Counting:
    """A ledger that keeps the one event it is given."""

    def __init__(self, accountant: str) -> None:
        self.accountant, self.told = accountant, ()  # type: str, tuple[Any, ...]

    def spend(self, dataset: str, event: Any, *, purpose: str) -> str:
        self.told = (event, purpose)
        return f"{dataset} #1"

    def fail(self, entry: Any) -> Any:
        return entry

    def show(self, _dataset: str) -> Any:
        return SimpleNamespace(accountant=self.accountant, left="ε = 9")


def _choices(**named: list[Any]) -> Iterator[Case]:
    for values in itertools.product(*named.values()):
        yield {name: value for name, value in zip(named, values, strict=True) if value is not None}


_WHO: list[Case] = [{"user": "patient"}, {"one_row_per_user": True}, {"counted": "people"}]
_GROUPS: list[Case] = [
    {},
    {"by": "clinic", "groups": CLINICS},
    {"by": "clinic", "groups": CLINICS, "groups_per_person": 2},
    {"by": "clinic", "groups": CLINICS, "groups_per_person": 3},
    {"by": "clinic", "groups": CLINICS, "groups_per_person": "choose"},
    {"by": "clinic", "delta": "1e-3"},
    {"by": "clinic", "delta": "1e-3", "groups_per_person": 2},
    {"by": "clinic"},
    {"groups": CLINICS},
]
_MECHANISMS = [
    None,
    None,
    None,
    "exponential",
    "noisy-max-laplace",
    "noisy-max-gumbel",
    "large-gap",
    "exponential-randomized-response",
    "no such",
]
_OWN: dict[str, list[list[Case]]] = {
    "mode": [
        [
            {"candidates": CODES},
            {"bounds": "0:100", "step": 10, "column": "age"},
            {"delta": "1e-3"},
            {},
        ],
        [{}, {"with_count": True}, {"with_gap": True}, {"with_count": True, "count_share": "0.5"}],
        [{}, {}, {"other": "else"}, {"considered": 3}],
    ],
    "top_k": [
        [
            {"candidates": CODES},
            {"bounds": "0:100", "step": 10, "column": "age"},
            {"delta": "1e-3"},
        ],
        [{"k": 1}, {"k": 2}, {"k": 3}, {"k": 5}, {"k": 9}, {"k": 0}],
        [{}, {"with_count": True}, {"ordered": False}, {"other": "else"}],
        [{}, {"method": "joint"}, {"method": "one-shot"}, {"method": "peeling"}, {"method": "x"}],
    ],
    "median": [
        [
            {"bounds": "0:120"},
            {"bounds": (0, 120), "step": 5},
            {},
            {"unit": 10},
            {"bounds": "120:0"},
        ],
        [{"per_person": name} for name in ("least", "largest", "random", "mean", "x")],
        [{}, {"outside": "drop"}],
    ],
    "quantile": [
        [{"at": level} for level in (0.9, "1/3", "0.05", 1, 0)],
        [{"bounds": "0:120"}, {"bounds": (0, 120), "step": 5}, {"largest": 1000}],
        [{"per_person": "mean"}, {"per_person": "least"}],
    ],
    "quantiles": [
        [{"at": at} for at in ([0.5], [0.25, 0.5, 0.75], ["0.1", "0.9"], [0.9, 0.1], [], "0.5")],
        [{"bounds": "0:120"}, {"bounds": (0, 120), "step": 5}, {}],
        [{"per_person": name} for name in ("least", "random", "mean")],
    ],
    "bound": [
        [{"covers": level} for level in ("0.9", "0.999", 1)],
        [{}, {"unit": 10}, {"largest": 10**6}],
    ],
    "first_above": [
        [{"above": 10}, {"above": 25}, {"above": "x"}],
        [{}, {"crossings": 2}, {"crossings": 40}],
        [{}, {"with_gap": True}],
        [{"groups": "2026-W01:2026-W08"}, {"groups": ["2026-W05", "2026-W08"]}, {}],
    ],
}
_COLUMNS = {
    "median": "age",
    "quantile": "age",
    "quantiles": "age",
    "bound": "pay",
    "first_above": "week",
}


def cases() -> Iterator[Case]:
    """Yield cases without end, drawn from all combinations of options; always the same ones."""
    chosen = random.Random(SEED)  # noqa: S311 - which cases there are
    while True:
        for name in chosen.choices(list(_OWN), [5, 6, 3, 2, 4, 1, 2], k=100):
            own = _OWN[name]
            case: Case = {"question": name, "column": _COLUMNS.get(name, "diagnosis"), "epsilon": 1}
            for options in own:
                case |= chosen.choice(options)
            case |= chosen.choice(_WHO if chosen.random() < 0.5 else _WHO[:1])
            if name != "first_above" or chosen.random() < 0.1:
                case |= chosen.choice(_GROUPS if chosen.random() < 0.5 else _GROUPS[:1])
            extra = {
                "neighbours": chosen.choice(["add-remove", "add-remove", "replace"]),
                "mechanism": chosen.choice(_MECHANISMS),
                "where": chosen.choice(
                    [None, None, None, "age >= 30", "clinic = 'north' or age < 50"]
                ),
                "with_people": chosen.choice([None, None, None, True]),
                "epsilon": chosen.choice(
                    [1, 1, "0.3", 2, 0, "x"] if chosen.random() < 0.2 else [1, "0.7"]
                ),
                "accountant": chosen.choice(["epsilon", "epsilon", "rho", None]),
                "engine": chosen.choice(_ENGINES if chosen.random() < 0.3 else _ENGINES[:1]),
                "purpose": chosen.choice([None, None, None, "a purpose"]),
            }
            case |= {key: value for key, value in extra.items() if value is not None}
            if chosen.random() < 0.04:
                case |= chosen.choice(_WRONG)
            yield case


_ENGINES: list[str] = ["polars", "pandas", "duckdb", "parquet", "csv", "ibis"]
_WRONG: list[Case] = [
    {"column": "nowhere"},
    {"user": "nowhere"},
    {"where": "age >"},
    {"where": "nowhere = 1"},
    {"candidates": ["flu", "flu"]},
    {"candidates": "no-such-file.txt"},
    {"neighbours": "x"},
    {"one_row_per_user": True, "user": "patient"},
    {"groups_per_person": 0},
    {"people_share": 2, "with_people": True},
    {"column": "clinic"},
    {"column": "pay"},
]


class Tables:
    """The table of visits on every engine, each made once."""

    def __init__(self, folder: Path) -> None:
        import polars as pl

        self._frame, self._folder = pl.DataFrame(columns()), folder
        self._frame.write_parquet(folder / "visits.parquet")
        self._frame.write_csv(folder / "visits.csv")

    def on(self, engine: str) -> Any:
        if engine == "polars":
            return self._frame
        if engine == "pandas":
            return self._frame.to_pandas().convert_dtypes()
        if engine in ("parquet", "csv"):
            return str(self._folder / f"visits.{engine}")
        if engine == "duckdb":
            import duckdb

            return duckdb.connect().read_parquet(str(self._folder / "visits.parquet"))
        import ibis

        return ibis.duckdb.connect().read_parquet(str(self._folder / "visits.parquet"))


def outcome(case: Case, tables: Tables) -> dict[str, Any]:
    """Ask a case and return what it did."""
    given = dict(case)
    name, engine, accountant = (
        given.pop(key, None) for key in ("question", "engine", "accountant")
    )
    ledger = None if accountant is None else Counting(accountant)
    counted: Case = {} if ledger is None else {"ledger": ledger, "dataset": "clinic"}
    bits = ScriptedBits(json.dumps(case, sort_keys=True))
    scripted = mock.patch.object(SecureBits, "_bytes", lambda _self, count: bits._bytes(count))
    with scripted, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            release = getattr(questions, str(name))(tables.on(str(engine)), **given, **counted)
        except (DiscreetError, TypeError) as error:
            words = str(error).replace(str(tables._folder), "…")
            return {"error": type(error).__name__, "words": words}
    told: dict[str, Any] = release.as_data()
    told.pop("engine", None)
    told["guarantee"]["proof"] = str(release.guarantee.proof)
    if ledger is not None:
        event, purpose = ledger.told
        told["event"] = {
            "guarantee": repr(event.guarantee),
            "proof": str(event.guarantee.proof),
            "mechanism": event.mechanism,
            "count": event.count,
            "neighbours": event.neighbours,
            "purpose": purpose,
        }
    if said:
        told["warnings"] = [str(warning.message) for warning in said]
    return told


def recorded() -> dict[str, dict[str, Any]]:
    """Return the recorded results by case."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def key_of(case: Case) -> str:
    """Return a case as one line of text."""
    return json.dumps(case, sort_keys=True, default=str, ensure_ascii=False)


def record(folder: Path) -> dict[str, dict[str, Any]]:
    """Ask cases until 2,000 are recorded, at most 600 of them errors."""
    tables, refused = Tables(folder), 0
    found: dict[str, dict[str, Any]] = {}
    for case in cases():
        told = outcome(case, tables)
        if "error" in told:
            refused += 1
            if refused > 600:
                continue
        found[key_of(case)] = told
        if len(found) == 2000:
            break
    return found


def main() -> None:
    """Record all results again."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = record(Path(folder))
    lines = (
        f"{json.dumps(key)}: {json.dumps(told, ensure_ascii=False)}" for key, told in found.items()
    )
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(
        len(found),
        "cases,",
        sum("error" in told for told in found.values()),
        "errors",
        discreet.__version__,
    )


if __name__ == "__main__":
    main()
