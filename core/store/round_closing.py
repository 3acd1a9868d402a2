"""Commands that close a round of another scheme and write its scores, or open it again."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from ..errors import DisconnectedError, InputError, NotConvergedError, StoreError
from ..schemes.collected import BEST_WORST
from . import schema as t
from .command import check_revision, command, project_row
from .engine import Store, now
from .page_addresses import forget_addresses
from .policies import recount
from .rankings import ballot_named, rankings_of
from .round_scores import RoundScores, score_round, write_round_scores
from .rounds import Round, round_of, rounds_of
from .tallies import write_tallies
from .voting_rest import end_voting


def close_round(
    store: Store, project_id: str, number: int, *, area_id: int | None = None, expected_revision: int | None = None
) -> None:
    """Close a round and write its scores; see `round_scores`.

    Raises `StoreError` where it is closed already, has no answers, or an item would have no score,
    `DisconnectedError` where tuples leave items apart.
    """
    with store.read() as conn:
        project = project_row(conn, project_id)
        check_revision(project, expected_revision)
        found = round_of(conn, project_id, number, area_id)
        if not found.is_open:
            raise StoreError(f"{found.title}, is closed already.")
        scores = score_round(conn, project_id, found)
        stamp = project.revision + project.pulse
    with command(store, project_id, "close round", expected_revision=project.revision) as change:
        if change.project.revision + change.project.pulse != stamp:  # an answer of the voting page came between
            scores = score_round(change.conn, project_id, found)
        write_round_scores(change, found, scores)
        row = sa.update(t.ballot).where(t.ballot.c.id == found.id)
        change.conn.execute(row.values(state="closed", closed_at=now()))
        end_voting(change.conn, found.id)
        forget_addresses(change.conn, found.id)
        change.detail = ballot_named(change.conn, project_id, area_id, -number)
        change.detail |= {"scheme": found.scheme} | scores.fit


def reopen_round(
    store: Store, project_id: str, number: int, *, area_id: int | None = None, expected_revision: int | None = None
) -> None:
    """Open a closed round again; its scores are taken off.

    Of best–worst only the newest round: those after it were drawn by its scores.
    """
    with command(store, project_id, "reopen round", expected_revision=expected_revision) as change:
        found = round_of(change.conn, project_id, number, area_id)
        if found.is_open:
            raise StoreError(f"{found.title}, is open.")
        later = [one for one in rounds_of(change.conn, project_id, area_id) if one.number > number]
        if found.scheme == BEST_WORST and any(one.scheme == BEST_WORST for one in later):
            raise StoreError(f"A later round of best–worst rests on {found.title}. Only the newest can be reopened.")
        blank = dict.fromkeys(("x", "y", "mean", "count", "lower", "upper"))
        conn = change.conn
        conn.execute(sa.update(t.ballot_item).where(t.ballot_item.c.ballot_id == found.id).values(blank))
        conn.execute(sa.delete(t.item_score).where(t.item_score.c.ballot_id == found.id))
        row = sa.update(t.ballot).where(t.ballot.c.id == found.id)
        conn.execute(row.values(state="open", closed_at=None, interval_note=None, fit=sa.null()))
        recount(conn, project_id, found.id)
        write_tallies(conn, found.id)
        change.detail = ballot_named(conn, project_id, area_id, -number) | {"scheme": found.scheme}


def rounds_without(
    conn: sa.Connection, project_id: str, without: frozenset[int], moved: Collection[int]
) -> list[tuple[Round, RoundScores]]:
    """New scores of the closed rounds with answers of the voters `moved`, and of those of best–worst that rest on them.

    `without` are all voters left out then. Nothing is written. Takes as long as closing these rounds did. Raises
    `StoreError` where a closed round can't be scored with the answers that are left.
    """
    a = t.assignment.c
    theirs = sa.select(a.ballot_id).where(a.voter_id.in_(sorted(moved))).distinct()
    touched = set(conn.execute(theirs).scalars())
    found: list[tuple[Round, RoundScores]] = []
    for ranking in rankings_of(conn, project_id):
        is_moved = False  # a round of best–worst before this one
        for one in rounds_of(conn, project_id, ranking.area_id):
            is_pooled = one.scheme == BEST_WORST
            if one.is_open or not (one.id in touched or (is_pooled and is_moved)):
                continue
            is_moved = is_moved or is_pooled
            found.append((one, _scores_left(conn, project_id, one, without)))
    return found


def _scores_left(conn: sa.Connection, project_id: str, found: Round, without: frozenset[int]) -> RoundScores:
    try:
        return score_round(conn, project_id, found, without)
    except (StoreError, DisconnectedError, InputError, NotConvergedError) as error:
        raise StoreError(
            f"{found.title}, is closed and can't be scored without these voters: {error} Leave out fewer of them; or "
            "reopen the round, collect the missing answers, and leave them out then."
        ) from error
