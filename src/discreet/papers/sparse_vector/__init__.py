"""Variants of the sparse vector technique (Lyu, Su and Li, 2017): which are private."""
