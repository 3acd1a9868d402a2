"""The pilot: some comparisons before ballot 1, for their time, ties, unknown tokens and a first look at the voters.

It is a ballot with a purpose of its own and the number 0, with batch, task page, uploads and withdrawals like any
other. Its votes enter no score, no dataset, and no choice of items; ballots are numbered as if there were none.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import sqlalchemy as sa

from ...ballots.draw import draw_ballot
from ...errors import InputError, StoreError
from .. import schema as t
from ..command import command, fetch_numbers
from ..engine import Store
from ..projects.plans import PILOT, ranking_of, settings_of
from ..schema.ballots import TRIAL
from ..tokens.areas import items_of
from .ballot_rows import FOR_PILOT, ballot_seed, ballots_of, pilot_of
from .drawing import BallotItems, BallotToDraw, insert_ballot

FEWEST, STANDARD, MOST = 20, 60, 200  # comparisons


def draw_pilot(
    store: Store,
    project_id: str,
    n_comparisons: int = STANDARD,
    *,
    area_id: int | None = None,
    expected_revision: int | None = None,
) -> int:
    """Draw a ranking's pilot, and return the number of its comparisons.

    It has min(N, `n_comparisons`) of the ranking's N items, drawn by a seed, each in 2 comparisons; fewer items are
    each in as many more as there is room for within `n_comparisons` (no two meet twice while that is possible). Task
    size, ties and wording are those of the plan as it is now, and stay so for the pilot. Raises `InputError` unless
    20 to 200 comparisons are asked for, `StoreError` without a plan, for a second pilot, or once ballot 1 is drawn.
    """
    if not FEWEST <= n_comparisons <= MOST:
        raise InputError(f"A pilot has {FEWEST} to {MOST} comparisons, found {n_comparisons}.")
    with command(store, project_id, "draw ballot", expected_revision=expected_revision) as change:
        conn, ranking = change.conn, ranking_of(change.conn, project_id, area_id)
        planned = settings_of(conn, project_id, area_id)
        if planned is None:
            raise StoreError("There is no plan yet. Save one on the Plan page first: it says what a task is like.")
        if ballots_of(conn, project_id, area_id):
            raise StoreError("Ballot 1 is drawn, so it is too late for a pilot.")
        if pilot_of(conn, project_id, area_id) is not None:
            raise StoreError("The pilot is drawn already.")
        plan_id, settings = planned
        seed = ballot_seed(change.project.seed, settings.seed, PILOT, ranking.position)
        items = items_of(conn, project_id, area_id=area_id)
        if len(items) < 2:
            raise StoreError("A pilot needs at least two items. Add tokens on the Tokens page.")
        size = min(len(items), n_comparisons)
        rng = np.random.default_rng([seed, FOR_PILOT])
        sample = np.sort(rng.choice(len(items), size=size, replace=False))
        positions, ids = items["item"].to_numpy()[sample], items.index.to_numpy()[sample]
        appearances = max(2, min(size - 1, 2 * n_comparisons // size))
        chosen = BallotItems(positions, ids, [None] * size)
        due = BallotToDraw(project_id, ranking, plan_id, settings, PILOT, appearances, seed, size, chosen, TRIAL)
        drawn = draw_ballot(positions, appearances, task_size=settings.task_size, seed=seed)
        insert_ballot(change, due, drawn)
    return len(drawn.first)


def pilot_answers(conn: sa.Connection, ballot_id: int) -> pd.DataFrame:
    """The answers of a pilot that count, a row each in a fixed order.

    Columns: first and second, positions of the items; outcome, 1 where the first won, 0 the second, .5 a tie, NaN where
    the voter didn't know a token; voter, an id; seconds, NaN where no time is known; simulated.
    """
    one, two = t.question_option.alias("one"), t.question_option.alias("two")
    first, second = t.item.alias("first"), t.item.alias("second")
    j, q = t.judgement.c, t.question.c
    query = (
        sa.select(
            first.c.position,
            second.c.position,
            sa.case((j.status == "counted", j.value)),
            t.assignment.c.voter_id,
            sa.case((j.seconds > 0, j.seconds)),
            sa.case((j.source == "simulated", 1), else_=0),
        )
        .select_from(t.judgement)
        .join(t.assignment, t.assignment.c.id == j.assignment_id)
        .join(t.question, q.id == j.question_id)
        .join(one, sa.and_(one.c.question_id == q.id, one.c.position == 0))
        .join(two, sa.and_(two.c.question_id == q.id, two.c.position == 1))
        .join(first, first.c.id == one.c.item_id)
        .join(second, second.c.id == two.c.item_id)
        .where(t.assignment.c.ballot_id == ballot_id, q.role == "main", j.status.in_(["counted", "unknown"]))
        .order_by(q.id, j.id)
    )
    rows = fetch_numbers(conn, query)
    kinds = {"first": "int64", "second": "int64", "voter": "int64", "simulated": "bool"}
    return pd.DataFrame(rows, columns=["first", "second", "outcome", "voter", "seconds", "simulated"]).astype(kinds)
