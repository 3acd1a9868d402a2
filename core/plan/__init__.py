"""A campaign's plan: its sizes, what it costs, what is advised, and its registration."""

from __future__ import annotations

from .campaign_plan import Plan

__all__ = ["Plan"]
