"""Commands that close a ballot and compute its scores, or open it again."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from ..errors import StoreError
from . import schema as t
from .audits import audit_votes, stored_audit
from .ballots import Ballot, ballots_of, check_meant, open_ballot_of, pilot_of, sentence_start
from .command import Change, check_revision, command, project_row
from .engine import Store, now
from .foresights import next_after
from .page_addresses import forget_addresses
from .policies import recount
from .rankings import ballot_named
from .scoring import score_ballot, write_scores
from .tallies import ballot_votes, write_tallies
from .voting_rest import rests_voting


@rests_voting
def close_ballot(
    store: Store,
    project_id: str,
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> None:
    """Close the open ballot (the one of this `code`, see `ballots.check_meant`), with scores and 90 % intervals.

    By the paper's protocol these are x, y and ȳ of its items; by the protocol "runoff" θ and the expected Borda score
    of every item of the ranking, from the votes of all ballots. A pilot is only closed: it scores nothing.
    Raises `StoreError` if the ballot has no votes, or if an item has none in any (then it would have no score),
    `DisconnectedError` where votes leave items apart.
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        ballot = open_ballot_of(conn, project_id, area_id, code)
        ballots = [ballot] if ballot.is_pilot else ballots_of(conn, project_id, area_id)
        votes = [ballot_votes(conn, b.id) for b in ballots]
        coming = next_after(conn, project_id, ballot)
        audited = audit_votes(conn, [b.id for b in ballots])
    n_votes = len(votes[-1].first)
    if n_votes == 0:
        raise StoreError(f"{sentence_start(ballot.called)} has no votes yet. Upload results before it is closed.")
    if ballot.is_pilot:
        with command(store, project_id, "close ballot", expected_revision=project.revision) as change:
            _mark_closed(change, ballot, n_votes, None)
        return
    scores = score_ballot(votes, ballot, coming=coming)
    if len(audited):
        scores.fit["audit"] = stored_audit(ballots, votes, audited, scores.fitted)
    with command(store, project_id, "close ballot", expected_revision=project.revision) as change:
        write_scores(change, scores)
        _mark_closed(change, ballot, n_votes, scores.slope, audit=scores.fit.get("audit"))


def _mark_closed(
    change: Change, ballot: Ballot, n_votes: int, slope: float | None, *, audit: dict[str, Any] | None = None
) -> None:
    row = sa.update(t.ballot).where(t.ballot.c.id == ballot.id)
    change.conn.execute(row.values(state="closed", closed_at=now()))
    forget_addresses(change.conn, ballot.id)
    counts: dict[str, Any] = {"votes": n_votes, "comparisons": ballot.n_comparisons, "slope": slope}
    counts |= {"cut audit": audit} if audit else {}
    change.detail = ballot_named(change.conn, change.project_id, ballot.area_id, ballot.number) | counts


def reopen_ballot(
    store: Store,
    project_id: str,
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> None:
    """Open the newest ballot again, as long as no later one is drawn; its scores are taken off.

    That is the pilot while ballot 1 isn't drawn. `code` is that of the one which is meant (`ballots.check_meant`).
    """
    with command(store, project_id, "reopen ballot", expected_revision=expected_revision) as change:
        pilot = pilot_of(change.conn, project_id, area_id)
        ballots = ballots_of(change.conn, project_id, area_id) or ([pilot] if pilot else [])
        check_meant(change.conn, project_id, ballots[-1] if ballots else None, code)
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
        recount(change.conn, project_id, ballot.id)  # by the policy and the decisions of now
        write_tallies(change.conn, ballot.id)
