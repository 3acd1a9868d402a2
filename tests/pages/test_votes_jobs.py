"""Many votes: checks of the votes and of the scores are made by jobs, which a reload finds; the same as at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from campaigns import PLAN, answer_batch, draw_batch, make_project, run_simulated
from page_words import labelled, press, turn_to, words
from test_evaluate_jobs import finish

from core.commands.figures import base
from core.commands.figures import votes as figures_of_trust
from core.commands.figures.votes import ChecksOfVotes, TrustLines, VoterFigures, WithoutVoters
from core.errors import NotConvergedError, StoreError
from core.jobs import lifecycle
from core.store import schema as t
from core.store.command import command
from core.store.projects.project_commands import get_project
from core.store.votes.intake import accept_upload
from core.views import voters
from core.views.scores import trust
from ui.scores import trust_panel

PAGES = {"collect": ("Check the votes", "Checking the votes"), "scores": ("Check the scores", "Checking the scores")}


EITHER_PAGE = ("collect", pytest.param("scores", marks=pytest.mark.release))  # kept, found and told by the same code


def sentences(store, page: str) -> list[str]:
    """What a page says of the demo's votes once they are read."""
    if page == "collect":
        found = trust.load_checks(store, "demo")
        return [found.parts_said, found.sides_said, found.agreement_said]
    lines = trust.load(store, "demo").lines
    return [trust.headline(lines), *(line.reason for line in lines)]


def made(store, project_id: str, kind, *of):
    """What a job keeps, through JSON as the store has it, and back."""
    figure = kind(project_id, get_project(store, project_id).revision, None, *of)
    job_id = base.keep(store, figure, base.measured(store, figure)[0])
    return base.read(store, figure, lifecycle.read_job(store, job_id)).result


def two_tasks(store) -> str:
    """A few votes of one voter, which leave items apart."""
    project_id = make_project(store)
    lines = answer_batch(draw_batch(store, project_id)).splitlines(keepends=True)
    accept_upload(store, project_id, b"".join(lines[:3]), "two tasks.csv")
    return project_id


def shared(store) -> str:
    """Every comparison answered by two voters, one of whom always chooses the left."""
    project_id = make_project(store)
    batch = draw_batch(store, project_id)
    accept_upload(store, project_id, answer_batch(batch, voters=("W1",)), "one.csv")
    other = answer_batch(batch, voters=("W2",), choose=lambda shown: "left", tag="B")
    accept_upload(store, project_id, other, "two.csv")
    return project_id


def no_votes(store) -> str:
    project_id = make_project(store)
    draw_batch(store, project_id)
    return project_id


@pytest.fixture
def many(demo, figures_are_long):
    """The demo, whose votes count as too many to be read by a page."""
    figures_are_long(ChecksOfVotes, TrustLines, WithoutVoters)
    return demo


def said_of(found: trust.ChecksView) -> tuple:
    sentences = (found.parts_said, found.sides_said, found.agreement_said)
    return found.n_votes, sentences, found.figures.to_csv(), found.sides.voters.to_csv(), found.sides.flagged.to_csv()


@pytest.mark.parametrize("made_of", [two_tasks, shared, no_votes, lambda store: "demo"])
def test_checks_of_a_job_are_those_at_once(request, made_of):
    is_demo = made_of not in (two_tasks, shared, no_votes)
    store = request.getfixturevalue("demo" if is_demo else "empty")
    project_id = made_of(store)
    found = trust.load_checks(store, project_id, measured=made(store, project_id, ChecksOfVotes))
    assert said_of(found) == said_of(trust.load_checks(store, project_id))


def closed_twice(store) -> str:
    """Two ballots of 21 items, answered by simulated voters."""
    project_id = make_project(store, kind="trial", plan=replace(PLAN, protocol="runoff", appearances=6))
    run_simulated(store, project_id, 2)
    return project_id


def test_lines_of_a_job_are_those_at_once(empty):
    project_id = closed_twice(empty)
    found = made(empty, project_id, TrustLines)
    at_once = trust.load(empty, project_id)
    assert found == at_once.lines
    view = trust.load(empty, project_id, lines=found)
    assert (view.next_ballot, view.after, view.is_last) == (at_once.next_ballot, at_once.after, at_once.is_last)
    assert len(found) >= 8


def test_a_job_of_voters_keeps_why_they_have_no_alpha(empty):
    project_id = two_tasks(empty)
    quality = made(empty, project_id, VoterFigures)
    assert quality.alpha is None
    view = voters.load(empty, project_id, quality=quality)
    assert "answered comparisons none" in view.alpha_said
    assert view.alpha_said == voters.load(empty, project_id).alpha_said


def buttons(app) -> list[str]:
    return [button.label for button in app.button]


@pytest.mark.release
@pytest.mark.parametrize("page", PAGES)
def test_the_page_asks_computes_in_the_background_and_finds_it_again(page, many, visit, started):
    button, label = PAGES[page]
    expected = sentences(many, page)
    app = visit(page, "demo")
    assert not app.exception
    assert [sentence for sentence in expected if sentence in words(app)] == []
    press(app, button)
    assert f"{label} in the background" in words(app)
    other = visit(page, "demo")  # another tab, or a reload
    assert f"{label} in the background" in words(other)
    assert button not in buttons(other)
    finish(*started)
    app = visit(page, "demo")
    assert not app.exception
    assert [sentence for sentence in expected if sentence not in words(app)] == []
    assert button not in buttons(app)


def test_both_pages_have_one_job_of_the_checks(many, visit, started):
    press(visit("collect", "demo"), "Check the votes")
    app = turn_to(visit("scores", "demo"), "Checks")
    assert "Checking the votes in the background" in words(app)
    assert "Read the checks" not in buttons(app)
    finish(*started)
    app = turn_to(visit("scores", "demo"), "Checks")
    assert not app.exception
    has_checks = trust.load_checks(many, "demo").has_checks
    assert ("Checks in the ballots" in words(app)) == has_checks
    assert ("No voter answered a check" in words(app)) == (not has_checks)


@pytest.mark.parametrize("page", EITHER_PAGE)
def test_a_change_in_the_meantime_is_told_and_it_can_be_asked_again(page, many, visit, started):
    kind = {"collect": ChecksOfVotes, "scores": TrustLines}[page]
    figure = kind("demo", get_project(many, "demo").revision, None)
    press(visit(page, "demo"), PAGES[page][0])
    with command(many, "demo", "something else"):
        pass
    finish(*started)
    assert lifecycle.read_job(many, *started).error == base.CHANGED
    with pytest.raises(StoreError, match="changed while"):
        base.measured(many, figure)
    assert PAGES[page][0] in buttons(visit(page, "demo"))


@dataclass(frozen=True)
class Nothing(base.Figure[int]):
    """A figure, and what happens while it is measured."""

    name = "nothing"
    version = 1
    doing = "Measuring nothing"
    meanwhile: Any = None

    def seconds(self, conn):
        return 0.0

    def measure(self, store, progress) -> tuple[int, None]:
        self.meanwhile()
        return 0, None


def test_a_change_while_it_reads_is_told(demo):
    def meanwhile():
        with command(demo, "demo", "something else"):
            pass

    with pytest.raises(StoreError, match="changed while"):
        base.measured(demo, Nothing("demo", get_project(demo, "demo").revision, meanwhile))


def vote(store, n: int) -> None:
    """What so many votes on the voting page do to the project."""
    with store.write("demo") as conn:
        conn.execute(sa.update(t.project).values(pulse=t.project.c.pulse + n))


def test_votes_that_come_in_while_it_reads_are_since(demo):
    before = get_project(demo, "demo")
    told, _ = base.measured(demo, Nothing("demo", before.revision, lambda: vote(demo, 2)))
    assert told == {"pulse": before.pulse, "found": 0}


@pytest.mark.parametrize("page", EITHER_PAGE)
def test_votes_that_come_in_are_told_and_the_figures_can_be_made_anew(page, many, visit, started):
    """Voting goes on before the job runs and after it; only commands make it void."""
    button, label = PAGES[page]
    press(visit(page, "demo"), button)
    vote(many, 5)
    finish(*started)
    app = visit(page, "demo")
    assert not app.exception
    assert [sentence for sentence in sentences(many, page) if sentence not in words(app)] == []
    assert "taken back since" not in words(app)
    vote(many, 1)
    assert "1 vote was given or taken back since." in words(visit(page, "demo"))
    vote(many, 2)
    app = visit(page, "demo")
    assert "3 votes were given or taken back since." in words(app)
    press(app, "Compute it again")
    assert f"{label} in the background" in words(app)
    finish(started[1])
    assert "taken back since" not in words(visit(page, "demo"))


@pytest.mark.parametrize("page", EITHER_PAGE)
def test_stop_and_failure(page, many, visit, started):
    button, label = PAGES[page]
    app = press(visit(page, "demo"), button)
    lifecycle._children.clear()
    press(app, "Cancel")
    assert lifecycle.read_job(many, started[0]).state == "cancelled"
    app = visit(page, "demo")
    assert "in the background" not in words(app)
    press(app, button)
    lifecycle._children.clear()
    lifecycle.finish(many, started[1], state="failed", error="No memory, *at all*.")
    app = visit(page, "demo")
    assert f"{label} ended early. No memory," in words(app)
    press(app, button)
    assert len(started) == 3


def test_a_page_sends_no_more_voters_than_it_may(demo, visit, monkeypatch):
    monkeypatch.setattr(trust_panel, "MOST_SHOWN", 3)
    n = len(trust.load_checks(demo, "demo").sides.voters)
    app = visit("collect", "demo")
    assert f"The 3 of {n:,} voters who prefer a side most." in words(app)
    (table,) = (table.value for table in app.dataframe if "share of left" in table.value.columns)
    assert len(table) == 3


@pytest.mark.release
def test_what_leaving_voters_out_would_change_is_a_job_too(many, visit, started, figures_are_long):
    figures_are_long(VoterFigures)
    press(visit("voters", "demo"), "Read all votes")
    finish(*started)
    view = voters.load(many, "demo")
    chosen = tuple(sorted(view.quality.table["voter_id"].tolist()))[:2]

    def choose():
        app = visit("voters", "demo")
        return labelled(app.multiselect, "Voters to leave out").set_value(list(chosen)).run()

    app = press(choose(), "See what would change")
    assert "Scoring without them in the background" in words(app)
    assert labelled(app.text_input, "Reason")  # it can be decided all the same
    finish(started[1])
    expected = WithoutVoters("demo", 0, None, chosen).measure(many, None)[0]
    app = choose()
    assert not app.exception
    assert [sentence for sentence in expected.said if sentence not in words(app)] == []
    assert "See what would change" not in buttons(app)
    kept = made(many, "demo", WithoutVoters, chosen)
    pd.testing.assert_frame_equal(kept.models, expected.models)
    assert replace(kept, models=None) == replace(expected, models=None)


def test_a_fit_that_does_not_settle_is_a_line(empty, monkeypatch):
    project_id = closed_twice(empty)

    def fit(votes):
        raise NotConvergedError("The scores did not settle in 200 steps.")

    monkeypatch.setattr(figures_of_trust, "fit_votes", fit)
    lines = {line.name: line for line in trust.load(empty, project_id).lines}
    assert lines["The top"].reason == "There is no ranking of all items: The scores did not settle in 200 steps."
    assert lines["Noise ceiling"].reason == "The scores did not settle in 200 steps."
    assert "One scale" in lines
