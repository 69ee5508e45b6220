"""The statements of Ding et al. (2021): permute-and-flip is noisy max with exponential noise."""
