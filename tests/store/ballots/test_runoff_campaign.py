"""A campaign by the protocol "runoff" in the store: who goes on, who meets, one fit of all votes at closing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import PLAN, answer_batch, draw_batch, make_project

from core.ballots.pairing import select_leading
from core.errors import DisconnectedError, PlanError, StoreError
from core.metrics import average_ranks
from core.protocols.runoff import spread_appearances
from core.questions.comparison_page import write_batch
from core.scores.bradley_terry import fit_with_voters
from core.store import schema as t
from core.store.ballots.ballot_rows import ballots_of, read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.simulated import simulate_votes
from core.store.projects.archive import duplicate_project, export_project, import_project
from core.store.projects.plans import PlanSettings, proposed_plan, save_plan
from core.store.scores.project_dataset import read_ballot_scores, read_project_dataset
from core.store.votes.intake import accept_upload
from core.store.votes.tallies import ballot_votes

RUNOFF = replace(PLAN, protocol="runoff", appearances=(6, 4, 4))


def run_ballots(store, project_id, n):
    for _ in range(n):
        draw_next_ballot(store, project_id)
        simulate_votes(store, project_id)
        close_ballot(store, project_id)


@pytest.fixture
def closed(store):
    """A trial project with two closed ballots."""
    project_id = make_project(store, kind="trial", plan=RUNOFF)
    run_ballots(store, project_id, 2)
    return project_id


def all_votes(store, project_id, n_ballots):
    with store.read() as conn:
        ballots = ballots_of(conn, project_id)[:n_ballots]
        votes = [ballot_votes(conn, ballot.id) for ballot in ballots]
    parts = [np.concatenate([getattr(v, name) for v in votes]) for name in ("first", "second", "outcome", "voter")]
    return (*parts[:3], np.unique(parts[3], return_inverse=True)[1])


def test_the_dataset_is_the_fit_of_all_votes(store, closed):
    first, second, outcome, voter = all_votes(store, closed, 2)
    fit = fit_with_voters(first, second, outcome, n_items=21, voter=voter)
    dataset = read_project_dataset(store, closed)
    with store.read() as conn:
        query = sa.select(t.item.c.position, t.item_score.c.theta, t.item_score.c.error).join(t.item)
        query = query.join(t.ballot, t.ballot.c.id == t.item_score.c.ballot_id).where(t.ballot.c.ordinal == 2)
        rows = np.array(conn.execute(query.order_by(t.item.c.position)).fetchall(), dtype=float)
    np.testing.assert_allclose(rows[:, 1], fit.theta, atol=1e-9)
    np.testing.assert_allclose(rows[:, 2], fit.standard_error, atol=1e-9)
    np.testing.assert_allclose(np.sort(dataset["score"])[::-1], np.sort(fit.expected_borda())[::-1], atol=1e-9)
    assert dataset["rank"].tolist() == average_ranks(dataset["score"].to_numpy()).tolist()
    assert len(dataset) == 21  # items cut before have scores too, on the same scale
    assert (dataset["lower"] <= dataset["score"]).all()
    assert (dataset["score"] <= dataset["upper"]).all()
    assert (dataset["rank_lower"] <= dataset["rank"]).all()
    assert (dataset["rank"] <= dataset["rank_upper"]).all()
    assert dataset.attrs["estimator"].startswith("Bradley–Terry")
    assert dataset.attrs["plan"]["protocol"] == "runoff"


@pytest.mark.release
def test_x_y_and_their_mean_do_not_exist(store, closed):
    by_ballot = read_ballot_scores(store, closed)
    assert by_ballot[["x", "y", "mean"]].isna().all().all()
    assert all(ballot.slope is None for ballot in read_ballots(store, closed))


@pytest.mark.release
def test_the_next_ballot_has_the_items_that_may_matter_most(store, closed):
    first, second, outcome, voter = all_votes(store, closed, 1)
    fit = fit_with_voters(first, second, outcome, n_items=21, voter=voter)
    ballot = read_ballots(store, closed)[1]
    expected = select_leading(fit, ballot.n_items, rng=np.random.default_rng([ballot.seed, 1])).selection.items
    shown = read_comparisons(store, closed, 2)
    times = Counter([*shown["first"], *shown["second"]])
    assert sorted(times) == sorted(expected.tolist())
    assert set(times.values()) <= {4, 5}
    scores = fit.expected_borda()
    with store.read() as conn:
        entries = conn.execute(
            sa.select(t.item.c.position, t.ballot_item.c.entry_score)
            .join(t.item)
            .where(t.ballot_item.c.ballot_id == ballot.id)
        ).fetchall()
    assert {place: pytest.approx(scores[place]) for place, _ in entries} == dict(map(tuple, entries))


@pytest.mark.release
def test_later_ballots_let_near_neighbours_meet(store):
    project_id = make_project(store, kind="trial", plan=replace(RUNOFF, appearances=(20, 4, 4), keep=0.9, n_voters=40))
    run_ballots(store, project_id, 1)
    first, second, outcome, voter = all_votes(store, project_id, 1)
    theta = fit_with_voters(first, second, outcome, n_items=21, voter=voter).theta
    draw_next_ballot(store, project_id)
    shown = read_comparisons(store, project_id, 2)
    items = np.unique(shown[["first", "second"]])
    ranks = dict(zip(items.tolist(), average_ranks(theta[items]), strict=True))
    gaps = [abs(ranks[a] - ranks[b]) for a, b in zip(shown["first"], shown["second"], strict=True)]
    at_random = (len(items) + 1) / 3  # the mean gap of two ranks drawn at random
    assert np.mean(gaps) < 0.7 * at_random
    assert len({frozenset(pair) for pair in zip(shown["first"], shown["second"], strict=True)}) == len(shown)


@pytest.mark.release
def test_reopening_takes_the_scores_off_and_closing_gives_them_back(store, closed):
    before = read_project_dataset(store, closed)
    reopen_ballot(store, closed)
    with store.read() as conn:
        of_second = sa.select(sa.func.count()).select_from(t.item_score).join(t.ballot)
        assert conn.execute(of_second.where(t.ballot.c.ordinal == 2)).scalar() == 0
    assert read_project_dataset(store, closed)["score"].tolist() != before["score"].tolist()  # those of ballot 1 again
    close_ballot(store, closed)
    pd.testing.assert_frame_equal(read_project_dataset(store, closed), before, check_flags=False)


@pytest.mark.release
def test_a_copy_goes_on_as_the_original(store, closed):
    copies = [import_project(store, export_project(store, closed)), duplicate_project(store, closed, "Copy")]
    run_ballots(store, closed, 1)
    expected = read_project_dataset(store, closed)
    for copy in copies:
        run_ballots(store, copy, 1)
        pd.testing.assert_frame_equal(read_project_dataset(store, copy), expected, check_flags=False)


def test_few_voters_give_scores_without_intervals_and_a_reason(store):
    project_id = make_project(store, plan=RUNOFF)
    accept_upload(store, project_id, answer_batch(draw_batch(store, project_id), voters=["W1", "W2"]), "r.csv")
    close_ballot(store, project_id)
    dataset = read_project_dataset(store, project_id)
    assert dataset["lower"].isna().all()
    assert dataset["rank_lower"].isna().all()
    assert "at least 5 voters; found 2" in read_ballots(store, project_id)[0].interval_note


def test_votes_that_leave_items_apart_close_no_ballot(store):
    project_id = make_project(store, plan=RUNOFF)
    lines = draw_batch(store, project_id).splitlines(keepends=True)
    few = answer_batch(b"".join(lines[:3]))
    accept_upload(store, project_id, few, "few.csv")
    with pytest.raises((StoreError, DisconnectedError)):
        close_ballot(store, project_id)
    assert read_ballots(store, project_id)[0].is_open


def test_another_protocol_is_refused_and_new_plans_begin_with_runoff(store):
    project_id = make_project(store, plan=None)
    with pytest.raises(PlanError, match="protocol"):
        save_plan(store, project_id, replace(PlanSettings(), protocol="quick"))
    proposed = proposed_plan(990, 1)
    assert proposed.protocol == "runoff"
    halvings = replace(PlanSettings(), n_ballots=5).plan(990)
    assert proposed.plan(990).n_comparisons <= halvings.n_comparisons
    assert proposed.appearances == spread_appearances(990, 5, 0.5, halvings.n_comparisons).appearances


@pytest.mark.release
def test_the_same_seed_gives_the_same_second_batch(store):
    batches = []
    for _ in range(2):
        project_id = make_project(store, kind="trial", plan=RUNOFF)
        with store.write() as conn:  # the same tasks for both, whose codes follow from the project's id
            conn.execute(sa.update(t.project).where(t.project.c.id == project_id).values(seed=11))
        run_ballots(store, project_id, 1)
        draw_next_ballot(store, project_id)
        shown = read_comparisons(store, project_id, 2).drop(columns=["task_id", "question_id"])
        batches.append(shown)
        assert write_batch(read_comparisons(store, project_id, 2))
    pd.testing.assert_frame_equal(*batches)


def test_voters_whose_effects_do_not_settle_count_alike(monkeypatch):
    from core.errors import NotConvergedError
    from core.scores import bradley_terry as fits

    real = fits.fit_bradley_terry

    def never(*votes, voter=None, **how):
        if voter is not None:
            raise NotConvergedError("no")
        return real(*votes, **how)

    votes = ([0, 1, 2, 0], [1, 2, 0, 1], [1.0, 1.0, 0.0, 1.0])
    monkeypatch.setattr(fits, "fit_bradley_terry", never)
    fit = fits.fit_with_voters(*votes, n_items=3, voter=[0, 0, 1, 1])
    np.testing.assert_array_equal(fit.theta, real(*votes, n_items=3, ridge=fits.RIDGE).theta)
    assert len(fit.voter_lapse) == 1
