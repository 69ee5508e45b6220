"""Benchmarks: each module measures us and a peer side by side in one run and reports ratios."""
