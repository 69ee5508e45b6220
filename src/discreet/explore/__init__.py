"""The local web page on which mechanism and ε are decided: see what a choice costs before it is made.

Everything shown is computed from scores that were declared public, or from built-in examples; nothing here
spends budget, touches a ledger, or leaves the machine.
"""
