"""Guarantees of releases: the measures of privacy, and all conversions between them."""

from discreet.guarantees.conversions import Proof
from discreet.guarantees.dominated import ApproxZCDP, AveragedRange, FlippedCoins, LaplaceDominated
from discreet.guarantees.measures import ZCDP, ApproxDP, BoundedRange, Guarantee, PureDP

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ApproxZCDP",
    "AveragedRange",
    "BoundedRange",
    "FlippedCoins",
    "Guarantee",
    "LaplaceDominated",
    "Proof",
    "PureDP",
]
