"""``discreet demo`` and ``demo-data``: one private selection, and data of an invented clinic."""

from __future__ import annotations

from typing import Any

from discreet._cli.commands import argument, command, option
from discreet._cli.output import console, say_either


@command("demo")
@option("--epsilon NUMBER", "What the release may cost.", default="0.25")
def demo(*, epsilon: str) -> None:
    """Show one private answer, its guarantee in plain words, and the cost of other choices.

    Example: discreet demo --epsilon 0.5
    """
    from discreet.demo import show

    show(epsilon, console())


@command("demo-data")
@argument("[FOLDER]", "Where to write the files.", default="clinic")
@option("--people COUNT", "How many patients.", default=2000)
@option("--seed SEED", "The same seed gives the same clinic.", default="2024")
@option("--format NAME", "csv or parquet.", name="form", default="csv")
@option("--force", "Overwrite existing files of these names.")
@option("--json", "Print the files as JSON.")
def demo_data(folder: str, *, json: bool, **settings: Any) -> None:
    """Write the tables of an invented clinic and their public lists.

    Example: discreet demo-data clinic --people 5000 --format parquet
    """
    from discreet.demo_data import write_clinic

    files = [str(path) for path in write_clinic(folder, **settings)]
    say_either("\n".join(files), files, json=json)
