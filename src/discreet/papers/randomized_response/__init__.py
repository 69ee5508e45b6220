"""Statements and figures of the exponential randomized response paper (Munilla Garrido and Matthes, 2022)."""
