"""The local web page for deciding on a mechanism and an ε: it shows what a choice costs before it is made.

Everything shown is computed from scores that the user declared public, or from built-in examples. Nothing
here spends budget, touches a ledger, or leaves the machine.
"""
