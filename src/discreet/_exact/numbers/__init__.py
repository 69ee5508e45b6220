"""Numbers: exact rationals at the border, ball arithmetic, printing, and searches on the line."""
