"""An invented clinic: realistic but fictitious patients, visits and staff; the same seed gives the same data.

Each patient has an age and a home clinic. Older patients come more often, and a few patients come very often.
Infections follow the season, and some fields are missing or mistyped, as in real data. The documentation's
examples use these files.
"""

from __future__ import annotations

import csv
import datetime
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._exact.numbers.exact import refuse, whole
from discreet._exact.sampling import ScriptedBits
from discreet.errors import ParameterError

__all__ = ["clinic", "write_clinic"]

Columns = dict[str, list[Any]]

CLINICS = ("east", "harbour", "north", "south")
PAGES = (
    "appointments", "test results", "repeat prescription", "messages", "opening hours", "vaccinations",
    "referrals", "sick note", "travel advice", "parking", "complaints", "data protection",
)  # fmt: skip

# Code, name, how common it is, how it grows with age, how much more common it is in winter.
_DIAGNOSES = (
    ("J00", "common cold", 9.0, -0.2, 0.7),
    ("J11", "influenza", 6.0, 0.1, 0.9),
    ("I10", "high blood pressure", 5.0, 1.6, 0.0),
    ("M54", "back pain", 5.0, 0.5, 0.0),
    ("J20", "acute bronchitis", 4.0, 0.4, 0.6),
    ("E11", "type 2 diabetes", 3.5, 1.4, 0.0),
    ("J45", "asthma", 3.0, -0.3, 0.2),
    ("F32", "depressive episode", 2.5, 0.1, 0.2),
    ("G43", "migraine", 2.5, -0.4, 0.0),
    ("J30", "hay fever", 2.5, -0.5, -0.9),
    ("N39", "urinary infection", 2.0, 0.5, 0.0),
    ("K21", "reflux", 2.0, 0.6, 0.0),
    ("L20", "atopic eczema", 1.5, -0.8, 0.1),
    ("H66", "ear infection", 1.5, -1.2, 0.4),
    ("M10", "gout", 0.8, 1.2, 0.0),
    ("A69", "Lyme disease", 0.3, 0.0, -0.8),
    ("B20", "HIV disease", 0.1, 0.0, 0.0),
)
DIAGNOSES = tuple(code for code, *_ in _DIAGNOSES)
"""The public list of codes; no patient has Z99."""

_ROLES = (
    ("nurse", 10.45, 0.15),
    ("clerk", 10.25, 0.12),
    ("physician", 11.35, 0.25),
    ("manager", 11.1, 0.3),
)
_FIRST_DAY = datetime.date(2024, 1, 1)
_DAYS = 366


class _Draws:
    """Uniform, normal and weighted draws from scripted bits, for invented data and not for noise."""

    def __init__(self, seed: int | str) -> None:
        self._bits = ScriptedBits(f"demo data {seed}")

    def uniform(self, count: int) -> NDArray[np.float64]:
        drawn: NDArray[np.float64] = self._bits.words(count, width=53).astype(np.float64)
        return (drawn + 0.5) * 2.0**-53

    def normal(self, count: int) -> NDArray[np.float64]:
        radius = np.sqrt(-2 * np.log(self.uniform(count)))
        normal: NDArray[np.float64] = radius * np.cos(2 * np.pi * self.uniform(count))
        return normal

    def choice(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Draw one index for each row, with probabilities proportional to the row's weights."""
        cumulative = np.cumsum(weights, axis=1)
        mark = self.uniform(len(weights)) * cumulative[:, -1]
        chosen: NDArray[np.int64] = (cumulative < mark[:, None]).sum(axis=1)
        return chosen


def clinic(people: int = 2000, *, seed: int | str = 2024) -> dict[str, Columns]:
    """Return the invented tables ``people``, ``visits`` and ``pay``, each as a dictionary of columns.

    Example:
        >>> tables = clinic(100)
        >>> sorted(tables), len(tables["people"]["person_id"])
        (['pay', 'people', 'visits'], 100)
        >>> tables == clinic(100)
        True
    """
    count = whole("people", people)
    draws = _Draws(seed)
    young = draws.normal(count) * 14 + 34
    old = draws.normal(count) * 11 + 66
    ages = (
        np.clip(np.where(draws.uniform(count) < 0.6, young, old), 0, 102).round().astype(np.int64)
    )
    homes = draws.choice(np.tile([3.0, 2.0, 4.0, 3.0], (count, 1)))
    identities = [f"P{number:06d}" for number in range(1, count + 1)]
    return {
        "people": {
            "person_id": identities,
            "age": _mistyped([str(age) for age in ages.tolist()], draws),
            "clinic": [CLINICS[home] for home in homes.tolist()],
        },
        "visits": _visits(identities, ages, homes, draws),
        "pay": _pay(max(20, count // 10), draws),
    }


def _mistyped(texts: list[str], draws: _Draws) -> list[Any]:
    """Replace about one value in 100 with None, and about one in 300 with the text ``"unknown"``."""
    marks = draws.uniform(len(texts)).tolist()
    return [
        None if mark < 0.01 else "unknown" if mark < 0.0133 else text
        for text, mark in zip(texts, marks, strict=True)
    ]


def _visits(
    identities: Sequence[str], ages: NDArray[np.int64], homes: NDArray[np.int64], draws: _Draws
) -> Columns:
    # A patient's visit rate grows with age and varies between people: a few come very often.
    rates = (0.8 + ages / 40) * np.exp(0.6 * draws.normal(len(ages)))
    numbers = np.floor(-np.log(draws.uniform(len(ages))) * rates).astype(np.int64)
    whose = np.repeat(np.arange(len(ages)), numbers)
    count = len(whose)
    days = np.floor(draws.uniform(count) * _DAYS).astype(np.int64)
    winter = np.cos(2 * np.pi * days / _DAYS)
    base, growth, season = (
        np.array([row[i] for row in _DIAGNOSES], dtype=np.float64) for i in (2, 3, 4)
    )
    weights = base * np.exp(growth * (ages[whose, None] - 45) / 30) * (1 + season * winter[:, None])
    diagnoses = draws.choice(weights)
    away = draws.uniform(count) < 0.08
    clinics = np.where(
        away, np.floor(draws.uniform(count) * len(CLINICS)).astype(np.int64), homes[whose]
    )
    pages = draws.choice(np.tile(1.0 / np.arange(1, len(PAGES) + 1), (count, 1)))
    blank = draws.uniform(count) < 0.01
    order = np.argsort(days, kind="stable")
    dates = [_FIRST_DAY + datetime.timedelta(days=day) for day in days[order].tolist()]
    return {
        "visit_id": list(range(1, count + 1)),
        "patient_id": [identities[i] for i in whose[order].tolist()],
        "date": [str(date) for date in dates],
        "week": [date.strftime("%G-W%V") for date in dates],
        "clinic": [CLINICS[i] for i in clinics[order].tolist()],
        "diagnosis": [
            None if empty else DIAGNOSES[i]
            for i, empty in zip(diagnoses[order].tolist(), blank[order].tolist(), strict=True)
        ],
        "page": [PAGES[i] for i in pages[order].tolist()],
    }


def _pay(count: int, draws: _Draws) -> Columns:
    roles = draws.choice(np.tile([5.0, 2.0, 2.0, 1.0], (count, 1)))
    location, spread = (np.array([row[i] for row in _ROLES])[roles] for i in (1, 2))
    salaries = np.exp(location + spread * draws.normal(count))
    return {
        "person_id": [f"S{number:04d}" for number in range(1, count + 1)],
        "role": [_ROLES[i][0] for i in roles.tolist()],
        "salary": [round(salary, -1) for salary in salaries.tolist()],
    }


def write_clinic(
    folder: str | Path,
    *,
    people: int = 2000,
    seed: int | str = 2024,
    form: str = "csv",
    force: bool = False,
) -> list[Path]:
    """Write the invented tables and the public lists that go with them; return the paths of the files.

    An existing file with different content is replaced only with ``force``.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in write_clinic(folder, people=50)]
        ['people.csv', 'visits.csv', 'pay.csv', 'icd10.txt', 'pages.csv', 'clinics.txt', 'scores.csv']
    """
    if form not in ("csv", "parquet"):
        raise refuse("form", form, "csv or parquet")
    tables = clinic(people, seed=seed)
    with tempfile.TemporaryDirectory() as draft:
        drafted = {path.name: path.read_bytes() for path in _write(Path(draft), tables, form)}
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        there = {
            name: (target / name).read_bytes() for name in drafted if (target / name).is_file()
        }
        changed = [name for name, body in drafted.items() if there.get(name) != body]
        others = [name for name in changed if (target / name).exists()]
        if others and not force:
            raise ParameterError(
                f"⟨folder⟩{str(folder)!r} already has other files named {', '.join(others)}: choose another "
                "folder, or replace them with ⟨force=True⟩"
            )
        for name in changed:
            (target / name).write_bytes(drafted[name])
    except OSError as error:
        raise ParameterError(
            f"⟨folder⟩{str(folder)!r} is not a folder that can be written ({type(error).__name__})"
        ) from None
    return [target / name for name in drafted]


def _write(target: Path, tables: dict[str, Columns], form: str) -> list[Path]:
    files = []
    for name, columns in tables.items():
        path = target / f"{name}.{form}"
        if form == "csv":
            _write_csv(path, list(columns), zip(*columns.values(), strict=True))
        else:
            _write_parquet(path, columns)
        files.append(path)
    for name, lines in (("icd10.txt", (*DIAGNOSES, "Z99")), ("clinics.txt", CLINICS)):
        (target / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    _write_csv(target / "pages.csv", ["page"], ([page] for page in PAGES))
    visits = tables["visits"]
    pairs = set(zip(visits["diagnosis"], visits["patient_id"], strict=True))
    counts = {code: sum(found == code for found, _ in pairs) for code in DIAGNOSES}
    _write_csv(target / "scores.csv", ["candidate", "score"], counts.items())
    return [
        *files,
        *(target / name for name in ("icd10.txt", "pages.csv", "clinics.txt", "scores.csv")),
    ]


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _write_parquet(path: Path, columns: Columns) -> None:
    import duckdb

    arrays = {
        name: np.array(values, dtype=object if any(isinstance(v, str) for v in values) else None)
        for name, values in columns.items()
    }
    connection = duckdb.connect()
    connection.register("columns_to_write", arrays)
    named = ", ".join(map(_parquet_column, columns))
    connection.sql(f"SELECT {named} FROM columns_to_write").write_parquet(str(path))  # noqa: S608 - our names


def _parquet_column(name: str) -> str:
    # Parquet columns are typed: an age that is not a number is written as null.
    if name == "age":
        return f"TRY_CAST({name} AS INTEGER) AS {name}"
    return f"CAST({name} AS DATE) AS {name}" if name == "date" else name
