"""Permute-and-flip (McKenna and Sheldon, 2020) and its supplement: what they state, and their figures."""
