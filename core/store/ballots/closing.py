"""Commands that close a ballot or a round and compute its scores, or open it again."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from ...errors import StoreError
from ...questions import RoundScores
from .. import schema as t
from ..command import Change, check_revision, command, project_row
from ..engine import Store, now
from ..projects.plans import ballot_named
from ..scores.next_ballot_value import audit_votes, next_after, stored_audit
from ..scores.scoring import score_ballot, score_round, write_round_scores, write_scores
from ..votes.judgements import recount
from ..votes.tallies import ballot_votes, write_tallies
from ..voting.closing_pause import close_page, with_closing_pause
from ..voting.owner_commands import forget_addresses
from .ballot_rows import Ballot, ballots_of, check_meant, open_ballot_of, pilot_of, rounds_of, sentence_start


@with_closing_pause
def close_ballot(
    store: Store,
    project_id: str,
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> None:
    """Close the open ballot (the one of this `code`, see `ballot_rows.check_meant`), with scores and 90% intervals.

    By the paper's protocol these are x, y and ȳ of its items; by the protocol "runoff" θ and the expected Borda score
    of every item of the ranking, from the votes of all ballots. A pilot is only closed: it scores nothing. A round,
    which its code names, is scored as its kind of question has it.
    Raises `StoreError` if the ballot has no votes, or if an item has none in any (then it would have no score),
    `DisconnectedError` where votes leave items apart.
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        ballot = open_ballot_of(conn, project_id, area_id, code)
        if ballot.is_round:
            of_round = score_round(conn, project_id, ballot)
        else:
            ballots = [ballot] if ballot.is_pilot else ballots_of(conn, project_id, area_id)
            votes = [ballot_votes(conn, b.id) for b in ballots]
            coming = next_after(conn, project_id, ballot)
            audited = audit_votes(conn, [b.id for b in ballots])
    if ballot.is_round:
        _close_round(store, project, ballot, of_round)
        return
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
    _mark_no_longer_open(change.conn, ballot)
    counts: dict[str, Any] = {"votes": n_votes, "comparisons": ballot.n_comparisons, "slope": slope}
    counts |= {"cut audit": audit} if audit else {}
    change.detail = ballot_named(change.conn, change.project_id, ballot.area_id, ballot.number, ballot.purpose) | counts


def _mark_no_longer_open(conn: sa.Connection, ballot: Ballot) -> None:
    row = sa.update(t.ballot).where(t.ballot.c.id == ballot.id)
    conn.execute(row.values(state="closed", closed_at=now()))
    forget_addresses(conn, ballot.id)


def _close_round(store: Store, project: sa.Row, found: Ballot, scores: RoundScores) -> None:
    """Close a round with these scores; they are computed anew where an answer of the voting page came between."""
    with command(store, project.id, "close round", expected_revision=project.revision) as change:
        if change.project.revision + change.project.pulse != project.revision + project.pulse:
            scores = score_round(change.conn, project.id, found)
        write_round_scores(change, found, scores)
        _mark_no_longer_open(change.conn, found)
        close_page(change.conn, found.id)
        change.detail = ballot_named(change.conn, project.id, found.area_id, found.number, found.purpose)
        change.detail |= {"scheme": found.scheme} | scores.fit


def _mark_open(change: Change, ballot: Ballot) -> None:
    """Open a closed ballot again: its scores are taken off, and its answers counted by the policy and the decisions of
    now."""
    conn = change.conn
    blank = dict.fromkeys(("x", "y", "mean", "count", "lower", "upper"))
    conn.execute(sa.update(t.ballot_item).where(t.ballot_item.c.ballot_id == ballot.id).values(blank))
    conn.execute(sa.delete(t.item_score).where(t.item_score.c.ballot_id == ballot.id))
    row = sa.update(t.ballot).where(t.ballot.c.id == ballot.id)
    conn.execute(row.values(state="open", closed_at=None, slope=None, interval_note=None, fit=sa.null()))
    recount(conn, change.project_id, ballot.id)
    write_tallies(conn, ballot.id)


def reopen_ballot(
    store: Store,
    project_id: str,
    *,
    area_id: int | None = None,
    code: str | None = None,
    expected_revision: int | None = None,
) -> None:
    """Open the newest ballot again, as long as no later one is drawn; its scores are taken off.

    That is the pilot while ballot 1 isn't drawn. `code` is that of the one which is meant (`ballot_rows.check_meant`),
    or of a round; where later rounds of its kind were drawn by its scores, only the newest can be.
    """
    with command(store, project_id, "reopen ballot", expected_revision=expected_revision) as change:
        found = next((one for one in rounds_of(change.conn, project_id, area_id) if one.code == code), None)
        ballot = _newest_closed(change, area_id, code) if found is None else found
        change.detail = ballot_named(change.conn, project_id, area_id, ballot.number, ballot.purpose)
        if ballot.is_round:
            _check_reopens(change.conn, project_id, ballot)
            change.action = "reopen round"
            change.detail |= {"scheme": ballot.scheme}
        _mark_open(change, ballot)


def _newest_closed(change: Change, area_id: int | None, code: str | None) -> Ballot:
    """The newest ballot of a ranking, else its pilot, which can be opened again."""
    conn, project_id = change.conn, change.project_id
    pilot = pilot_of(conn, project_id, area_id)
    ballots = ballots_of(conn, project_id, area_id) or ([pilot] if pilot else [])
    check_meant(conn, project_id, ballots[-1] if ballots else None, code)
    if not ballots or ballots[-1].is_open:
        raise StoreError("There is no closed ballot to reopen, or a later one is drawn already.")
    return ballots[-1]


def _check_reopens(conn: sa.Connection, project_id: str, found: Ballot) -> None:
    """`StoreError` where a round is open, or others rest on it."""
    about = found.kind.about
    if found.is_open:
        raise StoreError(f"{found.title}, is open.")
    rounds = rounds_of(conn, project_id, found.area_id)
    if about.pools and any(one.scheme == found.scheme and one.number > found.number for one in rounds):
        raise StoreError(f"A later round of {about.label} rests on {found.title}. Only the newest can be reopened.")
