"""discreet's mechanisms as genuine OpenDP measurements, to be used inside an OpenDP chain.

Needs the extra ``opendp``. Like every measurement made from Python callbacks, these need OpenDP's features
``contrib`` and ``honest-but-curious``; this module never switches them on, it says which line to add.
Numbers are taken as OpenDP takes them: a float scale, distance or score is its binary value.

A domain may be infinite in float atoms; a score that is not finite is refused when the measurement is
invoked, as OpenDP's own selection refuses NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import DiscreetError, ParameterError, missing_extra
from discreet.guarantees import ZCDP, PureDP
from discreet.mechanisms import Exponential, Mechanism, NoisyMax, PermuteAndFlip
from discreet.numbers.exact import non_negative, refuse
from discreet.parameters import explain
from discreet.scores import Scores

_FEATURES = ("contrib", "honest-but-curious")
_NUMBERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "usize", "f32", "f64")

__all__ = [
    "make_exponential",
    "make_noisy_max_laplace",
    "make_permute_and_flip",
    "then_exponential",
    "then_noisy_max_laplace",
    "then_permute_and_flip",
]


def make_permute_and_flip(
    input_domain: Any,
    input_metric: Any,
    output_measure: Any = None,
    *,
    scale: object,
    optimize: str = "max",
) -> Any:
    """Permute-and-flip as an OpenDP measurement that returns the index of the chosen score.

    Args:
        input_domain: a vector domain of numbers, none of them nullable.
        input_metric: the L∞ distance, monotonic or not.
        output_measure: max divergence (the default) or zero-concentrated divergence.
        scale: the noise scale, zero or above; zero promises nothing.
        optimize: ``"max"`` or ``"min"``.

    The privacy map is that of ``docs/proofs/permute-and-flip.md``: for max divergence 2·d_in/scale
    (d_in/scale when monotonic), for zero-concentrated divergence the ρ proved at that ε, both rounded up.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> measurement = make_permute_and_flip(*space, scale=2.0)
        >>> measurement([3, 1000, 5]), measurement.map(1)
        (1, 1.0)
    """
    mechanism = PermuteAndFlip(scale=_binary(scale), optimize=optimize)
    return _measurement(mechanism, input_domain, input_metric, output_measure)


def make_exponential(
    input_domain: Any,
    input_metric: Any,
    output_measure: Any = None,
    *,
    scale: object,
    optimize: str = "max",
) -> Any:
    """The exponential mechanism as an OpenDP measurement; arguments as ``make_permute_and_flip``.

    Under zero-concentrated divergence it costs about a quarter of permute-and-flip
    (``docs/proofs/exponential.md``).

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> make_exponential(*space, dp.zero_concentrated_divergence(), scale=2.0).map(1) < 0.125
        True
    """
    mechanism = Exponential(scale=_binary(scale), optimize=optimize)
    return _measurement(mechanism, input_domain, input_metric, output_measure)


def make_noisy_max_laplace(
    input_domain: Any,
    input_metric: Any,
    output_measure: Any = None,
    *,
    scale: object,
    optimize: str = "max",
) -> Any:
    """Noisy max with Laplace noise as an OpenDP measurement; arguments as ``make_permute_and_flip``.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> make_noisy_max_laplace(*space, scale=2.0)([3, 1000, 5])
        1
    """
    mechanism = NoisyMax(scale=_binary(scale), optimize=optimize, noise="laplace")
    return _measurement(mechanism, input_domain, input_metric, output_measure)


def then_permute_and_flip(
    output_measure: Any = None, *, scale: object, optimize: str = "max"
) -> Any:
    """``make_permute_and_flip`` for the end of a chain, which says the domain and the metric.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> (space >> then_permute_and_flip(scale=2.0))([3, 1000, 5])
        1
    """
    return _partial(make_permute_and_flip, output_measure, scale=scale, optimize=optimize)


def then_exponential(output_measure: Any = None, *, scale: object, optimize: str = "max") -> Any:
    """``make_exponential`` for the end of a chain; as ``then_permute_and_flip``.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> (space >> then_exponential(scale=2.0)).map(1)
        1.0
    """
    return _partial(make_exponential, output_measure, scale=scale, optimize=optimize)


def then_noisy_max_laplace(
    output_measure: Any = None, *, scale: object, optimize: str = "max"
) -> Any:
    """``make_noisy_max_laplace`` for the end of a chain; as ``then_permute_and_flip``.

    Example:
        >>> import opendp.prelude as dp
        >>> dp.enable_features("contrib", "honest-but-curious")
        >>> space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
        >>> (space >> then_noisy_max_laplace(scale=2.0)).map(1)
        1.0
    """
    return _partial(make_noisy_max_laplace, output_measure, scale=scale, optimize=optimize)


def _partial(make: Callable[..., Any], output_measure: Any, **options: object) -> Any:
    """What OpenDP's ``>>`` completes with the domain and the metric on its left."""
    _prelude()
    from opendp.mod import _PartialConstructor

    def complete(input_domain: Any, input_metric: Any) -> Any:
        return make(input_domain, input_metric, output_measure, **options)

    return _PartialConstructor(complete)  # type: ignore[no-untyped-call]  # OpenDP's is untyped


def _binary(scale: object) -> Fraction:
    """The scale as OpenDP reads it: a float is its binary value."""
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


def _measurement(
    mechanism: Mechanism, input_domain: Any, input_metric: Any, output_measure: Any
) -> Any:
    dp = _prelude()
    _require_numbers(input_domain)
    widening = _widening(input_metric)
    atoms = input_domain.element_domain.carrier_type
    if input_metric.distance_type != atoms:
        # As OpenDP's own selection; a distance of another type would be rounded on its way in.
        raise refuse(
            "input_metric", str(input_metric), f"linf_distance(T={str(atoms)!r}), as the domain is"
        )
    measure = dp.max_divergence() if output_measure is None else output_measure
    if measure not in (dp.max_divergence(), dp.zero_concentrated_divergence()):
        raise refuse(
            "output_measure", str(measure), "max_divergence() or zero_concentrated_divergence()"
        )
    pure = measure == dp.max_divergence()

    def choose(values: Any) -> int:
        return mechanism.select_index(Scores(values, range_distance=1))

    def privacy_map(distance: Any) -> float:
        moved = Fraction(distance)
        if moved < 0:
            raise ParameterError(f"⟨d_in⟩{distance!r} is not allowed: it must be 0 or above")
        promise = mechanism.promise_at(widening * moved)
        return promise.to(PureDP).epsilon if pure else promise.to(ZCDP).rho

    return dp.m.make_user_measurement(
        input_domain, input_metric, measure, choose, privacy_map, TO="usize"
    )


def _widening(metric: Any) -> int:
    """How many times the L∞ distance two scores can move apart: once if monotonic, else twice."""
    from opendp.mod import Metric
    from opendp.prelude import linf_distance

    # OpenDP hides the flag; equality with a metric made with it is the answer that cannot be misread.
    if isinstance(metric, Metric) and str(metric).startswith("LInfDistance("):
        for widening, monotonic in ((1, True), (2, False)):
            if metric == linf_distance(T=metric.distance_type, monotonic=monotonic):
                return widening
    raise refuse("input_metric", str(metric), "an L∞ distance, opendp.prelude.linf_distance")


def _require_numbers(domain: Any) -> None:
    """Refuse all but vectors of numbers that can be neither null nor NaN."""
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


explain(globals())
