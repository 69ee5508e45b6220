"""Read a study's file; all problems are reported at once, with line and field."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING
from decimal import Decimal
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any

from discreet._exact.numbers.exact import echo, positive
from discreet._tables import TextFile
from discreet._tables.databases import is_address, without_password
from discreet._tables.moments import RECURRING
from discreet.errors import ParameterError
from discreet.questions.periods import is_range
from discreet.questions.private_table import table as private_table
from discreet.questions.question import KINDS, Question, fields_of
from discreet.study.study import DESK, LEAST, SPLITS, Asked, Study, StudyError

_STUDY = ("title", "dataset", "epsilon", "rho", "split", "shared")
_TEXT = ("delimiter", "encoding")
_TERMS = tuple(
    name
    for name in signature(private_table).parameters
    if name not in ("data", "ledger", "dataset")
)
# Each pattern takes time proportional to the text, because at a desk the text comes from someone else.
_HEADER = re.compile(r"\[(\[?)([^\[\]]+)\]?\]\s*(?:#.*)?")
_KEY = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))\s*=""")

_MOST_PARTS = 16
_LONG_KEY = re.compile(
    r"""(?:\.[ \t]*+(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+)"""
    f"{{{_MOST_PARTS}}}"
)
"""A key with more dots than a study needs; tomllib takes quadratic time for it (34 seconds for 60 KB)."""


def read_study(path: str | Path) -> Study:
    """Read and check a study's file.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "study.toml"
        >>> _ = file.write_text('''
        ... [study]
        ... title = "Winter"
        ... dataset = "clinic"
        ... [table.visits]
        ... source = "visits.parquet"
        ... user = "patient_id"
        ... [[question]]
        ... name = "age"
        ... ask = "medien"
        ... column = "age"
        ... ''')
        >>> read_study(file)
        Traceback (most recent call last):
        discreet.study.study.StudyError: line 10, ask = 'medien': it must be one of ...
    """
    place = Path(path).absolute()
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ParameterError(
            f"{str(path)!r}: there is no such file, or it is not UTF-8 text"
        ) from None
    return _Reader(_parsed(text, repr(str(path))), _lines(text), place).study()


def study_at_a_desk(text: str) -> Study:
    """Read a study from the text of its file; every table must be at a desk, and no file is opened."""
    if _LONG_KEY.search(text) is not None:
        raise ParameterError(f"the study has a name of more than {_MOST_PARTS} parts with dots")
    return _Reader(_parsed(text, "the study"), _lines(text), None).study()


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        # Numbers keep their written value: 0.1 is exactly one tenth.
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{name} is not valid TOML: {error}") from None
    except (ValueError, RecursionError):  # a number with thousands of digits, deeply nested lists
        raise ParameterError(f"{name} is not valid TOML that a study could need") from None


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """Map the path of each header and key to its line number; a question's path contains its index."""
    lines: dict[tuple[str, ...], int] = {}
    section: tuple[str, ...] = ()
    questions = 0
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.fullmatch(line.strip())
        if header is not None:
            section = tuple(part.strip().strip("\"'") for part in header[2].split(".", _MOST_PARTS))
            if header[1]:
                section = (*section, str(questions))
                questions += 1
            lines.setdefault(section, number)
            continue
        key = _KEY.match(line)
        if key is not None:
            lines.setdefault((*section, key[1] or key[2] or key[3]), number)
    return lines


class _Reader:
    """Checks one study's file and collects its problems. Without ``place``, every table must be at a desk."""

    def __init__(
        self, given: Mapping[str, Any], lines: Mapping[tuple[str, ...], int], place: Path | None
    ) -> None:
        self.given, self.lines, self.place = given, lines, place
        self.problems: list[tuple[int, str]] = []

    def say(self, where: tuple[str, ...], words: str) -> None:
        """Record a problem, with the line of ``where`` or of the nearest header or key around it."""
        known = where
        while known and known not in self.lines:
            known = known[:-1]
        line = self.lines.get(known, 1)
        self.problems.append((line, f"line {line}, {words}"))

    def study(self) -> Study:
        """Return the study, or raise an error that lists all problems."""
        for name in self.given.keys() - {"study", "table", "question"}:
            self.say((name,), f"{name}: a study has [study], [table.NAME] and [[question]]")
        head = self._section("study", _STUDY)
        facts = {name: head.get(name) for name in ("title", "dataset")}
        for name, value in facts.items():
            if value is not None and not isinstance(value, str):
                self.say(("study", name), f"{name} = {echo(value)}: it must be a text")
        if head.get("title") is None:
            self.say(("study",), "title is missing in [study]")
        if not isinstance(head.get("shared", False), bool):
            self.say(
                ("study", "shared"), f"shared = {echo(head['shared'])}: it must be true or false"
            )
        split = head.get("split", LEAST)
        if not isinstance(split, str) or split not in SPLITS:
            self.say(
                ("study", "split"),
                f"split = {echo(split)}: it must be {' or '.join(SPLITS)}",
            )
        if "epsilon" in head and "rho" in head:
            self.say(
                ("study", "rho"),
                "rho and epsilon are both given: give only what the budget adds up",
            )
        most = self._positive(("study",), head, "epsilon") or self._positive(
            ("study",), head, "rho"
        )
        tables = self._tables()
        if "rho" in head and any(str(each["data"]).startswith(DESK) for each in tables.values()):
            self.say(("study", "rho"), "rho: a desk adds up ε, so give epsilon instead")
        asked = self._questions(
            tables, has_most=most is not None or "epsilon" in head or "rho" in head
        )
        if not self.problems:
            try:
                return Study(
                    title=str(facts["title"]),
                    dataset=facts["dataset"],
                    tables=tables,
                    questions=asked,
                    most=most,
                    split=split,
                    shared=head.get("shared", False),
                    file=self.place,
                    stated={name: dict(facts) for name, facts in self.given["table"].items()},
                    places=self._places(asked),
                )
            except StudyError as error:
                for problem in error.problems:
                    self.say(("study",), problem)
        raise StudyError([words for _, words in sorted(self.problems)])

    def _places(self, questions: list[Asked]) -> dict[str, int]:
        """Return the line at which each table and question begins, by name."""
        tables = {
            path[1]: line
            for path, line in self.lines.items()
            if path[:1] == ("table",) and len(path) == 2
        }
        return tables | {
            asked.name: self.lines.get(("question", str(place)), 1)
            for place, asked in enumerate(questions)
        }

    def _section(self, name: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        section = self.given.get(name, {})
        if not isinstance(section, Mapping):
            self.say((name,), f"{name} must be a section: [{name}]")
            return {}
        for key in section.keys() - set(known):
            self.say((name, key), f"{key} is not an entry of [{name}]; it has {', '.join(known)}")
        return section

    def _positive(
        self, where: tuple[str, ...], section: Mapping[str, Any], name: str
    ) -> Fraction | None:
        if name not in section:
            return None
        try:
            return positive(name, section[name])
        except ParameterError as error:
            self.say((*where, name), str(error))
            return None

    # ---- tables ------------------------------------------------------------------------------------

    def _tables(self) -> dict[str, dict[str, Any]]:
        given = self.given.get("table", {})
        if not isinstance(given, Mapping) or not given:
            self.say(("table",), "a study needs a table: [table.visits] with source and user")
            return {}
        return {name: self._table(name, facts) for name, facts in given.items()}

    def _table(self, name: str, given: Any) -> dict[str, Any]:
        where = ("table", name)
        if not isinstance(given, Mapping) or not isinstance(given.get("source"), str):
            self.say(where, f"source is missing in [table.{name}]")
            return {"data": ""}
        facts = dict(given)
        source = facts.pop("source")
        if is_address(source) and without_password(source) != source:
            words = (
                "leave the password out: the plan is shown to others (use PGPASSWORD or ~/.pgpass)"
            )
            self.say((*where, "source"), f"source = {without_password(source)!r}: {words}")
        at_desk = source.startswith(DESK)
        if self.place is None and not at_desk:
            words = f'here it must be a table of this desk, such as "{DESK}visits"'
            self.say((*where, "source"), f"source = {echo(source)}: {words}")
            return {"data": source}
        known = () if at_desk else (*_TERMS, *_TEXT)
        for key in facts.keys() - set(known):
            told = (
                "the owner of the desk has already stated it"
                if at_desk
                else f"it has source, {', '.join(known)}"
            )
            self.say((*where, key), f"{key} is not an entry of [table.{name}]; {told}")
        if at_desk:
            return {"data": source}
        data: Any = source if is_address(source) else self._beside(source)
        spelled = facts.get("read_as")
        as_text = {key: facts.pop(key) for key in _TEXT if key in facts}
        if as_text or isinstance(spelled, Mapping):
            facts.pop("read_as", None)
            data = TextFile(data, read_as=spelled or {}, **({"encoding": "utf-8"} | as_text))
        return {"data": data, **{key: value for key, value in facts.items() if key in known}}

    # ---- questions -----------------------------------------------------------------------------------

    def _questions(self, tables: Mapping[str, Any], *, has_most: bool) -> list[Asked]:
        given = self.given.get("question", [])
        if not isinstance(given, list):
            self.say(("question",), "questions are written [[question]], with two brackets")
            return []
        found, names = [], dict[Any, int]()
        for place, facts in enumerate(given):
            where = ("question", str(place))
            if not isinstance(facts, Mapping):
                self.say(where, "questions are written [[question]], with the fields below it")
                continue
            asked = self._question(where, dict(facts), tables, has_most=has_most)
            if asked is None:
                continue
            if asked.name in names:
                first = self.lines.get(("question", str(names[asked.name])), 1)
                self.say(
                    (*where, "name"),
                    f"name = {echo(asked.name)}: the question on line {first} has the same name",
                )
            names.setdefault(asked.name, place)
            found.append(asked)
        return found

    def _question(
        self,
        where: tuple[str, ...],
        facts: dict[str, Any],
        tables: Mapping[str, Any],
        *,
        has_most: bool,
    ) -> Asked | None:
        name, kind, table = (facts.pop(key, None) for key in ("name", "ask", "table"))
        weight = self._positive(where, facts, "weight") or Fraction(1)
        facts.pop("weight", None)
        if not isinstance(name, str) or not name:
            self.say((*where, "name"), "name is missing: every question of a study needs a name")
        if table is None and len(tables) == 1:
            table = next(iter(tables))
        is_known = isinstance(table, str) and table in tables
        if tables and not is_known:
            told = f"it must be one of {', '.join(tables)}"
            self.say(
                (*where, "table"),
                f"table = {echo(table)}: {told}"
                if table is not None
                else f"table is missing: {told}",
            )
        kinds = {name: each for name, each in KINDS.items() if each.completed_by}
        if not isinstance(kind, str) or kind not in kinds:
            told = f"it must be one of {', '.join(kinds)}"
            self.say(
                (*where, "ask"),
                f"ask = {echo(kind)}: {told}" if kind is not None else f"ask is missing: {told}",
            )
            return None
        question = self._made(where, kinds[kind], facts, has_most=has_most)
        if question is None or not is_known or not isinstance(name, str):
            return None
        stated = {"epsilon", "error_at_most"} & facts.keys()
        return Asked(name, table, question, weight, shares=not stated)

    def _made(
        self, where: tuple[str, ...], kind: type[Question], facts: dict[str, Any], *, has_most: bool
    ) -> Question | None:
        known = {each.name: each for each in fields_of(kind)}
        unknown = facts.keys() - known.keys()
        for key in unknown:
            self.say(
                (*where, key), f"{key} is not a field of {kind.kind}; it has {', '.join(known)}"
            )
        if not {"epsilon", "error_at_most"} & facts.keys():
            if not has_most:
                self.say(
                    where,
                    "epsilon and error_at_most are both missing: give one, or [study] epsilon to share",
                )
            facts = {**facts, "epsilon": 1}  # a placeholder for the share
        if unknown:
            return None
        given = {
            key: self._listed(value) if known[key].metadata["takes"] == "LIST" else value
            for key, value in facts.items()
        }
        try:
            return kind(**given)
        except ParameterError as error:
            field = next((each for each in error.parameters if each in facts), None)
            self.say(where if field is None else (*where, field), str(error))
        except TypeError:
            missing = [
                key for key, each in known.items() if key not in facts and each.default is MISSING
            ]
            self.say(where, f"{', '.join(missing)} is missing: {kind.kind} needs it")
        return None

    def _listed(self, value: Any) -> Any:
        """Return the value; if it is a path, resolve it against the folder of the study's file."""
        if not isinstance(value, str) or is_range(value) or value in RECURRING:
            return value
        return self._beside(value)

    def _beside(self, path: str) -> str:
        return path if self.place is None else str(self.place.parent / path)
