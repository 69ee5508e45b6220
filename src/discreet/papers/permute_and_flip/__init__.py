"""Statements and figures of the permute-and-flip paper (McKenna and Sheldon, 2020) and its supplement."""
