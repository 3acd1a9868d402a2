"""The checks of a ranking's votes as a job, where there are many votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ..estimates import Share
from ..quality import SideBias
from ..store import Store
from . import checks
from .checks import VoteChecks
from .kept_figures import KeptFigures, agreement_found, agreement_kept, table_found, table_kept

SHARES = ("gold", "repeats", "overlap")


def kept(found: VoteChecks) -> dict[str, Any]:
    """Checks as JSON; `found` is its inverse."""
    return {
        "n_votes": found.n_votes,
        "part_sizes": list(found.part_sizes),
        "apart": list(found.apart),
        "sides": {"voters": table_kept(found.sides.voters), "level": found.sides.level},
        "agreement": agreement_kept(found.agreement),
        "no_agreement": found.no_agreement,
        "shares": {name: asdict(getattr(found, name)) for name in SHARES},
        "n_overlapping": found.n_overlapping,
    }


def found(told: Mapping[str, Any]) -> VoteChecks:
    """The checks of `kept`."""
    return VoteChecks(
        n_votes=told["n_votes"],
        part_sizes=tuple(told["part_sizes"]),
        apart=tuple(told["apart"]),
        sides=SideBias(table_found(told["sides"]["voters"]), told["sides"]["level"]),
        agreement=agreement_found(told["agreement"]),
        no_agreement=told["no_agreement"],
        n_overlapping=told["n_overlapping"],
        **{name: Share(**share) for name, share in told["shares"].items()},
    )


FIGURES = KeptFigures("vote_checks", 3, "Checking the votes", checks.load, kept, found)


def load(store: Store, project_id: str, area_id: int | None, job_id: str) -> VoteChecks:
    """The checks that a job which is done has found."""
    return FIGURES.of_job(store, job_id)
