"""Campaigns on simulated voters: what accuracy a plan buys, and the paper's own experiments."""

from __future__ import annotations

from .campaign import Accuracy, Campaign, Run, accuracy_of, simulate_campaign, simulate_campaigns

__all__ = ["Accuracy", "Campaign", "Run", "accuracy_of", "simulate_campaign", "simulate_campaigns"]
