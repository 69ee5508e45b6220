"""``discreet compare``, ``plan``, ``recommend``, ``risk`` and ``optimality``: decide before spending."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet._cli import shared_options as shared
from discreet._cli.commands import argument, command, from_standard_input, option, stack
from discreet._cli.output import (
    check_chart,
    draw,
    print_table,
    say,
    say_either,
    say_json,
    say_table,
)
from discreet._cli.special_plans import plan_quantiles, plan_threshold, recommend_threshold
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.analysis import Comparison
    from discreet.mechanisms import Mechanism
    from discreet.scores import Scores


def require_not_private(*, not_private: bool, public: bool, **_: Any) -> None:
    """Require --not-private or --public, so nobody looks at scores by accident."""
    if not (not_private or public):
        raise ParameterError(
            "this reads the scores and spends no budget, so what it prints is not private: add "
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
    """Read scores from a file; raise an error unless --not-private or --public is given."""
    from discreet._tables.score_files import scores_from_file

    require_not_private(**leave)
    return scores_from_file(
        file,
        sensitivity=sensitivity,
        default="1",
        range_distance=range_distance,
        monotonic=monotonic,
        candidate_column=candidate_column,
        score_column=score_column,
    )


def scores_or_count(
    *, file: str | None, n: int | None, gap: str | None, **given: Any
) -> dict[str, Any]:
    """Return keyword arguments for an analysis: the scores in the file or, without one, the given count."""
    from discreet._exact.numbers.exact import whole

    if file is not None:
        if n is not None or gap is not None:
            raise ParameterError("--n and --gap are for planning without data: leave the file out")
        return {"scores": read_scores(file=file, **given)}
    if n is None:
        raise ParameterError("give a file of scores, or --n to work without data")
    if given["range_distance"] is not None:
        raise ParameterError("--range-distance needs a file; without data use --sensitivity")
    sensitivity, monotonic = given["sensitivity"] or "1", given["monotonic"]
    return {"n": whole("n", n), "sensitivity": sensitivity, "monotonic": monotonic, "gap": gap}


def families_of(*, mechanism: Sequence[str], optimize: str = "max", **_: Any) -> list[Mechanism]:
    """Return the named mechanisms, or those compared by default, with ε = 1 and the given ``optimize``."""
    from discreet.analysis.family import CONTENDERS
    from discreet.mechanisms import mechanism_named

    chosen = mechanism or [contender.name for contender in CONTENDERS]
    return [mechanism_named(name, epsilon=1, optimize=optimize) for name in chosen]


@command("compare")
@argument(
    "SCORES",
    "Scores: a CSV, TSV, JSON or Parquet file, or - for CSV on standard input.",
    name="file",
    callback=from_standard_input,
)
@option(
    "--epsilon RANGE",
    "One ε, several with commas, or a range: 0.1:2, or 0.1:2:30 for thirty.",
    default="0.1:2",
)
@shared.SCORES
@option(
    "--all",
    "Also show the error that 95 % of answers do not exceed, and the probability of the best candidate.",
    name="everything",
    section=shared.OUTPUT,
)
@shared.CHART
@shared.JSON
def compare(*, epsilon: str, everything: bool, chart: str | None, json: bool, **given: Any) -> None:
    """Compare the error of each mechanism over a range of ε. Not private.

    The first line says which mechanism to use.

    Example: discreet compare scores.csv --monotonic --epsilon 0.1:2 --public --chart error.html
    """
    from discreet.analysis import compare as compared

    require_not_private(**given)
    check_chart(chart)
    families = families_of(**given)
    table = compared(read_scores(**given), families, epsilon)
    if chart is not None:
        draw(table.chart(), chart)
    if json:
        say_json(table.records())
        return
    figures = {
        "Expected error, in units of the score": "expected_error",
        "Error that 95 % of answers do not exceed": "error_95",
        "Probability of the best candidate": "best_probability",
    }
    say(_best(table))
    for words, figure in list(figures.items())[: None if everything else 1]:
        say(f"\n{words}:")
        print_table(*_across(table, figure))


def _best(table: Comparison) -> str:
    """Return a sentence that names the private mechanism with the smallest expected error."""
    from discreet._exact.numbers.printing import rounded

    private = [row for row in table if row.private]
    if not private:
        return "Use none of these: no mechanism compared here has a proof of privacy."
    best = {
        epsilon: min(
            (row for row in private if row.epsilon == epsilon), key=lambda row: row.expected_error
        )
        for epsilon in dict.fromkeys(row.epsilon for row in private)
    }
    rows = [best[epsilon] for epsilon in sorted(best)]
    names = list(dict.fromkeys(row.mechanism for row in rows))
    if len(names) > 1:
        where = [
            f"{name} at ε = {', '.join(f'{row.epsilon:g}' for row in rows if row.mechanism == name)}"
            for name in names
        ]
        return f"Use {'; '.join(where)}: there its expected error is the smallest."
    first, last = (f"{rounded(row.expected_error, up=True):.4g}" for row in (rows[0], rows[-1]))
    if len(rows) == 1:
        return f"Use {names[0]}: at ε = {rows[0].epsilon:g} its expected error is {first}, the smallest here."
    return (
        f"Use {names[0]}: its expected error is the smallest at every ε here, from {first} at "
        f"ε = {rows[0].epsilon:g} to {last} at ε = {rows[-1].epsilon:g}."
    )


def _across(table: Comparison, figure: str) -> tuple[list[str], list[list[Any]]]:
    """Return headings and rows for a table of one ``figure``: one row per ε, one column per mechanism.

    Numbers are rounded so that no mechanism looks better than it is.
    """
    from discreet._exact.numbers.printing import rounded

    up = figure != "best_probability"
    names = list(dict.fromkeys((row.mechanism, row.private) for row in table))
    found = {(row.epsilon, row.mechanism): rounded(getattr(row, figure), up=up) for row in table}
    amounts = list(dict.fromkeys(row.epsilon for row in table))
    heads = [name + ("" if private else " (not private)") for name, private in names]
    rows = [[epsilon, *(found[epsilon, name] for name, _ in names)] for epsilon in amounts]
    return ["ε", *heads], rows


SCORES_OR_COUNT = stack(
    argument(
        "[SCORES]",
        "Scores: a CSV, TSV, JSON or Parquet file, or - for CSV on standard input. Without a file, give --n.",
        name="file",
        callback=from_standard_input,
    ),
    shared.COUNT,
    shared.SCORES,
)


_MARGIN = option(
    "--margin NUMBER",
    "For a threshold: the least distance of every value from it.",
    section=shared.ACCURACY,
)


@command("plan")
@option("--expected-error NUMBER", "The mean error wanted.", section=shared.ACCURACY)
@option("--error-at-most NUMBER", "The largest acceptable error ...", section=shared.ACCURACY)
@option("--with-probability NUMBER", "... with this probability.", section=shared.ACCURACY)
@option(
    "--at LIST",
    "For quantiles at these levels, on a grid of --n points: errors are in people.",
    section=shared.ACCURACY,
)
@_MARGIN
@SCORES_OR_COUNT
@shared.JSON
def plan(
    *,
    at: str | None,
    expected_error: str | None,
    error_at_most: str | None,
    with_probability: str | None,
    margin: str | None,
    json: bool,
    **given: Any,
) -> None:
    """Find the smallest ε at which each mechanism is accurate enough.

    The first line says which mechanism to use, and at which ε. For the cost of one question about a table,
    use --plan with its command, as in discreet mode ... --plan. For the cost of more releases in a budget,
    use discreet budget plan.

    With a file, the answer is for the scores in it, and is not private. With --n, no data is read, and the
    answer holds for any data; with --gap as well, for any data whose best candidate leads by this gap.

    With --margin, the plan is for a threshold: the smallest ε at which the first value above the threshold,
    out of --n values, is found with the probability given by --with-probability. Every value must be at
    least the margin away from the threshold.

    Example: discreet plan --n 1000 --sensitivity 1 --error-at-most 20 --with-probability 0.95
    """
    if at is not None:
        if expected_error is not None or error_at_most is None or given.get("n") is None:
            raise ParameterError(
                "--at needs --n and --error-at-most, and cannot be combined with --expected-error"
            )
        plan_quantiles(at, given["n"], error_at_most, with_probability or "0.95", json=json)
        return
    if margin is not None:
        if expected_error is not None or error_at_most is not None:
            raise ParameterError(
                "--margin cannot be combined with --expected-error or --error-at-most"
            )
        plan_threshold(margin, with_probability or "0.95", json=json, **scores_or_count(**given))
        return
    from discreet._exact.numbers.printing import rounded
    from discreet.analysis import epsilon_for

    families = families_of(**given)
    where = scores_or_count(**given)
    needed = [
        epsilon_for(
            family,
            expected_error=expected_error,
            error_at_most=error_at_most,
            with_probability=with_probability,
            **where,
        )
        for family in families
    ]
    least = min((e for each, e in zip(families, needed, strict=True) if each.private), default=0.0)
    found = [
        {
            "mechanism": family.name,
            "epsilon": epsilon,
            "ratio": epsilon / least if least else None,
            "private": family.private,
        }
        for family, epsilon in zip(families, needed, strict=True)
    ]
    rows = [
        [
            f"{row['mechanism']}{'' if row['private'] else ' (not private)'}",
            rounded(epsilon, up=True, digits=3),
            "" if row["ratio"] is None else row["ratio"],
        ]
        for row, epsilon in zip(found, needed, strict=True)
    ]
    wanted = (
        f"the expected error is at most {expected_error}"
        if expected_error is not None
        else f"the error is at most {error_at_most} with probability {with_probability}"
    )
    say_table(
        ["mechanism", "ε needed", "× least"],
        rows,
        found,
        json=json,
        before=f"{_cheapest(found, f'{wanted}, {_for_which(where)}')}\n",
    )


def _for_which(where: dict[str, Any]) -> str:
    """Return a phrase that says which data a plan holds for."""
    if "scores" in where:
        return "on these scores"
    if where["gap"] is not None:
        return f"for any data whose best candidate leads by {where['gap']}"
    return "whatever the data"


def _cheapest(found: list[dict[str, Any]], wanted: str) -> str:
    """Return a sentence that names the private mechanism with the smallest ε."""
    from discreet._exact.numbers.printing import rounded

    private = [row for row in found if row["private"]]
    if not private:
        return "Use none of these: no mechanism listed here has a proof of privacy."
    least = min(private, key=lambda row: float(row["epsilon"]))
    if not least["epsilon"]:
        return f"Any ε is enough: {wanted}."
    epsilon = rounded(least["epsilon"], up=True, digits=3)
    return f"Use {least['mechanism']} at ε = {epsilon:g}: {wanted}."


@command("recommend")
@shared.GUARANTEE
@option("--releases COUNT", "How many releases share the budget.", default=1, section=shared.COST)
@option(
    "--fixed-in-advance", "The questions do not depend on earlier answers.", section=shared.COST
)
@_MARGIN
@SCORES_OR_COUNT
@shared.CHART
@shared.JSON
def recommend(
    *,
    releases: int,
    fixed_in_advance: bool,
    margin: str | None,
    chart: str | None,
    json: bool,
    **given: Any,
) -> None:
    """Recommend a mechanism for a budget and a number of releases, with reasons.

    With a file, the errors are measured on these scores, and are not private. With --n, no data is read, and
    the errors are the worst for any data; --chart then draws them against the number of releases.

    With --margin, the recommendation is for a threshold: which mechanism finds the first value above it, out
    of --n values, how often each mechanism is wrong, and whether another would be better if all values were
    known at once. --chart then shows how the noise depends on the split of ε between threshold and values.

    Example: discreet recommend --n 100 --epsilon 1 --delta 1e-6 --releases 50
    """
    from discreet._exact.numbers.printing import rounded
    from discreet.accounting.accountants import in_short
    from discreet.analysis import recommend as recommended

    if margin is not None:
        check_chart(chart)
        if given["rho"] is not None or given["delta"] is not None or given["epsilon"] is None:
            raise ParameterError(
                "--margin needs --epsilon, and cannot be combined with --delta or --rho"
            )
        epsilon = given["epsilon"]
        recommend_threshold(margin, epsilon, chart=chart, json=json, **scores_or_count(**given))
        return
    budget = shared.guarantee_of(**{name: given.pop(name) for name in ("epsilon", "rho", "delta")})
    families = families_of(**given)
    check_chart(chart)
    if chart is not None and given["file"] is not None:
        raise ParameterError("--chart is drawn without data: leave the file out")
    where = scores_or_count(**given)
    advice = recommended(
        budget=budget,
        releases=releases,
        mechanisms=families,
        adaptive=not fixed_in_advance,
        **where,
    )
    if chart is not None:
        from discreet.analysis.charts import crossover_chart

        draw(crossover_chart(budget, **{k: v for k, v in where.items() if k != "gap"}), chart)
    data = {
        "mechanism": advice.mechanism.name,
        "epsilon": advice.options[0].epsilon,
        "releases": advice.releases,
        "budget": repr(advice.budget),
        "crossover": advice.crossover,
        "basis": advice.basis,
        "options": advice.records(),
        "reasons": list(advice.reasons),
    }
    rows = [
        [
            o.mechanism,
            in_short(f"{o.epsilon:.6g}", up=False),
            rounded(o.error, up=True),
            in_short(o.composed, up=True),
        ]
        for o in advice.options
    ]
    say_table(
        ["mechanism", "ε each", "expected error", "cost of all"],
        rows,
        data,
        json=json,
        before=f"{advice.advice}\n",
        after="\n" + "\n".join(advice.reasons),
    )


@command("risk")
@option("--worlds COUNT", "How many data sets the attacker thinks equally likely.", default=2)
@option("--epsilon NUMBER", "ε of the answer.")
@option(
    "--tolerated NUMBER",
    "Instead of --epsilon: how sure the attacker may become, from 0 to 1.",
    name="risk",
)
@option(
    "--steps NUMBER",
    "By how many people two of the data sets differ; default: 1 for two data sets, 2 for more.",
)
@shared.JSON
def risk(
    *, worlds: int, epsilon: str | None, risk: str | None, steps: str | None, json: bool
) -> None:
    """Compute how sure an attacker can become, or the ε for a tolerated risk. Reads no data.

    By default the attacker asks whether one person is in the data, and considers both answers equally likely.

    Example: discreet risk --epsilon 1

    Example: discreet risk --worlds 201 --tolerated 0.2
    """
    from discreet._exact.numbers.exact import probability
    from discreet._exact.numbers.printing import percent, rounded
    from discreet.analysis import disclosure_bound, epsilon_for_risk
    from discreet.analysis.disclosure import steps_between

    if (epsilon is None) == (risk is None):
        raise ParameterError("give --epsilon to get the risk, or --tolerated to get the ε")
    about: dict[str, Any] = {"worlds": worlds, "steps": float(steps_between(worlds, steps))}
    which = "which of the two data sets" if worlds == 2 else f"which of the {worlds} data sets"
    if epsilon is not None:
        bound = disclosure_bound(epsilon, worlds=worlds, steps=steps)
        about |= {"epsilon": epsilon, "risk": bound}
        sure = percent(bound, up=True)
        words = f"No answer lets an attacker be more than {sure} sure {which} is real."
        if sure.startswith("above"):
            words = f"An attacker may become all but certain ({sure}) {which} is real."
    else:
        largest = epsilon_for_risk(risk, worlds=worlds, steps=steps)
        about |= {"epsilon": largest, "risk": risk}
        shown, sure = rounded(largest, up=False), f"{100 * float(probability('risk', risk)):g}%"
        words = f"Up to ε = {shown:.4g} no answer lets an attacker be more than {sure} sure {which} is real."
    say_either(words, about, json=json)


@command("optimality")
@option("--epsilon RANGE", "One ε, several with commas, or a range: 0.1:2.", default="0.32")
@option("--n COUNT", "How many candidates.", default=4)
@option("--k COUNT", "The largest gap, in steps of the range distance.", default=8)
@shared.MECHANISMS
@option(
    "--neighbours NAME",
    "worst: the published program; all: private towards every neighbour.",
    default="worst",
)
@shared.CHART
@shared.JSON
def optimality(
    *, epsilon: str, mechanism: tuple[str, ...], chart: str | None, json: bool, **lattice: Any
) -> None:
    """Compare a mechanism's average error with the least possible, by linear programming. Reads no data.

    The first line names the mechanism that comes closest.

    Example: discreet optimality --epsilon 0.1:2 --n 4 --k 8 --chart ratio.svg
    """
    from discreet._exact.numbers.printing import rounded
    from discreet.analysis import optimality_ratio
    from discreet.analysis.comparison import epsilon_list

    check_chart(chart)
    families = families_of(mechanism=mechanism)
    rows: list[dict[str, Any]] = [
        {
            "mechanism": family.name,
            "epsilon": float(amount),
            "ratio": optimality_ratio(family, epsilon=amount, **lattice),
        }
        for family in families
        for amount in epsilon_list(epsilon)
    ]
    if chart is not None:
        from discreet.analysis.charts import optimality_chart

        draw(optimality_chart(families, epsilons=epsilon, **lattice), chart)
    names = [family.name for family in families]
    ratios = {(row["epsilon"], row["mechanism"]): row["ratio"] for row in rows}
    amounts = [float(amount) for amount in epsilon_list(epsilon)]
    shown = [
        [amount, *(f"{rounded(ratios[amount, name], up=True, digits=6):.5f}" for name in names)]
        for amount in amounts
    ]
    worst = {
        family.name: max(ratios[amount, family.name] for amount in amounts)
        for family in families
        if family.private
    }
    best = min(worst, key=lambda name: worst[name], default=None)
    where = f"at ε = {amounts[0]:g}" if len(amounts) == 1 else "at every ε here"
    advice = (
        "Use none of these: no mechanism listed here has a proof of privacy."
        if best is None
        else f"Use {best}: {where} its average error is at most "
        f"{rounded(worst[best], up=True, digits=6):g} times the least that a private mechanism can have."
    )
    head = f"{advice}\n\nAverage error ÷ least possible, with {lattice['n']} candidates:"
    say_table(["ε", *names], shown, rows, json=json, before=head)
