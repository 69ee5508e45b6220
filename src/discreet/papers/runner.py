"""Check claims one after the other; draw figures in parallel, skipping those already finished.

A finished figure has a file ``figures/ID.json`` with a hash of the sources, the versions of the libraries
that compute and draw, the scope, and the data files that the figure reads. A later run that finds a matching
file skips the figure.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from discreet.analysis.charts.style import altair, require_converter
from discreet.errors import DiscreetError
from discreet.papers.catalogue import Claim, Figure, all_figures
from discreet.papers.figure import Drawing, PaperValue
from discreet.papers.findings import FAILED, Finding, Scope
from discreet.papers.histograms import path_of

_PACKAGE = Path(__file__).parents[1]
# Parts of the package that no figure uses. A change in them does not invalidate finished figures.
_ELSEWHERE = {"_cli", "_tables", "desk", "explore", "ledger", "questions", "sklearn", "opendp.py"}
_LIBRARIES = ("altair", "numpy", "python-flint", "scipy", "vl-convert-python")
"""The libraries that compute or draw; vl-convert brings its own Vega."""
SUFFIXES = ("svg", "png", "csv")
"""The file types of each figure."""


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim with its finding, and the seconds that the check took.

    Example:
        >>> from discreet.papers import chosen_claims
        >>> result = next(check(chosen_claims(only=["noisy-max/proposition-8"]), Scope(quick=True)))
        >>> result.as_json()["id"], result.finding.verdict
        ('noisy-max/proposition-8', 'refuted')
    """

    claim: Claim
    finding: Finding
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the result as one object of the list that ``discreet claims --json`` prints."""
        return {
            "id": self.claim.id,
            "paper": self.claim.paper,
            "number": self.claim.number,
            "statement": self.claim.statement,
            **asdict(self.finding),
            "seconds": round(self.seconds, 3),
        }


def check(claims: Iterable[Claim], scope: Scope) -> Iterator[CheckedClaim]:
    """Check claims one after the other; a check that raises an error gets the verdict ``failed``.

    Example:
        >>> from discreet.papers import chosen_claims
        >>> for result in check(chosen_claims(only=["noisy-max/proposition-8"]), Scope(quick=True)):
        ...     print(result.claim.number, result.finding.verdict)
        Proposition 8 refuted
    """
    for entry in claims:
        start = time.perf_counter()
        try:
            finding = entry.check(scope)
        except (DiscreetError, ArithmeticError, AssertionError, OSError, ValueError) as error:
            words = f"the check itself failed: {type(error).__name__}: {error}"
            finding = Finding(FAILED, "", words)
        yield CheckedClaim(entry, finding, time.perf_counter() - start)


# ---- figures ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DrawnFigure:
    """The outcome of one figure.

    Attributes:
        id: the figure's id.
        error: the reason why there is no figure, or None.
        comparisons: the paper's values compared with ours.
        seconds: the time it took.
        reused: whether an earlier run had finished it.

    Example:
        >>> DrawnFigure("pf-fig4", error="there is no such file").failed
        True
    """

    id: str
    error: str | None = None
    comparisons: tuple[PaperValue, ...] = ()
    remarks: tuple[str, ...] = ()
    synthetic: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    seconds: float = 0.0
    reused: bool = field(default=False, compare=False)

    @property
    def failed(self) -> bool:
        """Whether the figure, or a part of it, is missing."""
        return self.error is not None or bool(self.troubles)

    def as_json(self) -> dict[str, Any]:
        """Return all fields by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> DrawnFigure:
        """Read a result written by ``as_json``, and mark it as reused."""
        listed = tuple(PaperValue(**row) for row in fields.pop("comparisons"))
        fields = {
            key: tuple(part) if isinstance(part, list) else part for key, part in fields.items()
        }
        return cls(**{**fields, "comparisons": listed, "reused": True})


Report = Callable[[str, DrawnFigure | None], None]
"""A function that is called with None when a figure starts, and with the figure when it is done."""


def draw(
    figures: Sequence[Figure],
    scope: Scope,
    out: Path,
    *,
    workers: int | None = None,
    report: Report | None = None,
) -> list[DrawnFigure]:
    """Compute and draw the figures into ``out/figures``; return results in the order given.

    A figure that fails does not stop the others. Drawing needs Altair and vl-convert
    (``pip install ".[charts]"``).

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from discreet.papers import chosen_figures
        >>> with TemporaryDirectory() as folder:
        ...     (done,) = draw(chosen_figures(["pf-fig1a"]), Scope(quick=True), Path(folder))
        >>> done.comparisons[1].quantity, done.comparisons[1].verdict
        ('PF below EM', 'agrees')
    """
    altair()
    require_converter()
    folder = prepared(out / "figures")
    tell = report or (lambda _identifier, _result: None)
    results: dict[str, DrawnFigure] = {}
    waiting = []
    for figure in figures:
        earlier = _finished(figure, scope, folder)
        if earlier is None:
            waiting.append(figure)
        else:
            results[figure.id] = earlier
            tell(figure.id, earlier)
    # Start the longest figures first, to finish all at about the same time.
    waiting.sort(key=lambda figure: -figure.weight)
    count = min(workers or os.cpu_count() or 1, len(waiting))
    done = (
        _one_by_one(waiting, scope, folder, tell)
        if count <= 1
        else _side_by_side(waiting, scope, folder, tell, count)
    )
    results |= {result.id: result for result in done}
    return [results[figure.id] for figure in figures]


def prepared(folder: Path) -> Path:
    """Create the folder if necessary and return it; raise an error that names it if it is not writable."""
    probe = folder / ".writable"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise DiscreetError(f"{folder} cannot be written to: {error.strerror}") from None
    return folder


def _one_by_one(
    waiting: Iterable[Figure], scope: Scope, folder: Path, tell: Report
) -> Iterable[DrawnFigure]:
    for figure in waiting:
        tell(figure.id, None)
        result = make(figure.id, scope, folder)
        tell(figure.id, result)
        yield result


def _side_by_side(
    waiting: list[Figure], scope: Scope, folder: Path, tell: Report, count: int
) -> Iterable[DrawnFigure]:
    # Spawn the processes, because a forked child of a threaded process may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(max_workers=count, mp_context=context)
    left = list(waiting)
    running: dict[Future[DrawnFigure], str] = {}
    try:
        while left or running:
            while left and len(running) < count:
                figure = left.pop(0)
                tell(figure.id, None)
                running[pool.submit(make, figure.id, scope, folder)] = figure.id
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                identifier = running.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    result = DrawnFigure(identifier, error="its process ended before it was done")
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = ProcessPoolExecutor(max_workers=count, mp_context=context)
                tell(identifier, result)
                yield result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def make(identifier: str, scope: Scope, folder: Path) -> DrawnFigure:
    """Compute, draw and write one figure; an error becomes part of the result."""
    import vl_convert

    from discreet.papers.drawing import vega_lite

    figure = all_figures()[identifier]
    began = time.perf_counter()
    try:
        drawing = figure.compute(scope)
        svg = vl_convert.vegalite_to_svg(vega_lite(figure, drawing))
        write_file(folder / f"{identifier}.svg", svg.encode())
        write_file(folder / f"{identifier}.png", vl_convert.svg_to_png(svg, scale=2.0))
        write_file(folder / f"{identifier}.csv", table(drawing).encode())
        result = DrawnFigure(
            identifier,
            comparisons=tuple(drawing.comparisons),
            remarks=tuple(drawing.remarks),
            synthetic=tuple(drawing.synthetic),
            troubles=tuple(drawing.troubles),
            seconds=round(time.perf_counter() - began, 2),
        )
        if not result.troubles:
            marker = {"hash": fingerprint(figure, scope), "result": result.as_json()}
            write_file(
                folder / f"{identifier}.json", json.dumps(marker, ensure_ascii=False).encode()
            )
    except DiscreetError as error:
        return DrawnFigure(identifier, error=str(error))
    except Exception as error:  # the other figures are still drawn
        return DrawnFigure(identifier, error=f"{type(error).__name__}: {error}")
    return result


def table(drawing: Drawing) -> str:
    """Return the figure's points as CSV: one row per point, with its panel and series."""
    return as_csv([point for row in drawing.rows for panel in row for point in panel.table()])


def as_csv(rows: Sequence[dict[str, Any]], columns: Sequence[str] = ()) -> str:
    """Return rows as CSV, with these columns first; a row may lack columns that others have."""
    buffer = io.StringIO()
    names = dict.fromkeys([*columns, *(name for row in rows for name in row)])
    writer = csv.DictWriter(buffer, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically: an interrupted run leaves no partial file under the final name."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise DiscreetError(f"{path} cannot be written: {error.strerror}") from None


# ---- finished figures ------------------------------------------------------------------------------


def fingerprint(figure: Figure, scope: Scope) -> str:
    """Return a hash of all that decides a figure; an unreadable data file counts as missing."""
    parts = [_sources(), *map(_version, _LIBRARIES), figure.id, str(scope.quick)]
    if scope.data is not None:
        for name in figure.needs:
            try:
                parts.append(hashlib.sha256(path_of(scope.data, name).read_bytes()).hexdigest())
            except OSError:
                parts.append(f"no {name}")
    else:
        parts.append("synthetic")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:
        return f"no {library}"


@cache
def _sources() -> str:
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        if path.relative_to(_PACKAGE).parts[0] not in _ELSEWHERE:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def finished(scope: Scope, out: Path) -> list[DrawnFigure]:
    """Return all figures in the folder that match this scope, from any run.

    Example:
        >>> finished(Scope(), Path("no-such-folder"))
        []
    """
    found = (_finished(figure, scope, out / "figures") for figure in all_figures().values())
    return [result for result in found if result is not None]


def _finished(figure: Figure, scope: Scope, folder: Path) -> DrawnFigure | None:
    """Return the result of an earlier run, if its marker matches and its files exist."""
    try:
        marker = json.loads((folder / f"{figure.id}.json").read_text(encoding="utf-8"))
        fits = marker["hash"] == fingerprint(figure, scope)
        result = DrawnFigure.from_json(marker["result"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    whole = all((folder / f"{figure.id}.{suffix}").is_file() for suffix in SUFFIXES)
    return result if fits and whole else None
