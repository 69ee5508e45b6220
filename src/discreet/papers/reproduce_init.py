"""The figures and numbers of the two experimental papers, redrawn and recomputed, each beside what it said.

The study path: everything here reads histograms without spending budget, and is **not private**. Drawing
needs Altair and vl-convert (``discreet[charts]``), Figure 2 needs SciPy (``discreet[optimality]``).
"""

from discreet.papers.figures import PAPERS, Drawn, Figure, Settings, chosen, figures
from discreet.papers.runner import Result, finished, run

__all__ = [
    "PAPERS",
    "Drawn",
    "Figure",
    "Result",
    "Settings",
    "chosen",
    "figures",
    "finished",
    "run",
]
