"""The list of mechanisms. A new mechanism needs a file, a line here, and a proof page."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from discreet._exact.numbers.exact import refuse
from discreet.errors import NotPrivateError, ParameterError
from discreet.mechanisms.above_threshold import CrossingRule
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.exponential_randomized_response import ExponentialRandomizedResponse
from discreet.mechanisms.large_gap import LargeGap
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.permute_and_flip import PermuteAndFlip

MECHANISMS: dict[str, Callable[..., Mechanism]] = {
    "permute-and-flip": PermuteAndFlip,
    "exponential": Exponential,
    "noisy-max-exponential": partial(NoisyMax, noise="exponential"),
    "noisy-max-laplace": partial(NoisyMax, noise="laplace"),
    "noisy-max-gumbel": partial(NoisyMax, noise="gumbel"),
    "large-gap": LargeGap,
    "exponential-randomized-response": partial(ExponentialRandomizedResponse, variant="complete"),
    "exponential-randomized-response-naive": partial(
        ExponentialRandomizedResponse, variant="naive"
    ),
}
"""Factories by name. Every factory takes ``epsilon=`` or ``scale=``, and ``optimize=``."""

STREAMS: dict[str, Callable[..., CrossingRule]] = {
    "above-threshold": CrossingRule,
    "above-threshold-laplace": partial(CrossingRule, noise="laplace"),
}
"""Factories of rules for a stream of values. Every factory takes ``epsilon=``, ``threshold=``,
``sensitivity=``, ``crossings=`` and ``monotonic=``."""


def mechanism_named(name: str, **parameters: object) -> Mechanism:
    """Return the registered mechanism with this name.

    Example:
        >>> mechanism_named("noisy-max-laplace", epsilon=1)
        NoisyMax(epsilon=1, noise='laplace')
    """
    if not isinstance(name, str) or name not in MECHANISMS:
        raise refuse("mechanism", name, "one of " + ", ".join(MECHANISMS))
    return MECHANISMS[name](**parameters)


Family: TypeAlias = Mechanism | Callable[..., Mechanism] | str
"""A mechanism (its ε is ignored), a class or other factory that takes ``epsilon=``, or a registered name."""


def member(family: Family, epsilon: object, **settings: object) -> Mechanism:
    """Return the mechanism of this family at ``epsilon``; a mechanism given as ``family`` keeps its settings.

    Example:
        >>> member(PermuteAndFlip, 2)
        PermuteAndFlip(epsilon=2)
        >>> member(NoisyMax(epsilon=1, noise="laplace"), "0.5")
        NoisyMax(epsilon=1/2, noise='laplace')
        >>> member("exponential", 1)
        Exponential(epsilon=1)
    """
    if isinstance(family, Mechanism):
        return family.with_epsilon(epsilon)
    if isinstance(family, str):
        return mechanism_named(family, epsilon=epsilon, **settings)
    made = family(epsilon=epsilon, **settings) if callable(family) else None
    if not isinstance(made, Mechanism):
        raise refuse("mechanism", family, "a mechanism, its class, or its registered name")
    return made


def mechanism_at(
    mechanism: Any, epsilon: Fraction, *, optimize: str = "max", besides: str | None = None
) -> Mechanism:
    """Return the private mechanism that a question uses at this ε, by default permute-and-flip.

    ``besides`` names another part of the question that reads the scores or draws noise shown in an answer.
    The timing of that part reveals something about the scores, so a steady mechanism is then refused
    (docs/proofs/sampling.md, lemma 15).
    """
    made = member(PermuteAndFlip if mechanism is None else mechanism, epsilon, optimize=optimize)
    if not made.private:
        raise NotPrivateError(
            f"{made.name} has no privacy guarantee, so it answers no question about data"
        )
    if made.optimize != optimize:
        looks = "largest" if optimize == "max" else "smallest"
        raise ParameterError(
            f'mechanism: ⟨optimize⟩"{made.optimize}" is not allowed: the question looks for the {looks} score'
        )
    if besides is not None and getattr(made, "steady", False):
        raise ParameterError(
            f"mechanism: ⟨steady=True⟩ is not allowed with {besides}, whose time depends on the scores"
        )
    return made
