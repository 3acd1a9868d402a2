"""Two camps of voters with different opinions: told and put right, and one panel is hardly ever taken for two."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from campaigns import PLAN, answer_batch, draw_batch, make_project

from bench.camps import Kind, second_opinion, votes_of
from core.commands.figures.votes import TrustLines, VoterFigures
from core.commands.publishing import publish
from core.dataset.published import read_published
from core.scores import BallotVotes
from core.scores.bradley_terry import fit_votes
from core.store import open_store
from core.store.ballots.closing import close_ballot
from core.store.projects.project_commands import get_project
from core.store.scores.project_dataset import read_project_dataset
from core.store.votes.intake import accept_upload
from core.trust import report
from core.trust.camps import Camps, between_camps, find_camps
from core.trust.stopping import NextBallotValue
from core.views.voters import load as load_voters

SIDES = ("left", "right")


@pytest.mark.parametrize("protocol", ["paper", "runoff"])
def test_two_camps_are_told_and_one_panel_is_not(protocol):
    one = Kind(60, 3, 14, 30, protocol)
    for seed in range(3):
        votes, _ = votes_of(one, (7, seed))
        assert not find_camps(votes, fit_votes(votes)).are_two
        votes, second = votes_of(Kind(60, 3, 14, 30, protocol, share=0.5, correlation=0.3), (7, seed))
        found = find_camps(votes, fit_votes(votes))
        assert found.are_two
        right = float(np.mean(found.camp == second))
        assert max(right, 1 - right) > 0.9
        assert found.sizes[0] >= found.sizes[1] >= 12
        assert between_camps(votes, found) < 0.7


def test_reversed_sides_and_names_change_nothing():
    votes, _ = votes_of(Kind(60, 3, 14, 30, "paper", share=0.5, correlation=0.3), (7, 1))
    found = find_camps(votes, fit_votes(votes))
    turned = [BallotVotes(b.items, b.second, b.first, 1 - b.outcome, 100 + 3 * b.voter) for b in votes]
    again = find_camps(turned, fit_votes(turned))
    assert again.z == pytest.approx(found.z, abs=1e-3)
    assert again.camp.tolist() == found.camp.tolist()


def test_an_item_that_one_camp_never_had_is_left_out_between_them():
    votes, second = votes_of(Kind(60, 3, 14, 30, "paper", share=0.5, correlation=0.3), (7, 1))
    camps = Camps(9.0, second.astype(np.int64))
    part = []
    for b in votes:
        kept = ~(second[b.voter] & ((b.first == 0) | (b.second == 0)))
        part.append(BallotVotes(b.items, b.first[kept], b.second[kept], b.outcome[kept], b.voter[kept]))
    assert between_camps(part, camps) == pytest.approx(between_camps(votes, camps), abs=0.1)
    none = np.zeros(30, dtype=np.int64)
    assert between_camps(votes, Camps(9.0, none)) is None  # nobody on one side


def test_too_few_voters_or_items_say_nothing_and_why():
    for items, voters in ((60, 6), (10, 30)):
        votes, _ = votes_of(Kind(items, 2, 8, voters, "paper"), (7, 1))
        found = find_camps(votes, fit_votes(votes))
        assert math.isnan(found.z)
        assert not found.are_two
        assert "it takes 8 voters with 10 votes each and 12 items, and there are" in found.reason
        line = report.one_panel(found, ["W"] * voters, None)
        assert (line.level, line.reason[-len(found.reason) - 1 : -1]) == ("amber", found.reason)
    # eight voters who had eleven items each, none of another's, and one of few votes who joins them
    path = np.concatenate([11 * k + np.arange(10) for k in range(8)])
    link = np.arange(10, 87, 11)
    first = np.concatenate([path, link])
    voter = np.concatenate([np.repeat(np.arange(8), 10), np.full(7, 8)])
    apart = BallotVotes(np.arange(88), first, first + 1, np.ones(87), voter)
    found = find_camps([apart], fit_votes([apart]))
    assert (math.isnan(found.z), found.reason) == (True, "too few voters had the same items")


def test_what_is_said_of_them():
    camp = np.array([0, 0, 0, 0, 1, 1])
    names = [f"W{n}" for n in range(6)]
    two = report.one_panel(Camps(4.0, camp), names, 0.43)
    assert two.level == "red"
    assert two.reason == (
        "The votes are of two opinions (z = 4.0): 2 voters against 4, W4, W5 against the rest. Rankings by each side "
        "alone correlate by ρ_w = 0.43."
    )
    assert report.one_panel(Camps(4.0, np.arange(6) // 5), names, None).level == "amber"
    assert report.one_panel(Camps(1.0, 0 * camp), names, None).level == "green"
    found = NextBallotValue(4, 8, 3, 0.0, 0.0, 0.0, 0.0, level=False, circles=0, simulations=5)
    assert "camps" not in found.stored()
    two_camps = NextBallotValue.of(found.stored() | {"camps": [4, 2]})
    assert two_camps.camps == (4, 2)
    assert NextBallotValue.of(two_camps.stored()) == two_camps


def test_second_opinions_correlate_as_they_should():
    z = np.linspace(-1, 1, 4000)
    second = second_opinion(z, 0.5, np.random.default_rng(1))
    assert sorted(second) == sorted(z)
    assert np.corrcoef(z, second)[0, 1] == pytest.approx(0.48, abs=0.04)  # Pearson's of uniform values: 6/π·asin(r/2)


def test_they_are_told_on_the_pages_and_in_what_is_published(tmp_path):
    store, asked = open_store(tmp_path), count()
    project_id = make_project(store, plan=replace(PLAN, appearances=18, task_size=1))

    def choose(shown):
        by = (7919, 101) if next(asked) % 12 < 6 else (104_729, 97)  # two ways to look at the same pairs
        left, right = (sum(map(ord, shown[f"{side}_a"] + shown[f"{side}_b"])) * by[0] % by[1] for side in SIDES)
        return "left" if left > right else "right"

    data = answer_batch(draw_batch(store, project_id), voters=[f"W{n:02d}" for n in range(12)], choose=choose)
    accept_upload(store, project_id, data, "votes.csv")
    close_ballot(store, project_id)
    sizes = read_project_dataset(store, project_id).attrs["two_camps"]
    assert sizes == [6, 6]
    files = read_published(publish(store, project_id).data).files
    for name in ("README.md", "datasheet.md", "datasheet.html"):
        assert "The votes are of two opinions" in files[name].decode(), name
    revision = get_project(store, project_id).revision
    lines = {line.name: line for line in TrustLines(project_id, revision, None).measure(store, None)[0]}
    assert lines["One panel"].level == "red"
    quality, _ = VoterFigures(project_id, revision, None).measure(store, None)
    assert quality.table["camp"].value_counts().tolist() == [6, 6]
    view = load_voters(store, project_id, quality=quality)
    assert view.camps_said.startswith("The votes are of two opinions: 6 voters against 6")
    assert sorted(view.table().groupby("camp")["voter"].min()) == ["W00", "W06"]
