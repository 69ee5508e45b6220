"""A guarantee on the command line: --epsilon, --rho, --delta, and the relation, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli.commands import option, stack

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee

GUARANTEE = stack(
    option("--epsilon NUMBER", "ε; with --delta, an (ε, δ) figure."),
    option("--rho NUMBER", "ρ of zero-concentrated privacy."),
    option("--delta NUMBER", "δ, with --epsilon."),
)


def guarantee_of(
    epsilon: str | None, rho: str | None, delta: str | None, mechanism: str | None = None
) -> Guarantee:
    """What --epsilon, --rho and --delta say together; with a mechanism, what its own proof promises."""
    from fractions import Fraction

    from discreet.errors import ParameterError
    from discreet.guarantees import ZCDP, ApproxDP, PureDP
    from discreet.mechanisms import mechanism_named
    from discreet.numbers.exact import positive

    if (epsilon is None) == (rho is None) or (delta is not None and epsilon is None):
        raise ParameterError("give --epsilon, or --rho, or --epsilon with --delta")
    if mechanism is not None:
        if epsilon is None or delta is not None:
            raise ParameterError("--mechanism goes with --epsilon alone")
        # Built from ε, a mechanism's promise does not depend on the distance.
        return mechanism_named(mechanism, epsilon=epsilon).promise_at(Fraction(1))
    if rho is not None:
        return ZCDP(positive("rho", rho))
    cost = positive("epsilon", epsilon)
    return PureDP(cost) if delta is None else ApproxDP(cost, delta)


def relation_named(neighbours: str) -> str:
    """A relation that a question can be asked under; in Python a ledger may know others."""
    from discreet.accounting.events import ADD_REMOVE, REPLACE
    from discreet.numbers.exact import refuse

    if neighbours not in (ADD_REMOVE, REPLACE):
        raise refuse("neighbours", neighbours, f'"{ADD_REMOVE}" or "{REPLACE}"')
    return neighbours
