"""A trial of a ballot: which tasks it shows, and what its answers come to."""

from __future__ import annotations

import math
from statistics import mean, median

import numpy as np
import pytest
from campaigns import draw_batch, make_project
from hypothesis import given
from hypothesis import strategies as st

from core.store import Store
from core.store.ballots.ballot_rows import read_ballots, read_comparisons
from core.store.ballots.comparisons import count_tasks, read_tasks
from core.store.projects.plans import read_plan
from core.views.collect import tasks
from core.views.collect.tasks import N_TRIAL, Pace, cut_to, pace, trial_order


@pytest.fixture
def ballot(store):
    """A drawn ballot of 42 comparisons in 14 tasks."""
    project = make_project(store)
    draw_batch(store, project)
    return store, project, read_ballots(store, project)[0]


@given(st.integers(1, 60), st.integers(0, 99))
def test_the_order_is_seeded_and_holds_each_task_once(n_tasks, seed):
    order, again = (trial_order(n_tasks, rng=np.random.default_rng(seed)) for _ in range(2))
    assert order == again
    assert len(order) == len(set(order)) == min(n_tasks, N_TRIAL)
    assert set(order) <= set(range(n_tasks))


def test_every_task_is_equally_likely_to_come_first():
    first = [trial_order(6, rng=np.random.default_rng(seed))[0] for seed in range(1200)]
    assert np.bincount(first, minlength=6) == pytest.approx([200] * 6, abs=60)


def test_tasks_are_whole_as_voters_get_them_and_the_last_is_cut(ballot):
    store, project, drawn = ballot
    all_of_it = read_comparisons(store, project, 1)
    order = trial_order(count_tasks(store, drawn.id), rng=np.random.default_rng(3))
    shown = cut_to(read_tasks(store, project, drawn.id, order))
    assert [len(task) for task in shown] == [3, 3, 3, 3, 3, 3, 2]
    for position, task in zip(order, shown, strict=False):
        code = task["task_id"].iloc[0]
        assert code.endswith(f"-{position + 1:05d}")
        expected = all_of_it[all_of_it["task_id"] == code].head(len(task))
        assert task.reset_index(drop=True).equals(expected.reset_index(drop=True))


def test_a_ballot_that_is_smaller_than_a_trial_is_shown_whole(ballot):
    store, project, drawn = ballot
    shown = cut_to(read_tasks(store, project, drawn.id, [4, 2, 99]))
    assert [task["task_id"].iloc[0][-5:] for task in shown] == ["00005", "00003"]


def test_the_pages_of_a_trial_hold_twenty_comparisons_of_the_ballot_and_change_nothing(ballot):
    store, project, drawn = ballot
    before = state(store)
    pages = tasks.load(store, drawn, read_plan(store, project), "relatedness")
    assert (pages.n_tasks, pages.widest) == (14, 3)
    one, again, other = (tasks.trial(store, project, drawn, pages, turn=turn) for turn in (0, 0, 1))
    assert one == again != other
    # A comparison that is there has an area; an empty one (the last task is cut) has none.
    n_there = sum(page.count('dir="auto">Animals</span>') + page.count('dir="auto">Tools</span>') for page in one)
    assert n_there == 2 * N_TRIAL
    assert state(store) == before


def state(store: Store) -> list:
    """Every row of the workspace's database."""
    from core.store import schema

    with store.read() as conn:
        return [tuple(row) for table in schema.metadata.sorted_tables for row in conn.execute(table.select())]


CHOICES = st.sampled_from(["left", "right", "tie", "unknown"])


@given(st.lists(st.tuples(CHOICES, st.floats(0, 3600)), min_size=1, max_size=30))
def test_the_pace_is_what_counting_says(answers):
    choices, seconds = ([row[at] for row in answers] for at in (0, 1))
    found = pace(choices, seconds)
    assert (found.n, found.n_ties, found.n_unknown) == (len(answers), choices.count("tie"), choices.count("unknown"))
    assert (found.n_left, found.n_right) == (choices.count("left"), choices.count("right"))
    assert found.median == median(seconds)
    assert found.mean == pytest.approx(mean(seconds))


def test_what_a_browser_should_not_send_is_left_out():
    odd = [math.nan, math.inf, -1.0, 3600.5, "4", None]
    assert pace(["left"] * len(odd), odd) is None
    assert pace([], []) is None
    assert pace([{}, "up", "left"], [1.0, 2.0, 3.0]) == Pace(1, 3.0, 3.0, 0, 0, 1, 0)


def test_hours_follow_equation_ten():
    assert Pace(3, 4.0, 5.0, 1, 0, 1, 1).hours(720) == 1.0
