"""Two thousand recorded questions behave as before, or differ for a reason that is listed here.

``tests/tools/recorded_questions.py`` says what is recorded. Every tenth case is asked again with the same
scripted bits. Each difference must match one rule, with its reason; everything else must be equal.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from discreet import errors
from discreet.errors import DiscreetError
from discreet.questions.question import KINDS, fields_of
from tests.tools.recorded_questions import Tables, outcome, recorded

EVERY = 10
Told = dict[str, Any]

MORE = "an answer says its question in words and how good it is"
EARLIER = "a question is checked when it is made, before its table"
NO_SUCH = "a question has no parameter that it has no field for"
ORDER = "one source of bits: groups or their bound first, then each group with what goes with it"
PURPOSE = (
    "the ledger writes the whole question down, also where groups or their bound are found first"
)
WHOLE = "one theorem covers all of an answer, and no page of it is hidden by what was found first"
PROVED = "an event names pages where it named none, and theorems where it was proved on paper"
FINER = "of several quantiles, people who share a value are told apart by more coins"
WEIGHED = "groups are found by weights where a person may be in several"
HASH = "DuckDB counts frames of Polars and pandas, and draws by its own hash"
REMARK = (
    "a remark on a large ε or δ, on an answer at a bound or on no list, and on what order costs"
)
SETS = "several without their order are chosen as a set"
BITS = "the coins of a whole grid of candidates are told apart by their first bits"
REASONS = {
    MORE,
    EARLIER,
    NO_SUCH,
    ORDER,
    PURPOSE,
    WHOLE,
    SETS,
    PROVED,
    FINER,
    WEIGHED,
    HASH,
    REMARK,
    BITS,
}
_DRAWN_ANEW = {"quantiles": FINER, "quantile": BITS, "median": BITS}
THEOREMS = (
    "answer_pure_dp",
    "found_groups_approx_dp",
    "unknown_domain_rounds_approx_dp",
    "unknown_domain_then_approx_dp",
    "average_approx_dp",
)

REMARKS = (
    "is a bound of the grid",
    "are public, as stated",
    "stands for all values not on the list",
    "the guarantee may not hold",
    "Releasing the order costs accuracy",
    "means that text, not the dates in",
    "that spell a date count for the",
)
DRAWN = {"answer", "count", "gap", "people"}
BOUNDED = {"assigned", "rules", "count_within", "people_within"}
GROUPED = {"by", "labels", "ordered"}


def finds_first(case: Told) -> bool:
    """Return whether groups, or a bound on them, are found before the question is asked."""
    return "by" in case and ("groups" not in case or case.get("groups_per_person") == "choose")


def draws_elsewhere(case: Told) -> bool:
    """Return whether people's groups or values are drawn, which a frame's library no longer does."""
    few = "by" in case and case.get("groups_per_person", 1) != len(case.get("groups", ()))
    drawn = few or case.get("per_person") == "random"
    return drawn and "user" in case and case.get("engine") in ("polars", "pandas")


def fields(case: Told) -> set[str]:
    """The fields of the question."""
    return {each.name for each in fields_of(KINDS[case["question"]])}


def refusal(case: Told) -> str | None:
    """Return the error raised when the question is made; no table is needed."""
    given = {name: each for name, each in case.items() if name in fields(case)}
    try:
        KINDS[case["question"]](**given)
    except DiscreetError as error:
        return str(error)
    return None


def better_proved(old: str, new: str) -> bool:
    """Return whether the new proof names a theorem, or all the old pages except those about one choice."""
    of_one = {f"docs/proofs/{name}.md" for name in ("permute-and-flip", "noisy-max-laplace")}
    pages = set(old.partition(": ")[0].split(", ")) - of_one
    on_paper = "proved on paper" in new and pages <= set(new.partition(": ")[0].split(", "))
    return new != old and (on_paper or any(name in new for name in THEOREMS))


def with_old_proofs(old: Told, new: Told) -> Told:
    """Return what a case does now, but with the recorded proofs wherever the new proofs are better."""
    if "guarantee" in new and better_proved(old["guarantee"]["proof"], new["guarantee"]["proof"]):
        assert new["guarantee"]["rests_on"] != old["guarantee"]["rests_on"]
        told = {name: old["guarantee"][name] for name in ("proof", "rests_on")}
        new = new | {"guarantee": new["guarantee"] | told}
    if "event" in new and better_proved(old["event"]["proof"], new["event"]["proof"]):
        new = new | {"event": new["event"] | {"proof": old["event"]["proof"]}}
    return new


def as_before(case: Told, old: Told, new: Told) -> tuple[Told, str | None]:
    """Return what a case does now, minus one known difference, and its reason; None if there is none."""
    as_told = with_old_proofs(old, new)
    if as_told != new:
        return as_told, WHOLE
    before, now = (each.get("event", {}).get("proof", "") for each in (old, new))
    proved = before == "None" or ("on paper" in before and "checked by Coq" in now)
    if before != now and proved:
        return {**new, "event": {**new["event"], "proof": before}}, PROVED
    if (by_weights := "kept by the weights of their people") in new["mechanism"]:
        assert finds_first(case)
        assert case["groups_per_person"] > 1
        counted = json.dumps(new).replace(by_weights, "kept by their number of people")
        # The event also has the ρ of the noise, and the probability with which that ρ may fail.
        as_counted = json.loads(
            re.sub(r"ApproxZCDP\(([^,]*, [^,]*), [^)]*\)", r"ApproxDP(\1)", counted)
        )
        same = as_counted["answer"] == old["answer"]
        return as_counted | ({"rules": old["rules"]} if same else {}), WEIGHED
    return new, None


def reasons(case: Told, old: Told, new: Told) -> set[str]:
    """Return why a case may differ from its record; raise if nothing explains it."""
    if "error" in old:
        assert "error" in new, "what was refused is answered"
        if new["error"] == "UnknownParameterError":
            assert new["words"].split("=")[0] in case.keys() - fields(case)
            return {NO_SUCH}
        if new["words"] == old["words"]:
            assert issubclass(getattr(errors, new["error"]), getattr(errors, old["error"]))
            return set()
        assert new["words"] == refusal(case), "another error, and not one of making the question"
        return {EARLIER}
    assert "error" not in new, "what was answered is refused"
    as_told, why = as_before(case, old, new)
    if why is not None:
        return reasons(case, old, as_told) | {why}
    differ = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    found = {MORE} if differ & {"title", "accuracy"} else set()
    assert not {"title", "accuracy"} & old.keys()
    differ -= {"title", "accuracy"}
    if case["question"] == "top_k" and "over sets" in new["mechanism"]:
        assert case["ordered"] is False
        assert "method" not in case
        assert old["mechanism"] == "joint exponential mechanism"
        words = [each["guarantee"]["words"] for each in (old, new)]
        assert words[0] == words[1], "another price"
        return found | {SETS}
    without = [rule for rule in new["rules"] if not any(sign in rule for sign in REMARKS)]
    if "rules" in differ and without == old["rules"]:
        differ.remove("rules")
        found.add(REMARK)
    if "event" in differ:
        told = {"purpose": old["event"]["purpose"]}
        assert new["event"] | told == old["event"], "another event is paid"
        assert finds_first(case)
        assert "purpose" not in case
        assert new["event"]["purpose"].endswith(old["event"]["purpose"].split(", ")[-1])
        differ.remove("event")
        found.add(PURPOSE)
    allowed: set[str] = set()
    if finds_first(case):
        # Another bound may be chosen; the price does not depend on it.
        chosen = case.get("groups_per_person") == "choose"
        other_groups = list(old["answer"]) != list(new["answer"])
        allowed = DRAWN | (BOUNDED if chosen or other_groups else set())
        allowed |= set() if old["answer"] and new["answer"] else GROUPED
    elif "by" in case:
        allowed = DRAWN if "with_people" in case else set()
    if case["question"] in _DRAWN_ANEW and differ:
        allowed |= DRAWN
        found.add(_DRAWN_ANEW[case["question"]])
    if draws_elsewhere(case) and differ:
        allowed |= DRAWN
        found.add(HASH)
    if differ:
        assert differ <= allowed, f"not expected to differ: {differ - allowed}"
        found |= set() if found & {HASH, FINER, BITS} else {ORDER}
    return found


@pytest.fixture(scope="module")
def cases() -> dict[str, Told]:
    every = list(recorded().items())
    assert len(every) == 2000
    return dict(every[::EVERY])


def test_every_tenth_question_does_what_it_did(cases: dict[str, Told], tmp_path: Path) -> None:
    tables, given = Tables(tmp_path), set[str]()
    for key, old in cases.items():
        case = json.loads(key)
        new = json.loads(json.dumps(outcome(case, tables)))
        if new == old:
            continue
        try:
            given |= reasons(case, old, new)
        except AssertionError as unexplained:
            raise AssertionError(f"{unexplained}\n{key}\nwas {old}\nis  {new}") from None
    assert given == REASONS, "a reason that explains nothing any more goes"


def test_a_difference_without_a_reason_is_seen(cases: dict[str, Told]) -> None:
    key, old = next((key, old) for key, old in cases.items() if "event" in old and "by" not in key)
    case = json.loads(key)
    planted: list[Told] = [
        {"answer": "another"},
        {"rules": [*old["rules"], "one more"]},
        {"guarantee": old["guarantee"] | {"proof": "another"}},
        {"guarantee": old["guarantee"] | {"proof": "answer_pure_dp, checked by Coq"}},
        {"event": old["event"] | {"count": 7}},
        {"event": old["event"] | {"purpose": "another"}},
        {"error": "ParameterError", "words": "no"},
    ]
    for change in planted:
        with pytest.raises(AssertionError):
            reasons(case, old, old | change)
    assert reasons(case, old, old | {"title": "said", "accuracy": {}}) == {MORE}
