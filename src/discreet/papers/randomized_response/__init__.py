"""Exponential randomized response (Munilla Garrido and Matthes, 2022): what it states, and its figures."""
