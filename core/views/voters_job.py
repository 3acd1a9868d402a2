"""The figures of a ranking's voters as a job: of many votes they take a minute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..store import Store
from ..voter_quality import VoterQuality
from . import voters
from .kept_figures import KeptFigures, agreement_found, agreement_kept, table_found, table_kept


def kept(quality: VoterQuality) -> dict[str, Any]:
    """Figures as JSON; `found` is its inverse."""
    return {
        "table": table_kept(quality.table),
        "reasons": dict(quality.reasons),
        "alpha": agreement_kept(quality.alpha),
        "no_alpha": quality.no_alpha,
    }


def found(told: Mapping[str, Any]) -> VoterQuality:
    """The figures of `kept`."""
    table = table_found(told["table"]).astype({"left_out": "bool"})
    return VoterQuality(table, dict(told["reasons"]), agreement_found(told["alpha"]), told["no_alpha"])


FIGURES = KeptFigures("voter_figures", 4, "Measuring the voters", voters.measured, kept, found)


def load(store: Store, project_id: str, area_id: int | None, job_id: str) -> voters.VotersView:
    """The voters of a ranking by the figures of a job that is done."""
    return voters.load(store, project_id, area_id, quality=FIGURES.of_job(store, job_id))
