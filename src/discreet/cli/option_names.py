"""Errors of the library, which speaks of ``user=``, in the words of the command line: ``--user``.

Nothing is added to a message but the names of the command's own options, and what an error quotes is left
as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# What the library calls a thing that the command line calls otherwise.
_ALIASES = {"file": "scores", "risk": "tolerated", "samples": "sampled"}

_WORDS = re.compile(
    r"""
    (?P<quoted> (?<==) ['"] .* \.\.\. (?=[ ]is[ ]not[ ]allowed)  # a long value, cut short
      | (?<!\w) (?: '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" ) (?!\w) )
    # Beside a slash, a dot or a colon a word is part of a file's or a module's name.
    | (?<![\w./\\:-]) (?: (?P<before>[a-z_]+) [ ]and[ ] )? (?P<name>[a-z_]+) = (?!=) (?:True\b)?
      (?P<value> (?=[^\s,;:.)]) )?
    | (?<![\w./\\:-]) (?P<long>[a-z]+(?:_[a-z]+)+) (?! \w | [./\\:-]\w )
    """,
    re.VERBOSE,
)
_AGAIN = re.compile(r"^(?P<name>[a-z_]+)=(?P<middle>.* is not allowed: )(?P=name) must ")


def in_options(message: str, names: Mapping[str, str]) -> str:
    """A message with the names of options in place of the names of Python's arguments.

    Example:
        >>> names = {"user": "--user", "error_at_most": "--error-at-most", "n": "--n"}
        >>> in_options("error_at_most='x' is not allowed: error_at_most must be a number", names)
        "--error-at-most 'x' is not allowed: it must be a number"
        >>> in_options("give exactly one of user= and n=, not 'user=3'", names)
        "give exactly one of --user and --n, not 'user=3'"
    """

    def replaced(found: re.Match[str]) -> str:
        if found["quoted"]:
            return found[0]
        if found["long"]:
            return names.get(found["long"], found[0])
        if found["name"] not in names:
            return found[0]
        before = found["before"]
        first = f"{names.get(before, before)} and " if before else ""
        return f"{first}{names[found['name']]}{'' if found['value'] is None else ' '}"

    return _WORDS.sub(replaced, _AGAIN.sub(r"\g<name>=\g<middle>it must ", message))


def names_of(parameters: list[Any]) -> dict[str, str]:
    """For each name that an error may use: how the command line shows that parameter."""
    names = {}
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            names[parameter.name] = parameter.name.upper()
        else:
            shown = max(parameter.opts, key=len)
            names[parameter.name] = names[shown.lstrip("-").replace("-", "_")] = shown
    for library, parameter_name in _ALIASES.items():
        if library not in names and parameter_name in names:
            names[library] = names[parameter_name]
    return names
