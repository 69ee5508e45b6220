"""What all parts of a drawing share: Altair, and the data that layers refer to by name.

Altair builds each panel around *names* of data; panels and data are put together at the end. It would
otherwise copy and check every point at every step, which takes ten times as long as the drawing.
"""

from __future__ import annotations

from typing import Any

from discreet.analysis.charts.style import altair

DARK = "#222222"
"""Words and edges."""


class Canvas:
    """Altair, and the data that the chart's layers refer to by name."""

    def __init__(self) -> None:
        self.alt = altair()
        self.datasets: dict[str, list[dict[str, Any]]] = {}

    def layer(self, values: list[dict[str, Any]], *encodings: Any) -> Any:
        """A chart of these values."""
        name = f"data{len(self.datasets)}"
        self.datasets[name] = values
        return self.alt.Chart(self.alt.NamedData(name=name)).encode(*encodings)
