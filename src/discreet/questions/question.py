"""Questions are frozen dataclasses; each field has a help text, a check, and a rule for who may set it.

All code that depends on the kinds of questions reads these fields: the methods of a table, the functions of
``discreet.questions``, the command line's options, a desk's requests, and the form on a desk's web page.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

from discreet._exact.numbers.exact import Number, echo, finite, positive, probability, refuse, shown
from discreet._tables import Grid, Table
from discreet.errors import ParameterError
from discreet.mechanisms import MECHANISMS
from discreet.mechanisms.mechanism import Mechanism

if TYPE_CHECKING:
    from discreet._exact.sampling import Bits
    from discreet.questions.plan import Plan, Setting

T = TypeVar("T")
Labels = Any
"""A public list: a list, the name of a file, an enum, a declared categorical type or a grid."""
USUAL_LEVEL = Fraction(19, 20)
KINDS: dict[str, type[Question]] = {}
"""Every kind of question, by the name that desks, files and the command line use."""
_MOST_SHOWN = 8


# ---- what fields check -----------------------------------------------------------------------------------


class FoundLabels(tuple[Any, ...]):
    """Labels found in the data: values of a column, never interpreted as ranges or periods."""


def labels(name: str, given: Any) -> Any:
    """Convert a public list to a tuple in the same order; keep file names, grids and PySpark frames."""
    if isinstance(given, FoundLabels):
        return given
    if isinstance(given, type) and issubclass(given, enum.Enum):
        return tuple(member.value for member in given)
    listed = given
    if hasattr(given, "categories") and not hasattr(given, "cat"):  # polars.Enum, CategoricalDtype
        listed = given.categories
        if listed is None:
            raise ParameterError(f"{name}: the categorical type declares no categories")
    for turn in ("to_list", "tolist"):
        if hasattr(listed, turn):
            listed = getattr(listed, turn)()
            break
    if isinstance(listed, str) or hasattr(listed, "__fspath__"):
        return str(listed)
    if isinstance(listed, Sequence) and not isinstance(listed, bytes):
        return tuple(listed)
    if isinstance(listed, Mapping | set | frozenset):
        raise ParameterError(
            f"{name} must be a list (in a fixed order), not {type(given).__name__}"
        )
    return listed


def truth(name: str, given: Any) -> bool:
    """Accept True or False only, not values that compare equal to them."""
    if not isinstance(given, bool):
        raise refuse(name, given, "True or False")
    return given


def part_of_epsilon(name: str, given: Any) -> Fraction:
    """Check that a part of ε lies strictly between 0 and 1; return it as a fraction."""
    part = positive(name, given)
    if part >= 1:
        raise refuse(name, given, "strictly between 0 and 1")
    return part


def level(name: str, given: Any) -> Fraction:
    """Check that a probability lies strictly between 0 and 1; return it as a fraction."""
    found = probability(name, given)
    if not 0 < found < 1:
        raise refuse(name, given, "strictly between 0 and 1")
    return found


def by_name(_name: str, given: Any) -> Any:
    """Return a mechanism's registered name if it has one, otherwise the argument unchanged."""
    for known, make in MECHANISMS.items():
        is_made = isinstance(given, Mechanism) and make(epsilon=1) == given.with_epsilon(1)
        if given is make or is_made:
            return known
    return given


def one_of(known: Mapping[str, str]) -> Callable[[str, Any], str]:
    """Return a check that a value is one of the known names."""

    def check(name: str, given: Any) -> str:
        if not isinstance(given, str) or given not in known:
            raise refuse(name, given, "one of " + ", ".join(f'"{each}"' for each in known))
        return given

    return check


# ---- fields and questions ---------------------------------------------------------------------------------


def field(
    words: str,
    *,
    default: Any = dataclasses.MISSING,
    kw_only: bool = True,
    takes: str = "TEXT",
    example: str = "",
    check: Callable[[str, Any], Any] | None = None,
    analyst: bool = False,
    group: str = "question",
    advanced: bool = False,
    option: bool | str = True,
    off: str = "",
) -> Any:
    """Declare a field of a question.

    ``words`` is the help text; in it, ⟨name⟩ refers to another field. ``check(name, value)`` returns the
    value to keep. Only the owner of the data may set the field, unless ``analyst`` allows analysts at a desk
    to set it. ``group`` and ``advanced`` determine where its command-line option is listed; ``option``
    renames that option, and False removes it. If the option sets the field to False, ``off`` is its help
    text. A form is prefilled with ``example``.
    """
    facts = {"description": words, "takes": takes, "check": check, "analyst": analyst}
    facts["example"] = example
    facts |= {"group": group, "advanced": advanced, "option": option, "off": off}
    return dataclasses.field(default=default, kw_only=kw_only, metadata=facts)


def flag(words: str, *, default: bool, **facts: Any) -> Any:
    """Declare a field that is True or False."""
    return field(words, default=default, check=truth, **facts)


def share(words: str, *, default: str | None) -> Any:
    """Declare a field for a share of ε; it has no command-line option."""
    kept = None if default is None else Fraction(default)
    return field(words, default=kept, check=part_of_epsilon, takes="NUMBER", option=False)


def another_mechanism(*, default: None) -> Any:
    """Declare a field for the mechanism that chooses; None means permute-and-flip.

    Callers must pass the default, because type checkers recognise it only in the field's declaration.
    """
    return field(
        "A mechanism other than permute-and-flip, such as exponential.",
        default=default,
        check=by_name,
        takes="NAME",
        advanced=True,
    )


@dataclass_transform(
    frozen_default=True,
    kw_only_default=True,
    field_specifiers=(field, flag, share, another_mechanism),
)
def value(cls: type[T]) -> type[T]:
    """Turn a class into a frozen dataclass; ``dataclass_transform`` tells type checkers about its fields.

    If a field without a default is left out, the error is a ``ParameterError`` that names it.
    """
    made: Any = dataclasses.dataclass(frozen=True, repr=False)(cls)
    generated = made.__init__
    fields = dataclasses.fields(made)
    positional = [each.name for each in fields if not each.kw_only]
    known = {each.name for each in fields}

    @wraps(generated)
    def checked(self: Any, *args: Any, **given: Any) -> None:
        try:
            generated(self, *args, **given)
        except TypeError:
            if given.keys() <= known:  # Python's own error names an unknown argument
                _require_complete(made, {*positional[: len(args)], *given})
            raise

    made.__init__ = checked
    return cls


def _require_complete(kind: Any, given: Collection[str]) -> None:
    """Raise an error if a field without a default is not among the names given."""
    for each in dataclasses.fields(kind):
        if each.default is dataclasses.MISSING and each.name not in given:
            raise ParameterError(
                f"⟨{each.name}⟩ must be given: {each.metadata['description']}"
            ) from None


@cache
def fields_of(kind: type[Question]) -> tuple[dataclasses.Field[Any], ...]:
    """Return a question's fields in the order people write them: positional first, own before inherited."""
    depth: dict[str, int] = {}
    for place, base in enumerate(kind.__mro__):
        for name in vars(base).get("__annotations__", ()):
            depth.setdefault(name, place)
    order = sorted(
        dataclasses.fields(kind), key=lambda each: (bool(each.kw_only), depth[each.name])
    )
    return tuple(order)


@value
class Question(ABC):
    """Base class of all questions: each states a cost or a required accuracy, and can be planned.

    A question is a value: it can be compared, hashed, printed, sent and stored. It holds no data and costs
    nothing to make; ``discreet.table(...).plan(question)`` shows what it will cost and ``.ask(question)``
    asks it.

    Example:
        >>> from discreet.questions import Mode
        >>> question = Mode("diagnosis", candidates=["flu", "cold"], epsilon=0.5)
        >>> question
        Mode('diagnosis', candidates=['flu', 'cold'], epsilon=0.5)
        >>> question == Question.from_dict(question.to_dict())
        True
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    """The label of this kind of question in a form."""
    completed_by: ClassVar[tuple[str, ...]] = ()
    """The column declarations that let analysts ask this question at a desk; any one of them is enough."""
    command: ClassVar[tuple[str, str, str] | None] = None
    """The command's name, its help text and an example; None if there is no command."""
    one_choice: ClassVar[bool] = False
    """Whether the only slow step after counting is a single choice, if nothing else is released with it."""

    epsilon: Number | None = field(
        "What the whole question costs.",
        default=None,
        check=positive,
        takes="NUMBER",
        analyst=True,
        group="budget",
    )
    error_at_most: Number | None = field(
        "Instead of ⟨epsilon⟩: the largest acceptable error; the smallest ε that achieves it is used.",
        default=None,
        check=positive,
        takes="NUMBER",
        group="budget",
    )
    with_probability: Number = field(
        "With ⟨error_at_most⟩: how often the error must stay within it.",
        default=USUAL_LEVEL,
        check=level,
        takes="NUMBER",
        group="budget",
        advanced=True,
    )
    typical: bool = flag(
        "With ⟨error_at_most⟩: the bound need only hold on typical data, not on any data.",
        default=False,
        group="budget",
        advanced=True,
    )
    purpose: str | None = field(
        "The purpose that the ledger records, without any data; by default the question in words.",
        default=None,
        group="budget",
        advanced=True,
    )

    def __init_subclass__(cls, kind: str | None = None, label: str | None = None) -> None:
        if kind is not None:
            cls.kind = kind
            cls.label = label or kind.replace("_", " ").capitalize()
            KINDS[kind] = cls

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            given, check = getattr(self, each.name), each.metadata["check"]
            if check is not None and given is not None and given is not each.default:
                object.__setattr__(self, each.name, check(each.name, given))
        self._require()

    def _require(self) -> None:
        """Raise an error if the fields contradict each other; this needs no table."""
        if self.epsilon is not None and self.error_at_most is not None:
            raise ParameterError("give ⟨epsilon⟩ or ⟨error_at_most⟩, not both")
        if self.epsilon is None and self.error_at_most is None:
            raise ParameterError(
                "give ⟨epsilon⟩, or ⟨error_at_most⟩ to use the smallest ε that achieves it"
            )

    @property
    def total(self) -> Fraction:
        """The ε of the whole question."""
        assert isinstance(self.epsilon, Fraction)
        return self.epsilon

    @property
    def title(self) -> str:
        """The question in a few words."""
        return self.kind.replace("_", " ")

    @abstractmethod
    def plan(self, setting: Setting) -> Plan:
        """Plan the question; no row is read and nothing is paid."""

    def public_values(self, _table: Table) -> dict[str, list[Any]]:
        """Return public values of each column, from which a rehearsal invents rows."""
        return {}

    def public_rows(self, _setting: Setting, _bits: Bits) -> Any:
        """Return public rows for a rehearsal, of the table's type; None to use invented rows in DuckDB."""
        return None

    def changed(self, **fields: Any) -> Self:
        """Return a copy of the question with new values for these fields."""
        return dataclasses.replace(self, **fields)

    def given(self, name: str, answer: Any) -> Question:
        """Return a copy of the question with an earlier answer as the value of the field ``name``."""
        return self.changed(**{name: answer})

    def stated(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults."""
        pairs = ((each, getattr(self, each.name)) for each in fields_of(type(self)))
        return {each.name: given for each, given in pairs if not _same(given, each.default)}

    def __repr__(self) -> str:
        positional = [each.name for each in dataclasses.fields(self) if not each.kw_only]
        words = (
            _written(given) if name in positional else f"{name}={_written(given)}"
            for name, given in self.stated().items()
        )
        return f"{type(self).__name__}({', '.join(words)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain data for JSON; dates, decimals and bytes keep their type."""
        numbers = {
            each.name
            for each in dataclasses.fields(self)
            if each.metadata["takes"].startswith("NUMBER")
        }
        return {"kind": self.kind} | {
            name: _number(name, given) if name in numbers else _plain(name, given)
            for name, given in self.stated().items()
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Question:
        """Make a question from its plain data, with the usual checks; nothing is imported or opened."""
        if not isinstance(data, Mapping):
            raise refuse("question", data, "a mapping with the name of a kind")
        given = dict(data)
        kind = given.pop("kind", None)
        if not isinstance(kind, str) or kind not in KINDS:
            raise refuse("kind", kind, "one of " + ", ".join(KINDS))
        known = {each.name: each for each in dataclasses.fields(KINDS[kind])}
        for name in given:
            if name not in known:
                raise ParameterError(
                    f"{kind} has no field {echo(name)}; it has {', '.join(sorted(known))}"
                )
        _require_complete(KINDS[kind], given)
        return KINDS[kind](**{name: _read(name, each) for name, each in given.items()})


def _same(given: Any, default: Any) -> bool:
    try:
        return type(given) is type(default) and bool(given == default)
    except Exception:  # a frame of candidates compares element by element
        return False


# ---- plain data ------------------------------------------------------------------------------------------

_TAGS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "moment": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "time": (datetime.time, datetime.time.isoformat, datetime.time.fromisoformat),
    "microseconds": (
        datetime.timedelta,
        lambda span: str(span // datetime.timedelta(microseconds=1)),
        lambda text: datetime.timedelta(microseconds=int(text)),
    ),
    "decimal": (Decimal, str, Decimal),
    "number": (Fraction, str, lambda text: finite("number", text)),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
}
"""Values without a JSON type are written under a tag that names their type."""


def _number(name: str, given: Any) -> Any:
    """Convert one or several numbers to JSON without loss: to integers or to text."""
    if isinstance(given, tuple):
        return [_number(name, each) for each in given]
    if not isinstance(given, Fraction):
        return _plain(name, given)
    if given.denominator == 1:
        return int(given)
    return shown(given) if Fraction(shown(given)) == given else str(given)


def _plain(name: str, given: Any) -> Any:
    if isinstance(given, Question):
        return given.to_dict()
    if isinstance(given, tuple):
        return [_plain(name, each) for each in given]
    if isinstance(given, bool | str | int | None) or (
        isinstance(given, float) and math.isfinite(given)
    ):
        return given
    if isinstance(given, Grid):
        return {"grid": [_plain(name, each) for each in (given.lower, given.upper, given.step)]}
    for tag, (kind, write, _) in _TAGS.items():
        if isinstance(given, kind):
            return {tag: write(given)}
    named = by_name(name, given)
    if isinstance(named, str):
        return named
    raise ParameterError(
        f"⟨{name}⟩ holds {type(given).__name__}, which cannot be written as plain data: give a list or the "
        "name of something registered"
    )


def _read(name: str, given: Any) -> Any:
    if isinstance(given, list):
        return tuple(_read(name, each) for each in given)
    if not isinstance(given, Mapping):
        return given
    if "kind" in given:
        return Question.from_dict(given)
    tag, written = next(iter(given.items()), (None, None))
    try:
        if len(given) == 1 and tag == "grid" and isinstance(written, list):
            return Grid(*(finite(name, _read(name, each)) for each in written))
        if len(given) == 1 and tag in _TAGS and isinstance(written, str):
            return _TAGS[tag][2](written)
    except (ValueError, ArithmeticError, TypeError):
        pass
    raise ParameterError(
        f"⟨{name}⟩ holds {echo(given)}, which is not allowed: give plain data, or one value under "
        f"{', '.join(['grid', *_TAGS])}"
    )


def _written(given: Any) -> str:
    if isinstance(given, tuple):
        if len(given) > _MOST_SHOWN:
            few = ", ".join(map(_written, given[:3]))
            return f"[{few}, ..., {_written(given[-1])} ({len(given):,} in all)]"
        return f"[{', '.join(map(_written, given))}]"
    if isinstance(given, Fraction):
        number = str(_number("", given))
        return f"'{number}'" if "/" in number else number
    return repr(given)
