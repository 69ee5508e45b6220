"""``discreet audit``: check a claimed guarantee."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from discreet._cli.commands import argument, command, option
from discreet._cli.output import console, progress
from discreet._cli.shared_options import mechanism_names
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.audit import Recording, Regular, Verdict
    from discreet.guarantees import Guarantee

_STYLES = {
    "refuted": "bold red",
    "suspect": "bold red",
    "not refuted": "bold yellow",
    "proved": "bold green",
}


_SUBJECT, _SEARCH = "The mechanism", "The search"


@command("audit")
@argument(
    "MECHANISM",
    "A mechanism's name, or your own as file.py:name or package.module:name: a function of scores that "
    "returns probabilities, or an object with probabilities(scores). Or another library's, as in "
    "opendp:make_noisy_max; discreet observatory lists them.",
    shell_complete=mechanism_names,
)
@option(
    "--claim CLAIM",
    "pure:1, bounded-range:1, zcdp:0.125, approx:1,1e-6 or regular; pure at --epsilon by default.",
)
@option("--epsilon NUMBER", "The mechanism's ε.", section=_SUBJECT)
@option("--scale NUMBER", "The noise scale, instead of ε.", section=_SUBJECT)
@option("--delta NUMBER", "The mechanism's δ, if it takes one.", section=_SUBJECT)
@option("--truth NUMBER", "For exponential randomized response.", section=_SUBJECT)
@option("--optimize NAME", "max or min.", section=_SUBJECT)
@option(
    "--crossings COUNT",
    "For above-threshold: the stream ends after this many crossings.",
    default=1,
    section=_SUBJECT,
)
@option(
    "--sensitivity NUMBER",
    "How far one person moves one score; several with commas, one for each candidate.",
    default="1",
    section=_SEARCH,
)
@option(
    "--monotonic/--general",
    "Only neighbours of this kind; both by default.",
    default=None,
    section=_SEARCH,
)
@option("-n --n COUNT", "How many candidates; may be repeated.", multiple=True, section=_SEARCH)
@option(
    "--effort NAME",
    "How long to search: quick, usual or thorough.",
    default="usual",
    section=_SEARCH,
)
@option(
    "--sampled COUNT",
    "For a mechanism that can only be run, as sample(scores, size) or function(scores): draw up to "
    "this many answers for each score vector, e.g. 200000.",
    name="samples",
    section=_SEARCH,
)
@option("--json", "Print the verdict as JSON.")
def audit(
    mechanism: str,
    *,
    claim: str | None,
    sensitivity: str,
    monotonic: bool | None,
    crossings: int,
    n: tuple[int, ...],
    effort: str,
    samples: int | None,
    json: bool,
    **given: str | None,
) -> None:
    """Search neighbouring scores for a pair that refutes a claimed guarantee.

    With --sampled, the audit computes a lower confidence bound on the privacy loss; it calls a true claim
    suspect with probability at most 1e-9.

    Exit status: 0 not refuted (or proved), 1 refuted or suspect, 2 wrong input, 3 the mechanism failed.

    Example: discreet audit permute-and-flip --epsilon 1 --claim bounded-range:1

    Example: discreet audit mine.py:my_sampler --claim pure:1 --sampled 200000

    Example: discreet audit diffprivlib:PermuteAndFlip --epsilon 1
    """
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    from discreet import audit as room
    from discreet._cli.audited import failures_of, library_named, subject_named

    parameters = {name: value for name, value in given.items() if value is not None}
    library = library_named(mechanism)
    if library is None:
        claimed = _claim(claim, given["epsilon"])
        subject = subject_named(
            mechanism,
            parameters,
            sensitivity=sensitivity,
            monotonic=bool(monotonic),
            crossings=crossings,
        )
    elif claim is not None:
        raise ParameterError(
            f"--claim is not allowed: {mechanism} comes with the claim of its library"
        )
    steps = sensitivity.split(",") if "," in sensitivity else sensitivity
    where: dict[str, Any] = {"sensitivity": steps, "monotonic": monotonic, "n": n or None}
    verdict: Verdict | Recording
    with (
        progress(BarColumn(24), TextColumn("{task.description}"), TimeElapsedColumn()) as bar,
        failures_of(mechanism),
    ):
        task = bar.add_task("audit", total=1.0)

        def tell(stage: str, share: float) -> None:
            bar.update(task, completed=share, description=stage)

        if library is not None:
            told = {} if library.tables else {"progress": tell}
            verdict = library.audit(given["epsilon"], **told)
        elif samples is None:
            _refuse_a_sampler(mechanism, subject)
            verdict = room.audit(
                subject,
                claimed,
                **where,
                effort=effort,
                progress=tell,
            )
        elif isinstance(claimed, room.Regular):
            raise ParameterError("--claim regular cannot be audited with --sampled")
        else:
            verdict = room.statistical_audit(
                subject, claimed, **where, effort=effort, samples=samples, progress=tell
            )
    if json:
        click.echo(verdict.to_json())
    else:
        click.echo(str(verdict)) if isinstance(verdict, room.Recording) else show(verdict)
    if not verdict.holds:
        raise SystemExit(1)


def parse_claim(text: str) -> Guarantee | Regular:
    """Parse a claim as written on the command line.

    Example:
        >>> parse_claim("approx:1,1e-6"), parse_claim("zcdp:0.125"), parse_claim("regular")
        (ApproxDP(1, 1e-06), ZCDP(0.125), Regular())
    """
    from discreet import ZCDP, ApproxDP, BoundedRange, PureDP
    from discreet._exact.numbers.exact import refuse
    from discreet.audit import Regular

    name, _, rest = text.strip().lower().partition(":")
    numbers = [part.strip() for part in rest.split(",")] if rest else []
    makers: dict[str, tuple[int, Any]] = {
        "pure": (1, PureDP),
        "bounded-range": (1, BoundedRange),
        "zcdp": (1, ZCDP),
        "approx": (2, ApproxDP),
        "regular": (0, Regular),
    }
    wanted, maker = makers.get(name, (-1, None))
    if len(numbers) == wanted:
        with suppress(ParameterError):  # its message would name the wrong option
            claim: Guarantee | Regular = maker(*numbers)
            return claim
    raise refuse(
        "claim",
        text,
        "pure:E, bounded-range:E, zcdp:R or approx:E,D with numbers E and R, 0 or above, and D from 0 to 1; "
        "or regular",
    )


def _claim(text: str | None, epsilon: str | None) -> Guarantee | Regular:
    from discreet import PureDP

    if text is not None:
        return parse_claim(text)
    if epsilon is None:
        raise ParameterError("give --claim, or --epsilon to audit pure privacy at that ε")
    return PureDP(epsilon)


def _refuse_a_sampler(name: str, subject: Any) -> None:
    if callable(getattr(subject, "sample", None)) and not (
        callable(subject) or hasattr(subject, "probabilities")
    ):
        raise ParameterError(
            f"{name} has no probabilities(scores): add --sampled 200000 to audit what it samples"
        )


def show(verdict: Verdict) -> None:
    """Print a verdict as a card, with the worst pair of inputs as small bars."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table

    from discreet.audit.cards import bars, explanation, figures, headline

    screen = console()

    def text(words: str, style: str = "") -> Any:
        return screen.render_str(words, style=style, markup=False, emoji=False)

    style = _STYLES[verdict.status]
    parts: list[Any] = [text(headline(verdict), style), text(figures(verdict))]
    pair = verdict.worst
    if pair is not None:
        parts.append(text(f"{'witness' if verdict.witness else 'worst pair found'}: {pair}\n"))
        table = Table("", "scores", "neighbour", box=None, padding=(0, 1))
        narrow = screen.width < _SIDE_BY_SIDE
        for label, first, second in bars(pair):
            emphasis = "bold" if "◀" in label else ""
            if narrow:
                parts.append(text(label, emphasis))
                parts += [text(f"  scores     {first}"), text(f"  neighbour  {second}")]
            else:
                table.add_row(*map(text, (label, first, second)), style=emphasis)
        if table.rows:
            parts.append(table)
    parts.append(text("\n" + explanation(verdict)))
    searched = f"Searched {verdict.coverage}; {verdict.seconds:.1f} s"
    draws = getattr(verdict, "draws", None)
    parts.append(text(f"{searched}{'' if draws is None else f', {draws:,} draws'}.", "dim"))
    screen.print(Panel(Group(*parts), title=verdict.status, border_style=style.split()[-1]))


_SIDE_BY_SIDE = 76  # the width of two bars and a label, in characters
