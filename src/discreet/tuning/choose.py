"""``choose_run``: spend the budget, run several times, and release only the best run."""

from __future__ import annotations

import numbers
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from discreet._displays import visible
from discreet._exact.numbers.exact import echo, refuse
from discreet._exact.sampling.bits import Bits, SecureBits, uniform_below
from discreet.accounting import Event
from discreet.accounting.events import events_of
from discreet.errors import ParameterError
from discreet.guarantees import Guarantee
from discreet.neighbours import ADD_REMOVE, Neighbours
from discreet.questions.run import AnyLedger, paid, require_counted
from discreet.release import Release
from discreet.tuning.cost import cost_of_tuning
from discreet.tuning.laws import Geometric, RunCount

Run: TypeAlias = Callable[[Any], tuple[Any, Any]]
"""A function from a setting to (quality, result). It costs at most ``cost`` and does not see other runs."""

Settings: TypeAlias = Sequence[Any] | Callable[[], Any]
"""A list from which each run draws uniformly, or a function that draws a setting without reading the data."""

STOP_AFTER = 1_000
"""The default mean number of runs after which a search for a target gives up."""

TRUSTED = (
    "The caller promises that every run is as private as stated and knows nothing of other runs."
)
WORST = "A run that raised, or whose quality was not a number, counted as the worst."
NONE = "none: no run succeeded, or there was none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenRun(Release):
    """The chosen run: its setting (``answer``) and its result, without anything about the other runs.

    Attributes:
        result: the run's return value without its quality; None if no run was chosen.
        found: whether any run was chosen.
        rules: the assumptions of the guarantee, one sentence each.

    Example:
        >>> from discreet import PureDP
        >>> from discreet.tuning import Fixed
        >>> best = choose_run(lambda rate: (0, "a model"), [0.1], cost=PureDP(1), runs=Fixed(1))
        >>> best.setting, best.result, best.found
        (0.1, 'a model', True)
    """

    result: Any = None
    found: bool = True
    rules: tuple[str, ...] = ()

    @property
    def setting(self) -> Any:
        """The setting of the chosen run; None if no run was chosen."""
        return self.answer

    def _further(self) -> tuple[str, ...]:
        return self.rules

    def __str__(self) -> str:
        first, *rest = super(ChosenRun, self).__str__().split("\n")
        said = [first if self.found else NONE, *rest, *(f"- {visible(r)}" for r in self.rules)]
        return "\n".join(said)


def choose_run(
    run: Run,
    settings: Settings,
    *,
    cost: object,
    runs: RunCount | None = None,
    target: object = None,
    delta: object = None,
    neighbours: str = ADD_REMOVE,
    ledger: AnyLedger | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    progress: bool = True,
) -> ChosenRun:
    """Release the best of a random number of private runs, at the true cost of choosing it.

    Each run gets a setting, drawn independently from ``settings``, and returns ``(quality, result)``. The run
    with the highest quality is released; ties are broken at random. Nothing else is released, not even the
    number of runs. The whole cost is spent before the first run. The guarantee relies on two promises by the
    caller: every run costs at most ``cost``, including its quality (a score on the same people is not free),
    and no run sees the outcome of another.

    With a ``target``, the first run of at least that quality is released; for purely private runs this costs
    at most twice as much as one run. If no run reaches the target, the search ends after a geometric number
    of runs with the answer "none". The guarantee covers that answer; without such a stop, the search might
    never end.

    A run that raises, or whose quality is not a number, counts as the worst. If all runs fail like this, or a
    Poisson number of runs is zero, the answer is "none". Errors of runs are not shown, because their messages
    may contain data; try a run on invented data first. If the search is interrupted, the budget stays spent.

    Args:
        run: one private run.
        settings: a list, or a function that draws a setting without reading the data.
        cost: the cost of one run: a guarantee, an ``Event``, a list of them fixed in advance, or an event of
            dp-accounting.
        runs: the distribution of the number of runs; required unless there is a target.
        target: stop at the first run with at least this quality, a public number.
        delta: the δ allowed, for runs that are not purely private.
        neighbours: the neighbour relation for which ``cost`` holds.
        ledger: the ledger that counts the budget of ``dataset``, or its address. Without one, nothing is
            counted, and the answer says so.
        progress: show the elapsed time on a terminal, and nothing else.

    Example:
        >>> from discreet import PureDP
        >>> from discreet.tuning import Geometric
        >>> def run(depth):
        ...     return -abs(depth - 3), f"a model of depth {depth}"  # a real, private release
        >>> best = choose_run(run, [1, 2, 3, 4], cost=PureDP("0.5"), runs=Geometric(mean=20))
        >>> best.guarantee
        PureDP(1.401323317751116)
        >>> best.setting in (1, 2, 3, 4)
        True
    """
    relation = Neighbours.named(neighbours)
    require_counted(ledger, dataset)
    draw = _drawer(settings)
    if runs is None:
        if target is None:
            raise ParameterError("⟨runs⟩ is needed: how many runs, such as Geometric(mean=20)")
        runs = Geometric(mean=STOP_AFTER)
    wanted = None if target is None else _public_target(target)
    guarantee = cost_of_tuning(
        _under(cost, relation), runs=runs, delta=delta, target=wanted is not None
    )
    way = f"the best of a {runs.words}"
    if wanted is not None:
        way = f"the first run to reach the target {echo(target)}, in a {runs.words}"
    event = Event(guarantee, mechanism=way, neighbours=relation)

    def work() -> _Best:
        with _clock(shown=progress):
            return _search(run, draw, runs, wanted, SecureBits())

    best, terms = paid(
        event, purpose or "choice among private runs", work, ledger=ledger, dataset=dataset
    )
    terms["guarantee"] = guarantee
    return ChosenRun(
        answer=best.setting,
        result=best.result,
        found=best.quality is not None,
        rules=(TRUSTED, WORST),
        **terms,
    )


@dataclass(frozen=True, slots=True)
class _Best:
    quality: Any = None
    setting: Any = None
    result: Any = None


def _search(
    run: Run, draw: Callable[[Bits], Any], runs: RunCount, target: Any, bits: Bits
) -> _Best:
    """Make all runs one after the other; return the best, or the first that reaches the target."""
    best, equals = _Best(), 0
    for _ in range(runs.draw(bits)):
        attempt = _attempt(run, draw, bits)
        if attempt.quality is None:
            continue
        if target is not None:
            if attempt.quality >= target:
                return attempt
        elif best.quality is None or attempt.quality > best.quality:
            best, equals = attempt, 1
        elif attempt.quality == best.quality:
            # This keeps each of several equal runs with the same probability, whatever their order.
            equals += 1
            if uniform_below(bits, equals) == 0:
                best = attempt
    return best


def _attempt(run: Run, draw: Callable[[Bits], Any], bits: Bits) -> _Best:
    """Make one run; if it raises, it has no quality, and its error is dropped."""
    try:
        setting = draw(bits)
        quality, result = run(setting)
        return _Best(_comparable(quality), setting, result)
    except Exception:  # any error may depend on the data, and its message may contain them
        return _Best()


def _comparable(quality: Any) -> Any:
    """Return a quality as a plain number, which Python compares exactly; None if it is not a number."""
    plain = quality.item() if hasattr(quality, "item") else quality
    if isinstance(plain, Decimal):
        plain = Fraction(plain) if plain.is_finite() else float(plain)
    if not isinstance(plain, numbers.Real):
        return None
    return plain if plain == plain else None  # noqa: PLR0124 - only NaN differs from itself


def _public_target(target: object) -> Any:
    wanted = _comparable(target)
    if wanted is None or isinstance(target, bool):
        raise refuse("target", target, "a number: the quality at which to stop")
    return wanted


def _drawer(settings: Settings) -> Callable[[Bits], Any]:
    if callable(settings):
        return lambda _bits: settings()
    try:
        listed = list(settings)
    except TypeError:
        listed = []
    if not listed or isinstance(settings, str | bytes):
        raise refuse("settings", settings, "a list of settings, or a function that draws one")
    return lambda bits: listed[uniform_below(bits, len(listed))]


def _under(cost: object, relation: Neighbours) -> object:
    """Convert a run's cost to the search's neighbour relation; raise an error if that is impossible."""
    if isinstance(cost, Event):
        return cost.under(relation)
    if isinstance(cost, Guarantee):
        return cost
    if type(cost).__module__.partition(".")[0] == "dp_accounting":
        if relation != ADD_REMOVE:
            raise ParameterError(
                "⟨neighbours⟩: events of dp-accounting are read for add-remove neighbours only"
            )
        return cost
    if isinstance(cost, Sequence) and not isinstance(cost, str):
        stated = [
            replace(Event.of(each), neighbours=relation) if isinstance(each, Guarantee) else each
            for each in cost
        ]
        return [event.under(relation) for event in events_of(stated)]
    return cost


@contextmanager
def _clock(*, shown: bool) -> Iterator[None]:
    """Show the elapsed time on stderr every second; an update after each run would reveal how many ran."""
    if not shown or not sys.stderr.isatty():
        yield
        return
    over, begun = threading.Event(), time.monotonic()

    def tick() -> None:
        while not over.wait(1):
            sys.stderr.write(f"\rtuning: {time.monotonic() - begun:.0f} s\x1b[K")
            sys.stderr.flush()

    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    try:
        yield
    finally:
        over.set()
        ticking.join()
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
