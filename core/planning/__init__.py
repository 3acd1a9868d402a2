"""What a plan's votes would buy, by simulated campaigns: forecasts, curves over budgets, and the search for a plan."""

from __future__ import annotations

from .forecast import Band, Forecast, Guess, forecast
from .search import Candidate, Search, plans_within, recommend
from .shapes import SHAPES, plan_within

__all__ = [
    "SHAPES",
    "Band",
    "Candidate",
    "Forecast",
    "Guess",
    "Search",
    "forecast",
    "plan_within",
    "plans_within",
    "recommend",
]
