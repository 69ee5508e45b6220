"""One complete private selection in the terminal, on invented data."""

from __future__ import annotations

import math

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from discreet.guarantees import ZCDP
from discreet.mechanisms import MECHANISMS, Mechanism, PermuteAndFlip
from discreet.scores import Scores

CLINIC = {
    "influenza": 412,
    "common cold": 409,
    "bronchitis": 405,
    "asthma": 396,
    "migraine": 388,
    "hay fever": 371,
    "eczema": 214,
    "gout": 57,
}
"""Patients per diagnosis in an invented clinic; synthetic, so anyone may look at them."""

_BAR, _BESIDES = 34, 30


def show(epsilon: object, console: Console) -> None:
    """Print a private answer, its guarantee in plain words, and what other mechanisms would have cost."""
    width = min(_BAR, max(1, console.width - _BESIDES))
    scores = Scores(CLINIC, sensitivity=1, monotonic=True)
    mechanism = PermuteAndFlip(epsilon=epsilon)
    release = mechanism.release(scores, neighbours="the clinic with one patient more or less")

    console.print("\n[bold]Which diagnosis is the most common in the clinic?[/bold]")
    console.print(
        f"[bold green]▶ {release.answer}[/bold green]   (chosen by {release.mechanism})\n"
    )
    for line in (
        release.guarantee.in_words(),
        f"A household: {release.guarantee.in_words(people=4)}",
        f"Neighbours: {release.neighbours}. No ledger counted this release.",
    ):
        console.print(Padding(line, (0, 0, 0, 2)))
    console.print(
        "\n[bold]Behind the curtain[/bold] [dim](synthetic data, so we may look): "
        "how likely each answer was[/dim]"
    )
    for label, count, chance in zip(
        scores.candidates, scores.values.tolist(), mechanism.probabilities(scores), strict=True
    ):
        bar = "█" * round(width * float(chance)) or "▏"
        marker = "[bold green]▶[/bold green]" if label == release.answer else " "
        console.print(
            f" {marker} {label:<12} {count:>4}  [cyan]{bar:<{width}}[/cyan] {chance:6.1%}"
        )
    console.print()
    console.print(_alternatives(scores, epsilon))
    console.print(
        "[dim]ρ is what counts when many releases are composed: smaller is cheaper.\n"
        "One release: permute-and-flip is best. Many: the exponential mechanism.\n"
        "Exponential randomized response is not offered: its published proof is wrong.[/dim]\n"
    )


def _alternatives(scores: Scores, epsilon: object) -> Table:
    table = Table(
        title=f"What other choices would have cost, at ε = {epsilon}", title_justify="left"
    )
    table.add_column("mechanism", no_wrap=True)
    table.add_column("right answer", justify="right")
    table.add_column("expected error in patients", justify="right")
    table.add_column("ρ (zCDP)", justify="right")
    for factory in MECHANISMS.values():
        mechanism: Mechanism = factory(epsilon=epsilon)
        if mechanism.guarantee(scores).epsilon == math.inf:
            continue  # it promises no pure ε, so it cannot be compared with the others
        chances = mechanism.probabilities(scores)
        gaps = float(scores.values.max()) - scores.values
        rho = mechanism.guarantee(scores, ZCDP).rho
        table.add_row(mechanism.name, f"{chances[0]:.1%}", f"{chances @ gaps:.2f}", f"{rho:.3f}")
    return table
