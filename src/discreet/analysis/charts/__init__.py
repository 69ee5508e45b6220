"""Charts of what the analysis computes: Altair objects, to show, to save, or to hand to a web page.

Every chart reads without colour (lines differ in dash and marker, bars in shade) and is drawn by vl-convert
without a browser or a network. Charts of scores are **not private**, and say so. They need Altair
(``pip install "discreet[charts]"``).
"""

from discreet.analysis.charts.curves import (
    comparison_chart,
    crossover_chart,
    optimality_chart,
    tail_chart,
    worst_case_chart,
)
from discreet.analysis.charts.distributions import (
    posterior_chart,
    probabilities_chart,
    scores_chart,
)
from discreet.analysis.charts.saving import save_chart, to_html

__all__ = [
    "comparison_chart",
    "crossover_chart",
    "optimality_chart",
    "posterior_chart",
    "probabilities_chart",
    "save_chart",
    "scores_chart",
    "tail_chart",
    "to_html",
    "worst_case_chart",
]
