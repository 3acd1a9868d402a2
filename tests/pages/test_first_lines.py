"""The first line of every page says where things stand, in numbers; what is always so is a badge and no box."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from campaigns import PLAN, answer_batch, draw_batch, make_project, run_simulated
from page_words import labelled, press, words

from core import worker
from core.commands.figures.base import job_of
from core.plan import Plan
from core.simulation.forecast import Band
from core.store.projects.embedding_library import import_into
from core.store.projects.plans import save_plan
from core.store.projects.project_commands import create_project
from core.store.tokens.areas import add_areas
from core.store.votes.exclusions import exclude_voters
from core.store.votes.intake import accept_upload
from core.tokens.lists import AreaTokens
from core.views import voters
from core.views.plan import is_reliable, plan_said
from core.views.tokens import TokensView
from ui.plan import planner_box

TOKENS = ("bread", "butter", "knife", "oven", "salt", "spoon")
COST = SimpleNamespace(hours=5.5, total=88.5)


def first(app):
    return app.main.markdown[0].value.replace("\\", "")


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ([], "no embedding is loaded"),
        ([0], "no token is missing in the embedding"),
        ([0, 0], "no token is missing in any embedding"),
        ([29], "29 tokens missing in E0"),
        ([1, 29], "29 tokens missing in E1, 1 in E0"),
        ([1, 29, 0, 3, 2], "29 tokens missing in E1, 3 in E3, and some in 2 others"),
    ],
)
def test_the_embeddings_that_lack_most_are_named(missing, said):
    coverage = [SimpleNamespace(name=f"E{n}", missing=range(many), problem="") for n, many in enumerate(missing)]
    assert TokensView.missing_said.fget(SimpleNamespace(coverage=coverage)) == said


def test_a_plan_is_said_with_its_cost_and_with_what_it_gives_once_that_is_known():
    plan = Plan(315, 4, 0.5, 10)
    found = SimpleNamespace(rho_w=Band(0.974, 0.01, 0.95, 0.99), separable=0.158)
    votes = f"{plan.n_comparisons:,} votes in 4 ballots, 5.5 h"
    cost = "at a cost of 88.50"
    assert plan_said(plan, COST, None) == f"**{votes}, {cost}: 315 items down to the top {plan.sizes[-1]}.**"
    said = f"**{votes}, {cost}: tells models 0.16 apart and comes to ρ_w = 0.97 by simulation.**"
    assert plan_said(plan, COST, found) == said
    unpaid = SimpleNamespace(hours=5.5, total=0)
    assert plan_said(plan, unpaid, None).startswith(f"**{votes}: 315 items")
    assert is_reliable(found)
    assert not is_reliable(None)
    assert not is_reliable(SimpleNamespace(rho_w=Band(math.nan, 0, 0, 0)))


def test_a_plan_is_simulated_before_anybody_asks_and_isnt_warned_of_against_its_own_simulation(
    empty, visit, started, monkeypatch
):
    project_id = make_project(empty, plan=replace(PLAN, n_ballots=2, appearances=60))
    asked = []
    monkeypatch.setattr(planner_box, "begin_unasked", asked.append)
    app = visit("plan", project_id)
    assert first(app).startswith("**960 votes in 2 ballots")
    assert "21 items down to the top 11" in first(app)
    assert any("reach the last ballot" in warning.value for warning in app.main.warning)
    (wanted,) = asked
    assert job_of(empty, wanted) is None
    wanted.measure(empty, None)  # as its job does
    app.run()
    assert "apart and comes to ρ_w = 0." in first(app)
    assert not app.main.warning
    assert "reach the last ballot" in words(app)
    labelled(app.number_input, "Voters").set_value(7).run()
    assert len(asked) == 1  # a draft changes by the minute: it is simulated on request
    press(app, "Simulate this plan")
    worker.run(started.pop())
    app.run()
    assert "apart and comes to" in first(app)


def test_voters_who_look_fine_are_counted_and_the_odd_ones_are_reviewed(empty, visit):
    project_id = make_project(empty)
    batch = draw_batch(empty, project_id)
    accept_upload(empty, project_id, answer_batch(batch), "results.csv")
    assert voters.load(empty, project_id).looks_said == "6 people look fine."
    accept_upload(empty, project_id, answer_batch(batch, voters=("W8",), choose=lambda _: "left", tag="B"), "left.csv")
    app = visit("voters", project_id)
    assert first(app) == "**6 of 7 people look fine; 1 looks odd.**"
    press(app, "Review")
    assert any("Figures of W8" in str(frame.proto) for frame in app.dataframe)
    (out,) = [id_ for id_, name in voters.load(empty, project_id).names.items() if name == "W8"]
    exclude_voters(empty, project_id, [out], "always left")
    assert voters.load(empty, project_id).looks_said == "6 people look fine; 1 left out."


def test_an_export_says_whether_it_is_ready_and_what_is_empty_before_the_button(empty, visit):
    project_id = make_project(empty, kind="trial", plan=replace(PLAN, n_ballots=1))
    run_simulated(empty, project_id, 1)
    app = visit("export", project_id)
    assert first(app).startswith("**Ready: 21 items with scores, from 42 votes of 6 simulated voters in 1 ballot; ")
    assert "datasheet fields are empty.**" in first(app)
    assert "simulated votes" in words(app)
    assert not app.main.warning
    assert not app.main.info


def test_whoever_chooses_another_project_comes_to_its_next_step(empty, visit):
    one, other = make_project(empty, name="One"), make_project(empty, name="Other", plan=None)
    app = visit("tokens", one)
    labelled(app.sidebar.selectbox, "Project").set_value(other).run()
    assert not app.exception
    assert app.title[0].value == "Plan"
    assert app.session_state["project_id"] == other


def leads(app):
    """What the page says first, and what its next steps are called."""
    links = [element.proto.label.replace("*", "") for element in app.main.get("page_link")]
    return first(app), [label for label in links if label.startswith("Next: ")]


def test_without_a_project_every_page_has_its_title_and_leads_on(empty, visit):
    for page in ("collect", "export"):
        app = visit(page)
        assert [title.value for title in app.title] == [page.capitalize()]
        assert leads(app) == ("**There is no project yet.**", ["Next: make a project"])
        assert not app.info


def test_a_new_projects_pages_lead_on_and_offer_nothing_that_isnt_there_yet(empty, visit):
    project_id = create_project(empty, "New")
    assert leads(visit("embeddings", project_id))[1] == ["Next: add token lists"]
    app = visit("evaluate", project_id)
    assert leads(app) == ("**There is no embedding to compare yet.**", ["Next: load an embedding"])
    assert not app.expander
    assert "three tokens in one area, or two areas of two." in words(visit("plan", project_id))


def test_a_small_campaign_tells_of_blanks_only_where_it_shows_them(empty, visit, tmp_path):
    """Fifteen items have no twenty highest: that is no matter of ρ_w. No voter's interval is there, so no column."""
    project_id = create_project(empty, "Kitchen", kind="trial")
    add_areas(empty, project_id, [AreaTokens("Kitchen", TOKENS)])
    vectors = tmp_path / "letters.txt"
    vectors.write_text("".join(f"{word} {n} {n * n % 7} 1\n" for n, word in enumerate(TOKENS)), encoding="utf-8")
    import_into(empty, project_id, vectors, name="Letters")
    assert leads(visit("embeddings", project_id))[1] == ["Next: make the plan"]
    save_plan(empty, project_id, replace(PLAN, n_ballots=2, n_voters=3, task_size=10))
    app = visit("evaluate", project_id)
    assert first(app) == "**There are no scores to compare with yet.**"
    assert not app.get("popover")
    run_simulated(empty, project_id, 2)
    said = words(visit("evaluate", project_id))
    assert "take a smaller k" not in said
    assert "Dots: as measured." in said
    assert "Bars" not in said
    scores = visit("scores", project_id)
    (ranking,) = [table.value for table in scores.dataframe if "score" in table.value]
    assert "lower" not in ranking
    assert "Look at the Scores page" not in words(scores)
