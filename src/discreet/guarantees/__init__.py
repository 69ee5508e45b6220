"""What a release promises: the measures, and the only conversions between them."""

from discreet.guarantees.conversions import Proof
from discreet.guarantees.dominated import FlippedCoins, LaplaceDominated
from discreet.guarantees.measures import ZCDP, ApproxDP, BoundedRange, Guarantee, PureDP
from discreet.parameters import explain

__all__ = [
    "ZCDP",
    "ApproxDP",
    "BoundedRange",
    "FlippedCoins",
    "Guarantee",
    "LaplaceDominated",
    "Proof",
    "PureDP",
]

explain(globals())
