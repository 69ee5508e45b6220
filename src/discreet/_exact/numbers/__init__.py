"""Numbers: exact rationals for parameters, ball arithmetic, printing, and one-dimensional searches."""
