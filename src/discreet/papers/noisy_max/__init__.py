"""Permute-and-flip is report noisy max (Ding et al., 2021): the paper's statements."""
