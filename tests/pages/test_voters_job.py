"""Many votes: the voters are measured by a job, which a reload finds again; the same figures as at once."""

from __future__ import annotations

import pandas as pd
import pytest
from campaigns import PLAN, answer_batch, draw_batch, make_project
from page_words import labelled, press, words
from test_evaluate_jobs import finish

from core.commands.figures import base
from core.commands.figures.votes import VoterFigures
from core.errors import StoreError
from core.jobs import lifecycle
from core.store.command import command
from core.store.projects.project_commands import get_project
from core.store.votes.exclusions import exclude_voters
from core.store.votes.intake import accept_upload
from core.views import voters


@pytest.fixture
def large(empty, figures_are_long):
    """A project with shared comparisons, so that α is defined, that counts as too large to be measured at once."""
    project_id = make_project(empty, plan=PLAN)
    batch = draw_batch(empty, project_id)
    accept_upload(empty, project_id, answer_batch(batch), "results.csv")
    accept_upload(empty, project_id, answer_batch(batch, voters=("W8",), tag="B"), "more.csv")
    figures_are_long(VoterFigures)
    return empty, project_id


def by_job(store, project_id):
    """The figures as a job keeps them, through the table of jobs."""
    figure = VoterFigures(project_id, get_project(store, project_id).revision, None)
    job_id = base.keep(store, figure, base.measured(store, figure)[0])
    return base.read(store, figure, lifecycle.read_job(store, job_id)).result


def same(found, other):
    pd.testing.assert_frame_equal(found.quality.table, other.quality.table)
    assert found.quality.reasons == other.quality.reasons
    assert (found.quality.alpha, found.quality.no_alpha) == (other.quality.alpha, other.quality.no_alpha)
    assert (found.headline, found.alpha_said) == (other.headline, other.alpha_said)


@pytest.mark.release
def test_the_page_asks_measures_in_the_background_and_finds_it_again(large, visit, started):
    store, project_id = large
    app = visit("voters", project_id)
    assert not app.dataframe
    press(app, "Read all votes")
    assert "Measuring the voters in the background" in words(app)
    other = visit("voters", project_id)  # another tab, or a reload
    assert "Measuring the voters in the background" in words(other)
    assert not [button for button in other.button if button.label == "Read all votes"]
    finish(*started)
    app = visit("voters", project_id)
    assert not app.exception
    view = voters.load(store, project_id)
    assert view.headline in words(app)
    assert view.alpha_said in words(app)
    assert list(app.dataframe[0].value["votes"]) == list(view.table()["votes"])
    assert labelled(app.text_input, "Find a voter")


def test_the_figures_of_the_job_are_those_at_once(large):
    store, project_id = large
    at_once = voters.load(store, project_id)
    assert at_once.quality.alpha is not None
    same(voters.load(store, project_id, quality=by_job(store, project_id)), at_once)


def test_a_voter_who_is_left_out_is_so_in_the_figures_of_a_job(large):
    store, project_id = large
    (voter_id,) = (id_ for id_, name in voters.load(store, project_id).names.items() if name == "W8")
    exclude_voters(store, project_id, [voter_id], "answers at random")
    found = voters.load(store, project_id, quality=by_job(store, project_id))
    same(found, voters.load(store, project_id))
    assert found.quality.table.set_index("voter_id")["left_out"].loc[voter_id]


def test_a_change_in_the_meantime_is_told_and_it_can_be_asked_again(large, visit, started):
    store, project_id = large
    figure = VoterFigures(project_id, get_project(store, project_id).revision, None)
    press(visit("voters", project_id), "Read all votes")
    with command(store, project_id, "something else"):
        pass
    finish(*started)
    assert lifecycle.read_job(store, started[0]).error == base.CHANGED
    with pytest.raises(StoreError, match="changed while"):
        base.measured(store, figure)
    app = visit("voters", project_id)
    assert [button for button in app.button if button.label == "Read all votes"]


def test_stop_and_failure(large, visit, started):
    store, project_id = large
    app = visit("voters", project_id)
    press(app, "Read all votes")
    lifecycle._children.clear()
    lifecycle.finish(store, *started, state="failed", error="No memory, *at all*.")
    app = visit("voters", project_id)
    assert "Measuring the voters ended early. No memory," in words(app)
    assert [button for button in app.button if button.label == "Read all votes"]
