"""What commands about scores do alike: read them once somebody said so, name mechanisms, draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.cli.output import say
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.mechanisms import Mechanism
    from discreet.scores import Scores


def require_not_private(*, not_private: bool, public: bool, **_: Any) -> None:
    """Nobody looks at scores by accident: one of the two flags must be given."""
    if not (not_private or public):
        raise ParameterError(
            "this reads the scores and spends no budget, so what it prints is not private: say "
            "--not-private, or --public if the data is public anyway"
        )


def read_scores(
    *,
    file: str,
    sensitivity: str | None,
    monotonic: bool,
    candidate_column: str | None,
    score_column: str | None,
    range_distance: str | None = None,
    **leave: Any,
) -> Scores:
    """The scores in a file, once somebody said that they may be looked at."""
    from discreet.score_files import scores_from_file

    require_not_private(**leave)
    return scores_from_file(
        file,
        sensitivity="1" if sensitivity is range_distance is None else sensitivity,
        range_distance=range_distance,
        monotonic=monotonic,
        candidate_column=candidate_column,
        score_column=score_column,
    )


def scores_or_count(
    *, file: str | None, n: int | None, gap: str | None, **given: Any
) -> dict[str, Any]:
    """Scores that may be looked at, or how many candidates there are, as the analysis takes either."""
    from discreet.numbers.exact import whole

    if file is not None:
        if n is not None or gap is not None:
            raise ParameterError("--n and --gap go without data: leave the file out")
        return {"scores": read_scores(file=file, **given)}
    if n is None:
        raise ParameterError("give a file of scores, or --n to do without data")
    if given["range_distance"] is not None:
        raise ParameterError("--range-distance goes with a file; without data say --sensitivity")
    sensitivity = given["sensitivity"] or "1"
    return {
        "n": whole("n", n),
        "sensitivity": sensitivity,
        "monotonic": given["monotonic"],
        "gap": gap,
    }


def families_of(*, mechanism: Sequence[str], optimize: str = "max", **_: Any) -> list[Mechanism]:
    """The mechanisms named, or the usual ones, looking for the largest or the smallest score."""
    from discreet.analysis.family import CONTENDERS
    from discreet.mechanisms import mechanism_named

    chosen = mechanism or [contender.name for contender in CONTENDERS]
    return [mechanism_named(name, epsilon=1, optimize=optimize) for name in chosen]


def draw(chart: Any, path: str) -> None:
    """Write a chart and say where, on stderr."""
    from discreet.analysis.charts import save_chart

    say(f"chart written to {save_chart(chart, path)}", err=True)


def check_chart(path: str | None) -> None:
    """Refuse a chart's path before any work is done."""
    if path is not None:
        from discreet.analysis.charts.style import checked_path

        checked_path(path)
