"""Permute-and-flip (McKenna and Sheldon, 2020) and its supplement: their statements and figures."""
