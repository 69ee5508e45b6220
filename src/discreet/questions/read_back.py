"""Read a release back from its plain data, as sent by a desk or kept by a ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet import guarantees
from discreet.questions.accuracy import Accuracy
from discreet.questions.answer import Meter, TableRelease


def release_from(data: Mapping[str, Any]) -> TableRelease:
    """Rebuild a release from the plain data that ``TableRelease.as_data`` returned.

    Example:
        >>> from discreet import PureDP
        >>> release = TableRelease(answer="flu", guarantee=PureDP("0.5"), mechanism="permute-and-flip",
        ...                        neighbours="add-remove", entry="clinic #2", rules=("One rule.",))
        >>> release_from(release.as_data()) == release
        True
    """
    fields = dict(data)
    promised = fields.pop("guarantee")
    measure = getattr(guarantees, promised["measure"])
    # A figure was rounded up when it was printed, so it is not rounded again.
    figures = [promised[name] for name in ("epsilon", "rho", "delta") if name in promised]
    for name, kind in (("accuracy", Accuracy), ("meter", Meter)):
        if name in fields:
            fields[name] = kind.from_data(fields[name])
    for name, value in fields.items():
        if isinstance(value, list):
            fields[name] = tuple(value)
        elif isinstance(value, dict):
            fields[name] = {
                key: tuple(item) if isinstance(item, list) else item for key, item in value.items()
            }
    guarantee = measure(*figures)
    if (rests_on := promised.get("rests_on")) is not None:
        pages, theorems = tuple(rests_on["pages"]), rests_on["theorems"]
        guarantee = guarantee.resting_on(
            guarantees.Proof(pages, *theorems, assumes=rests_on["assumes"])
        )
    return TableRelease(guarantee=guarantee, **fields)
