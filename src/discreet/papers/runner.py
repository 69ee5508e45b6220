"""Compute and draw the figures, several at a time; what is finished is not done again.

A finished figure leaves ``figures/ID.json`` with a hash of everything that went into it: the sources
it rests on, the settings, and the data files it reads. A run finds it and moves on.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, missing_extra
from discreet.papers.comparisons import Comparison
from discreet.papers.figures import Drawn, Figure, Settings, figures
from discreet.papers.histograms import path_of

_PACKAGE = Path(__file__).parents[1]
# Rooms that no figure enters: a change there leaves finished figures as they are.
_ELSEWHERE = {
    "cli",
    "explore",
    "ledger",
    "questions",
    "tables",
    "sklearn",
    "opendp.py",
}
SUFFIXES = ("svg", "png", "csv")
"""What each figure is written as."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one figure.

    Attributes:
        id: the figure's.
        error: why there is no figure, or None.
        comparisons, remarks, synthetic, troubles: as in ``Drawn``.
        seconds: how long it took.
        reused: whether an earlier run had finished it.
    """

    id: str
    error: str | None = None
    comparisons: tuple[Comparison, ...] = ()
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
        """All fields by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Result:
        """The reverse of ``as_json``, marked as reused."""
        listed = tuple(Comparison(**row) for row in fields.pop("comparisons"))
        fields = {
            key: tuple(part) if isinstance(part, list) else part for key, part in fields.items()
        }
        return cls(**{**fields, "comparisons": listed, "reused": True})


Report = Callable[[str, Result | None], None]
"""Told of a figure when it starts (None) and when it is done."""


def run(
    chosen: Sequence[Figure],
    settings: Settings,
    out: Path,
    *,
    workers: int | None = None,
    report: Report | None = None,
) -> list[Result]:
    """Compute and draw the figures into ``out/figures``; results in the order given.

    One that fails does not stop the others. Needs Altair and vl-convert (``pip install "discreet[charts]"``).
    """
    _require_charts()
    folder = prepared(out / "figures")
    tell = report or _silent
    results: dict[str, Result] = {}
    waiting = []
    for figure in chosen:
        earlier = _finished(figure, settings, folder)
        if earlier is None:
            waiting.append(figure)
        else:
            results[figure.id] = earlier
            tell(figure.id, earlier)
    # The longest first, so that the last to finish is a short one.
    waiting.sort(key=lambda figure: -figure.weight)
    count = min(workers or os.cpu_count() or 1, len(waiting))
    done = (
        _one_by_one(waiting, settings, folder, tell)
        if count <= 1
        else _side_by_side(waiting, settings, folder, tell, count)
    )
    results |= {result.id: result for result in done}
    return [results[figure.id] for figure in chosen]


def _silent(_identifier: str, _result: Result | None) -> None:
    """Nobody wants to know."""


def prepared(folder: Path) -> Path:
    """The folder, made if need be; an error names it if it cannot be written to."""
    probe = folder / ".writable"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise DiscreetError(f"{folder} cannot be written to: {error.strerror}") from None
    return folder


def _one_by_one(
    waiting: Iterable[Figure], settings: Settings, folder: Path, tell: Report
) -> Iterable[Result]:
    for figure in waiting:
        tell(figure.id, None)
        result = make(figure.id, settings, folder)
        tell(figure.id, result)
        yield result


def _side_by_side(
    waiting: list[Figure], settings: Settings, folder: Path, tell: Report, count: int
) -> Iterable[Result]:
    # Spawned, not forked: a forked child of a threaded process may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(max_workers=count, mp_context=context)
    left = list(waiting)
    running: dict[Future[Result], str] = {}
    try:
        while left or running:
            while left and len(running) < count:
                figure = left.pop(0)
                tell(figure.id, None)
                running[pool.submit(make, figure.id, settings, folder)] = figure.id
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                identifier = running.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    result = Result(identifier, error="its process ended before it was done")
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool = ProcessPoolExecutor(max_workers=count, mp_context=context)
                tell(identifier, result)
                yield result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def make(identifier: str, settings: Settings, folder: Path) -> Result:
    """Compute, draw and write one figure; an error becomes part of the result."""
    from discreet.papers.drawing.chart import draw

    figure = figures()[identifier]
    began = time.perf_counter()
    try:
        drawn = figure.compute(settings)
        svg = _svg(draw(figure, drawn))
        write_file(folder / f"{identifier}.svg", svg.encode())
        write_file(folder / f"{identifier}.png", _png(svg))
        write_file(folder / f"{identifier}.csv", table(drawn).encode())
        result = Result(
            identifier,
            comparisons=tuple(drawn.comparisons),
            remarks=tuple(drawn.remarks),
            synthetic=tuple(drawn.synthetic),
            troubles=tuple(drawn.troubles),
            seconds=round(time.perf_counter() - began, 2),
        )
        if not result.troubles:
            marker = {"hash": fingerprint(figure, settings), "result": result.as_json()}
            write_file(
                folder / f"{identifier}.json", json.dumps(marker, ensure_ascii=False).encode()
            )
    except DiscreetError as error:
        return Result(identifier, error=str(error))
    except Exception as error:  # whatever is wrong with one figure, the others are drawn
        return Result(identifier, error=f"{type(error).__name__}: {error}")
    return result


def table(drawn: Drawn) -> str:
    """The figure's points as CSV: one row each, with the panel and the series they belong to."""
    rows = [point for row in drawn.rows for panel in row for point in panel.table()]
    names = list(dict.fromkeys(name for row in rows for name in row))
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def _svg(spec: dict[str, Any]) -> str:
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec)
    return drawn


def _png(svg: str) -> bytes:
    import vl_convert

    pixels: bytes = vl_convert.svg_to_png(svg, scale=2.0)
    return pixels


def write_file(path: Path, content: bytes) -> None:
    """All or nothing: an interrupted run leaves no half file under the final name."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise DiscreetError(f"{path} cannot be written: {error.strerror}") from None


# ---- what is finished ------------------------------------------------------------------------------


def fingerprint(figure: Figure, settings: Settings) -> str:
    """A hash of all that the figure depends on; a data file that cannot be read counts as absent."""
    parts = [_sources(), figure.id, str(settings.quick)]
    if settings.data is not None:
        for name in figure.needs:
            try:
                parts.append(hashlib.sha256(path_of(settings.data, name).read_bytes()).hexdigest())
            except OSError:
                parts.append(f"no {name}")
    else:
        parts.append("synthetic")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@lru_cache(maxsize=1)
def _sources() -> str:
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        if path.relative_to(_PACKAGE).parts[0] not in _ELSEWHERE:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def finished(settings: Settings, out: Path) -> list[Result]:
    """All figures in the folder that fit these settings, whenever they were drawn."""
    found = (_finished(figure, settings, out / "figures") for figure in figures().values())
    return [result for result in found if result is not None]


def _finished(figure: Figure, settings: Settings, folder: Path) -> Result | None:
    """The result of an earlier run, if its marker fits and its files are there."""
    try:
        marker = json.loads((folder / f"{figure.id}.json").read_text(encoding="utf-8"))
        fits = marker["hash"] == fingerprint(figure, settings)
        result = Result.from_json(marker["result"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    whole = all((folder / f"{figure.id}.{suffix}").is_file() for suffix in SUFFIXES)
    return result if fits and whole else None


def _require_charts() -> None:
    try:
        import altair
        import vl_convert
    except ImportError as error:
        raise missing_extra("drawing needs Altair and vl-convert", extra="charts") from error
    assert altair, "only asked whether it is there"
    assert vl_convert, "as above"
