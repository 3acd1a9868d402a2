"""How evenly votes came: the quota, the busiest voter, closing warnings; and the dealing of simulated voters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from campaigns import PLAN, answer_batch, draw_batch, make_project
from hypothesis import given
from hypothesis import strategies as st

from core.plan import Plan
from core.plan.budgets import reward_for_wage
from core.plan.campaign_plan import cost
from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.simulated import assign_tasks, simulate_votes
from core.store.votes.intake import accept_upload
from core.store.votes.tallies import Progress
from core.views.collect import collect_page
from core.views.collect.collect_page import read_voters

# 42 comparisons in 14 tasks of 3 for 6 voters: three tasks, nine votes each.
QUOTA = 9


def ballot_with(store, voters, **options):
    project = make_project(store)
    results = answer_batch(draw_batch(store, project), voters=voters, **options)
    accept_upload(store, project, results, "results.csv")
    return collect_page.load(store, project), read_ballots(store, project)[0]


def test_everyone_within_the_quota_warns_of_nothing(store):
    view, ballot = ballot_with(store, ["W1", "W2", "W3", "W4", "W5", "W6"])
    assert view.workload.quota.comparisons_per_voter == QUOTA
    assert view.workload.top_votes == 9
    assert not view.workload.is_over
    assert view.warnings == ()
    voters = read_voters(store, ballot.id, QUOTA)
    assert voters["votes"].tolist() == [9, 9, 6, 6, 6, 6]
    assert voters["share"].sum() == pytest.approx(1)
    assert not voters["flags"].any()


def test_a_voter_over_the_quota_is_told_with_the_effective_number(store):
    # Five of fourteen tasks are of W1: 15 votes; the others have 9, 9 and 9.
    view, ballot = ballot_with(
        store, ["W1", "W2", "W3", "W1", "W4", "W2", "W3", "W1", "W4", "W2", "W3", "W1", "W4", "W1"]
    )
    effective = 1 / ((15 / 42) ** 2 + 3 * (9 / 42) ** 2)
    (warning,) = view.warnings
    assert "One voter gave 15 votes, 36% of all; the quota is 9, for the plan's 6 voters." in warning
    assert f"as if {effective:.1f} voters" in warning
    voters = read_voters(store, ballot.id, QUOTA)
    assert list(zip(voters["voter"], voters["votes"], voters["flags"], strict=True)) == [
        ("W1", 15, "over the quota"),
        ("W2", 9, ""),
        ("W3", 9, ""),
        ("W4", 9, ""),
    ]


def test_unknown_words_are_no_votes(store):
    asked = iter(range(1000))
    _, ballot = ballot_with(store, ["W1", "W2"], choose=lambda shown: "unknown" if next(asked) < 3 else "left")
    voters = read_voters(store, ballot.id, QUOTA)
    assert voters[["voter", "votes", "unknown"]].to_numpy().tolist() == [["W2", 21, 0], ["W1", 18, 3]]


def test_a_ballot_without_votes_has_a_quota_and_no_warning_of_its_own(store):
    project = make_project(store)
    draw_batch(store, project)
    view = collect_page.load(store, project)
    assert (view.workload.top_votes, view.workload.effective, view.workload.warning()) == (None, None, None)
    assert read_voters(store, read_ballots(store, project)[0].id, QUOTA).empty


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(0, 40), st.integers(0, 99))
def test_whoever_has_the_fewest_tasks_is_dealt_the_next(loads, n_tasks, seed):
    got = np.bincount(assign_tasks(np.array(loads), n_tasks, np.random.default_rng(seed)), minlength=len(loads))
    assert got.sum() == n_tasks
    after = np.array(loads) + got
    # Those who were dealt something end level within one, and nobody below them was passed over.
    if n_tasks:
        assert after[got > 0].max() - after.min() <= 1


def test_simulated_voters_stay_within_the_quota_when_they_answer_in_parts(store):
    project = make_project(store, kind="trial")
    draw_batch(store, project)
    for share in (0.3, 0.5, 1.0):
        simulate_votes(store, project, share=share)
    assert collect_page.load(store, project).workload.top_votes <= QUOTA
    assert collect_page.load(store, project).warnings == ()


@given(st.integers(0, 5000), st.integers(1, 600), st.integers(1, 50))
def test_the_reward_for_a_wage_is_the_lowest_that_reaches_it(cents, tenths, size):
    wage, seconds = cents / 100, tenths / 10
    reward = reward_for_wage(wage, seconds_per_comparison=seconds, comparisons_per_task=size)
    assert reward * 3600 / (seconds * size) >= wage - 1e-9
    assert (reward - 0.01) * 3600 / (seconds * size) < wage or reward == 0


def test_the_reward_agrees_with_the_plan_s_cost():
    terms = {"seconds_per_comparison": 7.5, "comparisons_per_task": 20}
    plan = Plan(990, 7, 0.5, 20)
    reward = reward_for_wage(12, **terms)
    assert cost(plan, reward=reward, **terms).hourly_wage >= 12 > cost(plan, reward=reward - 0.01, **terms).hourly_wage


def test_the_quota_follows_the_plan(store):
    project = make_project(store, plan=replace(PLAN, n_voters=60))
    draw_batch(store, project)
    assert collect_page.load(store, project).workload.quota.comparisons_per_voter == 3


def test_who_voted_is_said_and_items_short_of_votes_once_most_have_voted():
    begun = replace(
        Progress.before_votes(100, 20),
        answered=40,
        votes=40,
        voters=4,
        top_share=0.4,
        effective_voters=3.2,
        simulated=0,
    )
    spread = "4 voters, who weigh as much as 3.2 with equal shares: the busiest gave 40% of the votes"
    assert collect_page.voters_said(begun) == f"{spread}."
    assert collect_page.voters_said(replace(begun, answered=90, votes=90, short_items=5)) == (
        f"{spread}; 5 items short of votes."
    )
    assert collect_page.voters_said(replace(begun, simulated=10)) == f"{spread}; 10 of 40 votes by simulated voters."
    assert collect_page.voters_said(replace(begun, simulated=40)) == f"{spread}; all 40 votes by simulated voters."
    even = replace(begun, top_share=0.25, effective_voters=4.0)
    assert collect_page.voters_said(even) == "4 voters: the busiest gave 25% of the votes."
