"""``discreet demo``: one complete private selection on data that ships with the package."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(epsilon: str = typer.Option("0.25", help="What the release may cost.")) -> None:
    """Show one private answer, its guarantee in plain words, and what other choices would have cost.

    Example: discreet demo --epsilon 0.5
    """
    from discreet.demo import show

    show(epsilon)
