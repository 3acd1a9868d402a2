"""A project whose areas have rankings of their own, on the pages: chosen, planned, drawn, closed, evaluated."""

from __future__ import annotations

import pytest
from campaigns import make_project
from page_words import press, words
from test_pages import KEYS

from core.store.ballots.ballot_rows import read_ballots
from core.store.ballots.closing import close_ballot
from core.store.ballots.drawing import draw_waiting
from core.store.ballots.simulated import simulate_votes
from core.store.projects.plans import read_rankings
from core.store.projects.project_commands import get_project


def choose(app, label: str, value):
    (box,) = [box for box in app.selectbox if box.label == label]
    return box.set_value(value).run()


@pytest.fixture
def apart(empty):
    """A trial project, its two areas ranked together so far."""
    return empty, make_project(empty, kind="trial", plan=None)


def test_areas_are_ranked_apart_planned_and_drawn_on_the_pages(apart, visit):
    store, project_id = apart
    app = visit("plan", project_id)
    (control,) = [group for group in app.get("button_group") if group.label == "Ranking"]
    control.set_value("area")
    app.run()
    assert get_project(store, project_id).ranking == "area"
    assert "One ranking for each area: make its plan." in words(app)
    animals, tools = read_rankings(store, project_id)
    assert [box.options for box in app.selectbox if box.label == "Area"] == [
        ["Animals (no plan yet)", "Tools (no plan yet)"]
    ]
    assert "15 items" in words(app)
    press(app, "Save this plan")
    choose(app, "Area", str(tools.area_id))
    assert "6 items" in words(app)
    assert app.query_params["area"] == str(tools.area_id)
    app.text_input(key=next(box.key for box in app.text_input if box.label == "Appearances, M")).set_value("4").run()
    press(app, "Save it for all 2 areas")
    assert "The plan of 2 areas is saved" in words(app)

    app = visit("collect", project_id)
    press(app, "Draw in all 2 areas that are waiting")
    assert "2 ballots are drawn" in words(app)
    assert [len(read_ballots(store, project_id, ranking.area_id)) for ranking in (animals, tools)] == [1, 1]
    assert "15 items  \n30 comparisons" in words(app)
    choose(app, "Area", str(tools.area_id))
    assert "6 items  \n12 comparisons" in words(app)
    press(app, "Let simulated voters answer this ballot")
    press(app, "Close ballot 1")
    assert [read_ballots(store, project_id, ranking.area_id)[0].state for ranking in (animals, tools)] == [
        "open",
        "closed",
    ]
    assert "fixed, as ballot 1 is drawn." in words(visit("plan", project_id))


@pytest.mark.release
def test_scores_are_of_the_chosen_area(apart, visit):
    store, project_id = apart
    app = visit("plan", project_id)
    (control,) = [group for group in app.get("button_group") if group.label == "Ranking"]
    control.set_value("area")
    app.run()
    press(app, "Save it for all 2 areas")
    assert draw_waiting(store, project_id) == 2
    for ranking in read_rankings(store, project_id):
        simulate_votes(store, project_id, area_id=ranking.area_id)
        close_ballot(store, project_id, area_id=ranking.area_id)
    app = visit("scores", project_id)
    assert "on 15 items" in words(app)
    choose(app, "Area", str(read_rankings(store, project_id)[1].area_id))
    assert "on 6 items" in words(app)
    for key in KEYS:
        app = visit(key, project_id)
        assert not app.exception, key
        assert not app.error, key
