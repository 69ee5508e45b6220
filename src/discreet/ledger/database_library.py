"""The first import of the package: a missing library is named by its extra, not by a traceback."""

from discreet.errors import MissingExtraError

try:
    import sqlalchemy  # noqa: F401  # only to see whether it is there
except ImportError as error:
    raise MissingExtraError(
        "the ledger needs SQLAlchemy: install it with pip install 'discreet[ledger]'"
    ) from error
