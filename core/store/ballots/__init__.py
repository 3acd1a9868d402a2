"""Ballots and rounds: drawn, answered by simulated voters, closed, reopened."""
