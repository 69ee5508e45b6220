"""Options that several commands share, each declared once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet._cli.commands import option, stack

if TYPE_CHECKING:
    from click import Context, Parameter

    from discreet.guarantees import Guarantee


def mechanism_names(_context: Context, _option: Parameter, incomplete: str) -> list[str]:
    """List the registered mechanisms for shell completion."""
    from discreet.mechanisms import MECHANISMS

    return [name for name in MECHANISMS if name.startswith(incomplete)]


ACCURACY, COST, OUTPUT, SCORES_HELP = "Accuracy wanted", "Cost", "Output", "Scores"

JSON = option("--json", "Print JSON.", section=OUTPUT)
NEIGHBOURS = option(
    "--neighbours NAME", "add-remove one person, or replace one.", default="add-remove"
)
MECHANISM = option(
    "--mechanism NAME",
    "A mechanism other than permute-and-flip, e.g. exponential.",
    shell_complete=mechanism_names,
)
MECHANISMS = option(
    "--mechanism NAME",
    "Only this one, e.g. exponential; may be repeated.",
    multiple=True,
    shell_complete=mechanism_names,
)
SENSITIVITY = option(
    "--sensitivity NUMBER",
    "The most by which one person changes a score; 1 by default.",
    section=SCORES_HELP,
)
RANGE_DISTANCE = option(
    "--range-distance NUMBER",
    "Instead of --sensitivity: the most by which one person moves two scores apart.",
    section=SCORES_HELP,
)
MONOTONIC = option(
    "--monotonic", "One person moves all scores in the same direction.", section=SCORES_HELP
)
OPTIMIZE = option(
    "--optimize NAME",
    "max, or min if small scores are good.",
    default="max",
    section=SCORES_HELP,
)
COLUMNS = stack(
    option(
        "--candidate-column COLUMN",
        "By default 'candidate', or the first column.",
        section=SCORES_HELP,
    ),
    option(
        "--score-column COLUMN", "By default 'score', or the second column.", section=SCORES_HELP
    ),
)
NOT_PRIVATE = stack(
    option(
        "--not-private", "Confirm that you know the output is not private.", section=SCORES_HELP
    ),
    option("--public", "Confirm that the data is public.", section=SCORES_HELP),
)
COUNT = stack(
    option("--n COUNT", "Instead of a file: the number of candidates.", section=SCORES_HELP),
    option(
        "--gap NUMBER", "With --n: assume that the best leads by this much.", section=SCORES_HELP
    ),
)
SCORES = stack(MECHANISMS, SENSITIVITY, RANGE_DISTANCE, MONOTONIC, OPTIMIZE, COLUMNS, NOT_PRIVATE)
CHART = option("--chart FILE", "Draw to this file: .png, .svg or .html (offline).", section=OUTPUT)
GUARANTEE = stack(
    option("--epsilon NUMBER", "ε; with --delta, an (ε, δ) figure.", section=COST),
    option("--rho NUMBER", "ρ of zero-concentrated privacy.", section=COST),
    option("--delta NUMBER", "δ, with --epsilon.", section=COST),
)


def guarantee_of(
    *, epsilon: str | None, rho: str | None, delta: str | None, mechanism: str | None = None
) -> Guarantee:
    """Return the guarantee stated by --epsilon, --rho and --delta, or proved for the named mechanism."""
    from fractions import Fraction

    from discreet._exact.numbers.exact import positive
    from discreet.errors import ParameterError
    from discreet.guarantees import ZCDP, ApproxDP, PureDP
    from discreet.mechanisms import mechanism_named

    if (epsilon is None) == (rho is None) or (delta is not None and epsilon is None):
        raise ParameterError("give --epsilon, or --rho, or --epsilon with --delta")
    if mechanism is not None:
        if epsilon is None or delta is not None:
            raise ParameterError(
                "--mechanism needs --epsilon, and cannot be combined with --delta or --rho"
            )
        # The guarantee of a mechanism built from ε does not depend on the distance.
        return mechanism_named(mechanism, epsilon=epsilon).promise_at(Fraction(1))
    if rho is not None:
        return ZCDP(positive("rho", rho))
    cost = positive("epsilon", epsilon)
    return PureDP(cost) if delta is None else ApproxDP(cost, delta)
