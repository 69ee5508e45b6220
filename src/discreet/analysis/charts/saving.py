"""Charts to files: PNG and SVG without a browser, HTML that opens without a network."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, ParameterError, missing_extra

SUFFIXES = (".png", ".svg", ".html", ".json")


def save_chart(chart: Any, path: str | os.PathLike[str]) -> Path:
    """Write a chart; the suffix of ``path`` says how: .png, .svg, .html or .json (Vega-Lite).

    The HTML carries its scripts inside: it opens offline and asks no server for anything.
    """
    target = checked_path(path)
    try:
        if target.suffix.lower() == ".html":
            target.write_text(to_html(chart), encoding="utf-8")
        elif target.suffix.lower() == ".json":
            target.write_text(chart.to_json(), encoding="utf-8")
        else:
            _require_converter()
            chart.save(str(target), format=target.suffix.lower()[1:], scale_factor=2)
    except OSError as error:
        raise DiscreetError(f"cannot write {target}: {error.strerror}") from None
    return target


def checked_path(path: str | os.PathLike[str]) -> Path:
    """The path, if its suffix says a format that we write and its folder exists."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"⟨chart⟩{str(path)!r} is not allowed: it must end in {', '.join(SUFFIXES)}"
        )
    if not target.absolute().parent.is_dir():
        raise ParameterError(f"⟨chart⟩{str(path)!r} is not allowed: its folder does not exist")
    return target


def to_html(chart: Any) -> str:
    """A whole page with the chart and every script it needs."""
    _require_converter()
    buffer = io.StringIO()
    chart.save(
        buffer, format="html", inline=True, embed_options={"renderer": "svg", "actions": False}
    )
    return buffer.getvalue()


def _require_converter() -> None:
    try:
        import vl_convert  # noqa: F401 - only asked whether it is there
    except ImportError as error:
        raise missing_extra("saving charts needs vl-convert", extra="charts") from error
