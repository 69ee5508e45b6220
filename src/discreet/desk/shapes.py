"""What may be asked of a desk: one definition for HTTP, the client, the page's form, OpenAPI and assistants.

A question is checked against the owner's file before anything else happens. Candidates, bounds and columns
are the owner's: a question only names a column, and cannot bring any of its own.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from discreet.desk.owner_file import Column, Kind, OwnerFile, RegisteredScore, SharedTable
from discreet.errors import ParameterError
from discreet.mechanisms import PermuteAndFlip
from discreet.numbers.exact import echo, positive, refuse
from discreet.numbers.printing import figure
from discreet.tables.where import comparisons, parse

_TEXT = Field(max_length=2000)
_NAME = Field(min_length=1, max_length=200)
Number = Annotated[str, Field(max_length=60)] | int | float


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    table: Annotated[str, _NAME] = Field(description="A table of the desk.")
    epsilon: Number = Field(description="What the whole question costs, such as 0.5.")


class AskedScore(_Asked):
    """The candidate with the best score, by a score that the owner registered."""

    kind: Literal["score"]
    score: Annotated[str, _NAME] = Field(description="The name of the score.")
    question: ClassVar[str] = "select_by"
    where: ClassVar[None] = None

    @property
    def about(self) -> str:
        """What is asked about."""
        return self.score

    def terms(self, _table: SharedTable, facts: RegisteredScore) -> dict[str, Any]:
        """The arguments of the question: all but ε are the owner's."""
        return {
            "score": (facts.file, facts.function),
            "candidates": facts.listed(),
            "sensitivity": facts.sensitivity,
            "monotonic": facts.monotonic,
            "optimize": facts.optimize,
            "epsilon": self.epsilon,
        }


class _OfColumn(_Asked):
    needs: ClassVar[str] = "candidates"
    steady: ClassVar[bool] = False

    column: Annotated[str, _NAME] = Field(description="The column to ask about.")
    where: Annotated[str, _TEXT] | None = Field(
        default=None, description='Only rows for which this holds, such as "age >= 18".'
    )
    with_people: bool = Field(
        default=False,
        description="Also a noisy number of the people who counted, for a tenth of epsilon.",
    )

    @property
    def about(self) -> str:
        """What is asked about."""
        return self.column

    @property
    def question(self) -> str:
        """The function of ``discreet.questions``."""
        return str(getattr(self, "kind"))  # noqa: B009  # every kind of question has it

    def terms(self, table: SharedTable, column: Column) -> dict[str, Any]:
        """The arguments of the question, the owner's facts among them."""
        asked = self.model_dump(exclude={"kind", "table", "epsilon"}, exclude_none=True)
        named = {name: value for name, value in asked.items() if value is not False}
        facts = {"epsilon": self.epsilon, **self._facts(column), **self._groups(table)}
        facts |= {"user": table.user, "one_row_per_user": table.one_row_per_user}
        # Answers leave at the end of their slot; where one choice is all there is to time, its time is
        # the same for all data besides.
        if self.steady and not any(name.startswith("with_") for name in named):
            facts["mechanism"] = PermuteAndFlip(epsilon=1, steady=True)
        if table.table is not None:  # a database stops at the end of the slot too
            facts |= {"table": table.table, "time_limit": table.seconds(self.question)}
        return named | facts | {"engine": table.engine}

    def _facts(self, column: Column) -> dict[str, Any]:
        if self.needs == "candidates" and column.candidates is not None:
            return {"candidates": column.listed()}
        return {"bounds": tuple(column.bounds or ()), "step": column.step}

    def _groups(self, table: SharedTable) -> dict[str, Any]:
        by = getattr(self, "by", None)
        return {} if by is None else {"groups": table.column[by].listed()}


class _Grouped(_OfColumn):
    by: Annotated[str, _NAME] | None = Field(
        default=None, description="One answer for each of the listed values of this column."
    )


class AskedMode(_Grouped):
    """The most common value of a column."""

    kind: Literal["mode"]
    steady: ClassVar[bool] = True
    with_count: bool = Field(
        default=False, description="Also a noisy count, for a quarter of epsilon."
    )
    with_gap: bool = Field(default=False, description="Also the noisy lead, at no further cost.")


class AskedTop(_Grouped):
    """The k most common values of a column."""

    kind: Literal["top_k"]
    k: Annotated[int, Field(ge=1, le=10_000)] = Field(description="How many.")
    with_count: bool = Field(
        default=False, description="Also noisy counts, for a quarter of epsilon."
    )


class AskedMedian(_Grouped):
    """The median of a column, on the owner's grid."""

    kind: Literal["median"]
    steady: ClassVar[bool] = True
    needs: ClassVar[str] = "bounds"


class AskedQuantiles(_Grouped):
    """Several quantiles of a column at once, on the owner's grid."""

    kind: Literal["quantiles"]
    needs: ClassVar[str] = "bounds"
    at: Annotated[list[Number], Field(min_length=1, max_length=100)] = Field(
        description="The levels, such as [0.25, 0.5, 0.75]."
    )


class AskedFirst(_OfColumn):
    """The first listed value of a column that more people have than a threshold."""

    kind: Literal["first_above"]
    above: Number = Field(description="The threshold, a number of people.")
    crossings: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="Up to so many of them, not only the first."
    )

    def _facts(self, column: Column) -> dict[str, Any]:
        return {"groups": column.listed()}


Question = Annotated[
    AskedMode | AskedTop | AskedMedian | AskedQuantiles | AskedFirst | AskedScore,
    Field(discriminator="kind"),
]
_QUESTION: TypeAdapter[Any] = TypeAdapter(Question)


def question_from(given: bytes | dict[str, Any]) -> Any:
    """A question from a request, or a ``ParameterError`` that says what is allowed.

    Example:
        >>> question_from({"kind": "mode", "table": "visits", "column": "diagnosis", "epsilon": 0.5}).kind
        'mode'
        >>> question_from({"kind": "median", "table": "visits", "column": "age", "epsilon": 1, "k": 3})
        Traceback (most recent call last):
        discreet.errors.ParameterError: median.k: Extra inputs are not permitted
    """
    try:
        if isinstance(given, bytes):
            return _QUESTION.validate_json(given)
        return _QUESTION.validate_python(given)
    except ValidationError as error:
        said = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5]]
        raise ParameterError("; ".join(said).replace("⟨", "<")) from None


def schema(*, reference: str) -> dict[str, Any]:
    """The JSON schema of a question."""
    return _QUESTION.json_schema(ref_template=reference)


def digest(question: Any) -> str:
    """What two requests have in common that ask the same."""
    plain = json.dumps(question.model_dump(), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def permitted(owner: OwnerFile, analyst: str, question: Any) -> tuple[SharedTable, Any]:
    """The table and the column, or the score, that a question is about, if this analyst may ask it.

    Every refusal follows from the owner's file and the question alone.
    """
    rights = owner.analyst[analyst]
    if question.table not in rights.tables:
        raise refuse("table", question.table, f"one of yours: {', '.join(rights.tables)}")
    table = owner.table[question.table]
    require_affordable(owner, analyst, question.epsilon)
    if question.kind == "score":
        if question.score not in table.score:
            allowed = ", ".join(table.score) or "none is registered"
            raise refuse("score", question.score, f"one of the scores registered here: {allowed}")
        return table, table.score[question.score]
    column = _listed(table, question.column, "column")
    kind: Kind = question.kind
    if question.needs == "bounds" and column.bounds is None:
        raise ParameterError(
            f"⟨column⟩{echo(question.column)} has no bounds here, which a {kind} needs"
        )
    if kind in ("top_k", "first_above") and column.candidates is None:
        raise ParameterError(
            f"⟨column⟩{echo(question.column)} has no listed values here, which {kind} needs"
        )
    by = getattr(question, "by", None)
    if by is not None and _listed(table, by, "by").candidates is None:
        raise ParameterError(f"⟨by⟩{echo(by)} has no listed values here")
    if question.where is not None:
        for comparison in comparisons(parse(question.where)):
            if comparison.column not in table.where:
                allowed = ", ".join(table.where) or "none is"
                raise ParameterError(
                    f"⟨where⟩ names {echo(comparison.column)}; a condition may use these columns: {allowed}"
                )
    return table, column


def require_affordable(owner: OwnerFile, analyst: str, epsilon: object) -> Fraction:
    """The ε of one question, within what the owner allows this analyst."""
    asked = positive("epsilon", epsilon)
    rights = owner.analyst[analyst]
    if not rights.least <= asked <= rights.most:
        least, most = figure(rights.least), figure(rights.most, up=False)
        raise refuse("epsilon", epsilon, f"from {least} to {most} for one question")
    return asked


def _listed(table: SharedTable, name: str, parameter: str) -> Column:
    if name not in table.column:
        allowed = ", ".join(table.column) or "none is listed"
        raise refuse(parameter, name, f"one of the columns listed here: {allowed}")
    return table.column[name]
