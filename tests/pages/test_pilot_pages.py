"""A pilot on the pages: offered, drawn, answered, closed, taken into the plan and the planner."""

from __future__ import annotations

from dataclasses import replace

import pytest
from campaigns import PLAN, answer_batch, longer_pair, make_project
from page_words import press, words
from test_pages import KEYS

from core import worker
from core.questions.comparison_page import write_batch
from core.store.ballots.ballot_rows import pilot_of, read_ballots, read_comparisons
from core.store.ballots.closing import close_ballot, reopen_ballot
from core.store.ballots.drawing import draw_next_ballot
from core.store.ballots.pilots import draw_pilot
from core.store.ballots.simulated import simulate_votes
from core.store.votes.intake import accept_upload


@pytest.fixture
def project_id(empty):
    return make_project(empty, kind="trial", plan=replace(PLAN, appearances=10, n_ballots=2))


def labels(app, kind="button"):
    return [element.label for element in getattr(app.main, kind)]


def box(app, kind, label):
    (found,) = [element for element in getattr(app, kind) if element.label == label]
    return found


def answer_pilot(store, project_id, choose=longer_pair):
    draw_pilot(store, project_id)
    batch = write_batch(read_comparisons(store, project_id, 0))
    accept_upload(store, project_id, answer_batch(batch, choose=choose), "pilot.csv")
    close_ballot(store, project_id)


def answer_both(store, project_id):
    """A pilot and ballot 1, answered by simulated voters and closed."""
    for draw in (draw_pilot, draw_next_ballot):
        draw(store, project_id)
        simulate_votes(store, project_id)
        close_ballot(store, project_id)


def test_a_pilot_is_drawn_answered_and_closed_on_the_page(empty, project_id, visit):
    app = visit("collect", project_id)
    box(app, "number_input", "Comparisons").set_value(40).run()
    press(app, "Draw the pilot")
    assert "Pilot: 32 comparisons of 21 items" in words(app)  # each 3 times
    assert "The pilot is open: 0 of 32 comparisons have a vote." in words(app)
    assert "Draw ballot 1" not in labels(app)
    assert not app.exception
    press(app, "Let simulated voters answer this ballot")
    press(app, "Close the pilot")
    assert "The pilot is closed" in words(app)
    assert "32 answers came from simulated voters." in words(app)
    with empty.read() as conn:
        assert not pilot_of(conn, project_id).is_open
    press(app, "Reopen the pilot")
    assert "The pilot is open: 32 of 32" in words(app)
    press(app, "Close the pilot")
    press(app, "Draw ballot 1")
    assert [ballot.number for ballot in read_ballots(empty, project_id)] == [1]
    assert "Reopen the pilot" not in labels(app)
    assert "Pilot: 32 comparisons" in labels(app, "expander")


def test_a_draw_is_discarded_on_the_page(empty, project_id, visit):
    app = visit("collect", project_id)
    press(app, "Draw the pilot")
    press(app, "Discard this draw")
    assert "The pilot is discarded." in words(app)
    assert "Pilot first" in labels(app, "expander")


def test_every_page_opens_with_an_open_and_a_closed_pilot(empty, project_id, visit):
    draw_pilot(empty, project_id)
    while_open = {key: visit(key, project_id) for key in KEYS}
    assert [key for key, app in while_open.items() if app.exception] == []
    assert "fixed by the pilot" in words(while_open["tokens"])
    simulate_votes(empty, project_id)
    close_ballot(empty, project_id)
    assert [key for key in KEYS if visit(key, project_id).exception] == []


def test_its_figures_stand_with_their_counts_and_unknown_words(empty, project_id, visit):
    answer_pilot(empty, project_id, lambda shown: "unknown" if "007" in shown.values() else longer_pair(shown))
    app = visit("collect", project_id)
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Voters"] == "6"
    assert shown["Mean time, t̄"].startswith("10.")
    assert shown["Unknown words"] == "25%"
    assert "16% to 35%, 13 of 53" in words(app)
    assert "somebody didn't know" in words(app)
    assert "pilot" in app.dataframe[-1].value["ballot"].tolist()
    (table,) = [frame.value for frame in app.dataframe if "unknown" in frame.value]
    assert table["token"].iloc[0] == "007"
    assert table["share"].iloc[0] == 100.0


def test_the_plan_takes_the_time_of_the_pilot_and_is_saved(empty, project_id, visit):
    answer_pilot(empty, project_id)
    app = visit("plan", project_id)
    (button,) = [label for label in labels(app) if label.startswith("Use the ")]
    seconds = float(button.split()[2])
    press(app, button)
    assert box(app, "number_input", "Seconds per comparison").value == seconds
    assert button not in labels(app)
    press(app, "Save this plan")
    assert "The plan is saved" in words(app)


def test_the_planner_says_why_a_fit_is_not_offered(empty, project_id, visit):
    app = visit("plan", project_id)
    assert "fitted" not in words(app)
    answer_pilot(empty, project_id)
    app = visit("plan", project_id)
    assert len(box(app, "selectbox", "Assumed voters").options) == 3
    assert "Voters as fitted to the pilot's votes aren't offered: with a distribution" in words(app)


@pytest.mark.release
def test_the_planner_takes_the_fitted_panel(empty, project_id, visit, begun):
    answer_both(empty, project_id)
    app = visit("plan", project_id)
    choice = box(app, "selectbox", "Assumed voters")
    assert choice.options[3:] == ["as fitted to the pilot's votes", "as fitted to this project's votes"]
    choice.set_value("votes").run()
    assert not app.exception
    assert "Conditional on exponential similarities" in words(app)
    assert "Some of these votes were given by simulated voters." in words(app)
    (table,) = [frame.value for frame in app.dataframe if "width of the range" in frame.value]
    assert table["mean"].str.contains(" to ").all()
    worker.run(begun.pop())
    app.run()
    assert "About ρ_w" in words(app)


@pytest.mark.release
def test_a_choice_that_is_gone_falls_back_to_the_papers_voters(empty, project_id, visit):
    answer_both(empty, project_id)
    app = visit("plan", project_id)
    box(app, "selectbox", "Assumed voters").set_value("votes").run()
    reopen_ballot(empty, project_id)
    app.run()
    assert not app.exception
    assert box(app, "selectbox", "Assumed voters").value == "paper"
