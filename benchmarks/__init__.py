"""Benchmarks: each module measures discreet and a peer side by side in one run and reports ratios."""
