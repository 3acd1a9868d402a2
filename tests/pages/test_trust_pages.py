"""The trust panel, the stop rule and intervals on the pages, for both protocols."""

from __future__ import annotations

from dataclasses import replace

import pytest
from campaigns import PLAN, make_project
from test_pages import press, words

from core.store.closing import close_ballot, reopen_ballot
from core.store.drawing import draw_next_ballot
from core.store.projects import get_project
from core.store.simulated import simulate_votes
from core.views import trust as view_of_trust


def held(store, protocol: str, n_ballots: int = 2) -> str:
    """A trial project with so many closed ballots."""
    project_id = make_project(store, kind="trial", plan=replace(PLAN, protocol=protocol, appearances=8, n_voters=12))
    for _ in range(n_ballots):
        draw_next_ballot(store, project_id)
        simulate_votes(store, project_id)
        close_ballot(store, project_id)
    return project_id


@pytest.mark.parametrize("protocol", ["runoff", "paper"])
def test_the_scores_page_says_how_far_to_trust_it(empty, visit, protocol):
    app = visit("scores", held(empty, protocol))
    said = words(app)
    assert not app.exception
    assert "How far to trust it" in said
    assert "Votes join all 21 items." in said
    for name in ("Enough votes", "Won and lost", "The top 10", "First place", "The cut", "Agreement", "Noise ceiling"):
        assert f"**{name}.**" in said
    # A level is an icon and a word, not a colour alone.
    assert any(mark in said for mark in ("check_circle: good", "warning: weak", "error: bad"))
    assert "Another ballot (" in said or "isn't settled" in said


def test_collect_says_between_ballots_what_another_would_change(empty, visit):
    project_id = held(empty, "runoff", 1)
    app = visit("collect", project_id)
    foresight, after = view_of_trust.load_foresight(empty, project_id)
    assert after == 1
    assert foresight is not None
    assert (foresight.n_items, foresight.n_comparisons) == (11, 44)  # the plan's ballot 2
    assert view_of_trust.worth_said(foresight, 1) in words(app)
    press(app, "Reopen ballot 1")
    assert "Another ballot" not in words(app)
    assert view_of_trust.load_foresight(empty, project_id) == (None, 0)


def test_closing_again_foresees_the_same(empty):
    project_id = held(empty, "runoff", 1)
    before = view_of_trust.load_foresight(empty, project_id)
    reopen_ballot(empty, project_id)
    close_ballot(empty, project_id)
    assert view_of_trust.load_foresight(empty, project_id) == before


def test_the_log_keeps_what_a_cut_may_have_cost(empty, visit):
    project_id = held(empty, "runoff", 2)
    app = visit("project", project_id)
    logs = [frame.value for frame in app.dataframe if "details" in frame.value.columns]
    drawn = [text for text in logs[0]["details"] if "true top 10 cut, expected" in text] if logs else []
    assert get_project(empty, project_id).kind == "trial"
    assert len(drawn) == 1


def test_before_a_ballot_is_closed_there_is_no_panel(empty, visit):
    project_id = make_project(empty, kind="trial", plan=replace(PLAN, protocol="runoff", n_voters=12))
    draw_next_ballot(empty, project_id)
    simulate_votes(empty, project_id)
    assert "How far to trust it" not in words(visit("scores", project_id))
    assert view_of_trust.load(empty, project_id).lines == ()
    assert view_of_trust.load_reliability(empty, project_id) == ()


def test_the_demo_by_the_papers_protocol_says_why_it_has_no_intervals(demo, visit):
    said = words(visit("evaluate"))
    assert "There are no intervals by the paper's protocol" in said or "lower and upper: 90 % intervals" in said
