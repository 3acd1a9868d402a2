"""Scores of closed ballots, what they rest on, and forecasts."""
