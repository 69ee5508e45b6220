"""Numbers: exact rationals for parameters, interval arithmetic, printing, and one-dimensional searches."""
