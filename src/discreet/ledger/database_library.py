"""The package's first import: a missing library is reported by its extra, not by a traceback."""

from discreet.errors import missing_extra

try:
    import sqlalchemy  # noqa: F401  # only to see whether it is there
except ImportError as error:
    raise missing_extra("the ledger needs SQLAlchemy", extra="ledger") from error
