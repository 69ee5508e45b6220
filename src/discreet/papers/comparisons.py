"""What a paper says, what we compute, and whether the two agree: stated for every figure."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

AGREES = "agrees"
CLOSE = "close"
DIFFERS = "differs"
NEW = "new"
NOT_COMPARED = "not compared"

_CLOSE = 0.02


@dataclass(frozen=True, slots=True)
class Comparison:
    """One number or one statement of a paper beside ours.

    Attributes:
        quantity: what is compared.
        paper: the paper's value or words, in short; empty where the paper has none.
        ours: what we computed.
        difference: ours relative to the paper's, where both are numbers.
        verdict: ``"agrees"`` (equal in the digits printed, or the statement holds), ``"close"`` (within
            two percent), ``"differs"``, ``"new"`` (nothing to compare with) or ``"not compared"`` (synthetic
            data).
        remark: why they differ, or what the number means.
    """

    quantity: str
    paper: str
    ours: str
    difference: str
    verdict: str
    remark: str = ""

    def as_json(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


def number(
    quantity: str, *, paper: str, ours: float, remark: str = "", synthetic: bool = False
) -> Comparison:
    """A printed number beside ours; ``paper`` is as printed, so that its digits are known.

    Example:
        >>> number("ratio", paper="1.84", ours=1.8404).verdict
        'agrees'
        >>> found = number("error", paper="5.4", ours=5.323)
        >>> found.verdict, found.difference
        ('close', '−1.4%')
    """
    if synthetic:
        return Comparison(quantity, paper, shown(ours), "", NOT_COMPARED, "synthetic data")
    decimals = len(paper.partition(".")[2])
    relative = ours / float(paper) - 1
    verdict = CLOSE if abs(relative) <= _CLOSE else DIFFERS
    if f"{ours:.{decimals}f}" == paper:
        verdict = AGREES
    return Comparison(
        quantity, paper, shown(ours), f"{relative:+.1%}".replace("-", "−"), verdict, remark
    )


def statement(
    quantity: str, *, paper: str, ours: str, holds: bool, remark: str = "", synthetic: bool = False
) -> Comparison:
    """Something a paper says in words, and whether our curves bear it out.

    Example:
        >>> statement("ratio", paper="at most 2", ours="1.97", holds=True).verdict
        'agrees'
    """
    if synthetic:
        return Comparison(quantity, paper, ours, "", NOT_COMPARED, "synthetic data")
    return Comparison(quantity, paper, ours, "", AGREES if holds else DIFFERS, remark)


def added(quantity: str, *, ours: str, remark: str = "") -> Comparison:
    """A finding with no counterpart in a paper."""
    return Comparison(quantity, "", ours, "", NEW, remark)


def shown(value: float) -> str:
    """Four significant digits, with a power of ten where the number asks for one.

    Example:
        >>> shown(5.32281), shown(1.2e-40), shown(float("inf"))
        ('5.323', '1.2e-40', '∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.4g}".replace("-", "−") if abs(value) >= 1e-4 or value == 0 else f"{value:.2g}"
