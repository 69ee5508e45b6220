"""Exact arithmetic and exact sampling: the only place that touches the random generator."""
