"""Import SQLAlchemy first: if it is missing, the error names the extra to install."""

from discreet.errors import missing_extra

try:
    import sqlalchemy  # noqa: F401  # only to see whether it is there
except ImportError as error:
    raise missing_extra("the ledger needs SQLAlchemy", extra="ledger") from error
