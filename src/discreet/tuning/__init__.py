"""Private tuning: release the best of several private runs, and count the true cost of choosing it.

Example:
    >>> from discreet import PureDP
    >>> cost_of_tuning(PureDP(1), runs=Geometric(mean=20)).epsilon < 3
    True
"""

from discreet.tuning.audit import TuningVerdict, audit_tuning
from discreet.tuning.choose import ChosenRun, choose_run
from discreet.tuning.cost import cost_of_tuning
from discreet.tuning.laws import Fixed, Geometric, NegativeBinomial, Poisson, RunCount

__all__ = [
    "ChosenRun",
    "Fixed",
    "Geometric",
    "NegativeBinomial",
    "Poisson",
    "RunCount",
    "TuningVerdict",
    "audit_tuning",
    "choose_run",
    "cost_of_tuning",
]
