"""What the planner shows: forecasts of a plan by each protocol, and over budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ...base.percent import percent
from ...plan import Plan
from ...protocols import PROTOCOLS, protocol_of
from ...simulation.forecast import Band, Forecast, Guess
from ...simulation.shapes import at_other_budgets
from ...store import Store
from ...store.scores.forecasts import known_forecast

CURVES = {"rho_w": "ρ_w", "tau_w": "τ_w"}


@dataclass(frozen=True)
class Outlook:
    """The forecasts of a plan that are known, by protocol."""

    forecasts: dict[str, Forecast]

    @property
    def is_complete(self) -> bool:
        return set(self.forecasts) == set(PROTOCOLS)

    def table(self) -> pd.DataFrame:
        """A row a protocol, figures as people read them."""
        rows = []
        for protocol, found in self.forecasts.items():
            rows.append(
                {
                    "protocol": protocol_of(protocol).about.label,
                    "votes": found.n_comparisons,
                    "ρ_w": said(found.rho_w),
                    "τ_w": said(found.tau_w),
                    "top items cut": "–" if found.cut is None else f"{percent(found.cut)} of {found.n_top}",
                    "tells apart": "–" if pd.isna(found.separable) else f"{found.separable:.2f}",
                    "campaigns": found.n_campaigns,
                }
            )
        return pd.DataFrame(rows)


def compared() -> tuple[str, ...]:
    """The protocols that are held against each other, the one that is advised first."""
    return tuple(reversed(PROTOCOLS))


def load_outlook(store: Store, guess: Guess, plan: Plan) -> Outlook:
    """The forecasts of a plan that are known."""
    found = {protocol: known_forecast(store, guess, plan, protocol) for protocol in compared()}
    return Outlook({protocol: forecast for protocol, forecast in found.items() if forecast is not None})


def load_curve(store: Store, guess: Guess, plan: Plan) -> pd.DataFrame:
    """The known forecasts at other budgets: a row a protocol, budget and figure, with mean and band."""
    rows = []
    for other in at_other_budgets(plan):
        for protocol in compared():
            found = known_forecast(store, guess, other, protocol)
            if found is None:
                continue
            for key, label in CURVES.items():
                band: Band = getattr(found, key)
                rows.append(
                    {
                        "protocol": protocol_of(protocol).about.label,
                        "figure": label,
                        "votes": found.n_comparisons,
                        "mean": band.mean,
                        "lower": band.lower,
                        "upper": band.upper,
                    }
                )
    return pd.DataFrame(rows, columns=["protocol", "figure", "votes", "mean", "lower", "upper"])


def n_wanted(plan: Plan) -> int:
    """The forecasts that a full curve has."""
    return len(at_other_budgets(plan)) * len(PROTOCOLS)


def said(band: Band) -> str:
    """A figure with its band: mean (lower to upper)."""
    if pd.isna(band.mean):
        return "undefined"
    return f"{band.mean:.3f} ({band.lower:.3f} to {band.upper:.3f})"


def appearances_said(appearances: Sequence[int]) -> str:
    """M as the plan's box takes it: one number, or one per ballot.

    >>> appearances_said((20, 20)), appearances_said((20, 30))
    ('20', '20, 30')
    """
    return str(appearances[0]) if len(set(appearances)) == 1 else ", ".join(map(str, appearances))
