"""The decision record: the decision and its reasons, in a file that can be verified later."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import shlex
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import __version__
from discreet._displays import counted
from discreet._exact.numbers.printing import figure as cost_figure
from discreet._exact.numbers.printing import jsonable, percent
from discreet.accounting.accountants import COST_UNIT, DELTA_UNIT
from discreet.analysis.charts.style import TITLES
from discreet.errors import ParameterError, ScoresError
from discreet.explore.budget import total
from discreet.explore.choices import Choices, choices_from
from discreet.explore.figures import figures, proof_of
from discreet.explore.recipes import short
from discreet.explore.seen_scores import SeenScores
from discreet.explore.sentences import figure
from discreet.explore.settings import is_private
from discreet.explore.uploads import ScoreFile, UploadStore
from discreet.guarantees import ZCDP

FORMAT = "discreet decision record 1"
_LONGEST = 200
_CLOSE = 1e-9
_WRITTEN = ("purpose", "people", "dataset")
_FIGURES = (
    "expected_error",
    "error_quantile",
    "best_probability",
    "beyond",
    "need",
    "rho",
    "approx",
    "total_pure",
    "total_rho",
    "total_approx",
)


def record_of(
    choices: Choices,
    study: SeenScores,
    *,
    written: Mapping[str, str],
    with_scores: bool,
    date: str = "",
) -> dict[str, Any]:
    """Return the record of one decision; its hash covers all other fields."""
    found = figures(choices, study, seconds=(30.0, 30.0))
    rows = {row["mechanism"]: row for row in found["now"]}
    chosen = rows[choices.choice]
    mechanism = choices.decided
    promise = mechanism.promise_at(choices.range_distance)
    together = total(choices.choice, choices.epsilon, choices.releases, choices.delta)
    everything = together.pure if together.pure.epsilon < math.inf else together.approx
    budget = _budget(choices, chosen) if mechanism.private else None
    dataset = written.get("dataset", "").strip()[:_LONGEST] or "DATASET"
    record = {
        "format": FORMAT,
        "version": __version__,
        "date": date or datetime.datetime.now(datetime.UTC).date().isoformat(),
        **{name: str(written.get(name, ""))[:_LONGEST] for name in _WRITTEN},
        "choices": _choices(choices),
        "scores": {
            "count": len(choices.labels),
            "labels": list(choices.labels) if with_scores else None,
            "values": choices.values.tolist() if with_scores else None,
        },
        "verdict": found["in_one"],
        "guarantee": {
            "private": mechanism.private,
            "one": promise.in_words(),
            "household": promise.in_words(people=4),
            "all": everything.in_words(),
        },
        "proof": {"one": chosen["proof"], "all": proof_of(everything)},
        "figures": {name: chosen[name] for name in _FIGURES},
        "risk": {name: found["risk"][name] for name in ("one", "all")},
        "rejected": [
            {
                "mechanism": TITLES[name],
                "reason": _reason(choices, chosen, row),
                **{kept: row[kept] for kept in _FIGURES},
            }
            for name, row in rows.items()
            if name != choices.choice
        ],
        "budget": budget,
        "command": None
        if budget is None
        else shlex.join(
            ["discreet", "budget", "create", dataset]
            + [part for name, value in budget.items() for part in (f"--{name}", value)]
        ),
    }
    plain: dict[str, Any] = jsonable(record)
    return {**plain, "hash": digest(plain)}


def digest(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the record without its hash.

    Example:
        >>> digest({"a": 1}) == digest({"a": 1, "hash": "any"})
        True
    """
    told = {name: part for name, part in record.items() if name != "hash"}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def entries(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the record as pairs of heading and text, in the order in which to show them."""
    chosen, numbers, promised = record["choices"], record["figures"], record["guarantee"]
    name = TITLES[chosen["choice"]]
    if not promised["private"]:
        name += ": NOT PRIVATE, it has no guarantee and refuses to release"
    direction = "all in the same direction" if chosen["monotonic"] else "in any direction"
    listed = [
        ("Decision", record["verdict"] + _tolerated(record)),
        ("Date (UTC)", record["date"]),
        ("Mechanism", name),
        ("ε of one release", chosen["epsilon"]),
        (
            "Scores",
            f"{counted(record['scores']['count'], 'candidate')}, invented or declared public",
        ),
        (
            "One person",
            f"moves each score by at most Δ = {chosen['sensitivity']}, {direction}. {promised['one']}",
        ),
        ("A household of four", promised["household"]),
        (
            "The one release"
            if chosen["releases"] == 1
            else f"All {chosen['releases']:,} releases",
            promised["all"],
        ),
        *[
            (what, proof)
            for what, proof in (
                ("What one release rests on", record.get("proof", {}).get("one")),
                ("What all releases rest on", record.get("proof", {}).get("all")),
            )
            if proof is not None
        ],
        (
            "All releases at δ",
            f"ε = {_seen(numbers['total_approx'])} at δ = {chosen['delta']}; "
            f"ρ = {_seen(numbers['total_rho'])} of zero-concentrated privacy (zCDP)",
        ),
        (
            "Accuracy",
            f"expected error {figure(numbers['expected_error'])}; {percent(float(chosen['level']))} of "
            f"answers within {figure(numbers['error_quantile'])} of the best score; the best candidate in "
            f"{percent(numbers['best_probability'], up=False)} of releases",
        ),
        ("Surest attacker", _surest(record["risk"], chosen["releases"])),
    ]
    listed += [(f"Rejected: {one['mechanism']}", one["reason"]) for one in record["rejected"]]
    if record["command"]:
        listed.append(("Budget", record["command"]))
    listed.append(("Basis", f"discreet {record['version']}, before any budget was spent"))
    listed.append(("Hash of the record", record["hash"]))
    return listed


def problems(record: object, *, scores: ScoreFile | None = None) -> list[tuple[str, str]]:
    """Check a record; return each check with the problem found, or with an empty text.

    The numbers are recomputed from the scores in the record, or from ``scores`` if the record has none.
    """
    if not isinstance(record, Mapping) or record.get("format") != FORMAT:
        raise ParameterError("this is not a decision record that this version of discreet can read")
    try:
        wrong = (
            "" if digest(record) == record["hash"] else "the record was changed after it was made"
        )
        checked = [("hash", wrong)]
        kept = record["scores"]
        if kept["values"] is not None:
            values = np.array(kept["values"])
            scores = ScoreFile("record", tuple(kept["labels"]), values)
        if scores is None:
            raise ParameterError("the record has no scores: give the file with --scores")
        uploads = UploadStore()
        # Records of older versions have no tolerated risk, and their numbers do not need it.
        given = {
            "risk": "0.9",
            **record["choices"],
            "source": f"file:{uploads.put(scores)}",
            "edits": {},
        }
        choices = choices_from(given, uploads)
        again = record_of(
            choices,
            SeenScores(choices.values),
            written={name: record[name] for name in _WRITTEN},
            with_scores=kept["values"] is not None,
            date=record["date"],
        )
    except ParameterError:
        raise
    except (KeyError, TypeError, ValueError, ScoresError):
        raise ParameterError("the record is damaged: parts of it are missing") from None
    for part in ("guarantee", "figures", "risk", "budget", "command", "verdict", "rejected"):
        same = _same(record.get(part), again[part])
        checked.append((part, "" if same else f"discreet {__version__} computes other numbers"))
    return checked


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=1e-12)
    return bool(one == other)


def _choices(choices: Choices) -> dict[str, Any]:
    amounts = ("epsilon", "sensitivity", "delta", "tolerance", "level")
    return {
        **{name: short(getattr(choices, name)) for name in amounts},
        "monotonic": choices.monotonic,
        "releases": choices.releases,
        "mechanisms": list(choices.mechanisms),
        "choice": choices.choice,
        "worlds": choices.worlds,
        "missing": choices.steps == 2,
        "risk": short(choices.tolerated),
    }


def _budget(choices: Choices, row: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of ``discreet budget create`` that set a cap for the planned releases."""
    pure, approx = row["total_pure"], row["total_approx"]
    if pure == "inf":  # every release has a δ, so both ε and δ add up
        return {
            "epsilon": _multiple(choices.epsilon, choices.releases, COST_UNIT),
            "delta": _multiple(choices.delta / choices.releases, choices.releases, DELTA_UNIT),
            "accountant": "epsilon-delta",
        }
    if approx < pure:
        rho = choices.decided.promise_at(choices.range_distance).to(ZCDP).exact
        return {"rho": _multiple(Fraction(rho), choices.releases, COST_UNIT)}
    return {"epsilon": _multiple(choices.epsilon, choices.releases, COST_UNIT)}


def _multiple(each: Fraction, count: int, grid: int) -> str:
    """Return the cost of ``count`` spends, each rounded up to the ledger's grid, as an exact decimal."""
    total_cost = Decimal(math.ceil(each * grid) * count).scaleb(-len(str(grid)) + 1)
    return f"{total_cost.normalize():f}"


def _reason(choices: Choices, chosen: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    if not is_private(row["mechanism"]):
        return "not private at any ε"
    numbers = f"expected error {figure(row['expected_error'])} at ε = {short(choices.epsilon)}"
    if row["need"] is None:
        return f"{numbers}; no ε reaches the accuracy wanted"
    needs = f"needs ε = {figure(row['need'])} for the accuracy wanted"
    if chosen["need"] is not None:
        needs += f" ({TITLES[choices.choice]}: {figure(chosen['need'])})"
    cost = f"all releases cost ε = {_seen(row['total_approx'])} at δ = {short(choices.delta)}"
    return f"{numbers}; {needs}; {cost} ({TITLES[choices.choice]}: {_seen(chosen['total_approx'])})"


def _surest(risk: Mapping[str, Any], releases: int) -> str:
    if risk["one"] == 1:
        return "not bounded by a pure ε"
    one, after = (percent(risk[name], up=True) for name in ("one", "all"))
    most = "all but certain" if risk["all"] > 0.999 else f"at most {after} sure"
    return f"at most {one} sure after one release, {most} after {releases:,}"


def _tolerated(record: Mapping[str, Any]) -> str:
    """Return a sentence that compares the risk with its limit; empty without a guarantee or a limit."""
    if not record["guarantee"]["private"] or "risk" not in record["choices"]:
        return ""
    limit = Fraction(record["choices"]["risk"])
    place = "within" if record["risk"]["all"] <= limit else "more than"
    return f" That is {place} the {percent(float(limit))} tolerated."


def _seen(value: float | str) -> str:
    """Return a cost as text, rounded up."""
    return cost_figure(float(value))
