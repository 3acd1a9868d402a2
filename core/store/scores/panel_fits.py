"""The voter model fitted to votes of the store: to a pilot's, or to those of all ballots of a ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa

from ...scores import BallotVotes
from ...voters.assumed_similarity import FAMILIES, AssumedSimilarity, similarity_from_ranks
from ...voters.panel_fit import PanelFit, fit_panel
from .. import schema as t
from ..ballots.ballots import Ballot, ballots_of, pilot_of
from ..ballots.simulated import PLATFORM
from ..command import project_row
from ..engine import Store
from ..tokens.areas import items_of
from ..votes.tallies import ballot_votes, progress_of
from .forecasts import cosines_of
from .scores import dataset_of

PILOT_VOTES, BALLOT_VOTES = "pilot", "votes"


@dataclass(frozen=True, eq=False)
class StoredFit:
    """A panel fitted to stored votes, or the reason why there is none. `simulated` : some of them were simulated."""

    fit: PanelFit | None
    reason: str
    simulated: bool = False


def votes_to_fit(store: Store, project_id: str, area_id: int | None = None) -> dict[str, int]:
    """How many votes a fit could rest on: of the ranking's pilot once it is closed ("pilot"), of its ballots."""
    with store.read() as conn:
        return {
            which: sum(progress_of(conn, ballot.id).votes for ballot in _ballots(conn, project_id, area_id, which))
            for which in (PILOT_VOTES, BALLOT_VOTES)
        }


def fit_stored(store: Store, project_id: str, area_id: int | None, similarity: str, which: str) -> StoredFit:
    """Fit a ranking's panel to the votes of its pilot or of its ballots (`which`: "pilot", "votes").

    `similarity` is what a plan's guess has: an embedding's id, for its cosines (items that it lacks are left out), or
    a family of distributions, given to the items by the ranks of the scores, which takes a closed ballot. The same
    votes give the same fit. Raises `StoreError` where the project hasn't that embedding.
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        votes = [ballot_votes(conn, ballot.id) for ballot in _ballots(conn, project_id, area_id, which)]
        z = _by_ranks(conn, project_id, area_id, similarity, project.notion) if similarity in FAMILIES else None
        simulated = _is_simulated(conn, votes)
    if similarity in FAMILIES and z is None:
        return StoredFit(
            None,
            (
                "with a distribution, a fit takes the ranks of scores, and no ballot is closed yet. Guess the "
                "relatedness by an embedding's cosines."
            ),
        )
    given = cosines_of(store, project_id, similarity) if z is None else z
    fit = fit_panel(
        *(_joined(votes, name) for name in ("first", "second", "outcome", "voter")),
        similarity=given,
        rng=np.random.default_rng([project.seed, 1, 6]),
        notion=project.notion,
    )
    return StoredFit(fit, fit.reason, simulated)


def _ballots(conn: sa.Connection, project_id: str, area_id: int | None, which: str) -> list[Ballot]:
    if which == BALLOT_VOTES:
        return ballots_of(conn, project_id, area_id)
    pilot = pilot_of(conn, project_id, area_id)
    return [pilot] if pilot is not None and not pilot.is_open else []


def _by_ranks(
    conn: sa.Connection, project_id: str, area_id: int | None, family: str, notion: str
) -> AssumedSimilarity | None:
    """A family's values by the ranks of the scores; None while no ballot is closed."""
    if all(ballot.is_open for ballot in ballots_of(conn, project_id, area_id)):
        return None
    names = ["area", "token_a", "token_b"]
    scores = dataset_of(conn, project_id, area_id)[[*names, "score"]]
    of_items = items_of(conn, project_id).merge(scores, "left", on=names, validate="1:1")
    return similarity_from_ranks(of_items["score"].to_numpy(), family, notion=notion)


def _is_simulated(conn: sa.Connection, votes: list[BallotVotes]) -> bool:
    query = sa.select(t.voter.c.id).where(t.voter.c.platform == PLATFORM)
    simulated = list(conn.execute(query).scalars())
    return any(bool(np.isin(ballot.voter, simulated).any()) for ballot in votes)


def _joined(votes: list[BallotVotes], name: str) -> np.ndarray:
    kind = np.float64 if name == "outcome" else np.int64
    return np.concatenate([np.empty(0, dtype=kind), *(getattr(ballot, name) for ballot in votes)])
