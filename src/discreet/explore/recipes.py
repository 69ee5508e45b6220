"""The current choices as Python code and as a command, to copy."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from fractions import Fraction

import discreet
from discreet.explore.bars import MOST_BARS
from discreet.explore.choices import Choices
from discreet.explore.settings import is_private


def recipes_for(choices: Choices) -> dict[str, str]:
    """Return the Python code and the command for the copy buttons."""
    return {"python": _python(choices), "command": _command(choices)}


def _python(choices: Choices) -> str:
    decided, epsilon = choices.decided, _quoted(choices.epsilon)
    kind = type(decided).__name__
    compared = ", ".join(json.dumps(name) for name in choices.mechanisms)
    arguments = "".join(
        f", {name}={json.dumps(short(value) if isinstance(value, Fraction) else value)}"
        for name, value in decided.parameters().items()
        if name in ("noise", "variant", "truth", "delta")
    )
    return f"""\
{_imports(kind)}
from discreet.accounting import Event, compose
from discreet.analysis import compare, epsilon_for
{_scores(choices)}

# What to expect. Not private: it reads the scores.
for row in compare(scores, [{compared}], epsilons={epsilon}):
    print(row.mechanism, row.expected_error, row.error_95, row.best_probability)

mechanism = {kind}(epsilon={epsilon}{arguments})
{_release(choices) if decided.private else _NOT_PRIVATE}
"""


_NOT_PRIVATE = "# Not private at any ε: it can be studied, and refuses to release."


def _release(choices: Choices) -> str:
    accuracy = (
        f"error_at_most={_quoted(choices.tolerance)}, with_probability={_quoted(choices.level)}"
    )
    return f"""\
print(epsilon_for(mechanism, scores, {accuracy}))

# What it costs: one release, and all of them.
print(Event.of((mechanism, scores)).guarantee.in_words())
planned = Event(mechanism.promise_at(scores.range_distance), count={choices.releases})
print(compose([planned], delta={_quoted(choices.delta)}))

# The release itself.
print(mechanism.release(scores))"""


def _imports(kind: str) -> str:
    if kind in discreet.__all__:
        return f"from discreet import {', '.join(sorted((kind, 'Scores')))}"
    return f"from discreet import Scores\nfrom discreet.mechanisms import {kind}"


def _scores(choices: Choices) -> str:
    """Return Python code for the scores: a literal if they are few, else a call that reads a file."""
    sensitivity, monotonic = _quoted(choices.sensitivity), choices.monotonic
    if len(choices.labels) > MOST_BARS:
        return f"""\
from discreet._tables.score_files import scores_from_file

scores = scores_from_file("scores.csv", sensitivity={sensitivity}, monotonic={monotonic})"""
    pairs = zip(choices.labels, choices.values.tolist(), strict=True)
    listed = "\n".join(f"        {label!r}: {value!r}," for label, value in pairs)
    return f"""
scores = Scores(
    {{
{listed}
    }},
    sensitivity={sensitivity},
    monotonic={monotonic},
)"""


def _command(choices: Choices) -> str:
    private = [name for name in choices.mechanisms if is_private(name)]
    monotonic = " --monotonic" if choices.monotonic else ""
    scores = f"scores.csv{monotonic} --sensitivity {short(choices.sensitivity)} --not-private"
    accuracy = f"{short(choices.tolerance)} --with-probability {short(choices.level)}"
    compare = f"compare --epsilon {short(choices.epsilon)}{_named(choices.mechanisms)} {scores}"
    plan = f"plan --error-at-most {accuracy}{_named(private)} {scores}"
    return "\n".join(f"discreet {each}" for each in ([compare, plan] if private else [compare]))


def _named(names: Iterable[str]) -> str:
    return "".join(f" --mechanism {name}" for name in names)


def as_csv(choices: Choices) -> str:
    """Return the scores as a CSV file that the command line can read."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["candidate", "score"])
    writer.writerows(zip(choices.labels, choices.values.tolist(), strict=True))
    return file.getvalue()


def _quoted(value: Fraction) -> str:
    return json.dumps(short(value))


def short(value: Fraction) -> str:
    """Return the exact number, as a decimal if that is short, else as a ratio.

    Example:
        >>> short(Fraction(1, 4)), short(Fraction(1, 3))
        ('0.25', '1/3')
    """
    decimal = f"{float(value):.12g}".replace("e-0", "e-")
    return decimal if Fraction(decimal) == value else str(value)
