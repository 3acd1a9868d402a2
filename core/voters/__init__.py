"""Simulated voters: the stochastic model (Eq. 11), panels of them, and a panel fitted to votes."""
