"""What each parameter means and accepts, stated once for all objects in the reference.

A docstring that describes a parameter itself is left as it is. Otherwise the reference takes the words from
here, so that ``epsilon`` means the same everywhere; ``Class.method.name`` is for that one only.
The words of a question's fields stand at the fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from inspect import cleandoc, signature
from textwrap import fill
from types import FunctionType
from typing import Any

from discreet.questions.question import Question, fields_of

NUMBER = "int, float, Fraction, Decimal or str"
_NUMBERS = (
    "epsilon sensitivity delta scale step gap threshold range_distance count_share threshold_share "
    "with_probability t share cost truth expected_error error_at_most risk level delta_for_releases "
    "distance people_share mean shape bound value gap_unit groups_share score_epsilon held_out above "
    "covers unit largest margin at_most sharing time_limit rho beyond"
)
TYPES = dict.fromkeys(_NUMBERS.split(" "), NUMBER) | {
    "bounds": "pair of numbers",
    "steps": NUMBER,
    "candidates": "list of labels, a public range, or the name of a file with one label a line",
    "values": "sequence or array of numbers",
    "stated": "sensitivity=, or range_distance=, and monotonic=, as in Scores",
    "thing": "a release, a pair (mechanism, scores), a guarantee or an event",
    "mechanism": "name of a registered mechanism, a mechanism class, or a mechanism",
    "at": "level, or list of levels",
    "epsilons": "number, list of numbers, or a range ``first:last:count``",
    "url": "path, SQLAlchemy address, or None",
    "parameters": "epsilon= or scale=, and the mechanism's other arguments",
    "groups": "list of public labels, or None",
    "target_edges": "list of numbers, or None",
    "scoring": '"accuracy", or a function of a label and a prediction',
    "target": "the target to predict.",
}
"""Where the code takes any object and checks it, what a person may pass."""

WORDS: Mapping[str, str] = {
    "error": "an error, in the unit.",
    "History.iterable": "the entries, oldest first.",
    "Guarantee.resting_on.direct": "the direct proofs of other measures, by name.",
    "Proof.assumes": "what is taken on trust, each as the end of a sentence.",
    "Proof.then.shows": "whether the step shows what this proof assumes.",
    "Proof.assuming.sentences": "what is taken on trust, each as the end of a sentence.",
    "asking": "the opened table, and which of its rows count.",
    "table": "the declared table.",
    "setting": "the table and the public facts about it.",
    "found": "what was chosen, for each group.",
    "watch": "called with the current step, how much of it is done, and its total.",
    "answer": "the answer to the earlier question.",
    "ledger": "the ledger that counts the budget of ``dataset``, or its address; None for none.",
    "scores": "the candidates' scores, with their sensitivity.",
    "epsilon": "ε of one release: how much one person may change any probability, as a factor e^ε.",
    "ApproxDP.epsilon": "ε, as in pure differential privacy.",
    "rho": "ρ, outside the event.",
    "beyond": "the probability of the event outside which ρ holds.",
    "mechanism": "the mechanism that chooses.",
    "optimize": '"max" if large scores are good, "min" if small ones are.',
    "neighbours": "which data sets count as neighbours: one person added or removed, or replaced.",
    "optimal_mechanism.neighbours": '``"worst"`` (the program of the paper) or ``"all"``.',
    "optimality_chart.neighbours": '``"worst"`` (the program of the paper) or ``"all"``.',
    "x": "the argument of the function.",
    "bits": "the source of random bits.",
    "ExponentialRandomizedResponse.ball_probabilities.bits": "the precision of the ball arithmetic.",
    "Mechanism.ball_probabilities.bits": "the precision of the ball arithmetic.",
    "CrossingRule.sequence_ball.bits": "the precision of the ball arithmetic.",
    "LargeGap.ball_probabilities.bits": "the precision of the ball arithmetic.",
    "StreamSubject.sequence_ball.bits": "the precision of the ball arithmetic.",
    "dataset": "the name of the data set in the ledger.",
    "monotonic": "whether one person moves all scores in one direction.",
    "sensitivity": "Δ: the most by which one person can change a score.",
    "values": "the numbers to ask about, in order.",
    "n": "how many candidates there are.",
    "epsilon_for_threshold.n": "the number of values to ask about.",
    "recommend_threshold.n": "the number of values to ask about.",
    "threshold_errors.n": "the number of values to ask about.",
    "step": "the distance between two points of the grid.",
    "Proof.then.step": "the proof of what follows.",
    "people": "how many people together, a household for example.",
    "clinic.people": "how many patients.",
    "write_clinic.people": "how many patients.",
    "terms": "the terms that all questions share; see ``discreet.questions.Terms``.",
    "AboveThreshold.terms": "options of a watch; see ``discreet.questions.WatchTerms``.",
    "RemoteTable.question.terms": "further options of the question.",
    "delta": "δ: the probability with which the promise may fail.",
    "size": "how many draws.",
    "purpose": "what it is for, in words without data; the ledger keeps them.",
    "data": "the table: a path, a frame, a relation, an Arrow table, a database's address with ``table``.",
    "Scope.data": "a folder with the data sets of a paper, or None for look-alikes.",
    "value": "the value to ask about.",
    "PureDP.value": "ε.",
    "BoundedRange.value": "ε, the width of the range.",
    "ZCDP.value": "ρ.",
    "LaplaceDominated.value": "ε.",
    "FlippedCoins.value": "ε.",
    "AveragedRange.value": "ε, the width of the range given the coins.",
    "_Selection.randomise.value": "None; accepted because diffprivlib accepts it.",
    "_Selection.bias.value": "accepted because diffprivlib accepts it; ignored.",
    "randomness": "the operating system's generator, or ``scripted(seed)`` for a reproducible study.",
    "measure": "the measure in which to state the guarantee.",
    "Exponential.measure": "a public base weight for each candidate, or None for equal ones.",
    "number": "the number to ask about.",
    "Claim.number": "the number in the paper.",
    "bounds": "the least and the greatest value that the grid covers: public.",
    "count": "how many people together, a household for example.",
    "Fixed.count": "how many runs.",
    "Ledger.plan.count": "how many such releases.",
    "seed": "what makes the draws repeatable.",
    "scope": "how much is computed: all of it, or a quick part.",
    "column": "the column to ask about.",
    "range_distance": "d: the most by which two scores can move apart, instead of ``sensitivity``.",
    "unequal": 'how to compare scores with different sensitivities: ``"ratios"`` or ``"largest"``.',
    "k": "the largest gap on the lattice, in steps.",
    "RemoteTable.top_k.k": "how many are chosen.",
    "answers": "the answers in order: crossed or not.",
    "stated": "the sensitivity of the scores, the same for all rows.",
    "noise": 'the noise that is added: "exponential", "laplace" or "gumbel".',
    "steady": "do work that does not depend on the scores, which takes longer.",
    "rows": "the streams of values, one per row.",
    "Comparison.rows": "one for each mechanism and ε.",
    "path": "the path of the file to read or write.",
    "RemoteDesk.call.path": "the path after the desk's address.",
    "worlds": "how many data sets the attacker considers equally likely.",
    "steps": "how many neighbours apart the worlds are.",
    "t": "the error, in units of the score.",
    "gap": "how far the best candidate leads.",
    "name": "the name of the table.",
    "mechanism_named.name": "the registered name.",
    "RemoteTable.score.name": "the name under which the owner registered the score.",
    "claim": "what was claimed.",
    "witness": "the neighbours that refute the claim, or None.",
    "seconds": "how long it took.",
    "quick": "whether only a quick part is computed.",
    "only": "names to select; all if empty.",
    "out": "the folder for the results.",
    "arguments": "as for diffprivlib's class; see its documentation.",
    "budget": "the name of the budget: a data set, or a part such as ``visits/alice``.",
    "crossover_chart.budget": "the budget that the releases share.",
    "event": "one kind of release: a guarantee, or an event with its count.",
    "group": "the declared group of people that the release touches, or None for everyone.",
    "times": "how often each.",
    "at": "the levels between 0 and 1.",
    "mean": "how many runs are expected.",
    "truth": "the probability of answering from the top set.",
    "variant": '"complete" or "naive", as in the paper.',
    "thing": "what was released, or is planned.",
    "rows_per_person": "the most rows that one person has.",
    "reference": "the mechanism to compare with.",
    "risk": "the largest tolerated belief.",
    "posterior_chart.risk": "what ``discreet.analysis.disclosure_risk`` returned.",
    "with_probability": "how often the bound must hold.",
    "level": "how often the error must stay within the bound, between 0 and 1.",
    "symmetric": "whether exchanging candidates must change only labels.",
    "shift_invariant": "whether adding a constant to all scores must change nothing.",
    "Guarantee.resting_on.proof": "the page and the theorems that it rests on.",
    "draws": "how many answers were drawn.",
    "false_alarm": "the largest probability of calling a true claim suspect.",
    "estimate": "the loss as estimated from the draws.",
    "finding": "what the check found.",
    "paper": "the key of the paper.",
    "statement": "what the paper states, in our words.",
    "check": "the function that checks it.",
    "remarks": "what differs from the paper, in words.",
    "synthetic": "whether the data were made up instead of the paper's.",
    "troubles": "what went wrong.",
    "fields": "what was read from JSON.",
    "verdict": "proved by computation, consistent with a search, refuted or not checkable.",
    "covered": "the range on which it was checked.",
    "evidence": "what decides it, in words.",
    "numbers": "the figures behind it.",
    "authors": "who wrote it.",
    "full": "the size of the full computation.",
    "claims": "the claims to check.",
    "papers": "the papers to select; all if empty.",
    "figures": "the figures to draw.",
    "workers": "how many processes draw at once.",
    "report": "a function called with progress.",
    "sequence": "the number of the entry.",
    "hash": "the hash of that entry.",
    "text": "what ``str`` wrote.",
    "periods.text": "the first and the last period, with a colon between.",
    "store": "the open database.",
    "kept": "the columns to keep.",
    "head": "the head of the history, as kept elsewhere.",
    "accountant": "what is added up.",
    "distance": "the L∞ distance between the scores of neighbours.",
    "parameters": "what the mechanism is built from.",
    "lower": "the least value of the grid.",
    "upper": "the greatest value of the grid.",
    "index": "the position on the grid.",
    "candidate_column": "the column of labels; ``candidate``, or the first one.",
    "score_column": "the column of scores; ``score``, or the second one.",
    "X": "the table of features, one row per person.",
    "y": "the target to predict.",
    "features": "the table of features.",
    "target": "the target to predict.",
    "formula": "a function that returns a ball.",
    "share": "the part of all settings that counts as the best.",
    "folder": "where the files go.",
    "form": '"csv" or "parquet".',
    "force": "whether files of the same name are replaced.",
    "candidates": "the public list to choose from.",
    "worst_case_chart.candidates": "the numbers of candidates to compare.",
    "score": "the function that scores a candidate.",
    "comparison": "what ``discreet.analysis.compare`` returned.",
    "mechanisms": "the mechanisms to draw; the usual ones by default.",
    "most": "how many candidates are drawn, from the best down.",
    "releases": "the numbers of releases to compare.",
    "chart": "an Altair chart.",
    "title": "the title.",
    "epsilons": "the values of ε to compare.",
    "kind": "the name of the question.",
    "run": "one private run, which returns a score and a result.",
    "page": "the page in ``docs/proofs``.",
    "theorems": "the theorems that Coq has checked.",
    "engine": "the engine whose SQL is written.",
    "query": "the statement so far.",
    "at_most": "the largest error that is allowed.",
    "thorough": "whether to search longer.",
    "couple": "two neighbouring tables.",
    "place": "the position of the answer.",
    "covers": "the share of the people within the bound.",
    "options": "what was compared, the best first.",
    "margin": "how far values must be from the threshold.",
    "others": "the mechanisms that choose the largest value, to compare with.",
    "crossings": "how many crossings are paid for.",
    "args": "what the mechanism is built from.",
    "kwargs": "what the mechanism is built from, by name.",
    "body": "the plain data to send.",
    "key": "a name for this request, so that it is paid once however often it is sent.",
    "question": "the question as plain data.",
    "desk": "the connected desk.",
    "above": "the number above which a value counts.",
}
"""What a parameter means, unless its docstring says so."""

_SECTION = re.compile(r"^( *)(?:Args|Attributes):\n((?:\1 +.*\n?|\n)+)", re.M)
_OBJECTS = ("object", "object | None", "Any")


def described(text: str) -> dict[str, str]:
    """The parameters that a docstring describes itself, under Args or Attributes, with its words."""
    found: dict[str, str] = {}
    for part in _SECTION.finditer(text):
        entry = rf"^{part[1]}    \**(\w+)(?: \(.*\))?:(\s.*\n?(?:{part[1]}     +.*\n?)*)"
        for name, words in re.findall(entry, part[2], re.M):
            found[name] = " ".join(words.split())
    return found


def parameters_of(thing: Any) -> list[tuple[str, str]]:
    """What a caller passes, each with its annotation as it is written."""
    try:
        known = signature(thing).parameters
    except (TypeError, ValueError):  # made by the interpreter
        return []
    return [
        (name, part.annotation if isinstance(part.annotation, str) else "Any")
        for name, part in known.items()
        if name not in ("self", "cls") and not name.startswith("_")
    ]


def type_for(name: str, annotation: str) -> str | None:
    """What a person may pass where the code says only that it takes an object."""
    return TYPES.get(name) if annotation in _OBJECTS else None


def explain(names: Mapping[str, Any]) -> None:
    """Complete the docstrings of the functions, classes and methods that a module makes public.

    What a docstring leaves out is taken from those of its base classes, then from those of the module's
    public names that it refers to, as in "see ``Terms``", and else from here.

    Example:
        >>> def halve(epsilon: object) -> None:
        ...     "Half of it."
        >>> explain({"__all__": ["halve"], "halve": halve})
        >>> print(halve.__doc__)
        Half of it.
        <BLANKLINE>
        Args:
            epsilon (int, float, Fraction, Decimal or str):
                ε of one release: how much one person may change any probability, as a factor e^ε.
    """
    public = {name: names.get(name) for name in names["__all__"]}
    for part in public.values():
        for owner, thing in _parts(part):
            _complete(owner, thing, public)


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, FunctionType):
        yield thing.__name__, thing
    elif isinstance(thing, type) and not issubclass(thing, BaseException):
        yield thing.__name__, thing
        for base in thing.__mro__:
            if base.__module__.startswith("discreet."):
                for name, part in vars(base).items():
                    inner = getattr(part, "__func__", part)
                    if not name.startswith("_") and isinstance(inner, FunctionType):
                        yield f"{base.__name__}.{name}", inner


def _complete(owner: str, thing: Any, public: Mapping[str, Any]) -> None:
    told = thing.__doc__
    if not told:  # python -OO drops docstrings
        return
    known = described(told)
    missing = [(name, kind) for name, kind in parameters_of(thing) if name not in known]
    elsewhere = _told_elsewhere(thing, public) if missing else {}
    if isinstance(thing, type) and issubclass(thing, Question):
        elsewhere = {each.name: _words_of(each) for each in fields_of(thing)}
    added = [
        _line(name, type_for(name, annotation), words)
        for name, annotation in missing
        if (words := WORDS.get(f"{owner}.{name}") or elsewhere.get(name) or WORDS.get(name))
    ]
    if not added:
        return
    text, lines = cleandoc(told), "\n".join(added)
    section = re.search(r"^(?:Args|Attributes):\n(?:(?: +.*)?\n)*(?: .*)?", text + "\n", re.M)
    if section:
        before, after = text[: section.end()].rstrip(), text[section.end() :]
        thing.__doc__ = f"{before}\n{lines}\n\n{after}".rstrip()
        return
    place = re.search(r"^(?:Returns|Raises|Yields|Examples?):$", text, re.M)
    at = place.start() if place else len(text)
    thing.__doc__ = f"{text[:at].rstrip()}\n\nArgs:\n{lines}\n\n{text[at:]}".rstrip()


def _words_of(field: Any) -> str:
    words: str = field.metadata["description"]
    return words.replace("⟨", "``").replace("⟩", "``")


def _told_elsewhere(thing: Any, public: Mapping[str, Any]) -> dict[str, str]:
    """What base classes say of parameters, and what the public names say that a docstring refers to."""
    family = thing.__mro__ if isinstance(thing, type) else (thing,)
    named = [name for part in family for name in re.findall(r"``(\w+)``", part.__doc__ or "")]
    others = [public[name] for name in named if name in public and public[name] is not thing]
    found: dict[str, str] = {}
    for part in (*family, *others):
        found = described(part.__doc__ or "") | found
    return found


def _line(name: str, kind: str | None, words: str) -> str:
    head = f"    {name} ({kind}):" if kind else f"    {name}:"
    if len(head) + len(words) < 100:
        return f"{head} {words}"
    further = " " * 8
    told = fill(
        words, 100, initial_indent=further, subsequent_indent=further, break_on_hyphens=False
    )
    return f"{head}\n{told}"
