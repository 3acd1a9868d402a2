"""What a closed ballot keeps beside its scores: the worth of another ballot, ties for the top, and the cut audit.

The worth is computed in core/trust/stopping.py; the audit of the ranking's cuts is read from its audit votes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from ...ballots.audit import CutAudit, estimate_lost
from ...errors import DisconnectedError, InputError, NotConvergedError, RunoffError
from ...protocols.base import N_TOP
from ...scores import BallotVotes
from ...scores.bradley_terry import FittedVotes, fit_votes
from ...scores.posterior import item_posteriors
from ...trust.stopping import NextBallotValue, value_of_next
from .. import schema as t
from ..ballots.ballot_rows import Ballot
from ..command import fetch_numbers
from ..projects.plans import settings_of
from ..tokens.areas import n_items_of

MOST_VOTES = 200_000  # of which closing simulates another ballot: some ten seconds


@dataclass(frozen=True)
class NextBallot:
    """How many items the ballot after one would have, and in how many comparisons each."""

    n_items: int
    appearances: int


def next_after(conn: sa.Connection, project_id: str, ballot: Ballot) -> NextBallot:
    """The ballot after this one by the plan; after the last, one more like it."""
    found = settings_of(conn, project_id, ballot.area_id)
    if found is None or ballot.is_pilot or ballot.number >= found[1].n_ballots:
        return NextBallot(ballot.n_items, ballot.appearances)
    plan = found[1].plan(n_items_of(conn, project_id, ballot.area_id))
    return NextBallot(plan.sizes[ballot.number], plan.appearances_by_ballot[ballot.number])


def next_ballot_value(
    votes: Sequence[BallotVotes], ballot: Ballot, coming: NextBallot, fitted: FittedVotes | None = None
) -> dict[str, Any] | None:
    """The value of another ballot, to be stored with a ballot at closing; None above `MOST_VOTES`, or where votes can't
    be fitted."""
    if sum(len(held.first) for held in votes) > MOST_VOTES:
        return None
    try:
        return value_of_next(
            votes,
            ballot.protocol,
            fitted if fitted is not None else fit_votes(votes),
            n_keep=coming.n_items,
            appearances=coming.appearances,
            rng=np.random.default_rng([ballot.seed, 3]),
        ).stored()
    except (DisconnectedError, InputError, NotConvergedError):
        return None


def closed_fit_of(conn: sa.Connection, ballot_id: int) -> dict[str, Any]:
    """What closing stored of the fit, empty where it stored nothing."""
    return conn.execute(sa.select(t.ballot.c.fit).where(t.ballot.c.id == ballot_id)).scalar_one_or_none() or {}


def stored_next_ballot_value(conn: sa.Connection, ballot_id: int) -> NextBallotValue | None:
    """The value of another ballot stored with a closed ballot; None where there is none."""
    return NextBallotValue.of(closed_fit_of(conn, ballot_id).get("another"))


NO_AUDIT = "no item that was cut came back as a check"


def audit_votes(conn: sa.Connection, ballot_ids: Sequence[int], *, without: frozenset[int] | None = None) -> np.ndarray:
    """The counted audit votes of some ballots: columns ballot id, item and opponent (positions in the project), outcome
    (1 the item won, 0 the opponent, .5 a tie), voter id, inclusion of the item; in a fixed order.

    `without` names the voters to leave out in place of those who are.
    """
    counted = (
        t.judgement.c.status == "counted" if without is None else t.judgement.c.status.in_(["counted", "excluded"])
    )
    one, two = t.question_option.alias("one"), t.question_option.alias("two")
    first, second = t.item.alias("first"), t.item.alias("second")
    j, q, c = t.judgement.c, t.question.c, t.check_question.c
    query = (
        sa.select(q.ballot_id, first.c.position, second.c.position, j.value, t.assignment.c.voter_id, c.inclusion)
        .select_from(t.check_question)
        .join(t.question, q.id == c.question_id)
        .join(t.judgement, j.question_id == q.id)
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(one, sa.and_(one.c.question_id == q.id, one.c.position == 0))
        .join(two, sa.and_(two.c.question_id == q.id, two.c.position == 1))
        .join(first, first.c.id == one.c.item_id)
        .join(second, second.c.id == two.c.item_id)
        .where(q.ballot_id.in_(list(ballot_ids)), c.kind == "audit", counted, j.value.is_not(None))
        .order_by(q.id, j.id)
    )
    rows = fetch_numbers(conn, query)
    return rows if without is None else rows[~np.isin(rows[:, 4], sorted(without))]


def audit_of(
    ballots: Sequence[Ballot], votes: Sequence[BallotVotes], audited: np.ndarray, fitted: FittedVotes | None = None
) -> CutAudit | None:
    """What the audits so far say of the items that aren't in the last of `ballots`; None without an audit vote.

    `votes` are those of the ballots, `audited` as of `audit_votes`. Raises as `fit_votes` where votes can't be fitted.
    """
    if not len(audited):
        return None
    fitted = fitted or fit_votes(votes)
    places = [np.searchsorted(fitted.items, np.sort(held.items)) for held in votes]
    cut = np.setdiff1d(np.arange(len(fitted.items)), places[-1])
    # The ballot that cut an item last is the one after the last that it was in.
    last_in = np.zeros(len(fitted.items), dtype=np.int64)
    for number, place in enumerate(places):
        last_in[place] = number
    number_of = {ballot.id: number for number, ballot in enumerate(ballots)}
    items = np.searchsorted(fitted.items, audited[:, 1].astype(int))
    at = np.array([number_of[int(id_)] for id_ in audited[:, 0]])
    chosen = np.isin(items, cut) & (at == last_in[items] + 1)
    seen, rows = np.unique(items[chosen], return_index=True)
    voters = np.unique(np.concatenate([held.voter for held in votes]))
    voter = audited[:, 4].astype(int)
    code = np.minimum(np.searchsorted(voters, voter), len(voters) - 1)
    opponents = np.searchsorted(fitted.items, audited[:, 2].astype(int))
    return estimate_lost(
        fitted.fit,
        item_posteriors(fitted.fit),
        cut,
        audited=seen,
        inclusion=audited[chosen, 5][rows],
        votes=(items, opponents, audited[:, 3], np.where(voters[code] == voter, code, -1)),
        n_top=min(N_TOP, len(places[-1])),
    )


def stored_audit(
    ballots: Sequence[Ballot], votes: Sequence[BallotVotes], audited: np.ndarray, fitted: FittedVotes | None = None
) -> dict[str, object]:
    """`audit_of` as closing keeps it with a ballot: the estimate, or {"reason"} where there is none."""
    try:
        found = audit_of(ballots, votes, audited, fitted)
    except RunoffError as error:
        return {"reason": f"votes can't be fitted: {error}"}
    return {"reason": NO_AUDIT} if found is None else found.stored()


def read_audit(conn: sa.Connection, ballot_id: int) -> CutAudit | str:
    """The audit kept with a closed ballot, or the reason why there is none."""
    stored = closed_fit_of(conn, ballot_id).get("audit")
    if not isinstance(stored, dict):
        return NO_AUDIT
    return CutAudit.of(stored) or str(stored.get("reason", NO_AUDIT))
