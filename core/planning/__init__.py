"""What a plan's votes would buy, by simulated campaigns: forecasts, curves over budgets, and the search for a plan."""

from __future__ import annotations

from .ceiling import PanelCeiling, panel_ceiling
from .forecast import Band, Forecast, Guess, forecast, number_of_campaigns
from .search import GOALS, Candidate, Search, plans_within, recommend
from .shapes import SHAPES, at_other_budgets, plan_within

__all__ = [
    "GOALS",
    "SHAPES",
    "Band",
    "Candidate",
    "Forecast",
    "Guess",
    "PanelCeiling",
    "Search",
    "at_other_budgets",
    "forecast",
    "number_of_campaigns",
    "panel_ceiling",
    "plan_within",
    "plans_within",
    "recommend",
]
