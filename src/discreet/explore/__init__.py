"""A local web page for choosing a mechanism and an ε. It shows the cost of a choice before it is made.

The page uses only scores that the user declared public, or built-in examples. It spends no budget, uses no
ledger, and sends nothing to other machines.
"""
