"""A campaign's plan: its sizes, what it costs, what budgets pay for, and what is advised."""

from __future__ import annotations

from .campaign_plan import Plan

__all__ = ["Plan"]
