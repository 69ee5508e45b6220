"""``discreet demo``: one complete private selection on data that ships with the package."""

from __future__ import annotations

from discreet.cli.commands import command, option


@command("demo")
@option("--epsilon NUMBER", "What the release may cost.", default="0.25")
def demo(*, epsilon: str) -> None:
    """Show one private answer, its guarantee in plain words, and what other choices would have cost.

    Example: discreet demo --epsilon 0.5
    """
    from discreet.demo import show

    show(epsilon)
