"""``discreet demo-data``: the files of an invented clinic, for trying things out."""

from __future__ import annotations

from typing import Any

from discreet.cli.commands import argument, command, option
from discreet.cli.output import say, say_json


@command("demo-data")
@argument("[FOLDER]", "Where to write the files.", default="clinic")
@option("--people COUNT", "How many patients.", default=2000)
@option("--seed SEED", "The same seed gives the same clinic.", default="2024")
@option("--format NAME", "csv or parquet.", name="form", default="csv")
@option("--force", "Replace files of these names that hold anything else.")
@option("--json", "Print the files as JSON.")
def demo_data(folder: str, *, json: bool, **settings: Any) -> None:
    """Write the tables of an invented clinic, and the public lists that go with them.

    Example: discreet demo-data clinic --people 5000 --format parquet
    """
    from discreet.demo_data import write_clinic

    files = [str(path) for path in write_clinic(folder, **settings)]
    if json:
        say_json(files)
    else:
        say("\n".join(files))
