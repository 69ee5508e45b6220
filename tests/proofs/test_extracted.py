"""The sampler extracted from Coq and our plain sampler agree on the same tapes of bits.

Coq proves the law of the extracted sampler, given whole numbers on both sides of 2^w·e^−γ, which come from
balls here.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb, ctx

from discreet._exact.sampling import TapeBits, TapeExhausted
from tests.tools.sampling import plain
from tests.tools.theorems import PROOFS

WIDEST = 60
"""OCaml's whole numbers have 62 bits."""
CASES = {
    "two": [Fraction(0), Fraction(1, 2)],
    "a tie, a third and one far behind": [Fraction(0), Fraction(0), Fraction(1, 3), Fraction(9)],
    "one alone": [Fraction(0)],
    "five": [Fraction(3, 7), Fraction(0), Fraction(2), Fraction(1, 100), Fraction(5)],
}


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extracted sampler, compiled."""
    if shutil.which("ocamlfind") is None and not os.environ.get("DISCREET_REQUIRE_SERVICES"):
        pytest.skip("OCaml is not installed")
    folder = tmp_path_factory.mktemp("extracted")
    for name in ("sampler.ml", "tapes.ml"):
        shutil.copy(PROOFS / "extracted" / name, folder)
    command = ["ocamlfind", "ocamlopt", "-w", "-a", "sampler.ml", "tapes.ml", "-o", "tapes"]
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    return folder / "tapes"


def around(gamma: Fraction, width: int) -> tuple[int, int]:
    """Return the whole numbers on both sides of 2^width·e^−γ."""
    with ctx.workprec(400):
        value = (arb(-gamma.numerator) / gamma.denominator).exp() * arb(2) ** width
        low, high = value.floor().unique_fmpz(), value.ceil().unique_fmpz()
    assert low is not None
    assert high is not None
    return int(low), int(high)


def by_ocaml(
    program: Path, gammas: list[Fraction], tapes: list[str], *, width: int, step: int
) -> list[str]:
    """Return the extracted sampler's result for each tape, and the number of bits used."""
    lines = [f"{step} {width} {len(gammas)}"]
    for gamma in gammas:
        widths = range(width, WIDEST + 1, step)
        lines += [" ".join(map(str, (wide, *around(gamma, wide)))) for wide in widths]
        lines.append(".")
    told = "\n".join([*lines, *tapes, ""])
    run = subprocess.run([program], input=told, check=True, capture_output=True, text=True)
    return run.stdout.splitlines()


def by_python(gammas: list[Fraction], tapes: list[str], *, width: int, step: int) -> Iterator[str]:
    """Return the plain sampler's result for each tape, and the number of bits used."""
    for tape in tapes:
        bits = TapeBits(map(int, tape))
        try:
            answer = plain.uniform_head(gammas, bits, width=width, step=step)
        except TapeExhausted:
            yield "-"
        else:
            yield f"{answer} {len(tape) - bits.left}"


@pytest.mark.parametrize("case", CASES)
def test_every_short_tape_has_the_same_answer_after_as_many_bits(
    extracted: Path, case: str
) -> None:
    tapes = [
        "".join(bits) for length in range(1, 13) for bits in itertools.product("01", repeat=length)
    ]
    same = {"width": 2, "step": 1}
    found = by_ocaml(extracted, CASES[case], tapes, **same)
    assert found == list(by_python(CASES[case], tapes, **same))
    assert {line.split()[0] for line in found} - {"-"} >= {"0"}


def test_a_hundred_thousand_random_tapes_have_the_same_answer(extracted: Path) -> None:
    made = random.Random(20261117)  # noqa: S311 - tapes that anybody can make again
    for gammas, (width, step) in zip(CASES.values(), [(4, 4), (8, 8), (3, 1), (6, 2)], strict=True):
        tapes = [f"{made.getrandbits(48):048b}" for _ in range(25_000)]
        found = by_ocaml(extracted, gammas, tapes, width=width, step=step)
        assert found == list(by_python(gammas, tapes, width=width, step=step))
        assert found.count("-") < len(tapes) / 100


def test_a_bit_more_is_seen(extracted: Path) -> None:
    """A planted sampler that reads one more bit has the same law, but on other tapes."""
    tapes = ["".join(bits) for bits in itertools.product("01", repeat=10)]
    found = by_ocaml(extracted, CASES["two"], tapes, width=2, step=1)
    assert found != list(by_python(CASES["two"], tapes, width=3, step=1))
    assert found != list(by_python(CASES["two"][::-1], tapes, width=2, step=1))
