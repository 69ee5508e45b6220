"""Adapters for auditing the mechanisms of other libraries."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial, wraps
from pathlib import Path
from typing import Any

from discreet._exact.numbers.exact import positive
from discreet.audit.exact import audit
from discreet.audit.neighbouring import Schema
from discreet.audit.recording import Recording, recording
from discreet.audit.statistical import statistical_audit
from discreet.audit.verdicts import Verdict
from discreet.guarantees import Guarantee, PureDP

_PACKAGES = {"wrong": "discreet"}
"""Package names that differ from the library's name."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """An audit of one mechanism of one library.

    Attributes:
        library: the library's name, the part before the colon in ``library:mechanism``.
        mechanism: the mechanism's name, the part after the colon.
        module: the module to import; the adapter runs only if this module is installed.
        run: the function to audit; it takes an input and ``cost``, the ε.
        claim: a function from ε to the guarantee that the library claims.
        epsilon: the ε that the observatory uses.
        sampled: whether the mechanism can only be sampled.
        tables: for a pipeline, the schema of the tables used to record it.
        options: further options of the audit.
        about: a note on what is audited, such as the pipeline, its inputs and the neighbour relation.

    Example:
        >>> from discreet.audit.libraries import ADAPTERS
        >>> ADAPTERS["wrong:candidates-from-the-data"].audit("1").status
        'refuted'
    """

    library: str
    mechanism: str
    module: str
    run: Callable[..., Any]
    claim: Callable[[Fraction], Guarantee] = PureDP
    epsilon: str = "1"
    sampled: bool = False
    tables: Schema | None = None
    options: dict[str, Any] = field(default_factory=dict)
    about: str = ""

    @property
    def name(self) -> str:
        """The name used on the command line."""
        return f"{self.library}:{self.mechanism}"

    @property
    def version(self) -> str | None:
        """Return the installed version, or ``"a checkout"``; None if the library is not installed."""
        try:
            spec = importlib.util.find_spec(self.module)
        except (ImportError, ValueError):
            spec = None
        if spec is None:
            return None
        origin = Path(spec.origin or "").resolve()
        try:
            package = importlib.metadata.distribution(_PACKAGES.get(self.library, self.library))
        except importlib.metadata.PackageNotFoundError:
            return "a checkout"
        # The imported module may not come from the installed package.
        place = Path(str(package.locate_file(self.module))).resolve()
        editable = self.module == "discreet"
        return package.version if editable or place in origin.parents else "a checkout"

    def audit(self, epsilon: object = None, **options: Any) -> Verdict | Recording:
        """Run the audit at this ε, by default the adapter's own, with further options of the audit."""
        cost = positive("epsilon", self.epsilon if epsilon is None else epsilon)
        subject = wraps(self.run)(partial(self.run, cost=cost))
        subject.__name__ = self.name
        if self.tables is not None:
            return recording(subject, self.tables, self.claim(cost), **{**self.options, **options})
        check = statistical_audit if self.sampled else audit
        return check(subject, self.claim(cost), **{**self.options, **options})


def adapter(
    library: str, mechanism: str, module: str | None = None, **told: Any
) -> Callable[[Callable[..., Any]], Adapter]:
    """Return a decorator that turns a function of an input and ``cost`` into an ``Adapter``.

    ``module`` is ``library`` by default; ``told`` sets further attributes of the adapter.
    """
    return lambda run: Adapter(library, mechanism, module or library, run, **told)
