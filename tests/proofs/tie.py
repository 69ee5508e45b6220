"""What each claim of the code requires of its theorem, in the notation of Coq's output.

A claim is a pair, as in ``discreet.guarantees.claims.CLAIMS``: what it is about, and what it states. It
requires a conclusion, with the law, the measure and the neighbour relation in it, and allows the hypotheses
that the code establishes: a theorem may assume fewer, never more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from discreet.guarantees import Proof

Claim = tuple[str, str]


@dataclass(frozen=True)
class Statement:
    """A theorem's hypotheses, introduced names, and conclusion."""

    supposing: frozenset[str]
    where: tuple[str, ...]
    follows: str


def plain(text: str) -> str:
    """Return Coq text on one line, without file names and types of variables."""
    text = " ".join(re.sub(r"\b(?!Nat|Z)[A-Z]\w*\.(?=[A-Za-z_])", "", text).split())
    done = ""
    while found := re.search(r"\b(?:(?:forall|exists)|(fun)) ", text):
        end = " =>" if found[1] else ","
        binders, rest = _cut(text[found.end() :], end)
        names = re.findall(r"(?:^|(?<=\()|(?<= ))([\w' ]+) : ", binders) or [binders]
        done += text[: found.end()] + " ".join(names) + end
        text = rest
    return done + text


def read(text: str) -> Statement:
    """Split a statement at its arrows, outside all brackets."""
    rest = plain(text)
    supposing: list[str] = []
    where: list[str] = []
    while True:
        if rest.startswith("forall "):
            rest = _cut(rest, ", ")[1]
        elif rest.startswith("let "):
            name, rest = _cut(rest, " in ")
            where.append(name)
        else:
            first, other = _cut(rest, " -> ")
            if not other:
                return Statement(frozenset(supposing), tuple(where), first)
            supposing.append(first)
            rest = other


def _cut(text: str, mark: str) -> tuple[str, str]:
    """Split at the first mark outside all brackets."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and text.startswith(mark, place):
            return text[:place], text[place + len(mark) :]
    return text, ""


def printed(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the theorems and the definitions in ``proofs/checked.txt``, by name."""
    theorems, _, definitions = text.partition("THEOREMS\n")[2].partition("DEFINITIONS\n")
    said = re.findall(r"^Statements\.(\w+)\s+: (.*?)(?=^Statements\.|\Z)", theorems, re.M | re.S)
    told = re.findall(r"^\w+\.(\w+) =\s(.*?)^     : ", definitions, re.M | re.S)
    for name, body in re.findall(r"^Inductive\s(\w+)\b.*?:=\s(.*?)\.$", definitions, re.M | re.S):
        ways = re.findall(r"(?:\A|^) +(?:\| )?(\w+) : (.*?)(?=^  \| |\Z)", body, re.M | re.S)
        told += [(name, " | ".join(way for way, _ in ways)), *ways]
    return dict(said), {name: plain(body) for name, body in told}


# ---- requirements ------------------------------------------------------------------------------------

LAWS = {"permute-and-flip": "pf", "exponential": "em", "noisy-max-laplace": "laplace_max"}
MEASURES = {
    "PureDP": "pure_dp n {} {} {}",
    "BoundedRange": "bounded_range n {} {} {}",
    "LaplaceDominated": "laplace_dominated n {} {} {}",
    "ApproxDP": "approx_dp n {} {} {} delta",
}
RANGES = {
    "permute-and-flip": "(range_permute_and_flip (d / s))",
    "exponential": "(d / s)",
    "noisy-max-laplace": "(range_of_pure (d / s))",
}
AT_DELTA = dict.fromkeys(LAWS, "(Rmax 0 (epsilon_laplace (d / s) delta))") | {
    "exponential": "(Rmax 0 (epsilon_of_range (d / s) delta))"
}
SCALE = ("0 < s", "(0 < n)%nat", "0 <= d", "0 <= delta", "range_distance n q q' d")
COSTS = ("0 <= eps", "0 <= delta")
LAWFUL = ("is_law_over N p", "is_law_over N p'", "is_law n p", "is_law n p'")
SELECTED = ("In choose selections", "0 < s")
COUNTED = "(forall r, personal (fun p l => has p l r))"
VALUED = ("personal value", "0 <= a <= b")
STREAM = ("0 < b1", "0 < b2", "0 <= h", "within_shift h d o o'")
TRANSCRIPTS = "sum (transcripts n k nil) (fun t => phi t * path {} nil t)"
ROUNDS = (
    "(forall h, is_part (n h) (law h))",
    "(forall h, is_part (n h) (law' h))",
    "within n eps k nil cap",
)


def _demands() -> Iterator[tuple[Claim, tuple[str, ...], tuple[str, ...], str]]:
    """Yield a claim, the hypotheses that the code establishes, the introduced names, and the conclusion."""
    for law, name in LAWS.items():
        pair = f"({name} s n q)", f"({name} s n q')"
        figures = {"ApproxDP": AT_DELTA[law], "BoundedRange": RANGES[law]}
        for measure, form in MEASURES.items():
            yield (law, measure), SCALE, (), form.format(*pair, figures.get(measure, "(d / s)"))
        both = (
            MEASURES["LaplaceDominated"].format(*pair, "(d / s)"),
            MEASURES["BoundedRange"].format(*pair, RANGES[law]),
        )
        yield (law, "FlippedCoins"), SCALE, (), " /\\ ".join(both)
        if law != "noisy-max-laplace":
            figure = RANGES[law].removeprefix("(").removesuffix(")")
            yield (
                (law, "ZCDP"),
                ("0 < s", "(0 < n)%nat", "0 < d", "range_distance n q q' d"),
                (f"let law := fun q0 r => if r <? n then {name} s n q0 r else 0",),
                f"concentrated (law q) (law q') (concentrated_of_range ({figure}))",
            )
    yield (
        ("large-gap", "ApproxDP"),
        ("(0 < n)%nat", "0 < eps", "0 <= delta", "0 < d", "range_distance n q q' d"),
        ("let law := large_gap (scale_of eps d) n (share_of_large_gap eps delta)",),
        "approx_dp n (law q) (law q') eps delta",
    )
    coins = "coin s (S n) (lazy_scores B q)"
    yield (
        ("lazy", "stand-in"),
        ("0 < s",),
        (),
        f"{coins} 0 = 1 /\\ (forall j, {coins} (S j) = exp (- (B - Rmin (q j) B) / s))",
    )
    near = "range_distance (S n) (lazy {}) (lazy {}) (distance_{} D)"
    yield (
        ("lazy", "stand-in"),
        ("0 <= D",),
        ("let lazy := lazy_scores B",),
        "((forall i, (i < n)%nat -> Rabs (q' i - q i) <= D) -> "
        + near.format("q", "q'", "general")
        + ") /\\ ((forall i, (i < n)%nat -> 0 <= q' i - q i <= D) -> "
        + near.format("q", "q'", "monotone")
        + " /\\ "
        + near.format("q'", "q", "monotone")
        + ")",
    )
    answers = "{} <= exp (h / b1 + INR (crossings o) * (d / b2)) * {}"
    yield (
        ("above-threshold-exponential", "PureDP"),
        STREAM,
        (),
        answers.format("chance b1 b2 T o", "chance b1 b2 T o'"),
    )
    chances = ("is_laplace_chance b1 b2 T o P", "is_laplace_chance b1 b2 T o' P'")
    yield (
        ("above-threshold-laplace", "PureDP"),
        (*STREAM, *chances),
        (),
        answers.format("P", "P'"),
    )

    yield (
        ("above-threshold-exponential", "ZCDP"),
        (
            *("0 < b1", "0 < b2", "0 <= h <= most", "0 <= h' <= most", "0 <= d"),
            "0 < most / b1 + INR c * (d / b2)",
            "(forall past, 0 <= h + q past - q' past <= d)",
            "(forall past, 0 <= h' + q' past - q past <= d)",
        ),
        ("let law := stream b1 b2 T m c",),
        "concentrated (law q) (law q') (concentrated_of_pure (most / b1 + INR c * (d / b2)))",
    )

    # From one measure to another: both directions are given, since neighbours are symmetric.
    def over(form: str, way: tuple[str, str], figure: str) -> str:
        return f"over N (fun n => {form.format(*way, figure)})"

    ways = (("p", "p'"), ("p'", "p"))
    for start, to, figure in (
        ("PureDP", "BoundedRange", "(range_of_pure eps)"),
        ("PureDP", "ApproxDP", "(Rmax 0 (epsilon_of_pure eps delta))"),
        ("BoundedRange", "PureDP", "eps"),
        ("BoundedRange", "ApproxDP", "(Rmax 0 (epsilon_of_range eps delta))"),
    ):
        given = [over(MEASURES[start], way, "eps") for way in ways]
        yield (start, to), (*LAWFUL, *COSTS, *given), (), over(MEASURES[to], ways[0], figure)
    own = [over("approx_dp n {} {} {}", way, "eps lost") for way in ways]
    more = over(MEASURES["ApproxDP"], ways[0], "(Rmax 0 (epsilon_of_approx eps lost delta))")
    yield (
        ("ApproxDP", "ApproxDP"),
        (*LAWFUL, *COSTS, *own, "lost <= delta", "lost < 1"),
        (),
        more,
    )
    spelled = ("(forall r, (r < n)%nat -> 0 <= p r)", "sum (candidates n) p = 1")
    given = [MEASURES["LaplaceDominated"].format(*way, "eps") for way in ways]
    for start in ("LaplaceDominated", "FlippedCoins"):
        for to, figure in (
            ("PureDP", "eps"),
            ("BoundedRange", "(range_of_pure eps)"),
            ("ApproxDP", "(Rmax 0 (epsilon_laplace eps delta))"),
        ):
            follows = MEASURES[to].format(*ways[0], figure)
            yield (start, to), (*LAWFUL, *COSTS, *spelled, *given), (), follows

    laws = ("0 < eps", "distribution p", "distribution p'")
    yield (
        ("PureDP", "ZCDP"),
        (*laws, "(forall a, p a <= exp eps * p' a)", "(forall a, p' a <= exp eps * p a)"),
        (),
        "concentrated p p' (concentrated_of_pure eps)",
    )
    for start in ("BoundedRange", "FlippedCoins"):
        yield (
            (start, "ZCDP"),
            (*laws, "(forall a b, p a * p' b <= exp eps * (p b * p' a))"),
            (),
            "concentrated p p' (concentrated_of_range eps)",
        )
    yield (
        ("LaplaceDominated", "ZCDP"),
        (*LAWFUL, *COSTS, *given),
        (),
        "concentrated (listed_only n p) (listed_only n p') (concentrated_of_laplace eps)",
    )
    other = "p'"
    drawn = "(fun a => sum coins (fun c => weight c * {} c a))"
    yield (
        ("AveragedRange", "ZCDP"),
        (
            *("0 < eps", "(forall c, In c coins -> 0 <= weight c)", "sum coins weight <= 1"),
            "(forall c, In c coins -> distribution (p c) /\\ distribution (p' c))",
            "(forall c a b, In c coins -> p c a * p' c b <= exp eps * (p c b * p' c a))",
        ),
        (),
        f"concentrated {drawn.format('p')} {drawn.format(other)} (concentrated_of_range eps)",
    )
    yield (
        ("ZCDP", "ApproxDP"),
        (
            *("(forall a, 0 <= p' a)", "concentrated p p' rho", "0 < delta", "1 < order"),
            "NoDup answers",
        ),
        (),
        "sum answers p <= exp (Rmax 0 (epsilon_of_concentrated rho delta order)) * sum answers p' + delta",
    )
    yield (
        ("ZCDP", "sum"),
        (
            "(forall h, at_most_one (law h))",
            "(forall h, concentrated (law h) (law' h) (rho h))",
            "affords rho k nil cap",
        ),
        (),
        "concentrated (rounds law k nil) (rounds law' k nil) cap",
    )

    # Several people, and several releases.
    chain = "(forall i, (i < k)%nat -> {})"
    lawful = ("0 <= eps", "(forall i, (i <= k)%nat -> is_law n (P i))")
    for start in ("PureDP", "BoundedRange", "LaplaceDominated", "FlippedCoins"):
        form = MEASURES["LaplaceDominated" if start == "FlippedCoins" else start]
        given_chain = chain.format(form.format("(P i)", "(P (S i))", "eps"))
        follows = form.format("(P 0%nat)", "(P k)", "(INR k * eps)")
        yield (start, "people"), (*lawful, given_chain), (), follows
    yield (
        ("ApproxDP", "people"),
        (chain.format("approx_dp n (P i) (P (S i)) eps delta"),),
        (),
        "approx_dp n (P 0%nat) (P k) (INR k * eps) "
        "(delta * sum (candidates k) (fun i => exp (INR i * eps)))",
    )
    first, second = TRANSCRIPTS.format("law"), TRANSCRIPTS.format("law'")
    yield (
        ("PureDP", "sum"),
        (
            *ROUNDS,
            "(forall h, pure_dp (n h) (law h) (law' h) (eps h))",
            "(forall t, 0 <= phi t)",
        ),
        (),
        f"{first} <= exp cap * {second}",
    )
    yield (
        ("ApproxDP", "sum"),
        (
            *ROUNDS,
            "(forall h, approx_dp (n h) (law h) (law' h) (eps h) (delta h))",
            "within n delta k nil cap'",
            "(forall t, 0 <= phi t <= 1)",
        ),
        (),
        f"{first} <= exp cap * {second} + cap'",
    )

    # From a table to an answer, under both relations.
    private = (
        "(add_remove t t' -> pure_dp {0} (law t) (law t') {1}) /\\ "
        "(replace t t' -> pure_dp {0} (law t) (law t') {2})"
    )
    count, quantile = "people_with has", "quantile_score value a b"
    spread = "(distance_general (sensitivity_quantile{} a b) / s)"
    yield (
        ("mode", "PureDP"),
        (*SELECTED, COUNTED),
        (f"let law := fun t0 => choose s n ({count} t0)",),
        private.format("n", "(1 / s)", "(2 / s)"),
    )
    yield (
        ("quantile", "PureDP"),
        (*SELECTED, *VALUED),
        (f"let law := fun t0 => choose s n ({quantile} t0)",),
        private.format("n", spread.format(""), spread.format("_replace")),
    )
    yield (
        ("one-shot", "scores"),
        ("0 < s", "(forall t, In t o -> (t < n)%nat)", "range_distance n q q' d"),
        (),
        "one_shot s n q o <= exp (INR (length o) * (d / s)) * one_shot s n q' o",
    )
    yield (
        ("one-shot", "PureDP"),
        ("0 < s", COUNTED, "(forall r, In r o -> (r < n)%nat)"),
        (f"let law := fun t0 => one_shot s n ({count} t0) o",),
        "(add_remove t t' -> law t <= exp (INR (length o) * (1 / s)) * law t') /\\ "
        "(replace t t' -> law t <= exp (INR (length o) * (2 / s)) * law t')",
    )
    yield (
        ("joint", "PureDP"),
        (
            *("0 < s", "(1 <= k)%nat", COUNTED, "(forall i j, (tuple i j < N)%nat)"),
            f"(forall t0 r, INR (counts t0 r) = {count} t0 r)",
        ),
        (
            "let law := fun t0 => em s tuples (fun i => joint_score N k (counts t0) (tuple i))",
            "let d := if k =? 1 then 1 else 2",
        ),
        private.format("tuples", "(d / s)", "(2 * d / s)"),
    )

    yield (
        ("votes", "PureDP"),
        (
            *SELECTED,
            "(1 <= m)%nat",
            "(forall c, In c coins -> 0 <= weight c)",
            "(forall c b u u', same u u' -> vote c b u = vote c b u')",
        ),
        (
            "let law := fun t0 r => sum coins (fun c => weight c * dealt m (people t0) (fun _ => 0%nat) "
            "(fun block => choose s n (votes m (vote c) block t0) r))",
        ),
        private.format("n", "(2 / s)", "(2 / s)"),
    )

    ballots = (
        "(1 <= m)%nat",
        "(forall c, In c coins -> 0 <= weight c)",
        "(forall c b u u', same u u' -> vote c b u = vote c b u')",
        "0 < s",
    )
    dealt = (
        "let law := fun t0 r => sum coins (fun c => weight c * dealt m (people t0) (fun _ => 0%nat) "
        "(fun block => choose s n (votes m (vote c) block t0) r))"
    )
    near = "(add_remove t t' -> {0}) /\\ (replace t t' -> {0})"
    yield (
        ("votes", "ZCDP"),
        (
            *ballots,
            "sum coins weight = 1",
            "(0 < n)%nat",
            "In choose (pf :: laplace_max :: nil) /\\ rho = concentrated_of_laplace (2 / s) \\/ "
            "choose = em /\\ rho = concentrated_of_range (2 / s)",
        ),
        (dealt, "let answered := fun t0 => listed_only n (law t0)"),
        near.format("concentrated (answered t) (answered t') rho"),
    )
    yield (
        ("votes", "LaplaceDominated"),
        (
            *ballots,
            "sum coins weight = 1",
            "(0 < n)%nat",
            "In choose (pf :: laplace_max :: nil)",
        ),
        (dealt,),
        near.format("laplace_dominated n (law t) (law t') (2 / s)"),
    )
    yield (
        ("votes", "count"),
        (*ballots, "In choose selections", "0 < eps", "(r < n)%nat"),
        (
            "let voted := fun c block t0 => voted m n (fun b => vote c b (in_block block b t0))",
            "let law := fun t0 => sum coins (fun c => weight c * dealt m (people t0) (fun _ => 0%nat) "
            "(fun block => choose s n (votes m (vote c) block t0) r * "
            "discrete_laplace eps (z - Z.of_nat (voted c block t0))))",
        ),
        near.format("law t <= exp (2 / s + eps) * law t'"),
    )

    # The best of several runs.
    runs = (
        *("0 <= eps", "is_law n p", "is_law n p'"),
        "(forall r, (r < n)%nat -> p r <= exp eps * p' r)",
        "(forall r, (r < n)%nat -> p' r <= exp eps * p r)",
    )
    best = "pure_dp (S n) (best_of n value p w) (best_of n value p' w) ({})"
    yield (
        ("halting runs", "PureDP"),
        (*runs, "0 < gamma < 1", "-1 < eta", "halting_number gamma eta w"),
        (),
        best.format("cost_of_halting eps gamma eta"),
    )
    yield (
        ("Poisson runs", "PureDP"),
        (*runs, "0 <= mu"),
        ("let w := poisson_number mu",),
        best.format("cost_of_poisson eps mu"),
    )
    yield (
        ("fixed runs", "PureDP"),
        runs,
        ("let law := fun p0 o => after n value p0 k (answered n o)",),
        "pure_dp (S n) (law p) (law p') (INR k * eps)",
    )
    yield (
        ("target", "PureDP"),
        (*runs, "0 < gamma < 1"),
        (),
        "pure_dp (S n) (first_of n reaches gamma p) (first_of n reaches gamma p') "
        "(cost_of_halting eps gamma 0)",
    )

    # One sensitivity for each score.
    for apart, given_moves in (
        (
            "D i + D j",
            (
                "0 <= d",
                "(forall i, (i < n)%nat -> Rabs (q' i - q i) <= D i)",
                "(forall i j, (i < n)%nat -> (j < n)%nat -> i <> j -> D i + D j <= d)",
            ),
        ),
        (
            "Rmax (D i) (D j)",
            (
                "(forall i, (i < n)%nat -> 0 <= D i)",
                "(forall i, (i < n)%nat -> 0 <= q' i - q i <= D i) \\/ "
                "(forall i, (i < n)%nat -> 0 <= q i - q' i <= D i)",
                "(forall i, (i < n)%nat -> D i <= d)",
            ),
        ),
    ):
        yield (
            ("unequal", "scores"),
            (
                *given_moves,
                "(forall i j, (i < n)%nat -> (j < n)%nat -> i <> j -> 0 < D i + D j)",
            ),
            (f"let ratios := ratios n t D (fun i j => {apart})",),
            "range_distance n q q' d /\\ range_distance n (ratios q) (ratios q') 2",
        )

    # In steps.
    moved = "sensitivity {0} {1} {2} /\\ {3}distance {0} {1} {4}"
    for relation, near, steady, far in (
        ("add-remove", "add_remove", "monotonic add_remove q /\\ ", "1"),
        ("replace", "replace", "", "2"),
    ):
        follows = moved.format(near, "q", "1", steady, far)
        yield ("counts", relation), (COUNTED,), (f"let q := {count}",), follows
        most = "sensitivity_quantile" + ("_replace" if near == "replace" else "")
        yield (
            ("quantiles", relation),
            VALUED,
            (
                f"let q := {quantile}",
                "let q0 := plain_score value a b",
                f"let M := {most} a b",
            ),
            " /\\ ".join(
                moved.format(near, q, "M", "", "(distance_general M)") for q in ("q", "q0")
            ),
        )
    noisy = "sum answers (fun a => discrete_laplace eps (a - {}))"
    yield (
        ("count", "PureDP"),
        ("0 < eps", "(Z.abs (c - c') <= 1)%Z"),
        (),
        noisy.format("c") + " <= exp eps * " + noisy.format("c'"),
    )
    # From a table to everything that an answer says, for any secret coins.
    each_relation = "(add_remove t t' -> {}) /\\ (replace t t' -> {})"
    chance = "sum answers (law t) <= exp {} * sum answers (law t')"
    yield (
        ("answer", "PureDP"),
        ("release A law eps eps'",),
        (),
        each_relation.format(chance.format("eps"), chance.format("eps'")),
    )
    spent = "concentrated (law t) (law t') {}"
    yield (
        ("answer", "ZCDP"),
        ("spending A law rho rho'",),
        (),
        each_relation.format(spent.format("rho"), spent.format("rho'")),
    )
    ranged = "bounded_range n (law t) (law t') ({} / s)"
    yield (
        ("joint", "BoundedRange"),
        ("0 < s", "(0 < n)%nat", "weighed q d d'"),
        ("let law := fun t0 => em s n (q t0)",),
        each_relation.format(ranged.format("d"), ranged.format("d'")),
    )
    weighted = ("(forall c, In c coins -> 0 <= weight c)", "sum coins weight = 1")
    average = "sum coins (fun c => weight c * {} c)"
    yield (
        ("hidden coins", "ApproxDP"),
        (*weighted, "(forall c, In c coins -> law c <= exp eps * law' c + delta)"),
        (),
        average.format("law") + " <= exp eps * " + average.format("law'") + " + delta",
    )
    yield (
        ("hidden coins", "LaplaceDominated"),
        (
            *("0 <= eps", *weighted, "(forall c, In c coins -> is_law n (p c))"),
            "(forall c, In c coins -> laplace_dominated n (p c) (p' c) eps)",
        ),
        (),
        "laplace_dominated n (fun r => sum coins (fun c => weight c * p c r)) "
        "(fun r => sum coins (fun c => weight c * p' c r)) eps",
    )
    mean = "mean t <= exp (INR rounds * {}) * mean t' + INR rounds * {}"
    unknown = (
        *("0 <= tau", "0 < eps", "0 < delta", "(1 <= k)%nat", "(1 <= m)%nat", COUNTED),
        "(forall p l, (length (filter (has p l) (candidates N)) <= m)%nat)",
        "margin_unknown_domain eps delta (INR (Nat.min m k)) <= tau",
    )
    yield (
        ("unknown domain", "ApproxDP"),
        (*unknown, "(forall h, 0 <= phi h <= 1)"),
        (
            "let mean := fun t0 => sum (transcripts (fun _ => S N) rounds nil) "
            "(fun h => phi h * path (round N k tau eps has t0) nil h)",
        ),
        each_relation.format(
            mean.format("eps", "delta"), mean.format("(2 * eps)", "(delta * (1 + exp eps))")
        ),
    )
    found = "found t <= exp ({}) * found t' + {}"
    yield (
        ("unknown domain", "then"),
        (
            *unknown,
            "(forall h, whole A (law h) more more')",
            "(forall h, NoDup (answers h))",
        ),
        (
            "let found := fun t0 => sum (transcripts (fun _ => S N) rounds nil) (fun h => "
            "sum (answers h) (law h t0) * path (round N k tau eps has t0) nil h)",
        ),
        each_relation.format(
            found.format("INR rounds * eps + more", "INR rounds * delta"),
            found.format("INR rounds * (2 * eps) + more'", "INR rounds * (delta * (1 + exp eps))"),
        ),
    )
    yield (
        ("kept", "ApproxDP"),
        (
            *("0 <= eps", "0 <= delta <= 1", *weighted, "(forall c, personal (group c))"),
            "(forall l, whole A (law l) more more')",
            "(forall l, NoDup (answers l))",
        ),
        (
            "let found := fun t0 => sum coins (fun c => weight c * passes eps delta "
            "(sizes (group c) G t0) (fun l => sum (answers l) (law l t0)))",
        ),
        each_relation.format(
            found.format("eps + more", "delta"), found.format("2 * eps + more'", "2 * delta")
        ),
    )


DEMANDS: dict[Claim, list[Statement]] = {}
for _claim, _supposing, _where, _follows in _demands():
    DEMANDS.setdefault(_claim, []).append(Statement(frozenset(_supposing), _where, _follows))

PAPER: dict[Claim, tuple[str, ...]] = {
    ("votes", "AveragedRange"): ("**Which measure.** For given coins",),
    ("ApproxDP", "ZCDP"): ("**Claim.** For every $\\varepsilon>0$ and every order",),
    **{
        ("AveragedRange", to): ("**Theorem (averaged range).**",)
        for to in ("PureDP", "BoundedRange", "ApproxDP", "people")
    },
    ("FlippedCoins", "BoundedRange"): ("The exact range of permute-and-flip",),
    ("ApproxDP", "PureDP"): ("`ApproxDP(ε, 0)`",),
    ("ApproxDP", "BoundedRange"): ("`ApproxDP(ε, 0)`",),
    ("ZCDP", "people"): ("For `ZCDP` we show",),
    ("fixed list", "sum"): ("## Fixed costs: dominating pairs",),
    ("ledger", "sum"): ("## The cap is a privacy filter",),
    ("groups", "sum"): ("**What groups promise.**",),
    ("hidden coins", "AveragedRange"): ("**Lemma (averages).**",),
    ("several quantiles", "steps"): ("**Theorem.** If each choice is $\\varepsilon_0$-DP",),
    ("weighed", "ApproxDP"): ("**Theorem (weights).**",),
    ("chosen bound", "PureDP"): ("## A bound that is chosen",),
    ("cluster", "PureDP"): ("cannot be told from random functions",),
    ("tuning", "ApproxDP"): ("## 2. A profile and the largest ratio",),
}
"""Where each page proves what is claimed on paper, page by page."""

MEANT = {
    "pure_dp": "fun n p p' eps => forall S, event n S p <= exp eps * event n S p'",
    "approx_dp": "fun n p p' eps delta => forall S, event n S p <= exp eps * event n S p' + delta",
    "bounded_range": "fun n p p' eps => forall i j, (i < n)%nat -> (j < n)%nat -> "
    "p i * p' j <= exp eps * (p j * p' i)",
    "laplace_dominated": "fun n p p' eps => forall phi, test n phi -> "
    "tradeoff_laplace eps (average n phi p) <= average n phi p'",
    "test": "fun n phi => forall r, (r < n)%nat -> 0 <= phi r <= 1",
    "event": "fun n S p => sum (filter S (candidates n)) p",
    "range_distance": "fun n q q' d => forall i j, (i < n)%nat -> (j < n)%nat -> "
    "q' i - q i - (q' j - q j) <= d",
    "candidates": "fun n => seq 0 n",
    "selections": "pf :: em :: laplace_max :: nil",
    "em": "fun s n q r => coin s n q r / sum (candidates n) (coin s n q)",
    "coin": "fun s n q t => exp (- (best n q - q t) / s)",
    "pf": "fun s n q r => coin s n q r * "
    "int (fun u => prod (others n r) (fun t => 1 - u * coin s n q t)) 0 1",
    "is_law": "fun n p => (forall r, (r < n)%nat -> 0 <= p r) /\\ sum (candidates n) p = 1",
    "is_law_on_all": "fun p => (forall r, 0 <= p r) /\\ "
    "is_lim_seq (fun n => sum (candidates n) p) (Finite 1)",
    "is_law_over": "fun N p => match N with | Some n => is_law n p | None => is_law_on_all p end",
    "over": "fun N says => match N with | Some n => says n | None => forall n, says n end",
    "is_part": "fun n p => (forall r, (r < n)%nat -> 0 <= p r) /\\ sum (candidates n) p <= 1",
    "add_remove": "fun Row t t' => exists p, added t t' p \\/ added t' t p",
    "replace": "fun Row t t' => exists m p p', added m t p /\\ added m t' p'",
    "added": "fun Row t t' p => rows t p = nil /\\ rows t' p <> nil /\\ "
    "(forall x, x <> p -> Permutation (rows t x) (rows t' x))",
    "personal": "fun Row A f => forall p l l', Permutation l l' -> f p l = f p l'",
    "same": "fun Row t t' => forall p, Permutation (rows t p) (rows t' p)",
    "votes": "fun Row m vote block t r => "
    "sum (candidates m) (fun b => ballot (vote b (in_block block b t)) r)",
    "ballot": "fun vote r => match vote with | Some c => if c =? r then 1 else 0 | None => 0 end",
    "in_block": "fun Row block b t => filter (fun x => block (fst x) =? b) t",
    "put": "fun block p b x => if x =? p then b else block x",
    "dealt": "fun m => fix dealt (l : list nat) (block : nat -> nat) (F : (nat -> nat) -> R) {struct l} : R "
    ":= match l with | nil => F block | p :: l0 => sum (candidates m) (fun b => / INR m * "
    "dealt l0 (put block p b) F) end",
    # The grammar of answers: each constructor with its law and its two costs.
    "scored": "counts | quantiles",
    "counts": "forall has, (forall r, personal (fun p l => has p l r)) -> scored (people_with has) 1 2",
    "quantiles": "forall value a b, personal value -> 0 <= a <= b -> scored (quantile_score value a b) "
    "(distance_general (sensitivity_quantile a b)) (distance_general (sensitivity_quantile_replace a b))",
    "release": "choosing | with_lead | at_once | jointly | jointly_one | jointly_set | jointly_set_one | "
    "counting | crossing | bounding | "
    "silence | followed | by_group | drawn | at_most",
    "crossing": "forall b1 b2 T c has, 0 < b1 -> 0 < b2 -> (forall r, personal (fun p l => has p l r)) -> "
    "release (list (option (option nat))) (fun t => crossed b1 b2 T c (people_with has t)) "
    "(1 / b1 + INR c * (1 / b2)) (1 / b1 + INR c * (2 / b2))",
    "bounding": "forall b1 b2 T value a b, 0 < b1 -> 0 < b2 -> personal value -> 0 <= a <= b -> "
    "release (list (option (option nat))) (fun t => crossed b1 b2 T 1 (people_short value a b t)) "
    "(sensitivity_quantile a b / b1 + b / b2) (sensitivity_quantile_replace a b / b1 + b / b2)",
    "crossed": "fun b1 b2 T c q a => let o := combine (map q (candidates (length a))) (map said a) in "
    "if crossings o <=? c then chance b1 b2 T o else 0",
    "said": "fun a => match a with | Some (Some g) => Within (INR g) (INR (S g)) | Some None => Above | "
    "None => Below end",
    "chance": "fun b1 b2 T o => real (Lim_seq (fun n => transcript b1 b2 T o (INR n)))",
    "people_short": "fun Row value a b t i => b * at_most value t i - a * everyone value t",
    "choosing": "forall choose s n q d d', In choose selections -> 0 < s -> scored q d d' -> "
    "release nat (chosen choose s n q) (d / s) (d' / s)",
    "with_lead": "forall s n q d d', 0 < s -> scored q d d' -> "
    "release (nat * nat) (chosen_with_lead s n q) (d / s) (d' / s)",
    "at_once": "forall s n k q d d', 0 < s -> (1 <= k)%nat -> scored q d d' -> "
    "release (list nat) (chosen_at_once s n k q) (INR k * (d / s)) (INR k * (d' / s))",
    "jointly": "forall s N k tuples tuple has, 0 < s -> (1 <= k)%nat -> (forall i j, (tuple i j < N)%nat) -> "
    "(forall r, personal (fun p l => has p l r)) -> let d := if k =? 1 then 1 else 2 in "
    "release nat (chosen_jointly s N k tuples tuple has) (d / s) (2 * d / s)",
    "jointly_one": "forall s N k tuples tuple value, 0 < s -> (2 <= k)%nat -> "
    "(forall i j, (tuple i j < N)%nat) -> personal value -> "
    "release nat (chosen_jointly s N k tuples tuple (has_value value)) (2 / s) (3 / s)",
    "counting": "forall eps which, 0 < eps -> personal which -> release Z (noisy_number eps which) eps eps",
    "silence": "release unit (fun _ _ => 1) 0 0",
    "followed": "forall A B law law2 eps eps' more more', release A law eps eps' -> "
    "(forall a, release B (law2 a) more more') -> "
    "release (A * B) (fun t o => law t (fst o) * law2 (fst o) t (snd o)) (eps + more) (eps' + more')",
    "by_group": "forall A law eps eps' inside kept count m, 0 <= eps -> "
    "(forall g, release A (law g) eps (eps' g)) -> (forall g, personal (fun p l => kept p l g)) -> "
    "(forall p l, (length (filter (is_in inside kept p l) (candidates count)) <= m)%nat) -> "
    "release (nat -> A) (joint inside kept count law) (INR m * eps) (2 * (INR m * eps))",
    "drawn": "forall A C coins weight law eps eps', (forall c, In c coins -> 0 <= weight c) -> "
    "(forall c, In c coins -> release A (law c) eps eps') -> "
    "release A (fun t a => sum coins (fun c => weight c * law c t a)) eps eps'",
    "at_most": "forall A law eps eps' more more', release A law eps eps' -> eps <= more -> eps' <= more' -> "
    "release A law more more'",
    "chosen": "fun Row choose s n q t r => if r <? n then choose s n (q t) r else 0",
    "chosen_with_lead": "fun Row s n q t a => if fst a <? n then beyond s n (q t) (fst a) (INR (snd a)) - "
    "beyond s n (q t) (fst a) (INR (S (snd a))) else 0",
    "chosen_at_once": "fun Row s n k q t o => if ((length o =? k) && forallb (fun r => r <? n) o)%bool "
    "then one_shot s n (q t) o else 0",
    "chosen_jointly": "fun Row s N k tuples tuple has t i => "
    "let counts := fun r => number_with (fun p l => has p l r) t in "
    "if i <? tuples then em s tuples (fun i0 => joint_score N k counts (tuple i0)) i else 0",
    "has_value": "fun Row value p l r => match value p l with | Some v => v =? r | None => false end",
    "noisy_number": "fun Row eps which t z => discrete_laplace eps (z - Z.of_nat (number_with which t))",
    "number_with": "fun Row which t => length (filter (fun p => which p (rows t p)) (people t))",
    "joint": "fun Row Answer inside kept count law t o => "
    "prod (candidates count) (fun g => law g (part inside kept g t) (o g))",
    "part": "fun Row inside kept g t => "
    "filter (fun x => (inside g (snd x) && kept (fst x) (rows t (fst x)) g)%bool) t",
    "is_in": "fun Row inside kept p l g => (kept p l g && existsb (inside g) l)%bool",
    "sizes": "fun Row group G t => "
    "map (fun g => number_with (fun p l => has_value group p l g) t) (candidates G)",
    "passes": "fun eps delta => fix passes (counts : list nat) (test : list bool -> R) {struct counts} : R "
    ":= match counts with | nil => test nil | m :: rest => keep eps delta m * passes rest (fun l => "
    "test (true :: l)) + (1 - keep eps delta m) * passes rest (fun l => test (false :: l)) end",
    "keep": "fun eps delta => fix keep (m : nat) : R := match m with | 0%nat => 0 | S k => "
    "Rmin (Rmin (exp eps * keep k + delta) (1 - exp (- eps) * (1 - keep k - delta))) 1 end",
    "round": "fun Row N k tau eps has t h r => if among (N :: options N k (among h) (people_of has t)) r "
    "then limited N k (scale_of eps 1) tau (among h) (people_of has t) r else 0",
    "people_of": "fun Row has t v => number_with (fun p l => has p l v) t",
    "limited": "fun N k s tau chosen c r => list_pf s (score N k tau c) N (options N k chosen c) r",
    "people_with": "fun Row has t r => total t (fun p l => if has p l r then 1 else 0)",
    # The same in ρ: a grammar, and what zCDP means.
    "spending": "flipping | weighing | choosing_noisily | purely | said_nothing | then_spending | "
    "in_groups | "
    "coins_drawn | at_most_spending",
    "choosing_noisily": "forall choose s n q d d', In choose (pf :: laplace_max :: nil) -> 0 < s -> "
    "(0 < n)%nat -> 0 <= d"
    " -> 0 <= d' -> scored q d d' -> spending nat (chosen choose s n q) (concentrated_of_laplace (d /"
    " s)) (concentrated_of_laplace (d' / s))",
    "purely": "forall A law eps eps', whole A law eps eps' -> 0 < eps -> 0 < eps' -> spending A law "
    "(concentrated_of_pure eps) (concentrated_of_pure eps')",
    "whole": "one_of | one_weighed | one_with_lead | largest | watching | bounded | counted | nothing | "
    "one_then | for_groups | with_coins | costs_at_most",
    "one_of": "forall choose s n q d d', In choose selections -> 0 < s -> (0 < n)%nat -> scored q d "
    "d' -> whole"
    " nat (chosen choose s n q) (d / s) (d' / s)",
    "one_weighed": "forall s n q d d', 0 < s -> (0 < n)%nat -> weighed q d d' -> whole nat (chosen "
    "em s n q) (d / s)"
    " (d' / s)",
    "one_with_lead": "forall s n q d d', 0 < s -> (2 <= n)%nat -> scored q d d' -> whole (nat * "
    "nat) (chosen_with_lead"
    " s n q) (d / s) (d' / s)",
    "largest": "forall s n k q d d', 0 < s -> (1 <= k <= n)%nat -> scored q d d' -> whole (list "
    "nat) (fun t => "
    "only (list_eq_dec Nat.eq_dec) (orders k (candidates n)) (chosen_at_once s n k q t)) (INR k * (d "
    "/ s)) (INR k * (d' / s))",
    "watching": "forall b1 b2 T m c has, 0 < b1 -> 0 < b2 -> (forall r, personal (fun p l => has p "
    "l r)) -> whole"
    " (list (option (option nat))) (fun t => only same_stream (streams m c) (crossed b1 b2 T c "
    "(people_with has t))) (1 / b1 + INR c * (1 / b2)) (1 / b1 + INR c * (2 / b2))",
    "bounded": "forall b1 b2 T m value a b, 0 < b1 -> 0 < b2 -> personal value -> 0 <= a <= b -> whole (list "
    "(option (option nat))) (fun t => only same_stream (streams m 1) (crossed b1 b2 T 1 (people_short"
    " value a b t))) (sensitivity_quantile a b / b1 + b / b2) (sensitivity_quantile_replace a b / b1 "
    "+ b / b2)",
    "counted": "forall eps which, 0 < eps -> personal which -> whole Z (noisy_number eps which) eps eps",
    "nothing": "whole unit (fun _ _ => 1) 0 0",
    "one_then": "forall A B law law2 eps eps' more more', whole A law eps eps' -> (forall a, whole "
    "B (law2 a) "
    "more more') -> whole (A * B) (fun t o => law t (fst o) * law2 (fst o) t (snd o)) (eps + more) "
    "(eps' + more')",
    "for_groups": "forall A law eps eps' inside kept count m, 0 <= eps -> (forall g, whole A (law "
    "g) eps (eps' g)) "
    "-> (forall g, personal (fun p l => kept p l g)) -> (forall p l, (length (filter (is_in inside "
    "kept p l) (candidates count)) <= m)%nat) -> whole (list A) (fun t => each (fun g => law g (part "
    "inside kept g t)) (candidates count)) (INR m * eps) (2 * (INR m * eps))",
    "with_coins": "forall A C coins weight law eps eps', (forall c, In c coins -> 0 <= weight c) -> "
    "sum coins "
    "weight = 1 -> (forall c, In c coins -> whole A (law c) eps eps') -> whole A (fun t a => sum "
    "coins (fun c => weight c * law c t a)) eps eps'",
    "costs_at_most": "forall A law eps eps' more more', whole A law eps eps' -> eps <= more -> eps' "
    "<= more' -> whole "
    "A law more more'",
    "stream": "fun b1 b2 T m c q => only same_stream (streams m c) (fun a => chance b1 b2 T (asked q nil a))",
    "asked": "fix asked (q : list (option (option nat)) -> R) (before a : list (option (option "
    "nat))) {struct "
    "a} : list (R * answer) := match a with | nil => nil | x :: a' => (q before, said x) :: asked q "
    "(before ++ x :: nil) a' end",
    "listed_only": "fun n p r => if r <? n then p r else 0",
    "weighed": "one_by_one | tuples | tuples_one | sets | sets_one",
    "flipping": "forall s n q d d', 0 < s -> (0 < n)%nat -> 0 < d -> 0 < d' -> scored q d d' -> spending nat "
    "(chosen pf s n q) (concentrated_of_range (range_permute_and_flip (d / s))) "
    "(concentrated_of_range (range_permute_and_flip (d' / s)))",
    "weighing": "forall s n q d d', 0 < s -> (0 < n)%nat -> 0 < d -> 0 < d' -> weighed q d d' -> spending nat"
    " (chosen em s n q) (concentrated_of_range (d / s)) (concentrated_of_range (d' / s))",
    "only": "fun A same forall a b shown p a => if in_dec same a shown then p a else 0",
    "orders": "fix orders (fuel : nat) (l : list nat) {struct fuel} : list (list nat) := match "
    "fuel with | 0%nat => nil :: nil | S fuel0 => flat_map (fun x => map (cons x) "
    "(orders fuel0 (without x l))) l end",
    "streams": "fix streams (m c : nat) {struct m} : list (list (option (option nat))) := match "
    "m with | 0%nat => nil :: nil | S m0 => match c with | 0%nat => nil :: nil | S c0"
    " => map (cons None) (streams m0 (S c0)) ++ map (cons (Some None)) (streams m0 "
    "c0) end end",
    "said_nothing": "spending unit (fun _ _ => 1) 0 0",
    "then_spending": "forall A B law law2 rho rho' more more', spending A law rho rho' -> (forall a, "
    "spending B "
    "(law2 a) more more') -> spending (A * B) (fun t o => law t (fst o) * law2 (fst o) t (snd o))"
    " (rho + more) (rho' + more')",
    "in_groups": "forall A law rho rho' inside kept count m, 0 <= rho -> 0 <= rho' -> (forall g, spending A "
    "(law g) rho rho') -> (forall g, personal (fun p l => kept p l g)) -> (forall p l, (length "
    "(filter (is_in inside kept p l) (candidates count)) <= m)%nat) -> spending (list A) (fun t "
    "=> each (fun g => law g (part inside kept g t)) (candidates count)) (INR m * rho) (INR m * "
    "Rmax (2 * rho) rho')",
    "coins_drawn": "forall A C coins weight law rho rho', (forall c, In c coins -> 0 <= weight c) -> sum "
    "coins "
    "weight <= 1 -> (forall c, In c coins -> spending A (law c) rho rho') -> spending A (fun t a "
    "=> sum coins (fun c => weight c * law c t a)) rho rho'",
    "at_most_spending": "forall A law rho rho' more more', spending A law rho rho' -> rho <= more -> rho' <= "
    "more' ->"
    " spending A law more more'",
    "one_by_one": "forall q d d', scored q d d' -> weighed q d d'",
    "tuples": "forall N k tuple has, (1 <= k)%nat -> (forall i j, (tuple i j < N)%nat) -> (forall r, "
    "personal (fun p l => has p l r)) -> let d := if k =? 1 then 1 else 2 in weighed (fun t i => "
    "joint_score N k (counts_of has t) (tuple i)) d (2 * d)",
    "tuples_one": "forall N k tuple value, (2 <= k)%nat -> (forall i j, (tuple i j < N)%nat) -> personal "
    "value "
    "-> weighed (fun t i => joint_score N k (counts_of (has_value value) t) (tuple i)) 2 3",
    "sets": "forall N k m tuple has, (1 <= k)%nat -> (1 <= m)%nat -> (forall i o j, (tuple i o j < "
    "N)%nat) -> (forall r, personal (fun p l => has p l r)) -> let d := if k =? 1 then 1 else 2 "
    "in weighed (fun t i => best m (fun o => joint_score N k (counts_of has t) (tuple i o))) d (2"
    " * d)",
    "sets_one": "forall N k m tuple value, (2 <= k)%nat -> (1 <= m)%nat -> (forall i o j, (tuple i o j < "
    "N)%nat) -> personal value -> weighed (fun t i => best m (fun o => joint_score N k (counts_of"
    " (has_value value) t) (tuple i o))) 2 3",
    "jointly_set": "forall s N k m sets tuple has, 0 < s -> (1 <= k)%nat -> (1 <= m)%nat -> (forall i o j, "
    "(tuple i o j < N)%nat) -> (forall r, personal (fun p l => has p l r)) -> let d := if k =? 1 "
    "then 1 else 2 in release nat (chosen_set s N k m sets tuple has) (d / s) (2 * d / s)",
    "jointly_set_one": "forall s N k m sets tuple value, 0 < s -> (2 <= k)%nat -> (1 <= m)%nat -> (forall "
    "i o j, "
    "(tuple i o j < N)%nat) -> personal value -> release nat (chosen_set s N k m sets tuple "
    "(has_value value)) (2 / s) (3 / s)",
    "chosen_set": "fun Row s N k m sets tuple has t i => let counts := fun r => number_with (fun p l => "
    "has p l"
    " r) t in if i <? sets then em s sets (fun i0 => best m (fun o => joint_score N k counts "
    "(tuple i0 o))) i else 0",
    "counts_of": "fun Row has t r => number_with (fun p l => has p l r) t",
    "each": "fix each (A : Type) (f : nat -> A -> R) (groups : list nat) (o : list A) {struct groups} : R"
    " := match groups with | nil => match o with | nil => 1 | _ :: _ => 0 end | g :: groups0 => "
    "match o with | nil => 0 | a :: o0 => f g a * each A f groups0 o0 end end",
    "concentrated": "fun A p p' rho => (forall a, 0 < p a -> 0 < p' a) /\\ (forall order answers, 1 < order "
    "-> "
    "NoDup answers -> sum answers (fun a => powers order (p a) (p' a)) <= exp (order * (order - "
    "1) * rho))",
    "distribution": "fun A p => (forall a, 0 <= p a) /\\ (forall answers, NoDup answers -> sum answers p <= "
    "1) /\\ "
    "(forall missing, 0 < missing -> exists answers, NoDup answers /\\ 1 - missing <= sum answers "
    "p)",
    "powers": "fun order x y => if Rlt_dec 0 x then Rpower x order * Rpower y (1 - order) else 0",
    "at_most_one": "fun A p => (forall a, 0 <= p a) /\\ (forall answers, NoDup answers -> sum answers p <= "
    "1)",
    "affords": "fun A => fix affords (rho : list A -> R) (k : nat) (h : list A) (cap : R) {struct k} : Prop "
    ":= match k with | 0%nat => 0 <= cap | S k0 => forall a, affords rho k0 (h ++ a :: nil) (cap "
    "- rho h) end",
    "rounds": "fun A => fix rounds (law : list A -> A -> R) (k : nat) (h t : list A) {struct k} : R := "
    "match k with | 0%nat => match t with | nil => 1 | _ :: _ => 0 end | S k0 => match t with | "
    "nil => 0 | a :: t0 => law h a * rounds law k0 (h ++ a :: nil) t0 end end",
    # The best of several runs, the number of blocks that voted, one sensitivity for each score.
    "next": "fun value psi kept x => match kept with | Some (y, j) => if Rlt_dec (value y) (value "
    "x) then psi (Some (x, 1%nat)) else if Rlt_dec (value x) (value y) then psi (Some (y, "
    "j)) else / INR (S j) * psi (Some (x, S j)) + (1 - / INR (S j)) * psi (Some (y, S j)) "
    "| None => psi (Some (x, 1%nat)) end",
    "after": "fun n value p => fix after (k : nat) (psi : option (nat * nat) -> R) {struct k} : R "
    ":= match k with | 0%nat => psi None | S k0 => after k0 (fun kept => sum (candidates "
    "n) (fun x => p x * next value psi kept x)) end",
    "answered": "fun n o kept => match kept with | Some (y, _) => if y =? o then 1 else 0 | None => "
    "if o =? n then 1 else 0 end",
    "best_of": "fun n value p w o => Series (fun k => w k * after n value p k (answered n o))",
    "halting_number": "fun gamma eta w => w 0%nat = 0 /\\ 0 < w 1%nat /\\ is_series w 1 /\\ (forall k, (1 <= "
    "k)%nat -> w (S k) = w k * ((1 - gamma) * ((INR k + eta) / (INR k + 1))))",
    "poisson_number": "fun mu k => exp (- mu) * mu ^ k / INR (fact k)",
    "searched": "fun n reaches gamma p => fix searched (k : nat) (psi : option nat -> R) {struct k} : "
    "R := match k with | 0%nat => 0 | S k0 => sum (candidates n) (fun x => p x * (if "
    "reaches x then psi (Some x) else gamma * psi None + (1 - gamma) * searched k0 psi)) "
    "end",
    "replied": "fun n o found => match found with | Some x => if x =? o then 1 else 0 | None => if o "
    "=? n then 1 else 0 end",
    "first_of": "fun n reaches gamma p o => real (Lim_seq (fun k => searched n reaches gamma p k "
    "(replied n o)))",
    "voted": "fun m n say => length (filter (fun b => match say b with | Some r => r <? n | None "
    "=> false end) (candidates m))",
    "ratios": "fun n t D apart q i => least (others n i) (fun j => (q i - t * D i - (q j - t * D "
    "j)) / apart i j)",
    "least": "fix least (l : list nat) (f : nat -> R) {struct l} : R := match l with | nil => 0 | "
    "j :: nil => f j | j :: (_ :: _) as l0 => Rmin (f j) (least l0 f) end",
}
"""The definitions on which all these statements rest, as Coq prints them."""


def faults(claims: Mapping[Claim, Proof], checked: str, pages: Mapping[str, str]) -> Iterator[str]:
    """Return every claim whose theorem or page is not the required one, and every changed definition."""
    theorems, definitions = printed(checked)
    for claim, proof in claims.items():
        texts = [pages.get(page, "") for page in proof.pages]
        words = (
            PAPER.get(claim, ()) if not proof.theorems else (f"`{proof.theorems[0]}`",) * len(texts)
        )
        if len(words) != len(texts) or any(map(lambda word, text: word not in text, words, texts)):
            yield f"{claim}: {', '.join(proof.pages)} does not prove it"
        demanded = DEMANDS.get(claim, [])
        if proof.theorems and len(proof.theorems) != len(demanded):
            yield f"{claim}: {', '.join(proof.theorems)}: nothing like it is demanded"
            continue
        for name, demand in zip(proof.theorems, demanded, strict=False):
            if name not in theorems:
                yield f"{claim}: {name} is not among the theorems that Coq has checked"
                continue
            stated = read(theorems[name])
            if (stated.where, stated.follows) != (demand.where, demand.follows):
                yield f"{claim}: {name} concludes {stated.follows}, not {demand.follows}"
            for further in sorted(stated.supposing - demand.supposing):
                yield f"{claim}: {name} supposes {further}, which the code does not establish"
    for name, meaning in MEANT.items():
        if definitions.get(name) != meaning:
            yield f"{name} is {definitions.get(name)}, not {meaning}"
