"""Simulated voters answer rounds of demo and trial projects, and never those of real ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from campaigns import make_project
from rounds_of_people import SMALL, round_id

from core.commands.integrity import check_store
from core.errors import StoreError
from core.questions.order.kind import given_orders
from core.store.ballots.ballot_rows import answers_of
from core.store.ballots.drawing import draw_round
from core.store.scores.project_dataset import round_dataset
from tests.rounds_of_people import (
    BEST_WORST,
    ORDER,
    RATING,
    SCHEMES,
    close_round,
    rated_items,
    read_rounds,
    round_progress,
    simulate_round,
)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_trial_project_goes_the_whole_way(store, scheme):
    project_id = make_project(store, kind="trial", plan=None)
    draw_round(store, project_id, replace(SMALL[scheme], raters=6))
    n = simulate_round(store, project_id, 1)
    progress = round_progress(store, round_id(store, project_id))
    assert progress.is_complete
    assert progress.simulated == progress.votes == n
    with pytest.raises(StoreError, match="has all its answers"):
        simulate_round(store, project_id, 1)
    close_round(store, project_id, 1)
    assert check_store(store).is_fine
    if scheme != ORDER:
        found = round_dataset(store, project_id, round_id(store, project_id))
        assert len(found) == 21
        assert found["lower"].notna().all()
        assert (found["lower"] <= found["score"] + 1e-12).all()


def test_they_answer_by_what_they_believe(store):
    project_id = make_project(store, kind="trial", plan=None)
    draw_round(store, project_id, replace(SMALL[RATING], raters=15))
    simulate_round(store, project_id, 1)
    close_round(store, project_id, 1)
    found = round_dataset(store, project_id, round_id(store, project_id))
    import sqlalchemy as sa

    from core.store import schema as t

    with store.read() as conn:
        rated = rated_items(conn, project_id, round_id(store, project_id))
        beliefs = np.abs(conn.execute(sa.select(t.item.c.similarity).order_by(t.item.c.position)).scalars().all())
    assert np.corrcoef(beliefs, rated.table[:, :].mean(axis=0, where=~np.isnan(rated.table)))[0, 1] > 0.9
    assert rated.table.shape == (20, 21)
    assert (~np.isnan(rated.table)).sum(axis=0).tolist() == [15] * 21
    assert found["score"].between(0, 4).all()


def test_the_same_project_answers_the_same(store):
    projects = [make_project(store, kind="trial", plan=None) for _ in range(2)]
    orders = []
    for project_id in projects:
        draw_round(store, project_id, SMALL[ORDER])
        simulate_round(store, project_id, 1)
        with store.read() as conn:
            given = given_orders(answers_of(conn, project_id, read_rounds(store, project_id)[0]))
        orders.append(list(given.values()))
    assert orders[0] == orders[1]


def test_a_real_project_takes_real_answers(store):
    project_id = make_project(store, plan=None)
    draw_round(store, project_id, SMALL[BEST_WORST])
    with pytest.raises(StoreError, match="real answers"):
        simulate_round(store, project_id, 1)
