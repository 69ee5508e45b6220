"""The documents that officers, registries and reviewers ask for, written from the ledger's records.

Example:
    >>> import tempfile
    >>> from discreet import PureDP
    >>> from discreet.ledger import Ledger
    >>> with Ledger.open(tempfile.mkdtemp() + "/budget.db") as ledger:
    ...     budget = ledger.create("clinic", PureDP(3))
    ...     entry = ledger.spend("clinic", PureDP(1), purpose="most common diagnosis")
    ...     dossier = dossier_of(ledger, "clinic")
    >>> dossier.registry["deployment"]["privacy_loss"]["privacy_parameters"]
    {'epsilon': 3.0}
    >>> [document.name for document in dossier.documents]
    ['registry', 'assessment', 'reviewer', 'chain']
"""

from discreet.dossier.dossier import Dossier, dossier_of

__all__ = ["Dossier", "dossier_of"]
