"""Exponential randomized response (Munilla Garrido and Matthes, 2022): its statements and figures."""
