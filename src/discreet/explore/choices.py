"""The settings that the page sends. They are checked once and then frozen."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet._exact.numbers.exact import (
    non_negative,
    positive,
    positive_distance,
    probability,
    refuse,
    whole,
)
from discreet.errors import ParameterError
from discreet.explore.examples import examples, look_alike
from discreet.explore.settings import Terms, mechanism_at
from discreet.explore.uploads import LARGEST_SCORE, ScoreFile, UploadStore
from discreet.mechanisms import MECHANISMS, Mechanism

MOST_RELEASES = 1_000_000
MOST_WORLDS = 1_000_000
MOST_EDITS = 200
_LONGEST = 40


class Wanted:
    """The JSON object of a request. Each part is checked when it is read; an error names the part."""

    def __init__(self, given: object) -> None:
        if not isinstance(given, Mapping):
            raise ParameterError("the request must be a JSON object")
        self._given = given

    def get(self, name: str, default: Any = None) -> Any:
        """Return a part without checking it."""
        return self._given.get(name, default)

    def number(self, name: str) -> str | int | float:
        """Return a part that must be a number, as typed."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise refuse(name, value, "a number")
        if isinstance(value, str) and len(value) > _LONGEST:
            raise refuse(name, value, f"a number of at most {_LONGEST} characters")
        return value

    def epsilon(self) -> Fraction:
        """Return ε of one release."""
        epsilon = positive("epsilon", self.number("epsilon"))
        if not Fraction(1, 10_000) <= epsilon <= 100:
            raise refuse("epsilon", self.get("epsilon"), "between 0.0001 and 100 on this page")
        return epsilon

    def sensitivity(self) -> Fraction:
        """Return the sensitivity Δ."""
        return positive_distance("sensitivity", self.number("sensitivity"))

    def below_one(self, name: str) -> Fraction:
        """Return a part that must be a probability below 1."""
        value = probability(name, self.number(name))
        if value == 1:
            raise refuse(name, 1, "below 1")
        return value

    def whole(self, name: str, *, least: int = 1, most: int) -> int:
        """Return a part that must be a whole number from ``least`` to ``most``."""
        value = whole(name, self.get(name), least=least)
        if value > most:
            raise refuse(name, value, f"at most {most:,} on this page")
        return value

    def flag(self, name: str) -> bool:
        """Return a part that must be true or false."""
        value = self.get(name)
        if not isinstance(value, bool):
            raise refuse(name, value, "true or false")
        return value

    def one_of(self, name: str, allowed: Collection[str]) -> str:
        """Return a part that must be one of the allowed names."""
        value = self.get(name)
        if not isinstance(value, str) or value not in allowed:
            raise refuse(name, value, "one of " + ", ".join(allowed))
        return value

    def mechanism(self, name: str = "mechanism") -> str:
        """Return a part that must be the name of a registered mechanism."""
        return self.one_of(name, MECHANISMS)


@dataclass(frozen=True, slots=True)
class Choices:
    """The scores and settings of one page.

    Attributes:
        source: ``"example:clinic"``, ``"made:<facts>"`` or ``"file:<name>"``.
        labels: the candidates.
        values: their scores, including edits.
        sensitivity: Δ, exactly as typed.
        monotonic: whether one person moves all scores in the same direction.
        epsilon: ε of one release.
        releases: the planned number of releases.
        delta: the δ tolerated for all releases together.
        mechanisms: the names of the compared mechanisms, including the chosen one.
        choice: the chosen mechanism.
        tolerance: the largest error that is good enough.
        level: the share of answers that must be within the tolerance.
        worlds: the number of data sets that the attacker considers possible.
        steps: the number of neighbour steps between any two of these data sets.
        tolerated: how sure an attacker may become, as a probability.
    """

    source: str
    labels: tuple[str, ...]
    values: npt.NDArray[Any]
    sensitivity: Fraction
    monotonic: bool
    epsilon: Fraction
    releases: int
    delta: Fraction
    mechanisms: tuple[str, ...]
    choice: str
    tolerance: Fraction
    level: Fraction
    worlds: int
    steps: int
    tolerated: Fraction

    @property
    def setting(self) -> Terms:
        """The settings besides ε that a mechanism may depend on; δ is divided equally among the releases."""
        return Terms(self.sensitivity, self.monotonic, self.delta / self.releases)

    @property
    def range_distance(self) -> Fraction:
        """The range distance d: how far apart one person can move two scores."""
        return self.setting.range_distance

    @property
    def decided(self) -> Mechanism:
        """The chosen mechanism at the ε of one release."""
        return mechanism_at(self.choice, self.setting.delta, epsilon=self.epsilon)


def choices_from(given: object, uploads: UploadStore) -> Choices:
    """Return the choices in a page's JSON; an error names the control and the allowed values."""
    asked = Wanted(given)
    source, labels, values = _scores(asked, uploads)
    choice = asked.mechanism("choice")
    return Choices(
        source=source,
        labels=labels,
        values=values,
        sensitivity=_sane("sensitivity", asked.sensitivity()),
        monotonic=asked.flag("monotonic"),
        epsilon=asked.epsilon(),
        releases=asked.whole("releases", most=MOST_RELEASES),
        delta=asked.below_one("delta"),
        mechanisms=_mechanisms(asked.get("mechanisms"), choice),
        choice=choice,
        tolerance=_sane("tolerance", non_negative("tolerance", asked.number("tolerance"))),
        level=asked.below_one("level"),
        worlds=asked.whole("worlds", least=2, most=MOST_WORLDS),
        steps=2 if asked.flag("missing") else 1,
        tolerated=asked.below_one("risk"),
    )


def _sane(name: str, value: Fraction) -> Fraction:
    # Far outside this range the charts are empty; the library itself has no such limit.
    if value and not Fraction(1, 10**9) <= value <= 10**12:
        raise refuse(name, float(value), "between 10^-9 and 10^12 on this page")
    return value


def _mechanisms(given: object, choice: str) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise ParameterError("mechanisms must be a list of names")
    for name in given:
        Wanted({"mechanism": name}).mechanism()
    return tuple(name for name in MECHANISMS if name in given or name == choice)


def _scores(asked: Wanted, uploads: UploadStore) -> tuple[str, tuple[str, ...], npt.NDArray[Any]]:
    source = asked.get("source")
    if not isinstance(source, str):
        raise refuse("source", source, "an example, a look-alike or a file")
    kind, _, name = source.partition(":")
    if kind == "example" and name in examples():
        example = examples()[name]
        labels, values = tuple(example.scores), np.array(list(example.scores.values()))
    elif kind == "made":
        labels, values = look_alike(name)
    elif kind == "file":
        file: ScoreFile = uploads.get(name)
        labels, values = file.labels, file.values
    else:
        raise refuse("source", source, "an example, a look-alike or a file")
    edits = asked.get("edits", {})
    if not isinstance(edits, Mapping) or len(edits) > MOST_EDITS:
        raise ParameterError(f"edits must be an object of at most {MOST_EDITS} changed scores")
    if edits:
        values = values.astype(np.float64)
        for place, value in edits.items():
            if not str(place).isdecimal() or int(place) >= len(labels):
                raise ParameterError("an edit names a candidate that does not exist")
            values[int(place)] = _score(value)
    return source, labels, _integers(values)


def _score(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ParameterError("a score must be a finite number")
    if abs(value) > LARGEST_SCORE:
        raise ParameterError("a score on this page must lie between −10^15 and 10^15")
    return float(value)


def _integers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert floats to integers if all are whole, so that counts are compared and printed as integers."""
    if (
        values.dtype.kind == "f"
        and np.abs(values).max() < 2**53
        and (values == np.rint(values)).all()
    ):
        return values.astype(np.int64)
    return values
