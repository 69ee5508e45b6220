"""``discreet demo-data``: the files of an invented clinic, for trying things out."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo-data")(demo_data)


def demo_data(
    folder: Annotated[str, typer.Argument(help="Where to write the files.")] = "clinic",
    *,
    people: Annotated[int, typer.Option(help="How many patients.")] = 2000,
    seed: Annotated[str, typer.Option(help="The same seed gives the same clinic.")] = "2024",
    form: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
    force: Annotated[
        bool, typer.Option("--force", help="Replace files of these names that hold anything else.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the files as JSON.")] = False,
) -> None:
    """Write the tables of an invented clinic, and the public lists that go with them.

    Example: discreet demo-data clinic --people 5000 --format parquet
    """
    from discreet.demo_data import write_clinic

    written = write_clinic(folder, people=people, seed=seed, form=form, force=force)
    files = [str(path) for path in written]
    if json:
        import json as json_format

        typer.echo(json_format.dumps(files))
    else:
        typer.echo("\n".join(files))
