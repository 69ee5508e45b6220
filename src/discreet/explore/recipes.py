"""What is on the screen as Python and as a command: for the analyst who goes on from here."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Iterable
from fractions import Fraction

import discreet
from discreet.explore.bars import MOST_BARS
from discreet.explore.choices import Choices
from discreet.explore.settings import is_private


def recipes_for(choices: Choices) -> dict[str, str]:
    """The two texts behind the copy buttons."""
    return {"python": _python(choices), "command": _command(choices)}


def _python(choices: Choices) -> str:
    decided = choices.decided
    kind = type(decided).__name__
    compared = ", ".join(json.dumps(name) for name in choices.mechanisms)
    inline = len(choices.labels) <= MOST_BARS
    lines = [
        *_imports(kind),
        "from discreet.accounting import Event, compose",
        "from discreet.analysis import compare, epsilon_for",
        *([] if inline else ["from discreet.score_files import scores_from_file"]),
        "",
    ]
    lines += _scores(choices) if inline else _reading(choices)
    extra = {
        name: value
        for name, value in decided.parameters().items()
        if name in ("noise", "variant", "truth", "delta")
    }
    arguments = "".join(
        f", {name}={json.dumps(short(value) if isinstance(value, Fraction) else value)}"
        for name, value in extra.items()
    )
    lines += [
        "",
        "# What to expect. Not private: it reads the scores.",
        f"for row in compare(scores, [{compared}], epsilons={_quoted(choices.epsilon)}):",
        "    print(row.mechanism, row.expected_error, row.error_95, row.best_probability)",
        "",
        f"mechanism = {kind}(epsilon={_quoted(choices.epsilon)}{arguments})",
    ]
    if decided.private:
        lines += [
            f"print(epsilon_for(mechanism, scores, error_at_most={_quoted(choices.tolerance)}, "
            f"with_probability={_quoted(choices.level)}))",
            "",
            "# What it costs: one release, and all of them.",
            "print(Event.of((mechanism, scores)).guarantee.in_words())",
            "planned = Event(mechanism.promise_at(scores.range_distance), "
            f"count={choices.releases})",
            f"print(compose([planned], delta={_quoted(choices.delta)}))",
            "",
            "# The release itself.",
            "print(mechanism.release(scores))",
        ]
    else:
        lines += ["# Not private at any ε: it can be studied, and refuses to release."]
    return "\n".join(lines) + "\n"


def _imports(kind: str) -> list[str]:
    if kind in discreet.__all__:
        return [f"from discreet import {', '.join(sorted((kind, 'Scores')))}"]
    return ["from discreet import Scores", f"from discreet.mechanisms import {kind}"]


def _scores(choices: Choices) -> list[str]:
    pairs = zip(choices.labels, choices.values.tolist(), strict=True)
    return [
        "scores = Scores(",
        "    {",
        *(f"        {label!r}: {value!r}," for label, value in pairs),
        "    },",
        f"    sensitivity={_quoted(choices.sensitivity)},",
        f"    monotonic={choices.monotonic},",
        ")",
    ]


def _reading(choices: Choices) -> list[str]:
    return [
        f'scores = scores_from_file("scores.csv", sensitivity={_quoted(choices.sensitivity)}, '
        f"monotonic={choices.monotonic})"
    ]


def _command(choices: Choices) -> str:
    about = [
        "scores.csv",
        *(["--monotonic"] if choices.monotonic else []),
        "--sensitivity",
        short(choices.sensitivity),
        "--not-private",
    ]
    private = [name for name in choices.mechanisms if is_private(name)]
    commands = [
        ["compare", "--epsilon", short(choices.epsilon), *_named(choices.mechanisms), *about]
    ]
    if private:
        aim = [
            "--error-at-most",
            short(choices.tolerance),
            "--with-probability",
            short(choices.level),
        ]
        commands.append(["plan", *aim, *_named(private), *about])
    return "\n".join(shlex.join(["discreet", *words]) for words in commands)


def _named(names: Iterable[str]) -> list[str]:
    return [part for name in names for part in ("--mechanism", name)]


def as_csv(choices: Choices) -> str:
    """The scores as a file that the command line reads."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["candidate", "score"])
    writer.writerows(zip(choices.labels, choices.values.tolist(), strict=True))
    return file.getvalue()


def _quoted(value: Fraction) -> str:
    return json.dumps(short(value))


def short(value: Fraction) -> str:
    """The number as a decimal if it is a short one, else as a ratio: never rounded.

    Example:
        >>> short(Fraction(1, 4)), short(Fraction(1, 3))
        ('0.25', '1/3')
    """
    decimal = f"{float(value):.12g}".replace("e-0", "e-")
    return decimal if Fraction(decimal) == value else str(value)
