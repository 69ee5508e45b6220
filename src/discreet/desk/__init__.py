"""A desk in front of the data: analysts ask, the owner's rows stay, the ledger counts."""
