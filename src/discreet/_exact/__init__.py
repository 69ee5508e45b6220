"""Exact arithmetic and exact sampling. Only this package uses the random generator."""
