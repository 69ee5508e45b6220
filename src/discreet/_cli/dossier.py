"""``discreet dossier``: documents about a data set, written from its ledger."""

from __future__ import annotations

from discreet._cli.commands import argument, command, option
from discreet._cli.output import say


@command("dossier")
@argument("DATASET", "The data set's name in the ledger.")
@option("--out FOLDER", "Where to write the documents.", default="dossier")
@option("--typed FILE", "The file with the facts that only a person knows: dossier.toml.")
@option("--study FILE", "The file of a study about the data set: study.toml.")
@option("--owner FILE", "The owner's file of the desk that serves it.")
@option("--with-names", "Show the analysts' names.")
@option("--ledger ADDRESS", "The ledger; default: $DISCREET_LEDGER, or your own.")
def dossier(
    dataset: str,
    *,
    out: str,
    typed: str | None,
    study: str | None,
    owner: str | None,
    with_names: bool,
    ledger: str | None,
) -> None:
    """Write the documents about a data set: registry entry, self-assessment, page for a reviewer, hash chain.

    They contain no answers and no data. Facts that a program cannot know are marked until you fill them in.

    Example: discreet dossier clinic --typed dossier.toml --out dossier
    """
    from discreet.dossier import dossier_of
    from discreet.ledger import Ledger

    owner_file = None
    if owner is not None:
        from discreet._cli.desk import owner_file_at

        owner_file = owner_file_at(owner)
    with Ledger.open(ledger, create=False) as opened:
        plan = None
        if study is not None:
            from discreet.study import Study

            plan = Study.read(study).plan(ledger=opened)
        written = dossier_of(
            opened, dataset, typed=typed, plan=plan, owner=owner_file, named=with_names
        ).write(out)
    for path in written:
        say(path)
