"""discreet's mechanisms as genuine OpenDP measurements, to be used inside an OpenDP chain.

This module needs the extra ``opendp``. Like all measurements made from Python callbacks, its measurements
need the features ``contrib`` and ``honest-but-curious``. The module never enables them, but its error message
shows the line to add. Numbers are read as OpenDP reads them: a scale, distance or score given as a float
stands for its exact binary value.

A domain of floats may include infinities; a score that is not finite is refused when the measurement is
invoked, as OpenDP's own selection refuses NaN.

After ``dp.register(make_permute_and_flip)`` OpenDP's context has ``query.permute_and_flip()``. If no scale is
given, the context finds the least scale that its privacy loss allows.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

import numpy as np

from discreet._exact.numbers.exact import non_negative, refuse, whole
from discreet._exact.sampling import SecureBits
from discreet._exact.sampling.noisy_order import noisy_first
from discreet.accounting import Event, compose
from discreet.errors import DiscreetError, ParameterError, ScoresError, missing_extra
from discreet.guarantees import ZCDP, PureDP
from discreet.mechanisms import Exponential, Mechanism, NoisyMax, PermuteAndFlip
from discreet.scores import Scores

_FEATURES = ("contrib", "honest-but-curious")
_NUMBERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "usize", "f32", "f64")
_TO_BE_FOUND: Any = inspect.Parameter.empty
"""Default that means "no scale given"; the signature shows a parameter with this default as required."""

__all__ = [
    "make_exponential",
    "make_noisy_max_laplace",
    "make_permute_and_flip",
    "make_top_k",
    "then_exponential",
    "then_noisy_max_laplace",
    "then_permute_and_flip",
    "then_top_k",
]

_Make = TypeVar("_Make", bound=Callable[..., Any])
_Made: TypeAlias = tuple[Callable[[Scores], Any], Callable[[Fraction], Any]]
"""A function that chooses from scores, and one that returns the guarantee of this choice at a distance."""


def _with_scale_first(make: _Make) -> _Make:
    """Wrap a constructor so that the scale comes before the measure, as OpenDP's context needs.

    The context searches for the value of a parameter without a default and passes it as the first argument.
    Callers may give scale and measure in either order, because they have different types.
    """

    @functools.wraps(make)
    def told_apart(input_domain: Any, input_metric: Any, *given: Any, **options: Any) -> Any:
        _prelude()
        from opendp.mod import Measure

        for value in given:
            is_scale = not (value is None or isinstance(value, Measure) or "scale" in options)
            name = "scale" if is_scale else "output_measure"
            if name in options:
                raise ParameterError(f"⟨{name}⟩ is given twice")
            options[name] = value
        return make(input_domain, input_metric, **options)

    stated = inspect.signature(make)
    domain, metric, measure, scale, *others = stated.parameters.values()
    order = [domain, metric, scale, measure, *others]
    told_apart.__signature__ = stated.replace(parameters=order)  # type: ignore[attr-defined]  # as Python allows
    return told_apart  # type: ignore[return-value]  # it takes what ``make`` takes


@_with_scale_first
def make_permute_and_flip(
    input_domain: Any,
    input_metric: Any,
    output_measure: Any = None,
    scale: object = _TO_BE_FOUND,
    optimize: str = "max",
) -> Any:
    """Make an OpenDP measurement of permute-and-flip, which returns the index of the chosen score.

    Args:
        input_domain: a vector domain of numbers that are not nullable.
        input_metric: the L∞ distance, monotonic or not.
        output_measure: max divergence (the default) or zero-concentrated divergence.
        scale: the noise scale, zero or above; zero gives no guarantee. By default OpenDP's context finds it.
        optimize: ``"max"`` or ``"min"``.

    The privacy map is that of ``docs/proofs/permute-and-flip.md``: for max divergence
    ε = 2·d_in/scale (d_in/scale when monotonic), for zero-concentrated divergence the ρ proved at this ε,
    both rounded up.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> measurement = make_permute_and_flip(*space, scale=2.0)
        >>> measurement([3, 1000, 5]), measurement.map(1)
        (1, 1.0)
    """
    space = input_domain, input_metric, output_measure
    return _selection(lambda exact: PermuteAndFlip(scale=exact, optimize=optimize), *space, scale)


@_with_scale_first
def make_exponential(
    input_domain: Any,
    input_metric: Any,
    output_measure: Any = None,
    scale: object = _TO_BE_FOUND,
    optimize: str = "max",
) -> Any:
    """Make an OpenDP measurement of the exponential mechanism; arguments as for ``make_permute_and_flip``.

    Under zero-concentrated divergence and at a small ε it costs about a quarter as much as permute-and-flip
    (``docs/proofs/exponential.md``).

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> make_exponential(*space, dp.zero_concentrated_divergence(), scale=2.0).map(1) < 0.125
        True
    """
    space = input_domain, input_metric, output_measure
    return _selection(lambda exact: Exponential(scale=exact, optimize=optimize), *space, scale)


@_with_scale_first
def make_noisy_max_laplace(
    input_domain: Any,
    input_metric: Any,
    output_measure: Any = None,
    scale: object = _TO_BE_FOUND,
    optimize: str = "max",
) -> Any:
    """Make an OpenDP measurement of Laplace noisy max; arguments as for ``make_permute_and_flip``.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> make_noisy_max_laplace(*space, scale=2.0)([3, 1000, 5])
        1
    """

    def at(exact: Fraction) -> Mechanism:
        return NoisyMax(scale=exact, optimize=optimize, noise="laplace")

    return _selection(at, input_domain, input_metric, output_measure, scale)


@_with_scale_first
def make_top_k(
    input_domain: Any,
    input_metric: Any,
    output_measure: Any = None,
    scale: object = _TO_BE_FOUND,
    *,
    k: int,
    optimize: str = "max",
) -> Any:
    """Make an OpenDP measurement that privately chooses the ``k`` best scores and returns their indices.

    The best score's index comes first. This is like OpenDP's ``make_noisy_top_k``, but the draw is exact
    (``docs/proofs/top-k.md``). For max divergence each score gets exponential noise once, which costs
    k·2·d_in/scale, or half of that when monotonic. For zero-concentrated divergence the exponential mechanism
    chooses k times among the remaining scores. The other arguments are those of ``make_permute_and_flip``.

    Args:
        k: how many scores are chosen; at most the number of scores.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> measurement = make_top_k(*space, k=2, scale=2.0)
        >>> measurement([3, 1000, 500]), measurement.map(1)
        ([1, 2], 2.0)
    """
    number = whole("k", k)

    def made(exact: Fraction, pure: bool) -> _Made:
        mechanism = (PermuteAndFlip if pure else Exponential)(scale=exact, optimize=optimize)

        def choose(scores: Scores) -> list[int]:
            if len(scores) < number:
                raise ScoresError(f"there are fewer scores than the {number} to be chosen")
            if pure and exact > 0:
                return noisy_first(mechanism.gaps(scores), number, SecureBits())
            return _peeled(scores, mechanism, number)

        def promised(distance: Fraction) -> Any:
            if pure:
                return mechanism.promise_at(number * distance)
            return compose([Event(mechanism.promise_at(distance), count=number)]).zcdp

        return choose, promised

    return _measurement(made, input_domain, input_metric, output_measure, scale, to="Vec<usize>")


def then_permute_and_flip(
    output_measure: Any = None, scale: object = _TO_BE_FOUND, optimize: str = "max"
) -> Any:
    """Return ``make_permute_and_flip`` for use after ``>>``, which supplies the domain and the metric.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> (space >> then_permute_and_flip(scale=2.0))([3, 1000, 5])
        1
    """
    return _partial(make_permute_and_flip, output_measure, scale=scale, optimize=optimize)


def then_exponential(
    output_measure: Any = None, scale: object = _TO_BE_FOUND, optimize: str = "max"
) -> Any:
    """Return ``make_exponential`` for use after ``>>``, like ``then_permute_and_flip``.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> (space >> then_exponential(scale=2.0)).map(1)
        1.0
    """
    return _partial(make_exponential, output_measure, scale=scale, optimize=optimize)


def then_noisy_max_laplace(
    output_measure: Any = None, scale: object = _TO_BE_FOUND, optimize: str = "max"
) -> Any:
    """Return ``make_noisy_max_laplace`` for use after ``>>``, like ``then_permute_and_flip``.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> (space >> then_noisy_max_laplace(scale=2.0)).map(1)
        1.0
    """
    return _partial(make_noisy_max_laplace, output_measure, scale=scale, optimize=optimize)


def then_top_k(
    output_measure: Any = None, scale: object = _TO_BE_FOUND, *, k: int, optimize: str = "max"
) -> Any:
    """Return ``make_top_k`` for use after ``>>``, like ``then_permute_and_flip``.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> (space >> then_top_k(k=2, scale=2.0))([3, 1000, 500])
        [1, 2]
    """
    return _partial(make_top_k, output_measure, scale=scale, k=k, optimize=optimize)


def _partial(make: Callable[..., Any], output_measure: Any, **options: object) -> Any:
    """Return a partial constructor, to which OpenDP's ``>>`` supplies the domain and the metric."""
    _prelude()
    from opendp.mod import _PartialConstructor

    told = {name: value for name, value in options.items() if value is not _TO_BE_FOUND}

    def complete(input_domain: Any, input_metric: Any) -> Any:
        return make(input_domain, input_metric, output_measure, **told)

    return _PartialConstructor(complete)  # type: ignore[no-untyped-call]  # OpenDP's is untyped


def _peeled(scores: Scores, mechanism: Mechanism, k: int) -> list[int]:
    """Make ``k`` choices without replacement, each by ``mechanism`` among the remaining scores."""
    left, chosen = np.arange(len(scores)), list[int]()
    for _ in range(k):
        place = mechanism.select_index(Scores(scores.values[left], range_distance=1))
        chosen.append(int(left[place]))
        left = np.delete(left, place)
    return chosen


def _binary(scale: object) -> Fraction:
    """Return the scale as a fraction; as in OpenDP, a float stands for its exact binary value."""
    exact = non_negative("scale", scale)
    return Fraction(float(scale)) if isinstance(scale, float | np.floating) else exact


def _prelude() -> Any:
    try:
        import opendp.prelude as dp
        from opendp.mod import GLOBAL_FEATURES
    except ImportError:
        raise missing_extra("this needs OpenDP", extra="opendp") from None
    if not set(_FEATURES) <= GLOBAL_FEATURES:
        wanted = ", ".join(f'"{name}"' for name in _FEATURES)
        raise DiscreetError(
            "OpenDP asks you to accept a measurement made from Python callbacks; add the line: "
            f"opendp.prelude.enable_features({wanted})"
        )
    return dp


def _selection(at: Callable[[Fraction], Mechanism], *given: Any) -> Any:
    """Return the measurement that makes one choice; ``at`` returns the mechanism for a scale."""

    def made(exact: Fraction, _pure: bool) -> _Made:
        mechanism = at(exact)
        return mechanism.select_index, mechanism.promise_at

    return _measurement(made, *given, to="usize")


def _measurement(
    made: Callable[[Fraction, bool], _Made],
    input_domain: Any,
    input_metric: Any,
    output_measure: Any,
    scale: Any,
    *,
    to: str,
) -> Any:
    """Return the measurement that ``made`` defines at this scale.

    Without a scale, return OpenDP's partial chain, which finds the scale later.
    """
    dp = _prelude()
    _require_numbers(input_domain)
    widening = _widening(input_metric)
    atoms = input_domain.element_domain.carrier_type
    if input_metric.distance_type != atoms:
        # As in OpenDP's own selection: a distance of another type would be rounded on input.
        raise refuse(
            "input_metric", str(input_metric), f"linf_distance(T={str(atoms)!r}), as the domain is"
        )
    measure = dp.max_divergence() if output_measure is None else output_measure
    if measure not in (dp.max_divergence(), dp.zero_concentrated_divergence()):
        raise refuse(
            "output_measure", str(measure), "max_divergence() or zero_concentrated_divergence()"
        )
    space = input_domain, input_metric, measure
    if scale is _TO_BE_FOUND:
        from opendp.context import PartialChain

        at = functools.partial(_measurement, made, *space, to=to)
        return PartialChain(at)  # type: ignore[no-untyped-call]  # as above
    pure = measure == dp.max_divergence()
    choose, promised = made(_binary(scale), pure)

    def privacy_map(distance: Any) -> float:
        moved = Fraction(distance)
        if moved < 0:
            raise ParameterError(f"⟨d_in⟩{distance!r} is not allowed: it must be 0 or above")
        promise = promised(widening * moved)
        return float(promise.to(PureDP).epsilon if pure else promise.to(ZCDP).rho)

    return dp.m.make_user_measurement(
        *space, lambda values: choose(Scores(values, range_distance=1)), privacy_map, TO=to
    )


def _widening(metric: Any) -> int:
    """Return how far apart two scores can move, as a multiple of the L∞ distance: 1 if monotonic, else 2."""
    from opendp.mod import Metric
    from opendp.prelude import linf_distance

    # OpenDP hides the monotonic flag, so compare with metrics made with and without it.
    if isinstance(metric, Metric) and str(metric).startswith("LInfDistance("):
        for widening, monotonic in ((1, True), (2, False)):
            if metric == linf_distance(T=metric.distance_type, monotonic=monotonic):
                return widening
    raise refuse("input_metric", str(metric), "an L∞ distance, opendp.prelude.linf_distance")


def _require_numbers(domain: Any) -> None:
    """Refuse any domain except vectors of numbers that can be neither null nor NaN."""
    from opendp.mod import AtomDomain, VectorDomain

    element = domain.element_domain if isinstance(domain, VectorDomain) else None
    if not isinstance(element, AtomDomain) or str(element.carrier_type) not in _NUMBERS:
        raise refuse(
            "input_domain", str(domain), "a vector domain of integers or floats, not nullable"
        )
    if element.nan:
        raise refuse(
            "input_domain",
            str(domain),
            "not nullable: make the atoms with atom_domain(..., nan=False)",
        )
