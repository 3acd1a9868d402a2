"""Commands that close a ballot and compute its scores, or open it again."""

from __future__ import annotations

import numpy as np
import sqlalchemy as sa

from ..errors import StoreError
from ..scores import BallotScores, Intervals
from . import schema as t
from .areas import n_items_of
from .ballots import Ballot, ballots_of, open_ballot_of, pilot_of, sentence_start
from .command import Change, check_revision, command, fetch_rows, project_row
from .engine import Store, now
from .foresights import foresight_of, next_after
from .paper_scores import paper_scores
from .rankings import ballot_named
from .runoff_scores import runoff_scores, write_runoff_scores
from .tallies import ballot_votes, write_tallies
from .voting_rest import rests_voting


@rests_voting
def close_ballot(
    store: Store, project_id: str, *, area_id: int | None = None, expected_revision: int | None = None
) -> None:
    """Close the open ballot and write its scores with 90 % intervals.

    By the paper's protocol these are x, y and ȳ of its items; by the protocol "runoff" θ and the expected Borda score
    of every item of the ranking, from the votes of all ballots. A pilot is only closed: it scores nothing.
    Raises `StoreError` if the ballot has no votes, or if an item has none in any (then it would have no score),
    `DisconnectedError` where votes leave items apart.
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        ballot = open_ballot_of(conn, project_id, area_id)
        ballots = [ballot] if ballot.is_pilot else ballots_of(conn, project_id, area_id)
        votes = [ballot_votes(conn, b.id) for b in ballots]
        n_items = n_items_of(conn, project_id)
        coming = next_after(conn, project_id, ballot)
    n_votes = len(votes[-1].first)
    if n_votes == 0:
        raise StoreError(f"{sentence_start(ballot.called)} has no votes yet. Upload results before it is closed.")
    if ballot.is_pilot:
        with command(store, project_id, "close ballot", expected_revision=project.revision) as change:
            _mark_closed(change, ballot, n_votes, "")
        return
    if ballot.protocol == "runoff":
        scores = runoff_scores(votes, ballot)
        scores.fit["another"] = foresight_of(votes, ballot, coming, scores.fitted)
        with command(store, project_id, "close ballot", expected_revision=project.revision) as change:
            write_runoff_scores(change, ballot.id, scores)
            _mark_closed(change, ballot, n_votes, scores.note)
        return
    scored, intervals = paper_scores(votes, n_items, ballot)
    another = foresight_of(votes, ballot, coming)
    slope = None if np.isnan(scored.slope) or ballot.number == 1 else float(scored.slope)
    with command(store, project_id, "close ballot", expected_revision=project.revision) as change:
        _write_scores(change, ballot.id, scored, intervals)
        change.conn.execute(sa.update(t.ballot).where(t.ballot.c.id == ballot.id).values(fit={"another": another}))
        _mark_closed(change, ballot, n_votes, intervals.reason, slope)


def _mark_closed(change: Change, ballot: Ballot, n_votes: int, note: str, slope: float | None = None) -> None:
    change.conn.execute(
        sa.update(t.ballot)
        .where(t.ballot.c.id == ballot.id)
        .values(state="closed", closed_at=now(), slope=slope, interval_note=note or None)
    )
    counts = {"votes": n_votes, "comparisons": ballot.n_comparisons, "slope": slope}
    change.detail = ballot_named(change.conn, change.project_id, ballot.area_id, ballot.number) | counts


def _write_scores(change: Change, ballot_id: int, scored: BallotScores, intervals: Intervals) -> None:
    query = sa.select(t.item.c.position, t.item.c.id).where(t.item.c.project_id == change.project_id)
    ids = dict(fetch_rows(change.conn, query))
    columns = {
        "x": scored.x,
        "y": scored.y,
        "mean": scored.mean,
        "count": scored.count,
        "lower": intervals.lower[scored.items],
        "upper": intervals.upper[scored.items],
    }
    rows = []
    for place, position in enumerate(scored.items.tolist()):
        values = {f"new_{name}": column[place].item() for name, column in columns.items()}
        row = {name: None if np.isnan(value) else value for name, value in values.items()}
        rows.append({"of_item": ids[position], **row})
    statement = (
        sa.update(t.ballot_item)
        .where(t.ballot_item.c.ballot_id == ballot_id, t.ballot_item.c.item_id == sa.bindparam("of_item"))
        .values({name: sa.bindparam(f"new_{name}") for name in columns})
    )
    change.conn.execute(statement, rows)


def reopen_ballot(
    store: Store, project_id: str, *, area_id: int | None = None, expected_revision: int | None = None
) -> None:
    """Open the newest ballot again, as long as no later one is drawn; its scores are taken off.

    That is the pilot while ballot 1 isn't drawn.
    """
    with command(store, project_id, "reopen ballot", expected_revision=expected_revision) as change:
        pilot = pilot_of(change.conn, project_id, area_id)
        ballots = ballots_of(change.conn, project_id, area_id) or ([pilot] if pilot else [])
        if not ballots or ballots[-1].is_open:
            raise StoreError("There is no closed ballot to reopen, or a later one is drawn already.")
        ballot = ballots[-1]
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number)
        blank = dict.fromkeys(("x", "y", "mean", "count", "lower", "upper"))
        change.conn.execute(sa.update(t.ballot_item).where(t.ballot_item.c.ballot_id == ballot.id).values(blank))
        change.conn.execute(sa.delete(t.item_score).where(t.item_score.c.ballot_id == ballot.id))
        change.conn.execute(
            sa.update(t.ballot)
            .where(t.ballot.c.id == ballot.id)
            .values(state="open", closed_at=None, slope=None, interval_note=None, fit=sa.null())
        )
        write_tallies(change.conn, ballot.id)  # by decisions that were made while it was closed
